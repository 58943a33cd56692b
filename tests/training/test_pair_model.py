"""What pgnn-best learns: fresh weights follow the seed alone, and one state holds everything."""

import numpy as np
import pytest
import torch

from pgnn.evaluation.calibration import Calibration
from pgnn.training.column_scale import ColumnScale
from pgnn.training.pair_model import MEMBERS, make_pair_model
from pgnn.training.recipe import Recipe


def fresh(num_features=3, around=False, **settings):
    return make_pair_model(
        Recipe(**{"hidden_channels": 8, **settings}), num_features, "any", around=around
    )


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_fresh_weights_follow_the_seed_and_leave_torchs_own_generator_alone():
    before = torch.get_rng_state()
    assert torch.equal(weights(fresh(seed=1)), weights(fresh(seed=1)))
    assert not torch.equal(weights(fresh(seed=1)), weights(fresh(seed=2)))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("settings", "around", "inputs"),
    [({"task": "link"}, False, 3), ({"task": "pair"}, False, 6), ({"task": "link"}, True, 3)],
)
def test_a_model_reads_the_features_of_its_task(settings, around, inputs):
    model = fresh(around=around, **settings)
    x = torch.ones(2, inputs)
    joined = torch.zeros(2) if around else None
    if around:  # features, their mean over neighbours, and over theirs, then the degree
        x = torch.ones(2, 3 * inputs + 1)
    logits = model.heads.eval()(torch.zeros(2, model.knots.shape[0]), (x, x), joined)
    assert logits.shape == (model.heads.num_members, 2)
    assert (model.heads.num_members == MEMBERS) == (not around)


def test_one_state_holds_weights_tables_and_the_line():
    model = fresh(seed=1)
    values = np.random.default_rng(0).normal(size=(50, len(model.knots)))
    model.set_column_scale(ColumnScale.of(values))
    model.set_calibration(Calibration(2.0, -0.5))
    other = fresh(seed=2)
    other.load_state_dict(model.state_dict())
    assert torch.equal(weights(other), weights(model))
    assert np.array_equal(other.column_scale(values), ColumnScale.of(values)(values))
    assert other.calibration == Calibration(2.0, -0.5)
