"""PairLearner: `pgnn-best`, which judges a pair by its proximities, positions and features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from pgnn.errors import PGNNError
from pgnn.evaluation.calibration import fit_calibration
from pgnn.graph import Graph
from pgnn.memory import least_needed
from pgnn.pairs.codes import as_pairs, edge_codes, is_among, ordered_pairs
from pgnn.pairs.columns import (
    LINKS,
    Links,
    PairColumns,
    across_sides,
    blocks_of_pairs,
    column_names,
    describe_pairs,
    kind_of_links,
    turned_columns,
    undirected,
)
from pgnn.pairs.sets import PairSet, Split
from pgnn.positions import AnchorSets, anchor_ppr, sample_anchor_sets
from pgnn.training.anchors import PlacedAnchors, RunAnchors, place_anchors
from pgnn.training.batches import default_num_sets
from pgnn.training.checkpoint import check_widths, load_checkpoint, save_checkpoint
from pgnn.training.column_scale import ColumnScale
from pgnn.training.fit import Fit, Progress
from pgnn.training.fit_heads import LINEAR_LINKS, HeadData, fit_heads
from pgnn.training.learner import feature_scale, read_feature_scale, usable_device
from pgnn.training.pair_model import PairModel, make_pair_model
from pgnn.training.proposals import propose_negatives
from pgnn.training.recipe import Recipe
from pgnn.training.seeds import Purpose, generator_of

Floats = NDArray[np.float32]

KIND = "pair learner"  # in the description of a file
NUM_DRAWS = 2  # of anchor-sets, for positions
MISSING = 0.1  # links missing for each that is there, as training assumes
_MAX_POSITIVES = 60_000  # learnt from, over all graphs
_NEGATIVES = (6, 20, 400_000)  # least and most per link, and how many are aimed at in all
# What goes with what in the features around two nodes is no matter of a few dozen columns: there,
# each link more teaches something.
_AROUND_POSITIVES = 800_000
_AROUND_NEGATIVES = (1, 20, 500_000)
_AROUND_WIDTH = 128
_MAX_LABELLED = 240_000  # learnt from in task "pair", over all graphs
_LABELLED_PER_GRAPH = 2000  # but as many of each graph of many
_VAL_PAIRS = 40_000  # that rounds are judged by, over all graphs
_BLOCK_PAIRS = 1 << 18  # described and scored at once
_KEPT = 0.3  # least share of links that must stay when those of lone nodes are left out
# Networks order all pairs best; what is best for one customer they order worse than the linear part
# does while links are few.
_ACROSS_LINEAR_LINKS = 10_000
_MEASURED = 1 << 26  # numbers of an embedding that are computed when training ends, to measure them
# Bytes that training needs, arrays apart, as `--memory` runs on 2,000 nodes have measured them.
_LEAST_MEMORY, _MEMORY_PER_PAIR = 650e6, 300
_DAMAGED = (
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError),
    MemoryError,
)


@dataclass(frozen=True, eq=False)
class PairLearner:
    """A recipe, a model of pairs, and how node features are standardised.

    `make_pair_learner` makes one with fresh weights, `PairLearner.load` one from a file.

    Attributes:
        recipe: The settings.
        model: The heads with their tables.
        num_sets: Number of anchor-sets of an embedding.
        mean: Mean of each node feature of the training graphs, or None without features.
        scale: Their standard deviations, or None.
        links: Which pairs may be links: any, pairs across two kinds of nodes, or ordered pairs of a
            directed graph.
        anchors: The anchor-sets of the graph it was trained on, kept for embeddings, or None.
    """

    recipe: Recipe
    model: PairModel
    num_sets: int
    mean: Floats | None = None
    scale: Floats | None = None
    links: Links = "any"
    anchors: RunAnchors | None = None

    @property
    def num_features(self) -> int:
        """Number of features per node that the model was made for; 0 for none."""
        return 0 if self.mean is None else len(self.mean)

    @property
    def reads_around(self) -> bool:
        """Whether the features of neighbours are read, without the pair's own edge."""
        return self.model.heads.around is not None

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return next(self.model.parameters()).device

    @property
    def embedding_width(self) -> int:
        """How many numbers the embedding of a node has."""
        return self.num_sets

    # ------------------------------------------------------------------ training

    def train(
        self,
        splits: Sequence[Split],
        *,
        checkpoint: Path | None = None,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Fit:
        """Train on the pairs of splits and keep the state that is best on out-of-fold pairs.

        Task "link" learns from the visible edges of graphs that have training pairs, each described
        without itself, and from non-edges that are drawn here. Task "pair" learns from the training
        pairs of the splits. Graphs that have validation pairs alone choose the best round; without
        any, members judge each other.

        Args:
            splits: What `pgnn.training.splits` made.
            checkpoint: File to write the state to now and then.
            resume: Whether to go on from the checkpoint if there is one.
            progress: Called after each round.

        Raises:
            PGNNError: If there is nothing to learn from, or training fails.
        """
        learnt = [split for split in splits if len(split.train)]
        if not learnt:
            raise PGNNError("the splits have no training pairs")
        chosen = [split for split in splits if len(split.val) and not len(split.train)]
        share = 1 / len(learnt)
        num_pairs = sum(self._num_pairs(split, share) for split in learnt)
        least_needed(_LEAST_MEMORY + _MEMORY_PER_PAIR * num_pairs, "training pgnn-best")
        parts = [self._describe(split, number, share) for number, split in enumerate(learnt)]
        for number, split in enumerate(chosen, len(parts)):
            rng = generator_of(self.recipe.seed, Purpose.NEGATIVES, number)
            part = self._describe_labelled(split.graph, split.val, rng, _VAL_PAIRS / len(chosen))
            parts.append(replace(part, validation=np.ones(len(part.columns), dtype=bool)))
        graphs = [split.graph for split in (*learnt, *chosen)]
        if self.reads_around:
            parts = [
                replace(part, joined=_Neighbours.of(graph)(part.ends))
                for part, graph in zip(parts, graphs, strict=True)
            ]
        data = _joined(parts, [self._features(graph) for graph in graphs])
        if self.model.heads.around is not None and data.features is not None:
            of_learnt = sum(split.graph.num_nodes for split in learnt)
            self.model.heads.around.measure(torch.from_numpy(data.features[:of_learnt]))
        rng = generator_of(self.recipe.seed, Purpose.SAMPLED_PAIRS)
        scale = ColumnScale.of(_typical_rows(data, rng))
        self.model.set_column_scale(scale)
        scaled = HeadData(**{**data.__dict__, "columns": scale(data.columns)})
        fitted = fit_heads(
            self.model.heads,
            scaled,
            self.recipe,
            linear_links=_ACROSS_LINEAR_LINKS if self.links == "across" else LINEAR_LINKS,
            checkpoint=checkpoint,
            resume=resume,
            progress=progress,
        )
        self.model.set_calibration(fit_calibration(fitted.positive, fitted.negative))
        return fitted.fit

    def _num_pairs(self, split: Split, share: float) -> float:
        """Return about how many pairs are learnt from of one graph."""
        if self.recipe.task == "pair":
            return min(len(split.train), max(_MAX_LABELLED * share, _LABELLED_PER_GRAPH))
        most, negatives = self._most
        num_links = min(split.graph.num_edges, max(1, int(most * share)))
        per_link = np.clip(negatives[2] * share / max(num_links, 1), *negatives[:2])
        return float((1 + per_link) * num_links)

    @property
    def _most(self) -> tuple[int, tuple[int, int, int]]:
        """Most links to learn from, over all graphs, and how many negatives with them."""
        if self.reads_around:
            return _AROUND_POSITIVES, _AROUND_NEGATIVES
        return _MAX_POSITIVES, _NEGATIVES

    def _describe(self, split: Split, number: int, share: float) -> HeadData:
        """Describe the pairs that are learnt from of one graph."""
        rng = generator_of(self.recipe.seed, Purpose.NEGATIVES, number)
        if self.recipe.task == "pair":
            most = max(_MAX_LABELLED * share, _LABELLED_PER_GRAPH)
            return self._describe_labelled(split.graph, split.train, rng, most)
        return self._describe_links(split.graph, rng, share)

    def _describe_links(self, graph: Graph, rng: np.random.Generator, share: float) -> HeadData:
        """Describe links of one graph, each without itself, and non-edges that are drawn here."""
        ordered = self.links == "ordered"
        plain = undirected(graph) if graph.directed else graph
        links = graph.links() if ordered else plain.links()
        if not len(links):
            raise PGNNError("no edge of the graph is a link in question, so none can be learnt")
        num_links = len(links)
        positives, negatives = self._most
        most = max(1, int(positives * share))
        if len(links) > most:
            links = links[np.sort(rng.choice(len(links), most, replace=False))]
        per_link = np.clip(negatives[2] * share / len(links), *negatives[:2])
        proposals = propose_negatives(
            plain,
            _strengths(plain, self.recipe),
            int(per_link * len(links)),
            directed=graph if ordered else None,
            rng=rng,
        )
        pairs, positive, negative = _distinct(
            links, proposals.pairs, graph.num_nodes, ordered=self.links != "any"
        )
        columns = self._columns(graph, pairs)
        names = column_names(links=self.links)
        kept = positive
        if (plain.degrees > 0).all():
            # Without its own edge such a link has a lone node, as no pair of this graph will have.
            ends = [names.index(f"degree_{end}") for end in _ends_of(self.links)]
            alone = (columns[positive][:, ends] == 0).any(axis=1)
            if np.count_nonzero(~alone) > _KEPT * len(positive):
                kept = positive[~alone]
        reverse = columns[:, names.index("reverse_edge")] > 0 if ordered else None
        density = proposals.log_density(*_counts(columns, self.links), reverse)
        missing = math.log(MISSING * num_links / max(proposals.num_free, 1))
        turned = np.full(len(pairs), -1)
        if reverse is not None:  # turned round, described without the link itself
            one_way = kept[~reverse[kept]]
            turned[one_way] = len(pairs) + np.arange(len(one_way))
            around = columns[one_way][:, turned_columns(names)]
            columns = np.concatenate([columns, around])
            pairs = np.concatenate([pairs, pairs[one_way, ::-1]])
        more = len(pairs) - len(turned)
        return HeadData(
            columns,
            pairs,
            None,
            kept,
            negative,
            negative[: proposals.num_uniform],
            np.concatenate([density, np.zeros(more)]).astype(np.float32),
            np.full(len(pairs), missing, dtype=np.float32),
            np.zeros(len(pairs), dtype=np.int64),
            np.zeros(len(pairs), dtype=bool),
            np.concatenate([turned, np.full(more, -1)]),
        )

    def _describe_labelled(
        self, graph: Graph, pair_set: PairSet, rng: np.random.Generator, most: float
    ) -> HeadData:
        """Describe at most so many pairs whose labels are known, of each label half."""
        rows = []
        for label in (True, False):
            of_label = np.flatnonzero(pair_set.labels == label)
            count = max(1, int(most / 2))
            rows.append(
                of_label if len(of_label) <= count else rng.choice(of_label, count, replace=False)
            )
        pairs = pair_set.pairs[np.concatenate(rows)]
        negative = np.arange(len(rows[0]), len(pairs))
        none = np.zeros(len(pairs), dtype=np.float32)
        return HeadData(
            self._columns(graph, pairs),
            pairs,
            None,
            np.arange(len(rows[0])),
            negative,
            negative,
            none,
            np.full_like(none, -np.inf),
            np.zeros(len(pairs), dtype=np.int64),
            np.zeros(len(pairs), dtype=bool),
        )

    # ------------------------------------------------------------------ asking

    def with_anchors(self, graph: Graph) -> PairLearner:
        """Return a learner that keeps the anchor-sets of a graph, and how its columns lie."""
        anchors = RunAnchors.of(graph, self._sample(graph, 0))
        if graph.num_nodes * self.num_sets <= _MEASURED:
            anchors = anchors.measured(self._closeness(graph, anchors.sets))
        return replace(self, anchors=anchors)

    def place_anchors(
        self, graph: Graph, anchors: str | None = None, *, draw: int = 0
    ) -> PlacedAnchors | None:
        """Return the kept anchor-sets on a graph; None where `embed` draws fresh ones."""
        return place_anchors(self.anchors, graph, anchors, draw)

    def embed(self, graph: Graph, *, draw: int = 0, anchors: str | None = None) -> Floats:
        """Return where each node is: log-PageRank to anchor-sets, float32 `[n, num_sets]`.

        Each column is standardised: with the run's anchors as it was over the nodes of the run's
        graph, with fresh ones over the nodes of this graph. Embeddings of different anchors do not
        compare number by number; scores of pairs do.

        Args:
            graph: Any graph.
            draw: Decides which sets are drawn, where they are drawn.
            anchors: "run", "fresh", or None to decide by the graph; see `Learner.embed`.

        Raises:
            PGNNError: If the run's anchors are wanted, and it has none or the graph has none of
                them.
        """
        placed = self.place_anchors(graph, anchors, draw=draw)
        if placed is None:
            near = self._closeness(graph, self._sample(graph, draw))
            near -= near.mean(axis=0)
            return np.asarray(near / np.maximum(near.std(axis=0), 1e-6), dtype=np.float32)
        assert self.anchors is not None
        near = placed.measure(graph, lambda some: self._closeness(some, placed.sets))
        return self.anchors.standardise(near, placed)

    def _sample(self, graph: Graph, draw: int) -> AnchorSets:
        """Draw the anchor-sets of an embedding."""
        rng = generator_of(self.recipe.seed, Purpose.ASKED_ANCHORS, draw)
        return sample_anchor_sets(
            graph.num_nodes, num_sets=self.num_sets, scheme=self.recipe.scheme, rng=rng
        )

    def _closeness(self, graph: Graph, sets: AnchorSets) -> Floats:
        """Return log-PageRank from each node to each set, float32 `[n, num_sets]`."""
        walked = replace(graph, weights=_strengths(graph, self.recipe))  # walks read strengths
        return np.log(np.maximum(anchor_ppr(walked, sets, tol=1e-5), 1e-9))

    def scorer(self, graph: Graph, *, num_draws: int | None = None) -> PairScorer:
        """Return what scores pairs of nodes of a graph."""
        del num_draws  # columns are averaged over draws already
        return PairScorer(self, graph, self._features(graph))

    def describe(self, graph: Graph, pairs: NDArray[np.int64]) -> PairColumns:
        """Return the columns that the heads read, before they are scaled."""
        return describe_pairs(
            graph,
            pairs,
            task=self.recipe.task,
            links=self.links,
            weights=self.recipe.weights,
            num_draws=NUM_DRAWS,
            num_sets=self.recipe.num_sets,
            rng=generator_of(self.recipe.seed, Purpose.ASKED_ANCHORS),
            num_threads=torch.get_num_threads(),
        )

    def _columns(self, graph: Graph, pairs: NDArray[np.int64]) -> Floats:
        return self.describe(graph, pairs).values

    def _features(self, graph: Graph) -> Floats | None:
        if self.mean is None or self.scale is None:
            return None
        width = 0 if graph.x is None else graph.x.shape[1]
        if graph.x is None or width != len(self.mean):
            raise PGNNError(
                f"the model was trained with {len(self.mean)} features per node, and this graph "
                f"has {width or 'none'}; give the same features"
            )
        x = ((graph.x - self.mean) / self.scale).astype(np.float32)
        if self.reads_around:
            plain = undirected(graph) if graph.directed else graph
            first = _neighbour_mean(plain, x)
            degrees = plain.degrees[:, None].astype(np.float32)
            return np.concatenate([x, first, _neighbour_mean(plain, first), degrees], axis=1)
        if self.recipe.task == "link":
            return x
        return np.concatenate([x, _neighbour_mean(graph, x)], axis=1)

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path, **more: Any) -> str:
        """Write the learner to one safetensors file, whole or not at all; return its SHA-256.

        Args:
            path: The file.
            more: What else to keep in its description, as JSON.
        """
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        if self.mean is not None and self.scale is not None:
            tensors |= {
                "features.mean": torch.from_numpy(self.mean),
                "features.scale": torch.from_numpy(self.scale),
            }
        if self.anchors is not None:
            tensors |= self.anchors.to_tensors()
        description = {
            "kind": KIND,
            "recipe": asdict(self.recipe),
            "num_sets": self.num_sets,
            "links": self.links,
            "around": self.reads_around,
            "columns": list(column_names(self.recipe.task, self.links)),
        }
        return save_checkpoint(path, tensors, {**description, **more})

    @staticmethod
    def load(path: str | Path, *, device: str = "cpu") -> PairLearner:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            PGNNError: If the file is absent, damaged, of another version, or something else.
        """
        place = usable_device(device)
        tensors, description = load_checkpoint(path)
        try:
            if description.get("kind") != KIND:
                raise ValueError("it holds something else")
            recipe = Recipe.from_dict(description["recipe"])
            links = description.get("links", "any")
            if links not in LINKS:
                raise ValueError("it judges pairs of a kind that does not exist")
            if tuple(description["columns"]) != column_names(recipe.task, links):
                raise ValueError("it was made by another version of pgnn; train anew")
            mean, scale = read_feature_scale(tensors)
            num_sets = int(description["num_sets"])
            check_widths(recipe.resolved(1), num_sets, tensors)
            if num_sets < 1:
                raise ValueError("its number of sets makes no sense")
            around = description.get("around", False) is True
            model = make_pair_model(recipe, 0 if mean is None else len(mean), links, around=around)
            anchors = RunAnchors.from_tensors(tensors, num_sets)
            learner = PairLearner(recipe, model, num_sets, mean, scale, links, anchors)
            learner.model.load_state_dict(_under(tensors, "model."))
            learner.model.to(place)
        except _DAMAGED as error:
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise PGNNError(f"{path}: not a trained model of pgnn, or damaged ({text})") from error
        return learner


class PairScorer:
    """Scores pairs of nodes of one graph.

    Args:
        learner: The trained learner.
        graph: The graph; the own edge of a pair is not read.
        features: Standardised features of its nodes, or None.
    """

    def __init__(self, learner: PairLearner, graph: Graph, features: Floats | None) -> None:
        self.learner = learner
        self.graph = graph
        if graph.directed and learner.links != "ordered":
            self.graph = undirected(graph)
        self.features = None
        if features is not None:
            self.features = torch.from_numpy(features).to(learner.device)
        self._neighbours = _Neighbours.of(self.graph) if learner.reads_around else None
        self._scale = learner.model.column_scale

    def __call__(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the chance of each pair where half of the pairs are links, `[m]`."""
        return self.with_spread(pairs)[0]

    def with_spread(
        self, pairs: ArrayLike, *, base_rate: float = 0.5
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the chance of each pair, and its standard deviation over the heads, both `[m]`."""
        members = self.member_logits(pairs)
        calibration = self.learner.model.calibration
        chances = calibration.chances(members.mean(axis=0), base_rate=base_rate)
        return chances, calibration.chances(members, base_rate=base_rate).std(axis=0)

    def logits(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the mean logit of each pair: what pairs are ranked by, `[m]`."""
        return np.asarray(self.member_logits(pairs).mean(axis=0))

    def member_logits(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the logit of each head for each pair, `[members, m]`."""
        checked = as_pairs(pairs, self.graph.num_nodes)
        if self.learner.links == "across":
            checked = across_sides(self.graph, checked)
        parts = [np.empty((self.learner.model.heads.num_members, 0))]
        parts += [
            self.judge(self.learner._columns(self.graph, block), block)
            for block in blocks_of_pairs(checked, _BLOCK_PAIRS)
            if len(block)
        ]
        return np.concatenate(parts, axis=1)

    @torch.no_grad()
    def judge(self, columns: Floats, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logit of each head for columns and the features of pairs, `[members, m]`.

        The columns are those of `PairLearner.describe`, of these pairs or of others.
        """
        if self.learner.links == "across":
            pairs = across_sides(self.graph, pairs)
        heads = self.learner.model.heads.eval()
        parts = [np.empty((heads.num_members, 0))]
        scaled = self._scale(columns)
        for first in range(0, len(pairs), 1 << 14):
            span = slice(first, first + (1 << 14))
            block = torch.from_numpy(scaled[span]).to(self.learner.device)
            logits = heads(block, self._ends(pairs[span]), self._joined(pairs[span]))
            parts.append(logits.cpu().double().numpy())
        return np.concatenate(parts, axis=1)

    def _ends(self, pairs: NDArray[np.int64]) -> tuple[Tensor, Tensor] | None:
        if self.features is None:
            return None
        u, v = torch.from_numpy(pairs).to(self.learner.device).unbind(1)
        return self.features[u], self.features[v]

    def _joined(self, pairs: NDArray[np.int64]) -> Tensor | None:
        if self._neighbours is None:
            return None
        joined = self._neighbours(pairs).astype(np.float32)
        return torch.from_numpy(joined).to(self.learner.device)


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """Which nodes of a graph are neighbours, directions apart; `edges` are sorted codes."""

    edges: NDArray[np.int64]
    num_nodes: int

    @classmethod
    def of(cls, graph: Graph) -> _Neighbours:
        codes = edge_codes(graph.edges(), graph.num_nodes, directed=False)
        return cls(np.sort(codes), graph.num_nodes)

    def __call__(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        return is_among(edge_codes(pairs, self.num_nodes, directed=False), self.edges)


def make_pair_learner(
    recipe: Recipe, graphs: Sequence[Graph], *, device: str = "cpu", standardise: bool = True
) -> PairLearner:
    """Make a learner with fresh weights for visible graphs.

    Links of several graphs with features are judged by the features around both nodes, too: columns
    say where in its graph a node is, and these say where such a node was in other graphs.

    Args:
        recipe: The settings.
        graphs: What the model will see, such as the graphs of splits.
        device: Where the model computes.
        standardise: Whether features still have to be standardised.
    """
    largest = max(graph.num_nodes for graph in graphs)
    mean, scale = feature_scale(graphs, standardise)
    around = recipe.task == "link" and mean is not None and len(graphs) > 1
    if around and recipe.hidden_channels is None:
        recipe = replace(recipe, hidden_channels=_AROUND_WIDTH)
    recipe = recipe.resolved(largest)
    kinds = {kind_of_links(graph) for graph in graphs}
    links: Links = "any"
    if recipe.task == "link" and len(kinds) == 1:
        (links,) = kinds
    num_features = 0 if mean is None else len(mean)
    model = make_pair_model(recipe, num_features, links, around=around).to(usable_device(device))
    num_sets = recipe.num_sets or default_num_sets(largest, 1.0)
    return PairLearner(recipe, model, num_sets, mean, scale, links)


def _neighbour_mean(graph: Graph, x: Floats) -> Floats:
    """Return the mean of the neighbours' features of each node, 0 for a lone node, `[n, d]`."""
    import scipy.sparse as sp

    ones = np.ones(len(graph.indices), dtype=np.float32)
    rows = sp.csr_array((ones, graph.indices, graph.indptr), shape=(len(x), len(x)))
    return np.asarray(rows @ x / np.maximum(graph.degrees, 1)[:, None], dtype=np.float32)


def _strengths(graph: Graph, recipe: Recipe) -> NDArray[np.float64] | None:
    if graph.weights is None:
        return None
    return graph.weights if recipe.weights == "strength" else 1 / graph.weights


def _ends_of(links: Links) -> tuple[str, str]:
    """Return how columns of both endpoints end."""
    return ("source", "target") if links == "across" else ("min", "max")


def _counts(columns: Floats, links: Links) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return resource allocation and three-step walks of pairs, from their logarithms."""
    names = column_names(links=links)

    def column(name: str) -> NDArray[np.float64]:
        return columns[:, names.index(name)].astype(np.float64)

    first, second = (np.expm1(column(f"strength_{end}")) for end in _ends_of(links))
    steps = np.exp(column("walk_3")) * np.sqrt(np.maximum(first * second, 0))
    return np.exp(column("resource_allocation")), steps


def _distinct(
    links: NDArray[np.int64], others: NDArray[np.int64], num_nodes: int, *, ordered: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return each pair once, and the rows of links and of others among them."""
    codes = edge_codes(np.concatenate([links, others]), num_nodes, directed=ordered)
    distinct, place = np.unique(codes, return_inverse=True)
    return ordered_pairs(distinct, num_nodes), place[: len(links)], place[len(links) :]


def _joined(parts: Sequence[HeadData], features: Sequence[Floats | None]) -> HeadData:
    """Put the pairs of several graphs one behind the other."""
    starts = np.cumsum([0, *(len(part.columns) for part in parts)])[:-1]
    sizes = [0 if x is None else len(x) for x in features]
    nodes = np.cumsum([0, *sizes])[:-1]
    known = [x for x in features if x is not None]
    known_joined = [part.joined for part in parts if part.joined is not None]

    def rows(name: str) -> NDArray[np.int64]:
        return np.concatenate([getattr(p, name) + s for p, s in zip(parts, starts, strict=True)])

    return HeadData(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.ends + node for part, node in zip(parts, nodes, strict=True)]),
        np.concatenate(known) if known else None,
        rows("positive"),
        rows("negative"),
        rows("uniform"),
        np.concatenate([part.log_density for part in parts]),
        np.concatenate([part.log_missing for part in parts]),
        np.repeat(np.arange(len(parts)), [len(part.columns) for part in parts]),
        np.concatenate([part.validation for part in parts]),
        np.concatenate([_shifted(part, start) for part, start in zip(parts, starts, strict=True)]),
        np.concatenate(known_joined) if known_joined else None,
    )


def _shifted(part: HeadData, start: int) -> NDArray[np.int64]:
    """Return the rows of turned pairs of one graph among those of all graphs."""
    if part.turned is None:
        return np.full(len(part.columns), -1)
    return np.where(part.turned < 0, -1, part.turned + start)


def _typical_rows(data: HeadData, rng: np.random.Generator) -> Floats:
    """Return columns of links and of twice as many negatives: what scales are measured on."""
    links = data.positive[~data.validation[data.positive]]
    others = data.negative[~data.validation[data.negative]]
    others = rng.choice(others, min(len(others), 2 * len(links)), replace=False)
    return np.asarray(data.columns[np.concatenate([links, others])])


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) :]: t for name, t in tensors.items() if name.startswith(prefix)}
