"""How long pgnn-best takes: every column of the paper's tables and every public graph of links.

Run `PGNN_DATA=FOLDER python benchmarks/best_seconds.py [--seeds 3]` with nothing beside it. It
writes results/best_seconds.json: seconds on the wall to learn (for graphs of links: and to score),
and those with reading and judging, all cores, with kernels compiled before, and the load of the
machine before each run, which should be no more than its cores: that is what the run before left.
Columns are those of protocol `paper`, graphs those of protocol `honest`; the AUC of each run is,
up to rounding, that of results/reproduction.jsonl or links.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgnn.experiments.config import COLUMNS
from pgnn.experiments.link_run import LinkJob, run_link_job
from pgnn.experiments.links import find_link_graphs
from pgnn.experiments.run import Job, run_job
from pgnn.io.write import open_atomic
from pgnn.names import BEST
from pgnn.training.outcome import versions

RESULTS = Path(__file__).parents[1] / "results" / "best_seconds.json"


def jobs(seeds: int) -> Iterator[tuple[str, Job | LinkJob]]:
    """Give every run with the name of its column or graph."""
    for name in COLUMNS:
        yield from ((name, Job(name, BEST, "paper", seed)) for seed in range(seeds))
    for graph in find_link_graphs().graphs:
        yield from ((graph.name, LinkJob(graph, "honest", seed, (BEST,))) for seed in range(seeds))


def run(job: Job | LinkJob) -> tuple[float, float]:
    """Run one job; return its test AUC and the seconds it says that it took."""
    if isinstance(job, Job):
        record = run_job(job)
        return record["test_auc"], record["seconds"]
    (link,) = run_link_job(job)
    return link.test_auc, link.seconds


def main() -> None:
    """Run all, one after the other, and write the file after each."""
    parser = argparse.ArgumentParser(description="seconds of pgnn-best")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for name in ("grid", "communities-pairs"):  # compiles kernels
        run(Job(name, BEST, "paper", 0))
    document: dict[str, Any] = {
        "command": f"python benchmarks/best_seconds.py --seeds {options.seeds}",
        "cores": os.cpu_count(),
        "versions": versions(),
        "rows": [],
    }
    for name, job in jobs(options.seeds):
        load, start = os.getloadavg()[0], time.perf_counter()
        auc, seconds = run(job)
        row = {
            "column": name,
            "seed": job.seed,
            "auc": auc,
            "seconds": seconds,
            "seconds_with_reading": round(time.perf_counter() - start, 2),
            "load_before": round(load, 2),
        }
        document["rows"].append(row)
        with open_atomic(RESULTS) as file:
            file.write(json.dumps(document, indent=1).encode())
        print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
