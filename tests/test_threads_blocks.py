"""Items in blocks: every item once, the same blocks however many threads there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn.threads import in_blocks, step, watched_by


@given(num_items=st.integers(0, 40), size=st.integers(1, 15), num_threads=st.integers(1, 3))
def test_blocks_are_consecutive_and_do_not_depend_on_threads(num_items, size, num_threads):
    blocks = in_blocks(lambda block, _: block, num_items, size, lambda: None, num_threads)
    blocks.sort(key=lambda block: block.start)
    assert [item for block in blocks for item in block] == list(range(num_items))
    assert all(len(block) == size for block in blocks[:-1])


def test_no_items_make_no_scratch():
    assert in_blocks(pytest.fail, 0, 4, pytest.fail, 2) == []


def test_progress_counts_items_not_blocks():
    calls = []
    in_blocks(lambda *_: None, 10, 4, list, 1, lambda *counts: calls.append(counts))
    assert calls == [(4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize("num_threads", [1, 2])
def test_watcher_hears_of_steps_and_their_blocks(num_threads):
    heard = []
    with watched_by(lambda *at: heard.append(at)):
        in_blocks(lambda *_: None, 4, 2, list, num_threads)  # of no step
        with step("outer"), step("inner"):
            in_blocks(lambda *_: None, 4, 2, list, num_threads)
    with step("unheard"):
        in_blocks(lambda *_: None, 4, 2, list, num_threads)
    assert heard == [("outer", 0, 0), ("inner", 0, 0), ("inner", 2, 4), ("inner", 4, 4)]
