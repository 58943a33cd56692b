"""PairHeads: several small networks that read the same numbers about a pair, trained at once."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, silu

from pgnn.nn.surroundings import Surroundings


class PairHeads(nn.Module):
    r"""An ensemble of perceptrons that turn columns of a pair into a logit each.

    Member i computes f_i(c) = w_i . SiLU(W_i2 SiLU(W_i1 c)), where c holds the columns of the pair
    and, if nodes have features, what a small network g_i makes of both ends, the same for (u, v)
    and (v, u): \|g_i(x_u) - g_i(x_v)\|, g_i(x_u) g_i(x_v) and g_i(x_u) + g_i(x_v). All members are
    one batched product.

    A perceptron that has seen few links is best averaged with something simpler: `lean` gives each
    member a linear part that the columns alone decide.

    Args:
        num_columns: Number of columns of a pair.
        num_features: Number of features of a node; 0 for none.
        num_members: Number of members.
        width: Width of the hidden layers.
        depth: Number of hidden layers.
        feature_width: Length of g.
        dropout: Chance that a number behind a hidden layer is dropped in training.
        ordered: Whether (u, v) is another pair than (v, u): then g_i(x_u) and g_i(x_v) themselves
            are read in place of their sum.
        around: Whether g_i reads what `Surroundings` has to say of both ends, too.

    Shapes:
        columns: `[b, num_columns]`, or `[num_members, b, num_columns]` for pairs of their own.
        features: Those of both ends, each `[b, num_features]` or with a leading `num_members`; of
            `around` the rows of `Surroundings`.
        joined: Of `around`, whether both ends are neighbours, `[b]` or with `num_members`.
        logits: `[num_members, b]`.

    Example:
        >>> PairHeads(5, num_members=3)(torch.zeros(4, 5)).shape
        torch.Size([3, 4])
    """

    linear_weight: Tensor
    linear_bias: Tensor
    linear_share: Tensor

    def __init__(
        self,
        num_columns: int,
        num_features: int = 0,
        *,
        num_members: int = 8,
        width: int = 64,
        depth: int = 2,
        feature_width: int = 32,
        dropout: float = 0.0,
        ordered: bool = False,
        around: bool = False,
    ) -> None:
        super().__init__()
        self.ordered = ordered
        self.dropout = dropout
        self.num_members = num_members
        self.tower = None
        self.around = Surroundings(num_features) if around else None
        inputs = num_columns
        if num_features:
            self.tower = nn.ModuleList(
                [
                    _Layer(
                        num_members,
                        self.around.num_read if self.around else num_features,
                        feature_width,
                    ),
                    _Layer(num_members, feature_width, feature_width),
                ]
            )
            inputs += (4 if ordered else 3) * feature_width
        widths = [inputs, *[width] * depth]
        self.hidden = nn.ModuleList(
            _Layer(num_members, before, after) for before, after in pairwise(widths)
        )
        self.last = _Layer(num_members, width, 1, gain=0.1)
        self.register_buffer("linear_weight", torch.zeros(num_members, num_columns, 1))
        self.register_buffer("linear_bias", torch.zeros(num_members, 1, 1))
        self.register_buffer("linear_share", torch.zeros(()))

    def lean(self, weight: Tensor, bias: Tensor, share: float) -> None:
        """Let a share of each member's logit be linear in the columns.

        Args:
            weight: `[num_members, num_columns]`.
            bias: `[num_members]`.
            share: Of the linear part: 0 for none, as at first.
        """
        self.linear_weight.copy_(weight[:, :, None])
        self.linear_bias.copy_(bias[:, None, None])
        self.linear_share.fill_(share)

    def forward(
        self,
        columns: Tensor,
        features: tuple[Tensor, Tensor] | None = None,
        joined: Tensor | None = None,
    ) -> Tensor:
        """Return the logit of each member for each pair."""
        h = self._expand(columns)  # [members, b, columns]
        linear = torch.baddbmm(self.linear_bias, h, self.linear_weight)
        if self.tower is not None and features is not None:
            if self.around is not None and joined is not None:
                features = self.around(*features, joined)
            a, b = (self._node(self._expand(x)) for x in features)
            whose = [a, b] if self.ordered else [a + b]
            h = torch.cat([h, (a - b).abs(), a * b, *whose], dim=-1)
        for layer in self.hidden:
            h = dropout(silu(layer(h)), self.dropout, self.training)
        logits: Tensor = torch.lerp(self.last(h), linear, self.linear_share)
        return logits.squeeze(-1)

    def _node(self, x: Tensor) -> Tensor:
        """Return what the members make of a node's features."""
        for layer in self.tower or ():
            x = silu(layer(x))
        return x

    def _expand(self, x: Tensor) -> Tensor:
        return x if x.dim() == 3 else x.expand(self.num_members, -1, -1)


class _Layer(nn.Module):
    """One linear map per member: `[members, b, before]` to `[members, b, after]`."""

    def __init__(self, num_members: int, before: int, after: int, *, gain: float = 2.0) -> None:
        super().__init__()
        scale = math.sqrt(gain / before)
        self.weight = nn.Parameter(torch.randn(num_members, before, after) * scale)
        self.bias = nn.Parameter(torch.zeros(num_members, 1, after))

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, x, self.weight)
