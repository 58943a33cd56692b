"""PGNN: layers one after the other, as Algorithm 1 chains them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from torch import Tensor, nn

from pgnn.checks import MAX_LAYERS, channels, checked, integer
from pgnn.errors import Parameter, PGNNError
from pgnn.nn.by_rows import of_length_one
from pgnn.nn.fused import Between
from pgnn.nn.layer import Aggregate, PGNNLayer, check_dropout, check_features, run_as_one
from pgnn.nn.positions import prepare_distances


class PGNN(nn.Module):
    r"""Position-aware graph neural network (https://arxiv.org/abs/1906.04817), Algorithm 1.

    h^0_v = x_v, or a Linear of it; each `PGNNLayer` makes h^l of h^(l-1); the last one's z is the
    output: one number for each node and anchor-set. What is learned does not depend on the graph:
    the same model reads any graph and any number of sets.

    Args:
        in_channels: Number of features per node.
        hidden_channels: Length r of messages and of h.
        num_layers: Number of layers L.
        message: F: "paper", "released" or a function that makes a module for each layer, called
            with the layer's in_channels and out_channels; see `PGNNLayer`.
        gate: What becomes of the proximity within F: "none", "scalar" or "vector".
        agg_m: AGG_M, over the members of a set.
        agg_s: AGG_S, over the sets.
        sigma: Non-linearity of z: "relu", "sigmoid", "tanh", a function, or None.
        normalize: Whether each row of z is scaled to length 1.
        dropout: Probability that a number of h between layers is dropped in training.
        project_input: Whether a Linear takes x to hidden_channels first.
        bias: Whether F's Linear and w have one.

    Shapes:
        x `[n, in_channels]`, distances of n nodes to k sets -> z `[n, k]`.

    Example:
        >>> import pgnn, torch
        >>> g = pgnn.Graph.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> d = pgnn.anchor_distances(g, pgnn.sample_anchor_sets(4, rng=0))
        >>> PGNN(in_channels=1)(torch.ones(4, 1), d).shape
        torch.Size([4, 4])
    """

    @checked
    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 32,
        num_layers: int = 2,
        *,
        message: Literal["paper", "released"] | Callable[[int, int], nn.Module] = "paper",
        gate: Literal["none", "scalar", "vector"] = "none",
        agg_m: Aggregate = "closest",
        agg_s: Literal["mean", "min", "max", "sum"] = "mean",
        sigma: str | Callable[[Tensor], Tensor] | None = None,
        normalize: bool = False,
        dropout: float = 0.0,
        project_input: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        channels(in_channels=in_channels, hidden_channels=hidden_channels)
        channels(hidden_channels=hidden_channels)  # from one layer to the next
        self.in_channels, self.hidden_channels = in_channels, hidden_channels
        self.num_layers = integer("num_layers", num_layers, at_least=1, at_most=MAX_LAYERS)
        check_dropout(dropout)
        if isinstance(message, nn.Module):
            raise PGNNError(
                Parameter("message"),
                " must make a module for each layer; give a class or function of "
                "(in_channels, out_channels), not a module",
            )
        self.agg_m = agg_m
        self.normalize = normalize
        self.dropout = dropout
        self.input = nn.Linear(in_channels, hidden_channels) if project_input else None
        widths = [hidden_channels if project_input else in_channels]
        widths += [hidden_channels] * (num_layers - 1)
        self.layers = nn.ModuleList(
            PGNNLayer(
                width,
                hidden_channels,
                message=message(width, hidden_channels) if callable(message) else message,
                gate=gate,
                agg_m=agg_m,
                agg_s=agg_s,
                sigma=sigma if last else None,
                bias=bias,
            )
            for width, last in zip(widths, [False] * (num_layers - 1) + [True], strict=True)
        )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        if self.input is not None:
            self.input.reset_parameters()
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    @checked
    def forward(self, x: Tensor, distances: Any) -> Tensor:
        """Return the position-aware embeddings z `[n, k]` of the last layer.

        Args:
            x: Features `[n, in_channels]`.
            distances: `pgnn.AnchorDistances` or `Positions` (`pgnn.MemberDistances` for another
                agg_m than "closest") of one graph or a disjoint union, which all layers share; or a
                list of them, one per layer, if each layer has anchors of its own.

        Raises:
            PGNNError: If x or the distances do not fit the model or each other.
        """
        return self.encode(x, distances)[0]

    @checked
    def encode(self, x: Tensor, distances: Any) -> tuple[Tensor, Tensor]:
        """Return the last layer's z `[n, k]` and structure-aware h `[n, hidden_channels]`."""
        check_features(x, self.in_channels, next(self.parameters()))
        if isinstance(distances, Sequence):
            if len(distances) != self.num_layers:
                raise PGNNError(
                    f"a list of distances needs one entry per layer, {self.num_layers} "
                    f"(got {len(distances)})"
                )
            prepared = [prepare_distances(x, entry, self.agg_m) for entry in distances]
        else:
            prepared = [prepare_distances(x, distances, self.agg_m)] * self.num_layers
        between = Between(self.dropout if self.training else 0.0, self.normalize)
        projection = None if self.input is None else (self.input.weight, self.input.bias)
        layers = [layer for layer in self.layers if isinstance(layer, PGNNLayer)]
        at_once = run_as_one(layers, x, prepared, projection, between)
        return self._one_by_one(x, prepared) if at_once is None else at_once

    def _one_by_one(self, x: Tensor, prepared: Sequence[Any]) -> tuple[Tensor, Tensor]:
        """Do what `encode` does on checked inputs, layer after layer."""
        h: Tensor = x if self.input is None else self.input(x)
        z: Tensor | None = None
        for number, (layer, entry) in enumerate(zip(self.layers, prepared, strict=True)):
            assert isinstance(layer, PGNNLayer)
            last = number == self.num_layers - 1
            z, h = layer._run(h, entry, need_z=last)
            if not last:
                h = nn.functional.dropout(h, self.dropout, self.training)
        assert z is not None
        if self.normalize:
            z = of_length_one(z)
        return z, h

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.in_channels}, {self.hidden_channels}, "
            f"num_layers={self.num_layers})"
        )
