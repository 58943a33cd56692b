"""The `pgnn` command: reads arguments, calls the library, prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from pgnn._cli_bench import bench_app
from pgnn.errors import PGNNError

if TYPE_CHECKING:
    from pgnn.train import Epoch

app = typer.Typer(
    name="pgnn",
    help="Learn where nodes are in a graph: position-aware graph neural networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(bench_app, name="bench")
people = Console(stderr=True)  # stdout is for what was asked for

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
        people.print(Text.assemble(("pgnn:", "bold red"), f" {error}"), soft_wrap=True)
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
        table.add_column(name, justify="left" if name in ("name", "task", "source") else "right")
    for row in rows:
        counts = (f"{count:,}" for count in (row.graphs, row.nodes, row.edges, row.features))
        present = "yes" if row.present else "no"
        table.add_row(row.name, *counts, ", ".join(row.tasks), present, row.source)
    Console().print(table)


@app.command("train")
def train(
    dataset: Annotated[str, typer.Argument(help="Name of a data set; see `pgnn datasets`.")],
    task: Annotated[str, typer.Option(help="link: is there an edge? pair: same label?")] = "link",
    model: Annotated[
        str, typer.Option(help="pgnn-f-1l ... pgnn-p-2l, gcn, sage, gat, gin, mlp.")
    ] = ("pgnn-e-2l"),
    protocol: Annotated[
        str, typer.Option(help="paper, or released (flawed, to compare).")
    ] = "paper",
    one_hot: Annotated[
        bool, typer.Option("--one-hot", help="One-hot features (the -T columns).")
    ] = (False),
    seed: Annotated[
        int, typer.Option(min=0, help="Decides split, weights, anchors and dropout.")
    ] = 0,
    epochs: Annotated[int | None, typer.Option(min=1, help="Default: the experiment's.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for checkpoint.safetensors and result.json.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the checkpoint in --out.")] = False,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder to log losses and AUCs to, for TensorBoard.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Default: torch's number.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on a data set of the paper and print its test AUC.

    The result is that of the epoch with the best validation AUC. The same seed gives the same
    numbers. A run that was cut off goes on with --resume, and ends as if it had not been.

    For example:

      pgnn train grid --task link --model pgnn-e-2l

      pgnn train email --task pair --model pgnn-p-2l --json

      pgnn train communities --model gin --out run --resume
    """
    from pgnn.experiments.run import train_dataset

    record = _with_progress(
        f"{model} on {dataset}",
        lambda progress: train_dataset(
            dataset,
            task,
            model,
            protocol=protocol,
            one_hot=one_hot,
            seed=seed,
            epochs=epochs,
            out=out,
            resume=resume,
            threads=threads,
            data_dir=data_dir,
            progress=progress,
        ),
        tensorboard,
    )
    if as_json:
        typer.echo(json.dumps(record, indent=2))
        return
    typer.echo(
        f"{dataset} {task}, {model}, protocol {protocol}, seed {seed}: test AUC "
        f"{record['test_auc']:.4f} (validation {record['val_auc']:.4f}, best of epoch "
        f"{record['best_epoch']} of {record['epochs']}, {record['seconds']:.1f} s)"
    )


def _with_progress(title: str, work: Any, log_folder: Path | None) -> Any:
    """Run work(report) under a bar that shows loss and validation AUC."""
    from pgnn._tensorboard import tensorboard_log

    logging = nullcontext() if log_folder is None else tensorboard_log(log_folder)
    with logging as log, _bar(TextColumn("{task.fields[note]}")) as bar:
        task = bar.add_task(escape(title), total=None, note="")
        best = {"auc": 0.0}

        def report(epoch: Epoch, total: int) -> None:
            bar.start()
            best["auc"] = max(best["auc"], epoch.val_auc or 0.0)
            note = f"loss {epoch.loss:.4f}  best validation AUC {best['auc']:.4f}"
            bar.update(task, completed=epoch.epoch, total=total, note=note)
            if log is not None:
                log(epoch)

        return work(report)


@contextmanager
def _bar(*more: TextColumn) -> Iterator[Progress]:
    """Give a bar that its first report starts, so that a mistake before it is one line alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeRemainingColumn(), *more, console=people)
    try:
        yield bar
    finally:
        if bar.live.is_started:
            bar.stop()


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

    with _bar() as bar:
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
