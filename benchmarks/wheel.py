"""Install the wheel into an empty environment, and try every command there.

Run `python benchmarks/wheel.py [--python python3.12]`. It builds the wheel, makes a virtual
environment without development tools, installs the wheel with the versions of constraints.txt, and
runs each command on a small file of edges. A command has to work, or to name the extra that it
needs. What happened goes to results/wheel.json, one entry per version of Python.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "wheel.json"
COMMANDS = (
    "--version",
    "--help",
    "datasets",
    "train edges.csv --out run --json",
    "train edges.csv --out walks --model pgnn-e-2l --epochs 5 --json",
    "predict run edges.csv --top 5 --why",
    "explain run edges.csv n0 n7",
    "evaluate run edges.csv --json",
    "embed run edges.csv -o z.parquet",
    "embed run edges.csv -o z.csv",
    "report run -o report.html",
    "train grid --task link --model gcn --epochs 5 --json",
    "train edges.csv --out watched --model gcn --epochs 2 --tensorboard logs",
    "reproduce grid --protocol paper --runs 1 --model gcn --out results",
    "report results -o results.html",
    "bench layer --nodes 400 --json",
)


@dataclass(frozen=True)
class Trial:
    """One command: whether it worked or named an extra, and how it ended."""

    command: str
    outcome: str
    seconds: float
    last_line: str


def edges() -> str:
    """Return a ring of cliques, with ids that are words."""
    pairs = [(8 * ring + a, 8 * ring + b) for ring in range(12) for a in range(8) for b in range(a)]
    pairs += [(8 * ring, (8 * ring + 9) % 96) for ring in range(12)]
    return "source,target\n" + "".join(f"n{u},n{v}\n" for u, v in pairs)


def run(words: list[str], folder: Path) -> tuple[int, str]:
    """Run a program in a folder; returns its exit code and all it said."""
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def install(python: str, folder: Path) -> Path:
    """Build the wheel, install it into a new environment, and return that environment's folder."""
    environment = folder / "environment"
    pip = [str(environment / "bin" / "python"), "-m", "pip"]
    limits = ["--quiet", "--constraint", str(ROOT / "constraints.txt")]
    steps = [
        [python, "-m", "venv", str(environment)],
        [*pip, "wheel", str(ROOT), "--no-deps", "--quiet", "--wheel-dir", str(folder)],
        [*pip, "install", *limits, "WHEEL"],
    ]
    for step in steps:
        wheel = next(iter(folder.glob("*.whl")), None)
        code, said = run([str(wheel) if word == "WHEEL" else word for word in step], folder)
        if code:
            raise SystemExit(f"{' '.join(step[:6])} ... failed:\n{said}")
    return environment


def attempt(environment: Path, command: str, folder: Path) -> Trial:
    """Run one command of the installed wheel."""
    start = time.perf_counter()
    code, said = run([str(environment / "bin" / "pgnn"), *command.split()], folder)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    named = re.search(r"position-gnn\[(\w+)\]", said)
    outcome = "worked" if code == 0 else f"needs {named[1]}" if named else f"failed, code {code}"
    return Trial(command, outcome, round(time.perf_counter() - start, 1), last[-160:])


def main() -> int:
    """Try all commands and write what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable)
    python = parser.parse_args().python
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = install(python, folder)
        (folder / "edges.csv").write_text(edges())
        trials = []
        for command in COMMANDS:
            trials.append(attempt(environment, command, folder))
            print(
                f"{trials[-1].outcome:16} {trials[-1].seconds:6.1f} s  pgnn {command}", flush=True
            )
        version = run([str(environment / "bin" / "python"), "--version"], folder)[1].split()[1]
        installed = run([str(environment / "bin" / "pgnn"), "--version"], folder)[1].strip()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results["command"] = "python benchmarks/wheel.py --python PYTHON"
    results[f"Python {version}"] = {
        "version": installed,
        "trials": [{**asdict(trial), "last_line": _plain(trial.last_line)} for trial in trials],
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    return int(any(trial.outcome.startswith("failed") for trial in trials))


def _plain(line: str) -> str:
    """Return a line without folders of this machine."""
    return re.sub(r"(/[\w.-]+)+/", ".../", line)


if __name__ == "__main__":
    sys.exit(main())
