"""The layer as one step of autograd: gradients, parts and threads, and its steps one by one."""

from __future__ import annotations

import pytest
import torch

from nn.kernels.test_rows import GATES, R, random_inputs, run_with_gradients
from pgnn.nn import Gate
from pgnn.nn import fused as _fused
from pgnn.nn import threads as _threads
from pgnn.nn.fused import (
    Fixed,
    GateWeights,
    Inputs,
    fused_layer,
    fused_messages,
    padded_channels,
)


def test_gate_without_gradient_gets_none():
    inputs = random_inputs()
    inputs = inputs._replace(gate=inputs.gate.detach())
    sum(out.sum() for out in fused_messages(inputs)).backward()
    assert inputs.gate.grad is None
    assert inputs.own.grad is not None


def test_second_derivatives_are_refused():
    inputs = random_inputs()
    z, _ = fused_messages(inputs)
    (grad,) = torch.autograd.grad(z.square().sum(), inputs.own, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


# ---------------------------------------------------------------------- parts


@pytest.fixture
def threads(monkeypatch):
    """Make even tiny inputs run in as many parts as asked for."""
    before = torch.get_num_threads()
    monkeypatch.setattr(_fused, "_PAIRS_PER_THREAD", 1)
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("pool", ["torch's", "our own"])
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("gate", GATES)
def test_parts_do_not_change_the_result(gate, split, pool, threads, monkeypatch):
    if pool == "our own":
        monkeypatch.setattr(_threads, "_torch_pool", lambda: None)
    inputs = random_inputs(gate, split=split, n=37, k=20)
    threads(1)
    expected = run_with_gradients(fused_messages, inputs)
    for count in (2, 3):
        threads(count)
        assert _fused._num_threads(inputs.nearest.numpy()) == count
        got = run_with_gradients(fused_messages, inputs)
        for one, other in zip(got, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_repeated_runs_are_the_same_to_the_bit(threads):
    threads(2)
    inputs = random_inputs("vector table", n=300, k=50, width=32, dtype=torch.float32)
    first = run_with_gradients(fused_messages, inputs)
    for _ in range(5):
        again = run_with_gradients(fused_messages, inputs)
        assert all(torch.equal(one, other) for one, other in zip(again, first, strict=True))


def test_little_memory_means_fewer_parts_and_the_same_result(threads, monkeypatch):
    inputs = random_inputs(n=37, k=20)
    threads(2)
    expected = run_with_gradients(fused_messages, inputs)
    monkeypatch.setattr(_fused, "_BUFFER_BYTES", 1)
    got = run_with_gradients(fused_messages, inputs)
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("channels", "dtype", "expected"),
    [(1, torch.float32, 32), (32, torch.float32, 32), (33, torch.float32, 64),
     (1, torch.float64, 16), (17, torch.float64, 32)],
)  # fmt: skip
def test_padded_channels_are_whole_vectors(channels, dtype, expected):
    assert padded_channels(channels, dtype) == expected


# ---------------------------------------------------------------------- the whole layer


N, K, D = 5, 4, 3


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
