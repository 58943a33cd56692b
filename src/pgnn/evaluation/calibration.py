"""Chances that mean what they say: logits to chances for a base rate, and how true they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.errors import Parameter, PGNNError

NUM_BINS = 10
_SLOPES = (0.05, 3.0)  # what a fit may stretch logits by


@dataclass(frozen=True)
class Calibration:
    r"""A line through logits: chance = sigmoid(slope * logit + offset + log(b / (1 - b))).

    `logit` is a log-likelihood ratio: how much likelier the pair looks among links than among pairs
    that are none. With a base rate b, the share of links among the pairs in question, it becomes a
    chance.

    Attributes:
        slope: Below 1 where raw logits are too sure of themselves.
        offset: Added to every logit.

    Example:
        >>> Calibration().chances([0.0, math.log(9)], base_rate=0.5).round(2).tolist()
        [0.5, 0.9]
    """

    slope: float = 1.0
    offset: float = 0.0

    def chances(self, logits: ArrayLike, *, base_rate: float) -> NDArray[np.float64]:
        """Return the chance of each pair to be a link where a share `base_rate` of them is."""
        rate = checks.share("base_rate", base_rate)
        values = np.asarray(logits, dtype=np.float64)
        return _sigmoid(self.slope * values + self.offset + math.log(rate / (1 - rate)))

    def to_json(self) -> dict[str, float]:
        """Return it as JSON holds it."""
        return {"slope": self.slope, "offset": self.offset}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Calibration:
        """Read what `to_json` gave."""
        slope, offset = float(document["slope"]), float(document["offset"])
        if not (math.isfinite(slope) and math.isfinite(offset)):
            raise ValueError("the calibration must be of finite numbers")
        return cls(slope, offset)


def fit_calibration(positive: ArrayLike, negative: ArrayLike) -> Calibration:
    """Fit a line to logits of links and of other pairs that no head was trained on.

    Both kinds count alike, however many there are: base rates are added later. The fit maximises
    the likelihood (Platt scaling), and is kept close to the identity where there are few pairs.

    Args:
        positive: Logits of links.
        negative: Logits of pairs that are no links.
    """
    high, low = np.asarray(positive, dtype=np.float64), np.asarray(negative, dtype=np.float64)
    if not (len(high) and len(low)):
        return Calibration()
    logits = np.concatenate([high, low])
    labels = np.arange(len(logits)) < len(high)
    weights = np.where(labels, 0.5 / len(high), 0.5 / len(low))
    caution = 1.0 / min(len(high), len(low))
    line = np.array([1.0, 0.0])

    def loss(candidate: NDArray[np.float64]) -> float:
        values = candidate[0] * logits + candidate[1]
        errors = np.logaddexp(0, np.where(labels, -values, values))
        penalty = (candidate[0] - 1) ** 2 + candidate[1] ** 2
        return float(weights @ errors + caution * penalty / 2)

    for _ in range(50):  # Newton's method on two numbers; steps that overshoot are halved
        chance = _sigmoid(line[0] * logits + line[1])
        error = weights * (chance - labels)
        gradient = np.array([error @ logits, error.sum()]) + caution * (line - [1.0, 0.0])
        bend = weights * chance * (1 - chance)
        across = bend @ logits
        hessian = np.array([[bend @ logits**2, across], [across, bend.sum()]])
        step = np.linalg.solve(hessian + caution * np.eye(2), gradient)
        before = loss(line)
        while loss(line - step) > before and np.abs(step).max() > 1e-9:
            step = step / 2
        line = line - step
        if np.abs(step).max() < 1e-9:
            break
    return Calibration(float(np.clip(line[0], *_SLOPES)), float(line[1]))


def brier_score(labels: ArrayLike, chances: ArrayLike) -> float:
    """Return the mean squared difference of chance and truth: 0 is best, 0.25 says 0.5 always.

    Example:
        >>> brier_score([1, 0], [0.8, 0.4])
        0.1
    """
    truth, values = _check(labels, chances)
    return float(np.round(np.mean((values - truth) ** 2), 15))


def calibration_error(labels: ArrayLike, chances: ArrayLike, *, num_bins: int = NUM_BINS) -> float:
    """Return the expected calibration error: how far chances are from shares, on average.

    Pairs are put in bins of equal width by their chance; the difference between the mean chance and
    the share of links of each bin is weighted by how many pairs it has.

    Example:
        >>> calibration_error([1, 1, 1, 0], [0.75, 0.75, 0.75, 0.75])
        0.0
    """
    bins = reliability(labels, chances, num_bins=num_bins)
    total = sum(row.num_pairs for row in bins)
    return float(sum(row.num_pairs / total * abs(row.mean_chance - row.share) for row in bins))


@dataclass(frozen=True)
class ReliabilityBin:
    """Pairs with similar chances: how many, their mean chance, and the share that are links."""

    num_pairs: int
    mean_chance: float
    share: float


def reliability(
    labels: ArrayLike, chances: ArrayLike, *, num_bins: int = NUM_BINS
) -> list[ReliabilityBin]:
    """Return the bins of a reliability diagram that have pairs, lowest chances first."""
    num_bins = checks.positive_integer("num_bins", num_bins)
    truth, values = _check(labels, chances)
    place = np.minimum((values * num_bins).astype(np.int64), num_bins - 1)
    return [
        ReliabilityBin(int(inside.sum()), float(values[inside].mean()), float(truth[inside].mean()))
        for inside in (place == number for number in range(num_bins))
        if inside.any()
    ]


def _check(labels: ArrayLike, chances: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    truth, values = np.asarray(labels).astype(bool), np.asarray(chances, dtype=np.float64)
    if truth.ndim != 1 or truth.shape != values.shape or not len(truth):
        raise PGNNError(
            Parameter("labels"), " and ", Parameter("chances"),
            f" must have one entry per pair (got shapes {list(truth.shape)} and "
            f"{list(values.shape)})",
        )  # fmt: skip
    if not ((values >= 0) & (values <= 1)).all():
        raise PGNNError(Parameter("chances"), " must lie between 0 and 1")
    return truth, values


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * values)))
