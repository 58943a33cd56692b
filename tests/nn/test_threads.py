"""Parts of work on threads: each once, all of them, and what they raise."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from pgnn.nn import threads as _threads
from pgnn.nn.threads import run_parts, without_denormals


@pytest.fixture(params=["torch's", "our own"], autouse=True)
def pool(request, monkeypatch):
    if request.param == "our own":
        monkeypatch.setattr(_threads, "_torch_pool", lambda: None)
    return request.param


@pytest.mark.parametrize("num_parts", [1, 2, 3, 16])
def test_each_part_runs_once(num_parts):
    finished, lock = [], threading.Lock()

    def work(part: int) -> None:
        with lock:
            finished.append(part)

    for _ in range(20):
        finished.clear()
        run_parts(work, num_parts)
        assert sorted(finished) == list(range(num_parts))


def test_two_parts_run_at_once():
    """Each waits for the other, so one after the other would not end."""
    meeting = threading.Barrier(2, timeout=30)
    run_parts(lambda _part: meeting.wait(), 2)
    assert not meeting.broken


def test_slow_parts_are_waited_for():
    caller, meeting, finished = threading.get_ident(), threading.Barrier(2, timeout=30), []

    def work(part: int) -> None:
        meeting.wait()
        if threading.get_ident() != caller:
            time.sleep(0.2)
        finished.append(part)

    run_parts(work, 2)
    assert sorted(finished) == [0, 1]


@pytest.mark.parametrize("num_parts", [1, 2, 5])
@pytest.mark.parametrize("failure", [ValueError("part 0 failed"), KeyboardInterrupt()])
def test_exception_of_a_part_reaches_the_caller_after_the_others(num_parts, failure):
    finished = []

    def work(part: int) -> None:
        if part == 0:
            raise failure
        finished.append(part)

    with pytest.raises(type(failure)) as caught:
        run_parts(work, num_parts)
    assert caught.value is failure
    assert sorted(finished) == list(range(1, num_parts))


def test_missing_library_means_no_pool(monkeypatch):
    def no_library(path: str):
        raise OSError(path)

    find = _threads.__dict__["_torch_pool"]
    if not hasattr(find, "__wrapped__"):
        assert find() is None  # the pool is already taken away
        return
    monkeypatch.setattr(_threads.ctypes, "CDLL", no_library)
    assert find.__wrapped__() is None


def share_of_denormals() -> float:
    """Return which share of tiny products is kept, by an operation that all threads share."""
    return float(((torch.full((1 << 20,), 1e-20) * 1e-20) != 0).double().mean())


def test_denormals_are_zero_on_every_thread_and_only_meanwhile(pool):
    assert share_of_denormals() == 1  # torch's threads exist before they are told
    with without_denormals():
        kept = share_of_denormals()
        in_new_threads: list[float] = []
        thread = threading.Thread(target=lambda: in_new_threads.append(share_of_denormals()))
        thread.start()
        thread.join()
    assert kept == (0 if pool == "torch's" else 1)
    assert in_new_threads == [kept]
    assert share_of_denormals() == 1


def test_denormals_stay_away_where_the_caller_switched_them_off():
    assert torch.set_flush_denormal(True)
    try:
        with without_denormals():
            pass
        assert not _threads._has_denormals()
    finally:
        torch.set_flush_denormal(False)


def test_denormals_come_back_after_an_error(pool):
    with pytest.raises(ValueError, match="in the middle"), without_denormals():
        raise ValueError("in the middle")
    assert share_of_denormals() == 1
