"""`pgnn datasets`: the data sets of the paper, and which are there."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

_COLUMNS = ("name", "graphs", "nodes", "edges", "features", "task", "present")

DataDir = Annotated[
    str | None,
    typer.Option(help="Folder with data sets. Default: $PGNN_DATA, then the cache."),
]


def datasets(
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the data sets of the paper.

    A data set that is not present is downloaded when you first train on it.
    Nothing is downloaded now.

    For example:

      pgnn datasets
      pgnn datasets --data-dir ~/data --json
    """
    from pgnn.datasets import describe

    rows = describe(data_dir)
    if as_json:
        typer.echo(json.dumps({"datasets": [asdict(row) for row in rows]}, indent=2))
        return
    table = Table()
    for name in _COLUMNS:
        left = name in ("name", "task")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    for row in rows:
        counts = (f"{count:,}" for count in (row.graphs, row.nodes, row.edges, row.features))
        present = "yes" if row.present else "no"
        table.add_row(row.name, *counts, ", ".join(row.tasks), present)
    Console().print(table)
    # Not a column: it would leave no room for the numbers on a narrow terminal.
    width = max(len(row.name) for row in rows)
    for row in rows:
        typer.echo(f"  {row.name:{width}}  {row.source}")
