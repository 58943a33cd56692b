"""The functions that numpy asks for memory, called as numpy calls them."""

import ctypes
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn.memory import kernels
from pgnn.memory.files import array_file

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="numpy's arrays are put into files on Linux only"
)

LEAST = 20_000
TABLE = ctypes.c_void_p
SIZE = ctypes.c_size_t


def function(compiled, result, *arguments):
    return ctypes.PYFUNCTYPE(result, TABLE, *arguments)(compiled.address)


take = function(kernels.take, TABLE, SIZE)
take_zeros = function(kernels.take_zeros, TABLE, SIZE, SIZE)
resize = function(kernels.resize, TABLE, TABLE, SIZE)
give = function(kernels.give, None, TABLE, SIZE)

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["take", "take_zeros", "resize", "give", "release"]),
        st.integers(0, 7),
        st.integers(1, 4 * LEAST),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_memory_holds_what_was_written_whatever_is_asked_for_in_between(steps):
    """A dictionary of bytes is the slow obvious twin."""
    file = array_file()
    file.set_sizes(least=LEAST, most=1 << 60)
    table = file._handler.table
    before = len(file.arrays)
    blocks: dict[int, int] = {}
    twin: dict[int, bytes] = {}

    def write(place, address, size):
        text = bytes((place + i) % 251 for i in range(7)) * (size // 7 + 1)
        ctypes.memmove(address, text, size)
        blocks[place], twin[place] = address, text[:size]

    for what, place, size in steps:
        if what == "release":
            file.release_pages()
        elif what == "give" and place in blocks:
            give(table, blocks.pop(place), len(twin.pop(place)))
        elif what == "resize" and place in blocks:
            kept = twin[place][:size]
            address = resize(table, blocks[place], size)
            assert ctypes.string_at(address, len(kept)) == kept
            write(place, address, size)
        elif what in ("take", "take_zeros") and place not in blocks:
            address = take(table, size) if what == "take" else take_zeros(table, size, 1)
            if what == "take_zeros":
                assert not any(ctypes.string_at(address, size))
            write(place, address, size)
        for known, text in twin.items():
            assert ctypes.string_at(blocks[known], len(text)) == text
        large = sum(len(text) >= LEAST for text in twin.values())
        assert len(file.arrays) - before == large
    for place, address in blocks.items():
        give(table, address, len(twin[place]))
    assert len(file.arrays) == before


def test_no_room_on_the_disk_is_no_address_and_is_counted():
    file = array_file()
    failed = file.num_failed
    assert take(file._handler.table, 1 << 62) is None
    assert file.num_failed == failed + 1
    assert take_zeros(file._handler.table, 1 << 31, 1 << 31) is None


def test_the_kernel_reads_its_memory_as_the_system_tells_it():
    file = array_file()
    file.set_sizes(least=LEAST, most=1 << 60)
    with open("/proc/self/statm", "rb") as statm:
        told = int(statm.read().split()[1]) * 4096
    assert abs(file.keep_below() - told) < 64 << 20
