"""SEAL and a graph auto-encoder, written with PyTorch Geometric's parts: peers for `peers.py`.

SEAL (Zhang and Chen, 2018) cuts out the neighbourhood of a pair, without the edge of the pair,
labels its nodes by their distances to both ends, and lets a graph network judge the whole. The
auto-encoder (Kipf and Welling, 2016) is `torch_geometric.nn.GAE` with two GCN layers on learnt
node vectors.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, relu
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GAE, GCNConv, SortAggregation

from pgnn import Graph
from pgnn.pairs.codes import as_pairs, sorted_distinct, unordered_codes
from pgnn.pairs.negatives import draw_non_edges

Pairs = NDArray[np.int64]
_LABELS = 100  # most labels of nodes; larger ones share the last
_KEPT = 30  # nodes of a neighbourhood that are read out, those with the largest last channel
_MOST = 200  # nodes of a neighbourhood: a hub's is cut by chance


def learn_pairs(graph: Graph, seed: int) -> tuple[Pairs, NDArray[np.float32]]:
    """Return every edge, as many pairs that are none, and which is which."""
    edges = as_pairs(graph.edges())
    joined = sorted_distinct(unordered_codes(edges))
    others = draw_non_edges(np.random.default_rng(seed), joined, graph.num_nodes, len(edges))
    labels = np.repeat(np.array([1, 0], dtype=np.float32), [len(edges), len(others)])
    return np.concatenate([edges, others]), labels


# ---------------------------------------------------------------------- SEAL


def neighbourhood(graph: Graph, pair: Sequence[int], rng: np.random.Generator, hops: int) -> Data:
    """Return the nodes within some hops of either end, labelled by their hops to both ends."""
    u, v = int(pair[0]), int(pair[1])
    nodes = [u, v]
    place = {u: 0, v: 1}
    first = 0  # of the nodes of the last hop
    for _ in range(hops):
        reached = {int(other) for node in nodes[first:] for other in graph.neighbors(node)}
        around = np.array(sorted(reached - place.keys()), dtype=np.int64)
        if len(around) > (room := _MOST + 2 - len(nodes)):
            around = rng.choice(around, room, replace=False)
        first = len(nodes)
        nodes += around.tolist()
        place |= {node: i for i, node in enumerate(nodes[first:], first)}
    edges = [
        (i, place[int(other)])
        for i, node in enumerate(nodes)
        for other in graph.neighbors(node)
        if int(other) in place and {i, place[int(other)]} != {0, 1}
    ]
    index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T.contiguous()
    return Data(edge_index=index, z=_labels(len(nodes), edges), num_nodes=len(nodes))


def _labels(num_nodes: int, edges: Sequence[tuple[int, int]]) -> Tensor:
    """Return the label of each node: a number for its pair of distances to both ends."""
    rows: list[list[int]] = [[] for _ in range(num_nodes)]
    for first, second in edges:
        rows[first].append(second)
    to_u, to_v = (_hops(rows, end, without=1 - end) for end in (0, 1))
    labels = []
    for node in range(num_nodes):
        x, y = to_u[node], to_v[node]
        if node < 2:
            labels.append(1)
        elif x < 0 or y < 0:
            labels.append(0)
        else:
            half, odd = divmod(x + y, 2)
            labels.append(1 + min(x, y) + half * (half + odd - 1))
    return torch.tensor(labels).clamp(max=_LABELS - 1)


def _hops(rows: Sequence[Sequence[int]], start: int, *, without: int) -> list[int]:
    """Return hops from a node in the graph without another node; -1 where there is no way."""
    hops = [-1] * len(rows)
    hops[start], frontier = 0, [start]
    while frontier:
        reached = []
        for node in frontier:
            for other in rows[node]:
                if other != without and hops[other] < 0:
                    hops[other] = hops[node] + 1
                    reached.append(other)
        frontier = reached
    return hops


class DGCNN(nn.Module):
    """Four graph convolutions whose nodes are sorted and read by a small network over sequences."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(_LABELS, width)
        sizes = [(width, width)] * 3 + [(width, 1)]
        self.convs = nn.ModuleList(GCNConv(first, last) for first, last in sizes)
        self.sort = SortAggregation(_KEPT)
        total = 3 * width + 1
        self.rows = nn.Conv1d(1, 16, total, total)
        self.window = nn.Conv1d(16, 32, 5)
        self.head = nn.Sequential(
            nn.Linear(32 * (_KEPT // 2 - 4), 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 1)
        )

    def forward(self, data: Data) -> Tensor:
        """Return one logit for each neighbourhood of a batch."""
        x, layers = self.embedding(data.z), []
        for conv in self.convs:
            x = torch.tanh(conv(x, data.edge_index))
            layers.append(x)
        rows = self.sort(torch.cat(layers, dim=1), data.batch).unsqueeze(1)
        sequence = nn.functional.max_pool1d(relu(self.rows(rows)), 2)
        logits: Tensor = self.head(relu(self.window(sequence)).flatten(1)).squeeze(1)
        return logits


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch, and Python's `random` from which PyG draws negatives; leave both as they were."""
    state = random.getstate()
    try:
        with torch.random.fork_rng():
            torch.default_generator.manual_seed(seed)
            random.seed(seed)
            yield
    finally:
        random.setstate(state)


def seal_scores(
    graph: Graph, pairs: Pairs, *, seed: int, hops: int, epochs: int = 20
) -> NDArray[np.float64]:
    """Train SEAL on the edges of a graph and score pairs, by what is within some hops of each."""
    rng = np.random.default_rng(seed)
    learnt, labels = learn_pairs(graph, seed)
    examples = []
    for pair, label in zip(learnt, labels, strict=True):
        example = neighbourhood(graph, pair, rng, hops)
        example.y = torch.tensor([label])
        examples.append(example)
    asked = [neighbourhood(graph, pair, rng, hops) for pair in pairs]
    with seeded(seed):
        model = DGCNN()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for _ in range(epochs):
            model.train()
            for batch in DataLoader(examples, batch_size=32, shuffle=True):
                optimizer.zero_grad()
                loss: Tensor = binary_cross_entropy_with_logits(model(batch), batch.y)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
        model.eval()
        with torch.no_grad():
            parts = [model(batch) for batch in DataLoader(asked, batch_size=256)]
    return torch.cat(parts).double().numpy()


# ---------------------------------------------------------------------- auto-encoder


class _Encoder(nn.Module):
    def __init__(self, num_nodes: int, width: int = 64) -> None:
        super().__init__()
        self.nodes = nn.Parameter(torch.randn(num_nodes, width) / width**0.5)
        self.first, self.second = GCNConv(width, width), GCNConv(width, width)

    def forward(self, edge_index: Tensor) -> Tensor:
        hidden: Tensor = self.second(relu(self.first(self.nodes, edge_index)), edge_index)
        return hidden


def gae_scores(graph: Graph, pairs: Pairs, *, seed: int, epochs: int = 200) -> NDArray[np.float64]:
    """Train a graph auto-encoder on the edges of a graph and score pairs."""
    edges = torch.from_numpy(as_pairs(graph.edges()).T.copy())
    both_ways = torch.cat([edges, edges.flip(0)], dim=1)
    with seeded(seed):
        model = GAE(_Encoder(graph.num_nodes))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(epochs):
            model.train()
            optimizer.zero_grad()
            model.recon_loss(model.encode(both_ways), edges).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            z = model.encode(both_ways)
            scores: Tensor = model.decode(z, torch.from_numpy(pairs.T.copy()), sigmoid=False)
    return scores.double().numpy()
