"""The `pgnn` command: reads arguments, calls the library, prints."""

from __future__ import annotations

import inspect
import io
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pgnn.cli import ask
from pgnn.cli import train as train_command
from pgnn.cli.bench import bench_app
from pgnn.cli.options import StoppedError, in_options, no_empty_folders
from pgnn.cli.show import people, progress_bar
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

_INTERRUPTED = 130  # what shells call a command that Ctrl-C ended
# click's, or typer's own copy of it, which newer versions bring along.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def main() -> None:
    """Run the command; a user's mistake is one line and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # ids that the terminal cannot show
    people.quiet = False
    try:
        code = app(prog_name="pgnn", standalone_mode=False)
    except PGNNError as error:
        _end(in_options(str(error)))
    except StoppedError as error:
        _end(str(error), _INTERRUPTED)
    except _UsageError as error:
        _end(_usage(error))
    except OSError as error:
        _end(f"{error.filename or 'a file'}: {error.strerror or error}")
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not re.search("(allocate|of) memory", str(error)):
            raise  # torch has no error of its own for a full memory
        _end("there is not enough memory; use a smaller graph, --hidden-channels or --sets")
    if code == _INTERRUPTED:
        _end("stopped", _INTERRUPTED)
    sys.exit(code or 0)


def _end(message: str, code: int = 2) -> NoReturn:
    """Print one line and leave."""
    # Not markup: what the user wrote may have brackets. Not `people`, which may be quiet.
    text = Text.assemble(("pgnn:", "bold red"), " ", " ".join(message.splitlines()))
    Console(stderr=True).print(text, soft_wrap=True)
    sys.exit(code)


def _usage(error: Exception) -> str:
    """Say what is wrong with the arguments, and where help is."""
    if type(error).__name__ == "NoArgsIsHelpError":  # of click 8.2 and later
        sys.exit(2)  # help was shown
    text = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    path = "pgnn" if context is None else context.command_path
    return f"{text[:1].lower()}{text[1:]}; see `{path} --help`"


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


app.command("train")(train_command.train)
app.command("evaluate")(ask.evaluate)
app.command("embed")(ask.embed)
app.command("predict")(ask.predict)
app.command("report")(ask.report)


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

    with no_empty_folders(out), progress_bar() as bar:
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


def _reflowed(text: str) -> str:
    """Return help in which a line break is one only between paragraphs and in examples."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)


for _command in (*app.registered_commands, *bench_app.registered_commands):
    _command.help = _reflowed(inspect.getdoc(_command.callback) or "")
