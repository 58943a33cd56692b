"""Draw docs/images/bourgain_distortion.png: the measured distortion of the Bourgain embedding.

Run `python docs/figures/bourgain.py` from anywhere; it takes half a minute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from pgnn import Graph
from pgnn.positions.bourgain import bourgain_embedding, distortion

TARGET = Path(__file__).parents[1] / "images" / "bourgain_distortion.png"
NUM_NODES = (16, 32, 64, 128, 256, 512, 1024, 2048)
NUM_SEEDS = 5
C = 4.0

FAMILIES: dict[str, tuple[str, Callable[[int], nx.Graph]]] = {
    "grid": ("o", lambda n: nx.grid_2d_graph(math.isqrt(n), n // math.isqrt(n))),
    "caveman (cliques of 8)": ("s", lambda n: nx.connected_caveman_graph(n // 8, 8)),
    "random tree": ("^", lambda n: nx.random_labeled_tree(n, seed=0)),
    "random graph (degree 6)": ("D", lambda n: nx.gnm_random_graph(n, 3 * n, seed=0)),
}


def measure(make: Callable[[int], nx.Graph]) -> tuple[list[int], np.ndarray]:
    """Return the sizes of a family's graphs and their distortions, `[sizes, seeds]`."""
    graphs = [Graph.from_networkx(make(n)) for n in NUM_NODES]
    values = [
        [distortion(g, bourgain_embedding(g, C, rng=seed)) for seed in range(NUM_SEEDS)]
        for g in graphs
    ]
    return [g.num_nodes for g in graphs], np.array(values)


def main() -> None:
    """Measure all families and draw them over log2 n."""
    figure, axes = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    for name, (marker, make) in FAMILIES.items():
        sizes, values = measure(make)
        (line,) = axes.plot(sizes, np.median(values, axis=1), marker=marker, ms=5, label=name)
        low, high = values.min(axis=1), values.max(axis=1)
        axes.fill_between(sizes, low, high, color=line.get_color(), alpha=0.15, lw=0)
    ends = np.array([NUM_NODES[0], NUM_NODES[-1]])
    axes.plot(ends, np.log2(ends), "k--", lw=1.2, label="$\\log_2 n$")
    axes.plot(ends, 2 * np.log2(ends), "k:", lw=1.2, label="$2\\,\\log_2 n$ (bound of the tests)")
    axes.set_xscale("log", base=2)
    axes.set_xticks(NUM_NODES, [f"{n:,}" for n in NUM_NODES])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("nodes $n$")
    axes.set_ylabel("distortion in $\\ell_1$, all pairs")
    axes.set_title(
        f"Bourgain embedding, c = {C:g}: median and range of {NUM_SEEDS} draws of the sets",
        fontsize=11,
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)
    TARGET.parent.mkdir(exist_ok=True)
    figure.savefig(TARGET, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
