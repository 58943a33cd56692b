"""How good scores of pairs are: areas under curves, and ranks of positives among negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.checks import as_generator, checked, numbers
from pgnn.errors import Parameter, PGNNError

_BOOTSTRAP_WORK = 20_000_000  # pairs drawn in all samples: a second at most
_SAMPLE_WORK = 2000  # pairs that drawing one sample of a graph is worth
_ROUNDING = 1e-5  # of scores near 1, made by several layers of sums in float32


@checked
def pair_metrics(labels: ArrayLike, scores: ArrayLike) -> dict[str, float]:
    """Return the area under the ROC curve and the average precision.

    Args:
        labels: Whether each pair is positive: bool, or 0 and 1, `[m]`.
        scores: Any finite numbers, higher for a likelier positive, `[m]`.

    Raises:
        PGNNError: If all pairs are of one class, or a score is not finite.

    Example:
        >>> pair_metrics([True, False, True], [0.9, 0.8, 0.7])["roc_auc"]
        0.5
    """
    truth, values = _check(labels, scores)
    return {"roc_auc": roc_auc(truth, values), "average_precision": _precision(truth, values)}


def _precision(truth: NDArray[np.bool_], values: NDArray[np.float64]) -> float:
    """Return the mean precision at each positive; pairs with equal scores come at once."""
    true, all_pairs = _counts_by_score(truth, values)
    return float((np.diff(true, prepend=0) * true / all_pairs).sum() / true[-1])


def roc_curve(labels: ArrayLike, scores: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the points of the ROC curve: shares of negatives and of positives above a score.

    Example:
        >>> false, true = roc_curve([1, 0, 1], [0.9, 0.8, 0.7])
        >>> false.tolist(), true.tolist()
        ([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0])
    """
    truth, values = _check(labels, scores)
    true, all_pairs = _counts_by_score(truth, values)
    true, false = np.append(0, true), np.append(0, all_pairs - true)
    return false / false[-1], true / true[-1]


def _counts_by_score(
    truth: NDArray[np.bool_], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many positives, and how many pairs, score at least each of the scores."""
    order = np.argsort(-values, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))
    return np.cumsum(truth[order], dtype=np.int64)[ends], ends.astype(np.int64) + 1


@checked
def roc_auc(labels: ArrayLike, scores: ArrayLike, *, groups: ArrayLike | None = None) -> float:
    """Return the area under the ROC curve: how often a positive outscores a negative.

    Args:
        labels: Whether each pair is positive: bool, or 0 and 1, `[m]`.
        scores: Finite numbers, `[m]`.
        groups: An integer a pair, `[m]`, such as the graph it is of. If given, the result is the
            mean of the groups' own areas, as the released code averages over graphs; a group of
            one class is left out. If not, pairs of all graphs are compared with each other.

    Raises:
        PGNNError: If all pairs, or those of every group, are of one class; or a score is not
            finite.

    Example:
        >>> roc_auc([1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1], groups=[0, 0, 1, 1])
        1.0
        >>> roc_auc([1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1])
        0.75
    """
    truth, values = _check(labels, scores)
    group = (
        np.zeros(len(truth), dtype=np.int8) if groups is None else numbers("groups", groups, None)
    )
    if group.shape != truth.shape or not np.issubdtype(group.dtype, np.integer):
        raise PGNNError(
            f"groups must be an integer a pair, [{len(truth)}] "
            f"(got {group.dtype} of shape {list(group.shape)})"
        )
    areas = _areas_by_group(truth, values, group)
    if not areas.size:
        raise PGNNError(
            "every group has pairs of one class only, so no group has an area under the ROC curve; "
            "leave out groups to compare pairs of all graphs"
        )
    return float(areas.mean())


def without_rounding(scores: NDArray[np.floating], groups: NDArray[np.integer]) -> NDArray[Any]:
    """Make scores equal that differ by the rounding of float32 alone, where that is most of them.

    Of nodes with the same features some networks (GraphSAGE, GAT) compute the same embedding, up to
    its last bits. What those rank by is the order of additions, and it is enough for an AUC of 0.9:
    rounding spreads over neighbours like any signal. Such scores are ties.

    Args:
        scores: Finite numbers, `[m]`.
        groups: The graph of each, ascending, `[m]`.

    Example:
        >>> without_rounding(np.array([2.0, 2.0, 2.0 + 1e-7, 3.0]), np.zeros(4, dtype=int)).tolist()
        [2.0000001, 2.0000001, 2.0000001, 3.0]
    """
    result = np.array(scores)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    for part in np.split(result, starts[1:]):
        middle = np.partition(part, len(part) // 2)[len(part) // 2]
        near = np.abs(part - middle) <= _ROUNDING * max(1.0, abs(middle))
        if 2 * np.count_nonzero(near) > len(part):
            part[near] = middle
    return result


@dataclass(frozen=True)
class Interval:
    """A number, and where it lies with the stated confidence."""

    value: float
    low: float
    high: float


def auc_interval(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Interval:
    """Return the area under the ROC curve with a bootstrap interval.

    Positives and negatives are drawn with repeats, each kind as often as there are pairs of it.

    Args:
        labels: Whether each pair is positive: bool, or 0 and 1, `[m]`.
        scores: Finite numbers, `[m]`.
        groups: An integer per pair, as in `roc_auc`: then pairs are drawn group by group, and areas
            are means over groups.
        confidence: Chance that the interval is meant to hold the area.
        rng: Seed or generator.

    Example:
        >>> auc_interval([1, 0] * 50, [0.9, 0.1] * 50)
        Interval(value=1.0, low=1.0, high=1.0)
    """
    truth, values = _check(labels, scores)
    parts = _both_kinds(truth, groups)
    areas = _bootstrap_areas(truth, [values], parts, as_generator(rng))[0]
    return _interval(roc_auc(truth, values, groups=groups), areas, confidence)


def auc_difference(
    labels: ArrayLike,
    scores: ArrayLike,
    others: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Interval:
    """Return how much larger the area of `scores` is than that of `others`, on the same pairs.

    Both are measured on the same bootstrap samples, so that pairs that are hard for both do not
    blur the difference. An interval that does not hold 0 is more than chance.

    Args:
        labels: Whether each pair is positive: bool, or 0 and 1, `[m]`.
        scores: Finite numbers, `[m]`.
        others: Other finite numbers, `[m]`.
        groups: As in `auc_interval`.
        confidence: Chance that the interval is meant to hold the difference.
        rng: Seed or generator.

    Example:
        >>> auc_difference([1, 0] * 50, [0.9, 0.1] * 50, [0.9, 0.1] * 50)
        Interval(value=0.0, low=0.0, high=0.0)
    """
    truth, first = _check(labels, scores)
    _, second = _check(labels, others)
    parts = _both_kinds(truth, groups)
    one, two = _bootstrap_areas(truth, [first, second], parts, as_generator(rng))
    value = roc_auc(truth, first, groups=groups) - roc_auc(truth, second, groups=groups)
    return _interval(value, one - two, confidence)


def _interval(value: float, sampled: NDArray[np.float64], confidence: float) -> Interval:
    tail = (1 - checks.share("confidence", confidence)) / 2
    low, high = np.quantile(sampled, [tail, 1 - tail]).tolist()
    return Interval(value, min(low, value), max(high, value))


def _both_kinds(truth: NDArray[np.bool_], groups: ArrayLike | None) -> list[NDArray[np.intp]]:
    """Return the pairs of each group that has positives and negatives."""
    if groups is None:
        return [np.arange(len(truth))]
    group = np.asarray(groups)
    if group.shape != truth.shape:
        raise PGNNError(
            Parameter("groups"), f" must be an integer per pair, [{len(truth)}] "
            f"(got shape {list(group.shape)})",
        )  # fmt: skip
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return [part for part in parts if 0 < np.count_nonzero(truth[part]) < len(part)]


def _bootstrap_areas(
    truth: NDArray[np.bool_],
    scores: list[NDArray[np.float64]],
    parts: list[NDArray[np.intp]],
    generator: np.random.Generator,
) -> list[NDArray[np.float64]]:
    """Return areas of scores on the same samples, means over parts."""
    work = len(truth) + _SAMPLE_WORK * (len(parts) - 1)
    num_samples = int(np.clip(_BOOTSTRAP_WORK // work, 100, 1000))
    means = [np.zeros(num_samples) for _ in scores]
    for part in parts:
        own = _bootstrap_part(truth[part], [s[part] for s in scores], num_samples, generator)
        for mean, areas in zip(means, own, strict=True):
            mean += areas / len(parts)
    return means


def _bootstrap_part(
    truth: NDArray[np.bool_],
    scores: list[NDArray[np.float64]],
    num_samples: int,
    generator: np.random.Generator,
) -> list[NDArray[np.float64]]:
    """Return areas of scores on the same samples: a sample is how often each pair was drawn."""
    positive, negative = np.flatnonzero(truth), np.flatnonzero(~truth)
    sorts = []
    for values in scores:
        low = np.sort(values[negative])
        rank = np.argsort(values[negative], kind="stable")
        below = np.searchsorted(low, values[positive], side="left")
        up_to = np.searchsorted(low, values[positive], side="right")
        sorts.append((rank, below, up_to))
    areas = [np.empty(num_samples) for _ in scores]
    for sample in range(num_samples):
        drawn = np.bincount(
            generator.integers(len(negative), size=len(negative)), minlength=len(negative)
        )
        weight = np.bincount(
            generator.integers(len(positive), size=len(positive)), minlength=len(positive)
        )
        for area, (rank, below, up_to) in zip(areas, sorts, strict=True):
            total = np.concatenate([[0], np.cumsum(drawn[rank])])
            wins = weight @ (total[below] + total[up_to]) / 2
            area[sample] = wins / (len(positive) * len(negative))
    return areas


@checked
def hits_at(k: int, labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the share of positives that rank among the first k against all negatives.

    A positive is ranked alone among the negatives: 1 + how many score higher + half of how many
    score the same. So a score that is the same for all pairs earns no hits it did not deserve.

    Args:
        k: The last rank that counts.
        labels: Whether each pair is positive: bool, or 0 and 1, `[m]`.
        scores: Finite numbers, `[m]`.

    Raises:
        PGNNError: If k is not positive, all pairs are of one class, or a score is not finite.

    Example:
        >>> hits_at(1, [1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1])
        0.5
    """
    k = checks.positive_integer("k", k)
    return float((_ranks(labels, scores) <= k).mean())


@checked
def mrr(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the mean over positives of 1 / rank among all negatives (ranked as in `hits_at`).

    Args:
        labels: Whether each pair is positive: bool, or 0 and 1, `[m]`.
        scores: Finite numbers, `[m]`.

    Raises:
        PGNNError: If all pairs are of one class, or a score is not finite.

    Example:
        >>> mrr([1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1])
        0.75
    """
    return float((1 / _ranks(labels, scores)).mean())


def _ranks(labels: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """Return the rank of each positive among all negatives, ties counted half."""
    truth, values = _check(labels, scores)
    negatives = np.sort(values[~truth])
    below = np.searchsorted(negatives, values[truth], side="left")
    not_above = np.searchsorted(negatives, values[truth], side="right")
    return 1 + len(negatives) - (below + not_above) / 2


def _areas_by_group(
    truth: NDArray[np.bool_], values: NDArray[np.float64], group: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the area of each group that has both classes, all groups at once.

    Sorted by group, then score, every pair has a place in its group, from 0, that ties share. The
    places of a group's p positives, less p (p - 1) / 2 for the places they take from each other,
    add up to the number of negatives they outscore, ties counted half.
    """
    order = np.lexsort((values, group))
    truth, values, group = truth[order], values[order], group[order]
    new_group = np.diff(group, prepend=group[0] - 1) != 0
    starts = np.flatnonzero(new_group)
    sizes = np.diff(starts, append=len(group))
    new_run = new_group | (values != np.roll(values, 1))
    run_starts = np.flatnonzero(new_run)
    run_ends = np.append(run_starts[1:], len(group))
    run = np.cumsum(new_run) - 1
    place = (run_starts + run_ends - 1)[run] / 2 - np.repeat(starts, sizes)
    positives = np.add.reduceat(truth.astype(np.int64), starts)
    wins = np.add.reduceat(np.where(truth, place, 0.0), starts) - positives * (positives - 1) / 2
    contests = positives * (sizes - positives)
    both = contests > 0
    return np.asarray(wins[both] / contests[both])


def _check(labels: ArrayLike, scores: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return labels and finite scores of pairs of both classes."""
    given, values = numbers("labels", labels, None), numbers("scores", scores)
    if given.ndim != 1 or given.shape != values.shape:
        raise PGNNError(
            "labels and scores must have one entry a pair "
            f"(got shapes {list(given.shape)} and {list(values.shape)})"
        )
    truth = given.astype(bool)
    if not np.array_equal(truth, given):
        raise PGNNError("labels must be bool, or 0 and 1 (got other values)")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise PGNNError(
            f"scores must be finite ({bad.size} are not; scores[{bad[0]}] = {values[bad[0]]}); "
            "NaN often means that training diverged"
        )
    if truth.all() or not truth.any():
        raise PGNNError(
            f"both classes are needed (got {int(truth.sum())} positive and "
            f"{int((~truth).sum())} negative pairs)"
        )
    return truth, values
