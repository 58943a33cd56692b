import pytest

from pgnn import PGNNError
from pgnn.bench import train as bench
from pgnn.bench.graphs import grid_graph, random_graph


@pytest.mark.parametrize("graph", [grid_graph(5, 6), random_graph(40, 200, rng=0)])
def test_both_ways_of_training_have_the_same_losses(graph):
    """The comparison is fair only if both learn the same."""
    split = bench.make_split(graph)
    ours, _ = bench.ours_run(split, 8)
    theirs, _, _ = bench.released_run(split, 8)
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert ours[-1] < ours[0]


def test_measure_reports_the_ratio_of_what_it_measured(monkeypatch):
    monkeypatch.setitem(bench.DATA, "tiny", bench.Data(lambda: grid_graph(3, 4), 2))
    row = bench.measure("tiny")
    assert (row.dataset, row.epochs, row.nodes, row.edges) == ("tiny", 2, 12, 17)
    assert row.ratio == pytest.approx(row.released_seconds / row.seconds)
    assert row.loss_difference < 1e-4


def test_run_refuses_data_it_does_not_have():
    with pytest.raises(PGNNError, match="no data 'moon'; there are grid, ppi-sized"):
        list(bench.run(["moon"]))
