import pytest
import torch

from pgnn import PGNNError, anchor_distances
from pgnn.bench import layer as bench
from pgnn.bench.graphs import grid_graph
from pgnn.nn import PGNNLayer, Positions


def test_released_layer_is_our_layer_with_the_same_weights():
    """The comparison is fair only if both compute the same numbers."""
    d = anchor_distances(grid_graph(4, 5), [[0], [3, 7, 19], [11]])
    positions = Positions.from_distances(d).to(dtype=torch.float32)
    theirs = bench.ReleasedLayer()
    ours = PGNNLayer(bench.CHANNELS, bench.CHANNELS, message="released", gate="scalar")
    hidden = theirs.hidden.weight
    with torch.no_grad():
        ours.weight.copy_(torch.stack([hidden[:, bench.CHANNELS :], hidden[:, : bench.CHANNELS]]))
        ours.bias.copy_(theirs.hidden.bias)
        ours.w.copy_(theirs.out.weight[0])
        ours.w_bias.copy_(theirs.out.bias[0])
        ours.gate.hidden.load_state_dict(theirs.gate[0].state_dict())
        ours.gate.out.load_state_dict(theirs.gate[2].state_dict())
    x = torch.randn(20, bench.CHANNELS, generator=torch.Generator().manual_seed(0))
    proximity = 1 / (torch.from_numpy(d.hops.copy()).float() + 1)
    expected = theirs(x, proximity, torch.from_numpy(d.nearest.copy()).long())
    torch.testing.assert_close(ours(x, positions), expected, rtol=1e-5, atol=1e-5)


def test_measure_reports_time_and_memory_of_a_way(monkeypatch):
    monkeypatch.setitem(bench.SIZES, 50, bench.Size(fused=1, eager=1, released=1))
    for way in ("fused", "eager", "released"):
        row = bench.measure(50, way)
        assert row["sets"] == 25
        assert row["seconds"] > 0
        assert row["process_bytes"] > row["peak_bytes"] >= 0


def test_run_refuses_a_size_it_does_not_have():
    with pytest.raises(PGNNError, match="no size of 7 nodes; there are 400, 3000, 20000, 200000"):
        list(bench.run([7]))
