"""ColumnScale: columns of any unit and spread become numbers that a head can read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NUM_KNOTS = 201


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """A table for each column: a value becomes the normal score of its quantile.

    Columns of different graphs then compare, and a head meets no number far from those it knows:
    beyond the ends of a table the score is that of the end.

    Attributes:
        knots: Values in ascending order, float32 `[columns, NUM_KNOTS]`.
        scores: Their normal scores, float32 `[columns, NUM_KNOTS]`.
    """

    knots: NDArray[np.float32]
    scores: NDArray[np.float32]

    @classmethod
    def of(cls, values: NDArray[np.floating]) -> ColumnScale:
        """Measure columns `[m, columns]`; equal values share the middle of their quantiles."""
        from scipy.special import ndtri

        steps = NUM_KNOTS - 1
        quantiles = np.quantile(values, np.linspace(0, 1, NUM_KNOTS), axis=0).T
        knots = np.empty_like(quantiles, dtype=np.float32)
        scores = np.empty_like(knots)
        for column, row in enumerate(quantiles.astype(np.float32)):
            distinct, first = np.unique(row, return_index=True)
            last = np.append(first[1:], NUM_KNOTS) - 1
            middle = np.clip((first + last) / 2 / steps, 0.5 / steps, 1 - 0.5 / steps)
            knots[column], scores[column] = distinct[-1], ndtri(middle[-1])  # fills the tail
            knots[column, : len(distinct)], scores[column, : len(distinct)] = (
                distinct,
                ndtri(middle),
            )
        return cls(knots, scores)

    def __call__(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the normal scores of columns, float32 `[m, columns]`."""
        scaled = np.empty(values.shape, dtype=np.float32)
        for column in range(values.shape[1]):
            scaled[:, column] = np.interp(
                values[:, column], self.knots[column], self.scores[column]
            )
        return scaled
