"""The page about results: the paper's tables beside its numbers, and the benchmark of links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.experiments.compare import Cell, TableOfCells, compare, label
from pgnn.experiments.config import COLUMNS
from pgnn.experiments.link_run import TOP, LinkRecord
from pgnn.experiments.link_tables import ABOUT, PUBLISHED, PUBLISHED_NOTE, LinkResults, link_tables
from pgnn.experiments.render import PPI_NOTE, TITLES
from pgnn.experiments.store import missing_of, problem_of
from pgnn.names import MODELS
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

# Keys of a cell of the benchmark of links: what each is, and whether a higher number is better.
_LINK_NUMBERS = {
    "mean": ("ROC AUC: how often a hidden edge scores higher than a pair that is none", True),
    "top_hits": (f"How many of the {TOP} likeliest missing links are hidden edges", True),
    "calibration_error": ("Calibration error: how far chances are from shares, on average", False),
    "processor_seconds": ("Seconds of the processor to learn and to score", False),
}


@checked
def render_results(records: Sequence[dict[str, Any]], links: Sequence[dict[str, Any]] = ()) -> str:
    """Render the records of `pgnn reproduce` as one HTML page: the tables beside the paper's.

    Args:
        records: The lines of `reproduction.jsonl`, as `pgnn.experiments.store.Store` reads them.
        links: The lines of `links.jsonl`, runs of the benchmark of links.

    Raises:
        PGNNError: If there are no records.
    """
    if len(records) == 0 and len(links) == 0:
        raise PGNNError("there are no records to report; run `pgnn reproduce` first")
    for record in records:
        missing = missing_of(record)
        if problem := problem_of(record) or (missing and f"one has no {missing}"):
            raise PGNNError(Parameter("records"), f" must be records of runs ({problem})")
    cells_run = {(record["protocol"], record["column"]) for record in records}
    protocols = []
    for protocol, text in _PROTOCOLS.items():
        columns = [c for c in COLUMNS.values() if (protocol, c.name) in cells_run]
        tables = [_table(table) for table in compare(records, columns, protocol)]
        if tables:
            protocols.append({"name": protocol, "text": text, "tables": tables})
    if len(records) and not protocols:
        raise PGNNError(
            f"no record is of a known protocol and column (got {', '.join(map(str, cells_run))})"
        )
    data = {"protocols": protocols}
    return render_page(
        "results.html.j2",
        data,
        ["charts.js", "results.js"],
        link_tables=_link_tables(links),
        published_note=PUBLISHED_NOTE,
        ppi_note=PPI_NOTE if any(column == "ppi" for _, column in cells_run) else None,
        num_runs=len(records) + len(links),
        hours=sum(record.get("seconds", 0.0) for record in (*records, *links)) / 3600,
        versions=_versions([*records, *links]),
        commands=_commands(records),
    )


def _table(table: TableOfCells) -> dict[str, Any]:
    """Return a table as plain data, models before heuristics."""
    rows: list[dict[str, Any]] = [
        {
            "name": row,
            "label": label(row),
            "kind": "model" if row in MODELS else "heuristic",
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


def _link_tables(links: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the benchmark of links as plain data, a table for each protocol and number."""
    tables = link_tables(LinkRecord.from_json(record) for record in links)
    cells = LinkResults(tables).to_json()["cells"]
    shown = []
    for table in tables:
        chosen = {
            (cell["model"], cell["column"]): cell
            for cell in cells
            if cell["protocol"] == table.protocol
        }
        rows = list(dict.fromkeys(row for row, _ in chosen))
        grids = []
        for key, (title, high) in _LINK_NUMBERS.items():
            some = [
                row
                for row in rows
                if any(_value(chosen, row, c, key) is not None for c in table.columns)
            ]
            if some:
                grid = [
                    [_link_cell(chosen, some, row, column, key, high) for column in table.columns]
                    for row in some
                ]
                labels = [f"{r}, published" if r in PUBLISHED else label(r) for r in some]
                grids.append({"title": title, "rows": list(zip(labels, some, grid, strict=True))})
        shown.append(
            {
                "protocol": table.protocol,
                "text": ABOUT[table.protocol],
                "columns": table.columns,
                "grids": grids,
                "has_published": any(cell["published"] for cell in chosen.values()),
            }
        )
    return shown


def _value(cells: dict[Any, dict[str, Any]], row: str, column: str, key: str) -> float | None:
    value = cells.get((row, column), {}).get(key)
    return None if value is None else float(value)


def _link_cell(
    cells: dict[Any, dict[str, Any]], rows: list[str], row: str, column: str, key: str, high: bool
) -> dict[str, Any] | None:
    """Return a number with its deviation, and whether it is the best of its column."""
    value = _value(cells, row, column, key)
    if value is None:
        return None
    others = [v for other in rows if (v := _value(cells, other, column, key)) is not None]
    best = max(others) if high else min(others)
    cell = cells[row, column]
    return {
        "mean": value,
        "std": cell.get("std") if key == "mean" else None,
        "runs": cell.get("runs"),
        "text": _told(value, key),
        "best": _told(value, key) == _told(best, key),
    }


def _told(value: float, key: str) -> str:
    if key not in ("top_hits", "processor_seconds"):
        return rounded(value)
    return "< 0.1" if key == "processor_seconds" and value < 0.1 else f"{value:.1f}"


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
