"""Does a score fall without what is said to be its first reason? Printed for 200 predicted links.

For each graph a model is trained, and links are drawn at random from the 400 likeliest. The edges
that the first reason of a link names are removed from the file of the graph, which is read anew,
and the link is scored again: `python benchmarks/explanations.py [GRAPH ...] [--model NAME]`.

usair, ns and yeast are those of `pgnn reproduce links`; miserables is networkx's; grid is 20 x 20.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np

from pgnn import Graph, read_graph
from pgnn.datasets.places import data_folders, find
from pgnn.io import id_array
from pgnn.pairs.paths import without_edges
from pgnn.prediction.explain import explain
from pgnn.prediction.ranking import predict, score_pairs
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe

GRAPHS = ("usair", "ns", "yeast", "grid", "miserables")
NUM_LINKS = 200
DRAWN_FROM = 400  # likeliest links


def load(name: str) -> Graph:
    """Return a graph by its name, with ids that are words."""
    if name == "grid":
        graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20))
    elif name == "miserables":
        graph = nx.les_miserables_graph()
    else:
        paths = find([f"links/{name}.csv.gz"], data_folders(None))
        if paths is None:
            raise SystemExit(f"links/{name}.csv.gz is not in the folder of $PGNN_DATA")
        return read_graph(paths[0])
    return Graph.from_networkx(nx.relabel_nodes(graph, "n{}".format), weight=None)


def read_anew(graph: Graph, folder: Path) -> Graph:
    """Write the edges of a graph to a file, and read it: nodes without edges are gone."""
    ids, path = id_array(graph), folder / "edges.csv"
    rows = [f"{ids[u]}\t{ids[v]}" for u, v in graph.edges().tolist()]
    path.write_text("\n".join(["source\ttarget", *rows]) + "\n", encoding="utf-8")
    return read_graph(path)


def measure(name: str, model: str, folder: Path) -> str:
    """Return a row of the table."""
    graph = load(name)
    recipe = Recipe(model=model)
    learner = train(Problem.of_graph(graph, recipe), recipe, heuristics=False).learner
    likely = predict(learner, graph, top=DRAWN_FROM)
    rows = np.random.default_rng(0).permutation(len(likely.pairs))[:NUM_LINKS]
    fell, gone, seconds = 0, 0, []
    groups: Counter[str] = Counter()
    for u, v in likely.pairs[rows].tolist():
        start = time.perf_counter()
        explanation = explain(learner, graph, u, v)
        seconds.append(time.perf_counter() - start)
        first = explanation.reasons[0]
        groups[first.group] += 1
        less = read_anew(without_edges(graph, first.evidence), folder)
        place = {node: index for index, node in enumerate(id_array(less).tolist())}
        ends = [place.get(node, -1) for node in id_array(graph)[[u, v]].tolist()]
        if -1 in ends:  # it had no other edge: the graph in memory still has it
            gone += 1
            less, ends = without_edges(graph, first.evidence), [u, v]
        after = score_pairs(learner, less, [ends], base_rate=explanation.base_rate)
        fell += bool(after.scores[0] < explanation.score)
    kinds = ", ".join(f"{group} {count}" for group, count in groups.most_common())
    return (
        f"| {name} | {model} | {len(rows)} | {fell / len(rows):.1%} | {gone} | "
        f"{np.median(seconds):.2f} s | {kinds} |"
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", default=GRAPHS)
    parser.add_argument("--model", default="pgnn-best")
    typed = parser.parse_args()
    print("| graph | model | links | score fell | lost a node | time of one | first reasons |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in typed.graphs:
            print(measure(name, typed.model, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
