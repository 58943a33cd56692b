"""Splits without leaks: what a model may see, and the pairs it learns from and is judged by.

Two tasks: "link" (is there an edge?) and "pair" (do two nodes have the same label?). Two protocols:

- "paper": negatives are true negatives, no pair is in two parts, and of several graphs whole ones
  are held out.
- "released": as the authors' code does it, flaws included. Only for comparison with published
  numbers: some of its negatives are edges, and a perfect score is out of reach.

Edges with times are split by `split_by_time`: learn from the past, be judged by the future.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgnn import checks
from pgnn.checks import as_generator, checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.io.events import Events
from pgnn.io.notes import counted
from pgnn.names import NEGATIVES, PROTOCOLS, TASKS, Negatives, Protocol, Task
from pgnn.pairs.codes import (
    Codes,
    Pairs,
    as_pairs,
    edge_codes,
    is_among,
    low_high,
    sorted_distinct,
    unordered_codes,
)
from pgnn.pairs.labelled import LabelledPairs
from pgnn.pairs.negatives import (
    draw_distinct,
    draw_negatives,
    draw_not_stored,
)
from pgnn.pairs.sets import PairSet as PairSet
from pgnn.pairs.sets import Split as Split

_TEST_GRAPHS = 0.2  # the paper's share of whole graphs held out for testing
_VAL_GRAPHS = 0.1
_PARTS = ("train", "val", "test")
MOST_HELD_OUT = 100_000  # links per part of one's own graph: they tell an AUC to 0.001


@checked
def split_links(
    graph: Graph,
    *,
    rng: int | np.random.Generator,
    protocol: Protocol = "paper",
    val: float = 0.1,
    test: float = 0.1,
    negatives: Negatives = "uniform",
    ordered: bool = False,
    most: int | None = None,
    train_negatives: bool = True,
) -> Split:
    """Split the edges of one graph for link prediction.

    Protocol "paper": each part gets its share of the edges, at least one, and as many negatives.
    Negatives are pairs without an edge of any part, in either orientation. No pair, turned round or
    not, occurs twice. The visible graph has the training edges.

    Of a directed graph, pairs are ordered edges. Scores of pairs are often symmetric, so both
    directions of a two-way edge go to the same part (shares are of joined pairs, not of edges),
    unless scores are known to be `ordered`. Negatives, turned at random, are pairs without an edge
    in either direction.

    Of a graph with sides, pairs of all parts are across them, the left node first. Other edges are
    visible and in no part.

    Protocol "released": shares are rounded down, and a part may be empty. Negatives are ordered
    pairs drawn with repeats; they may be a stored edge turned round, training negatives may be
    held-out edges, and one pair may be in several parts.

    Args:
        graph: The whole graph.
        rng: Seed or generator.
        protocol: How to split.
        val: Share of the edges held out for validation.
        test: Share of the edges held out for testing.
        negatives: Which pairs are the negatives of the test part, see
            `pgnn.pairs.negatives.draw_negatives`; "two-hop" and "degree" are harder to tell from
            links. Those of other parts are uniform. Only with protocol "paper".
        ordered: Whether what is learnt scores (u, v) other than (v, u). An edge from v to u is then
            evidence for one from u to v, and each is hidden by itself.
        most: Most links of each held-out part, whatever its share. Only with protocol "paper".
        train_negatives: Whether the training part has negatives; what draws its own needs none.
            Only with protocol "paper".

    Raises:
        PGNNError: If there are too few edges for the parts or too few non-edges for the negatives.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 10) for v in range(10)])
        >>> split = split_links(ring, rng=0)
        >>> split.graph, split.test
        (Graph(num_nodes=10, num_edges=8), PairSet(positives=1, negatives=1))
    """
    _check(protocol, val, test)
    checks.one_of("negatives", negatives, NEGATIVES)
    generator = as_generator(rng)
    if protocol == "released":
        if negatives != "uniform":
            raise PGNNError(
                Parameter("negatives"), f" must be uniform with protocol 'released' "
                f"(got {negatives!r})",
            )  # fmt: skip
        parts = _released_edge_parts(graph, generator, val, test)
        positives = [as_pairs(graph.edges()[part]) for part in parts]
        sets = _released_sets(positives, graph.num_nodes, generator)
        return Split(graph.with_edges(parts[0]), *sets)
    ordered = ordered and graph.has_ordered_links
    parts = _edge_parts(graph, generator, val, test, ordered=ordered, most=most)
    visible = graph.with_edges(_with_other_edges(graph, parts[0]))
    sets = _with_non_edges(graph, parts, generator, with_train=train_negatives)
    if negatives != "uniform":
        sets[-1] = _with_hard_negatives(graph, visible, sets, generator, negatives)
    return Split(visible, *sets)


@checked
def split_pairs(
    graph: Graph,
    *,
    rng: int | np.random.Generator,
    protocol: Protocol = "paper",
    val: float = 0.1,
    test: float = 0.1,
    max_positives: int = 1_000_000,
) -> Split:
    """Split the node pairs of one labelled graph for pairwise node classification.

    Positives are pairs u < v of nodes with the same label. The visible graph is the whole graph.
    Nodes whose label is unknown are in no pair.
    There can be n^2 / 2 pairs, so at most `max_positives` positives are taken, at random.

    Protocol "paper": negatives are pairs u < v with different labels, as many as positives in each
    part, and none twice. Where a graph has fewer of them than positives, as many positives are
    taken as there are negatives. Each part gets its share, at least one positive.

    Protocol "released": shares are rounded down. Negatives are ordered pairs drawn with repeats,
    rejected only if they are in the list of positives as they stand (for training negatives: in
    that of training positives), so that many are a positive turned round.

    Args:
        graph: A graph with labels y.
        rng: Seed or generator.
        protocol: How to split.
        val: Share of the positives for validation.
        test: Share of the positives for testing.
        max_positives: Most positives taken, in all parts together.

    Raises:
        PGNNError: If the graph has no labels, a single class, or too few pairs of the same label.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], y=[0, 0, 0, 1, 1])
        >>> split_pairs(path, rng=0).train
        PairSet(positives=2, negatives=2)
    """
    _check(protocol, val, test)
    generator = as_generator(rng)
    if protocol == "released":
        pairs = _labelled_pairs(graph, max_positives)
        count = min(pairs.num_same, max_positives)
        stored = pairs.same(draw_distinct(generator, count, pairs.num_same))
        parts = _cut(stored, _released_sizes(count, val, test))
        return Split(graph, *_released_sets(parts, graph.num_nodes, generator))
    positives, negatives = _balanced_pairs(graph, generator, max_positives)
    sizes = _part_sizes(len(positives), val, test, "pairs of the same label")
    sets = map(PairSet.join, _cut(positives, sizes), _cut(negatives, sizes))
    return Split(graph, *sets)


@checked
def make_splits(
    graphs: Sequence[Graph],
    task: Task,
    *,
    rng: int | np.random.Generator,
    protocol: Protocol = "paper",
    val: float = 0.1,
    test: float = 0.1,
    max_positives: int = 1_000_000,
) -> list[Split]:
    """Split one or several graphs, one `Split` for each in the same order.

    One graph is split by `split_links` or `split_pairs`, and so is every graph with protocol
    "released". With protocol "paper", whole graphs of several are held out, chosen at random: 20%
    for testing and 10% for validation, at least one each; the others are for training.

    - Task "pair": a training graph has all its positives (see `max_positives`) and as many
      negatives in `train`, a validation graph in `val`, a test graph in `test`; the rest is empty.
      Every graph is visible as a whole.
    - Task "link": in every graph a share val + test of the edges is hidden, at least one, so that
      all visible graphs are thinned alike. A training graph has its visible edges in `train`; its
      hidden ones serve nothing, except that they are not negatives either. A validation or test
      graph has its hidden edges in `val` or `test`, and its visible ones in no part.

    Args:
        graphs: The graphs.
        task: "link" or "pair".
        rng: Seed or generator.
        protocol: How to split.
        val: Share of a graph's positives for validation.
        test: Share of a graph's positives for testing.
        max_positives: Most positives taken of one graph, for task "pair".

    Raises:
        PGNNError: If there is no graph, or two with protocol "paper", or a graph cannot be split;
            the message says which.
    """
    _check(protocol, val, test)
    checks.one_of("task", task, TASKS)
    if not graphs:
        raise PGNNError("at least one graph is needed (got none)")
    generator = as_generator(rng)
    roles: Sequence[int | None] = [None] * len(graphs)
    if protocol == "paper" and len(graphs) > 1:
        roles = _roles(len(graphs), generator)

    def split(graph: Graph, role: int | None) -> Split:
        if task == "link":
            if role is not None:
                return _links_of_one_part(graph, generator, role, val + test)
            return split_links(graph, rng=generator, protocol=protocol, val=val, test=test)
        if role is not None:
            return _pairs_of_one_part(graph, generator, role, max_positives)
        return split_pairs(
            graph,
            rng=generator,
            protocol=protocol,
            val=val,
            test=test,
            max_positives=max_positives,
        )

    splits: list[Split] = []
    for position, (graph, role) in enumerate(zip(graphs, roles, strict=True)):
        try:
            splits.append(split(graph, role))
        except PGNNError as error:
            if len(graphs) == 1:
                raise
            raise PGNNError(f"graph {position} of {len(graphs)}: {error}") from error
    return splits


def hide_in_folds(split: Split, num_folds: int, *, rng: int | np.random.Generator) -> list[Split]:
    """Cut the training pairs of a split for links into folds, each hidden from its own graph.

    A model that sees an edge can tell it by its two ends being neighbours, and held-out edges never
    are. So the edges of a fold are learnt from the graph of the other folds' edges.

    Args:
        split: What `split_links` made.
        num_folds: Number of folds, at least 2.
        rng: Seed or generator.

    Returns:
        First the split without its training pairs, to choose and judge by; then one split per fold,
        with training pairs alone.

    Raises:
        PGNNError: If there are fewer joined pairs of nodes than folds.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 10) for v in range(10)])
        >>> parts = hide_in_folds(split_links(ring, rng=0), 4, rng=0)
        >>> [part.graph.num_edges for part in parts], parts[1].train
        ([8, 6, 6, 6, 6], PairSet(positives=2, negatives=2))
    """
    generator = as_generator(rng)
    edges = as_pairs(split.graph.edges())
    asked = _asked_edges(split.graph)
    joined, which = np.unique(unordered_codes(edges[asked]), return_inverse=True)
    if num_folds < 2 or len(joined) < num_folds:
        raise PGNNError(
            f"the number of folds must be at least 2 and at most the number of training edges, "
            f"{len(joined)} (got {num_folds})"
        )
    # Both directions of a pair of nodes go to the same fold.
    fold = np.full(len(edges), -1)
    fold[asked] = generator.permutation(np.arange(len(joined)) % num_folds)[which]
    negatives = split.train.negatives
    negative_fold = generator.permutation(np.arange(len(negatives)) % num_folds)
    none = PairSet(edges[:0], np.empty(0, dtype=bool))
    parts = [replace(split, train=none)]
    for number in range(num_folds):
        links = _oriented(split.graph, edges[fold == number])
        pairs = PairSet.join(links, negatives[negative_fold == number])
        parts.append(Split(split.graph.with_edges(fold != number), pairs, none, none))
    return parts


def _check(protocol: str, val: float, test: float) -> None:
    """Refuse arguments out of range."""
    checks.one_of("protocol", protocol, PROTOCOLS)
    if not (val >= 0 and test >= 0 and val + test < 1):
        raise PGNNError(
            f"val and test must be shares >= 0 that leave some for training (got {val} and {test})"
        )


# ---------------------------------------------------------------------- sizes and roles


def _part_sizes(
    total: int, val: float, test: float, of_what: str, most: int | None = None
) -> list[int]:
    """Return how many of `total` go to each part: the share, and at least one where it is not 0."""
    num_val, num_test = (max(1, round(share * total)) if share else 0 for share in (val, test))
    if most is not None:
        num_val, num_test = min(num_val, most), min(num_test, most)
    if total - num_val - num_test < 1:
        needed = 1 + (val > 0) + (test > 0)
        raise PGNNError(
            f"the graph has {total} {of_what}, too few to give every part at least one "
            f"(at least {needed} are needed with val={val:g} and test={test:g})"
        )
    return [total - num_val - num_test, num_val, num_test]


def _roles(num_graphs: int, generator: np.random.Generator) -> list[int]:
    """Return for each graph the index in `_PARTS` of the part it belongs to."""
    if num_graphs < 3:
        raise PGNNError(
            f"holding out whole graphs needs at least 3, one a part (got {num_graphs}); split each "
            "graph with split_links or split_pairs instead"
        )
    num_test = max(1, round(_TEST_GRAPHS * num_graphs))
    num_val = max(1, round(_VAL_GRAPHS * num_graphs))
    sizes = [num_graphs - num_val - num_test, num_val, num_test]
    roles = generator.permutation(np.repeat(np.arange(len(_PARTS)), sizes))
    return [int(role) for role in roles]


def _cut(pairs: Pairs, sizes: Sequence[int]) -> list[Pairs]:
    """Cut an array into consecutive parts of these sizes."""
    return np.split(pairs[: sum(sizes)], np.cumsum(sizes)[:-1])


# ---------------------------------------------------------------------- links


def _edge_parts(
    graph: Graph,
    generator: np.random.Generator,
    val: float,
    test: float,
    *,
    ordered: bool = False,
    most: int | None = None,
) -> list[NDArray[np.intp]]:
    """Return which edges go to each part; both directions of a pair to the same, if unordered."""
    links = _asked_edges(graph)
    codes = edge_codes(graph.edges()[links], graph.num_nodes, directed=True)
    if not ordered:
        codes = unordered_codes(as_pairs(graph.edges())[links])
    joined, which = np.unique(codes, return_inverse=True)
    of_what = "edges" if ordered else "pairs of joined nodes"
    sizes = _part_sizes(len(joined), val, test, of_what, most)
    part = generator.permutation(np.repeat(np.arange(len(_PARTS)), sizes))[which]
    return [links[part == index] for index in range(len(_PARTS))]


def _asked_edges(graph: Graph) -> NDArray[np.intp]:
    """Return which edges are links in question: all, or those across the graph's sides."""
    if graph.sides is None:
        return np.arange(graph.num_edges)
    return np.flatnonzero(graph.sides.contain(graph.edges()))


def _with_other_edges(graph: Graph, links: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return these edges and those that are not in question, which stay visible."""
    others = np.ones(graph.num_edges, dtype=bool)
    others[_asked_edges(graph)] = False
    return np.sort(np.concatenate([links, np.flatnonzero(others)]))


def _oriented(graph: Graph, links: Pairs) -> Pairs:
    """Return links as they are scored: as they stand or, of a graph with sides, left first."""
    return links if graph.sides is None else graph.sides.left_first(links)


def _with_non_edges(
    graph: Graph,
    parts: Sequence[NDArray[np.intp]],
    generator: np.random.Generator,
    *,
    with_train: bool = True,
) -> list[PairSet]:
    """Give each part as many negatives, all different, joined in no part and no direction."""
    edges = as_pairs(graph.edges())
    sizes = [len(part) for part in parts]
    if not with_train:
        sizes[0] = 0
    joined = sorted_distinct(unordered_codes(edges))
    negatives = draw_negatives(generator, graph, joined, sum(sizes))
    return [
        PairSet.join(_oriented(graph, edges[part]), others)
        for part, others in zip(parts, _cut(negatives, sizes), strict=True)
    ]


def _with_hard_negatives(
    graph: Graph,
    visible: Graph,
    sets: Sequence[PairSet],
    generator: np.random.Generator,
    kind: Negatives,
) -> PairSet:
    """Return the test part with other negatives, which are in no other part either."""
    *others, test = sets
    taken = [as_pairs(graph.edges()), *(part.negatives for part in others)]
    joined = sorted_distinct(unordered_codes(np.concatenate(taken)))
    count = len(test.negatives)
    negatives = draw_negatives(generator, visible, joined, count, kind=kind)
    return PairSet.join(test.positives, negatives)


def _links_of_one_part(
    graph: Graph, generator: np.random.Generator, role: int, hidden: float
) -> Split:
    """Split a graph of which all pairs belong to one part."""
    if not hidden:
        raise PGNNError("val + test must not be 0: held-out graphs need hidden edges to predict")
    visible, _, held_out = _edge_parts(graph, generator, 0.0, hidden)
    parts = [visible[:0]] * len(_PARTS)
    parts[role] = visible if _PARTS[role] == "train" else held_out
    seen = graph.with_edges(_with_other_edges(graph, visible))
    return Split(seen, *_with_non_edges(graph, parts, generator))


# ---------------------------------------------------------------------- time


@dataclass(frozen=True)
class TimeFacts:
    """How events were split into past and future.

    Attributes:
        column: The column of times.
        test_from: The first moment of the future, as `TimeScale.shown` writes it; None without a
            future to judge by.
        until: The last time that was read, as the user wrote it; None: all.
        past_events: Events before `test_from`.
        future_events: Events from then on.
        new_links: Pairs that are first linked in the future, and are asked about.
        repeated_events: Events of the future between nodes that were linked before; no new links.
        unknown_nodes: Nodes that only the future knows.
        unknown_links: New links with such a node, which are skipped.
    """

    column: str
    test_from: str | None
    until: str | None
    past_events: int
    future_events: int
    new_links: int
    repeated_events: int
    unknown_nodes: int
    unknown_links: int

    def sentence(self) -> str:
        """Say it in one line."""
        if self.test_from is None:
            return f"time: all {self.past_events:,} events are seen, none is judged by"
        parts = [
            f"time: {self.past_events:,} events before {self.test_from} are seen, judged by "
            f"{counted(self.new_links, 'new link')} from then on"
        ]
        if self.repeated_events:
            parts.append(
                f"{counted(self.repeated_events, 'later event')} of old links do not count"
            )
        if self.unknown_nodes:
            parts.append(
                f"{counted(self.unknown_links, 'new link')} of "
                f"{counted(self.unknown_nodes, 'node')} that the past does not know left out"
            )
        return "; ".join(parts)


@dataclass(frozen=True, eq=False)
class TimeSplit:
    """Events split by time.

    Attributes:
        graph: The graph of the past.
        split: What may be seen of it, and pairs; the test pairs are of the future.
        facts: How it was split.
    """

    graph: Graph
    split: Split
    facts: TimeFacts


def split_by_time(
    events: Events,
    *,
    rng: int | np.random.Generator,
    test_from: float | None = None,
    val: float = 0.0,
    test: float = 0.1,
    negatives: Negatives = "uniform",
) -> TimeSplit:
    """Split events for link prediction: the past is visible, the future judges.

    The graph is that of the events before the cut. Test links are pairs of its nodes that are first
    linked from the cut on, in either direction; later events of pairs that were linked before are
    no new links, and links of nodes that the past does not know are skipped. As many negatives are
    pairs of nodes with an edge in the past that no event ever links.

    Nothing else depends on the future: training negatives are pairs that the past does not link,
    and may well be linked later. Validation links are the last new links of the past, and hidden;
    of nodes that have other links, too.

    Args:
        events: What `pgnn.io.read_events` read.
        rng: Seed or generator.
        test_from: The cut, the first moment of the future. By default the one that leaves a share
            `test` of the linked pairs to the future, as nearly as equal times allow.
        val: Share of the past's pairs for validation.
        test: Share of the pairs for testing, if there is no `test_from`; 0 for no future.
        negatives: As for `split_links`.

    Raises:
        PGNNError: If there is no past, or the future has no new links of known nodes.

    Example:
        >>> ring = [(v, (v + 1) % 8, 2020 + v) for v in range(8)]
        >>> events = Events.of(*zip(*ring, (0, 4, 2030), strict=True))
        >>> parts = split_by_time(events, rng=0, test_from=2029)
        >>> parts.graph.num_edges, parts.split.test.positives.tolist()
        (8, [[0, 4]])
    """
    _check("paper", val, test)
    checks.one_of("negatives", negatives, NEGATIVES)
    generator = as_generator(rng)
    if test_from is not None:
        checks.number("test_from", test_from)
    elif test:
        test_from = _default_cut(events, test)
    if test_from is not None and not (events.times < test_from).any():
        raise PGNNError(
            "there are no events before ",
            Parameter("test_from"),
            f" ({events.scale.shown(test_from)}) to learn from; the first is at "
            f"{events.scale.shown(float(events.times.min()))}",
        )
    graph = events.graph(before=test_from)
    links = _is_link(events)
    places, times = events.places(graph)[links], events.times[links]
    past = times < (np.inf if test_from is None else test_from)
    parts = _parts_by_time(graph, low_high(places[past]), times[past], val, generator)
    visible = graph.with_edges(_with_other_edges(graph, parts[0]))
    sets = _with_non_edges(graph, parts, generator)
    future = _future_links(graph, places[~past], events.pairs[links][~past])
    if test_from is not None:
        if not len(future.links):
            raise PGNNError(
                "no two nodes that were known before ",
                Parameter("test_from"),
                f" ({events.scale.shown(test_from)}) are first linked from then on, so there is "
                "nothing to judge by; choose an earlier time",
            )
        drawn = _never_linked(visible, graph, future, sets[:2], generator, negatives)
        sets[-1] = PairSet.join(future.links, drawn)
    facts = TimeFacts(
        column=str(events.rows.names[3]),
        test_from=None if test_from is None else events.scale.shown(test_from),
        until=events.until,
        past_events=int(np.count_nonzero(past)),
        future_events=int(np.count_nonzero(~past)),
        new_links=len(future.links),
        repeated_events=future.num_repeated,
        unknown_nodes=future.num_unknown_nodes,
        unknown_links=future.num_unknown_links,
    )
    return TimeSplit(graph, Split(visible, *sets), facts)


def _is_link(events: Events) -> NDArray[np.bool_]:
    """Return whether each event is of two different nodes."""
    return np.asarray(events.pairs[:, 0] != events.pairs[:, 1])


def _first_times(codes: Codes, times: NDArray[np.float64]) -> tuple[Codes, NDArray[np.float64]]:
    """Return each code once, sorted, and the earliest of its times."""
    distinct, which = np.unique(codes, return_inverse=True)
    first = np.full(len(distinct), np.inf)
    np.minimum.at(first, which, times)
    return distinct, first


def _default_cut(events: Events, test: float) -> float:
    """Return the time from which about a share `test` of the pairs is first linked."""
    links = _is_link(events)
    _, first = _first_times(unordered_codes(events.pairs[links]), events.times[links])
    moments, counts = np.unique(first, return_counts=True)
    if len(moments) < 2:
        raise PGNNError(
            f"{events.path}: all links are first seen at the same time, so there is no past to "
            "learn from; leave ",
            Parameter("time"),
            " out",
        )
    later = np.cumsum(counts[::-1])[::-1]  # pairs that are first linked at each moment or after it
    nearest = 1 + int(np.argmin(np.abs(later[1:] - test * len(first))))
    return float(moments[nearest])


def _parts_by_time(
    graph: Graph,
    pairs: Pairs,
    times: NDArray[np.float64],
    val: float,
    generator: np.random.Generator,
) -> list[NDArray[np.intp]]:
    """Return which edges of the past are to learn from, to choose by, and none.

    Those to choose by are the last new ones, in random order where times are equal. One that would
    leave a node without edges is learnt from instead: of the future, too, only links of known nodes
    are asked about.
    """
    edges = as_pairs(graph.edges())
    codes, first = _first_times(unordered_codes(pairs), times)
    num_train, *_ = _part_sizes(len(codes), val, 0.0, "pairs of joined nodes")
    order = np.lexsort((generator.permutation(len(codes)), first))
    chosen = is_among(unordered_codes(edges), np.sort(codes[order[num_train:]]))
    degrees = np.bincount(edges[~chosen].ravel(), minlength=graph.num_nodes)
    joined = chosen & (degrees[edges] > 0).all(axis=1)
    chosen = joined if joined.any() else chosen
    is_link = np.zeros(len(edges), dtype=bool)
    is_link[_asked_edges(graph)] = True
    none = np.empty(0, dtype=np.intp)
    return [np.flatnonzero(is_link & ~chosen), np.flatnonzero(is_link & chosen), none]


@dataclass(frozen=True, eq=False)
class _Future:
    """What the future links.

    Attributes:
        links: Pairs of nodes of the past that are first linked, each once (of a directed graph,
            each direction once).
        num_repeated: Events of pairs that the past links.
        num_unknown_nodes: Nodes that the past does not know.
        num_unknown_links: Different pairs with such a node.
    """

    links: Pairs
    num_repeated: int
    num_unknown_nodes: int
    num_unknown_links: int


def _future_links(graph: Graph, pairs: Pairs, everywhere: Pairs) -> _Future:
    """Sort out what the events of the future link.

    Args:
        graph: The graph of the past.
        pairs: The two nodes of each event in it; -1 where it has none.
        everywhere: Two numbers per event that tell all nodes apart.
    """
    degrees = np.bincount(graph.edges().ravel(), minlength=graph.num_nodes)
    known = (pairs >= 0) & (degrees[pairs] > 0)
    unknown = ~known.all(axis=1)
    old = sorted_distinct(unordered_codes(as_pairs(graph.edges())))
    repeated = np.zeros(len(pairs), dtype=bool)
    repeated[~unknown] = is_among(unordered_codes(pairs[~unknown]), old)
    new = as_pairs(pairs[~unknown & ~repeated])
    if graph.sides is not None:
        new = graph.sides.left_first(new[graph.sides.contain(new)])
    elif not graph.directed:
        new = low_high(new)
    _, first = np.unique(
        edge_codes(new, graph.num_nodes, directed=graph.directed), return_index=True
    )
    return _Future(
        as_pairs(new[first]),
        int(np.count_nonzero(repeated)),
        len(np.unique(everywhere[~known])),
        len(np.unique(unordered_codes(everywhere[unknown]))),
    )


def _never_linked(
    visible: Graph,
    graph: Graph,
    future: _Future,
    others: Sequence[PairSet],
    generator: np.random.Generator,
    kind: Negatives,
) -> Pairs:
    """Draw pairs of nodes with edges in the past that neither past nor future links.

    Negatives of other parts are not drawn again.
    """
    taken = np.concatenate(
        [as_pairs(graph.edges()), future.links, *(part.negatives for part in others)]
    )
    joined = sorted_distinct(unordered_codes(taken))
    has_edge = np.bincount(graph.edges().ravel(), minlength=graph.num_nodes) > 0
    drawn = np.empty((0, 2), dtype=np.int64)
    while len(drawn) < len(future.links):
        count = len(future.links) - len(drawn)
        more = draw_negatives(generator, visible, joined, count, kind=kind)
        joined = sorted_distinct(np.concatenate([joined, unordered_codes(more)]))
        drawn = np.concatenate([drawn, more[has_edge[more].all(axis=1)]])
    return drawn


# ---------------------------------------------------------------------- pairs of labels


def _labelled_pairs(graph: Graph, max_positives: int) -> LabelledPairs:
    """Return the pairs of a graph by label; refuse a graph that has no positives or negatives."""
    max_positives = checks.positive_integer("max_positives", max_positives)
    if graph.y is None:
        raise PGNNError(
            "task 'pair' needs node labels, and the graph has none; give ", Parameter("y")
        )
    known = graph.labelled
    if not known.any():
        raise PGNNError("task 'pair' needs node labels, and that of every node is missing")
    pairs = LabelledPairs.of(graph.y, known)
    if not pairs.num_different:
        raise PGNNError(
            f"all {np.count_nonzero(known)} nodes have the same label ({graph.y[known][0]}), so "
            "there are no negative pairs; task 'pair' needs at least two classes"
        )
    if not pairs.num_same:
        raise PGNNError("no two nodes have the same label, so there are no positive pairs")
    return pairs


def _balanced_pairs(
    graph: Graph, generator: np.random.Generator, max_positives: int
) -> tuple[Pairs, Pairs]:
    """Draw equally many different positives and negatives, as many as there are, or allowed."""
    pairs = _labelled_pairs(graph, max_positives)
    count = min(pairs.num_same, pairs.num_different, max_positives)
    positives = pairs.same(draw_distinct(generator, count, pairs.num_same))
    return positives, pairs.different(draw_distinct(generator, count, pairs.num_different))


def _pairs_of_one_part(
    graph: Graph, generator: np.random.Generator, role: int, max_positives: int
) -> Split:
    """Put all pairs of a graph in one part."""
    positives, negatives = _balanced_pairs(graph, generator, max_positives)
    sets = [PairSet.join(positives[:0], negatives[:0])] * len(_PARTS)
    sets[role] = PairSet.join(positives, negatives)
    return Split(graph, *sets)


# ---------------------------------------------------------------------- the released code's flaws


def _released_sizes(total: int, val: float, test: float) -> list[int]:
    """Return the part sizes of the released code, which rounds down where a part begins."""
    first, second = int((1 - (val + test)) * total), int((1 - test) * total)
    return [first, second - first, total - second]


def _released_edge_parts(
    graph: Graph, generator: np.random.Generator, val: float, test: float
) -> list[NDArray[np.intp]]:
    """Cut the edges, in random order, where the released code does."""
    order = generator.permutation(graph.num_edges)
    return np.split(order, np.cumsum(_released_sizes(graph.num_edges, val, test))[:-1])


def _released_sets(
    parts: Sequence[Pairs], num_nodes: int, generator: np.random.Generator
) -> list[PairSet]:
    """Give each part as many of the released code's negatives."""
    stored = np.concatenate(parts)
    known = [parts[0], stored, stored]  # training negatives are compared to training positives
    return [
        PairSet.join(part, draw_not_stored(generator, taken, num_nodes, len(part)))
        for part, taken in zip(parts, known, strict=True)
    ]
