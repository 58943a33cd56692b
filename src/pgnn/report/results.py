"""The page about the reproduced tables, beside the paper's numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import FORMER_HEURISTICS, HEURISTICS
from pgnn.experiments.compare import Cell, TableOfCells, compare, label
from pgnn.experiments.config import COLUMNS
from pgnn.experiments.render import PPI_NOTE, TITLES
from pgnn.report.page import render_page, rounded

_QUESTIONS = {
    1: "Which pairs of nodes are linked? A part of the links was hidden.",
    2: "Which pairs of nodes are in the same community?",
}
_PROTOCOLS = {
    "paper": "As the paper describes it: the pairs to reject are truly not there, and where there "
    "are many graphs, those of the test were never seen in training.",
    "released": "As the code released with the paper does it, flaws included: some of the pairs to "
    "reject do exist, and every graph is trained on. It is shown to compare like with like.",
}


def render_results(records: Sequence[dict[str, Any]]) -> str:
    """Render the records of `pgnn reproduce` as one HTML page: the tables beside the paper's.

    Args:
        records: The lines of `reproduction.jsonl`, as `pgnn.experiments.store.Store` reads them.

    Raises:
        PGNNError: If there are no records, or plotly or jinja2 is not installed.
    """
    if not records:
        raise PGNNError("there are no records to report; run `pgnn reproduce` first")
    cells_run = {(record["protocol"], record["column"]) for record in records}
    protocols = []
    for protocol, text in _PROTOCOLS.items():
        columns = [c for c in COLUMNS.values() if (protocol, c.name) in cells_run]
        tables = [_table(table) for table in compare(records, columns, protocol)]
        if tables:
            protocols.append({"name": protocol, "text": text, "tables": tables})
    if not protocols:
        raise PGNNError(
            f"no record is of a known protocol and column (got {', '.join(map(str, cells_run))})"
        )
    data = {"protocols": protocols}
    return render_page(
        "results.html.j2",
        data,
        ["charts.js", "results.js"],
        ppi_note=PPI_NOTE if any(column == "ppi" for _, column in cells_run) else None,
        num_runs=len(records),
        hours=sum(record.get("seconds", 0.0) for record in records) / 3600,
        versions=_versions(records),
        commands=_commands(records),
    )


def _table(table: TableOfCells) -> dict[str, Any]:
    """Return a table as plain data, models before heuristics."""
    rows: list[dict[str, Any]] = [
        {
            "name": row,
            "label": label(row),
            "kind": "heuristic" if row in (*HEURISTICS, *FORMER_HEURISTICS) else "model",
            "cells": [_cell(table.cell(row, column)) for column in table.columns],
        }
        for row in table.rows
    ]
    for kind in ("model", "heuristic"):
        for place in range(len(table.columns)):
            cells = [row["cells"][place] for row in rows if row["kind"] == kind]
            filled = [cell for cell in cells if cell is not None]
            best = max((rounded(cell["mean"]) for cell in filled), default="")
            for cell in filled:
                cell["best"] = rounded(cell["mean"]) == best
    return {
        "number": table.number,
        "protocol": table.protocol,
        "title": TITLES[table.number],
        "text": _QUESTIONS[table.number],
        "columns": [{"name": column.name, "title": column.title} for column in table.columns],
        "rows": rows,
    }


def _cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {
        "mean": cell.mean,
        "std": cell.std,
        "runs": cell.runs,
        "paper": None if cell.paper is None else list(cell.paper),
        "differs": cell.differs,
        "above": cell.paper is not None and cell.mean > cell.paper[0],
    }


def _versions(records: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return the versions that made the records, and how many runs each made."""
    counted: Counter[str] = Counter()
    for record in records:
        versions = record.get("versions", {})
        counted[", ".join(f"{name} {version}" for name, version in versions.items())] += 1
    return [(text or "unknown", count) for text, count in counted.most_common()]


def _commands(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return the commands of the runs; commands that differ only in the seed are one line."""
    seeds: dict[str, list[int]] = {}
    for record in records:
        command = record.get("command")
        if command is not None:
            bare = re.sub(r" --seed \d+", " --seed {}", command)
            seeds.setdefault(bare, []).append(record["seed"])
    return [
        command.replace("{}", _span(sorted(set(numbers))))
        for command, numbers in sorted(seeds.items())
    ]


def _span(seeds: list[int]) -> str:
    whole = seeds == list(range(seeds[0], seeds[-1] + 1)) and len(seeds) > 1
    return f"{seeds[0]}…{seeds[-1]}" if whole else ",".join(map(str, seeds))
