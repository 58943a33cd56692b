"""The paper's tables: run what is missing, and set the results beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgnn.checks import one_of
from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments.compare import TableOfCells, compare
from pgnn.experiments.config import COLUMNS, Column, columns_of, is_whole
from pgnn.experiments.jobs import HeuristicsJob, run_jobs
from pgnn.experiments.render import missing_for_pictures, to_markdown, to_png
from pgnn.experiments.run import Job
from pgnn.experiments.store import RESULTS, Store, open_store
from pgnn.io.write import locked_folder, make_folder, open_atomic
from pgnn.names import PROTOCOLS
from pgnn.names import TABLE_ROWS as MODELS

Progress = Callable[[int, int, str], object]


@dataclass(frozen=True)
class Reproduction:
    """The tables that were asked for, protocol by protocol.

    Attributes:
        tables: The tables of each protocol.
    """

    tables: dict[str, list[TableOfCells]]

    @property
    def markdown(self) -> str:
        """The tables with the paper's numbers, as Markdown."""
        return "\n".join(to_markdown(tables) for tables in self.tables.values())

    def to_json(self) -> dict[str, Any]:
        """Return each cell with its mean, its deviation and the paper's."""
        return {
            "cells": [
                cell
                for tables in self.tables.values()
                for table in tables
                for cell in _cells(table)
            ]
        }


def reproduce(
    table: str,
    *,
    protocols: Sequence[str],
    runs: int,
    jobs: int,
    models: Sequence[str] | None,
    out: Path,
    resume: bool,
    data_dir: str | None,
    progress: Progress,
) -> Reproduction:
    """Run the experiments of a table and set the results beside the paper's.

    The files in `out` show everything that is stored there; the returned tables only what this
    call is about.

    Args:
        table: "table1", "table2", "all" or a column's name.
        protocols: "paper", "released" or both.
        runs: Runs for each model and column, with seeds 0, 1, ...
        jobs: Number of processes.
        models: Rows of the table; None for all, and for the heuristics.
        out: Folder for the results.
        resume: Whether to keep the runs that are stored, and do the others.
        data_dir: Folder with data sets.
        progress: Called with (jobs that are ready, jobs in all, a line to print or "").

    Raises:
        PGNNError: If a name is unknown, or there are stored runs and `resume` is False.
    """
    columns = columns_of(table)
    unknown = set(models or ()) - set(MODELS)
    if unknown:
        raise PGNNError(f"there is no row {min(unknown)!r}; the rows are {', '.join(MODELS)}")
    for protocol in protocols:
        one_of("protocol", protocol, PROTOCOLS)
    wanted = _jobs(columns, protocols, runs, models)
    make_folder(out)
    with locked_folder(out):
        store = open_store(out, RESULTS, resume=resume, counts=is_whole)
        _run_missing(wanted, store, jobs, data_dir, progress)
        _write_tables(store, out)
        return Reproduction(_tables(store, columns, protocols))


def _run_missing(
    wanted: Sequence[Job | HeuristicsJob],
    store: Store,
    jobs: int,
    data_dir: str | None,
    progress: Progress,
) -> None:
    """Do the runs that are not stored, and store each as it ends."""
    missing = [job for job in wanted if _missing_rows(job, store)]
    ready = len(wanted) - len(missing)
    progress(ready, len(wanted), _first_line(missing))
    for records in run_jobs(missing, num_processes=jobs, data_dir=data_dir):
        store.add_new(records)
        ready += 1
        progress(ready, len(wanted), _line(records))


# ---------------------------------------------------------------------- what to run


def _jobs(
    columns: Sequence[Column], protocols: Sequence[str], runs: int, models: Sequence[str] | None
) -> list[Job | HeuristicsJob]:
    """Return all jobs of the columns; those of the column that takes longest are last."""
    jobs: list[Job | HeuristicsJob] = []
    for column in sorted(columns, key=lambda column: column.dataset == "ppi"):
        for protocol in protocols:
            for seed in range(runs):
                jobs += [
                    Job(column.name, model, protocol, seed)  # type: ignore[arg-type]
                    for model in models or MODELS
                ]
                if models is None:
                    jobs.append(HeuristicsJob(column.name, protocol, seed))  # type: ignore[arg-type]
    return jobs


def _missing_rows(job: Job | HeuristicsJob, store: Store) -> list[str]:
    """Return the rows that a job would fill and the store does not have."""
    rows = [job.model] if isinstance(job, Job) else HEURISTICS
    return [row for row in rows if not store.has(job.column, row, job.protocol, job.seed)]


def _first_line(missing: Sequence[object]) -> str:
    """Say before hours of training what will not be done after them."""
    if not missing:
        return "nothing left to do"
    return missing_for_pictures() or ""


def _line(records: Sequence[dict[str, Any]]) -> str:
    first = records[0]
    place = f"{first['protocol']:8} {first['column']:17}"
    if len(records) > 1:
        return f"{place} heuristics seed {first['seed']:2}"
    return (
        f"{place} {first['model']:10} seed {first['seed']:2}  test AUC {first['test_auc']:.4f}  "
        f"{first['seconds']:.0f} s"
    )


# ---------------------------------------------------------------------- what to write


def _write_tables(store: Store, out: Path) -> None:
    """Write all that is stored as Markdown and, where they can be drawn, as pictures."""
    stored = Reproduction(_tables(store, list(COLUMNS.values()), ["released", "paper"]))
    with open_atomic(out / "reproduction.md") as file:
        file.write(stored.markdown.encode())
    if missing_for_pictures() is None:
        for protocol, tables in stored.tables.items():
            to_png(tables, out / f"reproduction_{protocol}.png")


def _tables(
    store: Store, columns: Sequence[Column], protocols: Sequence[str]
) -> dict[str, list[TableOfCells]]:
    """Return the tables of each protocol, with the columns that have records."""
    records = store.records()
    run = {(record["protocol"], record["column"]) for record in records}
    tables = {
        protocol: compare(records, [c for c in columns if (protocol, c.name) in run], protocol)
        for protocol in protocols
    }
    return {name: chosen for name, chosen in tables.items() if chosen}


def _cells(table: TableOfCells) -> list[dict[str, Any]]:
    return [
        {
            "protocol": table.protocol,
            "table": table.number,
            "column": column.name,
            "model": row,
            "mean": cell.mean,
            "std": cell.std,
            "runs": cell.runs,
            "cut_short": cell.cut_short,
            "paper": cell.paper,
            "differs": cell.differs,
        }
        for row in table.rows
        for column in table.columns
        if (cell := table.cell(row, column)) is not None
    ]
