"""Small reports, and what is inside a page."""

import json
import re
from dataclasses import replace

import networkx as nx
import numpy as np

import pgnn
from pgnn.evaluation.calibration import ReliabilityBin
from pgnn.report import Link, Positions, Row, RunReport
from pgnn.report.links import Surroundings

HOSTILE = [
    "</script><script>window.ran = 1</script>",
    '<img src=x onerror="window.ran = 1">',
    "<b>bold</b>",
    "<!--",
    "\"quotes\" & 'more'",
    "{{ 7 * 7 }}",
    "%{x} ${1}",
    "узел 結點 \u202e\u2028",
    "&lt;script&gt;",
    "javascript:window.ran=1",
]


def hops_of(graph, sets):
    """Positions by hops, or by lengths where edges have weights."""
    distances = pgnn.anchor_distances(graph, sets)
    if distances.hops is not None:
        return Positions(sets, distances.hops)
    return Positions(sets, distances.lengths, "lengths")


def link_of(graph, source, target, score=0.5, spread=None, reason="a reason"):
    """A link with what lies between its nodes."""
    between = Surroundings(graph).between(source, target) if source != target else None
    return Link(source, target, score, spread, reason, between)


def report_of(graph, *, sets=None, **changes):
    """A report about a graph, with Bourgain's embedding in place of a trained one."""
    sets = pgnn.sample_anchor_sets(graph.num_nodes, rng=0) if sets is None else sets
    positions = hops_of(graph, sets)
    values = positions.values
    report = RunReport(
        title="P-GNN on a test graph",
        verdict="P-GNN is best: AUC 0.912, 0.012 above ppr.",
        about="A P-GNN describes every node by its number of hops to anchor-sets.",
        facts=[("graph", "made for a test"), ("seed", "0")],
        rows=[
            Row(
                "P-GNN (this run)",
                {"roc_auc": 0.9123456789, "average_precision": 1 / 3},
                (0.985, 0.008),
            ),
            Row("ppr", {"roc_auc": 0.9, "average_precision": 0.25}, kind="heuristic"),
        ],
        history=[
            {"epoch": 1, "loss": 0.7, "val_auc": None},
            {"epoch": 2, "loss": 0.6543210987654321, "val_auc": 0.8},
            {"epoch": 3, "loss": 0.61, "val_auc": None},
        ],
        best_epoch=2,
        roc={"P-GNN (this run)": (np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.8, 1.0]))},
        graph=graph,
        positions=positions,
        reading=f"P-GNN describes a node by {len(sets)} such distances.",
        calibration=[ReliabilityBin(30, 0.2, 0.1), ReliabilityBin(20, 0.9, 1.0)],
        calibration_text="The calibration error is 0.1.",
        embedding=np.where(np.isfinite(values), values, -1).astype(np.float64),
        links=[link_of(graph, 0, graph.num_nodes - 1, 2 / 3, 0.0)],
        links_title="Most likely missing links",
        links_text="The spread says how much to trust a score.",
    )
    return replace(report, **changes)


def caveman(cliques=4, size=6, *, ids=None):
    """Cliques on a ring and a node that nothing reaches; labels are the cliques."""
    pairs = list(nx.connected_caveman_graph(cliques, size).edges)
    labels = [*np.repeat(np.arange(cliques), size), cliques]
    return pgnn.Graph.from_edges(pairs, cliques * size + 1, y=labels, node_ids=ids)


def data_in(html):
    """The JSON of a page."""
    (text,) = re.findall(
        r'<script type="application/json" id="pgnn-data">(.*?)</script>', html, re.S
    )
    return json.loads(text)
