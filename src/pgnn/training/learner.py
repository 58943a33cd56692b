"""Learner: a model with all it needs to read a graph, to be trained, asked, saved and loaded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.nn import PRESETS
from pgnn.training.batches import Batch, Draws, default_num_sets
from pgnn.training.checkpoint import load_checkpoint, save_checkpoint
from pgnn.training.fit import Fit, Progress, fit, seed_of
from pgnn.training.learner_parts import Scorer as Scorer
from pgnn.training.learner_parts import make_modules, mean_weight, read_standard, usable_device
from pgnn.training.recipe import Recipe
from pgnn.training.splits import PairSet, Split, hide_in_folds, split_links, split_pairs

_DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)
_WEIGHTS, _SPLIT, _FOLDS, _ASK = range(10, 14)  # what a stream of random numbers is for


@dataclass(frozen=True)
class Trained:
    """What training gave besides the learner itself: its course, and the pairs it was judged by."""

    fit: Fit
    split: Split


class Learner:
    """A model and a decoder, and how graphs are made ready for them.

    Args:
        recipe: The settings.
        graph: The graph to train on; it decides how many features and anchor-sets there are.
        device: Where the model is.

    Attributes:
        recipe: The settings, with what was left open decided by the size of the graph.
        num_sets: Number of anchor-sets, the length of embeddings of a P-GNN; 0 for a baseline.
        mean: Mean of each feature of the graph it was trained on, or None if it had none.
        scale: Their standard deviations, or None.
        unit: Mean weight of an edge that training saw: lengths are measured in it.
        model: From features and positions (or edges) to embeddings.
        decoder: From embeddings to scores of pairs.
    """

    mean: NDArray[np.float32] | None
    scale: NDArray[np.float32] | None

    def __init__(self, recipe: Recipe, graph: Graph, *, device: str = "cpu") -> None:
        recipe = recipe.resolved(graph.num_nodes)
        num_sets = 0
        if recipe.model in PRESETS:
            num_sets = recipe.num_sets or default_num_sets(graph.num_nodes, PRESETS[recipe.model].c)
        x = None if graph.x is None or not graph.x.shape[1] else graph.x.astype(np.float64)
        self._build(recipe, num_sets, None if x is None else x.shape[1], device)
        if x is not None:
            constant = np.ptp(x, axis=0) == 0
            self.mean = x.mean(axis=0).astype(np.float32)
            deviation = x.std(axis=0).astype(np.float32)  # may be too small for float32
            self.scale = np.where(constant | (deviation == 0), np.float32(1), deviation)
        self.unit = mean_weight(graph)

    def _build(self, recipe: Recipe, num_sets: int, num_features: int | None, device: str) -> None:
        self.recipe, self.num_sets = recipe, num_sets
        self.mean = self.scale = None
        self.unit = 1.0
        self.device = usable_device(device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(recipe.seed, _WEIGHTS))
            self.model, self.decoder = make_modules(recipe, num_features or 1)
        self.model.to(self.device)
        self.decoder.to(self.device)

    @classmethod
    def of(
        cls, recipe: Recipe, model: nn.Module, decoder: nn.Module, *, graph: Graph, num_sets: int
    ) -> Learner:
        """Wrap modules that were trained elsewhere on graphs with features like this one's."""
        found = cls.__new__(cls)
        found.recipe, found.num_sets, found.unit = recipe, num_sets, 1.0
        found.model, found.decoder = model, decoder
        found.device = next(model.parameters()).device
        found.mean = found.scale = None
        if graph.x is not None and not np.array_equal(graph.x, np.ones((len(graph.x), 1))):
            width = graph.x.shape[1]
            found.mean, found.scale = np.zeros(width, np.float32), np.ones(width, np.float32)
        return found

    # ------------------------------------------------------------------ training

    @property
    def draws(self) -> Draws | None:
        """How positions are drawn; None for a baseline."""
        if self.recipe.model not in PRESETS:
            return None
        preset = PRESETS[self.recipe.model]
        return Draws(
            preset.proximity,
            preset.cutoff,
            num_sets=self.num_sets,
            scheme=self.recipe.scheme,
            alpha=preset.alpha,
            tol=preset.tol,
        )

    def split(self, graph: Graph) -> Split:
        """Split a graph into what training sees, and pairs to learn from, choose by and judge by.

        The same graph is split the same way each time.
        """
        chosen = self.recipe
        rng = np.random.default_rng(seed_of(chosen.seed, _SPLIT))
        maker = split_links if chosen.task == "link" else split_pairs
        return maker(graph, rng=rng, val=chosen.val, test=chosen.test)

    def train(
        self,
        graph: Graph,
        *,
        checkpoint: Path | None = None,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Trained:
        """Train on a graph and keep the state that is best on validation pairs.

        Args:
            graph: The whole graph; held-out edges are hidden from the model.
            checkpoint: File to write the state to now and then.
            resume: Whether to go on from the checkpoint if there is one.
            progress: Called with each epoch's record.

        Raises:
            PGNNError: If the graph is too small to be split, has no labels for task "pair", or
                training fails.
        """
        split = self.split(graph)
        self.unit = mean_weight(split.graph)  # held-out edges have no say in it
        seen = replace(split, graph=self.ready(split.graph))
        splits: Sequence[Split] = [seen]
        if self.recipe.task == "link" and self.recipe.folds:
            splits = hide_in_folds(
                seen,
                self.recipe.folds,
                rng=np.random.default_rng(seed_of(self.recipe.seed, _FOLDS)),
            )
        found = fit(
            self.model,
            self.decoder,
            splits,
            settings=self.recipe.fit_settings(),
            draws=self.draws,
            seed=self.recipe.seed,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress,
        )
        return Trained(found, split)

    # ------------------------------------------------------------------ asking

    def embed(self, graph: Graph, *, draw: int = 0) -> NDArray[np.float32]:
        """Return the embedding of each node of any graph, float32 `[n, d]`.

        A P-GNN describes nodes by their distances to one draw of anchor-sets, the same for the same
        `draw` and graph. Embeddings of different draws, or of different graphs, do not compare
        number by number; scores do.
        """
        with self._asking():
            return np.asarray(self._embedding(self._batch(graph), draw).cpu())

    def scorer(self, graph: Graph, *, num_draws: int | None = None) -> Scorer:
        """Return what scores pairs of nodes of a graph, over some draws of anchor-sets."""
        draws = 1 if self.draws is None else num_draws or self.recipe.eval_draws
        with self._asking():
            batch = self._batch(graph)
            found = [self._embedding(batch, draw) for draw in range(draws)]
        return Scorer(self.decoder, found)

    def ready(self, graph: Graph) -> Graph:
        """Return a graph as the model reads it: features standardised, weights as it needs them.

        Raises:
            PGNNError: If it has not the features that the model was made for, or its weights are
                beyond what numbers can hold in the unit of the model.
        """
        x = self._features(graph)
        return replace(graph, x=x, weights=self._weights(graph))

    def _weights(self, graph: Graph) -> NDArray[np.float64] | None:
        if graph.weights is None:
            return None
        draws = self.draws
        with np.errstate(all="ignore"):  # what does not fit is refused below
            weights = graph.weights / self.unit
            if draws is not None and (draws.proximity == "ppr") == (
                self.recipe.weights == "length"
            ):
                weights = 1 / weights  # walks read strengths, searches lengths
        if not ((weights > 0) & np.isfinite(weights)).all():
            raise PGNNError(
                f"weights from {graph.weights.min():g} to {graph.weights.max():g} are too far from "
                f"the mean weight in training, {self.unit:g}; scale or clip them"
            )
        return weights

    def _features(self, graph: Graph) -> NDArray[np.float32]:
        if self.mean is None or self.scale is None:
            return np.ones((graph.num_nodes, 1), dtype=np.float32)
        have = 0 if graph.x is None else graph.x.shape[1]
        if graph.x is None or have != len(self.mean):
            raise PGNNError(
                f"the model was trained with {len(self.mean)} features a node, and this graph has "
                f"{have or 'none'}; give the same features"
            )
        return ((graph.x - self.mean) / self.scale).astype(np.float32)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        self.model.eval()
        with torch.no_grad():
            yield

    def _batch(self, graph: Graph) -> Batch:
        none = PairSet(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool))
        return Batch([Split(self.ready(graph), none, none, none)], self.device)

    def _embedding(self, batch: Batch, draw: int) -> Tensor:
        if self.draws is None:
            found: Tensor = self.model(batch.x, batch.edge_index)
        else:
            rng = np.random.default_rng(seed_of(self.recipe.seed, _ASK, draw))
            threads = torch.get_num_threads()
            found = self.model(batch.x, batch.draw(self.draws, rng, num_threads=threads))
        if not bool(torch.isfinite(found).all()):
            raise PGNNError("the model gives embeddings that are not finite; was it trained?")
        return found

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Write the learner to one safetensors file, whole or not at all."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        tensors |= {f"decoder.{name}": t for name, t in self.decoder.state_dict().items()}
        if self.mean is not None and self.scale is not None:
            tensors |= {
                "features.mean": torch.from_numpy(self.mean),
                "features.scale": torch.from_numpy(self.scale),
            }
        save_checkpoint(
            path,
            tensors,
            {
                "kind": "learner",
                "recipe": asdict(self.recipe),
                "num_sets": self.num_sets,
                "unit": self.unit,
            },
        )

    @classmethod
    def load(cls, path: str | Path, *, device: str = "cpu") -> Learner:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            PGNNError: If the file is absent, damaged, of a newer format, or something else.
        """
        usable_device(device)  # a device that is not there is no fault of the file
        tensors, description = load_checkpoint(path)
        try:
            if description.get("kind") != "learner":
                raise ValueError("it holds something else")
            recipe = Recipe.from_dict(description["recipe"])
            standard = read_standard(tensors)
            num_features = None if standard is None else len(standard[0])
            found = cls.__new__(cls)
            found._build(recipe, int(description["num_sets"]), num_features, device)
            found.mean, found.scale = (None, None) if standard is None else standard
            found.unit = float(description["unit"])
            has_sets = recipe.model in PRESETS
            if not 0 < found.unit < math.inf or (found.num_sets > 0) != has_sets:
                raise ValueError("its unit or its number of sets makes no sense")
            for name, module in (("model.", found.model), ("decoder.", found.decoder)):
                module.load_state_dict(
                    {k[len(name) :]: t for k, t in tensors.items() if k.startswith(name)}
                )
        except _DAMAGED as error:
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise PGNNError(f"{path}: not a trained model of pgnn, or damaged ({text})") from error
        return found
