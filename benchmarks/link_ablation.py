"""What the parts of pgnn-best are worth for links: each left out, or changed, in turn.

`python benchmarks/link_ablation.py --data FOLDER usair` hides a tenth of the edges of each graph,
trains on the rest and writes results/link_ablation.json and .md. Without names it takes all graphs
of the folder and the generated ones; a name may also be a file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from pgnn.evaluation.metrics import roc_auc
from pgnn.graph import Graph
from pgnn.io.graph_files import read_graph
from pgnn.nn.heads import PairHeads
from pgnn.pairs.columns import column_names
from pgnn.pairs.sets import PairSet, Split
from pgnn.training.column_scale import ColumnScale
from pgnn.training.fit_heads import HeadData, fit_heads
from pgnn.training.learner import make_learner
from pgnn.training.pair_learner import PairLearner, make_pair_learner
from pgnn.training.pair_model import MEMBERS
from pgnn.training.recipe import Recipe
from pgnn.training.splits import split_links

RESULTS = Path(__file__).parents[1] / "results" / "link_ablation.json"
GENERATED: dict[str, Callable[[], nx.Graph]] = {
    "grid": lambda: nx.grid_2d_graph(20, 20),
    "small-world": lambda: nx.watts_strogatz_graph(500, 6, 0.15, seed=1),
    "scale-free": lambda: nx.powerlaw_cluster_graph(500, 4, 0.5, seed=2),
    "geometric": lambda: nx.random_geometric_graph(400, 0.09, seed=3),
    "communities": lambda: nx.connected_caveman_graph(20, 20),
}
GROUPS = {
    "no positions": ("position_",),
    "no walks, no PageRank": ("walk_", "pagerank_"),
    "no local counts": (
        *("common_", "adamic_", "resource_", "jaccard", "three_paths", "hub_promoted"),
    ),
    "no endpoints": (
        "degree_",
        "strength_",
        "neighbour",
        "two_hop_",
        "clustering_",
        "core_",
        "component_",
    ),
}
TOP = 100
CANDIDATES = 20_000
SPECTRAL_FOLDS, SPECTRAL_RANKS = 10, (8, 32)
PGNN_FOLDS, PGNN_EPOCHS = 3, 60


@dataclass(frozen=True, eq=False)
class Case:
    """A graph with hidden edges, its pairs described: those to learn from and those to judge by.

    Attributes:
        graph: The visible graph.
        learner: What describes pairs.
        data: Pairs to learn from, with raw columns.
        asked: Pairs to judge by: hidden edges and as many non-edges, then candidates of the list.
        columns: Their raw columns.
        labels: Whether each is a hidden edge.
        num_judged: How many of them the area is measured on; the others are candidates.
    """

    graph: Graph
    learner: PairLearner
    data: HeadData
    asked: NDArray[np.int64]
    columns: NDArray[np.float32]
    labels: NDArray[np.bool_]
    num_judged: int

    @classmethod
    def of(cls, whole: Graph, seed: int) -> Case:
        """Hide a tenth of the edges; nodes left without an edge leave with theirs."""
        rng = np.random.default_rng([seed, 11])
        edges = whole.edges().astype(np.int64)
        order = rng.permutation(len(edges))
        count = max(1, len(edges) // 10)
        known = np.unique(edges[order[count:]])
        place = np.full(whole.num_nodes, -1)
        place[known] = np.arange(len(known))
        hidden, seen = place[edges[order[:count]]], place[edges[order[count:]]]
        hidden = np.sort(hidden[(hidden >= 0).all(axis=1)], axis=1)
        graph = Graph.from_edges(seen, len(known))
        learner = make_pair_learner(Recipe(model="pgnn-best", seed=seed), [graph])
        none = PairSet(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool))
        split = Split(graph, PairSet(seen, np.ones(len(seen), dtype=bool)), none, none)
        taken = {tuple(e) for e in np.sort(np.concatenate([seen, hidden]), axis=1).tolist()}
        others = _non_edges(rng, graph.num_nodes, taken, len(hidden))
        candidates = _candidates(graph)
        asked = np.concatenate([hidden, others, candidates])
        links = {tuple(e) for e in hidden.tolist()}
        labels = np.array([tuple(e) in links for e in asked.tolist()])
        data = learner._describe(split, 0, 1.0)
        columns = learner._columns(graph, asked)
        return cls(graph, learner, data, asked, columns, labels, 2 * len(hidden))

    def judge(self, scores: NDArray[np.floating]) -> tuple[float, float]:
        """Return the area, and how many of the likeliest hundred candidates are hidden edges."""
        judged, listed = np.split(scores, [self.num_judged])
        labels, hits = np.split(self.labels, [self.num_judged])
        best = np.argsort(-listed, kind="stable")[:TOP]
        return roc_auc(labels, judged), float(hits[best].sum())


def _non_edges(
    rng: np.random.Generator, num_nodes: int, taken: set[tuple[int, ...]], count: int
) -> NDArray[np.int64]:
    pairs: set[tuple[int, ...]] = set()
    while len(pairs) < count:
        u, v = sorted(rng.integers(num_nodes, size=2).tolist())
        if u != v and (u, v) not in taken:
            pairs.add((u, v))
    return np.array(sorted(pairs))


def _candidates(graph: Graph) -> NDArray[np.int64]:
    """Return the non-edges that are best by resource allocation or by three-step walks."""
    adjacency = graph.to_scipy().astype(np.float64)
    degree = np.maximum(graph.degrees, 1)
    half = sp.diags(degree**-0.5)
    steps = half @ adjacency @ half
    parts = []
    for matrix in (adjacency @ sp.diags(1 / degree) @ adjacency, steps @ steps @ steps):
        free = sp.triu(matrix - matrix.multiply(adjacency > 0), 1).tocoo()
        best = np.argsort(-free.data, kind="stable")[:CANDIDATES]
        parts.append(np.stack([free.row[best], free.col[best]], axis=1))
    return np.unique(np.concatenate(parts), axis=0).astype(np.int64)


# -------------------------------------------------------------------------------- variants


def variants(case: Case, seed: int) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield each variant's name with its area and hits."""
    data, columns = case.data, case.columns
    heads, scores = _fit(data, columns, seed)
    yield "all columns", case.judge(scores.mean(axis=0))
    yield "one member", case.judge(scores[0])
    heads.linear_share.fill_(0.0)
    yield "perceptrons alone", case.judge(_score(heads, data, columns, seed).mean(axis=0))
    heads.linear_share.fill_(1.0)
    yield "linear part alone", case.judge(_score(heads, data, columns, seed).mean(axis=0))
    for name, prefixes in GROUPS.items():
        left = [not column.startswith(prefixes) for column in column_names()]
        _, scores = _fit(replace(data, columns=data.columns[:, left]), columns[:, left], seed)
        yield name, case.judge(scores.mean(axis=0))
    for name, extend in (("+ spectral scores", spectral), ("+ P-GNN scores", pgnn_scores)):
        learnt, asked = extend(case, seed)
        wider = replace(data, columns=np.hstack([data.columns, learnt]).astype(np.float32))
        _, scores = _fit(wider, np.hstack([columns, asked]).astype(np.float32), seed)
        yield name, case.judge(scores.mean(axis=0))
    rng = np.random.default_rng(seed)
    changes = {
        "uniform negatives only": replace(
            data, negative=data.uniform, log_density=np.zeros_like(data.log_density)
        ),
        "one negative per link": replace(
            data, negative=rng.choice(data.negative, len(data.positive), replace=False)
        ),
        "no missing links assumed": replace(
            data, log_missing=np.full_like(data.log_missing, -np.inf)
        ),
    }
    for name, changed in changes.items():
        yield name, case.judge(_fit(changed, columns, seed)[1].mean(axis=0))
    yield "width 16", case.judge(_fit(data, columns, seed, width=16)[1].mean(axis=0))


def _fit(
    data: HeadData, columns: NDArray[np.float32], seed: int, *, width: int = 64
) -> tuple[PairHeads, NDArray[np.float64]]:
    """Train heads and return them with the logits of each member, `[members, m]`."""
    recipe = Recipe(model="pgnn-best", seed=seed).resolved(1)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        heads = PairHeads(data.columns.shape[1], num_members=MEMBERS, width=width)
    fit_heads(heads, replace(data, columns=_scale(data, seed)(data.columns)), recipe)
    return heads, _score(heads, data, columns, seed)


@torch.no_grad()
def _score(
    heads: PairHeads, data: HeadData, columns: NDArray[np.float32], seed: int
) -> NDArray[np.float64]:
    scaled = torch.from_numpy(_scale(data, seed)(columns))
    parts = torch.split(scaled, 1 << 14)
    return torch.cat([heads(part) for part in parts], dim=1).double().numpy()


def _scale(data: HeadData, seed: int) -> ColumnScale:
    rng = np.random.default_rng(seed)
    count = min(len(data.negative), 2 * len(data.positive))
    others = rng.choice(data.negative, count, replace=False)
    return ColumnScale.of(data.columns[np.concatenate([data.positive, others])])


# -------------------------------------------------------------------------------- more columns


def spectral(case: Case, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score pairs by leading eigenvectors of S, links by those of the graph without their fold."""
    return _out_of_fold(case, seed, SPECTRAL_FOLDS, lambda graph: _spectral_scorer(graph, seed))


def pgnn_scores(case: Case, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score pairs by P-GNN-P, links by one that was trained without their fold."""

    def scorer(graph: Graph) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
        recipe = Recipe(model="pgnn-p-2l", epochs=PGNN_EPOCHS, seed=seed)
        learner = make_learner(recipe, [graph])
        learner.train([split_links(graph, rng=seed, val=0.05, test=0.05)])
        score = learner.scorer(graph)
        return lambda pairs: score.logits(pairs)[:, None]

    return _out_of_fold(case, seed, PGNN_FOLDS, scorer)


def _out_of_fold(
    case: Case,
    seed: int,
    num_folds: int,
    make: Callable[[Graph], Callable[[NDArray[np.int64]], NDArray[np.float64]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return columns of the pairs that are learnt from, and of those asked."""
    rng = np.random.default_rng([seed, 13])
    pairs = case.data.ends
    fold = rng.integers(num_folds, size=len(pairs))
    edges = case.graph.edges().astype(np.int64)
    size = case.graph.num_nodes
    fold_of = dict(zip((pairs[:, 0] * size + pairs[:, 1]).tolist(), fold.tolist(), strict=True))
    codes = np.sort(edges, axis=1) @ [size, 1]
    of_edge = np.array([fold_of.get(code, -1) for code in codes.tolist()])
    asked = make(case.graph)(case.asked)
    learnt = np.empty((len(pairs), asked.shape[1]))
    for number in range(num_folds):
        graph = Graph.from_edges(edges[of_edge != number], size)
        learnt[fold == number] = make(graph)(pairs[fold == number])
    return learnt, asked


def _spectral_scorer(graph: Graph, seed: int) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    half = sp.diags(np.maximum(graph.degrees, 1) ** -0.5)
    matrix = half @ graph.to_scipy().astype(np.float64) @ half
    start = np.random.default_rng(seed).random(graph.num_nodes)
    rank = min(max(SPECTRAL_RANKS), graph.num_nodes - 2)
    values, vectors = sp.linalg.eigsh(matrix, k=rank, v0=start)
    order = np.argsort(-np.abs(values))

    def score(pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        columns = []
        for count in SPECTRAL_RANKS:
            u, v = (vectors[:, order[:count]][ends] for ends in pairs.T)
            columns.append((u * values[order[:count]] * v).sum(axis=1))
            lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
            columns.append((u * v).sum(axis=1) / np.maximum(lengths, 1e-9))
        return np.stack(columns, axis=1)

    return score


# -------------------------------------------------------------------------------- the table


def load(name: str, folder: Path | None) -> Graph:
    """Return a generated graph, one of the folder, or that of a file."""
    if name in GENERATED:
        return Graph.from_edges(list(nx.convert_node_labels_to_integers(GENERATED[name]()).edges()))
    found = sorted(folder.glob(f"{name}.csv*")) if folder is not None else []
    return read_graph(found[0] if found else Path(name))


def table(rows: dict[str, dict[str, list[list[float]]]]) -> str:
    """Return the results as a table: area, and hits among the likeliest hundred."""
    names = list(rows)
    lines = ["| variant | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for variant in rows[names[0]]:
        cells = []
        for name in names:
            runs = rows[name].get(variant)
            cells.append("{:.4f}, {:.1f}".format(*np.mean(runs, axis=0)) if runs else "-")
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write(rows: dict[str, dict[str, list[list[float]]]], path: Path) -> None:
    """Write the results, and their table beside them."""
    path.write_text(json.dumps(rows, indent=1) + "\n")
    path.with_suffix(".md").write_text(
        "# What the parts of pgnn-best are worth\n\nArea under the ROC curve on hidden pairs, and "
        f"hidden edges among the {TOP} likeliest candidates; means over seeds. Made by "
        "`benchmarks/link_ablation.py`.\n\n" + table(rows)
    )


def main() -> None:
    """Run all variants on all graphs, and write the table after each variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", help="names or files; by default all")
    parser.add_argument("--data", type=Path, help="folder of edge lists, NAME.csv or NAME.csv.gz")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = options.graphs or list(GENERATED)
    if not options.graphs and options.data is not None:
        names += sorted(path.name.split(".")[0] for path in options.data.glob("*.csv*"))
    rows: dict[str, dict[str, list[list[float]]]] = {}
    if options.results.exists():
        rows = json.loads(options.results.read_text())
    for name in names:
        whole = load(name, options.data)
        key = Path(name).name.split(".")[0]
        rows[key] = {}
        for seed in range(options.seeds):
            for variant, outcome in variants(Case.of(whole, seed), seed):
                rows[key].setdefault(variant, []).append(list(outcome))
                print(key, seed, variant, "{:.4f} {:.0f}".format(*outcome), flush=True)
                write(rows, options.results)


if __name__ == "__main__":
    main()
