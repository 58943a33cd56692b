"""What a Learner is made of: its modules, their device, units of measure, scores of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.nn import PRESETS, DistanceDecoder, DotDecoder, make_baseline, make_pgnn
from pgnn.pairs.codes import as_pairs
from pgnn.training.recipe import Recipe

Floats = NDArray[np.float32]


def make_modules(recipe: Recipe, num_features: int) -> tuple[nn.Module, nn.Module]:
    """Return a model and a decoder with weights drawn from torch's generator."""
    decoder: Any = DotDecoder() if recipe.decoder == "dot" else DistanceDecoder()
    if recipe.model in PRESETS:
        model: nn.Module = make_pgnn(
            recipe.model,
            num_features,
            hidden_channels=recipe.hidden_channels,
            dropout=recipe.dropout,
        )
    else:
        width = recipe.hidden_channels
        model = make_baseline(
            recipe.model, num_features, out_channels=width, dropout=recipe.dropout
        )
    return model, decoder


def usable_device(name: str) -> torch.device:
    """Return a device by its name.

    Raises:
        PGNNError: If there is no such device here.
    """
    try:
        probe = torch.zeros(1, device=name)
        probe.cpu()  # a device without memory ("meta") cannot give numbers back
        return probe.device
    except (RuntimeError, AssertionError) as error:  # AssertionError: torch without CUDA
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise PGNNError(f"device {name!r} cannot be used ({line}); use cpu") from error


def mean_weight(graph: Graph) -> float:
    """Return the mean weight of an edge, 1 where there is none."""
    if graph.weights is None or not len(graph.weights):
        return 1.0
    with np.errstate(over="ignore"):  # an infinite unit is refused where it is used
        return float(graph.weights.mean())


def read_standard(tensors: Mapping[str, Tensor]) -> tuple[Floats, Floats] | None:
    """Return mean and deviation of the features among the tensors of a file; None if without.

    Raises:
        ValueError: If only one is there, or they are not such numbers.
    """
    names = ("features.mean", "features.scale")
    if not any(name in tensors for name in names):
        return None
    mean, scale = (tensors[name].numpy() for name in names)
    sound = mean.ndim == 1 and mean.shape == scale.shape and len(mean) > 0
    if not (sound and np.isfinite(mean).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError("mean and deviation of the features make no sense")
    return mean.astype(np.float32), scale.astype(np.float32)


class Scorer:
    """Scores pairs of nodes by embeddings of one or several draws of anchor-sets.

    Attributes:
        embeddings: `[n, d]`, one a draw.
    """

    def __init__(self, decoder: nn.Module, embeddings: list[Tensor]) -> None:
        self.decoder, self.embeddings = decoder, embeddings

    def __call__(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the mean over draws of the chance of each pair, `[m]`."""
        return self.with_spread(pairs)[0]

    def with_spread(self, pairs: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean over draws, and the standard deviation, both `[m]`."""
        index = torch.from_numpy(as_pairs(pairs, len(self.embeddings[0])))
        index = index.to(self.embeddings[0].device)
        total = np.zeros(len(index))
        squares = np.zeros(len(index))
        with torch.no_grad():
            for embedding in self.embeddings:
                chance = torch.sigmoid(self.decoder(embedding, index).double()).cpu().numpy()
                total += chance
                squares += chance**2
        mean = total / len(self.embeddings)
        return mean, np.sqrt(np.maximum(squares / len(self.embeddings) - mean**2, 0))
