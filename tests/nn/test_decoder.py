"""Decoders: symmetric, equal to their formulas, bounded in memory, for any number of sets."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from pgnn import PGNNError
from pgnn.nn import DistanceDecoder, DotDecoder, PairDecoder, PairMLPDecoder, ScaledDotDecoder
from pgnn.nn import decoder as decoder_module

DECODERS = {
    "dot": DotDecoder,
    "scaled": ScaledDotDecoder,
    "l1": lambda: DistanceDecoder(1),
    "l2": lambda: DistanceDecoder(2),
    "l3": lambda: DistanceDecoder(3),
    "max": lambda: DistanceDecoder(math.inf),
    "mlp": lambda: PairMLPDecoder(6),
}
PAIRS = torch.tensor([[0, 1], [3, 2], [4, 4], [1, 0], [0, 4]])


@pytest.fixture(autouse=True)
def fixed_seed():
    """Modules draw their initial weights from torch's global generator."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def make_trained(name: str) -> PairDecoder:
    """A decoder in float64 whose parameters are not the initial ones."""
    decoder = DECODERS[name]().double()
    rng = torch.Generator().manual_seed(0)
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter, generator=rng)
    return decoder


def embeddings(k: int = 7, seed: int = 1) -> Tensor:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(5, k, generator=rng, dtype=torch.float64)


def logit_by_hand(decoder: PairDecoder, a: list[float], b: list[float]) -> float:
    coordinates = list(zip(a, b, strict=True))
    if isinstance(decoder, DotDecoder):
        return sum(i * j for i, j in coordinates)
    if isinstance(decoder, ScaledDotDecoder):
        return decoder.scale.item() * sum(i * j for i, j in coordinates) + decoder.bias.item()
    if isinstance(decoder, DistanceDecoder):
        gaps = [abs(i - j) for i, j in coordinates]
        far = (
            max(gaps)
            if math.isinf(decoder.p)
            else sum(g**decoder.p for g in gaps) ** (1 / decoder.p)
        )
        return decoder.bias.item() - decoder.scale.item() * far
    assert isinstance(decoder, PairMLPDecoder)
    pooled = torch.zeros(decoder.hidden, dtype=torch.float64)
    for i, j in coordinates:
        features = torch.tensor([abs(i - j), i * j, i + j], dtype=torch.float64)
        pooled += (decoder.phi.weight @ features + decoder.phi.bias).clamp(min=0) / len(a)
    hidden = (decoder.rho_hidden.weight @ pooled + decoder.rho_hidden.bias).clamp(min=0)
    return (decoder.rho_out.weight @ hidden + decoder.rho_out.bias).item()


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("k", [1, 2, 7, 64])
def test_logits_match_the_formula_for_any_k(name, k):
    decoder, z = make_trained(name), embeddings(k)
    expected = [logit_by_hand(decoder, z[u].tolist(), z[v].tolist()) for u, v in PAIRS.tolist()]
    logits = decoder(z, PAIRS)
    torch.testing.assert_close(logits, torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("name", DECODERS)
def test_pair_and_its_reverse_score_the_same(name):
    decoder, z = make_trained(name), embeddings()
    assert torch.equal(decoder(z, PAIRS), decoder(z, PAIRS.flip(1)))


@pytest.mark.parametrize("name", DECODERS)
def test_order_of_the_sets_does_not_matter(name):
    decoder, z = make_trained(name), embeddings()
    torch.testing.assert_close(decoder(z, PAIRS), decoder(z.flip(1), PAIRS))


def test_mlp_does_not_depend_on_how_often_the_sets_are_repeated():
    decoder, z = make_trained("mlp"), embeddings()
    torch.testing.assert_close(decoder(z, PAIRS), decoder(z.repeat(1, 3), PAIRS))


@pytest.mark.parametrize("name", DECODERS)
def test_gradients_are_those_of_finite_differences(name):
    decoder = make_trained(name)
    pairs = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]]  # a distance has no gradient at zero
    parameters = dict(decoder.named_parameters())

    def run(z: Tensor, *values: Tensor) -> Tensor:
        given = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(decoder, given, (z, pairs))

    assert torch.autograd.gradcheck(run, (embeddings().requires_grad_(), *parameters.values()))


@pytest.mark.parametrize("name", DECODERS)
def test_gradient_of_a_node_with_itself_is_finite(name):
    z = embeddings().requires_grad_()
    make_trained(name)(z, torch.tensor([[2, 2]])).sum().backward()
    assert z.grad is not None
    assert z.grad.isfinite().all()


def test_distance_decoder_starts_as_minus_the_distance():
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    pairs = torch.tensor([[0, 1]])
    got = [DistanceDecoder(p)(z, pairs).item() for p in (1, 2, math.inf)]
    assert got == [-7, -5, -4]


# ---------------------------------------------------------------------- blocks of pairs


@pytest.mark.parametrize("block", [1, 50, 100])
@pytest.mark.parametrize("name", DECODERS)
def test_blocks_do_not_change_values_or_gradients(name, block, monkeypatch):
    decoder, z = make_trained(name), embeddings().requires_grad_()

    def run() -> list[Tensor]:
        logits = decoder(z, PAIRS)
        gradients = torch.autograd.grad(logits.square().sum(), [z, *decoder.parameters()])
        with torch.no_grad():
            return [logits, decoder(z, PAIRS), *gradients]

    whole = run()
    monkeypatch.setattr(decoder_module, "_BLOCK_NUMBERS", block)
    for got, expected in zip(run(), whole, strict=True):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("name", ["l1", "l3", "max", "mlp"])
def test_blocks_bound_what_is_gathered_without_gradients(name, monkeypatch):
    decoder, z, sizes = make_trained(name), embeddings(), []
    score = decoder.score
    monkeypatch.setattr(decoder, "score", lambda a, b: (sizes.append(a.numel()), score(a, b))[1])
    monkeypatch.setattr(decoder_module, "_BLOCK_NUMBERS", 20)
    with torch.no_grad():
        decoder(z, PAIRS)
    assert sizes == [14, 14, 7]


def test_mlp_stores_nothing_of_all_pairs_sets_and_features(monkeypatch):
    decoder, z, stored, pooled = make_trained("mlp"), embeddings(k=20), [], []
    pairs = PAIRS.repeat(20, 1)
    pool = decoder._pool
    monkeypatch.setattr(decoder, "_pool", lambda a, b: (pooled.append(len(a)), pool(a, b))[1])
    monkeypatch.setattr(decoder_module, "_BLOCK_NUMBERS", 40 * 20 * decoder.hidden)

    def pack(tensor: Tensor) -> Tensor:
        stored.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        decoder(z.requires_grad_(), pairs)
    assert pooled == [40, 40, 20]
    assert sum(stored) < len(pairs) * 20 * decoder.hidden


# ---------------------------------------------------------------------- manners


@pytest.mark.parametrize("name", DECODERS)
def test_reset_parameters_restores_a_fresh_decoder(name):
    decoder = make_trained(name)
    before = [parameter.clone() for parameter in decoder.parameters()]
    torch.manual_seed(5)
    decoder.reset_parameters()
    after = list(decoder.parameters())
    assert not any(torch.equal(i, j) for i, j in zip(before, after, strict=True))
    torch.manual_seed(5)
    fresh = DECODERS[name]().double()
    if name != "mlp":  # where initial values are constants
        assert all(torch.equal(i, j) for i, j in zip(after, fresh.parameters(), strict=True))


def test_repr_names_the_settings():
    made = [DotDecoder(), ScaledDotDecoder(), DistanceDecoder(1), PairMLPDecoder(8)]
    assert [repr(decoder) for decoder in made] == [
        "DotDecoder()", "ScaledDotDecoder()", "DistanceDecoder(p=1)", "PairMLPDecoder(hidden=8)",
    ]  # fmt: skip


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_pairs_of_any_integer_type_are_taken(name, dtype):
    decoder, z = make_trained(name), embeddings()
    assert torch.equal(decoder(z, PAIRS.to(dtype)), decoder(z, PAIRS))


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("grad", [True, False])
def test_no_pairs_give_no_logits(name, grad):
    with torch.set_grad_enabled(grad):
        assert make_trained(name)(embeddings(), torch.empty(0, 2, dtype=torch.int64)).shape == (0,)


@pytest.mark.parametrize(
    ("z", "pairs", "match"),
    [
        (torch.ones(5), PAIRS, r"z must be floating-point embeddings \[n, k\] .*shape \[5\]"),
        (torch.ones(5, 0), PAIRS, r"z must be .*shape \[5, 0\]"),
        (torch.ones(5, 2).long(), PAIRS, r"z must be floating-point .*got torch.int64"),
        (torch.ones(5, 2), PAIRS.T, r"pairs must have shape \[m, 2\] \(got \[2, 5\]\); transpose"),
        (torch.ones(5, 2), PAIRS[0], r"pairs must have shape \[m, 2\] \(got \[2\]\)"),
        (torch.ones(5, 2), PAIRS.float(), r"pairs must be integer node indices \(got torch.float"),
        (torch.ones(5, 2), PAIRS > 1, r"pairs must be integer node indices \(got torch.bool\)"),
        (torch.ones(4, 2), PAIRS, r"pairs name node 4, but z has rows 0..3"),
        (torch.ones(5, 2), PAIRS - 1, r"pairs name node -1, but z has rows 0..4"),
        (torch.ones(5, 2), PAIRS.to("meta"), r"z is on cpu but pairs are on meta"),
    ],
)
@pytest.mark.parametrize("name", ["dot", "mlp"])
def test_bad_input_is_named(name, z, pairs, match):
    with pytest.raises(PGNNError, match=match):
        DECODERS[name]()(z, pairs)


@pytest.mark.parametrize("p", [0.5, -1, math.nan])
def test_order_of_the_norm_must_be_one_or_more(p):
    with pytest.raises(PGNNError, match=r"p must be a number >= 1 \(got"):
        DistanceDecoder(p)


def test_hidden_width_must_be_positive():
    with pytest.raises(PGNNError, match=r"hidden must be a positive integer \(got 0\)"):
        PairMLPDecoder(0)


# ---------------------------------------------------------------------- loss


@pytest.mark.parametrize("name", DECODERS)
def test_loss_is_the_cross_entropy_of_the_logits(name):
    decoder, z = make_trained(name), embeddings().requires_grad_()
    pairs = PAIRS[PAIRS[:, 0] != PAIRS[:, 1]]
    labels = torch.tensor([1.0, 0, 0, 1], dtype=z.dtype)
    weights = torch.tensor([0.5, 1, 2, 0], dtype=z.dtype)
    leaves = [z, *decoder.parameters()]
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        decoder(z, pairs), labels, weight=weights, reduction="sum"
    )
    loss = decoder.loss(z, pairs.int(), labels, weights)
    torch.testing.assert_close(loss, expected)
    for ours, theirs in zip(
        torch.autograd.grad(loss, leaves), torch.autograd.grad(expected, leaves), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", DECODERS)
def test_loss_takes_labels_and_weights_of_any_type(name):
    decoder, z, pairs = make_trained(name), embeddings(), torch.tensor([[0, 1], [1, 2]])
    labels, weights = torch.tensor([0, 1]), torch.tensor([2, 2])
    expected = decoder.loss(z, pairs, labels.to(z), weights.to(z))
    assert decoder.loss(z, pairs, labels, weights) == expected


@pytest.mark.parametrize("name", DECODERS)
def test_loss_refuses_pairs_that_z_does_not_have(name):
    with pytest.raises(PGNNError, match=r"pairs name node 5, but z has rows 0\.\.4"):
        make_trained(name).loss(embeddings(), torch.tensor([[0, 5]]), torch.ones(1), torch.ones(1))


@pytest.mark.parametrize("decoder", [DotDecoder(), ScaledDotDecoder(), DistanceDecoder()])
def test_logits_do_not_hand_unchecked_pairs_to_kernels(decoder):
    z = torch.ones(3, 2)
    with pytest.raises(PGNNError, match="pairs"):
        decoder.logits(z, torch.tensor([[0, 10**8]]))
    with pytest.raises(PGNNError, match="labels must be one number per pair"):
        decoder.loss(z, torch.tensor([[0, 1]]), torch.ones(2, 2), torch.ones(1))


def test_score_needs_rows_of_one_shape():
    with pytest.raises(PGNNError, match=r"a and b must be .* rows of one shape"):
        DistanceDecoder().score(torch.ones(2, 3), torch.ones(2, 4))
