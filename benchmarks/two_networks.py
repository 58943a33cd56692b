"""Two processes in two networks: one machine, two network namespaces, joined by one cable.

Run `python benchmarks/two_networks.py` as root on Linux with iproute2. Each process is started by a
torchrun of its own, as on a machine of its own, and reaches the other by an address of the range
for documentation. Training must give the metrics of one process. The networks are removed at the
end, and results/two_networks.json says what was compared.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rank_runs import launcher, run, write_graph
from result_files import write_result

from pgnn.training.outcome import versions

NAMES = (f"pgnn-a-{os.getpid()}", f"pgnn-b-{os.getpid()}")
ADDRESSES = ("192.0.2.1", "192.0.2.2")
MODELS = {"pgnn-best": (), "pgnn-e-2l": ("--epochs", "30")}


def ip(*words: str) -> None:
    """Call iproute2."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def two_networks() -> Iterator[None]:
    """Make two network namespaces with a cable between them, and remove them at the end."""
    made = []
    try:
        for name in NAMES:
            ip("netns", "add", name)
            made.append(name)
        ends = [f"pgnn{number}-{os.getpid() % 10_000}" for number in range(2)]
        ip("link", "add", ends[0], "netns", NAMES[0], "type", "veth",
           "peer", "name", ends[1], "netns", NAMES[1])  # fmt: skip
        for name, end, address in zip(NAMES, ends, ADDRESSES, strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


def in_two_networks(folder: Path, train: list[str]) -> tuple[dict[str, Any], int]:
    """Start one process in each network; return the metrics, and how many printed something."""
    processes = []
    for number, name in enumerate(NAMES):
        inside = ["ip", "netns", "exec", name, sys.executable, "-m", "torch.distributed.run"]
        where = ["--nnodes", "2", "--node-rank", str(number), "--nproc-per-node", "1"]
        where += ["--master-addr", ADDRESSES[0], "--master-port", "29600"]
        ends = [f"pgnn{each}-{os.getpid() % 10_000}" for each in range(2)]
        processes.append(
            subprocess.Popen(
                [*inside, *where, *train],
                cwd=folder,
                env={**os.environ, "GLOO_SOCKET_IFNAME": ends[number]},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    outputs = [process.communicate(timeout=280) for process in processes]
    for process, (_, stderr) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, stderr
    printed = [json.loads(stdout) for stdout, _ in outputs if stdout.strip()]
    return printed[0], len(printed)


def main() -> None:
    """Train in both ways, compare, and write down."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, two_networks():
        folder = Path(name)
        write_graph(folder / "edges.csv", 1000)
        for model, more in MODELS.items():
            train = ["-m", "pgnn", "train", "edges.csv", "--model", model, *more, "--threads", "1"]
            train += ["--quiet", "--json", "--out", "run"]
            expected = run([*launcher(1), *train], folder).metrics()
            model_file = (folder / "run" / "model.safetensors").read_bytes()
            shutil.rmtree(folder / "run")
            document, speakers = in_two_networks(folder, train)
            results[model] = {
                "same_metrics": all(document[key] == value for key, value in expected.items()),
                "same_model_file": (folder / "run" / "model.safetensors").read_bytes()
                == model_file,
                "processes_that_printed": speakers,
                "test_auc": document["test_auc"],
            }
            shutil.rmtree(folder / "run")
            print(model, results[model], flush=True)
    write_result(
        "two_networks.json",
        {
            "command": "python benchmarks/two_networks.py",
            "seed": 0,
            "versions": versions(),
            "models": results,
        },
    )


if __name__ == "__main__":
    main()
