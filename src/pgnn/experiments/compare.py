"""From the runs of cells to means and deviations beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments.config import Column, is_whole
from pgnn.names import LABELS, MODELS


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        mean: Mean test AUC of the runs.
        std: Standard deviation over the runs (divided by n, as numpy does by default).
        runs: Number of runs.
        paper: The paper's mean and deviation, if it has the cell.
        cut_short: How many of the runs ended before they stopped improving, by earlier settings.
    """

    mean: float
    std: float
    runs: int
    paper: tuple[float, float] | None
    cut_short: int = 0

    @property
    def differs(self) -> bool:
        """Whether it differs from the paper by over two standard deviations of both together."""
        if self.paper is None:
            return False
        return abs(self.mean - self.paper[0]) > 2 * float(np.hypot(self.std, self.paper[1]))


@dataclass(frozen=True)
class TableOfCells:
    """One table of the paper.

    Attributes:
        number: 1 or 2.
        protocol: "paper" or "released".
        columns: Its columns.
        rows: Names of the models, then of the heuristics, that have runs.
        cells: By the name of the row and of the column; None for a cell without runs.
    """

    number: int
    protocol: str
    columns: list[Column]
    rows: list[str]
    cells: dict[tuple[str, str], Cell | None]

    def cell(self, row: str, column: Column) -> Cell | None:
        """Return a cell, or None if it was not run."""
        return self.cells[row, column.name]


def compare(
    records: Iterable[dict[str, Any]], columns: Sequence[Column], protocol: str
) -> list[TableOfCells]:
    """Return the tables of the columns; models come first, then what needs no learning.

    Rows that this version does not have, such as a heuristic of an earlier one, are left out.
    """
    runs: dict[tuple[str, str], dict[int, dict[str, Any]]] = {}
    for record in records:  # of one run's records the last counts
        if record["protocol"] == protocol:
            key = (record["model"], record["column"])
            runs.setdefault(key, {})[record["seed"]] = record
    names = {model for model, _ in runs}
    rows = [name for name in (*MODELS, *HEURISTICS) if name in names]
    tables = []
    for number in sorted({column.table for column in columns}):
        chosen = [column for column in columns if column.table == number]
        cells = {
            (row, column.name): _cell(list(runs.get((row, column.name), {}).values()), row, column)
            for row in rows
            for column in chosen
        }
        shown = [row for row in rows if any(cells[row, column.name] for column in chosen)]
        tables.append(TableOfCells(number, protocol, chosen, shown, cells))
    return tables


def _cell(runs: list[dict[str, Any]], row: str, column: Column) -> Cell | None:
    if not runs:
        return None
    aucs = [run["test_auc"] for run in runs]
    cut_short = sum(not is_whole(run) for run in runs)
    return Cell(
        float(np.mean(aucs)), float(np.std(aucs)), len(aucs), column.published(row), cut_short
    )


def label(row: str) -> str:
    """Return the name that a table shows for a row."""
    return LABELS.get(row, row)
