"""What commands show to people: remarks and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from pgnn.graph import Graph

people = Console(stderr=True)  # stdout is for the result alone

METRICS = {
    "roc_auc": "AUC",
    "average_precision": "AP",
    "hits@10": "hits@10",
    "hits@100": "hits@100",
    "mrr": "MRR",
}
_SHOWN = 50  # rows of predictions


def metric_table(title: str | None = None) -> Table:
    """Make an empty table of names and metrics that fits in 80 columns."""
    table = Table(title=title, title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in METRICS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def add_metrics(table: Table, name: str, metrics: Mapping[str, float], **more: Any) -> None:
    """Add a row of metrics to a table."""
    table.add_row(escape(name), *(f"{metrics[key]:.4f}" for key in METRICS), **more)


def result_table(
    model: str,
    test: Mapping[str, float],
    num_pairs: int,
    heuristics: Mapping[str, tuple[Mapping[str, float], int]],
) -> Table:
    """Make a table of a model and of heuristics on the test pairs.

    Args:
        model: The name of the model.
        test: Its metrics.
        num_pairs: Number of test pairs.
        heuristics: Metrics of each heuristic, and how many of the pairs it was judged by.
    """
    table = metric_table(f"on {num_pairs:,} test pairs")
    add_metrics(table, model, test, style="bold")
    for name, (metrics, judged_pairs) in heuristics.items():
        sampled = judged_pairs < num_pairs
        add_metrics(table, f"{name} *" if sampled else name, metrics)
        if sampled:
            table.caption = f"* on a sample of {judged_pairs:,} of the pairs"
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
    """Say what reading left out. Called after the work, so that a mistake stays one line."""
    dropped = {"self-loops": graph.dropped_self_loops, "repeated edges": graph.dropped_repeats}
    if any(dropped.values()):
        parts = (f"{count:,} {name}" for name, count in dropped.items() if count)
        remark(f"left out {' and '.join(parts)}")
