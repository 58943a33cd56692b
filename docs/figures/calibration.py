"""Draw docs/images/calibration.png: of links with a chance near 0.8, are about 80% real?

Run `PGNN_DATA=FOLDER python docs/figures/calibration.py`; it takes minutes. A tenth of the edges
of each public graph is hidden (protocol "honest" of `pgnn reproduce links`), three times, and
`pgnn-best` gives a chance to the hidden edges and to as many pairs that no edge joins. The numbers
behind the picture go to results/calibration.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from pgnn.evaluation.calibration import calibration_error, reliability
from pgnn.experiments.link_run import hide_links
from pgnn.experiments.links import find_link_graphs
from pgnn.training.outcome import versions
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe

ROOT = Path(__file__).parents[2]
SEEDS = (0, 1, 2)
FEWEST = 10  # pairs of a bin that is drawn
# Okabe and Ito's colours, which colour-blind readers tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")


def measure() -> dict[str, Any]:
    """Return the bins of a reliability diagram for each graph, over all seeds."""
    curves: dict[str, Any] = {}
    for link_graph in find_link_graphs().graphs:
        labels, chances = [], []
        for seed in SEEDS:
            visible, test = hide_links(link_graph.read(), "honest", seed=seed)
            recipe = Recipe(test=0.0, seed=seed)
            trained = train(Problem.of_graph(visible, recipe), recipe, heuristics=False)
            labels.append(test.labels)
            chances.append(trained.learner.scorer(visible)(test.pairs))
        real, chance = np.concatenate(labels), np.concatenate(chances)
        curves[link_graph.name] = {
            "calibration_error": calibration_error(real, chance),
            "bins": [
                {"chance": row.mean_chance, "share": row.share, "pairs": row.num_pairs}
                for row in reliability(real, chance)
            ],
        }
        print(f"{link_graph.name}: calibration error {calibration_error(real, chance):.4f}")
    return curves


def draw(curves: dict[str, Any]) -> None:
    """Draw one line per graph; a dot's area grows with its number of pairs."""
    figure, axes = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
    for colour, (name, curve) in zip(COLOURS, curves.items(), strict=False):
        rows = [row for row in curve["bins"] if row["pairs"] >= FEWEST]
        x, y = [r["chance"] for r in rows], [r["share"] for r in rows]
        axes.plot(x, y, color=colour, linewidth=1, alpha=0.6)
        sizes = [4 + 60 * r["pairs"] / max(q["pairs"] for q in rows) for r in rows]
        label = f"{name}, error {curve['calibration_error']:.3f}"
        axes.scatter(x, y, sizes, color=colour, label=label)
    axes.set(xlabel="chance that pgnn-best gives", ylabel="share of pairs that are hidden edges")
    axes.legend(frameon=False, loc="upper left")
    figure.savefig(ROOT / "docs/images/calibration.png", dpi=150, metadata={"Software": None})


def main() -> None:
    """Measure, store, draw."""
    curves = measure()
    document = {
        "command": "python docs/figures/calibration.py",
        "seeds": list(SEEDS),
        "versions": versions(),
        "graphs": curves,
    }
    (ROOT / "results/calibration.json").write_text(json.dumps(document, indent=1) + "\n")
    draw(curves)


if __name__ == "__main__":
    main()
