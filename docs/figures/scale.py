"""Draw docs/images/scale.png: time and memory of train, evaluate and predict by size.

Run `python docs/figures/scale.py` after `pgnn bench scale --json > results/bench_scale.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parents[2]
# Okabe and Ito's colours, which colour-blind readers tell apart.
COLOURS = {"train": "#0072B2", "evaluate": "#D55E00", "predict": "#009E73"}


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw seconds by edges, stacked by command, beside what is linear, and memory."""
    edges = np.array([row["edges"] for row in rows])
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, colour in COLOURS.items():
        seconds = [row[name]["seconds"] for row in rows]
        left.plot(edges, seconds, marker="o", color=colour, label=name)
    total = np.array([row["seconds"] for row in rows])
    left.plot(edges, total, marker="o", color="black", label="all three")
    left.plot(edges, total[-1] * edges / edges[-1], "--", color="0.6", label="linear")
    left.set(xscale="log", yscale="log", xlabel="edges", ylabel="seconds")
    left.legend(frameon=False)
    right.plot(edges, [row["peak_bytes"] / 1e9 for row in rows], marker="o", color="black")
    right.set(xscale="log", xlabel="edges", ylabel="peak memory, GB", ylim=(0, None))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(ROOT / "docs/images/scale.png", dpi=150, metadata={"Software": None})


def main() -> None:
    """Read and draw."""
    document = json.loads((ROOT / "results/bench_scale.json").read_text())
    draw(document["rows"])


if __name__ == "__main__":
    main()
