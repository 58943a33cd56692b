"""Why a pair of nodes has its score: reasons with their effects, and the edges they rest on.

What a model reads about a pair falls into groups of columns. A group's effect is what the score
loses if these columns are those of random pairs of the graph. Each reason also names its evidence,
edges of the graph, and is put to the test: the pair is scored again without them. The first reason
is one that passes both: its columns raise the score, and the score falls without its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import all_heuristics
from pgnn.graph import Graph
from pgnn.io import id_array
from pgnn.pairs.codes import Pairs, as_pairs, is_among, sorted_distinct, unordered_codes
from pgnn.pairs.columns import undirected
from pgnn.pairs.paths import (
    common_neighbours,
    cut_of_paths,
    shortest_paths,
    three_step_paths,
    without_edges,
)
from pgnn.positions import anchor_distances, sample_anchor_sets
from pgnn.prediction.ranking import default_base_rate, score_pairs
from pgnn.training.learners import AnyLearner
from pgnn.training.pair_learner import PairLearner
from pgnn.training.seeds import Purpose, generator_of

NUM_TYPICAL = 64  # random pairs that say what is typical
SURE_FALL = 0.3  # of the logit without the evidence: less may be chance
_MANY_EDGES = 200  # of paths of three steps: beyond it, common neighbours stand for all short ways
_NAMED = 3  # nodes or paths that the name of a reason lists

# Which group a column is of: the first pattern that its name begins with. Columns that are added
# elsewhere find their group by their names, or are of the last.
_GROUPS = (
    ("joined", r"joined|reverse_edge"),
    ("common", r"common|adamic_adar|resource_allocation|jaccard|hub_|two_paths|walk_2(_|$)"),
    ("three", r"three_paths|walk_3(_|$)"),
    ("walks", r"walk_|pagerank_|rank_"),
    ("place", r"position_"),
    ("division", r"together_"),
    ("distance", r"hops|same_component"),
    ("ends", r"(in_|out_|source_|target_)*(degree|strength|neighbour_|two_hop_|clustering|core|c)"),
    ("taste", r"item_|peer_|basket_"),
    ("order", r"role_|level_|bound_|barred_"),
    ("other", r""),
)
FEATURES = "features"
# Reasons that name nodes come before vaguer ones of up to twice their worth.
_PLAIN = ("joined", "common", "three")


@dataclass(frozen=True, eq=False)
class Reason:
    """Something that a score owes to the graph.

    Attributes:
        group: Which group of columns it is of, see `group_of`.
        name: What it is, in words.
        value: What it amounts to: a count, a share or another number; None where there is none.
        effect: By how much the score is higher for it (lower, if negative) than if it were as for
            random pairs of the graph. For a model that embeds nodes: than without the evidence.
        evidence: Edges of the graph that it rests on, node indices `[m, 2]`. One edge of each path
            is enough: without them the paths are gone.
        without: The score without these edges; None if that was not tried.
    """

    group: str
    name: str
    value: float | None
    effect: float
    evidence: Pairs
    without: float | None = None

    def to_json(self, graph: Graph) -> dict[str, Any]:
        """Return it as JSON holds it, with the ids of the graph's nodes."""
        ids = id_array(graph)
        return {
            "group": self.group,
            "name": self.name,
            "value": self.value,
            "effect": self.effect,
            "evidence": [[ids[u].item(), ids[v].item()] for u, v in self.evidence.tolist()],
            "without": self.without,
        }


class HeuristicSays(NamedTuple):
    """What a heuristic says of a pair.

    Attributes:
        score: Its score.
        above: The share of random pairs of the graph with a lower score; equal ones count half.
    """

    score: float
    above: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """A score of a pair of nodes and what it owes to what.

    Attributes:
        graph: The graph.
        source: One node, an index.
        target: The other.
        task: "link" or "pair".
        score: The chance for the base rate, as `pgnn.prediction.ranking.score_pairs` has it.
        spread: How far it varies.
        base_rate: The share of links that the chance is stated for.
        is_edge: Whether the graph joins the pair. Of task "link" that edge was not read.
        reasons: Those that the score needs most first, and those that speak against it last.
        paths: Up to five shortest paths without the pair's own edge, node indices.
        heuristics: What scores without learning say, by name.
    """

    graph: Graph
    source: int
    target: int
    task: str
    score: float
    spread: float
    base_rate: float
    is_edge: bool
    reasons: list[Reason]
    paths: list[list[int]]
    heuristics: dict[str, HeuristicSays]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON holds it, with the ids of the graph's nodes."""
        ids = id_array(self.graph)
        return {
            "source": ids[self.source].item(),
            "target": ids[self.target].item(),
            "task": self.task,
            "score": self.score,
            "spread": self.spread,
            "base_rate": self.base_rate,
            "is_edge": self.is_edge,
            "reasons": [reason.to_json(self.graph) for reason in self.reasons],
            "paths": [ids[path].tolist() for path in self.paths],
            "heuristics": {name: says._asdict() for name, says in self.heuristics.items()},
        }


def explain(
    learner: AnyLearner,
    graph: Graph,
    source: int,
    target: int,
    *,
    base_rate: float | None = None,
) -> Explanation:
    """Say why a pair of nodes has its score.

    Args:
        learner: A trained learner.
        graph: Any graph.
        source: Index of a node.
        target: Index of another.
        base_rate: As for `pgnn.prediction.ranking.predict`.

    Raises:
        PGNNError: If it is one node twice, or not of the graph.
    """
    pairs = as_pairs([(source, target)], graph.num_nodes)
    if source == target:
        name = id_array(graph)[source].item()
        raise PGNNError(f"a pair must be of two different nodes (got {name!r} twice)")
    asking = _Asking(learner, graph, base_rate)
    (case,) = asking.cases(pairs)
    tested = [asking.tested(case, reason) for reason in case.reasons]
    return Explanation(
        graph=graph,
        source=source,
        target=target,
        task=learner.recipe.task,
        score=case.score,
        spread=case.spread,
        base_rate=asking.base_rate,
        is_edge=bool(is_among(unordered_codes(pairs), asking.joined)[0]),
        reasons=_in_order(case.score, tested),
        paths=shortest_paths(asking.plain, source, target),
        heuristics=asking.heuristics(pairs),
    )


def first_reasons(
    learner: AnyLearner, graph: Graph, pairs: ArrayLike, *, base_rate: float | None = None
) -> list[Reason]:
    """Return the first reason of each pair, as `explain` has it.

    Reasons are put to the test one by one, until no other can be worth more.

    Args:
        learner: A trained learner.
        graph: Any graph.
        pairs: Node indices of two different nodes, `[m, 2]`.
        base_rate: As for `pgnn.prediction.ranking.predict`.
    """
    asking = _Asking(learner, graph, base_rate)
    firsts = []
    for case in asking.cases(as_pairs(pairs, graph.num_nodes)):
        tested: list[Reason] = []
        for reason in sorted(case.reasons, key=_promise, reverse=True):
            if tested and max(_worth(case.score, one) for one in tested) >= max(
                _promise(reason), 1e-300
            ):
                break
            tested.append(asking.tested(case, reason))
        firsts.append(_in_order(case.score, tested)[0])
    return firsts


def group_of(column: str) -> str:
    """Return which group of reasons a column belongs to, by its name.

    Example:
        >>> group_of("walk_2"), group_of("walk_24"), group_of("out_degree_source"), group_of("x")
        ('common', 'walks', 'ends', 'other')
    """
    return next(group for group, pattern in _GROUPS if re.match(pattern, column))


# ---------------------------------------------------------------------- which comes first


def _worth(score: float, reason: Reason) -> float:
    """Return what a reason is worth as the first: its effect or its fall, whichever is less."""
    if reason.without is None or _fall(score, reason) <= SURE_FALL:
        return 0.0
    return min(_promise(reason), score - reason.without)


def _promise(reason: Reason) -> float:
    """Return what a reason may be worth, which its effect says before it is tested."""
    return reason.effect if reason.group in _PLAIN else reason.effect / 2


def _fall(score: float, reason: Reason) -> float:
    """Return by how much the logit of the score falls without the evidence; 0 if not tried."""
    if reason.without is None:
        return 0.0
    before, after = (np.clip(value, 1e-15, 1 - 1e-15) for value in (score, reason.without))
    return float(np.log(before / (1 - before)) - np.log(after / (1 - after)))


def _in_order(score: float, reasons: Sequence[Reason]) -> list[Reason]:
    """Sort reasons by their effects, and put first the one of most worth."""
    ordered = sorted(reasons, key=lambda reason: -reason.effect)
    first = max(
        ordered,
        key=lambda reason: (_worth(score, reason), max(_fall(score, reason), 0), reason.effect),
    )
    others = [other for other in ordered if other is not first]
    if first.without is not None and first.effect <= 0 and _fall(score, first) > 0:
        first = replace(first, effect=score - first.without)
    return [first, *others]


# ---------------------------------------------------------------------- finding reasons


class _Case(NamedTuple):
    """A pair with its score, and reasons in the order of their effects, not tested yet."""

    pair: Pairs
    score: float
    spread: float
    reasons: list[Reason]


class _Asking:
    """A learner and a graph, with what all pairs that are explained share."""

    def __init__(self, learner: AnyLearner, graph: Graph, base_rate: float | None) -> None:
        if learner.recipe.task == "pair":
            graph = replace(graph, sides=None)
        self.learner, self.graph = learner, graph
        self.base_rate = default_base_rate(learner, graph) if base_rate is None else base_rate
        self.plain = undirected(graph) if graph.directed else graph
        self._scores_without: dict[tuple[bytes, bytes], float | None] = {}
        self.joined = sorted_distinct(unordered_codes(self.plain.edges().astype(np.int64)))
        self.typical = _random_pairs(graph, np.random.default_rng(0))

    def cases(self, pairs: Pairs) -> list[_Case]:
        """Score pairs, and find the reasons of each."""
        ranking = score_pairs(self.learner, self.graph, pairs, base_rate=self.base_rate)
        if isinstance(self.learner, PairLearner):
            effects = self._effects(self.learner, pairs, ranking.scores)
        else:
            effects = [dict.fromkeys(("common", "three", "place", "ends"))] * len(pairs)
        cases = []
        for row, score, spread, found in zip(
            pairs, ranking.scores.tolist(), ranking.spread.tolist(), effects, strict=True
        ):
            words = _Words(self, row)
            reasons = []
            for group, effect in found.items():
                evidence = words.evidence(group)
                if effect is None and not len(evidence):
                    continue
                without = None
                if effect is None:  # a model without columns: the evidence alone tells
                    without = self._score_without(row, evidence)
                    effect = 0.0 if without is None else score - without
                name, value = words.of(group, effect)
                reasons.append(Reason(group, name, value, effect, evidence, without))
            reasons.sort(key=lambda reason: -reason.effect)
            cases.append(_Case(row, score, spread, reasons))
        return cases

    def tested(self, case: _Case, reason: Reason) -> Reason:
        """Score a pair again without the evidence of a reason."""
        if reason.without is not None or not len(reason.evidence):
            return reason
        return replace(reason, without=self._score_without(case.pair, reason.evidence))

    def heuristics(self, pairs: Pairs) -> dict[str, HeuristicSays]:
        """Ask every heuristic about the first pair, and about random pairs."""
        scores = all_heuristics(self.graph, np.concatenate([pairs[:1], self.typical]))
        return {
            name: HeuristicSays(
                float(each[0]),
                float(np.mean((each[1:] < each[0]) + 0.5 * (each[1:] == each[0]))),
            )
            for name, each in scores.items()
        }

    def _effects(
        self, learner: PairLearner, pairs: Pairs, scores: NDArray[np.float64]
    ) -> list[dict[str, float | None]]:
        """Return what each group of columns adds to each score."""
        scorer = learner.scorer(self.graph)
        columns = learner.describe(scorer.graph, np.concatenate([pairs, self.typical]))
        own, typical = columns.values[: len(pairs)], columns.values[len(pairs) :]
        groups: dict[str, list[int]] = {}
        for place, name in enumerate(columns.names):
            groups.setdefault(group_of(name), []).append(place)
        chances = {}
        calibration = learner.model.calibration

        def chance(mixed: NDArray[np.float32], ends: Pairs) -> NDArray[np.float64]:
            logits = scorer.judge(mixed, ends).mean(axis=0).reshape(-1, NUM_TYPICAL).mean(axis=1)
            return calibration.chances(logits, base_rate=self.base_rate)

        for group, places in groups.items():
            mixed = np.repeat(own, NUM_TYPICAL, axis=0)
            mixed[:, places] = np.tile(typical[:, places], (len(own), 1))
            chances[group] = chance(mixed, np.repeat(pairs, NUM_TYPICAL, axis=0))
        if scorer.features is not None:
            mixed = np.repeat(own, NUM_TYPICAL, axis=0)
            chances[FEATURES] = chance(mixed, np.tile(self.typical, (len(own), 1)))
        return [
            {group: float(scores[row] - each[row]) for group, each in chances.items()}
            for row in range(len(pairs))
        ]

    def _score_without(self, pair: Pairs, edges: Pairs) -> float | None:
        """Return the score of a pair in the graph without some edges; None if none is left."""
        key = (pair.tobytes(), edges.tobytes())
        if key not in self._scores_without:  # several reasons rest on the same edges
            less = without_edges(self.graph, edges)
            score = None
            if less.num_edges:
                ranking = score_pairs(self.learner, less, pair[None], base_rate=self.base_rate)
                score = float(ranking.scores[0])
            self._scores_without[key] = score
        return self._scores_without[key]

    def share_of_anchors(self, pair: Pairs) -> float | None:
        """Return the share of anchor-sets whose nearest member is the same for both nodes.

        None for a model without anchor-sets.
        """
        if not self.learner.num_sets:
            return None
        if is_among(unordered_codes(pair[None]), self.joined)[0]:
            nearest = self._nearest(without_edges(self.plain, pair[None]))
        else:
            nearest = self._nearest_of_all
        u, v = nearest[pair]
        both = (u >= 0) & (v >= 0)
        return float(np.mean((u == v) & both))

    @cached_property
    def _nearest_of_all(self) -> NDArray[np.integer[Any]]:
        return self._nearest(self.plain)

    def _nearest(self, graph: Graph) -> NDArray[np.integer[Any]]:
        recipe = self.learner.recipe
        rng = generator_of(recipe.seed, Purpose.ASKED_ANCHORS)
        num_sets = recipe.num_sets if isinstance(self.learner, PairLearner) else None
        sets = sample_anchor_sets(
            graph.num_nodes, num_sets=num_sets or self.learner.num_sets, rng=rng
        )
        return np.asarray(anchor_distances(replace(graph, weights=None), sets).nearest)


def _random_pairs(graph: Graph, generator: np.random.Generator) -> Pairs:
    """Return pairs of different nodes that may be links, ordered at random where links are."""
    left = right = np.arange(graph.num_nodes)
    if graph.sides is not None:
        left, right = graph.sides.left_nodes, graph.sides.right_nodes
    if graph.sides is not None and not graph.sides.same:
        other = generator.integers(len(right), size=NUM_TYPICAL)
        return np.stack([generator.choice(left, NUM_TYPICAL), right[other]], axis=1)
    first = generator.integers(len(left), size=NUM_TYPICAL)
    other = first + generator.integers(1, max(len(left), 2), size=NUM_TYPICAL)
    return np.stack([left[first], left[other % len(left)]], axis=1)


# ---------------------------------------------------------------------- words


class _Words:
    """What is known of one pair, in words, and the edges that it rests on."""

    def __init__(self, asking: _Asking, pair: Pairs) -> None:
        self._asking, self._pair = asking, pair
        self._graph = asking.plain
        self._u, self._v = (int(node) for node in pair)
        self._ids = id_array(asking.graph)

    @cached_property
    def _common(self) -> NDArray[np.int64]:
        return common_neighbours(self._graph, self._u, self._v)

    @cached_property
    def _three(self) -> Pairs:
        return three_step_paths(self._graph, self._u, self._v)

    @cached_property
    def _short_ways(self) -> Pairs:
        """Edges that cut the short ways between both nodes."""
        lengths: tuple[int, ...] = (2, 3, 0)
        if len(self._common) and len(self._three) > _MANY_EDGES:
            lengths = (2,)
        return cut_of_paths(self._graph, self._u, self._v, lengths=lengths)

    @cached_property
    def _path(self) -> list[int]:
        return next(iter(shortest_paths(self._graph, self._u, self._v, most=1)), [])

    @cached_property
    def _degrees(self) -> tuple[int, int]:
        """The number of neighbours of both, each other not counted, the smaller first."""
        others = (self._graph.neighbors(node) for node in (self._u, self._v))
        few, many = sorted(int(np.count_nonzero(~np.isin(each, self._pair))) for each in others)
        return few, many

    def evidence(self, group: str) -> Pairs:
        """Return the edges that a group of columns rests on."""
        none = np.empty((0, 2), dtype=np.int64)
        own = none
        if self._asking.learner.recipe.task == "pair":
            code = unordered_codes(self._pair[None])
            own = self._pair[None] if is_among(code, self._asking.joined)[0] else none
        if group == "joined":
            return self._edge_back if self._asking.graph.has_ordered_links else own
        if group in (FEATURES, "order", "other"):
            return none
        if group == "taste":
            group = "three"
        if group == "ends":
            return self._edges_of_the_ends()
        if group in ("common", "three"):
            length = 2 if group == "common" else 3
            return cut_of_paths(self._graph, self._u, self._v, lengths=(length,))
        return np.concatenate([own, self._short_ways])

    def of(self, group: str, effect: float) -> tuple[str, float | None]:
        """Return the name of a reason, and its value."""
        return getattr(self, f"_say_{group}")(effect)  # type: ignore[no-any-return]

    @cached_property
    def _edge_back(self) -> Pairs:
        """The edge from the target to the source of a directed graph, if there is one."""
        is_there = self._u in self._asking.graph.neighbors(self._v)
        return self._pair[None, ::-1] if is_there else np.empty((0, 2), dtype=np.int64)

    def _say_taste(self, effect: float) -> tuple[str, float]:
        says = self._asking.heuristics(self._pair[None])["item-based filtering"]
        like = "like" if effect > 0 else "unlike"
        return f"{like} what {self._name(self._u)} is joined to already", says.score

    def _say_order(self, effect: float) -> tuple[str, None]:
        what = "fits" if effect > 0 else "is against"
        return f"the direction {what} the order of the other edges", None

    def _say_joined(self, effect: float) -> tuple[str, float]:
        del effect
        is_joined = len(self.evidence("joined")) > 0
        if self._asking.graph.has_ordered_links:
            back = f"{'an' if is_joined else 'no'} edge back, from target to source"
            return back, float(is_joined)
        return ("joined by an edge" if is_joined else "not joined by an edge"), float(is_joined)

    def _say_common(self, effect: float) -> tuple[str, float]:
        del effect
        count = len(self._common)
        if not count:
            return "no common neighbours", 0.0
        names = self._listed([self._name(node) for node in self._common[:_NAMED]], count)
        return f"{count:,} common neighbour{'s' * (count > 1)} ({names})", float(count)

    def _say_three(self, effect: float) -> tuple[str, float]:
        del effect
        count = len(self._three)
        if not count:
            return "no 3-step paths", 0.0
        ways = [" - ".join(map(self._name, nodes)) for nodes in self._three[:_NAMED]]
        names = self._listed(ways, count)
        return f"{count:,} 3-step path{'s' * (count > 1)} (by {names})", float(count)

    def _say_walks(self, effect: float) -> tuple[str, float]:
        score = self._asking.heuristics(self._pair[None])["pagerank"].score
        return ("close by random walks" if effect > 0 else "far apart by random walks"), score

    def _say_place(self, effect: float) -> tuple[str, float | None]:
        share = self._asking.share_of_anchors(self._pair)
        if share is None:
            return "near in the graph", None
        what = f"share the nearest anchor of {share:.0%} of sets"
        return f"{'same place' if effect > 0 else 'place'}: {what}", share

    def _say_division(self, effect: float) -> tuple[str, None]:
        return ("in one community" if effect > 0 else "in different communities"), None

    def _say_distance(self, effect: float) -> tuple[str, float | None]:
        del effect
        steps = len(self._path) - 1
        return (f"{steps} steps apart", float(steps)) if steps > 0 else ("no path", None)

    def _say_ends(self, effect: float) -> tuple[str, float]:
        few, many = self._degrees
        typical = float(np.median(self._graph.degrees))
        kind = "both well connected" if effect > 0 and few >= typical else "what the two nodes are"
        return f"{kind} ({few:,} and {many:,} neighbours)", float(few)

    def _say_features(self, effect: float) -> tuple[str, float | None]:
        x = self._asking.graph.x
        value = None
        if x is not None:
            scaled = (x[self._pair] - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-6)
            norms = np.linalg.norm(scaled, axis=1)
            value = float(scaled[0] @ scaled[1] / max(norms[0] * norms[1], 1e-12))
        return ("similar features" if effect > 0 else "features that do not match"), value

    def _say_other(self, effect: float) -> tuple[str, None]:
        del effect
        return "what else is known of the pair", None

    def _edges_of_the_ends(self) -> Pairs:
        """Return the edges of both nodes to others than common neighbours; each keeps one."""
        edges = []
        for node, other in ((self._u, self._v), (self._v, self._u)):
            neighbours = self._graph.neighbors(node).astype(np.int64)
            neighbours = neighbours[neighbours != other]
            alone = neighbours[~np.isin(neighbours, self._common)]
            if len(alone) == len(neighbours):
                alone = alone[1:]
            edges.append(np.stack([np.full(len(alone), node), alone], axis=1))
        return np.concatenate(edges)

    def _name(self, node: int) -> str:
        return str(self._ids[node])

    @staticmethod
    def _listed(names: list[str], count: int) -> str:
        return ", ".join([*names, *(["..."] if count > len(names) else [])])
