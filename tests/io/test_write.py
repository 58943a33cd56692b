"""Embeddings and scores to files."""

import os
import sys
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pgnn
from io_helpers import any_ids, expected_graph, message
from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.io import read_graph, write, write_embeddings, write_scores

GRAPH = Graph.from_edges([(0, 1), (1, 2)], node_ids=["ann", "bob", "eve"])


SUFFIXES = [".csv", ".csv.gz", ".parquet", ".npz"]


def read_columns(path):
    """Whatever was written, as lists by column name."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name].tolist() for name in arrays}
    read = pl.read_parquet if path.suffix == ".parquet" else pl.read_csv
    return read(path).to_dict(as_series=False)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("ids", [GRAPH, ["ann", "bob", "eve"], np.array([7, 8, 9])])
def test_write_embeddings_can_be_read_back(tmp_path, suffix, ids):
    path = tmp_path / f"z{suffix}"
    values = np.array([[1.5, -2], [3, 0.1], [1 / 3, 1e-30]], dtype=np.float32)
    write_embeddings(path, values, ids)
    names = ids.node_ids.tolist() if ids is GRAPH else list(ids)
    columns = read_columns(path)
    if suffix == ".npz":
        assert list(columns) == ["ids", "embeddings"]
        assert columns["ids"] == names
        assert np.array_equal(np.float32(columns["embeddings"]), values)
    else:
        assert list(columns) == ["id", "z0", "z1"]
        assert columns["id"] == names
        assert np.array_equal(np.float32([columns["z0"], columns["z1"]]).T, values)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("spread", [None, [0.25, 0.5]])
def test_write_scores_can_be_read_back(tmp_path, suffix, spread):
    path = tmp_path / f"scores{suffix}"
    write_scores(path, [(0, 2), (1, 0)], [0.1, 0.9], GRAPH, spread=spread)
    expected = {"source": ["ann", "bob"], "target": ["eve", "ann"], "score": [0.1, 0.9]}
    assert read_columns(path) == expected | ({} if spread is None else {"spread": spread})


def test_write_scores_writes_labels_as_numbers(tmp_path):
    path = tmp_path / "s.csv"
    write_scores(path, [(0, 2), (1, 0)], [0.25, 0.5], GRAPH, labels=[True, False], spread=[0.0, 1])
    assert path.read_text() == (
        "source,target,label,score,spread\nann,eve,1,0.25,0.0\nbob,ann,0,0.5,1.0\n"
    )
    reason = message(write_scores, path, [(0, 2)], [0.1], GRAPH, labels=[1, 0])
    assert "labels must have one entry per pair, [1] (got [2])" in reason


def test_write_scores_of_no_pairs_writes_the_header(tmp_path):
    write_scores(tmp_path / "s.csv", [], [], GRAPH)
    assert (tmp_path / "s.csv").read_text() == "source,target,score\n"
    write_scores(tmp_path / "s.parquet", [], [], GRAPH)
    kinds = pl.read_parquet(tmp_path / "s.parquet").dtypes
    assert kinds == [pl.String, pl.String, pl.Float64]


@settings(max_examples=30)  # parquet is read by a process of its own
@given(
    st.lists(any_ids, min_size=1, max_size=6, unique=True), st.sampled_from([".csv", ".parquet"])
)
@example(["#a", " b", "c,d", 'e"', "%"], ".csv.gz")
@example(["007", "7"], ".csv")
@example([" ", " 7"], ".csv")
def test_write_embeddings_serves_as_features_of_read_graph(ids, suffix):
    graph = expected_graph([(name, ids[0]) for name in ids])
    values = np.arange(2.0 * len(ids)).reshape(-1, 2) / 3
    with tempfile.TemporaryDirectory() as folder:
        edges, table = Path(folder, "edges.parquet"), Path(folder, "z" + suffix)
        pl.DataFrame({"source": ids, "target": [ids[0]] * len(ids)}).write_parquet(edges)
        write_embeddings(table, values, graph)
        read = read_graph(edges, features=table, id_column="id")
    assert np.array_equal(read.node_ids, graph.node_ids)
    assert np.array_equal(read.x, values.astype(np.float32))


def test_write_embeddings_gz_is_the_same_every_time(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_embeddings(tmp_path / name, np.eye(3), GRAPH)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_write_embeddings_writes_other_ids_as_text(tmp_path):
    grid = Graph.from_networkx(nx.grid_2d_graph(1, 2))
    write_embeddings(tmp_path / "z.npz", np.eye(2), grid)
    assert read_columns(tmp_path / "z.npz")["ids"] == ["(0, 0)", "(0, 1)"]
    assert "must differ" in message(write_embeddings, tmp_path / "z.npz", np.eye(2), [1, "1"])


@pytest.mark.parametrize(
    ("name", "values", "ids", "reason"),
    [
        ("z.xlsx", np.eye(3), GRAPH, "must end in .csv, .csv.gz, .parquet, .npz"),
        ("z", np.eye(3), GRAPH, "must end in"),
        ("no/z.csv", np.eye(3), GRAPH, "no does not exist; create it first"),
        ("folder.csv", np.eye(3), GRAPH, "is a folder"),
        ("z.csv", np.eye(2), GRAPH, "[3, num_dimensions] (got [2, 2])"),
        ("z.csv", np.ones(3), GRAPH, "(got [3])"),
        ("z.csv", [[1, 2], [3]], [1, 2], "values must be an array of numbers"),
        ("z.csv", [["x"]], [1], "values must be"),
        ("z.csv", [[1j]], [1], "values must be real numbers"),
        ("z.csv", [[0.0], [np.nan]], [1, 2], "values must be finite (values[1, 0] = nan)"),
        ("z.csv", [[np.inf]], [1], "values must be finite"),
        ("z.csv", np.eye(2), [1, 1], "node_ids must be all different"),
        ("z.csv", np.eye(2), 2, "ids must be a graph or a list"),
        (None, np.eye(3), GRAPH, "path must be"),
    ],
)
def test_write_embeddings_explains_and_writes_nothing(tmp_path, name, values, ids, reason):
    (tmp_path / "folder.csv").mkdir()
    path = None if name is None else tmp_path / name
    assert reason in message(write_embeddings, path, values, ids)
    assert os.listdir(tmp_path) == ["folder.csv"]
    assert os.listdir(tmp_path / "folder.csv") == []


@pytest.mark.parametrize(
    ("pairs", "scores", "spread", "reason"),
    [
        ([(0, 3)], [1.0], None, "pairs[0] is (0, 3), but node indices must lie in 0..2"),
        ([(-1, 0)], [1.0], None, "pairs[0] is (-1, 0), but"),
        ([0, 1], [1.0], None, "[num_pairs, 2] (got int64 of shape [2])"),
        ([(0.0, 1.0)], [1.0], None, "(got float64 of shape [1, 2])"),
        ([(0, 1)], [1.0, 2.0], None, "scores must have one entry per pair, [1] (got [2])"),
        ([(0, 1)], [np.nan], None, "scores must be finite (scores[0] = nan)"),
        ([(0, 1)], [1.0], [np.inf], "spread must be finite"),
        ([(0, 1)], [1.0], [1.0, 2.0], "spread must have one entry per pair"),
        ([(0, 1), (2,)], [1.0], None, "pairs must be"),
    ],
)
def test_write_scores_explains_and_writes_nothing(tmp_path, pairs, scores, spread, reason):
    path = tmp_path / "s.csv"
    assert reason in message(write_scores, path, pairs, scores, GRAPH, spread=spread)
    assert os.listdir(tmp_path) == []


def test_scores_are_written_with_their_reasons(tmp_path):
    path = tmp_path / "s.csv"
    pairs, reasons = [(0, 1), (1, 2)], ["2 common neighbours (a, b)", "3 steps apart"]
    write_scores(path, pairs, [0.5, 0.25], ["x", "y", "z"], reasons=reasons)
    assert path.read_text().splitlines() == [
        "source,target,score,why",
        'x,y,0.5,"2 common neighbours (a, b)"',
        "y,z,0.25,3 steps apart",
    ]
    with pytest.raises(PGNNError, match=r"reasons must have one entry per pair, \[2\] \(got \[1\]"):
        write_scores(path, pairs, [0.5, 0.25], ["x", "y", "z"], reasons=reasons[:1])


FORMULAS = ["=HYPERLINK(1)", "=1", "@SUM(1)", "-1+cmd|x", "+f(2)"]
PLAIN_IDS = ["@ann", "-x", "+x", "a=1", "'=1"]


def test_ids_that_a_spreadsheet_would_run_get_an_apostrophe_in_csv(tmp_path):
    ids = [*FORMULAS, *PLAIN_IDS[:-1]]
    write_embeddings(tmp_path / "z.csv", np.ones((len(ids), 1)), ids)
    written = pl.read_csv(tmp_path / "z.csv")["id"].to_list()
    assert written == [f"'{name}" for name in FORMULAS] + PLAIN_IDS[:-1]


def test_ids_that_a_spreadsheet_would_run_are_read_back_as_they_were(tmp_path):
    ids = [*FORMULAS, *PLAIN_IDS, "''=1", "'ann", "="]
    pairs = [(v, v + 1) for v in range(len(ids) - 1)]
    write_scores(tmp_path / "s.csv", pairs, np.ones(len(pairs)), ids)
    assert read_graph(tmp_path / "s.csv").node_ids.tolist() == ids


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_other_formats_keep_such_ids(tmp_path, suffix):
    path = tmp_path / f"z{suffix}"
    write_embeddings(path, np.ones((len(FORMULAS), 1)), FORMULAS)
    if suffix == ".parquet":
        written = pl.read_parquet(path)["id"].to_list()
    else:
        written = np.load(path)["ids"].tolist()
    assert written == FORMULAS


@pytest.mark.parametrize("cells", [1, 7, 1 << 20])
def test_csv_is_the_same_in_blocks_of_any_size(tmp_path, monkeypatch, cells):
    monkeypatch.setattr(write, "_CSV_CELLS", cells)
    write_embeddings(tmp_path / "a.csv", [[1.5, 2.0], [0.0, 3.0], [4.0, 5.0]], ["x", "=f(1)", " y"])
    assert (tmp_path / "a.csv").read_text() == (
        '"id","z0","z1"\n"x",1.5,2.0\n"\'=f(1)",0.0,3.0\n" y",4.0,5.0\n'
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are kept on Linux only")
def test_parquet_that_does_not_fit_below_the_limit_of_memory_is_refused(tmp_path):
    values = np.zeros((300_000_000, 1), dtype=np.float32)
    with pgnn.memory_limit("2GB"), pytest.raises(PGNNError, match=r"writing .*csv and npz take"):
        write.write_columns(tmp_path / "a.parquet", {"z0": values[:, 0]}, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_a_table_without_columns_is_refused(tmp_path, name):
    with pytest.raises(PGNNError, match="columns must hold at least one column"):
        write.write_columns(tmp_path / name, {}, {"score": np.zeros(2)})
    assert not list(tmp_path.iterdir())
