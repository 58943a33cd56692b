"""How many negatives of the released code are positives turned round, and what that costs.

`python benchmarks/released_negatives.py` draws the test pairs of protocol `released` for the
columns of the paper's tables, with the ten seeds of its runs. An oracle, which knows every link (of
pairs: whether labels are equal), scores such a negative as highly as a positive; its AUC is the
most that any score can reach. Real data come from $PGNN_DATA or the cache. Results go to
results/released_negatives.json.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from result_files import write_rows

from pgnn.evaluation.metrics import roc_auc
from pgnn.experiments.config import COLUMNS, setup_of
from pgnn.experiments.run import load_graphs
from pgnn.graph import Graph
from pgnn.training.splits import make_splits

SEEDS = 10


def truth(graph: Graph, pairs: NDArray[Any], task: str) -> NDArray[np.bool_]:
    """Return which pairs are links, in either direction, or have one label."""
    u, v = pairs.T
    if task == "pair":
        assert graph.y is not None
        return np.asarray(graph.y[u] == graph.y[v])
    joined = graph.to_scipy()[u, v]
    return np.asarray(joined).ravel() > 0


def measure(column: str) -> dict[str, Any]:
    """Return the share of false negatives and the oracle's AUC: means over graphs, then seeds."""
    spec, setup = COLUMNS[column], setup_of(column, "released", "gcn")
    aucs, turned, total = [], 0, 0
    for seed in range(SEEDS):
        graphs = load_graphs(column, setup, seed, None)
        splits = make_splits(graphs, spec.task, rng=seed, protocol="released")
        of_graphs = []
        for graph, split in zip(graphs, splits, strict=True):
            known = truth(graph, np.asarray(split.test.pairs), spec.task)
            negative = split.test.labels == 0
            turned += int(known[negative].sum())
            total += int(negative.sum())
            if 0 < negative.sum() < len(negative):
                of_graphs.append(roc_auc(split.test.labels, known.astype(np.float64)))
        aucs.append(float(np.mean(of_graphs)))
    row = {"column": column, "share": turned / total, "oracle_auc": float(np.mean(aucs))}
    print(*row.values(), flush=True)
    return row


if __name__ == "__main__":
    columns = [name for name, column in COLUMNS.items() if not column.one_hot]
    write_rows("released_negatives", [measure(name) for name in columns], seeds=SEEDS)
