"""Parquet that is damaged ends no process but the reader's."""

import io
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pgnn import PGNNError
from pgnn.io import parquet, parquet_child
from pgnn.io.parquet import read_parquet

FRAME = pl.DataFrame({"source": ["a", "b", None], "target": [1, 2, 3], "w": [0.5, 1.0, 2.0]})


def packed(frame):
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def test_read_parquet_returns_the_table(tmp_path):
    assert_frame_equal(read_parquet(tmp_path / "a.parquet", packed(FRAME)), FRAME)


def test_small_file_of_many_equal_rows_is_refused_before_it_is_read(tmp_path):
    bomb = packed(pl.DataFrame({"source": pl.repeat(1, 10_000_000, dtype=pl.Int64, eager=True)}))
    with pytest.raises(PGNNError, match=r"a.parquet: unpacks to more than \d+ MiB"):
        read_parquet(tmp_path / "a.parquet", bomb)
    few = packed(pl.DataFrame({"source": pl.repeat(1, 1_000_000, dtype=pl.Int64, eager=True)}))
    assert read_parquet(tmp_path / "a.parquet", few).height == 1_000_000


def test_child_writes_all_to_a_target_that_takes_a_part_at_a_time():
    """As standard output does with more than 2 GiB, where Python does not buffer it."""

    class Slow(io.BytesIO):
        def write(self, data):
            return super().write(data[:3])

    target = Slow()
    parquet_child.write_all(memoryview(b"ten bytes."), target)
    assert target.getvalue() == b"ten bytes."


def test_read_parquet_says_why_the_reader_refused(tmp_path):
    with pytest.raises(PGNNError, match=r"a.parquet: cannot be read as parquet \(.+\); it is"):
        read_parquet(tmp_path / "a.parquet", b"PAR1 no parquet")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import os; os.abort()", "the reader ended on it"),
        ("import sys; sys.exit(1)", "the reader ended on it"),
        ("import sys; print('why', file=sys.stderr); sys.exit(3)", r"\(why\)"),
        ("import time; time.sleep(60)", "it took more than 0 seconds"),
    ],
)
def test_read_parquet_outlives_its_reader(tmp_path, monkeypatch, script, message):
    (tmp_path / "child.py").write_text(script)
    monkeypatch.setattr(parquet_child, "__file__", str(tmp_path / "child.py"))
    monkeypatch.setattr(parquet, "_SECONDS", 0.4 if "sleep" in script else 60.0)
    with pytest.raises(PGNNError, match=message):
        read_parquet(tmp_path / "a.parquet", packed(FRAME))


def test_read_parquet_says_that_no_process_could_be_started(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(PGNNError, match="no process could be started"):
        read_parquet(tmp_path / "a.parquet", packed(FRAME))
