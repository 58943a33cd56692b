"""Progress on the terminal: spinners, the training bar, and listeners that hear of each epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pgnn.cli.show import people, say_kept_remarks

if TYPE_CHECKING:
    from pgnn.training.fit import Epoch

Listener = Callable[["Epoch"], object]

COMPILING = "compiling kernels, once per installation ..."
_BESIDE_THE_TITLE = 58  # columns for a short bar, counts, time, loss and AUC


def all_of(listeners: Sequence[Listener]) -> Listener:
    """Return a listener that tells each of the others, in their order."""

    def tell_each(epoch: Epoch) -> None:
        for listener in listeners:
            listener(epoch)

    return tell_each


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show a spinner with a text while a command works; it says so if kernels are compiled."""
    with people.status(text) as status, calling_when_compiling(lambda: status.update(COMPILING)):
        yield


@contextmanager
def calling_when_compiling(tell: Callable[[], object]) -> Iterator[None]:
    """Call a function whenever numba compiles a kernel that its cache does not have."""
    from numba.core import event

    class Compiling(event.Listener):  # type: ignore[misc]
        def on_start(self, _event: Any) -> None:
            tell()

        def on_end(self, _event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Compiling()):
        yield


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
        title = escape(_shortened(title, people.width - _BESIDE_THE_TITLE))
        self._task = self._bar.add_task(title, total=total, note="")
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        """Show the spinner: loading libraries alone takes seconds."""
        self._waiting.start()
        self._exits.callback(self._stop)
        self._exits.enter_context(calling_when_compiling(self._say_compiling))
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
        self._bar.update(self._task, completed=epoch.epoch, total=self.total, note=note)
        if not self._bar.live.is_started:
            self._waiting.stop()
            say_kept_remarks()
            self._bar.start()

    def _say_compiling(self) -> None:
        if self._bar.live.is_started:
            self._bar.update(self._task, note="compiling kernels ...")
        else:
            self._waiting.update(COMPILING)

    def _stop(self) -> None:
        self._waiting.stop()
        if self._bar.live.is_started:
            self._bar.stop()


@contextmanager
def counting_bar(title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Give a function that shows how many of how many are ready, and prints a line above it.

    The bar begins with the first call, so that a mistake before it is one line alone.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=people)
    task = bar.add_task(escape(title), total=None)

    def show(ready: int, total: int, line: str) -> None:
        if not bar.live.is_started:
            bar.start()
        bar.update(task, completed=ready, total=total)
        if line:
            people.print(line, highlight=False, markup=False, soft_wrap=True)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def _shortened(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return text[: length - 3] + "..." if length > len("...") else ""
