"""What the paper's two tables consist of, its numbers, and the settings of each cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pgnn import checks
from pgnn.errors import PGNNError
from pgnn.names import BEST, PROTOCOLS, TABLE_ROWS, Protocol, Task
from pgnn.training.recipe import Recipe


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: As the command calls it.
        title: As the paper calls it.
        table: 1 or 2.
        dataset: What `pgnn.datasets.load` calls it.
        task: "link" or "pair".
        one_hot: Whether nodes have one-hot features (the paper's transductive columns).
        paper: Mean and deviation the paper gives for the first eight models.
    """

    name: str
    title: str
    table: Literal[1, 2]
    dataset: str
    task: Task
    one_hot: bool
    paper: tuple[tuple[float, float], ...]

    def published(self, model: str) -> tuple[float, float] | None:
        """Return the paper's mean and deviation for a model, if it has them."""
        index = TABLE_ROWS.index(model) if model in TABLE_ROWS else len(self.paper)
        return self.paper[index] if index < len(self.paper) else None


def _column(
    name: str, title: str, table: Literal[1, 2], dataset: str, task: Task, means: str, stds: str
) -> Column:
    numbers = zip(map(float, means.split()), map(float, stds.split()), strict=True)
    return Column(name, title, table, dataset, task, title.endswith("-T"), tuple(numbers))


# In the order of TABLE_ROWS. The first row of the paper's second table says GAT, must be GCN.
COLUMNS = {
    column.name: column
    for column in (
        _column(
            *("grid-t", "Grid-T", 1, "grid", "link"),
            "0.698 0.682 0.704 0.732 0.542 0.637 0.665 0.834",
            "0.051 0.050 0.050 0.050 0.057 0.078 0.033 0.099",
        ),
        _column(
            *("communities-t", "Communities-T", 1, "communities", "link"),
            "0.981 0.978 0.980 0.984 0.930 0.989 0.966 0.988",
            "0.004 0.003 0.005 0.005 0.093 0.003 0.013 0.003",
        ),
        _column(
            *("grid", "Grid", 1, "grid", "link"),
            "0.456 0.532 0.566 0.499 0.619 0.694 0.879 0.940",
            "0.037 0.050 0.052 0.054 0.080 0.066 0.039 0.027",
        ),
        _column(
            *("communities", "Communities", 1, "communities", "link"),
            "0.512 0.516 0.618 0.692 0.939 0.991 0.985 0.985",
            "0.008 0.010 0.025 0.049 0.083 0.003 0.005 0.008",
        ),
        _column(
            *("ppi", "PPI", 1, "ppi", "link"),
            "0.769 0.803 0.783 0.782 0.719 0.805 0.775 0.808",
            "0.002 0.005 0.004 0.010 0.027 0.003 0.029 0.003",
        ),
        _column(
            *("communities-pairs", "Communities", 2, "communities", "pair"),
            "0.520 0.514 0.620 0.620 0.985 0.997 0.991 1.0",
            "0.025 0.028 0.022 0.102 0.008 0.006 0.013 0.001",
        ),
        _column(
            *("email", "Email", 2, "email", "pair"),
            "0.515 0.511 0.502 0.545 0.630 0.640 0.625 0.640",
            "0.019 0.016 0.015 0.012 0.019 0.037 0.058 0.029",
        ),
        _column(
            *("protein", "Protein", 2, "protein", "pair"),
            "0.515 0.520 0.528 0.523 0.510 0.729 0.507 0.631",
            "0.002 0.003 0.011 0.002 0.010 0.176 0.006 0.175",
        ),
    )
}


@dataclass(frozen=True)
class Setup:
    """How a run of a cell is done.

    Attributes:
        protocol: Whose splits; see `pgnn.training.splits`.
        standardize: How features are standardised; see `pgnn.datasets.load`.
        keep: Which graphs of Protein.
        recipe: How to train, but for the task, the model and the seed.
    """

    protocol: Protocol
    standardize: Literal["feature", "node"] | None
    keep: Literal["paper", "released"]
    recipe: Recipe


# The loop of the released code; results are those of the best epoch.
_LOOP = Recipe(
    model="gcn",  # each cell has its own
    decoder="distance",
    hidden_channels=32,
    dropout=0.5,
    val=0.1,
    lr=0.01,
    weight_decay=5e-4,
    epochs=2000,
    lr_drop=200,
    batch_graphs=8,
    eval_every=10,
    patience=30,
    eval_draws=1,
    max_pairs=None,
    folds=0,
    judged="epoch",
)
_PAPER = Setup("paper", "feature", "paper", replace(_LOOP, epochs=1000))
_RELEASED = Setup(
    "released",
    "node",
    "released",
    replace(_LOOP, decoder="dot", scheme="fixed", reuse_draw=True),
)
# Columns of many graphs, or large ones: smaller steps, judged more often, the same for every row.
# Patience is that of all columns, 30 evaluations: with 12, runs of PPI ended before the rate drops.
_LARGE: dict[str, dict[str, Any]] = {
    "protein": {"eval_every": 3, "batch_graphs": 64, "max_pairs": 50_000},
    "ppi": {"eval_every": 5, "batch_graphs": 1, "max_pairs": 30_000},
}
# To save time: under `released` an epoch of PPI is 24 steps. The learning rate has dropped before.
_RELEASED_EPOCHS = {"ppi": 300}


def setup_of(column: str, protocol: Protocol, model: str) -> Setup:
    """Return the settings of one cell."""
    checks.one_of("protocol", protocol, PROTOCOLS)
    setup = _PAPER if protocol == "paper" else _RELEASED
    if model == BEST:
        return replace(setup, recipe=Recipe())  # what the library recommends
    changes: dict[str, Any] = dict(_LARGE.get(column, {}))
    if protocol == "released" and column in _RELEASED_EPOCHS:
        changes["epochs"] = _RELEASED_EPOCHS[column]
    if model == "pgnn-p-2l":
        changes["eval_draws"] = 8
    return replace(setup, recipe=replace(setup.recipe, **changes))


def is_whole(record: Mapping[str, Any]) -> bool:
    """Return whether a stored run trained until it stopped improving, or as long as it may.

    Earlier settings ended some runs sooner. What has no epochs of its own, a heuristic or
    `pgnn-best`, is always whole.
    """
    epochs, best = record.get("epochs"), record.get("best_epoch")
    if epochs is None or best is None or record["model"] == BEST:
        return True
    recipe = setup_of(record["column"], record["protocol"], record["model"]).recipe
    waited = (epochs - best) // (recipe.eval_every or 1)
    return bool(epochs >= (recipe.epochs or 0) or waited >= (recipe.patience or 0))


def columns_of(table: str) -> list[Column]:
    """Return the columns of "table1", "table2", "all", or of one column's name."""
    chosen = {"table1": 1, "table2": 2}.get(table)
    if table == "all" or chosen is not None:
        return [c for c in COLUMNS.values() if chosen is None or c.table == chosen]
    if table in COLUMNS:
        return [COLUMNS[table]]
    raise PGNNError(
        f"there is no table {table!r}; use table1, table2, all, or one of {', '.join(COLUMNS)}"
    )
