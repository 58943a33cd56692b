"""Scores of node pairs from embeddings: the same for (u, v) as for (v, u)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.checkpoint import checkpoint

from pgnn.checks import channels, checked
from pgnn.errors import Parameter, PGNNError
from pgnn.nn.pairs import Scale, has_kernels, pair_distances, pair_dots, pair_loss

_BLOCK_NUMBERS = 1 << 22  # largest intermediate tensor of a block of pairs, in numbers


class PairDecoder(nn.Module):
    """Base of the decoders: checks z and pairs, gathers both rows of each pair, scores them.

    A subclass writes `score(a, b)`, symmetric in its arguments, or `logits(z, pairs)`. Without
    gradients, pairs are scored in blocks, so that no intermediate grows with their number.
    """

    def reset_parameters(self) -> None:
        """Set learned parameters to their initial values; there may be none."""

    @checked
    def score(self, a: Tensor, b: Tensor) -> Tensor:
        """Return the logit `[m]` of each pair of rows of a and b, both `[m, k]`."""
        raise NotImplementedError

    @checked
    def forward(self, z: Tensor, pairs: Tensor) -> Tensor:
        """Return the logits of node pairs.

        Args:
            z: Embeddings `[n, k]`.
            pairs: Node indices `[m, 2]`, of any integer type.

        Returns:
            Logits `[m]`.

        Raises:
            PGNNError: If a shape or type is wrong or a pair names a node that z does not have.
        """
        _check(z, pairs)
        return self.logits(z, pairs.long())

    @checked
    def loss(self, z: Tensor, pairs: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """Return the weighted sum of the binary cross-entropies of node pairs.

        Args:
            z: Embeddings `[n, k]`.
            pairs: Node indices `[m, 2]`, of any integer type.
            labels: What each logit should say, 0 or 1, `[m]`.
            weights: How much each pair counts, `[m]`.

        Returns:
            One number, `[]`.

        Raises:
            PGNNError: As for `forward`.
        """
        _check(z, pairs)
        _check_labels(pairs, labels, weights)
        logits = self(z, pairs)
        labels, weights = labels.to(logits.dtype), weights.to(logits.dtype)
        return binary_cross_entropy_with_logits(logits, labels, weight=weights, reduction="sum")

    @checked
    def logits(self, z: Tensor, pairs: Tensor) -> Tensor:
        """Return the logits of pairs; a subclass may do without gathering rows."""
        _check(z, pairs)
        learned = any(tensor.requires_grad for tensor in (z, *self.parameters()))
        if learned and torch.is_grad_enabled():
            # One gather: the gradient of each costs as much as z, however few the rows.
            return self.score(z[pairs[:, 0].long()], z[pairs[:, 1].long()])
        blocks = torch.split(pairs.long(), max(1, _BLOCK_NUMBERS // z.shape[1]))
        return torch.cat([self.score(z[block[:, 0]], z[block[:, 1]]) for block in blocks])

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _KernelDecoder(PairDecoder):
    """A decoder of dot products or distances, whose loss is one step of autograd on the CPU."""

    @checked
    def loss(self, z: Tensor, pairs: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
        """Return the weighted sum of the binary cross-entropies of node pairs."""
        form = self._form()
        if form is None or not has_kernels(z):
            return super().loss(z, pairs, labels, weights)
        _check(z, pairs)
        _check_labels(pairs, labels, weights)
        labels, weights = labels.to(z.dtype), weights.to(z.dtype)
        distances, scale = form
        return pair_loss(z, pairs.long(), labels, weights, distances=distances, scale=scale)

    def _form(self) -> tuple[bool, Scale | None] | None:
        """Return whether logits are of distances, and their scale; None without a kernel."""
        raise NotImplementedError


class DotDecoder(_KernelDecoder):
    r"""Dot product, the paper's decoder: logit(u, v) = <z_u, z_v>.

    Example:
        >>> z = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> DotDecoder()(z, torch.tensor([[0, 1], [0, 0]]))
        tensor([11.,  5.])
    """

    @checked
    def logits(self, z: Tensor, pairs: Tensor) -> Tensor:
        """Return the dot products of pairs."""
        _check(z, pairs)
        return pair_dots(z, pairs)

    def _form(self) -> tuple[bool, Scale | None]:
        return False, None


class _ScaledDecoder(_KernelDecoder):
    """A decoder with a learned scale alpha and bias beta."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(()))
        self.bias = nn.Parameter(torch.empty(()))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set alpha to 1 and beta to 0."""
        nn.init.ones_(self.scale)
        nn.init.zeros_(self.bias)


class ScaledDotDecoder(_ScaledDecoder):
    r"""Dot product with learned scale and bias: logit(u, v) = alpha <z_u, z_v> + beta.

    The plain product of L2-normalised rows cannot leave [-1, 1]; this one can. It begins as the
    plain product, with alpha = 1 and beta = 0.

    Example:
        >>> z = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> ScaledDotDecoder()(z, torch.tensor([[0, 1]])).tolist()
        [11.0]
    """

    @checked
    def logits(self, z: Tensor, pairs: Tensor) -> Tensor:
        """Return the scaled dot products of pairs."""
        _check(z, pairs)
        return self.scale * pair_dots(z, pairs) + self.bias

    def _form(self) -> tuple[bool, Scale | None]:
        return False, Scale(self.scale, self.bias)


class DistanceDecoder(_ScaledDecoder):
    r"""Minus the l_p distance, with learned scale and bias.

    logit(u, v) = beta - alpha ||z_u - z_v||_p, with alpha = 1 and beta = 0 at first. It takes any
    k, but the distance of like coordinates grows as k^(1/p), so alpha and beta learned on one
    graph suit graphs with about as many sets; `PairMLPDecoder` has no such limit.

    Args:
        p: Order of the norm, at least 1; may be infinite.

    Example:
        >>> z = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> DistanceDecoder(p=2)(z, torch.tensor([[0, 1]])).tolist()
        [-5.0]
    """

    @checked
    def __init__(self, p: float = 2.0) -> None:
        super().__init__()
        if not p >= 1:
            raise PGNNError(Parameter("p"), f" must be a number >= 1 (got {p})")
        self.p = p

    @checked
    def logits(self, z: Tensor, pairs: Tensor) -> Tensor:
        """Return the negated, scaled distances of pairs."""
        _check(z, pairs)
        if self.p == 2:
            return self.bias - self.scale * pair_distances(z, pairs)
        return super().logits(z, pairs)

    def _form(self) -> tuple[bool, Scale | None] | None:
        return (True, Scale(self.scale, self.bias)) if self.p == 2 else None

    @checked
    def score(self, a: Tensor, b: Tensor) -> Tensor:
        """Return the negated, scaled distance of rows."""
        _check_rows(a, b)
        distance: Tensor = torch.linalg.vector_norm(a - b, ord=self.p, dim=-1)
        return self.bias - self.scale * distance

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class PairMLPDecoder(PairDecoder):
    r"""A small learned function of coordinate pairs, shared by all sets.

    logit(u, v) = rho(mean over i of phi(|a_i - b_i|, a_i b_i, a_i + b_i)) with a = z_u, b = z_v,
    phi one Linear and ReLU, rho a Linear, ReLU and Linear. Maximum and minimum of a_i and b_i are
    sums of the first and last feature, so phi has them too. Nothing depends on k or on the order
    of the sets: what is learned on one graph holds for graphs with more or fewer sets.

    Intermediates are `[m, k, hidden]`; where that is large, pairs are taken in blocks, which the
    backward pass computes again instead of storing them.

    Args:
        hidden: Width of phi and of rho.

    Example:
        >>> decoder = PairMLPDecoder(hidden=8)
        >>> pairs = torch.tensor([[0, 1], [1, 2]])
        >>> decoder(torch.rand(3, 5), pairs).shape, decoder(torch.rand(3, 9), pairs).shape
        (torch.Size([2]), torch.Size([2]))
    """

    @checked
    def __init__(self, hidden: int = 16) -> None:
        super().__init__()
        channels(hidden=hidden)
        self.hidden = hidden
        self.phi = nn.Linear(3, hidden)
        self.rho_hidden = nn.Linear(hidden, hidden)
        self.rho_out = nn.Linear(hidden, 1)

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        for linear in (self.phi, self.rho_hidden, self.rho_out):
            linear.reset_parameters()

    @checked
    def score(self, a: Tensor, b: Tensor) -> Tensor:
        """Return rho of the pooled features of rows."""
        _check_rows(a, b, self.phi.weight.dtype)
        rows = max(1, _BLOCK_NUMBERS // (a.shape[1] * self.hidden))
        if len(a) <= rows:
            pooled = self._pool(a, b)
        else:
            blocks = zip(torch.split(a, rows), torch.split(b, rows), strict=True)
            pooled = torch.cat(
                [
                    checkpoint(self._pool, *block, use_reentrant=False, preserve_rng_state=False)
                    for block in blocks
                ]
            )
        logits: Tensor = self.rho_out(self.rho_hidden(pooled).relu())  # [m, 1]
        return logits.squeeze(-1)

    def _pool(self, a: Tensor, b: Tensor) -> Tensor:
        """Return the mean over sets of phi, `[m, hidden]`."""
        features = torch.stack([(a - b).abs(), a * b, a + b], dim=-1)  # [m, k, 3]
        return torch.mean(self.phi(features).relu(), dim=1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hidden={self.hidden})"


def _check_rows(a: Tensor, b: Tensor, dtype: torch.dtype | None = None) -> None:
    """Refuse rows that are not of equal shape, or not of the type of the decoder."""
    fits = a.ndim == 2 and a.shape[1] > 0 and a.shape == b.shape and a.is_floating_point()
    if not fits or a.dtype != b.dtype or (dtype is not None and a.dtype != dtype):
        kind = "floating-point" if dtype is None else str(dtype)
        raise PGNNError(
            Parameter("a"),
            " and ",
            Parameter("b"),
            f" must be {kind} rows of one shape [m, k] (got {a.dtype} of shape {list(a.shape)} "
            f"and {b.dtype} of shape {list(b.shape)})",
        )


def _check_labels(pairs: Tensor, labels: Tensor, weights: Tensor) -> None:
    for name, tensor in (("labels", labels), ("weights", weights)):
        if tensor.shape != pairs.shape[:1] or tensor.is_complex() or tensor.is_sparse:
            raise PGNNError(
                Parameter(name),
                f" must be one number per pair, [{len(pairs)}] (got {list(tensor.shape)})",
            )


def _check(z: Tensor, pairs: Tensor) -> None:
    if z.ndim != 2 or z.shape[1] == 0 or not z.is_floating_point():
        raise PGNNError(
            Parameter("z"),
            f" must be floating-point embeddings [n, k] (got {z.dtype} of shape {list(z.shape)})",
        )
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = "; transpose it" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
        raise PGNNError(
            Parameter("pairs"), f" must have shape [m, 2] (got {list(pairs.shape)}){hint}"
        )
    if pairs.is_floating_point() or pairs.is_complex() or pairs.dtype == torch.bool:
        raise PGNNError(
            Parameter("pairs"),
            f" must be integer node indices (got {pairs.dtype}); use pairs.long()",
        )
    if pairs.device != z.device:
        raise PGNNError(f"z is on {z.device} but pairs are on {pairs.device}; move one of them")
    if pairs.numel():
        low, high = (int(bound) for bound in pairs.aminmax())
        if low < 0 or high >= len(z):
            raise PGNNError(
                f"pairs name node {low if low < 0 else high}, but z has rows 0..{len(z) - 1}"
            )
