"""The page of one run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.report.layout import map_embedding, place_nodes
from pgnn.report.page import number, plain, render_page
from pgnn.report.sample import add_nodes, edges_among, sample_nodes
from pgnn.report.values import RunReport

METRICS = {"roc_auc": "ROC AUC", "average_precision": "average precision"}

_MAP_NODES = 1500  # what t-SNE places in seconds
_MOST_EDGES = 8000  # what a browser draws without delay
_MOST_SETS = 256  # that can be picked; each is a column of numbers in the page
_ROC_POINTS = 500


def render_run(report: RunReport, *, max_nodes: int = 600, rng: int = 0) -> str:
    """Render a run as one HTML page.

    The same report and seed give the same page.

    Args:
        report: What to show.
        max_nodes: Draw at most so many nodes of the graph.
        rng: Seed of what is sampled, and of the map of embeddings.

    Raises:
        PGNNError: If plotly or jinja2 is not installed, or `max_nodes` is not positive.
    """
    if max_nodes < 1:
        raise PGNNError(f"max_nodes must be a positive integer (got {max_nodes})")
    generator = np.random.default_rng(rng)
    drawn = sample_nodes(report.graph, max_nodes, generator)
    shown = add_nodes(drawn, report.graph.num_nodes, max(_MAP_NODES, len(drawn)), generator)
    points, method = map_embedding(report.embedding[shown], rng)
    data: dict[str, Any] = {
        "title": report.title,
        "rows": _rows(report),
        "history": [_plain_numbers(epoch) for epoch in report.history],
        "best_epoch": int(report.best_epoch),
        "roc": {name: _curve(*rates) for name, rates in report.roc.items()},
        "graph": _graph(report, drawn, generator),
        "nodes": _nodes(report, shown),
        "map": {"method": method, **_coordinates(points)},
        "weighted": bool(np.issubdtype(report.hops.dtype, np.floating)),
        "num_sets": report.num_sets or len(report.sets),
        "sets": _sets(report, shown),
        "links": [_link(link) for link in report.links],
    }
    names = list(dict.fromkeys(key for row in report.rows for key in row.metrics))
    return render_page(
        "run.html.j2",
        data,
        ["charts.js", "run.js", "graph.js"],
        report=report,
        metrics=[(name, METRICS.get(name, name.replace("_", " "))) for name in names],
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
    found = [row["metrics"].get(name) for row in rows]
    return max((value for value in found if value is not None), default=None)


def _plain_numbers(values: Any) -> dict[str, float | None]:
    return {name: number(value) for name, value in values.items()}


def _curve(false: NDArray[Any], true: NDArray[Any]) -> dict[str, list[float]]:
    """Return the points of a curve, thinned where there are more than can be seen."""
    rates = np.stack([np.asarray(false, dtype=np.float64), np.asarray(true, dtype=np.float64)])
    if rates.shape[1] > _ROC_POINTS:
        # Even steps along the curve, which is as much upward as it is sideways.
        along = rates.sum(axis=0)
        steps = np.searchsorted(along, np.linspace(along[0], along[-1], _ROC_POINTS))
        rates = rates[:, np.unique(np.append(steps, rates.shape[1] - 1))]
    return {"fpr": rates[0].tolist(), "tpr": rates[1].tolist()}


def _graph(report: RunReport, drawn: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    """Return the drawing: its nodes are the first of the page's nodes."""
    edges = edges_among(report.graph, drawn)
    total = len(edges)
    points = place_nodes(edges, len(drawn))
    if total > _MOST_EDGES:
        edges = edges[np.sort(rng.choice(total, _MOST_EDGES, replace=False))]
    return {
        "num_nodes": report.graph.num_nodes,
        "num_drawn": len(drawn),
        "num_edges_among": total,
        **_coordinates(points),
        "edges": edges.tolist(),
    }


def _coordinates(points: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return points in a unit square, with the digits that a screen has."""
    span = max(float(np.ptp(points, axis=0).max()), 1e-12)
    scaled = ((points - points.min(axis=0)) / span).round(4)
    return {"x": scaled[:, 0].tolist(), "y": scaled[:, 1].tolist()}


def _nodes(report: RunReport, shown: NDArray[np.int64]) -> dict[str, Any]:
    """Return what is known of each node of the page."""
    graph = report.graph
    found: dict[str, Any] = {
        "ids": [plain(name) for name in graph.node_ids[shown].tolist()],
        "degree": graph.degrees[shown].tolist(),
        "label": None,
        "classes": [],
    }
    if graph.y is not None:
        values, codes = np.unique(graph.y, return_inverse=True)
        names = values if graph.classes is None else graph.classes[values]
        found["label"] = codes[shown].tolist()
        found["classes"] = [plain(name) for name in names.tolist()]
    return found


def _sets(report: RunReport, shown: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return the sets to pick from, with the distances of the page's nodes to each."""
    count = len(report.sets)
    chosen = np.unique(np.linspace(0, count - 1, min(count, _MOST_SETS)).round().astype(int))
    found = []
    for index in chosen.tolist():
        members = report.sets[index]
        found.append(
            {
                "number": index + 1,
                "size": len(members),
                "size_class": int(report.sets.size_class[index]),
                "members": np.flatnonzero(np.isin(shown, members)).tolist(),
                "hops": _distances(report.hops[shown, index]),
            }
        )
    return found


def _distances(column: NDArray[Any]) -> list[float | None]:
    """Return distances, None where there is no path; lengths with six digits, enough to draw."""
    if np.issubdtype(column.dtype, np.floating):
        return [float(f"{v:.6g}") if np.isfinite(v) else None for v in column.tolist()]
    return [value if value >= 0 else None for value in column.tolist()]


def _groups(sets: list[dict[str, Any]]) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return the options of the picker, in groups by how likely a node was to be a member."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for place, one in enumerate(sets):
        size, size_class = one["size"], one["size_class"]
        title = f"about 1 node in {2**size_class:,}" if size_class else "anchor-sets"
        text = f"set {one['number']}: {size:,} node{'s' if size != 1 else ''}"
        groups.setdefault(title, []).append((place, text))
    return list(groups.items())


def _link(link: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": plain(link["source"]),
        "target": plain(link["target"]),
        "score": number(link["score"]),
        "spread": number(link.get("spread")),
    }
