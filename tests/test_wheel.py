"""The wheel holds the package and nothing else, and is of use without development tools.

`benchmarks/wheel.py` installs it into an empty environment and tries every command there, which
takes minutes. These tests unpack it and run what needs no compiled kernel.
"""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import typer

import pgnn
from pgnn.cli.app import app

ROOT = Path(__file__).parents[1]
# What only developers and extras install; a command without them works or names the extra.
ABSENT = ("matplotlib", "tensorboard", "hypothesis", "pytest", "mkdocs", "mypy", "selenium")
WITHOUT_TOOLS = f"import sys; sys.modules.update(dict.fromkeys({ABSENT}))"
HELP_OF_ALL = """
import sys
from typer.main import get_command
from pgnn.cli.app import app

for name in sys.argv[1:]:
    get_command(app)([name, "--help"], prog_name="pgnn", standalone_mode=False)
"""
SCRIPT = """
import numpy as np
import torch

import pgnn

graph = pgnn.Graph.from_edges([(0, 1), (1, 2), (2, 3)], x=np.ones((4, 2), dtype=np.float32))
sets = pgnn.sample_anchor_sets(graph.num_nodes, num_sets=4, rng=0)
distances: pgnn.AnchorDistances = pgnn.anchor_distances(graph, sets)
model = pgnn.nn.PGNN(2, hidden_channels=8)
z: torch.Tensor = model(torch.ones(4, 2), distances)
embedding = pgnn.PGNNEmbedding(task="link").fit_transform(graph)
wrong: int = pgnn.sample_anchor_sets(4, rng=0)
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Build the wheel and unpack it as an installer would."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == f"position_gnn-{pgnn.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    (folder / "site" / "sitecustomize.py").write_text(WITHOUT_TOOLS)
    return folder / "site"


def python_in(site, folder, *words):
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
    )


def test_wheel_holds_the_package_its_types_and_its_pages(unpacked):
    names = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "pgnn").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"pgnn/py.typed", "pgnn/report/run.html.j2", "pgnn/report/graph.js"} <= source
    assert source <= names
    others = {name.split("/")[0] for name in names} - {"pgnn", "sitecustomize.py"}
    assert others == {f"position_gnn-{pgnn.__version__}.dist-info"}


def test_every_command_was_tried_on_every_python_of_the_classifiers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: "
    pythons = {name.removeprefix(prefix).replace(" :: ", " ") for name in project["classifiers"]}
    tried = json.loads((ROOT / "results" / "wheel.json").read_text())
    trials = {
        name.rpartition(".")[0]: tried[name]["trials"] for name in tried if name[-1:].isdigit()
    }
    assert set(trials) == {name for name in pythons if name.startswith("Python ")}
    for name, outcomes in trials.items():
        failed = [trial["command"] for trial in outcomes if trial["outcome"].startswith("failed")]
        assert outcomes, name
        assert not failed, name


def test_wheel_is_what_runs_and_tools_are_absent(unpacked, tmp_path):
    script = "import pgnn; print(pgnn.__file__); import matplotlib"
    ended = python_in(unpacked, tmp_path, "-c", script)
    assert Path(ended.stdout.strip()).parents[1] == unpacked
    assert "import of matplotlib halted" in ended.stderr


def test_every_command_of_the_wheel_explains_itself(unpacked, tmp_path):
    names = sorted(typer.main.get_command(app).commands)
    said = python_in(unpacked, tmp_path, "-c", HELP_OF_ALL, *names).stdout
    assert len(names) > 8
    for name in names:
        assert f"Usage: pgnn {name}" in said


def test_wheel_names_the_extra_that_a_command_needs(unpacked, tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,d\nd,a\na,c\n")
    words = ("train", "edges.csv", "--model", "gcn", "--out", "run", "--tensorboard", "logs")
    ended = python_in(unpacked, tmp_path, "-m", "pgnn", *words)
    assert ended.returncode == 2
    assert "position-gnn[tensorboard]" in ended.stderr


def test_types_of_the_wheel_reach_a_users_script(unpacked, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", "script.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(unpacked)},
        capture_output=True,
        text=True,
    )
    wrong = [line for line in ended.stdout.splitlines() if line.startswith("script.py")]
    place = f"script.py:{len(SCRIPT.splitlines())}: error: Incompatible types in assignment"
    assert [line[: len(place)] for line in wrong] == [place], ended.stdout + ended.stderr
