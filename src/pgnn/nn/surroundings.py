"""Surroundings: features of a node, its neighbours and theirs, without the edge in question."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_LEAST = 1e-6  # deviation; what is the same for all nodes stays 0


class Surroundings(nn.Module):
    r"""What a head may read of the features around both ends of a pair.

    With m_0 = x and m_i(u) the mean of m_(i-1) over the neighbours of u, a node has m_0, m_1, m_2.
    A link must not be told by its ends being neighbours, so the pair's own edge is left out. That
    needs no second look at the graph: the other neighbours of u keep theirs, so for i <= 2

        m_i(u) without {u, v} = (d_u m_i(u) - m_(i-1)(v)) / (d_u - 1).

    Means are standardised: those of many neighbours are nearly equal, and what tells them apart is
    small. A node without neighbours has zeros.

    Args:
        num_features: Number of features of a node, d.

    Shapes:
        rows of nodes: `[..., 3 d + 1]`: m_0, m_1, m_2 and the number of neighbours.
        joined: Whether both ends of each pair are neighbours, `[...]`.
        what is read: `[..., 3 d]` for each end.

    Example:
        >>> u, v = torch.tensor([1.0, 4, 5, 2]), torch.tensor([3.0, 1, 4, 1])
        >>> Surroundings(1)(u, v, torch.tensor(1.0))[0]  # u has lost v: 4 * 2 - 3, 5 * 2 - 1
        tensor([1., 5., 9.])
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.num_features = num_features
        self.register_buffer("mean", torch.zeros(2 * num_features))
        self.register_buffer("scale", torch.ones(2 * num_features))

    @property
    def num_read(self) -> int:
        """How many numbers are read of each end."""
        return 3 * self.num_features

    def measure(self, nodes: Tensor) -> None:
        """Standardise by these rows of nodes, `[n, 3 d + 1]`."""
        means = nodes[:, self.num_features : -1].double()
        self.mean.copy_(means.mean(0))
        self.scale.copy_(means.std(0, correction=0).clamp(min=_LEAST))

    def forward(self, u: Tensor, v: Tensor, joined: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is read of u and of v."""
        return self._end(u, v, joined[..., None]), self._end(v, u, joined[..., None])

    def _end(self, u: Tensor, v: Tensor, joined: Tensor) -> Tensor:
        size = self.num_features
        degree = u[..., -1:]
        left = degree - joined
        sums = degree * u[..., size:-1] - joined * v[..., : 2 * size]
        means = (sums / left.clamp(min=1) - self.mean) / self.scale * (left > 0)
        return torch.cat([u[..., :size], means], dim=-1)
