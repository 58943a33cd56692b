"""One P-GNN layer: Algorithm 1's inner loops, by algebra instead of messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from pgnn.checks import channels, checked, one_of
from pgnn.errors import Parameter, PGNNError
from pgnn.nn.by_rows import by_rows, of_length_one
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
from pgnn.nn.gate import Gate
from pgnn.nn.positions import MemberProximity, Positions, prepare_distances
from pgnn.nn.speakers import mean_of_groups

Aggregate = Literal["closest", "mean", "min", "max", "sum"]
_BLOCK_NUMBERS = 1 << 22  # largest tensor of messages that is made at once, in numbers

_REDUCE: dict[str, Callable[[Tensor], Tensor]] = {  # [rows, members or sets, r] -> [rows, r]
    "mean": lambda messages: messages.mean(1),
    "min": lambda messages: messages.amin(1),  # equal entries share the gradient
    "max": lambda messages: messages.amax(1),
    "sum": lambda messages: messages.sum(1),
}
_SIGMAS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


class PGNNLayer(nn.Module):
    r"""One layer of a position-aware graph neural network (https://arxiv.org/abs/1906.04817).

    For node v and anchor-set i, with u the set's member closest to v:

    - M_v[i] = F(s, h_v, h_u), where s = s(v, u)
    - z_v = sigma(M_v w + b), one number per set: the position-aware output
    - h'_v = AGG_S(M_v[1], ..., M_v[k]): the input of the next layer, which no order of sets changes

    F is ReLU(W (s [h_v ; h_u]) + b) ("paper") or ReLU(W [s h_u ; h_v] + b) ("released"). Where no
    member is reached, s = 0 and h_u = 0. With another AGG_M than "closest", M_v[i] aggregates F
    over all members.

    Messages are never stored: W [h_v ; h_u] = W_v h_v + W_u h_u, so each node is projected once and
    one pass over (v, i) does the rest; on the CPU in compiled kernels, elsewhere in blocks of torch
    operations, which the backward pass computes again.

    Args:
        in_channels: Length d of h_v.
        out_channels: Length r of a message and of h'_v.
        message: "paper", "released", or a module F of your own, called with s `[m, 1]`, h_v
            `[m, d]` and h_u `[m, d]`, which returns messages `[m, r]`.
        gate: What becomes of s within F: "none", or a learned number ("scalar") or vector
            ("vector", `[r]`) instead. It is evaluated once per hop count, not once per pair.
        agg_m: AGG_M, over the members of a set: "closest", "mean", "min", "max" or "sum".
        agg_s: AGG_S, over the sets: "mean", "min", "max" or "sum".
        sigma: "relu", "sigmoid", "tanh", a function or module, or None for none.
        bias: Whether F's Linear and w have one.
        kernel: "auto" takes compiled kernels for linear messages of the closest anchor on the CPU;
            "eager" never does, "fused" insists.

    Shapes:
        x `[n, d]`, distances of n nodes to k sets -> z `[n, k]`, h `[n, r]`.

    Example:
        >>> import pgnn
        >>> ring = pgnn.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> d = pgnn.anchor_distances(ring, [[0], [0, 2], [1]])
        >>> z, h = PGNNLayer(8, 16)(torch.rand(4, 8), d)
        >>> z.shape, h.shape
        (torch.Size([4, 3]), torch.Size([4, 16]))
    """

    @checked
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        message: Literal["paper", "released"] | nn.Module = "paper",
        gate: Literal["none", "scalar", "vector"] = "none",
        agg_m: Aggregate = "closest",
        agg_s: Literal["mean", "min", "max", "sum"] = "mean",
        sigma: str | Callable[[Tensor], Tensor] | None = None,
        bias: bool = True,
        kernel: Literal["auto", "eager", "fused"] = "auto",
    ) -> None:
        super().__init__()
        channels(in_channels=in_channels, out_channels=out_channels)
        self.in_channels, self.out_channels = in_channels, out_channels
        own_message = isinstance(message, nn.Module)
        one_of("message", "paper" if own_message else message, ["paper", "released"])
        one_of("gate", gate, ["none", "scalar", "vector"])
        one_of("agg_m", agg_m, ["closest", *_REDUCE])
        one_of("agg_s", agg_s, _REDUCE)
        one_of("kernel", kernel, ["auto", "eager", "fused"])
        if sigma is not None and not callable(sigma):
            one_of("sigma", sigma, _SIGMAS)
        if own_message and gate != "none":
            raise PGNNError(
                Parameter("gate"), " belongs to the built-in messages; put yours into the module F"
            )
        self.agg_m, self.agg_s, self.kernel = agg_m, agg_s, kernel
        self.sigma = sigma
        self.message = message
        if not own_message:
            # W_v and W_u, one after the other: one product projects nodes for both roles.
            self.weight = nn.Parameter(torch.empty(2, out_channels, in_channels))
            self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.gate = None
        if gate != "none":
            self.gate = Gate(out_channels, 1 if gate == "scalar" else out_channels)
        self.w = nn.Parameter(torch.empty(out_channels))
        self.w_bias = nn.Parameter(torch.empty(())) if bias else None
        if kernel == "fused" and not self._can_fuse():
            raise PGNNError(
                "compiled kernels need a built-in message and agg_s 'mean' or 'sum'; "
                "use kernel='auto'"
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, as the released code does; a module F, if it knows how."""
        gain = nn.init.calculate_gain("relu")
        if isinstance(self.message, nn.Module):
            if hasattr(self.message, "reset_parameters"):
                self.message.reset_parameters()  # type: ignore[operator]
        else:
            # Xavier's bound of the one matrix [r, 2d] that the two weights are halves of.
            bound = gain * (6 / (2 * self.in_channels + self.out_channels)) ** 0.5
            nn.init.uniform_(self.weight, -bound, bound)
            if self.bias is not None:
                nn.init.zeros_(self.bias)
        if self.gate is not None:
            self.gate.reset_parameters()
        nn.init.xavier_uniform_(self.w.view(1, -1), gain=gain)
        if self.w_bias is not None:
            nn.init.zeros_(self.w_bias)

    @checked
    def forward(self, x: Tensor, distances: Any) -> tuple[Tensor, Tensor]:
        """Return z `[n, k]` and h `[n, out_channels]`.

        Args:
            x: Features h_v `[n, in_channels]`, float.
            distances: `pgnn.AnchorDistances` or `Positions` of one graph or a disjoint union; with
                agg_m "mean", "min", "max" or "sum", `pgnn.MemberDistances`.

        Raises:
            PGNNError: If x or the distances do not fit the layer or each other.
        """
        check_features(x, self.in_channels, self.w)
        z, h = self._run(x, prepare_distances(x, distances, self.agg_m))
        assert z is not None
        return z, h

    def _run(
        self, x: Tensor, distances: Positions | MemberProximity, *, need_z: bool = True
    ) -> tuple[Tensor | None, Tensor]:
        """Do what `forward` does on inputs that `PGNN` or `forward` has checked.

        Without `need_z`, z may be None: only the last layer of a model needs it.
        """
        product: Tensor | None
        fused = isinstance(distances, Positions) and self._can_fuse() and _has_kernels(x)
        if self.kernel == "fused" and not fused:
            raise PGNNError(
                "compiled kernels need positions, and float32 or float64 on the CPU "
                f"(got {type(distances).__name__}, {x.dtype} on {x.device}); use kernel='auto'"
            )
        if not isinstance(distances, Positions):
            product, h = self._run_whole_sets(x, distances)
        elif fused and self.kernel != "eager":
            product, h = self._run_fused(x, distances, need_z)
        else:
            product, h = self._run_closest(x, distances)
        return None if product is None else self._activated(product), h

    def _activated(self, product: Tensor) -> Tensor:
        """Return sigma of M w + b."""
        if self.sigma is None:
            return product
        if callable(self.sigma):
            return self.sigma(product)
        return by_rows(_SIGMAS[self.sigma], product)

    # ------------------------------------------------------------------ compiled kernels

    def _can_fuse(self) -> bool:
        return not isinstance(self.message, nn.Module) and self.agg_s in ("mean", "sum")

    def _run_fused(
        self, x: Tensor, positions: Positions, need_z: bool
    ) -> tuple[Tensor | None, Tensor]:
        pad = self._padding(x)
        if _is_plain(positions):
            product, h = fused_layer(x, self._weights(pad, x), self._fixed(positions, need_z))
        else:
            weight, bias, w, w_bias, _ = self._weights(pad, x)
            table = self._gate_of(positions)
            codes, first_code = positions.codes, positions.first_code
            table = _widened(table, pad) if table.ndim == 2 and codes is not None else table
            own, anchor = nn.functional.linear(x, weight.flatten(0, 1)), None
            if positions.members is not None:
                own = nn.functional.linear(x, weight[0])
                anchor = nn.functional.linear(_speakers(x, positions), weight[1])
            inputs = Inputs(
                *(own, anchor, table, bias, w, w_bias, positions.nearest, codes, first_code),
                *(self.message == "paper", self._scale(positions)),
            )
            product, h = fused_messages(inputs, need_z=need_z)
        return product, h[:, : self.out_channels] if pad else h

    def _padding(self, x: Tensor) -> int:
        """Return how many channels are missing to whole vectors."""
        return padded_channels(self.out_channels, x.dtype) - self.out_channels

    def _weights(self, pad: int, x: Tensor) -> LayerWeights:
        """Return what is learned as kernels read it, widened by zeros to whole vectors."""
        gate = None
        if self.gate is not None:
            hidden, out = self.gate.hidden, self.gate.out
            gate = GateWeights(hidden.weight, hidden.bias, out.weight, out.bias)
            if out.out_features > 1:
                gate = gate._replace(
                    out_weight=_widened(out.weight, pad, 1), out_bias=_widened(out.bias, pad)
                )
        bias, w_bias = self.bias, self.w_bias
        return LayerWeights(
            _widened(self.weight, pad, 1),  # [2, R, d]
            x.new_zeros(len(self.w) + pad) if bias is None else _widened(bias, pad),
            _widened(self.w, pad),
            x.new_zeros(()) if w_bias is None else w_bias,
            gate,
        )

    def _fixed(self, positions: Positions, need_z: bool) -> Fixed:
        """Return what the layer reads of plain positions."""
        nearest, codes, levels = positions.nearest, positions.codes, positions.levels
        assert codes is not None
        assert levels is not None
        paper, scale = self.message == "paper", self._scale(positions)
        return Fixed(levels, nearest, codes, positions.first_code, paper, scale, need_z)

    def _scale(self, positions: Positions) -> float:
        """Return what the sum of messages is multiplied with."""
        return 1 / positions.num_sets if self.agg_s == "mean" else 1.0

    # ------------------------------------------------------------------ torch operations, in blocks

    def _run_closest(self, x: Tensor, positions: Positions) -> tuple[Tensor, Tensor]:
        """Return M w + b `[n, k]` and h `[n, r]`; one member, or the members' mean, speaks."""
        own, anchor = self._project(x, _speakers(x, positions))
        anchor = torch.cat([anchor, anchor.new_zeros(1, anchor.shape[1])])  # row -1: not reached
        gate = self._gate_of(positions)
        size = max(1, _BLOCK_NUMBERS // (positions.num_sets * max(anchor.shape[1], len(self.w))))

        def block(own: Tensor, anchor: Tensor, gate: Tensor, start: int) -> tuple[Tensor, Tensor]:
            rows = slice(start, start + size)
            if positions.codes is None:
                t = gate[rows]
            else:
                t = gate[positions.codes[rows].long() - positions.first_code]
            t = t[..., None] if t.ndim == 2 else t  # [b, k, 1 or r]
            messages = self._messages(t, own[rows, None], anchor[positions.nearest[rows].long()])
            return self._reduce_sets(messages)  # from [b, k, r]

        starts = range(0, max(len(x), 1), size)
        outputs = [self._recomputed(block, own, anchor, gate, start) for start in starts]
        products, hs = zip(*outputs, strict=True)
        return torch.cat(products), torch.cat(hs)

    def _run_whole_sets(self, x: Tensor, distances: MemberProximity) -> tuple[Tensor, Tensor]:
        """Return M w + b `[n, k]` and h `[n, r]`, with M_v[i] = AGG_M over all members of set i."""
        own, anchor = self._project(x, x)
        rows = max(1, _BLOCK_NUMBERS // (max(len(x), distances.num_sets) * anchor.shape[1]))
        reduce_members = _REDUCE[self.agg_m]

        def block(
            own: Tensor, anchor: Tensor, start: int, stop: int, sets: Sequence[Tensor]
        ) -> tuple[Tensor, Tensor]:
            s = torch.as_tensor(distances.proximity(start, stop)).to(x)[..., None]  # [b, n, 1]
            own = own[start:stop, None]
            messages = self._messages(self._gated(s), own, anchor)  # [b, n, r]
            # A set without a member in this graph says what a set that is not reached says.
            unreached, no_features = torch.zeros_like(s[:, :1]), torch.zeros_like(anchor[:1])
            absent = self._messages(self._gated(unreached), own, no_features)[:, 0]  # [b, r]
            by_set = [
                reduce_members(messages[:, nodes]) if len(nodes) else absent for nodes in sets
            ]
            return self._reduce_sets(torch.stack(by_set, 1))  # from [b, k, r]

        outputs = []
        for start, stop, sets in distances.blocks(rows):
            members = [torch.tensor(nodes, dtype=torch.long, device=x.device) for nodes in sets]
            outputs.append(self._recomputed(block, own, anchor, start, stop, members))
        products, hs = zip(*outputs, strict=True)
        return torch.cat(products), torch.cat(hs)

    def _project(self, x: Tensor, speakers: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_v x and W_u speakers; features as they are for a user's F, which takes those."""
        if isinstance(self.message, nn.Module):
            return x, speakers
        own = nn.functional.linear(x, self.weight[0])
        return own, nn.functional.linear(speakers, self.weight[1])

    def _gate_of(self, positions: Positions) -> Tensor:
        """Return the gate of each code `[codes]` or `[codes, r]`, or of each pair `[n, k]`."""
        if positions.levels is not None:
            return self._gated(positions.levels[:, None]).squeeze(-1)
        assert positions.proximity is not None
        if self.gate is None:
            return positions.proximity
        if self.gate.out.out_features > 1:
            raise PGNNError(
                "a vector gate needs proximities of few values; use positions.quantised()"
            )
        s = positions.proximity
        rows = max(1, _BLOCK_NUMBERS // (s.shape[1] * self.out_channels))
        blocks = torch.split(s[..., None], rows)
        gates = [self._recomputed(self._gated, block) for block in blocks]
        return torch.cat(gates).squeeze(-1)

    def _gated(self, s: Tensor) -> Tensor:
        """Return s, or the gate's function of it, `[..., 1]` -> `[..., 1 or r]`."""
        return s if self.gate is None else self.gate(s)

    def _messages(self, gate: Tensor, own: Tensor, anchor: Tensor) -> Tensor:
        """Return F of gates and of what `_project` made; shapes broadcast to `[..., r]`."""
        if isinstance(self.message, nn.Module):
            return self._own_messages(gate, own, anchor)
        before = own + gate * anchor if self.message == "released" else gate * (own + anchor)
        return (before if self.bias is None else before + self.bias).relu()

    def _own_messages(self, s: Tensor, own: Tensor, anchor: Tensor) -> Tensor:
        """Call the user's F with one row per pair."""
        assert isinstance(self.message, nn.Module)
        shape = torch.broadcast_shapes(  # type: ignore[no-untyped-call]
            s.shape[:-1], own.shape[:-1], anchor.shape[:-1]
        )
        flat = [
            tensor.expand(*shape, tensor.shape[-1]).reshape(-1, tensor.shape[-1])
            for tensor in (s, own, anchor)
        ]
        result: Tensor = self.message(*flat)
        expected = (len(flat[0]), self.out_channels)
        if not isinstance(result, Tensor) or result.shape != expected:
            got = list(result.shape) if isinstance(result, Tensor) else type(result).__name__
            raise PGNNError(
                f"the message module F must return [m, {self.out_channels}], here "
                f"{list(expected)} (got {got})"
            )
        return result.view(*shape, self.out_channels)

    def _reduce_sets(self, messages: Tensor) -> tuple[Tensor, Tensor]:
        """Return M w + b `[b, k]` and AGG_S of M `[b, r]`, of M `[b, k, r]`."""
        product = messages @ self.w
        product = product if self.w_bias is None else product + self.w_bias
        return product, _REDUCE[self.agg_s](messages)

    def _recomputed(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function whose intermediates the backward pass computes again."""
        if not torch.is_grad_enabled():
            return function(*args)
        random = isinstance(self.message, nn.Module)  # a user's F may drop out
        return checkpoint(function, *args, use_reentrant=False, preserve_rng_state=random)

    def __repr__(self) -> str:
        message = self.message if isinstance(self.message, str) else type(self.message).__name__
        return (
            f"{type(self).__name__}({self.in_channels}, {self.out_channels}, message={message}, "
            f"agg_m={self.agg_m}, agg_s={self.agg_s})"
        )


def check_features(x: Tensor, in_channels: int, parameter: Tensor) -> None:
    """Raise if x is not finite floats `[n, in_channels]` of the parameters' type and device."""
    if x.ndim != 2 or x.shape[1] != in_channels:
        raise PGNNError(
            Parameter("x"), f" must have shape [n, {in_channels}] (got {list(x.shape)})"
        )
    if not x.is_floating_point():
        raise PGNNError(
            Parameter("x"), f" must be floating-point features (got {x.dtype}); use x.float()"
        )
    if x.device != parameter.device:
        raise PGNNError(
            f"x is on {x.device} but the model is on {parameter.device}; move one of them"
        )
    if x.dtype != parameter.dtype:
        raise PGNNError(
            f"x is {x.dtype} but the model is {parameter.dtype}; use x.to({parameter.dtype})"
        )
    if x.is_meta or math.isfinite(x.sum().item()):  # far cheaper than testing each number
        return
    bad = (~torch.isfinite(x)).any(1).nonzero()  # none, if only the sum was too large
    if len(bad):
        raise PGNNError(
            Parameter("x"), f" must be finite, but row {int(bad[0])} holds NaN or infinity"
        )


def check_dropout(dropout: float) -> None:
    """Raise if a probability of dropping numbers is not one."""
    if not 0 <= dropout <= 1:
        raise PGNNError(Parameter("dropout"), f" must lie in 0..1 (got {dropout})")


def _speakers(x: Tensor, positions: Positions) -> Tensor:
    """Return the features that speak for sets: those of nodes, or means over groups of nodes."""
    if positions.members is None:
        return x
    bounds, nodes = positions.members
    return mean_of_groups(x, bounds, nodes)


def run_as_one(
    layers: Sequence[PGNNLayer],
    x: Tensor,
    distances: Sequence[Positions | MemberProximity],
    projection: tuple[Tensor, Tensor] | None,
    between: Between,
) -> tuple[Tensor, Tensor] | None:
    """Run a model's layers as one step of autograd; None where they have to run one by one.

    Args:
        layers: The layers, all of the same width.
        x: Features, checked.
        distances: What each layer reads, prepared for x.
        projection: Weight and bias of a Linear of x, or None.
        between: What happens around the layers.

    Returns:
        The last layer's z, and its h.
    """
    if not _has_kernels(x):
        return None
    fixed = []
    for layer, positions in zip(layers, distances, strict=True):
        fits = isinstance(positions, Positions) and _is_plain(positions) and layer._can_fuse()
        if not fits or layer.kernel == "eager" or layer._padding(x):
            return None
        assert isinstance(positions, Positions)
        fixed.append(layer._fixed(positions, need_z=layer is layers[-1]))
    sigma = layers[-1].sigma
    inside = between if sigma is None else between._replace(normalize=False)
    weights = [layer._weights(0, x) for layer in layers]
    z, h = fused_model(x, projection, weights, fixed, inside)
    if sigma is None:
        return z, h
    z = layers[-1]._activated(z)
    return of_length_one(z) if between.normalize else z, h


def _widened(tensor: Tensor, pad: int, after: int = 0) -> Tensor:
    """Return a tensor with `pad` zeros more, in the dimension before the last `after`."""
    return nn.functional.pad(tensor, (0, 0) * after + (0, pad)) if pad else tensor


def _is_plain(positions: Positions) -> bool:
    """Return whether single nodes speak, and codes name proximities."""
    return positions.codes is not None and positions.members is None


def _has_kernels(x: Tensor) -> bool:
    return x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
