"""The layer as one step of autograd: gradients, parts and threads, and its steps one by one."""

from __future__ import annotations

import pytest
import torch

from nn.kernels.test_rows import GATES, R, random_inputs, run_with_gradients
from pgnn.nn import Gate, rows
from pgnn.nn import fused as _fused
from pgnn.nn import threads as _threads
from pgnn.nn.fused import (
    Between,
    Fixed,
    GateWeights,
    Inputs,
    LayerWeights,
    fused_layer,
    fused_messages,
    fused_model,
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
    monkeypatch.setattr(rows, "_BUFFER_BYTES", 1)
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
    x, *weights = learned
    return fused_layer(x, as_weights(weights), Fixed(*fixed, paper, 0.25, need_z))


def as_weights(tensors):
    gate = GateWeights(*tensors[4:]) if len(tensors) > 4 else None
    return LayerWeights(*tensors[:4], gate)


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


# ---------------------------------------------------------------------- the whole model


def random_model(gate, *, projected, seed=0):
    """x, the Linear of it, the weights of two layers, and what is fixed of both."""
    random = torch.Generator().manual_seed(seed)
    learned, fixed = random_case(gate, seed)
    x, weight, *rest = (tensor.detach() for tensor in learned)
    second = [torch.randn(2, R, R, generator=random, dtype=x.dtype) / 4, *(t * 0.9 for t in rest)]
    projection = []
    if projected:
        projection = [torch.randn(shape, generator=random).to(x) for shape in ((D, D), (D,))]
    tensors = [x, *projection, weight, *rest, *second]
    return [tensor.clone().requires_grad_() for tensor in tensors], fixed


def run_model(tensors, fixed, between, *, projected, paper=True):
    x, *rest = tensors
    projection, rest = (tuple(rest[:2]), rest[2:]) if projected else (None, rest)
    half = len(rest) // 2
    layers = [as_weights(rest[:half]), as_weights(rest[half:])]
    both = [Fixed(*fixed, paper, 0.25, need_z) for need_z in (False, True)]
    return fused_model(x, projection, layers, both, between)


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("gate", [None, 1, R])
def test_model_passes_gradcheck(gate, normalize, projected):
    tensors, fixed = random_model(gate, projected=projected)
    between = Between(0.0, normalize)
    unused = {3 + 2 * projected + 1, 3 + 2 * projected}  # w and its bias, of the first layer
    moving = [t for i, t in enumerate(tensors) if i not in unused]

    def model(*moved):
        given = iter(moved)
        all_tensors = [t if i in unused else next(given) for i, t in enumerate(tensors)]
        return run_model(all_tensors, fixed, between, projected=projected)

    assert torch.autograd.gradcheck(model, moving, fast_mode=True)


@pytest.mark.parametrize("dropout", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("projected", [False, True])
def test_model_equals_its_layers_one_by_one(projected, dropout):
    """The same numbers are dropped as torch drops from the same random state."""
    tensors, fixed = random_model(1, projected=projected, seed=2)

    def one_by_one(x, *rest):
        h = x
        if projected:
            h, rest = torch.nn.functional.linear(x, *rest[:2]), rest[2:]
        half = len(rest) // 2
        for place, part in enumerate((rest[:half], rest[half:])):
            if place:
                h = torch.nn.functional.dropout(h, dropout)
            z, h = run([h, *part], fixed, paper=False)
        return torch.nn.functional.normalize(z, dim=-1), h

    results = []
    for way in (
        lambda: run_model(tensors, fixed, Between(dropout, True), projected=projected, paper=False),
        lambda: one_by_one(*tensors),
    ):
        with torch.random.fork_rng():
            torch.default_generator.manual_seed(5)
            outputs = way()
        grads = [torch.linspace(-1, 1, out.numel()).view(out.shape).to(out) for out in outputs]
        results.append((*outputs, *torch.autograd.grad(outputs, tensors, grads, allow_unused=True)))
    for ours, expected in zip(*results, strict=True):
        assert (ours is None) == (expected is None)
        if ours is not None:
            torch.testing.assert_close(ours, expected)


def test_z_changed_in_place_before_backward_is_an_error():
    tensors, fixed = random_model(None, projected=True)
    z, _ = run_model(tensors, fixed, Between(0.0, True), projected=True)
    total = z.sum()
    with torch.no_grad():
        z += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()
