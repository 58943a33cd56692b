"""What commands show to people: remarks, tables, spinners and the training bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from pgnn.threads import watched_by

if TYPE_CHECKING:
    from pgnn.training.fit import Epoch

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
        table.add_row(as_text(name), *numbers, style=None if place else "bold")
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


def say_more(
    model: str, metrics: Mapping[str, float], peers: Mapping[str, Mapping[str, float]], left: str
) -> Iterator[str]:
    """Yield lines on directions and on what is best for each node, where these were judged.

    Args:
        model: Name of the model.
        metrics: Its metrics.
        peers: Metrics of heuristics, by name.
        left: What the nodes are called that others are ranked for.
    """
    for key, words in (
        ("direction_auc", "direction, an edge against the same edge turned round: AUC"),
        ("hits@10_per_node", f"hits@10 for each {left}, all others not joined to it ranked:"),
    ):
        if key not in metrics:
            continue
        others = {name: each[key] for name, each in peers.items() if key in each}
        best = sorted(others, key=lambda name: -others[name])[:3]
        against = "".join(f", {name} {others[name]:.4f}" for name in best)
        yield f"{words} {model} {metrics[key]:.4f}{against}"


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


def link_table(
    rows: list[dict[str, Any]], title: str, ends: tuple[str, str] = ("source", "target")
) -> Table:
    """Make a table of scored pairs; ids are never cut short.

    Args:
        rows: Pairs with their scores.
        title: Of the table.
        ends: What the two nodes of a pair are called.
    """
    table = Table(title=title)
    for name in ends:
        table.add_column(as_text(name), overflow="fold")
    for name in ("score", "spread"):
        table.add_column(name, justify="right", no_wrap=True)
    with_reasons = bool(rows) and "why" in rows[0]
    if with_reasons:
        table.add_column("why", overflow="fold")
    for row in rows[:_SHOWN]:
        ends = as_text(str(row["source"])), as_text(str(row["target"]))
        numbers = (_shown_number(row[name]) for name in ("score", "spread"))
        table.add_row(*ends, *numbers, *([as_text(row["why"])] if with_reasons else []))
    return table


def _shown_number(number: float) -> str:
    """Return a chance with four decimals, and a score of a heuristic with four digits."""
    return f"{number:.4f}" if 0 <= number <= 1 else f"{number:.4g}"


def reason_table(reasons: Sequence[Mapping[str, Any]]) -> Table:
    """Make a table of the reasons of a score, as JSON has them."""
    table = Table()
    table.add_column("why", overflow="fold")
    for name in ("effect on the score", "score without its edges"):
        table.add_column(name, justify="right")
    for reason in reasons:
        without = "-" if reason["without"] is None else f"{reason['without']:.3g}"
        table.add_row(as_text(reason["name"]), f"{reason['effect']:+.3g}", without)
    return table


def group_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Make a table of nodes, their groups and labels; what is predicted has a chance below 1."""
    table = Table(title="groups of nodes")
    table.add_column("id", overflow="fold")
    table.add_column("group", justify="right", no_wrap=True)
    with_labels = bool(rows) and "label" in rows[0]
    if with_labels:
        table.add_column("label", overflow="fold")
        table.add_column("chance", justify="right", no_wrap=True)
    for row in rows[:_SHOWN]:
        cells = [as_text(str(row["id"])), str(row["group"])]
        if with_labels:
            chance = f"{row['chance']:.2f}" if row["predicted"] else ""
            cells += [as_text(str(row["label"])), chance]
        table.add_row(*cells)
    return table


def remark_rows(count: int) -> None:
    """Say how many rows a table of predictions leaves out."""
    if count > _SHOWN:
        remark(f"{count - _SHOWN:,} more rows; -o FILE writes all, --json prints them")


def visible(text: str) -> str:
    r"""Return a text whose characters all show, so that an id cannot give a terminal orders.

    Example:
        >>> visible("ann\x1b[2J")
        'ann\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def as_text(text: str) -> str:
    """Return what a user or a file wrote as markup that shows it, and does nothing else."""
    return escape(visible(text))


def say(text: str) -> None:
    """Print a result for people, on stdout."""
    typer.echo(visible(text))


def remark(text: str) -> None:
    """Say something to people, on stderr; what users wrote is not markup."""
    people.print(visible(text), highlight=False, markup=False, soft_wrap=True)


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


Listener = Callable[["Epoch"], object]

COMPILING = "compiling kernels, once per installation ..."
COMPILED = "compiling kernels, which is done once per installation"
_TOLD_SECONDS = 1.0  # a shorter wait needs no explanation
_BESIDE_THE_TITLE = 58  # columns for a short bar, counts, time, loss and AUC


def all_of(listeners: Sequence[Listener]) -> Listener:
    """Return a listener that tells each of the others, in their order."""

    def tell_each(epoch: Epoch) -> None:
        for listener in listeners:
            listener(epoch)

    return tell_each


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show a spinner with a text while a command works, and what long work is at.

    It says so if kernels are compiled.
    """
    with (
        people.status(text) as status,
        calling_when_compiling(lambda: status.update(COMPILING)),
        watched_by(lambda *at: status.update(f"{text} {_said_of_step(*at)}")),
    ):
        yield


def _said_of_step(name: str, num_finished: int, total: int) -> str:
    """Return what is said of a step: its name and, once some of it is finished, the share."""
    return f"{name}, {100 * num_finished // total}%" if total else name


@contextmanager
def calling_when_compiling(tell: Callable[[], object]) -> Iterator[None]:
    """Call a function whenever numba compiles a kernel that its cache does not have.

    If compiling took a second or more, it is said at the end how long: the next time is faster.
    """
    from numba.core import event

    compiling = _compile_timer(event.Listener, tell)
    with event.install_listener("numba:compile", compiling):
        yield
    if compiling.seconds >= _TOLD_SECONDS:
        remark(f"{compiling.seconds:.0f} s of this went into {COMPILED}")


def _compile_timer(listener: type, tell: Callable[[], object]) -> Any:
    """Return a listener of numba that adds up the seconds in which kernels are compiled."""

    class CompileTimer(listener):  # type: ignore[misc]
        def __init__(self) -> None:
            self.seconds = 0.0
            self._began = 0.0
            self._num_open = 0  # a kernel is compiled while one that calls it is
            self._lock = Lock()

        def on_start(self, _event: Any) -> None:
            with self._lock:
                if self._num_open == 0:
                    self._began = time.perf_counter()
                self._num_open += 1
            tell()

        def on_end(self, _event: Any) -> None:
            with self._lock:
                self._num_open -= 1
                if self._num_open == 0:
                    self.seconds += time.perf_counter() - self._began

    return CompileTimer()


class TrainingBar:
    """A listener that shows training: a spinner until the first epoch is over, then a bar.

    Args:
        title: What is trained on what.
        total: Most epochs.

    A mistake that is found before the first epoch leaves nothing on the terminal but its message.
    """

    def __init__(self, title: str, total: int | None = None) -> None:
        self.total = total
        self._best_auc: float | None = None
        self._note = ""
        self._waiting = people.status("preparing ...")
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),  # what the others leave
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=people,
            expand=True,
        )
        title = as_text(_shortened(title, people.width - _BESIDE_THE_TITLE))
        self._task = self._bar.add_task(title, total=total, note="")
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        """Show the spinner: loading libraries alone takes seconds."""
        self._waiting.start()
        self._exits.callback(self._stop)
        self._exits.enter_context(calling_when_compiling(self._say_compiling))
        self._exits.enter_context(watched_by(self._say_step))
        return self

    def __exit__(self, *exception: object) -> None:
        """Leave the terminal to others."""
        self._exits.close()

    def __call__(self, epoch: Epoch) -> None:
        """Show an epoch that is over."""
        if epoch.val_auc is not None:
            self._best_auc = max(epoch.val_auc, self._best_auc or 0.0)
        note = f"loss {epoch.loss:.4f}"
        if self._best_auc is not None:
            note += f"  best AUC {self._best_auc:.4f}"
        self._note = note
        self._bar.update(self._task, completed=epoch.epoch, total=self.total, note=note)
        if not self._bar.live.is_started:
            self._waiting.stop()
            say_kept_remarks()
            self._bar.start()

    def _say_step(self, name: str, num_finished: int, total: int) -> None:
        text = _said_of_step(name, num_finished, total)
        if self._bar.live.is_started:
            self._bar.update(self._task, note=text)
        else:
            self._waiting.update(f"preparing ... {text}")

    def _say_compiling(self) -> None:
        if self._bar.live.is_started:
            self._bar.update(self._task, note="compiling kernels ...")
        else:
            self._waiting.update(COMPILING)

    def _stop(self) -> None:
        self._waiting.stop()
        if self._bar.live.is_started:
            self._bar.update(self._task, note=self._note)
            self._bar.stop()


@contextmanager
def counting_bar(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Give a function that shows how many of how many are ready, and prints a line above it.

    The bar begins with the first call, so that a mistake before it is one line alone.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=people)
    task = bar.add_task(as_text(title), total=None)

    def show(ready: int, total: int, line: str) -> None:
        if not bar.live.is_started:
            bar.start()
        bar.update(task, completed=ready, total=total)
        if line:
            remark(line)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def _shortened(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return text[: length - 3] + "..." if length > len("...") else ""
