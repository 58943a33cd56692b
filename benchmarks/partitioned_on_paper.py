"""A graph in parts: what it costs here, and what a billion edges on 16 machines would take.

Measures one process and two ranks on the same file of edges: processor seconds of reading and of
searching, bytes exchanged, and the growth of memory while a larger file is read. From these
constants it computes, on paper, the time and memory of 1 billion edges on 16 machines at 10 and 25
Gbit/s:

- edges are read from text, and numbered, at the processor seconds per edge of the two ranks;
- a search costs the processor seconds per (entry of a row, set) of one process on a graph whose
  keys do not fit in the cache, times what the two ranks cost more than one process;
- each key goes once to every rank that has its node as a ghost. In a random graph, the worst case,
  ranks have n (1 - exp(-entries / n)) neighbours, nearly all of them ghosts;
- what is computed and what is sent do not overlap.

Run `python benchmarks/partitioned_on_paper.py`; it writes results/partitioned_on_paper.json.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pgnn
from pgnn.bench.graphs import random_graph
from pgnn.bench.memory import peak_bytes, reset_peak
from pgnn.training.outcome import versions

RESULTS = Path(__file__).parents[1] / "results" / "partitioned_on_paper.json"
SEED = 0
NUM_NODES, NUM_EDGES, NUM_SETS = 200_000, 2_000_000, 64
FAR_NODES, FAR_EDGES = 1_000_000, 10_000_000  # 64 MB of keys: outside the cache
REPEATS = 3
MACHINES = 16
PAPER_EDGES = 1_000_000_000
GBITS = (10, 25)
PER_MACHINE = (1, 8)  # processes


class Counted:
    """A group that counts the bytes it sends to others."""

    def __init__(self, group: Any) -> None:
        self.rank, self.size, self._group = group.rank, group.size, group
        self.num_bytes = 0

    def exchange(self, parts: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Count, and exchange."""
        self._count(parts)
        received: list[NDArray[Any]] = self._group.exchange(parts)
        return received

    def exchange_known(
        self, parts: Sequence[NDArray[Any]], counts: Sequence[int]
    ) -> list[NDArray[Any]]:
        """Count, and exchange."""
        self._count(parts)
        received: list[NDArray[Any]] = self._group.exchange_known(parts, counts)
        return received

    def _count(self, parts: Sequence[NDArray[Any]]) -> None:
        self.num_bytes += sum(p.nbytes for rank, p in enumerate(parts) if rank != self.rank)


def processor_seconds() -> float:
    """Return what this process and its children, the readers of parquet, have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measured(work: Callable[[], Any], repeats: int = REPEATS) -> tuple[Any, dict[str, float]]:
    """Return the result, least processor and wall-clock seconds, and the growth of memory."""
    processor, wall = [], []
    reset_peak()
    before = peak_bytes()
    result = None
    for _ in range(repeats):
        result = None
        start = processor_seconds(), time.perf_counter()
        result = work()
        processor.append(processor_seconds() - start[0])
        wall.append(time.perf_counter() - start[1])
    growth = peak_bytes() - before
    return result, {
        "processor_seconds": min(processor),
        "seconds": min(wall),
        "growth_bytes": growth,
    }


def measure_one(folder: Path) -> dict[str, Any]:
    """Measure one process with one thread."""
    row: dict[str, Any] = {}
    far, row["read_far"] = measured(lambda: pgnn.read_graph(folder / "far.csv"), repeats=1)
    for suffix in ("csv", "parquet"):
        graph, row[f"read_{suffix}"] = measured(lambda: pgnn.read_graph(folder / f"edges.{suffix}"))  # noqa: B023
    sets = pgnn.sample_anchor_sets(graph.num_nodes, num_sets=NUM_SETS, rng=SEED)
    pgnn.anchor_distances(graph, sets, num_threads=1)  # compiles
    _, row["search"] = measured(lambda: pgnn.anchor_distances(graph, sets, num_threads=1))
    row["search"]["entries"] = len(graph.indices)
    sets = pgnn.sample_anchor_sets(FAR_NODES, num_sets=NUM_SETS, rng=SEED)
    _, row["far_search"] = measured(lambda: pgnn.anchor_distances(far, sets, num_threads=1))
    row["far_search"]["entries"] = len(far.indices)
    return row


def measure_rank(folder: Path) -> dict[str, Any]:
    """Measure one of the ranks that torchrun started."""
    from pgnn.distributed import partitioned_distances, read_partitioned_graph
    from pgnn.distributed.group import joined_group
    from pgnn.distributed.launch import Launch
    from pgnn.distributed.search import Traffic

    launch = Launch.of_environment()
    assert launch is not None
    row: dict[str, Any] = {}
    with joined_group(launch) as joined:
        path = folder / "far.csv"
        _, row["read_far"] = measured(lambda: read_partitioned_graph(path), repeats=1)
        for suffix in ("csv", "parquet"):
            path = folder / f"edges.{suffix}"
            part, row[f"read_{suffix}"] = measured(lambda: read_partitioned_graph(path))  # noqa: B023
        counted = Counted(joined)
        part = read_partitioned_graph(folder / "edges.parquet", group=counted)
        row["read_parquet"]["sent_bytes"] = counted.num_bytes
        sets = pgnn.sample_anchor_sets(part.num_nodes, num_sets=NUM_SETS, rng=SEED)
        traffic = Traffic()
        partitioned_distances(part, sets, traffic=traffic)  # compiles
        _, row["search"] = measured(lambda: partitioned_distances(part, sets))
    row["search"] |= {
        "sent_bytes": traffic.num_bytes,
        "levels": traffic.num_levels,
        "ghosts": len(part.ghosts),
        "entries": len(part.indices),
    }
    return row


def run(arguments: list[str], folder: Path, name: str) -> dict[str, Any]:
    """Run this file again in other processes; return what was measured, of ranks the sum."""
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, *arguments, __file__, name, str(folder)]
    subprocess.run(command, check=True, env=settings)
    rows = [json.loads(path.read_text()) for path in sorted(folder.glob(f"{name}-*.json"))]
    return {
        part: {
            key: max(row[part][key] for row in rows)
            if key in ("seconds", "growth_bytes", "levels")
            else sum(row[part][key] for row in rows)
            for key in rows[0][part]
        }
        for part in rows[0]
    }


def on_paper(one: dict[str, Any], two: dict[str, Any]) -> list[dict[str, Any]]:
    """Compute what the large graph takes, of the same mean degree as the measured one."""
    nodes = PAPER_EDGES * NUM_NODES // NUM_EDGES
    entries = 2 * PAPER_EDGES
    read_seconds = two["read_csv"]["processor_seconds"] / NUM_EDGES
    read_bytes = two["read_parquet"]["sent_bytes"] / NUM_EDGES * 2  # half stays where it is, of two
    far = one["far_search"]
    ratio = two["search"]["processor_seconds"] / one["search"]["processor_seconds"]
    search_seconds = far["processor_seconds"] / (far["entries"] * NUM_SETS) * ratio
    key_bytes = two["search"]["sent_bytes"] / (two["search"]["ghosts"] * NUM_SETS)
    rows = []
    for per_machine in PER_MACHINE:
        ranks = MACHINES * per_machine
        ghosts = nodes * (1 - math.exp(-entries / ranks / nodes)) * (1 - 1 / ranks)  # per rank
        own = nodes / ranks
        away = (MACHINES - 1) / MACHINES  # share that leaves a machine
        sent = {
            "read": PAPER_EDGES * read_bytes * away / MACHINES,
            "search": ghosts * ranks * NUM_SETS * key_bytes * away / MACHINES,
        }
        computing = {
            "read": PAPER_EDGES * read_seconds / ranks,
            "search": entries * NUM_SETS * search_seconds / ranks,
        }
        set_bytes = 4 * nodes * NUM_SETS / (nodes.bit_length() - 1)
        memory = 16 * entries / ranks + (64 + 24) * (own + ghosts) + 5 * NUM_SETS * own + set_bytes
        for gbit in GBITS:
            network = {name: num_bytes / (gbit * 1e9 / 8) for name, num_bytes in sent.items()}
            rows.append(
                {
                    "machines": MACHINES,
                    "processes_per_machine": per_machine,
                    "gbit": gbit,
                    "nodes": nodes,
                    "edges": PAPER_EDGES,
                    "sets": NUM_SETS,
                    "read_seconds": computing["read"] + network["read"],
                    "search_seconds": computing["search"] + network["search"],
                    "network_seconds": sum(network.values()),
                    "seconds": sum(computing.values()) + sum(network.values()),
                    "bytes_per_process": memory,
                }
            )
    return rows


def main() -> None:
    """Measure, compute and write."""
    if len(sys.argv) == 3:
        name, folder = sys.argv[1], Path(sys.argv[2])
        row = (measure_one if name == "one" else measure_rank)(folder)
        (folder / f"{name}-{os.environ.get('RANK', 0)}.json").write_text(json.dumps(row))
        return
    import polars as pl

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, nodes, edges in (
            ("edges", NUM_NODES, NUM_EDGES),
            ("far", FAR_NODES, FAR_EDGES),
        ):
            pairs = random_graph(nodes, edges, rng=SEED).edges()
            pairs = np.random.default_rng(SEED).permutation(pairs)
            table = pl.DataFrame({"source": pairs[:, 0], "target": pairs[:, 1]})
            table.write_csv(folder / f"{name}.csv")
            if name == "edges":
                table.write_parquet(folder / "edges.parquet")
        one = run([], folder, "one")
        two = run(["-m", "torch.distributed.run", "--nproc-per-node", "2"], folder, "two")
    document = {
        "command": "python benchmarks/partitioned_on_paper.py",
        "seed": SEED,
        "versions": versions(),
        "nodes": NUM_NODES,
        "edges": NUM_EDGES,
        "sets": NUM_SETS,
        "one_process": one,
        "two_ranks": two,
        "processor_ratio": {
            part: two[part]["processor_seconds"] / one[part]["processor_seconds"]
            for part in ("read_csv", "read_parquet", "search")
        },
        "memory_ratio": two["read_far"]["growth_bytes"] / one["read_far"]["growth_bytes"],
        "on_paper": on_paper(one, two),
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
