"""Graphs as models read them: disjoint unions, their pairs, and fresh positions for each pass."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pgnn import checks
from pgnn.checks import as_generator, checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.nn import Positions
from pgnn.nn.positions import shared_positions
from pgnn.positions import anchor_distances, anchor_ppr
from pgnn.positions.all_pairs import AllPairs
from pgnn.positions.anchors import AnchorSets, Scheme, sample_anchor_sets
from pgnn.training.splits import PairSet, Split

Part = Literal["train", "val", "test"]
# PageRank between all nodes is kept for graphs up to this many nodes, in so many bytes in all.
_ALL_PAIRS_NODES = 1 << 12
_ALL_PAIRS_BYTES = 256 << 20
# Beyond this many nodes only of dense graphs: where fewer of all pairs are joined, to solve anew
# takes little longer than the means of what was kept.
_SPARSE_NODES = 1 << 10
_DENSE_SHARE = 0.001


@checked
@dataclass(frozen=True)
class Draws:
    """How positions are drawn for a forward pass.

    Attributes:
        proximity: "hops" to the closest anchor, or "ppr", personalised PageRank to whole sets.
        cutoff: Hops beyond it count as not reached; None for all.
        num_sets: Number of anchor-sets; by default c log2(n)^2 of the largest graph.
        c: The paper's constant, where `num_sets` is not given.
        scheme: How sets are sampled.
        alpha: Chance of the walk of "ppr" to go back.
        tol: How exact "ppr" is on large graphs; see `pgnn.anchor_ppr`.
    """

    proximity: Literal["hops", "ppr"] = "hops"
    cutoff: int | None = None
    num_sets: int | None = None
    c: float = 1.0
    scheme: Scheme = "bernoulli"
    alpha: float = 0.05
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if self.proximity not in ("hops", "ppr"):
            raise PGNNError(f"proximity must be 'hops' or 'ppr' (got {self.proximity!r})")
        if self.num_sets is not None and self.num_sets < 1:
            raise PGNNError(f"num_sets must be a positive integer (got {self.num_sets})")


class Batch:
    """The disjoint union of some splits' visible graphs, with tensors ready for a model.

    Attributes:
        graph: The union.
        sizes: Nodes of each graph.
        x: Features `[n, d]`.
    """

    @checked
    def __init__(self, splits: Sequence[Split], device: torch.device | str = "cpu") -> None:
        if len(splits) == 0:
            raise PGNNError(Parameter("splits"), " must be at least one")
        graphs = [split.graph for split in splits]
        if any(graph.x is None for graph in graphs):
            raise PGNNError(
                "every graph needs features x; use pgnn.datasets.with_constant_features"
            )
        self.splits = splits
        self.graph = graphs[0] if len(graphs) == 1 else Graph.disjoint_union(graphs)
        self.sizes = np.array([graph.num_nodes for graph in graphs], dtype=np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        try:
            self.device = torch.device(device)
        except RuntimeError as error:
            raise PGNNError(Parameter("device"), f" {device!r} is none that torch knows") from error
        self._all_pairs: dict[float, AllPairs] = {}
        self.x = torch.tensor(np.asarray(self.graph.x), dtype=torch.float32, device=self.device)

    @cached_property
    def edge_index(self) -> Tensor:
        """Edges as PyG's models read them, both directions of undirected ones, int64 `[2, e]`."""
        graph = self.graph
        rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
        pairs = np.stack([rows, graph.indices]).astype(np.int64)
        return torch.from_numpy(pairs).to(self.device)

    @checked
    def pairs(self, part: Part) -> Pairs | None:
        """Return the pairs of a part, with nodes counted through the union; None for no pairs."""
        chosen: list[PairSet] = [getattr(split, part) for split in self.splits]
        lengths = np.array([len(pair_set) for pair_set in chosen])
        if not lengths.any():
            return None
        nodes = np.concatenate(
            [s.pairs + start for s, start in zip(chosen, self.starts[:-1], strict=True)]
        )
        labels = np.concatenate([pair_set.labels for pair_set in chosen])
        # The mean over graphs of each graph's mean: large graphs do not drown small ones.
        weight = 1 / (np.maximum(lengths, 1) * np.count_nonzero(lengths))
        return Pairs(
            nodes=torch.from_numpy(nodes).to(self.device),
            labels=torch.tensor(labels, dtype=torch.float32, device=self.device),
            weights=torch.tensor(
                np.repeat(weight, lengths), dtype=torch.float32, device=self.device
            ),
            graph=np.repeat(np.arange(len(chosen)), lengths),
        )

    @checked
    def digest(self, parts: Sequence[Part]) -> str:
        """Return a fingerprint of the visible graphs, their features, and the pairs of parts."""
        digest = hashlib.sha256()
        graph = self.graph
        for array in (self.sizes, graph.indptr, graph.indices, graph.weights, graph.x):
            digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        for split in self.splits:
            for part in parts:
                chosen = getattr(split, part)
                digest.update(f"{part} {len(chosen)} ".encode())
                digest.update(chosen.pairs.tobytes() + chosen.labels.tobytes())
        return digest.hexdigest()

    @checked
    def sample(self, draws: Draws, rng: np.random.Generator) -> AnchorSets:
        """Draw anchor-sets for each graph of the union."""
        return sample_anchor_sets(
            self._num_nodes, num_sets=self._num_sets(draws), scheme=draws.scheme, rng=rng
        )

    @property
    def _num_nodes(self) -> int | list[int]:
        """Number of nodes, or those of each graph of a union, as samplers take them."""
        sizes: list[int] = self.sizes.tolist()
        return sizes if len(sizes) > 1 else sizes[0]

    @checked
    def num_positions(self, draws: Draws) -> int:
        """Return how many (node, set) pairs a draw has."""
        return self.graph.num_nodes * self._num_sets(draws)

    def _num_sets(self, draws: Draws) -> int:
        return draws.num_sets or default_num_sets(int(self.sizes.max()), draws.c)

    @checked
    def draw(self, draws: Draws, rng: np.random.Generator, num_threads: int = 1) -> Positions:
        """Sample anchor-sets and measure every node's position to them."""
        return self.measure(self.sample(draws, rng), draws, num_threads)

    @checked
    def draw_each(self, draws: Draws, seeds: Sequence[int]) -> list[Positions]:
        """Return what `draw` does with each of some seeds.

        Hops of all draws come from one search: on a small graph a search takes far less time than
        what surrounds it.
        """
        rngs = [as_generator(seed) for seed in seeds]
        sets = [self.sample(draws, rng) for rng in rngs]
        if len(sets) == 1 or draws.proximity != "hops" or self.graph.weights is not None:
            return [self.measure(some, draws) for some in sets]
        return self.measure(AnchorSets.chain(sets), draws).split(len(sets))

    @checked
    def measure(self, sets: AnchorSets, draws: Draws, num_threads: int = 1) -> Positions:
        """Measure every node's position to anchor-sets."""
        if draws.proximity == "hops":
            distances = anchor_distances(
                self.graph, sets, cutoff=draws.cutoff, num_threads=num_threads
            )
            positions = shared_positions(distances)
            if distances.lengths is not None:
                positions = positions.quantised()  # a learned gate is then a table, as for hops
        else:
            ppr = self._ppr(sets, draws, num_threads)
            positions = Positions.from_proximity(ppr, sets, batch=self.node_graph)
            positions = positions.standardised().quantised()
        return positions.to(self.device, torch.float32)

    @cached_property
    def node_graph(self) -> NDArray[np.int64]:
        """Which graph each node is of, `[n]`."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def _keeps_all_pairs(self) -> bool:
        """Whether PageRank between all nodes fits, and makes draws faster."""
        largest, num_pairs = int(self.sizes.max()), int((self.sizes.astype(np.int64) ** 2).sum())
        is_small = largest <= _ALL_PAIRS_NODES and 4 * num_pairs <= _ALL_PAIRS_BYTES
        is_dense = len(self.graph.indices) >= _DENSE_SHARE * num_pairs
        return is_small and (is_dense or largest <= _SPARSE_NODES)

    def _ppr(self, sets: AnchorSets, draws: Draws, num_threads: int) -> NDArray[np.float32]:
        """PageRank to sets; that between all nodes of small graphs is found once and kept."""
        alpha = draws.alpha
        if not self._keeps_all_pairs:
            return anchor_ppr(self.graph, sets, alpha=alpha, tol=draws.tol, num_threads=num_threads)
        if alpha not in self._all_pairs:
            self._all_pairs[alpha] = AllPairs([split.graph for split in self.splits], alpha=alpha)
        return self._all_pairs[alpha].to_sets(sets)


@checked
@dataclass(frozen=True)
class Pairs:
    """Pairs to score: nodes int64 `[m, 2]`, labels and weights `[m]`, graph of each pair `[m]`."""

    nodes: Tensor
    labels: Tensor
    weights: Tensor
    graph: NDArray[np.int64]

    @checked
    def sample(self, count: int, rng: np.random.Generator) -> Pairs:
        """Return some of the pairs, with weights scaled so that sums stay the same on average."""
        count = checks.positive_integer("count", count)
        if count >= len(self.graph):
            return self
        chosen = rng.choice(len(self.graph), count, replace=False, shuffle=False)
        index = torch.from_numpy(chosen).to(self.nodes.device)
        scale = len(self.graph) / count
        # index_select copies whole rows, nodes[index] number by number.
        nodes, labels, weights = (
            tensor.index_select(0, index) for tensor in (self.nodes, self.labels, self.weights)
        )
        return Pairs(nodes, labels, weights * scale, self.graph[chosen])


@checked
def default_num_sets(num_nodes: int, c: float) -> int:
    """Return k = L floor(c L), L = floor(log2 n), as `pgnn.sample_anchor_sets` does."""
    checks.number("c", c)
    classes = max(1, int(num_nodes).bit_length() - 1)
    return classes * max(1, int(min(c * classes, float(2**62))))
