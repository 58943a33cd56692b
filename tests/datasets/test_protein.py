"""Protein: the original text files in their zip, both selections of graphs, damage, features."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgnn import PGNNError
from pgnn.datasets import load_protein, protein

COUNTS = protein.Counts(graphs=3, nodes=52, edge_entries=98, labels=3)
PREFIX = "PROTEINS_full//PROTEINS_full_"  # the original has two slashes


def small_texts():
    """Paths of 24 (labels mixed), 21 (one label) and 7 nodes; the last has an isolated node."""
    rng = np.random.default_rng(0)
    sizes = [24, 21, 7]
    starts = np.cumsum([1, *sizes])
    ends = [(u, u + 1) for s, n in zip(starts, sizes, strict=False) for u in range(s, s + n - 1)]
    ends = [*ends[:-1], (starts[2], starts[2] + 2)]  # node 52 is isolated
    labels = np.concatenate([np.arange(24) % 3, np.zeros(28, dtype=int)])
    attributes = rng.normal(5, 3, (52, 29))
    attributes[:, 7] = 0.1
    return {
        "A": "".join(f"{u}, {v}\n{v}, {u}\n" for u, v in ends),
        "graph_indicator": "".join(f"{i + 1}\n" * n for i, n in enumerate(sizes)),
        "graph_labels": "1\n2\n1\n",
        "node_labels": "".join(f"{label}\n" for label in labels),
        "node_attributes": "".join(
            ",".join(f"{value:10.6f}" for value in row) + "\n" for row in attributes
        ),
    }


def zipped(texts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(f"{PREFIX}{name}.txt", text)
    return buffer.getvalue()


@pytest.fixture
def put(tmp_path, monkeypatch):
    monkeypatch.setattr(protein, "COUNTS", COUNTS)

    def write(data):
        (tmp_path / "protein").mkdir(exist_ok=True)
        (tmp_path / "protein" / "PROTEINS_full.zip").write_bytes(data)
        return tmp_path

    return write


def test_small_archive_keeps_all_graphs(put):
    graphs = load_protein(put(zipped(small_texts())), standardize=None)
    assert [g.num_nodes for g in graphs] == [24, 21, 7]
    assert [g.num_edges for g in graphs] == [23, 20, 6]
    assert graphs[0].edges().tolist() == [[u, u + 1] for u in range(23)]
    assert graphs[0].y.tolist() == [0, 1, 2] * 8
    assert graphs[2].degrees[6] == 0
    assert graphs[1].node_ids.tolist() == list(range(25, 46))
    assert graphs[0].x.shape == (24, 29)
    assert graphs[0].x.dtype == np.float32
    first_line = small_texts()["node_attributes"].split("\n")[0]
    np.testing.assert_allclose(graphs[0].x[0], np.fromstring(first_line, sep=","), rtol=1e-6)


def test_released_selection_drops_isolated_nodes_and_uniform_graphs(put):
    texts = small_texts()
    (graph,) = load_protein(put(zipped(texts)), keep="released")
    assert graph.num_nodes == 24
    # The isolated node does not count towards 20: a path of 20 whose last node is cut off goes.
    texts["A"] = "".join(
        f"{line}\n" for line in texts["A"].splitlines() if not {"24", "23"} & set(line.split(", "))
    )
    kept = protein.build(
        protein.read_archive(zipped(texts), "a"), keep="released", standardize=None
    )
    assert [g.num_nodes for g in kept] == [22]
    assert kept[0].node_ids.tolist() == list(range(1, 23))


@pytest.mark.parametrize(
    ("counts", "kept"),
    [
        ((14, 3, 3), 1),  # 97 pairs of at most 100
        ((14, 5, 1), 0),  # 101
        ((21, 6, 1, 1, 1), 1),  # 225 of at most 225
    ],
)
def test_released_selection_counts_pairs_of_the_same_label(counts, kept):
    labels = np.repeat(np.arange(len(counts)), counts)
    n = len(labels)
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    tables = protein.Tables(path, np.zeros(n, dtype=int), np.ones((n, 29)), labels)
    assert len(protein.build(tables, keep="released", standardize="feature")) == kept


def test_standardized_features_have_mean_0_and_deviation_1(put):
    x = np.concatenate([g.x for g in load_protein(put(zipped(small_texts())))])
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-6)
    expected = np.ones(29)
    expected[7] = 0  # constant
    np.testing.assert_allclose(x.std(axis=0), expected, atol=1e-6)


def test_standardized_nodes_have_mean_0_and_deviation_1(put):
    graphs = load_protein(put(zipped(small_texts())), standardize="node")
    for graph in graphs:
        np.testing.assert_allclose(graph.x.mean(axis=1), 0, atol=1e-6)
        np.testing.assert_allclose(graph.x.std(axis=1), 1, atol=1e-5)


def changed(name, old, new):
    texts = small_texts()
    assert old in texts[name]
    texts[name] = texts[name].replace(old, new, 1)
    return zipped(texts)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped(small_texts())[:-200], "not a whole zip archive"),
        (zipped(small_texts())[:500], "not a whole zip archive"),
        (b"<html>", "not a whole zip archive"),
        (zipped({"A": "1, 2\n"}), "has no PROTEINS_full_graph_indicator.txt"),
        (changed("A", "1, 2\n", "1, 25\n"), r"A, line 1: \[1, 25\] does not join"),
        (changed("A", "1, 2\n", "0, 2\n"), r"A, line 1: \[0, 2\] does not join"),
        (changed("A", "1, 2\n", "1, 53\n"), r"A, line 1: \[1, 53\] does not join"),
        (changed("A", "1, 2\n", "1\n"), r"A, line 1: 2 integers expected \(got '1'\)"),
        (changed("A", "1, 2\n2, 1\n", ""), r"98 lines of edges expected \(got 96\)"),
        (changed("node_labels", "0\n", ""), r"node_labels: 52 nodes expected \(got 51\)"),
        (changed("node_labels", "0\n", "7\n"), "3 node labels expected"),
        (changed("graph_indicator", "3\n", "5\n"), "without gap"),
        (changed("node_attributes", ",", ";"), "line 1: 29 numbers expected"),
        (changed("node_attributes", "0.100000", "nan"), "line 1: holds a number that is not"),
    ],
)
def test_damaged_archives_are_named(put, data, message):
    with pytest.raises(PGNNError, match=rf"PROTEINS_full\.zip.*{message}"):
        load_protein(put(data))


def test_archive_with_a_flipped_byte_is_refused(put):
    data = bytearray(zipped(small_texts()))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(PGNNError, match="not a whole zip archive"):
        load_protein(put(bytes(data)))


def test_missing_archive_is_downloaded(server, cache, monkeypatch):
    folder, address = server
    (folder / "p.zip").write_bytes(zipped(small_texts()))
    monkeypatch.setattr(protein, "COUNTS", COUNTS)
    monkeypatch.setattr(protein, "FILES", (replace(protein.FILES[0], url=f"{address}/p.zip"),))
    assert len(load_protein()) == 3
    assert (cache / "protein" / "PROTEINS_full.zip").is_file()


@pytest.mark.parametrize("bad", [{"keep": "all"}, {"standardize": "rows"}])
def test_unknown_options_are_refused_before_files_are_sought(bad):
    with pytest.raises(PGNNError, match=f"{next(iter(bad))} must be"):
        load_protein(**bad)


@pytest.fixture(scope="module")
def real_tables():
    path = Path(__file__).parents[3] / "shared" / "data" / "protein" / "PROTEINS_full.zip"
    if not path.is_file():
        pytest.skip("needs the real data sets in ../shared/data, next to the project")
    return protein.check_archive(path.read_bytes(), str(path))


def test_real_graphs_are_as_known(real_tables):
    graphs = protein.build(real_tables, keep="paper", standardize="feature")
    assert len(graphs) == 1113
    assert sum(g.num_nodes for g in graphs) == 43_471
    assert sum(g.num_edges for g in graphs) == 81_044
    assert sum(g.dropped_self_loops for g in graphs) == 0
    assert {int(label) for g in graphs for label in g.y} == {0, 1, 2}
    x = np.concatenate([g.x for g in graphs]).astype(float)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(x.std(axis=0), 1, atol=1e-5)


def test_real_released_selection_is_as_known(real_tables):
    graphs = protein.build(real_tables, keep="released", standardize="node")
    assert len(graphs) == 364
    assert min(g.num_nodes for g in graphs) >= 20
    assert min(int(g.degrees.min()) for g in graphs) >= 1


def test_real_attributes_are_what_the_docstring_says(real_tables):
    x, labels, graph = real_tables.attributes, real_tables.labels, real_tables.graph
    np.testing.assert_array_equal(x[:, 1] - x[:, 0] + 1, x[:, 2])
    assert set(np.unique(x[:, 4])) == {-1, 0, 1}
    assert set(np.unique(labels[x[:, 4] != 0])) == {1}
    np.testing.assert_array_equal(x[:, 11], x[:, 20])
    starts = np.searchsorted(graph, np.arange(1113))
    for column in range(29):
        same = np.maximum.reduceat(x[:, column], starts) == np.minimum.reduceat(
            x[:, column], starts
        )
        assert same.all() == (column >= 21)
