"""Settings of the whole suite."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from cli_helpers import TRAINED_WITH, run_command, write_graph

# The first call of a kernel compiles it, so a deadline for one example would be a test of time.
settings.register_profile("pgnn", deadline=None, print_blob=True)
settings.load_profile("pgnn")


@pytest.fixture(autouse=True)
def _torch_generator_stays() -> Iterator[None]:
    """Give torch's global generator back as it was; tests seed it to draw weights."""
    torch = sys.modules.get("torch")  # tests of the engine do without it
    state = None if torch is None else torch.get_rng_state()
    yield
    if torch is not None:
        torch.set_rng_state(state)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Give a function that runs the command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("PGNN_DATA", raising=False)
    return run_command


@pytest.fixture
def small_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a grid of 30 nodes in the place of the paper's."""
    from pgnn import datasets

    monkeypatch.setattr(datasets, "load", lambda name, **_: [datasets.grid(5, 6)])


@pytest.fixture(scope="session")
def trained_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with edges.csv, nodes.csv and the runs `run` (links) and `teams` (pairs)."""
    folder = tmp_path_factory.mktemp("trained")
    write_graph(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run_command("train", "edges.csv", "--out", "run", *TRAINED_WITH).code == 0
        table = ["--features", "nodes.csv", "--label", "team"]
        pair = ["--task", "pair", "--model", "pgnn-e-2l", "--out", "teams"]
        assert run_command("train", "edges.csv", *table, *pair, *TRAINED_WITH).code == 0
    return folder


@pytest.fixture
def trained(trained_folder: Path, command: Any, tmp_path: Path) -> Path:
    """Give a copy of the trained folder as the working folder of `command`."""
    shutil.copytree(trained_folder, tmp_path, dirs_exist_ok=True)
    return tmp_path
