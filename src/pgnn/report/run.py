"""The page about one run: what it shows, as a value, and that value as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import as_generator, checked, integer, numbers, positive_integer, shown
from pgnn.errors import Parameter, PGNNError
from pgnn.evaluation.calibration import ReliabilityBin
from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets
from pgnn.report.drawing import (
    edges_among,
    find_communities,
    map_embedding,
    place_nodes,
    sample_nodes,
)
from pgnn.report.links import Between
from pgnn.report.page import number, plain, render_page

_METRICS = {"roc_auc": "ROC AUC", "average_precision": "average precision", "mrr": "MRR"}
_MEANINGS = {
    "roc_auc": "how often a pair that belongs together scores higher than one that does not. "
    "0.5 is guessing, 1 is perfect.",
    "average_precision": "go down the list from the highest score. At each pair that belongs, "
    "which share of the list so far belongs? This is the mean of those shares; 1 is perfect.",
    "mrr": "rank each pair that belongs among all that do not, and take the mean of 1 / rank. "
    "1 means that each comes first.",
}
_LEAST_SHARE = 1e-6  # of a walk's time; below it, PageRank is not told from none

_MAP_NODES = 1500  # what t-SNE places in seconds
_MAX_NODES = 4500  # what a browser draws without delay
_MAX_EDGES = 8000
_MAX_SETS = 256  # that can be picked
_MAX_NUMBERS = 150_000  # of positions in the page, one per node and set: a megabyte
_ANCHOR_ROOM = 0.3  # of the nodes of a drawing, that anchors may take
_ROC_POINTS = 500


# ---------------------------------------------------------------------- what the page shows


@dataclass(frozen=True)
class Row:
    """One row of the result table.

    Attributes:
        name: The name that is shown, such as "P-GNN-E-2L (this run)".
        metrics: Keys as `pgnn.evaluation.metrics.pair_metrics` gives them; higher is better.
        paper: Mean and deviation of the paper's ROC AUC, if it has the experiment.
        kind: A heuristic needs no learning, and the table says so.
    """

    name: str
    metrics: Mapping[str, float]
    paper: tuple[float, float] | None = None
    kind: Literal["model", "heuristic"] = "model"


@dataclass(frozen=True)
class Link:
    """A predicted pair of nodes.

    Attributes:
        source: Index of a node of the graph.
        target: Index of the other.
        score: The chance that they are linked, or belong together.
        spread: How uncertain the score is; None if it does not vary.
        reason: Why, in a few words; may be empty.
        between: What of the graph lies between the two.
    """

    source: int
    target: int
    score: float
    spread: float | None = None
    reason: str = ""
    between: Between | None = None


@checked
@dataclass(frozen=True, eq=False)
class Positions:
    """Where nodes are: what was measured from each node to each anchor-set.

    Attributes:
        sets: One draw of anchor-sets.
        values: `[n, k]`. Of kind "hops", the hops to the nearest node of the set, -1 without a path
            or beyond the cutoff; "lengths", the length of that path, then infinite; "pagerank", the
            share of its time that a walk from the node spends in the set.
        kind: What the values are.
        cutoff: Distances beyond it count as not reached; None for no limit.
    """

    sets: AnchorSets
    values: NDArray[Any]
    kind: Literal["hops", "lengths", "pagerank"] = "hops"
    cutoff: int | None = None

    def __post_init__(self) -> None:
        shape = (self.sets.num_nodes, len(self.sets))
        values = numbers("values", self.values, None)
        if values.shape != shape or values.dtype.kind not in "iuf":
            raise PGNNError(
                f"positions must be of shape {list(shape)}, one number per node and set "
                f"(got {values.dtype} of shape {list(values.shape)})"
            )
        object.__setattr__(self, "values", values)

    @checked
    def column(self, index: int, nodes: NDArray[np.int64]) -> list[float | None]:
        """Return what nodes measure to a set, None where they do not reach it.

        Hops are exact; other numbers have three digits, enough to draw.
        """
        index = integer("index", index, at_least=0, at_most=len(self.sets) - 1)
        chosen = numbers("nodes", nodes, None)
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
            raise PGNNError(Parameter("nodes"), f" must be node indices [m] (got {shown(nodes)})")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < self.sets.num_nodes:
            raise PGNNError(Parameter("nodes"), f" must lie in 0..{self.sets.num_nodes - 1}")
        values = self.values[chosen, index]
        if self.kind == "hops":
            return [value if value >= 0 else None for value in values.tolist()]
        reached = np.isfinite(values)
        if self.kind == "pagerank":
            reached &= values >= _LEAST_SHARE
        return [
            float(f"{value:.3g}") if known else None
            for value, known in zip(values.tolist(), reached.tolist(), strict=True)
        ]

    @property
    def words(self) -> dict[str, str]:
        """How the page words a number, the place it is measured to, and that there is none."""
        if self.kind == "pagerank":
            return {
                "colour": "the share of its time that a random walk from the node spends on",
                "nearest": "",
                "axis": "PageRank of",
                "unreached": "From grey nodes, the walk spends less than a millionth of its time "
                "there.",
                "unit": "The walk often goes back to its first node.",
            }
        hops = self.kind == "hops"
        limit = f"{self.cutoff} hops" if hops else f"a length of {self.cutoff}"
        return {
            "colour": "its number of hops to" if hops else "the length of its shortest path to",
            "nearest": "the nearest of ",
            "axis": "hops to" if hops else "length to",
            "unreached": "Grey nodes have no path to the set."
            if self.cutoff is None
            else f"Grey nodes are farther away than {limit}, and count as not reached.",
            "unit": "" if hops else "A length of 1 is that of an edge of mean weight.",
        }


@dataclass(frozen=True, eq=False)
class RunReport:
    """All that a run's page shows.

    Attributes:
        title: The title of the page.
        verdict: How good the model is, in a sentence.
        about: What the model reads and learns, in a few sentences.
        facts: (name, text) pairs, such as ("seed", "0").
        rows: The result table.
        history: One dict per epoch with "epoch", "loss" and "val_auc" (None where not evaluated).
        best_epoch: The epoch that the results belong to.
        roc: For each name, false and true positive rates.
        graph: What the model saw, training edges only.
        positions: Where nodes are, measured as the model does.
        reading: What the model makes of the positions, in a sentence.
        embedding: One row per node, `[n, d]`.
        links: Predicted links, best first; may be empty.
        links_title: Such as "Most likely missing links".
        links_text: What was searched, and what scores and spreads mean.
        num_listed: How many of the links are listed at first; a search finds the others too.
        held_out: Edges that were hidden from the model, pairs of nodes `[m, 2]`.
        calibration: How often pairs with similar chances belong together.
        calibration_text: How true chances are, in a sentence.
        notes: Lines shown under the facts.
        num_sets: How many sets the model uses, if more than `positions` has.
    """

    title: str
    verdict: str
    about: str
    facts: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    history: Sequence[Mapping[str, float | None]]
    best_epoch: int
    roc: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]
    graph: Graph
    positions: Positions
    reading: str
    embedding: NDArray[Any]
    links: Sequence[Link]
    links_title: str
    links_text: str = ""
    num_listed: int = 20
    held_out: NDArray[np.int64] | None = None
    calibration: Sequence[ReliabilityBin] = ()
    calibration_text: str = ""
    notes: Sequence[str] = ()
    num_sets: int | None = None

    def __post_init__(self) -> None:
        num_nodes, width = self.graph.num_nodes, self.embedding.shape
        if self.positions.sets.num_nodes != num_nodes:
            raise PGNNError(
                f"the anchor-sets belong to a graph of {self.positions.sets.num_nodes} nodes, "
                f"but the graph of the report has {num_nodes}"
            )
        if len(width) != 2 or width[0] != num_nodes or not self.embedding.size:
            raise PGNNError(
                f"embedding must have one row for each of {num_nodes} nodes "
                f"(got shape {list(width)})"
            )
        if not np.isfinite(self.embedding).all():
            raise PGNNError("embedding must be finite (got NaN or infinity); did training diverge?")


# ---------------------------------------------------------------------- the page


@checked
def render_run(
    report: RunReport, *, max_nodes: int = _MAX_NODES, rng: int | np.random.Generator = 0
) -> str:
    """Render a run as one HTML page.

    The same report and seed give the same page.

    Args:
        report: What to show.
        max_nodes: Draw at most this many nodes of the graph.
        rng: Seed or generator for what is sampled, and for the map of embeddings.

    Raises:
        PGNNError: If `max_nodes` is not positive.
    """
    max_nodes = positive_integer("max_nodes", max_nodes)
    generator = as_generator(rng)
    shown, num_mapped = _choose_nodes(report, max_nodes, generator)
    mapped = report.embedding[shown[:num_mapped]]
    points, method = map_embedding(mapped, int(generator.integers(1 << 31)))
    place = np.full(report.graph.num_nodes, -1)
    place[shown] = np.arange(len(shown))
    graph, communities = _graph(report, shown, place, generator)
    data: dict[str, Any] = {
        "title": report.title,
        "rows": _rows(report),
        "calibration": [asdict(one) for one in report.calibration],
        "history": [_plain_numbers(epoch) for epoch in report.history],
        "best_epoch": int(report.best_epoch),
        "roc": {name: _curve(*rates) for name, rates in report.roc.items()},
        "graph": graph,
        "nodes": {**_nodes(report, shown), "community": communities},
        "map": {"method": method, **_coordinates(points)},
        "measure": {
            "kind": report.positions.kind,
            "reading": report.reading,
            **report.positions.words,
        },
        "num_sets": report.num_sets or len(report.positions.sets),
        "sets": _sets(report, shown, place),
        "links": [_link(link, report.graph, place) for link in report.links],
    }
    names = list(dict.fromkeys(key for row in report.rows for key in row.metrics))
    return render_page(
        "run.html.j2",
        data,
        ["charts.js", "graph.js", "run.js"],
        report=report,
        metrics=[(name, _METRICS.get(name, name.replace("_", " "))) for name in names],
        meanings=_meanings(names),
        best={name: _best(data["rows"], name) for name in names},
        has_paper=any(row.paper is not None for row in report.rows),
        has_spread=any(link["spread"] is not None for link in data["links"]),
        has_reasons=any(link["reason"] for link in data["links"]),
        set_groups=_groups(data["sets"]),
    )


def _meanings(names: list[str]) -> list[tuple[str, str]]:
    """Return what each metric is, in words; those of the first K ranks are told together."""
    meanings = [(_METRICS[name], text) for name, text in _MEANINGS.items() if name in names]
    hits = [name for name in names if name.startswith("hits@")]
    if hits:
        counts = ", ".join(name.removeprefix("hits@") for name in hits)
        text = (
            "rank each pair that belongs among all that do not. This is the share of them that "
            f"come among the first {counts}; 1 is perfect."
        )
        meanings.insert(-1, (", ".join(hits), text))
    return meanings


def _choose_nodes(
    report: RunReport, max_nodes: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """Choose the nodes of the page, those of the map first; return also how many these are.

    Of a graph that is too large to be drawn whole, the ends of the predicted links, the paths
    between them, and the members of small anchor-sets are drawn whatever else is.
    """
    ends = [
        node
        for link in report.links
        for path in ([[link.source, link.target]] + (link.between.paths if link.between else []))
        for node in path
    ]
    sets = report.positions.sets
    wanted = list(dict.fromkeys(ends))[: max_nodes // 2]
    room = len(wanted) + int(_ANCHOR_ROOM * max_nodes)
    for index in np.argsort(sets.sizes, kind="stable").tolist():
        members = dict.fromkeys([*wanted, *sets[index].tolist()])
        if len(members) > room:
            break
        wanted = list(members)
    required = np.array(wanted[:max_nodes], dtype=np.int64)
    drawn = sample_nodes(report.graph, max_nodes, rng, required=required)
    if len(drawn) <= _MAP_NODES:
        return drawn, len(drawn)
    first = np.zeros(len(drawn), dtype=bool)
    first[rng.choice(len(drawn), _MAP_NODES, replace=False)] = True
    return np.concatenate([drawn[first], drawn[~first]]), _MAP_NODES


def _rows(report: RunReport) -> list[dict[str, Any]]:
    return [
        {
            "name": row.name,
            "kind": row.kind,
            "metrics": _plain_numbers(row.metrics),
            "paper": None if row.paper is None else [number(part) for part in row.paper],
        }
        for row in report.rows
    ]


def _best(rows: list[dict[str, Any]], name: str) -> float | None:
    values = [row["metrics"].get(name) for row in rows]
    return max((value for value in values if value is not None), default=None)


def _plain_numbers(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: number(value) for name, value in values.items()}


def _curve(false: NDArray[Any], true: NDArray[Any]) -> dict[str, list[float]]:
    """Return the points of a curve, thinned where there are more than can be seen."""
    rates = np.stack([np.asarray(false, dtype=np.float64), np.asarray(true, dtype=np.float64)])
    if rates.shape[1] > _ROC_POINTS:
        # Even steps along the curve, which goes as far up as it goes sideways.
        along = rates.sum(axis=0)
        steps = np.searchsorted(along, np.linspace(along[0], along[-1], _ROC_POINTS))
        rates = rates[:, np.unique(np.append(steps, rates.shape[1] - 1))]
    return {"fpr": rates[0].tolist(), "tpr": rates[1].tolist()}


def _graph(
    report: RunReport, shown: NDArray[np.int64], place: NDArray[Any], rng: np.random.Generator
) -> tuple[dict[str, Any], list[int]]:
    """Return the drawing, and the community of each of its nodes."""
    edges = edges_among(report.graph, shown)
    total = len(edges)
    hidden = np.empty((0, 2), dtype=np.int64)
    if report.held_out is not None and len(report.held_out):
        hidden = place[report.held_out]
        hidden = hidden[(hidden >= 0).all(axis=1)]
    num_hidden = len(hidden)
    # Nodes lie where all edges put them: the drawing is for people, no model reads it.
    every = np.concatenate([edges, hidden])
    points = place_nodes(every, len(shown))
    communities = find_communities(every, len(shown))
    drawing = {
        "num_nodes": report.graph.num_nodes,
        "num_drawn": len(shown),
        "num_edges_among": total,
        "num_held_out": num_hidden,
        **_coordinates(points),
        "edges": _thinned(edges, _MAX_EDGES, rng).tolist(),
        # As large a share of both is drawn, so that neither looks rarer than it is.
        "held_out": _thinned(hidden, num_hidden * _MAX_EDGES // max(total, 1), rng).tolist(),
    }
    return drawing, communities.tolist()


def _thinned(edges: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if len(edges) <= count:
        return edges
    return edges[np.sort(rng.choice(len(edges), count, replace=False))]


def _coordinates(points: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return points in a unit square, with as many digits as a screen can show."""
    span = max(float(np.ptp(points, axis=0).max()), 1e-12)
    scaled = ((points - points.min(axis=0)) / span).round(4)
    return {"x": scaled[:, 0].tolist(), "y": scaled[:, 1].tolist()}


def _nodes(report: RunReport, shown: NDArray[np.int64]) -> dict[str, Any]:
    """Return what is known about each node of the page."""
    graph = report.graph
    nodes: dict[str, Any] = {
        "ids": [plain(name) for name in graph.node_ids[shown].tolist()],
        "degree": graph.degrees[shown].tolist(),
        "label": None,
        "classes": [],
    }
    if graph.y is not None:
        values, codes = np.unique(graph.y, return_inverse=True)
        names = values.tolist()
        if graph.classes is not None:
            names = ["unknown" if v < 0 else graph.classes[v].item() for v in names]
        nodes["label"] = codes[shown].tolist()
        nodes["classes"] = [plain(name) for name in names]
    return nodes


def _sets(report: RunReport, shown: NDArray[np.int64], place: NDArray[Any]) -> list[dict[str, Any]]:
    """Return the sets to pick from, with what the page's nodes measure to each.

    Only sets whose members are all drawn can be picked. (Where there is none, all can.)
    """
    sets = report.positions.sets
    whole = [index for index in range(len(sets)) if (place[sets[index]] >= 0).all()]
    whole = whole or list(range(len(sets)))
    count = min(len(whole), _MAX_SETS, max(1, _MAX_NUMBERS // len(shown)))
    chosen = np.unique(np.linspace(0, len(whole) - 1, count).round().astype(int))
    return [
        {
            "number": index + 1,
            "size": len(sets[index]),
            "size_class": int(sets.size_class[index]),
            "members": np.sort(place[sets[index]][place[sets[index]] >= 0]).tolist(),
            "values": report.positions.column(index, shown),
        }
        for index in (whole[number] for number in chosen.tolist())
    ]


def _groups(sets: list[dict[str, Any]]) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return the options of the picker, grouped by how likely a node was to be a member."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for place, one in enumerate(sets):
        size, size_class = one["size"], one["size_class"]
        title = f"about 1 node in {2**size_class:,}" if size_class else "anchor-sets"
        text = f"set {one['number']}: {size:,} node{'s' if size != 1 else ''}"
        groups.setdefault(title, []).append((place, text))
    return list(groups.items())


def _link(link: Link, graph: Graph, place: NDArray[Any]) -> dict[str, Any]:
    """Return a link as the page holds it; a node is its id and its number on the page, or -1."""

    def told(node: int) -> list[str | int]:
        return [plain(graph.node_ids[node]), int(place[node])]

    between = link.between
    details = None
    if between is not None:
        details = {
            "paths": [[told(node) for node in path] for path in between.paths],
            "shared": [told(node) for node in between.shared],
            "num_shared": between.num_shared,
            "others": [[told(node) for node in nodes] for nodes in between.others],
            "num_neighbours": list(between.num_neighbours),
        }
    return {
        "source": plain(graph.node_ids[link.source]),
        "target": plain(graph.node_ids[link.target]),
        "ends": [int(place[link.source]), int(place[link.target])],
        "score": number(link.score),
        "spread": number(link.spread),
        "reason": link.reason,
        "between": details,
    }
