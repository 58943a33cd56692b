"""The benchmark of distances measures what it says, on a graph that is tiny."""

from dataclasses import asdict

import numpy as np
import pytest

from pgnn import PGNNError, anchor_distances, sample_anchor_sets
from pgnn.bench import distances as bench
from pgnn.bench.graphs import grid_graph, weighted_graph


@pytest.fixture
def _tiny(monkeypatch):
    family = bench.Family(lambda: grid_graph(5, 6), repeats=1, scipy_sets=3, released=True)
    monkeypatch.setitem(bench.FAMILIES, "tiny", family)


@pytest.mark.usefixtures("_tiny")
def test_measure_reports_ratios_of_what_it_measured():
    row = bench.measure("tiny", num_threads=1)
    sets = sample_anchor_sets(30, rng=0)
    assert (row.family, row.nodes, row.edges, row.sets) == ("tiny", 30, 49, len(sets))
    assert (row.threads, row.scipy_sets_measured) == (1, 3)
    assert row.ratio == row.scipy_seconds / row.seconds > 0
    assert row.released_ratio == row.released_seconds / row.seconds > 0
    graph = grid_graph(5, 6)
    result = anchor_distances(graph, sets)
    arrays = graph.indptr, graph.indices, result.hops, result.nearest
    assert row.result_and_graph_bytes == sum(array.nbytes for array in arrays) < row.peak_bytes


def test_measure_computes_what_the_family_says(monkeypatch):
    calls = []

    def compute(graph, sets, num_threads):
        calls.append((graph.num_nodes, len(sets), num_threads))
        return np.zeros((3, 5))

    family = bench.Family(
        lambda: weighted_graph(grid_graph(2, 3), rng=0),
        repeats=1,
        scipy_sets=2,
        compute=compute,
        scipy=lambda graph, sets, sampled: float(len(sampled)),
        compile=lambda: None,
        errors=lambda graph, sets, sampled: (1e-7, 2e-7),
    )
    monkeypatch.setitem(bench.FAMILIES, "other", family)
    row = bench.measure("other", num_threads=1)
    assert calls == [(6, row.sets, 1)] * 2
    assert row.scipy_seconds == row.sets
    assert (row.error, row.scipy_error) == (1e-7, 2e-7)
    assert row.result_and_graph_bytes == 3 * 5 * 8 + 7 * 8 + 14 * 4 + 14 * 8


def test_scipy_searches_lengths_of_a_weighted_graph(monkeypatch):
    searched = []
    monkeypatch.setattr(bench, "best_time", lambda call, _: searched.append(call()) or 2.0)
    graph, sets = weighted_graph(grid_graph(3, 3), rng=0), sample_anchor_sets(9, rng=0)
    bench.scipy_time(graph, sets, [1])
    assert searched[0][0].tolist() == anchor_distances(graph, sets).lengths[:, 1].tolist()


def test_scipy_time_is_of_the_sampled_sets_alone(monkeypatch):
    searched = []
    monkeypatch.setattr(bench, "best_time", lambda call, _: searched.append(call()) or 2.0)
    graph, sets = grid_graph(3, 3), sample_anchor_sets(9, rng=0)
    assert bench.scipy_time(graph, sets, np.array([0, 2])) == 4.0
    hops = anchor_distances(graph, sets).hops
    for place, (lengths, *_) in zip((0, 2), searched, strict=True):
        assert lengths.tolist() == hops[:, place].tolist()


def test_run_measures_each_family_in_a_process_of_its_own(monkeypatch):
    row = dict.fromkeys(bench.Row.__dataclass_fields__, 1)
    calls = []
    monkeypatch.setattr(bench, "in_child", lambda *words: calls.append(words) or row)
    assert [asdict(found) for found in bench.run(["grid", "random"], 2)] == [row, row]
    assert calls == [("pgnn.bench.distances", "grid", 2), ("pgnn.bench.distances", "random", 2)]
    calls.clear()
    list(bench.run())
    assert [words[1:] for words in calls] == [(name, "") for name in bench.FAMILIES]


def test_run_refuses_a_family_it_does_not_have():
    with pytest.raises(PGNNError, match="unknown family 'ring'; there are random-3000, random"):
        list(bench.run(["grid", "ring"]))
