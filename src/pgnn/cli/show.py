"""What commands show to people: the bar, remarks, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from pgnn.graph import Graph
    from pgnn.training.fit import Epoch

people = Console(stderr=True)  # stdout is for what was asked for

METRICS = {
    "roc_auc": "AUC",
    "average_precision": "AP",
    "hits@10": "hits@10",
    "hits@100": "hits@100",
    "mrr": "MRR",
}
_SHOWN = 50  # rows of predictions
_Result = TypeVar("_Result")


def metric_table(title: str | None = None) -> Table:
    """Make an empty table of a name and metrics that fits in 80 columns."""
    table = Table(title=title, title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in METRICS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def add_metrics(table: Table, name: str, metrics: Mapping[str, float], **more: Any) -> None:
    """Add a row of metrics to a table."""
    table.add_row(escape(name), *(f"{metrics[key]:.4f}" for key in METRICS), **more)


def result_table(metrics: Mapping[str, Any]) -> Table:
    """Make a table of a model and of heuristics on the test pairs."""
    table = metric_table(f"on {metrics['test_pairs']:,} test pairs")
    add_metrics(table, metrics["model"], metrics["test"], style="bold")
    for name, found in metrics["heuristics"].items():
        sampled = found["num_pairs"] < metrics["test_pairs"]
        add_metrics(table, f"{name} *" if sampled else name, found["metrics"])
        if sampled:
            table.caption = f"* on a sample of {found['num_pairs']:,} of the pairs"
    return table


def link_table(rows: list[dict[str, Any]], task: str) -> Table:
    """Make a table of predicted links; ids are never cut short."""
    title = "most likely missing links" if task == "link" else "most similar nodes"
    table = Table(title=title)
    for name in ("source", "target"):
        table.add_column(name, overflow="fold")
    for name in ("score", "spread"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows[:_SHOWN]:
        ends = escape(str(row["source"])), escape(str(row["target"]))
        table.add_row(*ends, f"{row['score']:.4f}", f"{row['spread']:.4f}")
    return table


def remark_rows(count: int) -> None:
    """Say how many rows a table of predictions leaves out."""
    if count > _SHOWN:
        remark(f"{count - _SHOWN:,} more rows; -o FILE writes all, --json prints them")


def remark(text: str) -> None:
    """Say something to people, on stderr; what users wrote is not markup."""
    people.print(text, highlight=False, markup=False, soft_wrap=True)


def remark_dropped(graph: Graph) -> None:
    """Say what reading left out; after the work, so that a mistake is one line alone."""
    dropped = {"self-loops": graph.dropped_self_loops, "repeated edges": graph.dropped_repeats}
    if any(dropped.values()):
        parts = (f"{count:,} {name}" for name, count in dropped.items() if count)
        remark(f"left out {' and '.join(parts)}")


def with_training_bar(
    title: str, work: Callable[[Callable[[Epoch, int], None]], _Result], log_folder: Path | None
) -> _Result:
    """Run work(report) under a bar that shows loss and validation AUC, with logs if asked for."""
    with ExitStack() as logging, progress_bar(TextColumn("{task.fields[note]}")) as bar:
        task = bar.add_task(escape(title), total=None, note="")
        best = 0.0
        logs: list[Callable[[Epoch], object]] = []

        def report(epoch: Epoch, total: int) -> None:
            nonlocal best
            if log_folder is not None and not logs:  # not before: it makes the folder
                from pgnn.training.tensorboard import tensorboard_log

                logs.append(logging.enter_context(tensorboard_log(log_folder)))
            bar.start()
            best = max(best, epoch.val_auc or 0.0)
            note = f"loss {epoch.loss:.4f}  best validation AUC {best:.4f}"
            bar.update(task, completed=epoch.epoch, total=total, note=note)
            for log in logs:
                log(epoch)

        return work(report)


@contextmanager
def progress_bar(*more: TextColumn) -> Iterator[Progress]:
    """Give a bar that its first report starts, so that a mistake before it is one line alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeRemainingColumn(), *more, console=people)
    try:
        yield bar
    finally:
        if bar.live.is_started:
            bar.stop()
