"""The `pgnn` command: reads arguments, calls the library, prints."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pgnn import _cli_run
from pgnn._cli_bench import bench_app
from pgnn._cli_run import progress_bar
from pgnn.errors import PGNNError

app = typer.Typer(
    name="pgnn",
    help="Learn where nodes are in a graph: position-aware graph neural networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(bench_app, name="bench")

DataDir = Annotated[
    str | None,
    typer.Option("--data-dir", help="Folder of data sets. Default: $PGNN_DATA, then the cache."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def main() -> None:
    """Run the command; a user's mistake is one line and exit code 2."""
    try:
        app()
    except PGNNError as error:
        # Not markup: what the user wrote may have brackets.
        Console(stderr=True).print(
            Text.assemble(("pgnn:", "bold red"), f" {error}"), soft_wrap=True
        )
        sys.exit(2)


def _version(show: bool) -> None:
    if show:
        from pgnn import __version__

        typer.echo(f"pgnn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command("datasets")
def show_datasets(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the data sets of the paper, and which are there without downloading.

    Example: pgnn datasets --data-dir ~/data
    """
    from pgnn.datasets import describe

    rows = describe(data_dir)
    if as_json:
        typer.echo(json.dumps({"datasets": [asdict(row) for row in rows]}, indent=2))
        return
    table = Table()
    for name in ("name", "graphs", "nodes", "edges", "features", "task", "present", "source"):
        left = name in ("name", "task", "source")
        table.add_column(name, justify="left" if left else "right", no_wrap=name != "source")
    for row in rows:
        counts = (f"{count:,}" for count in (row.graphs, row.nodes, row.edges, row.features))
        present = "yes" if row.present else "no"
        table.add_row(row.name, *counts, ", ".join(row.tasks), present, row.source)
    Console().print(table)


app.command("train")(_cli_run.train)
app.command("evaluate")(_cli_run.evaluate)
app.command("embed")(_cli_run.embed)
app.command("predict")(_cli_run.predict)
app.command("report")(_cli_run.report)


@app.command("reproduce")
def reproduce(
    table: Annotated[str, typer.Argument(help="table1, table2, all, or one column's name.")],
    protocol: Annotated[
        str | None, typer.Option(help="paper or released. Default: both, one after the other.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs a cell, with seeds 0, 1, ...")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    model: Annotated[
        list[str] | None, typer.Option(help="Only this row (may be given again). Default: all.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of results.")] = Path("results"),
    resume: Annotated[
        bool, typer.Option(help="Keep runs that are stored already, and do the others.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Run the paper's experiments and set the results beside the paper's.

    Each run is stored in OUT/reproduction.jsonl as it ends, so a run that was cut off is taken up
    with --resume and nothing is done twice. At the end reproduction.md and a PNG for each protocol
    are written. All cells of both tables take hours; `pgnn reproduce grid --runs 3` a few minutes.

    Example: pgnn reproduce table2 --protocol paper --jobs 2 --resume
    """
    from pgnn.experiments.reproduce import reproduce as run_tables

    with progress_bar() as bar:
        task = bar.add_task("runs", total=None)

        def report(done: int, total: int, text: str) -> None:
            bar.start()
            bar.update(task, completed=done, total=total)
            if text:
                bar.console.print(text, highlight=False)

        markdown, summary = run_tables(
            table,
            protocols=[protocol] if protocol else ["released", "paper"],
            runs=runs,
            jobs=jobs,
            models=model,
            out=out,
            resume=resume,
            data_dir=data_dir,
            progress=report,
        )
    typer.echo(json.dumps(summary, indent=2) if as_json else markdown)
