"""Runs of the benchmark of links -> tables, as Markdown, as JSON and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments.compare import label
from pgnn.experiments.link_run import TOP, LinkRecord
from pgnn.experiments.render import Panel, draw
from pgnn.names import BEST, LINK_GRAPHS, LINK_PROTOCOLS, MODELS, NODE2VEC

_ROWS = (BEST, *(model for model in MODELS if model != BEST), NODE2VEC, *HEURISTICS)
# Ten per cent of the edges hidden, all pairs; the papers' own numbers, nothing here was run again.
_GRAPHS = ("usair", "ns", "yeast", "power")
PUBLISHED = {
    "SEAL": dict(zip(_GRAPHS, (0.966, 0.989, 0.979, 0.876), strict=True)),
    "WalkPool": dict(zip(_GRAPHS, (0.987, 0.990, 0.984, 0.926), strict=True)),
}
ABOUT = {
    "published": "All hidden edges are asked about, also those of nodes that hiding left without "
    "an edge, and as many pairs that no edge joins.",
    "honest": "Only pairs of nodes that still have an edge are asked about: those a file of the "
    "visible edges would name.",
}
PUBLISHED_NOTE = (
    "Rows marked as published are quoted, not run here: the papers' own splits, a tenth of the "
    "edges hidden, all pairs. WalkPool's numbers are approximate. Neither has facebook."
)


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation of a number over runs (numpy's default deviation)."""

    mean: float
    std: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Summary | None:
        """Summarise the numbers that are there; None if there is none."""
        known = [value for value in values if value is not None]
        return cls(float(np.mean(known)), float(np.std(known))) if known else None


@dataclass(frozen=True)
class LinkCell:
    """What one row came to on one graph.

    Attributes:
        runs: How many runs there are.
        auc: ROC AUC of the test pairs.
        seconds: To learn and to score.
        processor_seconds: The same in time of the processor.
        calibration_error: None without chances.
        brier: None without chances.
        top_hits: How many of the likeliest missing links are hidden edges; None where not asked.
    """

    runs: int
    auc: Summary
    seconds: Summary
    processor_seconds: Summary
    calibration_error: Summary | None
    brier: Summary | None
    top_hits: Summary | None

    @classmethod
    def of(cls, records: Sequence[LinkRecord]) -> LinkCell:
        """Summarise the runs of one cell."""
        auc = Summary.of(record.test_auc for record in records)
        seconds = Summary.of(record.seconds for record in records)
        processor_seconds = Summary.of(record.processor_seconds for record in records)
        assert auc is not None, "a cell has at least one run"
        assert seconds is not None
        assert processor_seconds is not None
        return cls(
            len(records),
            auc,
            seconds,
            processor_seconds,
            Summary.of(record.calibration_error for record in records),
            Summary.of(record.brier for record in records),
            Summary.of(record.top_hits for record in records),
        )


@dataclass(frozen=True)
class LinkTable:
    """All cells of one protocol.

    Attributes:
        protocol: Which pairs were asked about.
        columns: Names of the graphs.
        rows: Names of models and heuristics, best known first.
        cells: By row and column; those that were not run are not in it.
        hidden_edges: Mean number of hidden edges that were asked about, by column.
    """

    protocol: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: dict[tuple[str, str], LinkCell]
    hidden_edges: dict[str, float]


def link_tables(records: Iterable[LinkRecord]) -> list[LinkTable]:
    """Return a table for each protocol that has runs; a run that is there twice counts once."""
    runs = {(r.protocol, r.model, r.column, r.seed): r for r in records}
    tables = []
    for protocol in LINK_PROTOCOLS:
        chosen = [record for record in runs.values() if record.protocol == protocol]
        if not chosen:
            continue
        grouped: dict[tuple[str, str], list[LinkRecord]] = {}
        hidden: dict[str, list[float]] = {}
        for record in chosen:
            grouped.setdefault((record.model, record.column), []).append(record)
            hidden.setdefault(record.column, []).append(record.test_pairs / 2)
        tables.append(
            LinkTable(
                protocol,
                _in_order({record.column for record in chosen}, LINK_GRAPHS),
                _in_order({record.model for record in chosen}, _ROWS),
                {key: LinkCell.of(group) for key, group in grouped.items()},
                {column: float(np.mean(counts)) for column, counts in hidden.items()},
            )
        )
    return tables


def _in_order(names: set[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return known names in their order, then the others by name."""
    return (*(name for name in known if name in names), *sorted(names - set(known)))


@dataclass(frozen=True)
class LinkResults:
    """The tables of the benchmark, one for each protocol that has runs."""

    tables: list[LinkTable]

    @property
    def markdown(self) -> str:
        """All tables."""
        return "\n".join(_markdown(table) for table in self.tables)

    def to_json(self) -> dict[str, Any]:
        """Return each cell with what it came to, and published numbers as cells of their own."""
        cells = [
            _cell_json(table, row, column)
            for table in self.tables
            for row in table.rows
            for column in table.columns
            if (row, column) in table.cells
        ]
        return {"cells": cells + [cell for table in self.tables for cell in _published_json(table)]}


def draw_links(tables: Sequence[LinkTable], path: Path) -> None:
    """Draw the areas of all protocols below each other; the best row of a column is bold."""
    panels = []
    for table in tables:
        rows = [*table.rows, *_published_rows(table)]
        best = {column: _best(table, column) for column in table.columns}
        panels.append(
            Panel(
                f"Missing links: ROC AUC, protocol {table.protocol}",
                [_row_label(row) for row in rows],
                table.columns,
                [[_auc_text(table, row, column) for column in table.columns] for row in rows],
                bold={
                    (place, number)
                    for place, row in enumerate(rows)
                    for number, column in enumerate(table.columns)
                    if row == best[column]
                },
            )
        )
    draw(panels, path)


# ---------------------------------------------------------------------- Markdown


def _markdown(table: LinkTable) -> str:
    runs = sorted({cell.runs for cell in table.cells.values()})
    counted = f"{runs[0]} to {runs[-1]} runs" if len(runs) > 1 else f"{runs[0]} run(s)"
    published = _published_rows(table)
    parts = [
        f"### Missing links, protocol `{table.protocol}`\n",
        f"A tenth of the edges is hidden. {ABOUT[table.protocol]} Mean and standard deviation of "
        f"{counted}.\n",
        "**ROC AUC** (the best of a column is bold)\n",
        _grid(table, [*table.rows, *published], _bold_auc),
    ]
    if published:
        parts.append(PUBLISHED_NOTE + "\n")
    parts += [
        "**Seconds** of the processor to learn from the visible edges and to score the pairs\n",
        _grid(table, table.rows, _seconds_text),
    ]
    judged = [row for row in table.rows if _any(table, row, "calibration_error")]
    if judged:
        parts += [
            "**Calibration error** (and Brier score) of chances\n",
            _grid(table, judged, _chances_text),
        ]
    rows = [row for row in table.rows if _any(table, row, "top_hits")]
    if rows:
        hidden = ["hidden edges in all", *(f"{table.hidden_edges[c]:.0f}" for c in table.columns)]
        parts += [
            f"**How many of the {TOP} likeliest missing links are hidden edges**\n",
            f"{_grid(table, rows, _hits_text)}| {' | '.join(hidden)} |\n",
        ]
    return "\n".join(parts)


def _grid(table: LinkTable, rows: Sequence[str], text: Callable[[LinkTable, str, str], str]) -> str:
    lines = ["| | " + " | ".join(table.columns) + " |", "|---" * (len(table.columns) + 1) + "|"]
    for row in rows:
        cells = (text(table, row, column) for column in table.columns)
        lines.append(f"| {_row_label(row)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _row_label(row: str) -> str:
    return f"{row}, published" if row in PUBLISHED else label(row)


def _any(table: LinkTable, row: str, name: str) -> bool:
    cells = (table.cells.get((row, column)) for column in table.columns)
    return any(cell is not None and getattr(cell, name) is not None for cell in cells)


def _published_rows(table: LinkTable) -> list[str]:
    """Return whose published numbers stand beside a table: those of the same pairs and graphs."""
    if table.protocol != "published":
        return []
    return [name for name, numbers in PUBLISHED.items() if set(numbers) & set(table.columns)]


def _best(table: LinkTable, column: str) -> str:
    """Return the row with the highest area, to three digits; the first of equals."""
    means = {
        row: round(cell.auc.mean, 3)
        for row in table.rows
        if (cell := table.cells.get((row, column))) is not None
    }
    for name in _published_rows(table):
        if column in PUBLISHED[name]:
            means[name] = PUBLISHED[name][column]
    return max(means, key=lambda row: means[row])


def _auc_text(table: LinkTable, row: str, column: str) -> str:
    if row in PUBLISHED:
        number = PUBLISHED[row].get(column)
        return "" if number is None else f"{number:.3f}"
    cell = table.cells.get((row, column))
    return "" if cell is None else _plus_minus(cell.auc, 3)


def _bold_auc(table: LinkTable, row: str, column: str) -> str:
    text = _auc_text(table, row, column)
    return f"**{text}**" if text and row == _best(table, column) else text


def _seconds_text(table: LinkTable, row: str, column: str) -> str:
    cell = table.cells.get((row, column))
    if cell is None:
        return ""
    mean = cell.processor_seconds.mean
    return f"{mean:.0f}" if mean >= 10 else f"{mean:.1f}" if mean >= 0.1 else "< 0.1"


def _chances_text(table: LinkTable, row: str, column: str) -> str:
    cell = table.cells.get((row, column))
    if cell is None or cell.calibration_error is None or cell.brier is None:
        return ""
    return f"{_plus_minus(cell.calibration_error, 3)} ({cell.brier.mean:.3f})"


def _hits_text(table: LinkTable, row: str, column: str) -> str:
    cell = table.cells.get((row, column))
    return "" if cell is None or cell.top_hits is None else _plus_minus(cell.top_hits, 1)


def _plus_minus(summary: Summary, digits: int) -> str:
    return f"{summary.mean:.{digits}f} ± {summary.std:.{digits}f}"


# ---------------------------------------------------------------------- JSON


def _cell_json(table: LinkTable, row: str, column: str) -> dict[str, Any]:
    cell = table.cells[row, column]
    document: dict[str, Any] = {
        "protocol": table.protocol,
        "table": "links",
        "column": column,
        "model": row,
        "mean": cell.auc.mean,
        "std": cell.auc.std,
        "runs": cell.runs,
        "published": False,
    }
    for name in ("seconds", "processor_seconds", "calibration_error", "brier", "top_hits"):
        summary: Summary | None = getattr(cell, name)
        document[name] = None if summary is None else summary.mean
    return document


def _published_json(table: LinkTable) -> list[dict[str, Any]]:
    return [
        {
            "protocol": table.protocol,
            "table": "links",
            "column": column,
            "model": name,
            "mean": PUBLISHED[name][column],
            "published": True,
        }
        for name in _published_rows(table)
        for column in table.columns
        if column in PUBLISHED[name]
    ]
