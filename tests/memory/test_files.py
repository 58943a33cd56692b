"""Large arrays in a nameless file."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pgnn.memory.files import array_file

LARGE = 300_000  # numbers, above the least size below

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="numpy's arrays are put into files on Linux only"
)


@pytest.fixture
def file():
    file = array_file()
    file.set_sizes(least=1 << 20, most=1 << 60)
    file.use()
    yield file
    file.leave()


def test_large_arrays_lie_in_the_file_and_small_ones_do_not(file):
    before = len(file.arrays)
    large, small = np.zeros(LARGE), np.zeros(10)
    assert len(file.arrays) == before + 1
    assert (large.ctypes.data, -(-large.nbytes // 4096) * 4096) in file.arrays
    assert large.flags.owndata
    assert small.sum() == 0
    del large
    assert len(file.arrays) == before


def test_pages_come_back_as_they_were(file):
    array = np.arange(LARGE)
    file.release_pages()
    assert np.array_equal(array, np.array(range(LARGE)))
    array += 1
    file.release_pages()
    assert array[[0, -1]].tolist() == [1, LARGE]


def test_zeros_are_zeros_where_another_array_was(file):
    np.full(LARGE, 7.0).sum()
    again = np.zeros(LARGE - 10)
    assert not again.any()


def test_ranges_are_used_again(file):
    for _ in range(50):
        np.ones(LARGE).sum()
    end = os.fstat(file._file.fileno()).st_size
    for _ in range(50):
        np.ones(LARGE).sum()
    assert os.fstat(file._file.fileno()).st_size == end


@pytest.mark.parametrize(("first", "then"), [(10, LARGE), (LARGE, 10), (LARGE, 2 * LARGE), (5, 9)])
def test_arrays_grow_and_shrink(file, first, then):
    array = np.arange(first)
    array.resize(then, refcheck=False)
    kept = min(first, then)
    assert array[:kept].tolist() == list(range(kept))
    assert not array[kept:].any()


def test_arrays_outlive_their_use():
    file = array_file()
    file.set_sizes(least=1 << 20, most=1 << 60)
    file.use()
    array = np.arange(LARGE)
    file.leave()
    elsewhere = np.arange(LARGE)
    assert array.ctypes.data in dict(file.arrays)
    assert elsewhere.ctypes.data not in dict(file.arrays)
    assert np.array_equal(array, elsewhere)


def test_pages_are_given_back_when_there_is_too_much(file):
    array = np.ones(30 << 20, dtype=np.uint8)
    resident = file.keep_below()
    file.set_sizes(least=1 << 20, most=resident - 1)
    assert file.keep_below() < resident - (20 << 20)
    assert array.all()


def test_the_file_has_no_name_and_the_interpreter_ends_quietly(tmp_path):
    code = """
import sys
import numpy as np
from pgnn.memory.files import array_file
file = array_file()
file.set_sizes(least=1 << 20, most=1 << 60)
file.use()
sys.modules["kept to the very end"] = np.ones(1 << 20)
import os
print(os.listdir(file.folder))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert list(Path(tmp_path).iterdir()) == []
