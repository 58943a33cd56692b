"""`pgnn bench scale`: train, evaluate and predict on graphs of up to a million nodes.

A graph with communities and hubs is written to a file, without a share of its edges that is kept
aside. The commands then run as a user runs them, each in a process of its own. What was kept aside
tells how many of the pairs that `predict` lists are links in truth.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.bench.graphs import social_graph
from pgnn.checks import integer
from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.io import id_array, read_graph, write_columns
from pgnn.pairs.codes import edge_codes, is_among
from pgnn.threads import resolve_threads

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
EDGES_PER_NODE = 10
HIDDEN_PER_NODE = 1  # edges that are kept aside
TOP = 100
# Large enough for the ways of large graphs, so that kernels are compiled before the clock starts.
WARM_UP = 20_000
_FEWEST_NODES = 1000

Say = Callable[[str], object]


@dataclass(frozen=True)
class Step:
    """What one command took.

    Attributes:
        seconds: By the clock.
        processor_seconds: Of all its threads.
        peak_bytes: Its largest resident size.
    """

    seconds: float
    processor_seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Row:
    """One size.

    Attributes:
        nodes: Number of nodes.
        edges: Number of edges in the file.
        hidden: Number of edges that were kept aside.
        train, evaluate, predict: What each command took.
        seconds: Of all three.
        peak_bytes: The largest of the three.
        auc: Area under the ROC curve of pgnn-best on its test pairs.
        heuristic: The heuristic with the largest area.
        heuristic_auc: Its area.
        test_pairs: Number of test pairs.
        top: How many links were asked for.
        top_hidden: How many of those that pgnn-best lists were kept aside.
        heuristics_top_hidden: The same of each heuristic, which choose from the same pairs.
        threads: Number of threads.
    """

    nodes: int
    edges: int
    hidden: int
    train: Step
    evaluate: Step
    predict: Step
    seconds: float
    peak_bytes: int
    auc: float
    heuristic: str
    heuristic_auc: float
    test_pairs: int
    top: int
    top_hidden: int
    heuristics_top_hidden: dict[str, int]
    threads: int

    @property
    def best_top(self) -> tuple[str, int]:
        """The heuristic whose list has most edges that were kept aside, and how many it has."""
        best = max(self.heuristics_top_hidden, key=lambda name: self.heuristics_top_hidden[name])
        return best, self.heuristics_top_hidden[best]


def run(
    sizes: Sequence[int] = SIZES, *, seed: int = 0, warm_up: int | None = WARM_UP, say: Say = print
) -> Iterator[Row]:
    """Measure each size, the commands in processes of their own.

    Args:
        sizes: Numbers of nodes.
        seed: Decides the graphs, and is the seed of the runs.
        warm_up: Nodes of a graph that is not measured, so that kernels are compiled; None for none.
        say: Called with what begins.

    Raises:
        PGNNError: If a size is too small, or a command fails.
    """
    for size in sizes:
        integer("nodes", size, at_least=_FEWEST_NODES)
    if warm_up is not None:
        say("compiling kernels on a small graph")
        measure(warm_up, seed=seed, say=lambda _: None)
    for size in sizes:
        yield measure(size, seed=seed, say=say)


def measure(num_nodes: int, *, seed: int = 0, say: Say = print) -> Row:
    """Measure one size."""
    with TemporaryDirectory(prefix="pgnn-bench-") as folder:
        place = Path(folder)
        say(f"{num_nodes:,} nodes: drawing the graph")
        graph, hidden = hide_edges(
            social_graph(num_nodes, (EDGES_PER_NODE + HIDDEN_PER_NODE) * num_nodes, rng=seed),
            HIDDEN_PER_NODE * num_nodes,
            rng=seed,
        )
        file, aside, out = (str(place / name) for name in ("graph.csv", "aside.npy", "run"))
        source, target = graph.edges().T
        write_columns(Path(file), {"source": source, "target": target}, {})
        np.save(aside, hidden)
        edges = graph.num_edges
        del graph, source, target  # the commands need the memory
        steps, documents = {}, {}
        for name, arguments in {
            "train": ["train", file, "--out", out, "--seed", str(seed), "--json"],
            "evaluate": ["evaluate", out, file, "--json"],
            "predict": ["predict", out, file, "--top", str(TOP), "--json"],
        }.items():
            say(f"{num_nodes:,} nodes: {name}")
            steps[name], documents[name] = run_command("pgnn", *arguments)
        say(f"{num_nodes:,} nodes: heuristics")
        _, by_heuristic = run_command("pgnn.bench.scale", file, aside)
    trained = documents["train"]
    areas = {name: each["metrics"]["roc_auc"] for name, each in trained["heuristics"].items()}
    best = max(areas, key=lambda name: areas[name])
    links = [(row["source"], row["target"]) for row in documents["predict"]["links"]]
    return Row(
        nodes=num_nodes,
        edges=edges,
        hidden=len(hidden),
        **steps,
        seconds=sum(step.seconds for step in steps.values()),
        peak_bytes=max(step.peak_bytes for step in steps.values()),
        auc=documents["evaluate"]["metrics"]["roc_auc"],
        heuristic=best,
        heuristic_auc=areas[best],
        test_pairs=trained["test_pairs"],
        top=TOP,
        top_hidden=num_among(np.array(links), hidden, num_nodes),
        heuristics_top_hidden=by_heuristic,
        threads=resolve_threads(None),
    )


def hide_edges(
    graph: Graph, count: int, *, rng: int | np.random.Generator
) -> tuple[Graph, NDArray[np.int32]]:
    """Return the graph without some edges, drawn at random, and these edges.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 8) for v in range(8)])
        >>> seen, hidden = hide_edges(ring, 3, rng=0)
        >>> seen.num_edges, len(hidden)
        (5, 3)
    """
    is_hidden = np.zeros(graph.num_edges, dtype=bool)
    is_hidden[np.random.default_rng(rng).choice(graph.num_edges, count, replace=False)] = True
    return graph.with_edges(~is_hidden), graph.edges()[is_hidden]


def num_among(pairs: NDArray[Any], hidden: NDArray[Any], num_nodes: int) -> int:
    """Return how many pairs are hidden edges."""
    codes = np.sort(edge_codes(hidden, num_nodes, directed=False))
    return int(is_among(edge_codes(pairs, num_nodes, directed=False), codes).sum())


def run_command(module: str, *arguments: str) -> tuple[Step, dict[str, Any]]:
    """Run a module with arguments, and return what it took and the JSON that it printed.

    Raises:
        PGNNError: If it fails; with the last line that it wrote.
    """
    command = [sys.executable, "-m", module, *arguments]
    start = time.perf_counter()
    with TemporaryFile() as written, TemporaryFile() as remarks:
        child = subprocess.Popen(command, stdout=written, stderr=remarks)  # noqa: S603
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            with suppress(OSError):
                child.kill()
            raise
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            remarks.seek(0)
            lines = remarks.read().decode(errors="replace").strip().splitlines()
            shown = lines[-1] if lines else f"exit code {child.returncode}"
            raise PGNNError(f"`pgnn {arguments[0]}` failed: {shown}")
        written.seek(0)
        document: dict[str, Any] = json.loads(written.read())
    scale = 1 if sys.platform == "darwin" else 1024
    step = Step(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * scale)
    return step, document


def top_of_heuristics(graph: Graph, hidden: NDArray[Any]) -> dict[str, int]:
    """Return how many of the `TOP` pairs that each heuristic ranks highest were hidden.

    They choose from the pairs that pgnn-best chooses from.
    """
    from pgnn.evaluation.heuristics import all_heuristics
    from pgnn.prediction.candidates import candidate_pairs
    from pgnn.prediction.ranking import LIMIT_OF_BEST

    candidates = candidate_pairs(graph, limit=LIMIT_OF_BEST)
    scores = all_heuristics(graph, candidates.pairs)
    counts = {}
    for name, each in scores.items():
        best = np.argsort(-each, kind="stable")[:TOP]
        counts[name] = num_among(candidates.pairs[best], hidden, graph.num_nodes)
    return counts


def main() -> None:
    """Print what `top_of_heuristics` gives for a graph file and a file of hidden edges."""
    file, aside = sys.argv[1:]
    graph = read_graph(file)
    ids, ends = id_array(graph), np.load(aside)
    places = np.full(max(int(ids.max()), int(ends.max())) + 1, -1)  # a node may have no edge left
    places[ids] = np.arange(graph.num_nodes)
    hidden = places[ends]
    json.dump(top_of_heuristics(graph, hidden[(hidden >= 0).all(axis=1)]), sys.stdout)


if __name__ == "__main__":
    main()
