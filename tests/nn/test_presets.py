"""The paper's models by name: their settings, sizes, and that they run."""

from __future__ import annotations

import pytest
import torch

from nn.test_layer import GRAPH, SETS
from pgnn import PGNNError, anchor_distances, anchor_ppr
from pgnn.nn import PRESETS, Positions, Preset, make_pgnn

TABLE = {
    "pgnn-f-1l": Preset(1, "hops", 2, "closest"),
    "pgnn-f-2l": Preset(2, "hops", 2, "closest"),
    "pgnn-e-1l": Preset(1, "hops", None, "closest"),
    "pgnn-e-2l": Preset(2, "hops", None, "closest"),
    "pgnn-p-2l": Preset(2, "ppr", None, "mean", gate="vector", c=4.0, eval_draws=8),
}


def test_presets_are_those_of_the_paper():
    assert PRESETS == TABLE


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("variant", ["paper", "released"])
def test_settings_are_as_documented(name, variant):
    model = make_pgnn(name, 3, variant=variant, hidden_channels=8)
    paper = variant == "paper"
    num_layers = TABLE[name].num_layers
    assert len(model.layers) == model.num_layers == num_layers
    assert (model.in_channels, model.hidden_channels, model.dropout) == (3, 8, 0.5)
    assert model.input.weight.shape == (8, 3)
    assert model.normalize is (not paper and num_layers > 1)
    for number, layer in enumerate(model.layers):
        assert layer.message == variant
        gate = TABLE[name].gate or ("none" if paper else "scalar")
        assert (layer.gate is None) == (gate == "none")
        assert (layer.agg_m, layer.agg_s) == (TABLE[name].agg_m, "mean")
        assert layer.sigma == ("tanh" if paper and number == num_layers - 1 else None)
        assert layer.bias is not None
        assert layer.w_bias is not None
        if gate != "none":
            assert layer.gate.hidden.weight.shape == (8, 1)
            assert layer.gate.out.weight.shape == (1 if gate == "scalar" else 8, 8)


@pytest.mark.parametrize(
    ("name", "variant", "in_channels", "expected"),
    [
        ("pgnn-e-2l", "released", 1, 4484),
        ("pgnn-e-2l", "released", 50, 6052),
        ("pgnn-f-2l", "released", 1, 4484),
        ("pgnn-e-1l", "released", 1, 2274),
        ("pgnn-e-2l", "paper", 1, 4290),
    ],
)
def test_number_of_parameters(name, variant, in_channels, expected):
    model = make_pgnn(name, in_channels, variant=variant)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("name", TABLE)
def test_model_runs_on_the_distances_it_reads(name, variant):
    preset = PRESETS[name]
    if preset.proximity == "ppr":
        distances = Positions.from_proximity(anchor_ppr(GRAPH, SETS), SETS).quantised()
    else:
        distances = anchor_distances(GRAPH, SETS, cutoff=preset.cutoff)
    model = make_pgnn(name, 1, variant=variant)
    z = model(torch.ones(10, 1), distances)
    assert z.shape == (10, 5)
    assert z.isfinite().all()
    z.square().sum().backward()
    idle = [key for key, value in model.named_parameters() if value.grad is None]
    assert idle == [key for key in ("layers.0.w", "layers.0.w_bias") if preset.num_layers > 1]


def test_preset_of_ppr_refuses_distances_to_the_nearest():
    with pytest.raises(PGNNError, match="agg_m='mean' needs the distance to every member"):
        make_pgnn("pgnn-p-2l", 1)(torch.ones(10, 1), anchor_distances(GRAPH, SETS))


def test_options_reach_the_model():
    model = make_pgnn("pgnn-e-2l", 2, hidden_channels=6, dropout=0.25)
    assert (model.hidden_channels, model.dropout) == (6, 0.25)


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("pgnn-g-2l", {}, r"name must be one of pgnn-f-1l, .*pgnn-p-2l \(got 'pgnn-g-2l'\)"),
        ("pgnn-e-2l", {"variant": "mine"}, r"variant must be one of paper, released"),
    ],
)
def test_unknown_names_are_refused_with_the_valid_ones(name, options, match):
    with pytest.raises(PGNNError, match=match):
        make_pgnn(name, 1, **options)
