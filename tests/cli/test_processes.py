"""Commands under torchrun: one answer, the same as that of one process, and one line of failure."""

import json
import os
import subprocess
import sys

import pytest

import pgnn
from cli_helpers import community_edges, run_command
from pgnn.cli import processes
from pgnn.cli.processes import are_several, is_first, own_device, together
from pgnn.distributed.launch import Launch

COMMANDS = """
import sys
from pgnn.cli.app import main

for line in open(sys.argv[1]):
    sys.argv = ["pgnn", *line.split()]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
"""


def torchrun(folder, size, *commands, script=COMMANDS):
    """Run commands one after the other in each of several processes; what they printed."""
    (folder / "commands.py").write_text(script)
    (folder / "commands.txt").write_text("\n".join(" ".join(map(str, each)) for each in commands))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    return subprocess.run(
        [*launcher, "--nproc-per-node", str(size), "commands.py", "commands.txt"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
    )


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("\n".join(f"{u},{v}" for u, v in community_edges(groups=5, size=12)))
    return path


def without_clock(document):
    return {k: v for k, v in document.items() if k not in ("seconds", "run", "file")}


def documents(text):
    """The JSON documents that stand one behind the other in a text."""
    decoder, found = json.JSONDecoder(), []
    text = text.strip()
    while text:
        document, stop = decoder.raw_decode(text)
        found.append(document)
        text = text[stop:].strip()
    return found


def test_several_processes_give_what_one_gives(tmp_path, edges):
    few = ("--epochs", 3, "--quiet", "--json")

    def commands(folder):
        return [
            ("train", edges, "--out", folder / "best", *few),
            ("train", edges, "--out", folder / "layers", "--model", "pgnn-e-2l", *few),
            ("evaluate", folder / "best", edges, "--quiet", "--json"),
            ("embed", folder / "layers", edges, "-o", folder / "z.npz", "--quiet", "--json"),
            ("predict", folder / "best", edges, "--top", 3, "--quiet", "--json"),
        ]

    places = {size: tmp_path / str(size) for size in (1, 2)}
    for place in places.values():
        place.mkdir()
    alone = [json.loads(run_command(*each).stdout) for each in commands(places[1])]
    finished = torchrun(places[2], 2, *commands(places[2]))
    assert finished.returncode == 0, finished.stderr
    together = documents(finished.stdout)
    assert [without_clock(each) for each in together] == [without_clock(each) for each in alone]
    for name in ("best/model.safetensors", "layers/model.safetensors", "z.npz"):
        assert (places[2] / name).read_bytes() == (places[1] / name).read_bytes(), name


def test_a_mistake_is_said_once(tmp_path):
    finished = torchrun(tmp_path, 2, ("train", "nowhere.csv", "--out", "run"))
    lines = [line for line in finished.stderr.splitlines() if line.startswith("pgnn:")]
    assert finished.returncode != 0
    assert len(lines) == 1
    assert "nowhere.csv: there is no such file" in lines[0]


def test_a_command_alone_is_the_first_and_only_process(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with together():
        assert is_first()
        assert not are_several()
        assert own_device("cuda") == "cuda"


def launched(monkeypatch, rank, size=2):
    numbers = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": size}
    for name, value in {**numbers, "MASTER_ADDR": "localhost", "MASTER_PORT": 1}.items():
        monkeypatch.setenv(name, str(value))


def test_other_processes_than_the_first_are_silent(monkeypatch, capsys):
    launched(monkeypatch, 1)
    with together():
        print("not heard")
        print("nor this", file=sys.stderr)
        assert are_several()
        assert not is_first()
        assert own_device("cuda") == "cuda:1"
        assert own_device("cpu") == "cpu"
    print("heard")
    assert capsys.readouterr() == ("heard\n", "")


def test_commands_whose_work_is_not_shared_are_refused(monkeypatch):
    launched(monkeypatch, 0)
    with together(), pytest.raises(ValueError, match="run `pgnn report` without it"):
        processes.check_shared("report")


@pytest.mark.parametrize(
    ("typed", "threads"), [(None, "share"), ("1", "share"), ("3", 3), ("many", "share")]
)
def test_threads_are_the_share_of_the_cores_unless_said(monkeypatch, typed, threads):
    if typed is None:
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("OMP_NUM_THREADS", typed)
    monkeypatch.setattr(processes, "num_cores", lambda: 8)
    share = processes._share_of_cores(Launch(0, 4, 0, 4, 0))
    assert share == (2 if threads == "share" else threads)


def test_resuming_is_said_as_it_was_begun(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with together():
        assert processes.resuming("run") == "`pgnn train --resume --out run`"
    launched(monkeypatch, 0)
    with together():
        assert processes.resuming("run") == "`torchrun ... -m pgnn train --resume --out run`"


def test_different_graphs_are_told_apart_before_work_begins(monkeypatch):
    class Pretended:
        def __init__(self, same):
            self.same = same

        def all_equal(self, data):
            assert len(data) == 32
            return self.same

    graph = pgnn.Graph.from_edges([(0, 1)])
    monkeypatch.setattr(processes._processes, "group", Pretended(True))
    processes.check_same_graph(graph)
    monkeypatch.setattr(processes._processes, "group", Pretended(False))
    with pytest.raises(pgnn.PGNNError, match="have read different graphs"):
        processes.check_same_graph(graph)
