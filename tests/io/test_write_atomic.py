"""Files that are written whole or not at all."""

import os

import numpy as np
import pytest

from pgnn import Graph, PGNNError
from pgnn.io import write_embeddings, write_scores

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
