"""Kill one of two processes at a random moment, resume, and compare the metrics.

Run `python benchmarks/kill_ranks.py`. A graph of 1,000 nodes is trained by 2 processes, with a
checkpoint after every epoch; one of them gets SIGKILL, at any time from its start to where an
undisturbed run ends. The run is resumed by 1, 2 or 3 processes and must end with the metrics of a
run of one process that nobody disturbed. The counts go to results/kill_ranks.json.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from rank_runs import launcher, run, write_graph
from result_files import write_result

import pgnn
from pgnn.training.outcome import versions

# What `-m pgnn` does, which hears signals before it imports anything large.
PROGRAM = """
from pgnn.cli import app

join = app.together


def together():
    from pgnn.training import fit, fit_heads

    fit._CHECKPOINT_SECONDS = fit_heads._CHECKPOINT_SECONDS = -1.0  # after every epoch
    return join()


app.together = together
app.main()
"""
MODELS = {"pgnn-e-2l": ("--epochs", "60"), "pgnn-best": ()}


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    return [int(word) for word in text.split()]


def kill_one(folder: Path, command: list[str], after: float, number: int) -> dict[str, Any]:
    """Start a command as two processes and kill one of them after some seconds."""
    with open(folder / "stderr.txt", "w") as stderr:
        parent = subprocess.Popen(
            [*launcher(2), *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr
        )
        while len(children(parent.pid)) < 2 and parent.poll() is None:
            time.sleep(0.02)
        time.sleep(after)
        workers = children(parent.pid)
        killed = len(workers) == 2
        if killed:
            os.kill(workers[number], signal.SIGKILL)
        began = time.perf_counter()
        code = parent.wait(timeout=120)
    text = (folder / "stderr.txt").read_text()
    return {
        "rank": number,
        "killed": killed and code != 0,
        "seconds_to_end": round(time.perf_counter() - began, 1),
        "lines": sum(line.startswith("pgnn:") for line in text.replace("\r", "\n").splitlines()),
        "traceback_of_ours": f'File "{Path(pgnn.__file__).parent}' in text,
    }


def main() -> None:
    """Kill, resume, compare, and write down the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="kills per model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", choices=MODELS, action="append")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    results: dict[str, Any] = {}
    for model in options.model or MODELS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_graph(folder / "edges.csv", 1000)
            (folder / "program.py").write_text(PROGRAM)
            train = ["program.py", "train", "edges.csv", "--model", model, *MODELS[model]]
            train += ["--quiet", "--json", "--out", "run"]
            alone = run([*launcher(1), *train], folder)
            expected = alone.metrics()
            shutil.rmtree(folder / "run")
            two = run([*launcher(2), *train], folder)
            assert two.metrics() == expected, "two processes differ from one"
            shutil.rmtree(folder / "run")
            tries: list[dict[str, Any]] = []
            while sum(each["killed"] for each in tries) < options.times:
                after = chance.uniform(0.0, two.seconds)
                outcome = kill_one(folder, train, after, chance.randrange(2))
                outcome["kept"] = (folder / "run" / "checkpoint.safetensors").exists()
                size = chance.choice([1, 2, 3])
                resumed = run([*launcher(size), *train, "--resume"], folder)
                outcome |= {
                    "after": round(after, 2),
                    "resumed_by": size,
                    "same": resumed.code == 0 and resumed.metrics() == expected,
                }
                print(model, outcome, flush=True)
                tries.append(outcome)
                shutil.rmtree(folder / "run", ignore_errors=True)
        kills = [each for each in tries if each["killed"]]
        results[model] = {
            "kills": len(kills),
            "same_metrics": sum(each["same"] for each in kills),
            "had_a_checkpoint": sum(each["kept"] for each in kills),
            "one_line": sum(each["lines"] == 1 for each in kills),
            "tracebacks_of_ours": sum(each["traceback_of_ours"] for each in kills),
            "longest_seconds_to_end": max(each["seconds_to_end"] for each in kills),
            "ended_before_the_kill": len(tries) - len(kills),
        }
        print(model, results[model], flush=True)
    document = {
        "command": "python benchmarks/kill_ranks.py",
        "seed": options.seed,
        "versions": versions(),
        "models": results,
    }
    write_result("kill_ranks.json", document)


if __name__ == "__main__":
    main()
