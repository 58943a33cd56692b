"""The peak of memory counts what was held for a moment, and can be forgotten on Linux."""

import os
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from pgnn.bench import memory

SIZE = 64 << 20

can_forget = pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK),
    reason="only Linux forgets peaks, where it may be told to",
)


def touch(num_bytes):
    """Hold memory for a moment; pages count once they are written to."""
    np.ones(num_bytes, dtype=np.uint8)


@can_forget
def test_peak_rises_by_what_was_held_for_a_moment():
    memory.reset_peak()
    before = memory.peak_bytes()
    touch(SIZE)
    assert memory.peak_bytes() >= before + SIZE - (8 << 20)


@can_forget
def test_peak_can_be_forgotten():
    touch(SIZE)
    high = memory.peak_bytes()
    memory.reset_peak()
    assert memory.peak_bytes() <= high - SIZE // 2


def test_peak_is_of_the_whole_process_where_there_is_no_status(monkeypatch):
    def refuse(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr(Path, "write_text", refuse)
    memory.reset_peak()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    monkeypatch.setattr(sys, "platform", "linux")
    assert memory.peak_bytes() >= most * 1024
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory.peak_bytes() < most * 1024
