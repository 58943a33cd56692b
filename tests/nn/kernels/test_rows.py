"""The kernels of the layer against finite differences and dense torch, through autograd."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from pgnn.nn.fused import Inputs, fused_messages, padded_channels

R = 16  # whole vectors: 16 doubles
GATES = ["table", "vector table", "pair"]


def dense(inputs: Inputs) -> tuple[Tensor, Tensor, Tensor]:
    """z, h and what goes into the ReLU, with all messages in memory."""
    own, anchor = inputs.own, inputs.anchor
    if anchor is None:
        own, anchor = own.chunk(2, dim=1)
    anchor = torch.cat([anchor, torch.zeros_like(anchor[:1])])[inputs.nearest.long()]  # [n, k, R]
    t = inputs.gate
    if inputs.codes is not None:
        t = t[inputs.codes.long() - inputs.first_code]
    t = t[..., None] if t.ndim == 2 else t
    own = own[:, None]
    before = (t * (own + anchor) if inputs.paper else own + t * anchor) + inputs.bias
    messages = before.relu()
    return messages @ inputs.w + inputs.w_bias, inputs.scale * messages.sum(1), before


def random_inputs(
    gate="table", *, paper=True, split=False, n=4, k=3, width=R, dtype=torch.float64, seed=0,
    codes_dtype=torch.int8, first_code=-1,
) -> Inputs:  # fmt: skip
    """Inputs with unreached sets; `split` gives the anchors rows of their own."""
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=rng, dtype=dtype).requires_grad_()

    num_codes, num_anchors = 5, n + 2 if split else n
    codes = torch.randint(0, num_codes, (n, k), generator=rng) + first_code
    nearest = torch.randint(-1, num_anchors, (n, k), generator=rng, dtype=torch.int32)
    nearest[0, 0], nearest[-1, -1] = -1, num_anchors - 1
    shape = {"table": (num_codes,), "vector table": (num_codes, width), "pair": (n, k)}[gate]
    return Inputs(
        own=draw(n, width if split else 2 * width),
        anchor=draw(num_anchors, width) if split else None,
        gate=draw(*shape),
        bias=draw(width),
        w=draw(width),
        w_bias=draw(),
        nearest=nearest,
        codes=None if gate == "pair" else codes.to(codes_dtype),
        first_code=first_code,
        paper=paper,
        scale=0.25,
    )


def smooth_inputs(*args, **options) -> Inputs:
    """Inputs whose messages are not near ReLU's kink, where differences have no limit."""
    for seed in range(100):
        inputs = random_inputs(*args, **options, seed=seed)
        if dense(inputs)[2].abs().min() > 1e-3:
            return inputs
    raise AssertionError("no seed keeps away from the kink")


def run_with_gradients(function, inputs: Inputs, seed=5, weights=(1.0, 1.0)) -> list[Tensor]:
    leaves = [tensor for tensor in inputs[:6] if tensor is not None]
    outputs = function(inputs)[:2]
    rng = torch.Generator().manual_seed(seed)
    loss = sum(
        weight * (torch.randn(out.shape, generator=rng, dtype=out.dtype) * out).sum()
        for out, weight in zip(outputs, weights, strict=True)
    )
    return [*outputs, *torch.autograd.grad(loss, leaves)]


def check_gradients(inputs: Inputs, pick) -> bool:
    def run(*floats: Tensor):
        own, *anchor = floats[:-4]
        changed = inputs._replace(own=own, anchor=anchor[0] if anchor else None)
        for name, value in zip(("gate", "bias", "w", "w_bias"), floats[-4:], strict=True):
            changed = changed._replace(**{name: value})
        return pick(fused_messages(changed))

    return torch.autograd.gradcheck(run, [t for t in inputs[:6] if t is not None])


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("gate", GATES)
def test_gradients_are_those_of_finite_differences(gate, split, paper):
    assert check_gradients(smooth_inputs(gate, paper=paper, split=split), lambda both: both)


@pytest.mark.parametrize("output", [0, 1])
@pytest.mark.parametrize(
    ("gate", "split", "paper"),
    [("table", False, True), ("vector table", False, False), ("pair", True, False)],
)
def test_gradients_of_one_output_alone(gate, split, paper, output):
    inputs = smooth_inputs(gate, paper=paper, split=split)
    if output == 0:
        assert check_gradients(inputs, lambda both: both[0])
    else:  # w plays no part in h, so its gradient must be zero or absent
        inputs = inputs._replace(w=inputs.w.detach(), w_bias=inputs.w_bias.detach())
        assert check_gradients(inputs, lambda both: both[1])


def test_h_without_z_is_the_same_h():
    inputs = random_inputs()
    z, h = fused_messages(inputs, need_z=False)
    assert z is None
    assert torch.equal(h, fused_messages(inputs)[1])
    (grad,) = torch.autograd.grad(h.sum(), inputs.own)
    (expected,) = torch.autograd.grad(dense(inputs)[1].sum(), inputs.own)
    torch.testing.assert_close(grad, expected)


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_several_vectors_per_row_equal_dense_torch(gate, paper, dtype):
    """Three blocks of channels and more sets than are asked for ahead."""
    width = 3 * padded_channels(1, dtype)
    inputs = random_inputs(gate, paper=paper, n=40, k=30, width=width, dtype=dtype)
    got = run_with_gradients(fused_messages, inputs)
    tolerance = 1e-11 if dtype == torch.float64 else 1e-5
    for one, other in zip(got, run_with_gradients(dense, inputs), strict=True):
        scale = float(other.detach().abs().max())
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize(
    ("codes_dtype", "first_code"),
    [
        (torch.int8, -1), (torch.int16, -1), (torch.int32, -1), (torch.int64, -1),
        (torch.uint8, 0), (torch.uint8, 251), (torch.int16, 300),
    ],
)  # fmt: skip
def test_codes_of_any_type_name_their_entry(codes_dtype, first_code):
    """Codes of 251..255 are negative to whoever reads a byte with its sign."""
    inputs = random_inputs(codes_dtype=codes_dtype, first_code=first_code)
    got = run_with_gradients(fused_messages, inputs)
    for one, other in zip(got, run_with_gradients(dense, inputs), strict=True):
        torch.testing.assert_close(one, other)


def test_inputs_with_gaps_between_rows_equal_dense_torch():
    inputs = random_inputs("vector table", split=True)
    wide = torch.randn(len(inputs.own), 40, dtype=torch.float64)
    gaps = inputs._replace(
        own=wide[:, 3 : 3 + R].requires_grad_(),
        nearest=inputs.nearest.T.contiguous().T,
        codes=inputs.codes.T.contiguous().T,
        bias=torch.randn(2 * R, dtype=torch.float64)[::2].requires_grad_(),
    )
    for one, other in zip(
        run_with_gradients(fused_messages, gaps), run_with_gradients(dense, gaps), strict=True
    ):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("place", ["own", "gate", "bias"])
def test_not_a_number_is_passed_on(place):
    """As torch's ReLU does: a broken weight must not look like a silent message."""
    inputs = random_inputs()
    with torch.no_grad():
        getattr(inputs, place).fill_(float("nan"))
    z, h = fused_messages(inputs)
    assert z.isnan().all()
    assert h.isnan().all()
