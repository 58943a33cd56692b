"""What a report of a run is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets


@dataclass(frozen=True)
class Row:
    """A row of the result table.

    Attributes:
        name: As it is shown, such as "P-GNN-E-2L (this run)".
        metrics: Keys as `pgnn.evaluation.metrics.pair_metrics` gives them; higher is better.
        paper: Mean and deviation of the paper's ROC AUC, if it has the experiment.
        kind: A heuristic needs no learning, and the table says so.
    """

    name: str
    metrics: dict[str, float]
    paper: tuple[float, float] | None = None
    kind: Literal["model", "heuristic"] = "model"


@dataclass(frozen=True)
class RunReport:
    """All that a run's page shows, as plain data.

    Attributes:
        title: Of the page.
        facts: (name, text) pairs, such as ("seed", "0").
        rows: Of the result table.
        history: A dict an epoch with "epoch", "loss" and "val_auc" (None where not evaluated).
        best_epoch: The epoch that the results are of.
        roc: For each name, false and true positive rates.
        graph: What the model saw, training edges only.
        sets: One draw of anchor-sets.
        hops: Distance of each node to each set, `[n, k]`: hops, -1 where a set is not reached; or
            lengths, infinite where it is not.
        embedding: A row a node, `[n, d]`.
        links: Dicts with "source", "target", "score" and "spread"; may be empty.
        links_title: Such as "Most likely missing links".
        notes: Lines shown under the facts.
        num_sets: How many sets the model uses, if more than `sets` has.
    """

    title: str
    facts: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    history: Sequence[dict[str, float | None]]
    best_epoch: int
    roc: dict[str, tuple[NDArray[Any], NDArray[Any]]]
    graph: Graph
    sets: AnchorSets
    hops: NDArray[Any]
    embedding: NDArray[Any]
    links: Sequence[dict[str, Any]]
    links_title: str
    notes: Sequence[str] = ()
    num_sets: int | None = None

    def __post_init__(self) -> None:
        shape = (self.graph.num_nodes, len(self.sets))
        if self.sets.num_nodes != shape[0]:
            raise PGNNError(
                f"the anchor-sets are of a graph of {self.sets.num_nodes} nodes, "
                f"but the graph of the report has {shape[0]}"
            )
        if self.hops.shape != shape:
            raise PGNNError(
                f"hops must be of shape {list(shape)}, a distance for each node and set "
                f"(got {list(self.hops.shape)})"
            )
        if self.embedding.ndim != 2 or len(self.embedding) != shape[0] or not self.embedding.size:
            raise PGNNError(
                f"embedding must have a row for each of {shape[0]} nodes "
                f"(got shape {list(self.embedding.shape)})"
            )
        if not np.isfinite(self.embedding).all():
            raise PGNNError("embedding must be finite (got NaN or infinity); did training diverge?")
