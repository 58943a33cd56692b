"""Whether `--memory` is kept: what was said, what was used, and whether results are the same.

Each command runs three times on a random graph: without a limit, with what it used as the limit,
and with half of that. What it used is the peak of its resident memory, as the system counts it: its
libraries and pages of mapped files are part of it, child processes and the cache of the system are
not. A limit that is refused is given in the words of the command.

Results of other graphs and models stay in the file.

Run: python benchmarks/memory_kept.py [--nodes 50000] [--sets 1000] [--model pgnn-e-2l] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

SEED = 0
EDGES_PER_NODE = 5
SHARES = (1.0, 0.5)  # of what the command used without a limit
PASSING = ("seconds", "run", "versions", "file")  # what may differ between two runs


@dataclass(frozen=True)
class Run:
    """One run of a command."""

    command: str
    share: float | None
    said_mb: float | None
    used_mb: float
    ratio: float | None
    cpu_seconds: float
    cpu_ratio: float | None
    same: bool | None
    line: str = ""


@dataclass(frozen=True)
class Measured:
    """What a process used and answered."""

    peak: float
    seconds: float
    answer: object
    line: str


def write_graph(path: Path, num_nodes: int) -> None:
    """Write a random graph whose nodes mostly know others nearby."""
    rng = random.Random(SEED)
    with open(path, "w") as file:
        file.write("source,target\n")
        for _ in range(EDGES_PER_NODE * num_nodes):
            u = rng.randrange(num_nodes)
            v = (u + 1 + int(rng.paretovariate(0.6))) % num_nodes
            file.write(f"{u},{v}\n")


def measure(folder: Path, arguments: list[str], written: str | None) -> Measured:
    """Run a command; its peak, its processor time, and what it printed and wrote."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pgnn", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = process.stdout, process.stderr
    assert out is not None
    assert err is not None
    printed, said = out.read(), err.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if process.returncode:
        line = said.strip().splitlines()[-1] if said.strip() else f"exit {process.returncode}"
        return Measured(usage.ru_maxrss * 1024, seconds, None, line)
    document = {k: v for k, v in json.loads(printed).items() if k not in PASSING}
    digest = None
    if written is not None:
        import hashlib

        digest = hashlib.sha256((folder / written).read_bytes()).hexdigest()
    return Measured(usage.ru_maxrss * 1024, seconds, (document, digest), "")


def commands(num_sets: int, model: str) -> dict[str, tuple[list[str], str | None]]:
    """Return what is typed for each command, and the file that it writes."""
    few = ["--epochs", "1", "--sets", str(num_sets), "--model", model, "--seed", str(SEED)]
    return {
        "train": (["train", "graph.csv", "--out", "run", "--json", *few], "run/model.safetensors"),
        "evaluate": (["evaluate", "run", "graph.csv", "--json"], None),
        **{
            f"embed {suffix}": (
                ["embed", "run", "graph.csv", "-o", f"z.{suffix}", "--json"],
                f"z.{suffix}",
            )
            for suffix in ("npz", "parquet", "csv")
        },
        "predict": (["predict", "run", "graph.csv", "--top", "100", "--json"], None),
    }


def main() -> None:
    """Measure all commands; write results after each, so that what was measured is kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--model", default="pgnn-e-2l")
    parser.add_argument("--out", type=Path, default=Path("results/memory_kept.json"))
    options = parser.parse_args()
    whole = json.loads(options.out.read_text()) if options.out.exists() else {"graphs": []}
    setting = {"nodes": options.nodes, "sets": options.sets, "model": options.model}
    others = [
        graph for graph in whole["graphs"] if any(graph[name] != setting[name] for name in setting)
    ]
    document: dict[str, object] = {
        "command": f"python benchmarks/memory_kept.py --nodes {options.nodes} "
        f"--sets {options.sets} --model {options.model}",
        "seed": SEED,
        **setting,
        "edges": EDGES_PER_NODE * options.nodes,
        "versions": {name: version(name) for name in ("numpy", "torch", "numba", "polars")},
    }
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_graph(folder / "graph.csv", options.nodes)
        for command, (typed, written) in commands(options.sets, options.model).items():
            free = measure(folder, typed, written)
            runs.append(Run(command, None, None, free.peak / 1e6, None, free.seconds, None, None))
            report(runs[-1])
            for share in SHARES:
                if command == "train":
                    (folder / "run").rename(folder / f"run-{len(runs)}")
                said = f"{free.peak * share / 1e6:.0f}MB"
                kept = measure(folder, [*typed, "--memory", said], written)
                ratio = kept.peak / (free.peak * share)
                same = None if kept.line else kept.answer == free.answer
                runs.append(
                    Run(
                        command,
                        share,
                        free.peak * share / 1e6,
                        kept.peak / 1e6,
                        ratio,
                        kept.seconds,
                        kept.seconds / free.seconds,
                        same,
                        kept.line,
                    )
                )
                report(runs[-1])
            document["runs"] = [asdict(run) for run in runs]
            whole["graphs"] = [*others, document]
            options.out.write_text(json.dumps(whole, indent=2) + "\n")


def report(run: Run) -> None:
    """Print one run."""
    if run.share is None:
        print(f"{run.command:<13} no limit: {run.used_mb:6.0f} MB, {run.cpu_seconds:6.1f} s")
    elif run.line:
        print(f"{run.command:<13} {run.said_mb:6.0f} MB said: {run.line}")
    else:
        print(
            f"{run.command:<13} {run.said_mb:6.0f} MB said, {run.used_mb:6.0f} used: "
            f"{run.ratio:.2f}; same={run.same}; {run.cpu_ratio:.2f}x the processor time"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
