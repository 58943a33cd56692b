"""`pgnn bench scale`: what is hidden, what is counted, and one small run of the real commands."""

import sys

import numpy as np
import pytest

from pgnn import Graph, PGNNError
from pgnn.bench import scale


def test_a_small_graph_goes_through_all_commands(monkeypatch):
    monkeypatch.setattr(scale, "_FEWEST_NODES", 200)
    said = []
    (row,) = scale.run([200], warm_up=None, say=said.append)
    assert (row.nodes, row.edges, row.hidden, row.top) == (200, 2000, 200, 100)
    assert row.test_pairs == 400
    assert row.seconds == sum(s.seconds for s in (row.train, row.evaluate, row.predict)) > 0
    assert row.peak_bytes >= row.predict.peak_bytes > 10**7
    assert 0.5 < row.auc <= 1
    assert 0.5 < row.heuristic_auc <= 1
    assert 0 <= row.top_hidden <= 100
    assert row.best_top[1] == max(row.heuristics_top_hidden.values()) > 0
    steps = ("drawing the graph", "train", "evaluate", "predict", "heuristics")
    assert said == [f"200 nodes: {step}" for step in steps]


def test_hidden_edges_and_the_others_are_all_edges():
    graph = Graph.from_edges([(v, (v + 1) % 30) for v in range(30)])
    seen, hidden = scale.hide_edges(graph, 7, rng=0)
    together = np.concatenate([seen.edges(), hidden])
    assert Graph.from_edges(together) == graph
    assert (seen.num_edges, len(hidden)) == (23, 7)


def test_pairs_among_the_hidden_are_counted_either_way_round():
    hidden = np.array([(0, 1), (4, 2)])
    assert scale.num_among(np.array([(1, 0), (2, 4), (0, 2), (3, 4)]), hidden, 5) == 2


def test_top_of_heuristics_counts_what_each_ranks_highest(monkeypatch):
    monkeypatch.setattr(scale, "TOP", 2)
    square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)])
    counts = scale.top_of_heuristics(square, np.array([(0, 2), (1, 3)]))
    assert counts["common neighbours"] == 2


def test_sizes_too_small_are_refused_and_failing_commands_are_named():
    with pytest.raises(PGNNError, match="at least 1000"):
        next(scale.run([10]))
    with pytest.raises(PGNNError, match=r"`pgnn train` failed: .*there is no such file"):
        scale.run_command("pgnn", "train", "nowhere.csv", "--json")


def test_command_that_cannot_start_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(OSError, match="nowhere"):
        scale.run_command("pgnn", "--version")
