"""The process that reads parquet for another."""

import io
import subprocess
import sys

import polars as pl
from polars.testing import assert_frame_equal

from pgnn.io import parquet_child

FRAME = pl.DataFrame({"u": [1, 2], "v": ["a", "b"]})


def run(data, limit=1 << 40, most=1 << 20):
    command = [sys.executable, "-P", parquet_child.__file__, str(limit), "whole", str(most)]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def packed():
    buffer = io.BytesIO()
    FRAME.write_parquet(buffer)
    return buffer.getvalue()


def test_convert_writes_the_same_table():
    target = io.BytesIO()
    parquet_child.convert(io.BytesIO(packed()), target, 1 << 20)
    assert_frame_equal(pl.read_ipc(io.BytesIO(target.getvalue())), FRAME)


def test_main_refuses_with_one_line():
    child = run(b"PAR1 no parquet")
    assert child.returncode == parquet_child.REFUSED
    assert len(child.stderr.decode().strip().splitlines()) == 1
    assert child.stdout == b""


def test_main_gives_the_table_on_standard_output():
    assert_frame_equal(pl.read_ipc(io.BytesIO(run(packed()).stdout)), FRAME)


def test_main_keeps_to_its_limit_of_memory():
    assert run(packed(), limit=1 << 20).returncode != 0


def test_main_refuses_a_table_that_is_larger_than_wanted():
    child = run(packed(), most=10)
    assert (child.returncode, child.stdout) == (parquet_child.TOO_LARGE, b"")
