"""The examples run, and show what they say they show."""

import runpy
from pathlib import Path

import pytest
import torch

EXAMPLES = Path(__file__).parents[1] / "examples"
GRAPHS = ("20 cliques of 8", "grid 16 x 16")


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # graphs this small only lose time by sharing
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_pyg_model_finds_links_by_position(capsys):
    main = runpy.run_path(str(EXAMPLES / "pyg_model.py"))["main"]
    found = main(epochs=3)
    printed = capsys.readouterr().out
    for graph in GRAPHS:
        assert graph in printed
        without = found[f"{graph}: SAGE, after"]
        assert f"{without:.3f}" in printed
        assert found[f"{graph}: SAGE + PGNNLayer, after"] > without + 0.1
    assert len(found) == 8
    assert all(0 <= value <= 1 for value in found.values())
    assert main(epochs=3) == pytest.approx(found)
