"""The layer as one step of autograd: finite differences, and the same as the steps one by one."""

import pytest
import torch

from pgnn.nn import Gate
from pgnn.nn.fused import Inputs, fused_messages
from pgnn.nn.fused_layer import Fixed, GateWeights, fused_layer

N, K, D, R = 5, 4, 3, 16


def random_case(gate, seed=0):
    """Learned tensors, away from ReLU's kinks by a bias on most channels, and what is fixed."""
    random = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, generator=random, dtype=torch.float64)

    learned = [draw(N, D), draw(2, R, D), draw(R) + 3, draw(R), draw()]
    if gate is not None:
        learned += [draw(6, 1), draw(6), draw(gate, 6), draw(gate)]
    nearest = torch.randint(-1, N, (N, K), generator=random, dtype=torch.int32)
    codes = torch.randint(-1, 3, (N, K), generator=random).to(torch.int8)
    levels = torch.tensor([0.0, 1.0, 0.5, 0.3], dtype=torch.float64)
    return [t.requires_grad_() for t in learned], (levels, nearest, codes, -1)


def run(learned, fixed, paper, need_z=True):
    gate = GateWeights(*learned[5:]) if len(learned) > 5 else None
    return fused_layer(*learned[:5], gate, Fixed(*fixed, paper, 0.25, need_z))


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize("gate", [None, 1, R])
def test_layer_passes_gradcheck(gate, paper):
    learned, fixed = random_case(gate)
    assert torch.autograd.gradcheck(lambda *tensors: run(tensors, fixed, paper), learned)


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize("gate", [None, 1, R])
def test_layer_equals_its_steps_one_by_one(gate, paper):
    learned, fixed = random_case(gate, seed=1)
    levels, nearest, codes, first_code = fixed
    x, weight, bias, w, w_bias = learned[:5]
    table = levels
    if gate is not None:
        module = Gate(6, gate).double()
        named = zip(module.state_dict(), learned[5:], strict=True)
        table = torch.func.functional_call(module, dict(named), (levels[:, None],)).squeeze(-1)
    own = x @ weight.flatten(0, 1).t()
    one_by_one = fused_messages(
        Inputs(own, None, table, bias, w, w_bias, nearest, codes, first_code, paper, 0.25)
    )
    at_once = run(learned, fixed, paper)
    grads = [torch.randn_like(out) for out in at_once]
    for a, b in zip(at_once, one_by_one, strict=True):
        torch.testing.assert_close(a, b)
    for a, b in zip(
        torch.autograd.grad(at_once, learned, grads),
        torch.autograd.grad(one_by_one, learned, grads),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_layer_without_z_has_no_gradient_of_w():
    learned, fixed = random_case(None)
    z, h = run(learned, fixed, paper=True, need_z=False)
    assert z is None
    grads = torch.autograd.grad(h.sum(), learned, allow_unused=True)
    assert [grad is None for grad in grads] == [False, False, False, True, True]


def test_tensor_changed_in_place_before_backward_is_an_error():
    learned, fixed = random_case(None)
    z, _ = run(learned, fixed, paper=True)
    with torch.no_grad():
        learned[3] += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
