import pytest

from pgnn import PGNNError
from pgnn.bench import pairs as bench
from pgnn.bench.graphs import grid_graph


def test_measure_reports_time_and_memory_of_all_columns(monkeypatch):
    family = bench.Family(lambda: grid_graph(5, 6), pairs=40, repeats=1, networkx_pairs=10)
    monkeypatch.setitem(bench.FAMILIES, "tiny", family)
    row = bench.measure("tiny")
    assert (row.pairs, row.columns, row.networkx_pairs_measured) == (40, 32, 10)
    assert row.ratio == row.networkx_seconds / row.seconds > 0
    assert row.estimated == ""


def test_random_pairs_are_of_different_nodes():
    pairs = bench.random_pairs(grid_graph(2, 2), 1000)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert set(map(tuple, pairs.tolist())) == {(u, v) for u in range(4) for v in range(4) if u != v}


def test_run_refuses_a_family_it_does_not_have():
    with pytest.raises(PGNNError, match="unknown family 'ring'; there are random-3000, grid"):
        list(bench.run(["ring"]))
