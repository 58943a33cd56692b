"""The paper's baselines: GCN, GraphSAGE, GAT and GIN on PyG's convolutions, and an MLP.

All share one frame: a Linear to the hidden width, then layers with ReLU and dropout between them.
Default widths give each about as many parameters as P-GNN-2L, as the paper promises.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from pgnn.checks import MAX_LAYERS, channels, checked, integer, one_of
from pgnn.errors import Parameter, PGNNError
from pgnn.nn.layer import check_dropout
from pgnn.nn.neighbours import attend_neighbours, neighbours_of, sum_neighbours
from pgnn.nn.pairs import has_kernels


class Baseline(nn.Module):
    """Frame of the baselines; a subclass says what a layer is.

    Args:
        in_channels: Number of features per node.
        hidden_channels: Width between layers; by default the subclass's `default_hidden`.
        out_channels: Length of an embedding.
        num_layers: Number of layers; the paper takes three.
        dropout: Probability that a number between layers is dropped in training.
    """

    default_hidden: ClassVar[int]

    @checked
    def __init__(
        self,
        in_channels: int,
        *,
        hidden_channels: int | None = None,
        out_channels: int = 32,
        num_layers: int = 3,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if hidden_channels is None:
            hidden_channels = self.default_hidden
        channels(
            in_channels=in_channels, hidden_channels=hidden_channels, out_channels=out_channels
        )
        channels(hidden_channels=hidden_channels)  # from one hidden layer to the next
        self.in_channels, self.hidden_channels = in_channels, hidden_channels
        self.out_channels = out_channels
        self.num_layers = integer("num_layers", num_layers, at_least=1, at_most=MAX_LAYERS)
        check_dropout(dropout)
        self.dropout = dropout
        self.input = nn.Linear(in_channels, hidden_channels)
        widths = [hidden_channels] * num_layers + [out_channels]
        self.layers = nn.ModuleList(
            self.make_layer(before, after) for before, after in pairwise(widths)
        )

    def make_layer(self, in_channels: int, out_channels: int) -> Any:
        """Return one layer, called as layer(x, edge_index)."""
        raise NotImplementedError

    def apply_layer(self, layer: Any, x: Tensor, edge_index: Tensor) -> Tensor:
        """Run one layer: with compiled kernels on the CPU, elsewhere as PyG does."""
        if has_kernels(x) and edge_index.device.type == "cpu":
            return self.apply_kernels(layer, x, edge_index)
        out: Tensor = layer(x, edge_index)
        return out

    def apply_kernels(self, layer: Any, x: Tensor, edge_index: Tensor) -> Tensor:
        """Run one layer on the CPU; a row for each edge, as PyG makes, costs most of the time."""
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.input.reset_parameters()
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    @checked
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return embeddings of all nodes.

        Args:
            x: Features `[n, in_channels]`.
            edge_index: Edges `[2, e]`, int64; an undirected edge is there in both directions.

        Returns:
            Embeddings `[n, out_channels]`.

        Raises:
            PGNNError: If a shape or type is wrong.
        """
        if x.ndim != 2 or x.shape[1] != self.in_channels:
            raise PGNNError(
                Parameter("x"), f" must have shape [n, {self.in_channels}] (got {list(x.shape)})"
            )
        if edge_index.ndim != 2 or edge_index.shape[0] != 2 or edge_index.dtype != torch.int64:
            raise PGNNError(
                Parameter("edge_index"),
                " must be int64 of shape [2, e] "
                f"(got {edge_index.dtype} of shape {list(edge_index.shape)})",
            )
        if x.dtype != self.input.weight.dtype:
            raise PGNNError(Parameter("x"), f" must be {self.input.weight.dtype} (got {x.dtype})")
        h: Tensor = self.input(x)
        for position, layer in enumerate(self.layers):
            if position > 0:
                h = nn.functional.dropout(h.relu(), self.dropout, self.training)
            h = self.apply_layer(layer, h, edge_index)
        return h

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.in_channels}, {self.hidden_channels}, "
            f"{self.out_channels}, num_layers={self.num_layers})"
        )


# PyG takes seconds to import, so it loads when the first layer of a baseline is made.


class GCN(Baseline):
    r"""Graph convolutional network (https://arxiv.org/abs/1609.02907).

    h'_v = W sum over u in N(v) + {v} of h_u / sqrt(d_u d_v) + b.

    Example:
        >>> model = GCN(in_channels=1).eval()
        >>> model(torch.ones(3, 1), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).shape
        torch.Size([3, 32])
    """

    default_hidden = 40

    def make_layer(self, in_channels: int, out_channels: int) -> Any:
        """Return PyG's GCNConv."""
        from torch_geometric.nn import GCNConv

        return GCNConv(in_channels, out_channels)

    def apply_kernels(self, layer: Any, x: Tensor, edge_index: Tensor) -> Tensor:
        """Run one layer on the CPU."""
        neighbours = neighbours_of(edge_index, len(x), loops=True)
        factor = (neighbours.sources.counts**-0.5).astype(_numbers_of(x))
        out: Tensor = sum_neighbours(layer.lin(x), neighbours, factor, factor) + layer.bias
        return out


class GraphSAGE(Baseline):
    r"""GraphSAGE with the mean of all neighbours (https://arxiv.org/abs/1706.02216).

    h'_v = W_1 h_v + W_2 mean over u in N(v) of h_u + b.
    """

    default_hidden = 26

    def make_layer(self, in_channels: int, out_channels: int) -> Any:
        """Return PyG's SAGEConv."""
        from torch_geometric.nn import SAGEConv

        return SAGEConv(in_channels, out_channels)

    def apply_kernels(self, layer: Any, x: Tensor, edge_index: Tensor) -> Tensor:
        """Run one layer on the CPU."""
        neighbours = neighbours_of(edge_index, len(x), loops=False)
        share = (1 / np.maximum(neighbours.sources.counts, 1)).astype(_numbers_of(x))
        mean = sum_neighbours(x, neighbours, share, np.ones_like(share))
        out: Tensor = layer.lin_l(mean) + layer.lin_r(x)
        return out


class GAT(Baseline):
    r"""Graph attention network of one head (https://arxiv.org/abs/1710.10903).

    h'_v = sum over u in N(v) + {v} of alpha_vu W h_u + b, alpha_vu the softmax over u of
    LeakyReLU(a_1 . W h_v + a_2 . W h_u).
    """

    default_hidden = 38

    def make_layer(self, in_channels: int, out_channels: int) -> Any:
        """Return PyG's GATConv."""
        from torch_geometric.nn import GATConv

        return GATConv(in_channels, out_channels)

    def apply_kernels(self, layer: Any, x: Tensor, edge_index: Tensor) -> Tensor:
        """Run one layer on the CPU."""
        neighbours = neighbours_of(edge_index, len(x), loops=True)
        h = layer.lin(x)
        own, other = h @ layer.att_dst.view(-1), h @ layer.att_src.view(-1)
        attended = attend_neighbours(h, neighbours, own, other, layer.negative_slope)
        out: Tensor = attended + layer.bias
        return out


class GIN(Baseline):
    r"""Graph isomorphism network (https://arxiv.org/abs/1810.00826).

    h'_v = MLP(h_v + sum over u in N(v) of h_u), the MLP of two Linear with a ReLU between, which
    is what makes a GIN as able as the Weisfeiler-Lehman test (the released code has one Linear).
    """

    default_hidden = 26

    def make_layer(self, in_channels: int, out_channels: int) -> Any:
        """Return PyG's GINConv around a two-layer MLP."""
        channels(out_channels=out_channels)  # from one of its layers to the next
        from torch_geometric.nn import GINConv

        return GINConv(
            nn.Sequential(
                nn.Linear(in_channels, out_channels),
                nn.ReLU(),
                nn.Linear(out_channels, out_channels),
            )
        )

    def apply_kernels(self, layer: Any, x: Tensor, edge_index: Tensor) -> Tensor:
        """Run one layer on the CPU."""
        neighbours = neighbours_of(edge_index, len(x), loops=False)
        ones = np.ones(len(x), dtype=_numbers_of(x))
        out: Tensor = layer.nn((1 + layer.eps) * x + sum_neighbours(x, neighbours, ones, ones))
        return out


class MLP(Baseline):
    """Multilayer perceptron of each node's own features; edges are taken and not used."""

    default_hidden = 40

    def make_layer(self, in_channels: int, out_channels: int) -> Any:
        """Return a Linear."""
        return nn.Linear(in_channels, out_channels)

    def apply_layer(self, layer: Any, x: Tensor, edge_index: Tensor) -> Tensor:  # noqa: ARG002
        """Run one layer on the features alone."""
        out: Tensor = layer(x)
        return out


def _numbers_of(x: Tensor) -> Any:
    """Return numpy's name of the type of a tensor on the CPU."""
    return np.float32 if x.dtype == torch.float32 else np.float64


_BASELINES: dict[str, type[Baseline]] = {
    "gcn": GCN,
    "sage": GraphSAGE,
    "gat": GAT,
    "gin": GIN,
    "mlp": MLP,
}


@checked
def make_baseline(
    name: str, in_channels: int, *, out_channels: int = 32, dropout: float = 0.5
) -> Baseline:
    """Build a baseline by name.

    Args:
        name: One of gcn, sage, gat, gin, mlp.
        in_channels: Number of features per node.
        out_channels: Length of an embedding.
        dropout: Probability that a number between layers is dropped in training.

    Raises:
        PGNNError: If the name is unknown.

    Example:
        >>> make_baseline("sage", in_channels=5)
        GraphSAGE(5, 26, 32, num_layers=3)
    """
    one_of("name", name, _BASELINES)
    return _BASELINES[name](in_channels, out_channels=out_channels, dropout=dropout)
