"""`pgnn reproduce`: run what is missing, then render."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pgnn import checks
from pgnn.errors import PGNNError
from pgnn.experiments.compare import TableOfCells, compare
from pgnn.experiments.config import COLUMNS, columns_of
from pgnn.experiments.render import to_markdown, to_png
from pgnn.experiments.run import Job, Store, run_heuristics, run_jobs
from pgnn.io.atomic import make_folder, open_atomic
from pgnn.names import PROTOCOLS
from pgnn.names import TABLE_ROWS as MODELS

Progress = Callable[[int, int, str], object]


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
) -> tuple[str, dict[str, Any]]:
    """Run the cells of a table and set them beside the paper's; return Markdown and a summary.

    The files in `out` show all that is stored there; what is returned, the cells asked for.

    Args:
        table: "table1", "table2", "all" or a column's name.
        protocols: "paper", "released" or both.
        runs: Runs a cell.
        jobs: Processes.
        models: Rows; None for all and the heuristics.
        out: Folder of results.
        resume: Whether stored runs are kept.
        data_dir: Folder of data sets.
        progress: Called with (runs done, runs in all, a line to print or "").

    Raises:
        PGNNError: If a name is unknown, or there are stored runs and `resume` is not given.
    """
    columns = columns_of(table)
    unknown = set(models or ()) - set(MODELS)
    if unknown:
        raise PGNNError(f"there is no row {min(unknown)!r}; the rows are {', '.join(MODELS)}")
    for protocol in protocols:
        checks.one_of("protocol", protocol, PROTOCOLS)
    make_folder(out)  # before the runs: what cannot be stored need not be run
    store = Store(out / "reproduction.jsonl")
    if store.records() and not resume:
        raise PGNNError(f"{store.path} has runs already; add --resume to keep them, or move it")
    wanted = [
        Job(column.name, model, protocol, seed)  # type: ignore[arg-type]
        for column in sorted(columns, key=lambda column: column.dataset == "ppi")  # longest last
        for protocol in protocols
        for seed in range(runs)
        for model in models or MODELS
    ]
    todo = store.missing(wanted)
    done = len(wanted) - len(todo)
    progress(done, len(wanted), "" if todo else "nothing left to do")
    for record in run_jobs(todo, num_processes=jobs, data_dir=data_dir):
        store.add(record)
        done += 1
        progress(done, len(wanted), _line(record))
    if models is None:
        _run_heuristics(store, columns, protocols, runs, data_dir, progress, (done, len(wanted)))
    return _render(store, columns, protocols, out)


def _line(record: dict[str, Any]) -> str:
    return (
        f"{record['protocol']:8} {record['column']:17} {record['model']:10} seed {record['seed']:2}"
        f"  test AUC {record['test_auc']:.4f}  {record['seconds']:.0f} s"
    )


def _run_heuristics(
    store: Store,
    columns: Sequence[Any],
    protocols: Sequence[str],
    runs: int,
    data_dir: str | None,
    progress: Progress,
    counts: tuple[int, int],
) -> None:
    for protocol in protocols:
        for column in columns:
            for seed in range(runs):
                probe = Job(column.name, "shortest path", protocol, seed)  # type: ignore[arg-type]
                if not store.missing([probe]):
                    continue
                for record in reversed(run_heuristics(column.name, probe.protocol, seed, data_dir)):
                    store.add(record)  # the probed one last: the others are there if it is
                progress(*counts, f"{protocol:8} {column.name:17} heuristics seed {seed:2}")


def _render(
    store: Store, columns: Sequence[Any], protocols: Sequence[str], out: Path
) -> tuple[str, dict[str, Any]]:
    stored = _tables(store, list(COLUMNS.values()), ["released", "paper"])
    with open_atomic(out / "reproduction.md") as file:
        file.write(_markdown(stored).encode())
    for protocol, found in stored.items():  # after the text, which needs no drawing library
        to_png(found, out / f"reproduction_{protocol}.png")
    asked = _tables(store, columns, protocols)
    summary = [_summary(table) for found in asked.values() for table in found]
    return _markdown(asked), {"cells": [cell for cells in summary for cell in cells]}


def _tables(
    store: Store, columns: Sequence[Any], protocols: Sequence[str]
) -> dict[str, list[TableOfCells]]:
    """Return the tables of each protocol, with the columns that have records."""
    records = store.records()
    having = {(record["protocol"], record["column"]) for record in records}
    found = {
        protocol: compare(records, [c for c in columns if (protocol, c.name) in having], protocol)
        for protocol in protocols
    }
    return {protocol: tables for protocol, tables in found.items() if tables}


def _markdown(tables: dict[str, list[TableOfCells]]) -> str:
    return "\n".join(to_markdown(found) for found in tables.values())


def _summary(table: TableOfCells) -> list[dict[str, Any]]:
    return [
        {
            "protocol": table.protocol,
            "table": table.number,
            "column": column.name,
            "model": row,
            "mean": cell.mean,
            "std": cell.std,
            "runs": cell.runs,
            "paper": cell.paper,
            "differs": cell.differs,
        }
        for row in table.rows
        for column in table.columns
        if (cell := table.cell(row, column)) is not None
    ]
