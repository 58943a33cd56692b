"""The gate: two linear layers with a ReLU between, of one number."""

import pytest
import torch

from nn.test_layer import assert_same, outputs_and_gradients, plain_gate, randomised
from pgnn.nn import Gate


@pytest.mark.parametrize("out_channels", [1, 4])
@pytest.mark.parametrize("shape", [(6, 1), (3, 2, 1), (1,), (0, 1)])
def test_gate_is_two_linear_layers(out_channels, shape):
    gate = randomised(Gate(5, out_channels))
    s = torch.rand(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    leaves = [s.requires_grad_(), *gate.parameters()]
    got = outputs_and_gradients([gate(s)], leaves)
    assert got[0].shape == (*shape[:-1], out_channels)
    assert_same(got, outputs_and_gradients([plain_gate(gate, s)], leaves))


def test_reset_parameters_draws_weights_and_clears_biases():
    gate = Gate(5, 4)
    for bias in (gate.hidden.bias, gate.out.bias):
        bias.data.fill_(1)
    before = [weight.clone() for weight in (gate.hidden.weight, gate.out.weight)]
    gate.reset_parameters()
    assert gate.hidden.bias.abs().max() == gate.out.bias.abs().max() == 0
    for old, new in zip(before, (gate.hidden.weight, gate.out.weight), strict=True):
        assert not torch.equal(old, new)
