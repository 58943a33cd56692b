"""Which way, and between whom: pgnn-best on generated citations and shops, beside heuristics.

Run `python benchmarks/questions.py`; it takes some minutes. A tenth of the edges of each graph is
hidden. Directed graphs are judged with and without their directions. Of shops, all products that a
customer has not bought are ranked, and a hidden order among the first ten is a hit. The tables and
the numbers behind them go to results/questions.md and results/questions.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))

from sample_files import citations, orders  # noqa: E402

from pgnn import Graph  # noqa: E402
from pgnn.training.outcome import Outcome, versions  # noqa: E402
from pgnn.training.pipeline import Problem, train  # noqa: E402
from pgnn.training.recipe import Recipe  # noqa: E402

HITS = "hits@10_per_node"
PEERS = ("popularity", "item-based filtering", "3-paths", "pagerank")


def numbered(rows: list[list[object]]) -> list[tuple[int, int]]:
    """Return edges by number; names are numbered as they come."""
    place: dict[object, int] = {}
    return [
        (place.setdefault(row[0], len(place)), place.setdefault(row[1], len(place))) for row in rows
    ]


def directed_graphs() -> dict[str, Graph]:
    """Return graphs whose edges lead one way: by time, by chance, and often both ways."""
    rng = np.random.default_rng
    graphs = {
        "citations, 800 papers": Graph.from_edges(numbered(citations(rng(1))), directed=True),
        "citations, 2,000 papers": Graph.from_edges(
            numbered(citations(rng(2), papers=2000, fields=20)), directed=True
        ),
    }
    ties = np.array(nx.powerlaw_cluster_graph(1000, 4, 0.5, seed=3).edges)
    turned = np.where(rng(3).random((len(ties), 1)) < 0.5, ties, ties[:, ::-1])
    graphs["clustered, turned at random"] = Graph.from_edges(turned, directed=True)
    back = ties[rng(4).random(len(ties)) < 0.5, ::-1]
    graphs["clustered, half of the edges both ways"] = Graph.from_edges(
        np.concatenate([ties, back]), directed=True
    )
    return graphs


def shops() -> dict[str, Graph]:
    """Return customers and products, of several sizes."""
    sizes = {"600 x 200": (600, 200), "300 x 300": (300, 300), "1,000 x 150": (1000, 150)}
    graphs = {}
    for seed, (name, (customers, products)) in enumerate(sizes.items(), 10):
        rows = orders(np.random.default_rng(seed), customers, products)
        kinds = {str(row[place]): "cp"[place] for row in rows for place in (0, 1)}
        names = list(dict.fromkeys(str(row[place]) for row in rows for place in (0, 1)))
        graph = Graph.from_edges(numbered(rows), len(names))
        graphs[name] = graph.with_sides([kinds[each] for each in names], ("c", "p"))
    return graphs


def judged(graph: Graph) -> Outcome:
    """Train with the defaults and return the result."""
    recipe = Recipe(seed=0)
    return train(Problem.of_graph(graph, recipe), recipe).outcome


def main() -> None:
    """Measure, print, store."""
    document: dict[str, Any] = {"command": "python benchmarks/questions.py", "seed": 0}
    document["versions"] = versions()
    lines = [
        "| graph | edges | AUC without directions | with | direction AUC |",
        "|---|---|---|---|---|",
    ]
    for name, graph in directed_graphs().items():
        plain, ordered = judged(Graph.from_edges(graph.edges(), graph.num_nodes)), judged(graph)
        row = {
            "edges": graph.num_edges,
            "auc_without": plain.test_auc,
            "auc_with": ordered.test_auc,
            "direction_auc": ordered.to_json()["direction_auc"],
        }
        document[name] = row
        numbers = (f"{row[key]:.3f}" for key in ("auc_without", "auc_with", "direction_auc"))
        lines.append(f"| {name} | {graph.num_edges:,} | {' | '.join(numbers)} |")
        print(lines[-1], flush=True)
    lines += [
        "",
        f"| shop | edges | pgnn-best | {' | '.join(PEERS)} |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, graph in shops().items():
        outcome = judged(graph)
        assert outcome.test is not None
        hits = {"pgnn-best": outcome.test.metrics[HITS]}
        hits |= {peer: outcome.heuristics[peer].metrics[HITS] for peer in PEERS}
        document[f"shop, {name}"] = {"edges": graph.num_edges, "hits@10 per customer": hits}
        numbers = (f"{hit:.3f}" for hit in hits.values())
        lines.append(f"| {name} | {graph.num_edges:,} | {' | '.join(numbers)} |")
        print(lines[-1], flush=True)
    (ROOT / "results/questions.md").write_text("\n".join(lines) + "\n")
    (ROOT / "results/questions.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
