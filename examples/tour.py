"""A short tour: positions in a graph, what they are good for, and a report to open.

Run it with `make run`, or `python examples/tour.py`.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

import pgnn
from pgnn.bench.graphs import grid_graph, random_graph

HEIGHT, WIDTH = 14, 44
RUN, REPORT = Path("build/tour-run"), Path("build/tour-report.html")
SHADES = ["#08306b", "#2171b5", "#6baed6", "#c6dbef", "#fee391", "#fe9929", "#d94801", "#7f2704"]
console = Console(width=100)


def picture(hops: NDArray[np.integer], anchors: NDArray[np.integer]) -> Text:
    """Draw the grid: number and colour of a cell are its distance, anchors are circles.

    Numbers of two digits would run together, so that only every fifth is written.
    """
    text = Text()
    shade = (hops.astype(float) / max(1, hops.max()) * (len(SHADES) - 1)).round().astype(int)
    for node in range(HEIGHT * WIDTH):
        is_written = hops.max() < 10 or hops[node] % 5 == 0
        cell = " o" if node in anchors else f"{hops[node]:>2}" if is_written else "  "
        text.append(cell, style=f"bold white on {SHADES[shade[node]]}")
        if node % WIDTH == WIDTH - 1:
            text.append("\n")
    return text


def show_positions() -> None:
    """A node is where its distances to a few shared sets say it is."""
    console.rule("1. Where is a node? As far as it is from some sets that all nodes share")
    grid = grid_graph(HEIGHT, WIDTH)
    sets = pgnn.sample_anchor_sets(grid.num_nodes, rng=3)
    distances = pgnn.anchor_distances(grid, sets)
    assert distances.hops is not None
    console.print(f"\n{grid} and {sets}\n")
    for i in (28, 74):
        chance = 2 ** sets.size_class[i]
        console.print(
            f"Set {i} (a node joins with probability 1/{chance}), and how far all are from it:"
        )
        console.print(picture(distances.hops[:, i], sets[i]))
    corners = {"top left": 0, "its neighbour": 1, "bottom right": grid.num_nodes - 1}
    console.print("The last 14 of 81 coordinates of three nodes. Neighbours differ by at most 1:")
    for name, node in corners.items():
        console.print(f"  {name:>14}  {distances.hops[node, -14:].tolist()}")
    console.print("A message-passing network sees two identical corners; these numbers do not.\n")


def show_bourgain() -> None:
    """Those few numbers keep all distances, nearly."""
    console.rule("2. Bourgain: these few numbers keep every distance, up to a factor of O(log n)")
    for name, graph in {
        "grid 20 x 20": grid_graph(20, 20),
        "random, 1,000 nodes": random_graph(1_000, 3_000, rng=0),
    }.items():
        embedding = pgnn.bourgain_embedding(graph, rng=0)
        found = pgnn.distortion(graph, embedding)
        console.print(
            f"  {name:<20} {embedding.shape[1]:>3} coordinates   distortion {found:5.1f}   "
            f"log2 n = {np.log2(graph.num_nodes):.1f}"
        )
    console.print()


def show_speed() -> None:
    """The same on a graph of 100,000 nodes, beside scipy."""
    from scipy.sparse.csgraph import dijkstra

    console.rule("3. At memory speed")
    graph = random_graph(100_000, 500_000, rng=0)
    sets = pgnn.sample_anchor_sets(graph.num_nodes, rng=0)
    with console.status("compiling the kernels, once ..."):
        for count in (1, 20):
            pgnn.anchor_distances(grid_graph(2, 2), [[0]] * count)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        distances = pgnn.anchor_distances(graph, sets)
        seconds.append(time.perf_counter() - start)
    matrix = graph.to_scipy().astype(float)
    start = time.perf_counter()
    for i in (0, 85, 170, 255):
        dijkstra(matrix, indices=sets[i], unweighted=True, min_only=True, return_predecessors=True)
    theirs = (time.perf_counter() - start) / 4 * len(sets)
    assert distances.hops is not None
    console.print(
        f"  {graph}, {len(sets)} sets: {distances.hops.size / 1e6:.0f} million distances and "
        f"nearest anchors\n  pgnn {min(seconds):.2f} s   scipy {theirs:.1f} s (4 sets measured, "
        f"extrapolated)   {theirs / min(seconds):.0f} times faster\n"
    )


def show_learning() -> None:
    """A P-GNN and four GNNs learn which nodes share a community."""
    from pgnn.experiments.config import COLUMNS
    from pgnn.experiments.run import train_dataset
    from pgnn.names import LABELS

    console.rule("4. What position buys: which two nodes are of the same community?")
    console.print(
        "\n20 communities of 20 nodes, no features; pairs held out for testing; 150 epochs each\n"
    )
    column = COLUMNS["communities-pairs"]
    for model in ("gcn", "sage", "gat", "gin", "pgnn-e-2l"):
        with console.status(f"training {LABELS[model]} ..."):
            outcome = train_dataset("communities", "pair", model, epochs=150)
        paper = column.published(model)
        assert paper is not None
        assert outcome.test_auc is not None
        console.print(
            f"  {LABELS[model]:<12} test AUC {outcome.test_auc:.3f}   "
            f"{outcome.seconds:4.1f} s   (the paper: {paper[0]:.3f})"
        )
    console.print(
        "To GraphSAGE and GAT all nodes look alike, so that they guess; GCN and GIN see degrees.\n"
    )


def show_links() -> None:
    """The library's own model beside heuristics, on a real graph and on streets."""
    import networkx as nx

    from pgnn.training.pipeline import Problem, train
    from pgnn.training.recipe import Recipe

    console.rule("5. Which links are missing? pgnn-best beside what needs no learning")
    novel = pgnn.Graph.from_networkx(nx.les_miserables_graph(), weight=None)
    for name, graph in {
        "Les Miserables: who appears with whom": novel,
        "streets, 20 x 20: no two neighbours have a common neighbour": grid_graph(20, 20),
    }.items():
        recipe = Recipe(test=0.2)
        folder = RUN if graph is novel else None
        config = {"train": {"graph": "Les Miserables"}}
        with console.status("training ..."):
            problem = Problem.of_graph(graph, recipe)
            outcome = train(problem, recipe, out=folder, config=config).outcome
        assert outcome.test_auc is not None
        console.print(f"\n  {name}; {outcome.test_pairs} pairs hidden and asked about")
        rows = {"pgnn-best": outcome.test_auc}
        rows |= {peer: judged.metrics["roc_auc"] for peer, judged in outcome.heuristics.items()}
        for row, auc in sorted(rows.items(), key=lambda item: -item[1])[:5]:
            console.print(f"    {row:<24} AUC {auc:.3f}")
        by_chance = (outcome.verdict or "").partition(";")[0]
        console.print(f"  {by_chance}", highlight=False, soft_wrap=True)
    console.print()


def show_report() -> None:
    """The run as one page that opens offline."""
    from pgnn.io import id_array
    from pgnn.report import collect_run, render_run, write_report
    from pgnn.training.runs import load_run

    console.rule("6. See it")
    with console.status("making the report ..."):
        report = collect_run(load_run(RUN))
        write_report(REPORT, render_run(report))
    names = id_array(report.graph).tolist()
    console.print("\nWho should have met in Les Miserables, and why pgnn-best thinks so:")
    for link in report.links[:3]:
        ends = f"{names[link.source]} and {names[link.target]}"
        console.print(f"  {ends:<24} chance {link.score:.2f}   {link.reason}", soft_wrap=True)
    console.print(
        f"\nMore links, how good that is, the graph and its positions, in a browser:\n"
        f"  {REPORT.resolve()}\n",
        soft_wrap=True,
    )


if __name__ == "__main__":
    shutil.rmtree(RUN, ignore_errors=True)
    show_positions()
    show_bourgain()
    show_speed()
    show_learning()
    show_links()
    show_report()
    console.print(
        "Next, on your own graph: [bold]pgnn train edges.csv --out run[/], then [bold]pgnn predict "
        "run edges.csv[/]. README.md says more."
    )
