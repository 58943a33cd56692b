"""Why cells differ from the paper: the same cell with one thing changed, three seeds each.

`python benchmarks/ablations.py` writes results/ablations.json, which docs/reproduction.md cites.
Cells without a change are runs of results/reproduction.jsonl. Real data come from $PGNN_DATA or the
cache. It takes about half an hour; a run that was stopped goes on.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pgnn.experiments.config import is_whole, setup_of
from pgnn.experiments.run import Job, run_job
from pgnn.experiments.store import Store
from pgnn.io.write import open_atomic
from pgnn.training.outcome import versions

RESULTS = Path(__file__).parents[1] / "results" / "ablations.json"
STORED = RESULTS.with_name("reproduction.jsonl")
SEEDS = 3
# (column, model, protocol, what is changed); nothing changed is what the cell itself is.
CASES: tuple[tuple[str, str, Any, dict[str, Any]], ...] = (
    *(
        ("protein", "sage", "paper", change)
        for change in ({}, {"standardize": "node"}, {"keep": "released"})
    ),
    *(
        (column, model, "paper", change)
        for column, model in (("grid-t", "gat"), ("grid", "gcn"), ("communities-pairs", "gcn"))
        for change in ({}, {"decoder": "dot"})
    ),
    *(
        ("communities-t", model, "released", change)
        for model in ("gcn", "pgnn-e-1l")
        for change in ({}, {"decoder": "distance"}, {"standardize": "feature"})
    ),
    *(
        ("ppi", model, "released", change)
        for model in ("pgnn-e-2l", "gcn")
        for change in ({}, {"decoder": "distance"})
    ),
)


def stored_aucs(column: str, model: str, protocol: str) -> list[float]:
    """Return the test AUC of a cell's stored runs, seed by seed; the last run of a seed counts."""
    cell = {"column": column, "model": model, "protocol": protocol}
    aucs = {
        record["seed"]: record["test_auc"]
        for record in Store(STORED).records()
        if cell.items() <= record.items() and is_whole(record)
    }
    return [aucs[seed] for seed in range(SEEDS)]


def measure(column: str, model: str, protocol: Any, change: dict[str, Any]) -> dict[str, Any]:
    """Run one cell with a change and return mean and deviation of the test AUC."""
    setup = setup_of(column, protocol, model)
    of_data = {name: value for name, value in change.items() if name in ("standardize", "keep")}
    of_recipe = {name: value for name, value in change.items() if name not in of_data}
    setup = replace(setup, recipe=replace(setup.recipe, **of_recipe), **of_data)
    if change:
        jobs = [Job(column, model, protocol, seed) for seed in range(SEEDS)]
        aucs = [run_job(job, setup=setup)["test_auc"] for job in jobs]
    else:
        aucs = stored_aucs(column, model, protocol)
    return {
        "column": column,
        "model": model,
        "protocol": protocol,
        "change": change,
        "mean": float(np.mean(aucs)),
        "std": float(np.std(aucs)),
        "runs": aucs,
    }


def main() -> None:
    """Measure what is not in the file yet, and write it after each case."""
    torch.set_num_threads(1)
    rows = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    done = [(r["column"], r["model"], r["protocol"], r["change"]) for r in rows]
    for case in CASES:
        if case in done:
            continue
        rows.append(measure(*case))
        print(*case, f"{rows[-1]['mean']:.3f} +- {rows[-1]['std']:.3f}", file=sys.stderr)
        document = {
            "command": "python benchmarks/ablations.py",
            "seeds": SEEDS,
            "versions": versions(),
            "rows": rows,
        }
        with open_atomic(RESULTS) as file:
            file.write(json.dumps(document, indent=1).encode())


if __name__ == "__main__":
    main()
