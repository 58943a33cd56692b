"""The names of tasks, models, data sets and protocols: every list of them is this one."""

from __future__ import annotations

from typing import Literal

Task = Literal["link", "pair"]
Protocol = Literal["paper", "released"]
LinkProtocol = Literal["published", "honest"]
Negatives = Literal["uniform", "two-hop", "degree"]

TASKS: tuple[Task, ...] = ("link", "pair")
PROTOCOLS: tuple[Protocol, ...] = ("paper", "released")
LINK_PROTOCOLS: tuple[LinkProtocol, ...] = ("published", "honest")
NEGATIVES: tuple[Negatives, ...] = ("uniform", "two-hop", "degree")
ANCHOR_CHOICES = ("run", "fresh")  # of the anchor-sets of an embedding
DATASETS = ("grid", "communities", "ppi", "email", "protein")
LINK_GRAPHS = ("usair", "ns", "yeast", "power", "facebook")  # of the link-prediction literature

# How each model is called in a table. Rows of the paper's tables first, in the paper's order.
LABELS = {
    "gcn": "GCN",
    "sage": "GraphSAGE",
    "gat": "GAT",
    "gin": "GIN",
    "pgnn-f-1l": "P-GNN-F-1L",
    "pgnn-f-2l": "P-GNN-F-2L",
    "pgnn-e-1l": "P-GNN-E-1L",
    "pgnn-e-2l": "P-GNN-E-2L",
    "pgnn-p-2l": "P-GNN-P-2L",
    "pgnn-best": "pgnn-best",
    "mlp": "MLP",
}
MODELS = tuple(LABELS)
BEST = "pgnn-best"  # the library's own, and the default
TABLE_ROWS = MODELS[:10]  # the paper's eight rows, its PageRank variant, the library's own
NODE2VEC = "node2vec"  # a peer that is not of this library
LINK_MODELS = (BEST, "pgnn-e-2l", "pgnn-p-2l")  # what the benchmark of links trains by default
