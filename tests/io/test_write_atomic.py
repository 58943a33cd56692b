"""Files that are written whole or not at all."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pgnn import Graph, PGNNError
from pgnn.io import write_embeddings, write_scores
from pgnn.io.write import BusyError, check_place, locked_folder, open_atomic, sweep

GRAPH = Graph.from_edges([(0, 1), (1, 2)], node_ids=["ann", "bob", "eve"])


SUFFIXES = [".csv", ".csv.gz", ".parquet", ".npz"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [True, False])
def test_write_embeddings_leaves_nothing_half_written(
    tmp_path, monkeypatch, suffix, failure, existing
):
    path = tmp_path / f"z{suffix}"
    if existing:
        path.write_bytes(b"precious")
    seen = []

    def fail(descriptor):
        seen.extend(os.listdir(tmp_path))
        raise failure

    monkeypatch.setattr(os, "fsync", fail)  # all bytes are written, but not safe on disk
    with pytest.raises(PGNNError if failure.args else KeyboardInterrupt) as caught:
        write_embeddings(path, np.eye(3), GRAPH)
    assert len(seen) == 1 + existing  # it was written beside its place
    assert os.listdir(tmp_path) == [path.name] * existing
    assert not existing or path.read_bytes() == b"precious"
    if failure.args:
        assert str(caught.value) == f"{path}: cannot be written (No space left on device)"


@pytest.mark.parametrize(
    ("suffix", "writer"),
    [
        (".csv", "polars.DataFrame.write_csv"),
        (".csv.gz", "polars.DataFrame.write_csv"),
        (".parquet", "polars.DataFrame.write_parquet"),
        (".npz", "numpy.savez"),
    ],
)
def test_write_scores_leaves_nothing_when_the_writer_breaks_midway(
    tmp_path, monkeypatch, suffix, writer
):
    path = tmp_path / f"scores{suffix}"
    path.write_bytes(b"precious")

    def break_midway(*arguments, **keywords):
        file = next(each for each in arguments if hasattr(each, "write"))
        file.write(b"half")
        raise RuntimeError("broken")

    monkeypatch.setattr(writer, break_midway)
    with pytest.raises(RuntimeError, match="broken"):
        write_scores(path, [(0, 1)], [0.5], GRAPH)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == b"precious"


def test_write_embeddings_forces_bytes_to_disk_before_the_rename(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *a: (calls.append("fsync"), fsync(*a)))
    monkeypatch.setattr(os, "replace", lambda *a: (calls.append("replace"), replace(*a)))
    write_embeddings(tmp_path / "z.csv", np.eye(3), GRAPH)
    assert calls == ["fsync", "replace"]
    assert (tmp_path / "z.csv").stat().st_size > 0


# ---------------------------------------------------------------------- litter, locks, full disks


def hidden(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    (tmp_path / ".z.csv.0123abcd.tmp").write_bytes(b"half")
    (tmp_path / ".other.csv.0123abcd.tmp").write_bytes(b"half")
    (tmp_path / ".z.csv.mine.tmp").write_bytes(b"not ours")
    write_embeddings(tmp_path / "z.csv", [[1.0]], ["a"])
    assert hidden(tmp_path) == [".other.csv.0123abcd.tmp", ".z.csv.mine.tmp"]
    sweep(tmp_path)
    assert hidden(tmp_path) == [".z.csv.mine.tmp"]


def test_what_another_writer_is_writing_stays(tmp_path):
    with open_atomic(tmp_path / "z.csv") as first:
        first.write(b"first")
        with open_atomic(tmp_path / "z.csv") as second:
            second.write(b"second")
        sweep(tmp_path)
        assert len(hidden(tmp_path)) == 1
    assert (tmp_path / "z.csv").read_bytes() == b"first"
    assert hidden(tmp_path) == []


def test_error_of_a_write_is_not_masked_by_that_of_cleaning_up(tmp_path, monkeypatch):
    def write():
        with open_atomic(tmp_path / "z.csv"):
            monkeypatch.setattr(Path, "unlink", refuse)
            raise OSError(errno.ENOSPC, "No space left on device")

    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    with pytest.raises(PGNNError, match="No space left on device"):
        write()


def test_a_folder_has_one_writer(tmp_path):
    busy = pytest.raises(BusyError, match="another process is writing to it")
    with locked_folder(tmp_path), busy, locked_folder(tmp_path):
        pass
    with locked_folder(tmp_path):
        assert hidden(tmp_path) == []


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".npz"])
def test_a_full_disk_is_one_line_and_keeps_what_was(tmp_path, suffix):
    """A limit on the size of files gives the error that a full disk gives."""
    path = tmp_path / f"z{suffix}"
    path.write_bytes(b"old")
    script = (
        "import resource, sys, numpy as np\n"
        "from pgnn import PGNNError, write_embeddings\n"
        "values = np.random.default_rng(0).random((3000, 8))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "try:\n"
        "    write_embeddings(sys.argv[1], values, range(3000))\n"
        "except PGNNError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == f"{path}: cannot be written (File too large)\n"
    assert path.read_bytes() == b"old"
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_or_device_is_never_replaced_by_a_file(tmp_path, is_link):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = tmp_path / "link.csv" if is_link else pipe
    if is_link:
        path.symlink_to(pipe)
    with (
        pytest.raises(PGNNError, match="is a device or a pipe; give the name of a file"),
        open_atomic(path) as file,
    ):
        file.write(b"z")
    assert pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == sorted({"pipe", path.name})


def test_the_names_of_streams_are_not_replaced():
    for name in ("/dev/null", "/dev/stdout"):
        before = os.lstat(name)
        with pytest.raises(PGNNError, match="is a device or a pipe"):
            check_place(Path(name))
        assert os.lstat(name).st_ino == before.st_ino
