"""Learner: a model with all it needs to read a graph; it is trained, asked, saved and loaded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from pgnn import checks
from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.memory import least_needed
from pgnn.names import BEST
from pgnn.nn import PRESETS, DistanceDecoder, DotDecoder, PairDecoder, make_baseline, make_pgnn
from pgnn.pairs.codes import as_pairs
from pgnn.pairs.sets import PairSet, Split
from pgnn.training.anchors import PlacedAnchors, RunAnchors, place_anchors
from pgnn.training.batches import Batch, Draws, default_num_sets
from pgnn.training.checkpoint import check_widths, load_checkpoint, save_checkpoint
from pgnn.training.fit import Fit, Progress, fit
from pgnn.training.recipe import MAX_DRAWS, Recipe
from pgnn.training.seeds import Purpose, generator_of
from pgnn.training.splits import hide_in_folds

# Bytes that training with PageRank takes at least: members and positions of the sets are torch's.
# Measured on 20,000 nodes and 1,000 sets.
_LEAST_MEMORY, _MEMORY_PER_POSITION = 600e6, 25

Floats = NDArray[np.float32]
_CHECKED_ROWS = 1 << 12  # at once, so that the check takes little memory
_DAMAGED = (
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError),
    MemoryError,
)


@checked
@dataclass(frozen=True, eq=False)
class Inputs:
    """How a graph is made ready for a model, as fixed by the graphs that it learns from.

    Attributes:
        num_sets: Number of anchor-sets, the length of embeddings of a P-GNN; 0 for a baseline.
        mean: Mean of each node feature, or None if the graphs have no features.
        scale: Standard deviation of each node feature, or None.
        unit: Mean weight of a visible edge: lengths are measured in it.
    """

    num_sets: int
    mean: Floats | None = None
    scale: Floats | None = None
    unit: float = 1.0

    @classmethod
    @checked
    def of(cls, recipe: Recipe, graphs: Sequence[Graph], *, standardise: bool = True) -> Inputs:
        """Measure visible graphs: edges that are held out have no say.

        Args:
            recipe: The settings.
            graphs: Graphs of which all have features, equally many, or none.
            standardise: Whether features still have to be standardised.
        """
        if len(graphs) == 0:
            raise PGNNError(Parameter("graphs"), " must be at least one")
        num_sets = 0
        if recipe.model in PRESETS:
            c = recipe.c or PRESETS[recipe.model].c
            largest = max(graph.num_nodes for graph in graphs)
            num_sets = recipe.num_sets or default_num_sets(largest, c)
        mean, scale = feature_scale(graphs, standardise)
        return cls(num_sets, mean, scale, _mean_weight(graphs))


@checked
@dataclass(frozen=True, eq=False)
class Learner:
    """A recipe, modules and inputs: the value that training improves and questions are put to.

    `make_learner` makes one with fresh weights, `Learner.load` one from a file.

    Attributes:
        recipe: The settings, with what was left open decided by the size of the graph.
        inputs: How graphs are made ready.
        model: From features and positions (or edges) to embeddings.
        decoder: From embeddings to scores of pairs.
        anchors: The anchor-sets of the graph it was trained on, kept for embeddings, or None.
    """

    recipe: Recipe
    inputs: Inputs
    model: nn.Module
    decoder: PairDecoder
    anchors: RunAnchors | None = None

    @property
    def num_sets(self) -> int:
        """Number of anchor-sets; 0 for a baseline."""
        return self.inputs.num_sets

    @property
    def num_features(self) -> int:
        """Number of features per node that the model was made for; 0 for none."""
        return 0 if self.inputs.mean is None else len(self.inputs.mean)

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return next(self.model.parameters()).device

    @property
    def embedding_width(self) -> int:
        """How many numbers the embedding of a node has."""
        return self.num_sets or self.recipe.hidden_channels or 0

    # ------------------------------------------------------------------ training

    @checked
    def train(
        self,
        splits: Sequence[Split],
        *,
        checkpoint: Path | None = None,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Fit:
        """Train on the pairs of splits and keep the state that is best on validation pairs.

        Args:
            splits: What `pgnn.training.splits` made; the model sees visible graphs only.
            checkpoint: File to write the state to now and then.
            resume: Whether to go on from the checkpoint if there is one.
            progress: Called with each epoch's record.

        Raises:
            PGNNError: If there is nothing to learn from or to choose by, or training fails.
        """
        recipe = self.recipe
        if recipe.model in PRESETS and PRESETS[recipe.model].proximity == "ppr" and splits:
            largest = max(split.graph.num_nodes for split in splits)
            needed = _LEAST_MEMORY + _MEMORY_PER_POSITION * largest * self.num_sets
            least_needed(needed, f"training {recipe.model}")
        ready = [replace(split, graph=self.ready(split.graph)) for split in splits]
        if recipe.task == "link" and recipe.folds:
            rng = generator_of(recipe.seed, Purpose.FOLDS)
            ready = [
                part for split in ready for part in hide_in_folds(split, recipe.folds, rng=rng)
            ]
        return fit(
            self.model,
            self.decoder,
            ready,
            settings=recipe.fit_settings(),
            draws=self._draws(None if recipe.num_sets is None else self.num_sets),
            seed=recipe.seed,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress,
        )

    def _draws(self, num_sets: int | None) -> Draws | None:
        """Return how positions are drawn; None for a baseline.

        Without a number of sets, each batch has as many as its largest graph needs.
        """
        if self.recipe.model not in PRESETS:
            return None
        preset = PRESETS[self.recipe.model]
        return Draws(
            preset.proximity,
            preset.cutoff,
            num_sets=num_sets,
            c=self.recipe.c or preset.c,
            scheme=self.recipe.scheme,
            alpha=preset.alpha,
            tol=preset.tol,
        )

    # ------------------------------------------------------------------ asking

    @checked
    def with_anchors(self, graph: Graph) -> Learner:
        """Return a learner that keeps the anchor-sets of a graph; a baseline has none to keep."""
        draws = self._draws(self.num_sets)
        if draws is None:
            return self
        rng = generator_of(self.recipe.seed, Purpose.ASKED_ANCHORS, 0)
        sets = self._batch(graph).sample(draws, rng)
        return replace(self, anchors=RunAnchors.of(graph, sets))

    @checked
    def place_anchors(
        self, graph: Graph, anchors: str | None = None, *, draw: int = 0
    ) -> PlacedAnchors | None:
        """Return the kept anchor-sets on a graph; None where `embed` draws fresh ones."""
        if anchors is not None and not self.num_sets:
            raise PGNNError(f"{self.recipe.model} has no anchors; leave out ", Parameter("anchors"))
        return place_anchors(self.anchors, graph, anchors, draw)

    @checked
    def embed(self, graph: Graph, *, draw: int = 0, anchors: str | None = None) -> Floats:
        """Return the embedding of each node of any graph, float32 `[n, d]`.

        A P-GNN describes nodes by their distances to one draw of anchor-sets. Embeddings of
        different anchors, or of different graphs, do not compare number by number; scores do.

        Args:
            graph: Any graph.
            draw: Decides which sets are drawn, where they are drawn: the same ones for the same
                `draw` and graph.
            anchors: "run" for those of the graph it was trained on, found by node id. Its nodes
                then stay where they are when a graph grows: they are measured without the edges of
                nodes that are new. "fresh" to draw anew. By default the run's where the graph has
                most of its nodes and edges and `draw` is 0.

        Raises:
            PGNNError: If the run's anchors are wanted, and it has none or the graph has none of
                them.
        """
        placed = self.place_anchors(graph, anchors, draw=draw)

        def rows_of(some: Graph) -> Floats:
            with self._asking():
                return np.asarray(self._embedding(self._batch(some), draw, placed).cpu())

        return rows_of(graph) if placed is None else placed.measure(graph, rows_of)

    @checked
    def scorer(self, graph: Graph, *, num_draws: int | None = None) -> Scorer:
        """Return what scores pairs of nodes of a graph, over some draws of anchor-sets."""
        count = 1 if self.num_sets == 0 else num_draws or self.recipe.eval_draws
        checks.integer("num_draws", count, at_least=1, at_most=MAX_DRAWS)
        with self._asking():
            batch = self._batch(graph)
            embeddings = [self._embedding(batch, draw) for draw in range(count)]
        return Scorer(self.decoder, embeddings)

    @checked
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
        preset = PRESETS.get(self.recipe.model)
        with np.errstate(all="ignore"):  # what does not fit is refused below
            weights = graph.weights / self.inputs.unit
            if preset and (preset.proximity == "ppr") == (self.recipe.weights == "length"):
                weights = 1 / weights  # walks read strengths, searches lengths
        if not ((weights > 0) & np.isfinite(weights)).all():
            raise PGNNError(
                f"weights from {graph.weights.min():g} to {graph.weights.max():g} are too far from "
                f"the mean weight in training, {self.inputs.unit:g}; scale or clip them"
            )
        return weights

    def _features(self, graph: Graph) -> Floats:
        mean, scale = self.inputs.mean, self.inputs.scale
        if mean is None or scale is None:
            return np.ones((graph.num_nodes, 1), dtype=np.float32)
        width = 0 if graph.x is None else graph.x.shape[1]
        if graph.x is None or width != len(mean):
            raise PGNNError(
                f"the model was trained with {len(mean)} features per node, and this graph has "
                f"{width or 'none'}; give the same features"
            )
        return ((graph.x - mean) / scale).astype(np.float32)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        self.model.eval()
        with torch.no_grad():
            yield

    def _batch(self, graph: Graph) -> Batch:
        none = PairSet(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool))
        return Batch([Split(self.ready(graph), none, none, none)], self.device)

    def _embedding(self, batch: Batch, draw: int, placed: PlacedAnchors | None = None) -> Tensor:
        draws = self._draws(self.num_sets)
        if draws is None:
            embedding: Tensor = self.model(batch.x, batch.edge_index)
        else:
            rng = generator_of(self.recipe.seed, Purpose.ASKED_ANCHORS, draw)
            sets = batch.sample(draws, rng) if placed is None else placed.sets
            embedding = self.model(batch.x, batch.measure(sets, draws, torch.get_num_threads()))
        parts = torch.split(embedding, _CHECKED_ROWS)
        if not all(bool(torch.isfinite(part).all()) for part in parts):
            raise PGNNError("the model gives embeddings that are not finite; was it trained?")
        return embedding

    # ------------------------------------------------------------------ files

    @checked
    def save(self, path: str | Path, **more: Any) -> str:
        """Write the learner to one safetensors file, whole or not at all; return its SHA-256.

        Args:
            path: The file.
            more: What else to keep in its description, as JSON.
        """
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        tensors |= {f"decoder.{name}": t for name, t in self.decoder.state_dict().items()}
        inputs = self.inputs
        if inputs.mean is not None and inputs.scale is not None:
            tensors |= {
                "features.mean": torch.from_numpy(inputs.mean),
                "features.scale": torch.from_numpy(inputs.scale),
            }
        if self.anchors is not None:
            tensors |= self.anchors.to_tensors()
        description = {
            "kind": "learner",
            "recipe": asdict(self.recipe),
            "num_sets": inputs.num_sets,
            "unit": inputs.unit,
        }
        return save_checkpoint(path, tensors, {**description, **more})

    @staticmethod
    @checked
    def load(path: str | Path, *, device: str = "cpu") -> Learner:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            PGNNError: If the file is absent, damaged, of a newer format, or something else.
        """
        place = usable_device(device)  # a device that is not there is no fault of the file
        tensors, description = load_checkpoint(path)
        try:
            if description.get("kind") != "learner":
                raise ValueError("it holds something else")
            if description["recipe"].get("model", BEST) == BEST:
                raise ValueError(f"an earlier version wrote it, whose {BEST} was another model")
            recipe = Recipe.from_dict(description["recipe"]).resolved(1)
            check_widths(recipe, int(description["num_sets"]), tensors)
            inputs = Inputs(
                int(description["num_sets"]),
                *read_feature_scale(tensors),
                float(description["unit"]),
            )
            has_sets = recipe.model in PRESETS
            if not 0 < inputs.unit < math.inf or (inputs.num_sets > 0) != has_sets:
                raise ValueError("its unit or its number of sets makes no sense")
            learner = Learner(
                recipe,
                inputs,
                *_make_modules(recipe, inputs, place),
                RunAnchors.from_tensors(tensors, inputs.num_sets),
            )
            for name, module in (("model.", learner.model), ("decoder.", learner.decoder)):
                module.load_state_dict(
                    {k[len(name) :]: t for k, t in tensors.items() if k.startswith(name)}
                )
        except _DAMAGED as error:
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise PGNNError(f"{path}: not a trained model of pgnn, or damaged ({text})") from error
        return learner


@checked
def make_learner(
    recipe: Recipe, graphs: Sequence[Graph], *, device: str = "cpu", standardise: bool = True
) -> Learner:
    """Make a learner with fresh weights for visible graphs.

    Args:
        recipe: The settings.
        graphs: What the model will see, such as the graphs of splits.
        device: Where the model computes.
        standardise: Whether features still have to be standardised.

    Raises:
        PGNNError: If the device is not there.

    Example:
        >>> ring = Graph.from_edges([(v, (v + 1) % 10) for v in range(10)])
        >>> make_learner(Recipe(model="pgnn-e-2l"), [ring]).embed(ring).shape
        (10, 9)
    """
    if len(graphs) == 0:
        raise PGNNError(Parameter("graphs"), " must be at least one")
    recipe = recipe.resolved(max(graph.num_nodes for graph in graphs))
    inputs = Inputs.of(recipe, graphs, standardise=standardise)
    return Learner(recipe, inputs, *_make_modules(recipe, inputs, usable_device(device)))


def _make_modules(
    recipe: Recipe, inputs: Inputs, device: torch.device
) -> tuple[nn.Module, PairDecoder]:
    """Return a model and a decoder with weights drawn from the recipe's seed."""
    num_features = 1 if inputs.mean is None else len(inputs.mean)
    width, dropout = recipe.hidden_channels, recipe.dropout
    assert width is not None, "the recipe is not resolved"
    assert dropout is not None
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(recipe.seed)
        decoder: PairDecoder = DotDecoder() if recipe.decoder == "dot" else DistanceDecoder()
        if recipe.model in PRESETS:
            model: nn.Module = make_pgnn(
                recipe.model,
                num_features,
                variant=recipe.variant,
                hidden_channels=width,
                dropout=dropout,
            )
        else:
            model = make_baseline(recipe.model, num_features, out_channels=width, dropout=dropout)
    return model.to(device), decoder.to(device)


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


def _mean_weight(graphs: Sequence[Graph]) -> float:
    """Return the mean weight of an edge, 1 where there is none."""
    weights = [graph.weights for graph in graphs if graph.weights is not None]
    if not sum(map(len, weights)):
        return 1.0
    with np.errstate(over="ignore"):  # an infinite unit is refused where it is used
        return float(np.concatenate(weights).mean())


def feature_scale(
    graphs: Sequence[Graph], standardise: bool
) -> tuple[Floats | None, Floats | None]:
    """Return mean and deviation of each feature; None where nodes have none to tell them apart."""
    if any(graph.x is None or not graph.x.shape[1] for graph in graphs):
        return None, None
    x = np.concatenate([np.asarray(graph.x, dtype=np.float64) for graph in graphs])
    width = x.shape[1]
    if not standardise:
        if np.array_equal(x, np.ones((len(x), 1))):
            return None, None
        return np.zeros(width, np.float32), np.ones(width, np.float32)
    constant = np.ptp(x, axis=0) == 0
    deviation = x.std(axis=0).astype(np.float32)  # may be too small for float32
    scale = np.where(constant | (deviation == 0), np.float32(1), deviation)
    return x.mean(axis=0).astype(np.float32), scale


def read_feature_scale(tensors: Mapping[str, Tensor]) -> tuple[Floats | None, Floats | None]:
    """Return mean and deviation of the features among the tensors of a file.

    Raises:
        ValueError: If only one is there, or they are not such numbers.
    """
    names = ("features.mean", "features.scale")
    if not any(name in tensors for name in names):
        return None, None
    mean, scale = (tensors[name].numpy() for name in names)
    sound = mean.ndim == 1 and mean.shape == scale.shape and len(mean) > 0
    if not (sound and np.isfinite(mean).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise ValueError("mean and deviation of the features make no sense")
    return mean.astype(np.float32), scale.astype(np.float32)


class Scorer:
    """Scores pairs of nodes by embeddings of one or several draws of anchor-sets.

    Attributes:
        embeddings: `[n, d]`, one per draw.
    """

    @checked
    def __init__(self, decoder: nn.Module, embeddings: list[Tensor]) -> None:
        self.decoder, self.embeddings = decoder, embeddings

    @checked
    def __call__(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the mean over draws of the chance of each pair, `[m]`."""
        return self.with_spread(pairs)[0]

    @checked
    def logits(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return a number per pair to rank by: the mean chance, `[m]`."""
        return self.with_spread(pairs)[0]

    @checked
    def with_spread(
        self, pairs: ArrayLike, *, base_rate: float = 0.5
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean over draws of the chance, and the standard deviation, both `[m]`.

        Args:
            pairs: Node indices `[m, 2]`.
            base_rate: The share of links among the pairs in question; in training it was a half.
        """
        shift = math.log(checks.share("base_rate", base_rate) / (1 - base_rate))
        index = torch.from_numpy(as_pairs(pairs, len(self.embeddings[0])))
        index = index.to(self.embeddings[0].device)
        total = np.zeros(len(index))
        squares = np.zeros(len(index))
        with torch.no_grad():
            for embedding in self.embeddings:
                logits = self.decoder(embedding, index).double() + shift
                chance = torch.sigmoid(logits).cpu().numpy()
                total += chance
                squares += chance**2
        mean = total / len(self.embeddings)
        return mean, np.sqrt(np.maximum(squares / len(self.embeddings) - mean**2, 0))
