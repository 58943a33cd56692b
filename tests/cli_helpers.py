"""The command run in this process, and small graphs for it."""

import contextlib
import io
import json
import random
import struct
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

FEW = ("--epochs", 2, "--sets", 6)
TRAINED_WITH = (*FEW, "--quiet")


@dataclass
class Done:
    code: int
    stdout: str
    stderr: str


def run_command(*arguments):
    """Run the command in this process; what it printed, its exit code, torch's threads put back.

    A subprocess would take seconds to load torch. What would be a traceback there is one here too.
    One thread, unless the command is told otherwise: for graphs as small as these it is faster.
    """
    import torch

    from pgnn.cli.app import main

    out, err = io.StringIO(), io.StringIO()
    typed, threads = sys.argv, torch.get_num_threads()
    torch.set_num_threads(1)
    sys.argv = ["pgnn", *map(str, arguments)]
    code = 1
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code or 0
    except Exception:
        err.write(traceback.format_exc())
    finally:
        sys.argv = typed
        torch.set_num_threads(threads)
    return Done(code, out.getvalue(), err.getvalue())


def community_edges(*, groups=3, size=8, seed=0):
    """Return edges between 0, 1, ... of a few groups that are joined in a row."""
    chance = random.Random(seed)
    edges = [(group * size, (group + 1) * size) for group in range(groups - 1)]
    for group in range(groups):
        nodes = range(group * size, (group + 1) * size)
        edges += [(u, v) for u in nodes for v in nodes if u < v and chance.random() < 0.6]
    return edges


def write_table(path, rows, header=None):
    """Write rows as comma-separated text."""
    lines = [",".join(map(str, row)) for row in ([header] if header else []) + list(rows)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_graph(folder, name="edges.csv"):
    """Write a graph of 24 nodes n0, n1, ... and a table of their features and groups."""
    edges = community_edges()
    write_table(folder / name, [(f"n{u}", f"n{v}") for u, v in edges], ("source", "target"))
    nodes = [(f"n{v}", v / 24, v % 3, "abc"[v // 8]) for v in range(24)]
    write_table(folder / "nodes.csv", nodes, ("id", "size", "kind", "team"))


def outcome(run):
    """Return what a run directory says, without what two equal runs may differ in.

    That is the time it took, and the order of the words in the header of model.safetensors.
    """
    metrics = json.loads((run / "metrics.json").read_text())
    del metrics["seconds"], metrics["sha256"]
    data = (run / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, weights = json.loads(data[8 : 8 + length]), data[8 + length :]
    return metrics, header, weights, (run / "history.csv").read_text()


def document(done):
    """Return the one JSON document that a command printed."""
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)


def metrics_of(folder, *, without=("seconds",)):
    """Return the metrics that a run directory keeps, without those of some names."""
    metrics = json.loads((folder / "metrics.json").read_text())
    return {name: value for name, value in metrics.items() if name not in without}


def listing(folder):
    """Return what is in a folder, with the bytes of its files."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }
