"""Pairs with labels, and a graph split into what a model sees and the pairs it is asked about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked, numbers
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.pairs.codes import Pairs, as_pairs


@checked
@dataclass(frozen=True, eq=False, repr=False)
class PairSet:
    """Node pairs and whether each is positive; there may be none. The arrays are read-only.

    Attributes:
        pairs: Node indices, int64 `[m, 2]`.
        labels: Whether the pair is positive, bool `[m]`.
    """

    pairs: NDArray[np.int64]
    labels: NDArray[np.bool_]

    def __post_init__(self) -> None:
        pairs, labels = as_pairs(self.pairs), numbers("labels", self.labels, None)
        labels = labels.astype(bool)
        if labels.shape != (len(pairs),):
            raise PGNNError(
                Parameter("labels"),
                f" must have one entry per pair, [{len(pairs)}] (got {list(labels.shape)})",
            )
        for name, array in (("pairs", pairs), ("labels", labels)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    @checked
    def join(cls, positives: Pairs, negatives: Pairs) -> PairSet:
        """Put positives first, then negatives."""
        first, second = as_pairs(positives), as_pairs(negatives)
        labels = np.arange(len(first) + len(second)) < len(first)
        return cls(np.concatenate([first, second]), labels)

    @property
    def positives(self) -> NDArray[np.int64]:
        """The positive pairs."""
        return self.pairs[self.labels]

    @property
    def negatives(self) -> NDArray[np.int64]:
        """The negative pairs."""
        return self.pairs[~self.labels]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        positive = int(np.count_nonzero(self.labels))
        return f"PairSet(positives={positive}, negatives={len(self) - positive})"


@checked
@dataclass(frozen=True, eq=False)
class Split:
    """A graph as models may see it, and three sets of pairs, any of which may be empty.

    Attributes:
        graph: The visible graph. For links it is made of the training edges alone, so that nothing
            computed from it can know of a held-out edge; nodes, features and labels are all there.
        train: Pairs to learn from.
        val: Pairs to choose the best epoch by.
        test: Pairs to judge the model by.
    """

    graph: Graph
    train: PairSet
    val: PairSet
    test: PairSet
