"""Slow and obvious twins: Algorithm 1 of the paper, line by line, and features around a pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from pgnn.checks import one_of
from pgnn.errors import Parameter, PGNNError

Message = Callable[[Tensor, Tensor, Tensor], Tensor]
"""F(s, h_v, h_u): the proximity s [], features h_v [d] and h_u [d] -> a message [r]."""

Form = Literal["paper", "released"]

_AGGREGATES: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": lambda messages: messages.mean(0),
    "min": lambda messages: messages.amin(0),  # equal entries share the gradient
    "max": lambda messages: messages.amax(0),
    "sum": lambda messages: messages.sum(0),
    "closest": lambda messages: messages[0],  # the only one computed
}
_AGG_S = ["mean", "min", "max", "sum"]


@dataclass(frozen=True, eq=False)
class ReferenceLayer:
    r"""What one pass of Algorithm 1's outer loop needs; give layers the same sets to share them.

    Attributes:
        sets: The k anchor-sets S_i, each a list of nodes.
        proximity: s(v, u), a matrix `[n, n]` or a function of two nodes: 1/(d+1) of hops or
            lengths, personalised PageRank, anything that grows with nearness. Never negative, and
            0 where u cannot be reached from v.
        message: F; see `linear_message` for the two forms of the experiments.
        weight: w `[r]`.
        bias: Added to M_v w before sigma, `[]`. The paper has none, the released code has one.
        sigma: Non-linearity of z; None for none, as in the released code.
        agg_m: AGG_M, over the members of a set: "mean", "min", "max", "sum", or "closest": the
            message of the one member with the largest s(v, u), the lowest index among equals. If
            no member has s > 0, that message is F(0, h_v, 0), with zeros for features.
        agg_s: AGG_S, over the sets: "mean", "min", "max" or "sum".
    """

    sets: Sequence[Sequence[int]]
    proximity: Tensor | Callable[[int, int], Tensor | float]
    message: Message
    weight: Tensor
    bias: Tensor | None = None
    sigma: Callable[[Tensor], Tensor] | None = None
    agg_m: str = "closest"
    agg_s: str = "mean"

    def __post_init__(self) -> None:
        one_of("agg_m", self.agg_m, ["closest", *_AGG_S])
        one_of("agg_s", self.agg_s, _AGG_S)
        if len(self.sets) == 0 or any(len(nodes) == 0 for nodes in self.sets):
            raise PGNNError("a layer needs at least one anchor-set, and each at least one node")
        lowest = min(min(nodes) for nodes in self.sets)
        if lowest < 0:
            raise PGNNError(f"anchor-sets must hold node indices >= 0 (got {lowest})")

    def proximity_of(self, v: int, u: int) -> Tensor:
        """Return s(v, u) as a scalar tensor of w's type."""
        s = self.proximity(v, u) if callable(self.proximity) else self.proximity[v, u]
        s = torch.as_tensor(s, dtype=self.weight.dtype, device=self.weight.device)
        if not s >= 0:
            raise PGNNError(
                Parameter("proximity"), f" must be a number >= 0 (got {s.item()} from {v} to {u})"
            )
        return s


def run_algorithm_1(x: Tensor, layers: Sequence[ReferenceLayer]) -> tuple[Tensor, Tensor]:
    r"""Return z `[n, k]` and h `[n, r]` of the last layer of a P-GNN.

    For each node v and set i, M_v[i] = AGG_M({F(v, u, h_v, h_u) : u in S_i}); then
    z_v = sigma(M_v w + b) and h_v = AGG_S({M_v[i]}), which the next layer reads. All nodes read
    the h of the layer before: the algorithm overwrites h_v while others still need the old one.

    Args:
        x: Node features `[n, d]`.
        layers: One entry per layer.

    Raises:
        PGNNError: If there is no layer, or a message is not of w's shape.

    Example:
        >>> layer = ReferenceLayer(
        ...     [[0], [0, 1]], torch.tensor([[1, 0.5], [0.5, 1]]), lambda s, h_v, h_u: s * h_u,
        ...     weight=torch.ones(1))
        >>> run_algorithm_1(torch.tensor([[2.0], [4.0]]), [layer])[0].tolist()
        [[2.0, 2.0], [1.0, 4.0]]
    """
    return run_algorithm_1_layers(x, layers)[-1]


def run_algorithm_1_layers(
    x: Tensor, layers: Sequence[ReferenceLayer]
) -> list[tuple[Tensor, Tensor]]:
    """Return (z, h) of every layer; see `run_algorithm_1`."""
    if not layers:
        raise PGNNError("Algorithm 1 needs at least one layer (got none)")
    outputs = []
    h = x  # h_v <- x_v
    for layer in layers:  # for l = 1..L; the caller drew S_i ~ V
        k, r = len(layer.sets), len(layer.weight)
        z, h_next = x.new_zeros(len(x), k), x.new_zeros(len(x), r)
        for v in range(len(x)):  # for v in V
            M_v = x.new_zeros(k, r)  # M_v = 0
            for i in range(k):  # for i = 1..k
                messages = _messages(layer, h, v, layer.sets[i])  # M_i <- {F(v, u, h_v, h_u)}
                M_v[i] = _AGGREGATES[layer.agg_m](messages)  # M_v[i] <- AGG_M(M_i)
            product = M_v @ layer.weight if layer.bias is None else M_v @ layer.weight + layer.bias
            z[v] = product if layer.sigma is None else layer.sigma(product)  # z_v <- sigma(M_v w)
            h_next[v] = _AGGREGATES[layer.agg_s](M_v)  # h_v <- AGG_S({M_v[i]})
        h = h_next
        outputs.append((z, h))
    return outputs


def _messages(layer: ReferenceLayer, h: Tensor, v: int, nodes: Sequence[int]) -> Tensor:
    """Return F(v, u, h_v, h_u) of all members u that AGG_M reads, `[count, r]`."""
    if layer.agg_m != "closest":
        read = [(layer.proximity_of(v, u), h[u]) for u in nodes]
    else:
        # max() keeps the first of equals, and the nodes ascend.
        u = max(sorted(nodes), key=lambda node: layer.proximity_of(v, node).item())
        s = layer.proximity_of(v, u)
        read = [(s, h[u] if s > 0 else torch.zeros_like(h[u]))]
    return torch.stack([_message(layer, s, h[v], h_u) for s, h_u in read])


def _message(layer: ReferenceLayer, s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
    message = layer.message(s, h_v, h_u)
    if message.shape != layer.weight.shape:
        raise PGNNError(
            f"the message F must have the shape of w, {list(layer.weight.shape)} "
            f"(got {list(message.shape)})"
        )
    return message


def linear_message(
    form: Form,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    gate: Callable[[Tensor], Tensor] | None = None,
) -> Message:
    r"""Make the F of the experiments: ReLU(W m + b) of a paired vector m of 2d numbers.

    - "paper": m = s * concat(h_v, h_u);
    - "released": m = concat(s * h_u, h_v), the other order, and h_v is not scaled.

    Algorithm 1 wants a message of r numbers and the paper's F gives 2d; how the one becomes the
    other the paper does not say. The released code puts Linear(2d -> r) and ReLU behind m, within
    F, so before AGG_M; both forms do so here.

    Args:
        form: Which m.
        weight: W `[r, 2d]`; its columns follow the order of m.
        bias: b `[r]`.
        gate: Learned function of s, put in its place in m (the released code's MLP of the
            distance). Which member is closest is decided before, by s itself.

    Raises:
        PGNNError: If the form is unknown.

    Example:
        >>> F = linear_message("released", torch.tensor([[1.0, 10.0]]))
        >>> F(torch.tensor(0.5), torch.tensor([3.0]), torch.tensor([4.0]))
        tensor([32.])
    """
    one_of("form", form, get_args(Form))

    def message(s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
        if gate is not None:
            s = gate(s)
        m = s * torch.cat([h_v, h_u]) if form == "paper" else torch.cat([s * h_u, h_v])  # [2d]
        return torch.nn.functional.linear(m, weight, bias).relu()

    return message


def reference_surroundings(x: Tensor, edges: Sequence[tuple[int, int]], u: int, v: int) -> Tensor:
    """Return x, the mean of the neighbours and the mean of theirs, of u in a graph without {u, v}.

    Args:
        x: Features `[n, d]`.
        edges: Pairs of nodes, each once.
        u: The node.
        v: The other end of the pair.

    Returns:
        `[3 d]`; a node without neighbours has a mean of 0.

    Example:
        >>> reference_surroundings(torch.tensor([[1.0], [2.0], [4.0]]), [(0, 1), (1, 2)], 0, 2)
        tensor([1.0000, 2.0000, 2.5000])
    """
    neighbours: list[list[int]] = [[] for _ in x]
    for a, b in edges:
        if {a, b} != {u, v}:
            neighbours[a].append(b)
            neighbours[b].append(a)

    def mean(values: list[Tensor]) -> Tensor:
        return torch.stack(values).mean(0) if values else torch.zeros_like(x[0])

    first = [mean([x[w] for w in each]) for each in neighbours]
    return torch.cat([x[u], first[u], mean([first[w] for w in neighbours[u]])])
