"""Groups of nodes that a model of task "pair" holds for alike, and labels of unlabelled nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgnn import checks
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.io import id_array
from pgnn.pairs.codes import Pairs, unordered_pairs
from pgnn.prediction.candidates import candidate_pairs
from pgnn.training.learners import AnyLearner

if TYPE_CHECKING:
    import scipy.sparse as sp

ALL_PAIRS = 2_000_000  # pairs up to which all are compared: those of 2,000 nodes
_PAIRS_PER_NODE = 20  # compared in larger graphs
_MOST_GROUPS = 50  # that are found without being told how many
_VOTERS = 10  # labelled nodes that decide on a label
_DOUBT = 1.0  # odds that stand for no label at all
_ODDS = (1e-6, 1e6)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the nodes of a graph, and their labels.

    Attributes:
        graph: The graph.
        group: The number of each node's group, the largest group is 0, `[n]`.
        labels: The label of each node, known or predicted; None where the graph has no labels.
        chance: How likely a predicted label is, NaN where it is known, `[n]`.
        how: How groups were found, in words.
    """

    graph: Graph
    group: NDArray[np.int64]
    labels: list[Any] | None
    chance: Floats
    how: str

    @property
    def num_groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    @property
    def predicted(self) -> NDArray[np.bool_]:
        """Whether the label of each node is predicted, `[n]`."""
        return ~np.isnan(self.chance)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per node: id and group and, if there are labels, label and chance."""
        rows: list[dict[str, Any]] = [
            {"id": name, "group": group}
            for name, group in zip(id_array(self.graph).tolist(), self.group.tolist(), strict=True)
        ]
        if self.labels is not None:
            columns = zip(rows, self.labels, self.predicted, self.chance.tolist(), strict=True)
            for row, label, is_predicted, chance in columns:
                row["label"] = label
                row["predicted"] = bool(is_predicted)
                row["chance"] = chance if is_predicted else 1.0
        return rows

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the same as columns of a table; a label that is known has a chance of 1."""
        columns: dict[str, NDArray[Any]] = {"id": id_array(self.graph), "group": self.group}
        if self.labels is not None:
            columns["label"] = np.array(self.labels)
            columns["predicted"] = self.predicted.astype(np.int64)
            columns["chance"] = np.where(self.predicted, self.chance, 1.0)
        return columns

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {"num_groups": self.num_groups, "how": self.how, "groups": self.rows()}


def find_groups(
    learner: AnyLearner,
    graph: Graph,
    *,
    num_groups: int | None = None,
    rng: int = 0,
) -> Groups:
    """Divide the nodes of a graph into groups that a model of task "pair" holds for alike.

    The similarity of two nodes is the model's chance that they have the same label, for the share
    of equal labels among all pairs. Groups are scikit-learn's k-means of the leading eigenvectors
    of the similarities, as in spectral clustering. Up to 2,000 nodes all pairs are compared; of
    more, neighbours, nodes near in the graph and nodes of near embeddings.

    An unlabelled node gets the label that the ten labelled nodes most similar to it vote for, each
    with its odds.

    Args:
        learner: A trained learner of task "pair".
        graph: Any graph; labels may be unknown, or there may be none.
        num_groups: How many groups. By default as many as there are labels; without labels, as many
            as there are eigenvalues before the largest gap between them, 50 at most.
        rng: Seed of k-means.

    Raises:
        PGNNError: If the learner is of another task, or there are fewer nodes than groups.
    """
    if learner.recipe.task != "pair":
        raise PGNNError(
            Parameter("groups"), " is for runs of task 'pair', and this one is of task "
            f"'{learner.recipe.task}'; train a run of task 'pair' first",
        )  # fmt: skip
    if num_groups is not None:
        checks.positive_integer("groups", num_groups)
        if num_groups > graph.num_nodes:
            raise PGNNError(
                Parameter("groups"),
                f" must be at most the number of nodes, {graph.num_nodes} (got {num_groups})",
            )
    pairs, how = _compared(learner, graph)
    even = learner.scorer(graph).with_spread(pairs, base_rate=0.5)[0]
    odds = np.clip(even / np.maximum(1 - even, 1e-12), *_ODDS)
    rate = _rate(graph, odds)
    odds = odds * rate / (1 - rate)
    similarity = _matrix(graph.num_nodes, pairs, odds / (1 + odds))
    wanted = num_groups if num_groups is not None else graph.num_classes or None
    group, way = _divide(similarity, wanted, rng)
    way = "as typed" if num_groups is not None else way
    how = f"{group.max() + 1} groups ({way}), by {how}"
    if graph.y is None or not graph.labelled.any():
        return Groups(graph, group, None, np.full(graph.num_nodes, np.nan), how)
    labels, chance = _vote(graph, _matrix(graph.num_nodes, pairs, odds), group)
    return Groups(graph, group, labels, chance, how)


def _compared(learner: AnyLearner, graph: Graph) -> tuple[Pairs, str]:
    """Return the pairs that are compared, and say which."""
    n = graph.num_nodes
    total = n * (n - 1) // 2
    if total <= ALL_PAIRS:
        return unordered_pairs(np.arange(total)), f"all {total:,} pairs"
    candidates = candidate_pairs(
        graph,
        learner.embed(graph),
        include_edges=True,
        limit=max(ALL_PAIRS // 4, _PAIRS_PER_NODE * n),
        metric=learner.recipe.decoder or "distance",
    )
    return candidates.pairs, candidates.how


def _rate(graph: Graph, odds: Floats) -> float:
    """Return the share of equal labels among all pairs.

    It is counted where labels are known. Otherwise it is the share that the chances agree with: one
    that is their mean if they are stated for it.
    """
    if graph.y is not None and np.count_nonzero(graph.labelled) > 1:
        _, counts = np.unique(graph.y[graph.labelled], return_counts=True)
        total = counts.sum()
        rate = float((counts * (counts - 1)).sum() / (total * (total - 1)))
    else:
        rate = 0.5
        for _ in range(100):
            weighed = odds * rate / (1 - rate)
            rate = float(np.clip(np.mean(weighed / (1 + weighed)), 1e-6, 0.5))
    return min(max(rate, 1e-6), 0.5)


def _matrix(num_nodes: int, pairs: Pairs, values: Floats) -> sp.csr_array:
    """Return symmetric values of pairs as a sparse matrix."""
    import scipy.sparse as sp

    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    shape = (num_nodes, num_nodes)
    return sp.csr_array((np.tile(values, 2), (rows, columns)), shape=shape)


def _divide(
    similarity: sp.csr_array, num_groups: int | None, rng: int
) -> tuple[NDArray[np.int64], str]:
    """Return the group of each node, and how their number was chosen."""
    from sklearn.cluster import KMeans

    n = similarity.shape[0]
    count = min(n, (num_groups or _MOST_GROUPS) + 1)
    values, vectors = _leading(similarity, count)
    way = "as many as labels"
    if num_groups is None:
        gaps = values[:-1] - values[1:]
        num_groups = int(np.argmax(gaps[1:]) + 2) if len(gaps) > 1 else 1
        way = "the largest gap between eigenvalues"
    rows = vectors[:, :num_groups]
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    if num_groups == 1:
        return np.zeros(n, dtype=np.int64), way
    groups = KMeans(num_groups, n_init=10, random_state=rng).fit_predict(rows)
    sizes = np.bincount(groups, minlength=num_groups)
    place = np.empty(num_groups, dtype=np.int64)
    place[np.argsort(-sizes, kind="stable")] = np.arange(num_groups)
    return place[groups], way


def _leading(similarity: sp.csr_array, count: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of D^-1/2 W D^-1/2, largest first, and their vectors."""
    import scipy.sparse as sp
    from scipy.linalg import eigh
    from scipy.sparse.linalg import eigsh

    n = similarity.shape[0]
    scale = 1 / np.sqrt(np.maximum(similarity.sum(axis=1), 1e-12))
    scaled = sp.csr_array(sp.diags_array(scale) @ similarity @ sp.diags_array(scale))
    if n <= 2000:
        values, vectors = eigh(scaled.toarray(), subset_by_index=[n - count, n - 1])
    else:
        start = np.random.default_rng(0).random(n)
        values, vectors = eigsh(scaled, k=min(count, n - 1), which="LA", v0=start)
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def _vote(graph: Graph, odds: sp.csr_array, group: NDArray[np.int64]) -> tuple[list[Any], Floats]:
    """Return the label of each node, and the chance of those that are predicted."""
    assert graph.y is not None
    known, labels = graph.labelled, graph.labels()
    chance = np.full(graph.num_nodes, np.nan)
    classes, codes = np.unique(graph.y[known], return_inverse=True)
    names = {int(y): labels[v] for v, y in zip(np.flatnonzero(known), graph.y[known], strict=True)}
    code_of = np.full(graph.num_nodes, -1, dtype=np.int64)
    code_of[known] = codes
    for v in np.flatnonzero(~known).tolist():
        span = slice(odds.indptr[v], odds.indptr[v + 1])
        voters, strength = odds.indices[span], odds.data[span]
        voters, strength = voters[known[voters]], strength[known[voters]]
        if len(voters):
            best = np.argsort(-strength, kind="stable")[:_VOTERS]
            votes = np.bincount(code_of[voters[best]], strength[best], minlength=len(classes))
            total = votes.sum() + _DOUBT
        else:  # nobody like it has a label: that of most nodes of its group, or of all
            others = known & (group == group[v])
            others = others if others.any() else known
            votes = np.bincount(code_of[others], minlength=len(classes)).astype(np.float64)
            total = votes.sum() + _DOUBT
        winner = int(np.argmax(votes))
        labels[v] = names[int(classes[winner])]
        chance[v] = votes[winner] / total
    return labels, chance
