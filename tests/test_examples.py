"""The examples run, and show what they say they show."""

import runpy
from pathlib import Path

import numpy as np
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


def run(name, **arguments):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](**arguments)


@pytest.mark.usefixtures("one_thread")
def test_link_prediction_finds_what_was_left_out(capsys):
    found = run("link_prediction", epochs=15)
    printed = capsys.readouterr().out
    assert found["test_auc"] > 0.85
    assert found["right"] > 20 * found["guess"]
    assert f"{found['test_auc']:.1%}" in printed
    assert printed.count("left out of the file") == round(20 * found["right"])


@pytest.mark.usefixtures("one_thread")
def test_communities_finds_them_in_a_graph_never_seen(capsys):
    found = run("communities", epochs=15)
    printed = capsys.readouterr().out
    assert found["test_auc"] > 0.85
    assert found["agreement"] > 0.5
    assert found["similar"] > 0.5
    assert f"adjusted Rand index {found['agreement']:.3f}" in printed
    assert printed.count("  cluster ") == 5


@pytest.mark.usefixtures("one_thread")
def test_new_graph_predicts_on_another_size(capsys):
    found = run("new_graph", epochs=15)
    printed = capsys.readouterr().out
    assert found["test_auc"] > 0.8
    assert found["right"] > 20 * found["guess"]
    assert "embedding of shape (600," in printed
    assert f"AUC {found['test_auc']:.3f}" in printed


def test_tour_shows_distances_and_their_distortion(capsys):
    tour = runpy.run_path(str(EXAMPLES / "tour.py"))
    tour["show_positions"]()
    tour["show_bourgain"]()
    printed = capsys.readouterr().out
    assert printed.count(" o") > 1
    assert "top left  [36, 14," in printed
    assert "log2 n = 10.0" in printed


def test_tour_writes_only_every_fifth_of_large_distances():
    tour = runpy.run_path(str(EXAMPLES / "tour.py"))
    near, far = np.arange(616) % 9, np.arange(616) % 20
    for hops, written in ((near, {"0", "1", "8"}), (far, {"0", "5", "15"})):
        text = tour["picture"](hops, np.array([3])).plain
        assert written < set(text.split())
        assert text.count("o") == 1
    assert "7" not in text
