"""What commands show to people: remarks and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    pass

_kept: list[str] = []
people = Console(stderr=True)  # stdout is for the result alone

METRICS = {
    "roc_auc": "AUC",
    "average_precision": "AP",
    "hits@10": "hits@10",
    "hits@100": "hits@100",
    "mrr": "MRR",
}
FEW_PAIRS = 100  # with fewer, results are rough
_SHOWN = 50  # rows of predictions


def metric_table(rows: Mapping[str, Mapping[str, float]], title: str | None = None) -> Table:
    """Make a table of names and metrics that fits in 80 columns; metrics no row has are left out.

    Args:
        rows: Metrics by name; the first row is that of the model.
        title: Of the table.
    """
    shown = {
        key: heading for key, heading in METRICS.items() if any(key in m for m in rows.values())
    }
    table = Table(title=title, title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in shown.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for place, (name, metrics) in enumerate(rows.items()):
        numbers = (f"{metrics[key]:.4f}" if key in metrics else "-" for key in shown)
        table.add_row(escape(name), *numbers, style=None if place else "bold")
    return table


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
    rows = {model: test}
    caption = None
    for name, (metrics, judged_pairs) in heuristics.items():
        sampled = judged_pairs < num_pairs
        rows[f"{name} *" if sampled else name] = metrics
        if sampled:
            caption = f"* on a sample of {judged_pairs:,} of the pairs"
    table = metric_table(rows, f"on {num_pairs:,} test pairs")
    table.caption = caption
    return table


def say_how_sure(
    metrics: Mapping[str, float],
    base_rate: float | None,
    lone_pairs: int,
    without_lone: Mapping[str, float] | None,
) -> Iterator[str]:
    """Yield lines that say how sure an AUC is, how true chances are, and what lone nodes did.

    Args:
        metrics: Those of a model.
        base_rate: The share of links that its chances are stated for.
        lone_pairs: How many pairs have a node without edges.
        without_lone: Metrics of the other pairs.
    """
    if "auc_low" in metrics:
        yield (
            f"AUC {metrics['roc_auc']:.4f}, with 95% confidence between {metrics['auc_low']:.4f} "
            f"and {metrics['auc_high']:.4f}"
        )
    if "brier" in metrics and base_rate is not None:
        yield (
            f"chances for a base rate of {base_rate:.3g}: Brier score {metrics['brier']:.4f}, "
            f"calibration error {metrics['calibration_error']:.4f}"
        )
    if lone_pairs:
        others = "the others are all of one kind"
        if without_lone is not None:
            others = f"without them AUC {without_lone['roc_auc']:.4f}"
        verb = "has" if lone_pairs == 1 else "have"
        yield f"{counted(lone_pairs, 'pair')} {verb} a node that no visible edge joins; {others}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 pair" or "2,000 pairs"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def remark_few(num_pairs: int, advice: str) -> None:
    """Warn that results of a few pairs are rough."""
    if num_pairs < FEW_PAIRS:
        remark(
            f"warning: judged by {counted(num_pairs, 'pair')}, fewer than {FEW_PAIRS}: the numbers "
            f"are rough; {advice}"
        )


def link_table(rows: list[dict[str, Any]], title: str) -> Table:
    """Make a table of scored pairs; ids are never cut short."""
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


def keep_remark(text: str) -> None:
    """Keep something to say once work goes well, so that a mistake stays one line alone."""
    _kept.append(text)


def say_kept_remarks() -> None:
    """Say what was kept."""
    while _kept:
        remark(_kept.pop(0))


def forget_kept_remarks() -> None:
    """Begin a command with nothing to say."""
    _kept.clear()
