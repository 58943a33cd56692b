"""Run the paper's theory: draw docs/images/theory_*.png, write results/theory.json.

`python docs/figures/theory.py` does all of it in a few minutes; `--only PART` does one part again
and leaves the others as they are. docs/theory.md says what the parts show.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch import Tensor

from pgnn import AnchorDistances, Graph, anchor_distances, sample_anchor_sets
from pgnn.bench.graphs import random_graph
from pgnn.bench.memory import peak_bytes, reset_peak
from pgnn.nn import GAT, GCN, GIN, PGNN, DotDecoder, GraphSAGE, make_pgnn

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "theory.json"
BASELINES = {"GCN": GCN, "GraphSAGE": GraphSAGE, "GAT": GAT, "GIN": GIN}

# ---------------------------------------------------------------------- graphs and embeddings

# Figure 1: node v of the left half mirrors node v + 6 of the right one.
HALF = ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (1, 5))
PLACES = ((-4.0, 0.0), (-3.0, 1.0), (-3.0, -1.0), (-2.0, 0.0), (-0.8, 0.0), (-3.0, 2.0))
V1, V2, V3 = 0, 6, 5


def figure_1() -> nx.Graph:
    """Build a graph like the paper's Figure 1: two mirrored halves, joined by an edge."""
    return nx.Graph([*HALF, *((u + 6, v + 6) for u, v in HALF), (4, 10)])


def spider(*legs: int) -> nx.Graph:
    """Build a tree of paths that meet in node 0; with legs of different length, no symmetry."""
    graph, free = nx.Graph(), 1
    for leg in legs:
        nx.add_path(graph, [0, *range(free, free + leg)])
        free += leg
    return graph


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed what draws modules' weights, torch's own generator, and leave it as it was after."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def to_graph(graph: nx.Graph) -> Graph:
    """Keep node v of networkx as row v."""
    return Graph.from_edges(list(graph.edges), graph.number_of_nodes())


def gnn_embedding(name: str, graph: Graph, depth: int, *, seed: int, channels: int = 8) -> Tensor:
    """Embed nodes of constant features with a baseline of random weights, `[n, channels]`."""
    with seeded(seed), torch.no_grad():
        model = BASELINES[name](1, num_layers=depth, out_channels=channels).double().eval()
        embedding: Tensor = model(
            torch.ones(graph.num_nodes, 1).double(), graph.to_pyg().edge_index
        )
    return embedding


def pgnn_embedding(graph: Graph, sets: Sequence[Sequence[int]], depth: int, *, seed: int) -> Tensor:
    """Embed nodes of constant features with a P-GNN of random weights, `[n, len(sets)]`."""
    with seeded(seed), torch.no_grad():
        model = PGNN(1, num_layers=depth).double().eval()
        z: Tensor = model(
            torch.ones(graph.num_nodes, 1).double(), anchor_distances(graph, list(sets))
        )
    return z


def gap(embedding: Tensor, u: int, v: int) -> float:
    """Return the largest difference of rows u and v, in units of the largest number."""
    return float((embedding[u] - embedding[v]).abs().max() / embedding.abs().max())


def num_distinct(embedding: Tensor) -> int:
    """Count rows that differ by more than rounding."""
    scaled = embedding / embedding.abs().max()
    same = (scaled[:, None] - scaled).abs().amax(-1) < 1e-9  # [n, n]
    return int((same.int().argmax(1) == torch.arange(len(same))).sum())


def one_number(embedding: Tensor) -> Tensor:
    """Project rows on the direction in which they differ most, `[n]`; 0 if they are all equal."""
    centred = embedding - embedding.mean(0)
    if num_distinct(embedding) == 1:
        return torch.zeros(len(embedding))
    numbers: Tensor = centred @ torch.linalg.svd(centred).Vh[0]
    return numbers


def draw_nodes(axes: Any, graph: nx.Graph, places: Any, values: Tensor, title: str) -> None:
    """Draw a graph, nodes coloured by a number each."""
    colours = (values - values.min()) / (values.max() - values.min()).clamp(min=1e-9)
    nx.draw_networkx_edges(graph, places, ax=axes, edge_color="0.6", width=1.2)
    nx.draw_networkx_nodes(
        graph, places, ax=axes, nodelist=range(len(values)), node_color=colours.tolist(),
        cmap="viridis", vmin=-0.2, vmax=1, node_size=230, edgecolors="0.25", linewidths=0.8,
    )  # fmt: skip
    axes.set_title(title, fontsize=10)
    axes.set_axis_off()
    axes.margins(0.12)


def new_figure(columns: int, size: tuple[float, float], **grid: Any) -> tuple[Any, Any]:
    """Open a figure of one row; tests read this file without drawing, so matplotlib waits."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, columns, figsize=size, layout="constrained", squeeze=False, gridspec_kw=grid
    )
    return figure, axes[0]


def save(figure: Any, name: str) -> None:
    """Write docs/images/theory_NAME.png."""
    target = ROOT / "docs" / "images" / f"theory_{name}.png"
    figure.savefig(target, dpi=150, metadata={"Software": None})


# ---------------------------------------------------------------------- Figure 1


def run_symmetry() -> dict[str, Any]:
    """Compare what baselines and a P-GNN make of v1 and v2; draw what they see."""
    drawn = figure_1()
    graph = to_graph(drawn)
    cases = [(depth, seed) for depth in range(1, 7) for seed in range(5)]
    gaps = {
        name: max(
            gap(gnn_embedding(name, graph, depth, seed=seed), V1, V2) for depth, seed in cases
        )
        for name in BASELINES
    }
    z_gaps = [gap(pgnn_embedding(graph, [[V3]], depth, seed=seed), V1, V2) for depth, seed in cases]
    panels = {
        "GAT, 3 layers": gnn_embedding("GAT", graph, 3, seed=0),
        "GIN, 3 layers": gnn_embedding("GIN", graph, 3, seed=0),
        "P-GNN, 2 layers, anchor-set {$v_3$}": pgnn_embedding(graph, [[V3]], 2, seed=0),
    }
    places = dict(enumerate([*PLACES, *((-x, y) for x, y in PLACES)]))
    figure, axes = new_figure(3, (11, 2.6))
    for panel, (title, embedding) in zip(axes, panels.items(), strict=True):
        draw_nodes(panel, drawn, places, one_number(embedding), title)
        for node, name in ((V1, "$v_1$"), (V2, "$v_2$"), (V3, "$v_3$")):
            x, y = places[node]
            side = -0.75 if node == V1 else 0.75
            panel.annotate(name, (x + side, y), ha="center", va="center", fontsize=12)
    save(figure, "symmetry")
    return {
        "depths": "1 to 6",
        "seeds": 5,
        "largest_gap_of_v1_v2": gaps,
        "smallest_gap_of_v1_v2_pgnn": min(z_gaps),
        "hops_v1_v3": nx.shortest_path_length(drawn, V1, V3),
        "hops_v2_v3": nx.shortest_path_length(drawn, V2, V3),
    }


# ---------------------------------------------------------------------- Proposition 1


def spider_places(*legs: int) -> dict[int, tuple[float, float]]:
    """Lay the first leg upwards, the second to the left, the third to the right."""
    places, free = {0: (0.0, 0.0)}, 1
    for leg, (x, y) in zip(legs, ((0, 1), (-1, 0), (1, 0)), strict=True):
        places |= {free + step: (x * (step + 1.0), y * (step + 1.0)) for step in range(leg)}
        free += leg
    return places


def rooted_isomorphic(graph: nx.Graph, u: int, v: int, q: int) -> bool:
    """Tell whether the q-hop neighbourhoods of u and v are the same graph, u in place of v."""
    balls = []
    for root in (u, v):
        ball = nx.ego_graph(graph, root, radius=q)
        nx.set_node_attributes(ball, {node: node == root for node in ball}, "root")
        balls.append(ball)
    return bool(nx.is_isomorphic(*balls, node_match=lambda a, b: a["root"] == b["root"]))


def num_twins(graph: nx.Graph, q: int) -> int:
    """Count pairs of nodes with isomorphic q-hop neighbourhoods."""
    return sum(rooted_isomorphic(graph, u, v, q) for u in graph for v in graph if u < v)


def run_proposition(q: int = 3) -> dict[str, Any]:
    """Count twins, and nodes that a GIN tells apart, in two trees and an asymmetric cubic graph."""
    frucht = nx.frucht_graph()
    cases = {
        "spider(1, 2, 3)": (spider(1, 2, 3), spider_places(1, 2, 3)),
        "spider(1, 2, 9)": (spider(1, 2, 9), spider_places(1, 2, 9)),
        "Frucht graph": (frucht, nx.kamada_kawai_layout(frucht)),
    }
    figure, axes = new_figure(3, (11, 2.5), width_ratios=[5, 11, 5])
    results: dict[str, Any] = {"q": q}
    for panel, (name, (drawn, places)) in zip(axes, cases.items(), strict=True):
        graph = to_graph(drawn)
        embedding = gnn_embedding("GIN", graph, q, seed=0)
        z = pgnn_embedding(graph, [[v] for v in drawn], 1, seed=0)
        results[name] = {
            "nodes": graph.num_nodes,
            "twins": num_twins(drawn, q),
            "distinct_gin": num_distinct(embedding),
            "distinct_pgnn": num_distinct(z),
        }
        numbers = one_number(embedding / embedding.abs().max())
        kind = torch.unique((numbers * 1e9).round(), return_inverse=True)[1].double()
        title = f"{name}: {len(z)} nodes\ndifferent embeddings: {results[name]['distinct_gin']}"
        draw_nodes(panel, drawn, places, kind, title)
        panel.set_aspect("equal", adjustable="datalim")
        for node, (x, y) in places.items():
            light = kind[node] > 0.6 * kind.max()
            letter = "abcdefghijklm"[int(kind[node])]
            panel.text(x, y, letter, ha="center", va="center", c="k" if light else "w", fontsize=9)
    save(figure, "proposition")
    return results


# ---------------------------------------------------------------------- shared and own anchors


def communities(rng: np.random.Generator) -> tuple[Graph, NDArray[np.int64]]:
    """Build 20 cliques of 20 nodes on a ring, move an end of 1% of the edges; and who is where."""
    edges = np.array(nx.connected_caveman_graph(20, 20).edges)
    moved = rng.random(len(edges)) < 0.01
    edges[moved, 1] = rng.integers(0, 400, moved.sum())
    return Graph.from_edges(edges, 400), np.arange(400) // 20


def by_distance(hops: NDArray[Any]) -> NDArray[np.int64]:
    """Order all nodes by distance from each node, lowest index first among equals, `[n, n]`."""
    return np.argsort(np.where(hops < 0, hops.max() + 1, hops), axis=1, kind="stable")


def own_distances(
    hops: NDArray[Any], order: NDArray[np.int64], *, rng: np.random.Generator
) -> AnchorDistances:
    """Draw each node its own Bernoulli sets; give its distances to them and nearest members.

    Who is nearest to v in a set that takes each node with probability p? Going through all nodes
    from near to far, the first one taken; and how many are passed over before is geometric. So one
    number is drawn per (node, set), from the geometric distribution on condition that it is below n
    (that the set is not empty), and no set is ever made.
    """
    n = len(hops)
    classes = n.bit_length() - 1
    p = 0.5 ** np.repeat(np.arange(1.0, classes + 1), classes)  # [k], as sample_anchor_sets
    chance = rng.random((n, len(p))) * (1 - (1 - p) ** n)
    passed = np.minimum((np.log1p(-chance) / np.log1p(-p)).astype(np.int64), n - 1)
    rows = np.arange(n)[:, None]
    nearest = order[rows, passed]
    own_hops = hops[rows, nearest]
    return AnchorDistances(np.where(own_hops < 0, -1, nearest).astype(np.int32), hops=own_hops)


def split_pairs(
    labels: NDArray[np.int64], rng: np.random.Generator
) -> list[tuple[Tensor, NDArray[np.bool_]]]:
    """Take all pairs of one community and as many of two; split them 80/10/10."""
    u, v = np.triu_indices(len(labels), 1)
    same = labels[u] == labels[v]
    apart = rng.choice(np.flatnonzero(~same), same.sum(), replace=False)
    chosen = rng.permutation(np.concatenate([np.flatnonzero(same), apart]))
    cuts = (np.array([0.8, 0.9]) * len(chosen)).astype(int)
    return [
        (torch.from_numpy(np.stack([u[part], v[part]], axis=1)), same[part])
        for part in np.split(chosen, cuts)
    ]


def train(num_layers: int, *, shared: bool, seed: int, epochs: int = 200) -> float:
    """Train on pairs with fresh anchors a step; return the test AUC where validation was best."""
    rng = np.random.default_rng(seed)
    graph, labels = communities(rng)
    fit, val, test = split_pairs(labels, rng)
    hops = anchor_distances(graph, list(range(graph.num_nodes))).hops
    assert hops is not None
    order = by_distance(hops)
    x, decode = torch.ones(graph.num_nodes, 1), DotDecoder()

    def embed() -> Tensor:
        if shared:
            drawn = anchor_distances(graph, sample_anchor_sets(graph.num_nodes, rng=rng))
        else:
            drawn = own_distances(hops, order, rng=rng)
        z: Tensor = model(x, drawn)
        return z

    with seeded(seed):
        model = make_pgnn(f"pgnn-e-{num_layers}l", in_channels=1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        target, scores = torch.from_numpy(fit[1]).float(), []
        for epoch in range(1, epochs + 1):
            model.train()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                decode(embed(), fit[0]), target
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if epoch % 10 == 0:
                model.eval()
                with torch.no_grad():
                    z = embed()
                scores.append([roc_auc_score(y, decode(z, pairs)) for pairs, y in (val, test)])
    return float(max(scores)[1])


def run_joint() -> dict[str, Any]:
    """Measure AUC with sets that all nodes share, and with sets of each node's own."""
    results: dict[str, Any] = {"seeds": 5, "epochs": 200}
    figure, (axes,) = new_figure(1, (5.2, 3.6))
    for num_layers in (1, 2):
        for shared, name, marker in ((True, "shared", "o"), (False, "own", "s")):
            scores = [train(num_layers, shared=shared, seed=seed) for seed in range(5)]
            results[f"{name}_{num_layers}l"] = {
                "mean": float(np.mean(scores)),
                "std": float(np.std(scores)),
                "auc": scores,
            }
            place = num_layers + np.linspace(-0.08, 0.08, 5)
            label = {"shared": "all nodes share the sets", "own": "each node has its own sets"}[
                name
            ]
            axes.plot(
                place, scores, marker, c="C0" if shared else "C1", ms=6,
                label=label if num_layers == 1 else None,
            )  # fmt: skip
    axes.axhline(0.5, c="0.5", ls=":", lw=1.2, label="guessing")
    axes.set_xlim(0.6, 2.4)
    axes.set_xticks([1, 2], ["1 layer", "2 layers"])
    axes.set_ylim(0.4, 1.02)
    axes.set_ylabel("test AUC, same community or not")
    axes.set_title("P-GNN on 20 communities of 20 nodes, 5 seeds", fontsize=10)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(frameon=False, fontsize=9, loc="center")
    save(figure, "joint")
    return results


# ---------------------------------------------------------------------- complexity


def measure(num_nodes: int, repeats: int = 7) -> dict[str, Any]:
    """Measure sampling, distances and the forward pass of P-GNN-E-2L in this process.

    One thread and its processor time: what other programs do meanwhile counts for little.
    """
    torch.set_num_threads(1)
    model = make_pgnn("pgnn-e-2l", in_channels=1).eval()

    def forward(graph: Graph) -> Tensor:
        sets = sample_anchor_sets(graph.num_nodes, rng=0)
        distances = anchor_distances(graph, sets, num_threads=1)
        with torch.no_grad():
            z: Tensor = model(torch.ones(graph.num_nodes, 1), distances)
        return z

    for small in (4, 40, 400):  # load the kernels; small, for what is freed here is used again
        forward(random_graph(small, small, rng=0))
    graph = random_graph(num_nodes, 5 * num_nodes, rng=0)
    reset_peak()
    before = peak_bytes()
    num_sets = forward(graph).shape[1]
    peak = peak_bytes() - before
    times = []
    for _ in range(repeats):
        start = time.process_time()
        forward(graph)
        times.append(time.process_time() - start)
    return {"nodes": num_nodes, "sets": num_sets, "seconds": min(times), "peak_bytes": peak}


def run_complexity() -> dict[str, Any]:
    """Measure graphs of growing size, each in a process of its own; fit c n log^2 n."""
    sizes = [1000 * 2**step for step in range(7)]
    command = [sys.executable, __file__, "--measure"]
    rows = [
        json.loads(subprocess.run([*command, str(n)], stdout=subprocess.PIPE, check=True).stdout)  # noqa: S603
        for n in sizes
    ]
    results: dict[str, Any] = {"average_degree": 10, "repeats": 7, "threads": 1, "rows": rows}
    n = np.array(sizes, dtype=float)
    figure, axes = new_figure(2, (9.6, 3.8))
    for panel, name, label, unit in (
        (axes[0], "seconds", "processor seconds, best of 7", 1.0),
        (axes[1], "peak_bytes", "memory on top of the graph, MB", 1e6),
    ):
        values = np.array([row[name] for row in rows]) / unit
        ratio = values / (n * np.log2(n) ** 2)
        constant = float(np.exp(np.mean(np.log(ratio))))
        results[name] = {
            "constant_of_n_log2_n_squared": constant * unit,
            "least_and_largest_of_measured_over_fit": [
                float(ratio.min() / constant), float(ratio.max() / constant),
            ],
            "measured_power_of_n": float(np.polyfit(np.log(n), np.log(values), 1)[0]),
            "power_of_n_of_the_formula": float(
                np.polyfit(np.log(n), np.log(n * np.log2(n) ** 2), 1)[0]
            ),
        }  # fmt: skip
        panel.loglog(n, values, "o-", label="measured")
        panel.loglog(n, constant * n * np.log2(n) ** 2, "k--", lw=1.2, label="$c\\,n\\,\\log^2 n$")
        panel.loglog(n, values[0] * (n / n[0]) ** 2, "k:", lw=1.2, label="$c'\\,n^2$")
        panel.set_xticks(n, [f"{size // 1000}k" for size in sizes])
        panel.minorticks_off()
        panel.set_xlabel("nodes $n$")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
        panel.legend(frameon=False, fontsize=9)
    figure.suptitle("Anchor-sets, distances and forward pass of P-GNN-E-2L", fontsize=11)
    save(figure, "complexity")
    return results


# ---------------------------------------------------------------------- command

PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "symmetry": run_symmetry,
    "proposition": run_proposition,
    "joint": run_joint,
    "complexity": run_complexity,
}
PACKAGES = ("numpy", "numba", "torch", "torch-geometric", "networkx", "scikit-learn", "matplotlib")


def main() -> None:
    """Run the chosen parts and put their results into results/theory.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="run one part and keep the others' results")
    parser.add_argument("--measure", type=int, metavar="N", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        json.dump(measure(options.measure), sys.stdout)
        return
    torch.set_num_threads(
        1
    )  # tensors here are small, and threads that wait for each other are slow
    document = json.loads(RESULTS.read_text()) if options.only and RESULTS.exists() else {}
    for name in [options.only] if options.only else PARTS:
        start = time.perf_counter()
        document[name] = {
            "command": f"python docs/figures/theory.py --only {name}",
            "first_seed": 0,
            "python": sys.version.split()[0],
            "versions": {package: version(package) for package in PACKAGES},
            "found": PARTS[name](),
        }
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        print(json.dumps({name: document[name]["found"]}, indent=2))
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
