"""What files are refused before they are read: pipes, devices, bombs, and what is too large."""

import gzip
import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pgnn
from pgnn import PGNNError
from pgnn.io import limits
from pgnn.io.limits import check_archive, gunzip, open_file, read_file, unpacked


def test_read_file_returns_what_a_regular_file_holds(tmp_path):
    (tmp_path / "a").write_bytes(b"one\0two")
    assert read_file(tmp_path / "a") == b"one\0two"


def test_read_file_refuses_a_pipe_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PGNNError, match="is a device or a pipe"):
        read_file(tmp_path / "pipe")


def test_read_file_takes_an_unwritten_pipe_for_empty_where_pipes_are_allowed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert read_file(tmp_path / "pipe", pipes=True) == b""


def test_read_file_reads_a_pipe_that_somebody_writes_to():
    reader, writer = os.pipe()
    os.write(writer, b"a,b\n")
    os.close(writer)
    assert read_file(Path(f"/dev/fd/{reader}"), pipes=True) == b"a,b\n"
    os.close(reader)


@pytest.mark.parametrize("pipes", [False, True])
def test_read_file_refuses_a_link_to_an_endless_device(tmp_path, pipes):
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(PGNNError, match="is a device or a pipe"):
        read_file(tmp_path / "link", pipes=pipes)


def test_read_file_refuses_more_than_half_of_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "total_memory", lambda: 100)
    (tmp_path / "a").write_bytes(b"x" * 51)
    with pytest.raises(PGNNError, match="more than half of the memory"):
        read_file(tmp_path / "a")


@pytest.mark.parametrize("parts", [[b""], [b"a,b\n"], [b"a" * 3_000_000], [b"one", b"", b"two"]])
def test_gunzip_equals_the_standard_library_also_for_several_members(tmp_path, parts):
    data = b"".join(map(gzip.compress, parts))
    assert gunzip(tmp_path, data) == gzip.decompress(data) == b"".join(parts)


def test_gunzip_ignores_padding(tmp_path):
    assert gunzip(tmp_path, gzip.compress(b"a") + bytes(9)) == b"a"


def test_gunzip_refuses_what_was_cut_off(tmp_path):
    with pytest.raises(EOFError):
        gunzip(tmp_path, gzip.compress(b"a,b\n" * 99)[:-9])


def test_gunzip_stops_at_a_bomb(tmp_path):
    with pytest.raises(PGNNError, match="unpacks to more than 64 MiB"):
        gunzip(tmp_path, gzip.compress(bytes(65 << 20)))


def test_check_archive_counts_what_an_archive_unpacks_to(tmp_path):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=np.zeros(1000))
    assert check_archive(tmp_path, buffer.getvalue()) == 8000 + 128


def test_check_archive_refuses_a_bomb(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(65 << 20))
    with pytest.raises(PGNNError, match="200 times its size"):
        check_archive(tmp_path, buffer.getvalue())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are kept on Linux only")
def test_a_file_that_does_not_fit_below_the_limit_of_memory_is_refused(tmp_path):
    path = tmp_path / "huge.npz"
    with open(path, "wb") as file:
        file.truncate(9 << 30)  # a hole: nothing is on the disk
    with (
        pgnn.memory_limit("8GB"),
        pytest.raises(PGNNError, match=r"memory is too small: reading .*huge.npz needs 1\d"),
    ):
        pgnn.read_graph(path)


def test_open_file_copies_a_pipe_and_stops_at_half_of_the_memory(tmp_path, monkeypatch):
    reader, writer = os.pipe()
    os.write(writer, b"x" * 60)
    os.close(writer)
    monkeypatch.setattr(limits, "total_memory", lambda: 100)
    with pytest.raises(PGNNError, match="more than half of the memory"):
        open_file(Path(f"/dev/fd/{reader}"), pipes=True)
    os.close(reader)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_unpacked_takes_a_file_in_any_pieces(tmp_path, monkeypatch, size):
    monkeypatch.setattr(limits, "_CHUNK", size)
    data = gzip.compress(b"a,b\n" * 99) + bytes(20) + gzip.compress(b"c,d\n") + bytes(3)
    assert b"".join(unpacked(tmp_path, io.BytesIO(data), len(data))) == b"a,b\n" * 99 + b"c,d\n"
    with pytest.raises(EOFError):
        list(unpacked(tmp_path, io.BytesIO(data[:20]), 20))
