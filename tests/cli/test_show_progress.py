"""What a terminal shows while a command works."""

import io
import re
import time

import pytest
from rich.console import Console

from pgnn.cli import show as progress
from pgnn.cli.show import COMPILING, TrainingBar, all_of, counting_bar, working
from pgnn.threads import in_blocks, step
from pgnn.training.fit import Epoch


@pytest.fixture
def terminal(monkeypatch):
    """Give a function that makes a terminal of some columns, with what it has shown as `text`."""

    def make(columns):
        console = Console(file=io.StringIO(), force_terminal=True, width=columns)
        monkeypatch.setattr(progress, "people", console)
        return lambda: re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())

    return make


def compile_a_kernel():
    """Do what numba does as it compiles."""
    from numba.core import event

    with event.trigger_event("numba:compile"):
        pass


def comes(text, words):
    """Whether a spinner's thread shows some words soon."""
    end = time.monotonic() + 5
    while words not in text() and time.monotonic() < end:
        time.sleep(0.01)
    return words in text()


def test_all_of_tells_each_listener_in_order():
    heard = []
    tell = all_of([lambda e: heard.append(("a", e.epoch)), lambda e: heard.append(("b", e.epoch))])
    tell(Epoch(1, 0.5))
    tell(Epoch(2, 0.5))
    assert heard == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_training_bar_is_whole_at_80_columns(terminal, columns):
    text = terminal(columns)
    with TrainingBar("pgnn-best on a_file_with_a_long_name.csv", 1000) as bar:
        bar(Epoch(115, 0.6931, val_auc=0.9123))
        bar._bar.refresh()
    line = next(line for line in re.split("[\r\n]", text()) if "115/1000" in line)
    assert "…" not in line
    assert len(line) <= columns
    assert line.rstrip().endswith("loss 0.6931  best AUC 0.9123")
    assert re.search(r" (-:--:--|\d:\d\d:\d\d) ", line)
    assert line.startswith("pgnn-best on a_") == (columns >= 80)


def test_training_bar_shows_no_auc_before_there_is_one(terminal):
    text = terminal(100)
    with TrainingBar("mlp on g.csv", 9) as bar:
        bar(Epoch(1, 0.7))
        assert "AUC" not in text()
        bar(Epoch(2, 0.6, val_auc=0.25))
        bar(Epoch(3, 0.5))
        bar._bar.refresh()
    assert "loss 0.5000  best AUC 0.2500" in text()
    assert "AUC 0.0000" not in text()


def test_training_shows_a_spinner_at_once_and_says_that_kernels_are_compiled(terminal):
    text = terminal(80)
    with TrainingBar("mlp on g.csv", 9) as bar:
        assert comes(text, "preparing ...")  # before anything is loaded or computed
        compile_a_kernel()
        assert comes(text, COMPILING)
        bar(Epoch(1, 0.7))
        compile_a_kernel()
        bar._bar.refresh()
        assert "compiling kernels ..." in text()
    assert "0/9" not in text()


def test_training_bar_that_never_began_leaves_nothing(terminal):
    text = terminal(80)
    with pytest.raises(KeyboardInterrupt), TrainingBar("mlp on g.csv", 9):
        raise KeyboardInterrupt
    assert "mlp on" not in text()


def test_total_may_be_known_late(terminal):
    text = terminal(80)
    with TrainingBar("mlp on grid") as bar:
        bar.total = 7
        bar(Epoch(1, 0.5))
    assert "1/7" in text()


def test_working_says_that_kernels_are_compiled(terminal):
    text = terminal(80)
    with working("judging ..."):
        assert comes(text, "judging ...")
        compile_a_kernel()
        assert comes(text, COMPILING)


@pytest.mark.parametrize(("seconds", "is_told"), [(8.4, True), (0.2, False)])
def test_time_of_compiling_is_told_once_at_the_end(terminal, monkeypatch, seconds, is_told):
    text = terminal(80)
    times = iter([100.0, 100.0 + seconds])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(times, 0.0))
    with working("judging ..."):
        compile_a_kernel()
    assert ("8 s of this went into compiling kernels" in text()) is is_told


def test_nobody_hears_of_kernels_that_are_compiled_later(terminal):
    text = terminal(80)
    with working("judging ..."):
        pass
    compile_a_kernel()
    assert COMPILING not in text()


def test_counting_bar_begins_with_its_first_report(terminal):
    text = terminal(80)
    with counting_bar("runs") as show:
        assert text() == ""
        show(1, 4, "")
        show(2, 4, "[a line]")
    assert "[a line]" in text()
    assert "2/4" in text()


def test_long_work_says_what_it_is_at(terminal):
    text = terminal(80)
    with working("judging ..."), step("walks"):
        in_blocks(lambda *_: comes(text, "judging ... walks"), 2, 1, list, 1)
        assert comes(text, "judging ... walks, 100%")


def test_training_bar_says_what_it_is_at_and_ends_with_the_last_loss(terminal):
    text = terminal(100)
    with TrainingBar("pgnn-best on a.csv", 2) as bar:
        with step("walks"):
            assert comes(text, "preparing ... walks")
        bar(Epoch(2, 0.25))
        with step("saving"):
            bar._bar.refresh()
    assert "saving" in text()
    assert re.split("[\r\n]", text().rstrip())[-1].rstrip().endswith("loss 0.2500")
