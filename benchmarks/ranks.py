"""Two processes of one thread each against one process of two threads, on the same machine.

Run `python benchmarks/ranks.py` on a quiet machine with two cores. Whole commands are timed, with
loading of libraries: `pgnn train` of pgnn-best on 10,000 nodes and of pgnn-e-2l on 20,000 nodes,
each some times in turn; the best of each counts. The metrics must be the same. The numbers go to
results/ranks.json.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from rank_runs import Finished, launcher, run, write_graph
from result_files import ROOT, write_result

from pgnn.training.outcome import versions

CASES = {"pgnn-best": 10_000, "pgnn-e-2l": 20_000}


def measure(model: str, num_nodes: int, times: int) -> dict[str, Any]:
    """Time both ways in turn, and compare their metrics."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_graph(folder / "edges.csv", num_nodes)
        train = ["-m", "pgnn", "train", "edges.csv", "--model", model, "--quiet", "--json"]

        def once(size: int) -> Finished:
            shutil.rmtree(folder / "run", ignore_errors=True)
            command = [*launcher(size), *train, "--threads", 2 // size, "--out", "run"]
            finished = run(command, folder)
            assert finished.code == 0, finished.stderr
            print(model, num_nodes, f"{size} processes: {finished.seconds:.1f} s", flush=True)
            return finished

        runs = [(once(1), once(2)) for _ in range(times)]
        alone, two = (min(each, key=lambda r: r.seconds) for each in zip(*runs, strict=True))
        return {
            "nodes": num_nodes,
            "one_process_seconds": round(alone.seconds, 2),
            "two_processes_seconds": round(two.seconds, 2),
            "ratio": round(two.seconds / alone.seconds, 3),
            "one_process_processor_seconds": round(alone.processor_seconds, 2),
            "two_processes_processor_seconds": round(two.processor_seconds, 2),
            "runs": times,
            "same_metrics": all(a.metrics() == b.metrics() for a, b in runs),
            "test_auc": alone.metrics()["test_auc"],
        }


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--model", choices=CASES, action="append", help="by default all")
    options = parser.parse_args()
    path = ROOT / "results" / "ranks.json"
    models: dict[str, Any] = json.loads(path.read_text())["models"] if path.exists() else {}
    for model in options.model or CASES:
        models[model] = measure(model, CASES[model], options.times)
        print(model, models[model], flush=True)
    document = {
        "command": "python benchmarks/ranks.py",
        "seed": 0,
        "versions": versions(),
        "models": models,
    }
    write_result("ranks.json", document)


if __name__ == "__main__":
    main()
