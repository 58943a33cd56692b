"""Blocks of work on threads: each once, with a scratch per thread, and what they raise."""

import os
import threading
import time

import numpy as np
import pytest

from pgnn import PGNNError
from pgnn.threads import is_thread_left_behind, leave_if_stopped, resolve_threads, run_blocks

BLOCKS = [range(3), range(3, 4), range(4, 9)]


@pytest.mark.parametrize("num_threads", [1, 2, 8])
def test_each_block_runs_once_and_results_come_back(num_threads):
    results = run_blocks(lambda block, _: list(block), BLOCKS, lambda: None, num_threads)
    assert sorted(number for block in results for number in block) == list(range(9))


@pytest.mark.parametrize("num_threads", [1, 2, 8])
def test_each_thread_has_a_scratch_of_its_own(num_threads):
    made, users = [], {}

    def make_scratch():
        made.append(object())
        return made[-1]

    def work(_, scratch):
        time.sleep(0.01)
        users.setdefault(id(scratch), set()).add(threading.get_ident())

    run_blocks(work, BLOCKS, make_scratch, num_threads)
    assert len(made) <= min(num_threads, len(BLOCKS))
    assert all(len(threads) == 1 for threads in users.values())


@pytest.mark.parametrize("num_threads", [1, 2])
def test_progress_rises_to_the_number_of_items_on_the_callers_thread(num_threads):
    calls = []

    def progress(num_finished, total):
        calls.append((num_finished, total, threading.get_ident()))

    run_blocks(lambda *_: None, BLOCKS, lambda: None, num_threads, progress)
    assert [call[0] for call in calls] == sorted({call[0] for call in calls})
    assert calls[-1][:2] == (9, 9)
    assert {call[2] for call in calls} == {threading.get_ident()}


@pytest.mark.parametrize("num_threads", [1, 2])
def test_exception_of_a_block_is_raised_and_drops_what_has_not_begun(num_threads):
    begun = []

    def work(block, _):
        begun.append(block)
        time.sleep(0.05)
        raise ZeroDivisionError("this block")

    blocks = [range(i, i + 1) for i in range(50)]
    with pytest.raises(ZeroDivisionError, match="this block"):
        run_blocks(work, blocks, lambda: None, num_threads)
    assert len(begun) < 50


def test_default_is_the_cores_of_this_process():
    assert 1 <= resolve_threads(None) <= os.cpu_count()
    assert resolve_threads(3) == resolve_threads(np.int64(3)) == 3


@pytest.mark.parametrize("number", [0, -1, 2.5, True])
def test_number_of_threads_must_be_positive(number):
    with pytest.raises(
        PGNNError, match=rf"num_threads must be a positive integer \(got {number}\)"
    ):
        resolve_threads(number)


def test_ctrl_c_does_not_wait_for_blocks_that_run():
    began, leave = threading.Event(), threading.Event()

    def work(block, scratch):
        if block.start:
            began.set()
            leave.wait(30)
            leave_if_stopped()
            raise AssertionError("nobody waits for this block")

    def interrupt(finished, total):
        began.wait(30)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_blocks(work, [range(1), range(1, 2)], lambda: None, 2, interrupt)
    assert is_thread_left_behind()
    leave.set()
    while is_thread_left_behind():
        time.sleep(0.01)


def test_one_thread_may_be_apart_from_the_callers():
    seen = run_blocks(
        lambda block, scratch: threading.current_thread(), [range(3)], lambda: None, 1, apart=True
    )
    assert seen != [threading.current_thread()]
