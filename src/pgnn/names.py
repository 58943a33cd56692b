"""The names of tasks, models, data sets and protocols: every list of them is this one."""

from __future__ import annotations

from typing import Literal

Task = Literal["link", "pair"]
Protocol = Literal["paper", "released"]
Negatives = Literal["uniform", "two-hop", "degree"]

TASKS: tuple[Task, ...] = ("link", "pair")
PROTOCOLS: tuple[Protocol, ...] = ("paper", "released")
NEGATIVES: tuple[Negatives, ...] = ("uniform", "two-hop", "degree")
DATASETS = ("grid", "communities", "ppi", "email", "protein")

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
TABLE_ROWS = MODELS[:9]  # the paper's eight rows, and its PageRank variant
