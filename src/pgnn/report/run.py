"""The page about one run: what it shows, as a value, and that value as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import positive_integer
from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets
from pgnn.report.drawing import add_nodes, edges_among, map_embedding, place_nodes, sample_nodes
from pgnn.report.page import number, plain, render_page

_METRICS = {"roc_auc": "ROC AUC", "average_precision": "average precision", "mrr": "MRR"}
_LEAST_SHARE = 1e-6  # of a walk's time; below it, PageRank is not told from none

_MAP_NODES = 1500  # what t-SNE places in seconds
_MAX_EDGES = 8000  # what a browser draws without delay
_MAX_SETS = 256  # that can be picked; each is a column of numbers in the page
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
    """A predicted pair of nodes, by id, with its score and how uncertain the score is."""

    source: str | int
    target: str | int
    score: float
    spread: float | None = None


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
        if self.values.shape != shape:
            raise PGNNError(
                f"positions must be of shape {list(shape)}, one number per node and set "
                f"(got {list(self.values.shape)})"
            )

    def column(self, index: int, nodes: NDArray[np.int64]) -> list[float | None]:
        """Return what nodes measure to a set, None where they do not reach it.

        Hops are exact; other numbers have six digits, enough to draw.
        """
        values = self.values[nodes, index]
        if self.kind == "hops":
            return [value if value >= 0 else None for value in values.tolist()]
        reached = np.isfinite(values)
        if self.kind == "pagerank":
            reached &= values >= _LEAST_SHARE
        return [
            float(f"{value:.6g}") if known else None
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
        links: Predicted links; may be empty.
        links_title: Such as "Most likely missing links".
        links_text: What scores and spreads mean.
        notes: Lines shown under the facts.
        num_sets: How many sets the model uses, if more than `positions` has.
    """

    title: str
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


def render_run(
    report: RunReport, *, max_nodes: int = 600, rng: int | np.random.Generator = 0
) -> str:
    """Render a run as one HTML page.

    The same report and seed give the same page.

    Args:
        report: What to show.
        max_nodes: Draw at most this many nodes of the graph.
        rng: Seed or generator for what is sampled, and for the map of embeddings.

    Raises:
        PGNNError: If plotly or jinja2 is not installed, or `max_nodes` is not positive.
    """
    positive_integer("max_nodes", max_nodes)
    generator = np.random.default_rng(rng)
    drawn = sample_nodes(report.graph, max_nodes, generator)
    shown = add_nodes(drawn, report.graph.num_nodes, max(_MAP_NODES, len(drawn)), generator)
    points, method = map_embedding(report.embedding[shown], int(generator.integers(1 << 31)))
    data: dict[str, Any] = {
        "title": report.title,
        "rows": _rows(report),
        "history": [_plain_numbers(epoch) for epoch in report.history],
        "best_epoch": int(report.best_epoch),
        "roc": {name: _curve(*rates) for name, rates in report.roc.items()},
        "graph": _graph(report, drawn, generator),
        "nodes": _nodes(report, shown),
        "map": {"method": method, **_coordinates(points)},
        "measure": {
            "kind": report.positions.kind,
            "reading": report.reading,
            **report.positions.words,
        },
        "num_sets": report.num_sets or len(report.positions.sets),
        "sets": _sets(report, shown),
        "links": [_link(link) for link in report.links],
    }
    names = list(dict.fromkeys(key for row in report.rows for key in row.metrics))
    return render_page(
        "run.html.j2",
        data,
        ["charts.js", "run.js", "graph.js"],
        report=report,
        metrics=[(name, _METRICS.get(name, name.replace("_", " "))) for name in names],
        best={name: _best(data["rows"], name) for name in names},
        has_paper=any(row.paper is not None for row in report.rows),
        has_spread=any(link["spread"] is not None for link in data["links"]),
        set_groups=_groups(data["sets"]),
    )


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


def _graph(report: RunReport, drawn: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    """Return the drawing: its nodes are the first of the page's nodes."""
    edges = edges_among(report.graph, drawn)
    total = len(edges)
    points = place_nodes(edges, len(drawn))
    if total > _MAX_EDGES:
        edges = edges[np.sort(rng.choice(total, _MAX_EDGES, replace=False))]
    return {
        "num_nodes": report.graph.num_nodes,
        "num_drawn": len(drawn),
        "num_edges_among": total,
        **_coordinates(points),
        "edges": edges.tolist(),
    }


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


def _sets(report: RunReport, shown: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the sets to pick from, with what the page's nodes measure to each."""
    sets = report.positions.sets
    count = len(sets)
    chosen = np.unique(np.linspace(0, count - 1, min(count, _MAX_SETS)).round().astype(int))
    return [
        {
            "number": index + 1,
            "size": len(sets[index]),
            "size_class": int(sets.size_class[index]),
            "members": np.flatnonzero(np.isin(shown, sets[index])).tolist(),
            "values": report.positions.column(index, shown),
        }
        for index in chosen.tolist()
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


def _link(link: Link) -> dict[str, Any]:
    return {
        "source": plain(link.source),
        "target": plain(link.target),
        "score": number(link.score),
        "spread": number(link.spread),
    }
