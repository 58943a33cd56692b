"""PPI: recovered files, the archive through PyTorch Geometric, damage, features."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from pgnn import PGNNError
from pgnn.datasets import describe, load_ppi, ppi

COUNTS = ppi.Counts(graphs=4, nodes=54, edges=54)
SIZES = {"train": (12, 15), "valid": (11,), "test": (16,)}  # rings; and a pair in the first graph


def small_features(num_nodes):
    features = np.random.default_rng(1).random((num_nodes, 50)) < 0.3
    features[:, 10] = False  # one of the real ones is 0 throughout, too
    return features


def put_recovered(folder):
    """The four rings of `SIZES`, a pair of nodes after the first, and self-loops."""
    edges, graph, start = [(0, 0), (3, 3), (12, 13)], [], 0
    for number, size in enumerate(n for sizes in SIZES.values() for n in sizes):
        edges += [(start + u, start + (u + 1) % size) for u in range(size)]
        more = 2 if number == 0 else 0
        graph += [number] * (size + more)
        start += size + more
    (folder / "ppi").mkdir(parents=True, exist_ok=True)
    structure, features = (folder / path for path in ppi.RECOVERED)
    np.savez(structure, edges=np.array(edges, dtype=np.uint16), graph=np.array(graph))
    np.savez(features, feats_packed=np.packbits(small_features(56), axis=1))
    return folder


def archive(**changes):
    """The same graphs as PyTorch Geometric's archive holds them: self-loops on every node."""
    features = small_features(56).astype(float)
    scale = features[:29].std(axis=0)
    features = (features - features[:29].mean(axis=0)) / np.where(scale > 0, scale, 1)
    files, row, number = {}, 0, 1
    for part, sizes in SIZES.items():
        links, ids, start = [], [], 0
        for size in sizes:
            links += [(start + u, start + (u + 1) % size) for u in range(size)]
            more = 2 if number == 1 else 0
            if more:
                links.append((start + size, start + size + 1))
            ids += [number] * (size + more)
            start, number = start + size + more, number + 1
        links += [(u, u) for u in range(start)]
        files[f"{part}_graph.json"] = json.dumps(
            {
                "directed": False,
                "multigraph": False,
                "graph": {},
                "nodes": [{"id": u} for u in range(start)],
                "links": [{"source": u, "target": v} for u, v in links],
            }
        ).encode()
        files[f"{part}_graph_id.npy"] = npy(np.array(ids))
        files[f"{part}_feats.npy"] = npy(features[row : row + start])
        files[f"{part}_labels.npy"] = npy(np.zeros((start, 121)))
        row += start
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in (files | changes).items():
            if data is not None:
                out.writestr(f"ppi/{name}", data)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def small_counts(request, monkeypatch):
    if "real_data" not in request.fixturenames:
        monkeypatch.setattr(ppi, "COUNTS", COUNTS)


@pytest.fixture
def recovered(tmp_path):
    return put_recovered(tmp_path / "recovered")


@pytest.fixture
def put_archive(tmp_path):
    def write(data):
        (tmp_path / "zip" / "ppi").mkdir(parents=True, exist_ok=True)
        (tmp_path / "zip" / "ppi" / "ppi.zip").write_bytes(data)
        return tmp_path / "zip"

    return write


def test_recovered_files_give_components_without_self_loops(recovered):
    graphs = load_ppi(recovered, standardize=None)
    assert [g.num_nodes for g in graphs] == [12, 15, 11, 16]
    assert [g.num_edges for g in graphs] == [12, 15, 11, 16]
    assert graphs[0].dropped_self_loops == 2
    assert graphs[1].node_ids.tolist() == list(range(14, 29))
    np.testing.assert_array_equal(graphs[1].x, small_features(56)[14:29])
    assert graphs[1].x.dtype == np.float32
    assert graphs[1].y is None


@pytest.mark.parametrize("standardize", ["feature", "node"])
def test_standardized_features_have_mean_0_and_deviation_1(recovered, standardize):
    x = np.concatenate([g.x for g in load_ppi(recovered, standardize=standardize)])
    axis = 0 if standardize == "feature" else 1
    expected = np.ones(x.shape[1 - axis])
    if standardize == "feature":
        expected[10] = 0
    np.testing.assert_allclose(x.mean(axis=axis), 0, atol=1e-6)
    np.testing.assert_allclose(x.std(axis=axis), expected, atol=1e-5)


def test_archive_gives_the_same_graphs_as_the_recovered_files(recovered, put_archive, cache):
    folder = put_archive(archive())
    for standardize in ("feature", None):
        from_archive = load_ppi(folder, standardize=standardize)
        assert from_archive == load_ppi(recovered, standardize=standardize)
    (kept,) = cache.rglob("*.npz")
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(PGNNError, match=r"ppi_graphs_.*\.npz: is damaged .* delete"):
        load_ppi(folder)


def test_converted_archive_is_kept_in_the_cache(put_archive, monkeypatch):
    folder = put_archive(archive())
    graphs = load_ppi(folder)
    monkeypatch.setattr(ppi, "convert_archive", None)  # calling it again would fail
    assert load_ppi(folder) == graphs


def test_archive_is_preferred_to_recovered_files(recovered):
    assert ppi.source_of(recovered) == "recovered"
    (recovered / "ppi" / "ppi.zip").write_bytes(archive())
    assert ppi.source_of(recovered) == "published"


def test_source_says_that_features_are_recovered(recovered):
    row = next(row for row in describe(recovered) if row.name == "ppi")
    assert row.present
    assert "partly recovered" in row.source


def test_missing_archive_is_downloaded(server, cache, recovered, monkeypatch):
    folder, address = server
    (folder / "ppi.zip").write_bytes(archive())
    monkeypatch.setattr(ppi, "FILES", (replace(ppi.FILES[0], url=f"{address}/ppi.zip"),))
    assert load_ppi() == load_ppi(recovered)
    assert (cache / "ppi" / "ppi.zip").is_file()


@pytest.mark.parametrize("name", ppi.RECOVERED)
@pytest.mark.parametrize("length", [0, 30, 300])
def test_truncated_recovered_files_are_named(recovered, name, length):
    path = recovered / name
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(PGNNError, match=rf"{path.name}: is damaged or truncated"):
        load_ppi(recovered)


def test_recovered_files_that_do_not_fit_are_refused(recovered):
    structure, features = (recovered / path for path in ppi.RECOVERED)
    np.savez(features, feats_packed=np.packbits(small_features(55), axis=1))
    with pytest.raises(PGNNError, match=r"recovered\.npz: 56 rows expected \(got 55\)"):
        load_ppi(recovered)
    put_recovered(recovered)
    np.savez(structure, edges=np.array([[0, 56]]), graph=np.zeros(56))
    with pytest.raises(PGNNError, match=r"structure\.npz: edges must be pairs of the 56 nodes"):
        load_ppi(recovered)
    np.savez(structure, edges=np.array([[0, 55]]), graph=np.zeros(56))
    with pytest.raises(PGNNError, match=r"structure\.npz: 4 components .* expected \(got 0\)"):
        load_ppi(recovered)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (archive()[:-50], "is not a whole zip archive"),
        (archive(**{"valid_feats.npy": None}), "the archive has no valid_feats.npy"),
        (archive(**{"train_graph.json": b"{"}), "PyTorch Geometric cannot read it"),
        (archive(**{"test_feats.npy": b"\x93NUMPY"}), "PyTorch Geometric cannot read it"),
        (
            archive(**{"test_feats.npy": npy(np.arange(800.0).reshape(16, 50))}),
            "features must have two values",
        ),
    ],
)
def test_damaged_archives_are_named(put_archive, data, message):
    with pytest.raises(PGNNError, match=rf"ppi\.zip: {message}"):
        load_ppi(put_archive(data))


def test_counts_of_another_archive_are_refused(put_archive, cache, monkeypatch):
    monkeypatch.setattr(ppi, "COUNTS", replace(COUNTS, edges=55))
    with pytest.raises(PGNNError, match=r"ppi\.zip: 55 edges in them expected \(got 54\)"):
        load_ppi(put_archive(archive()))
    assert not list(cache.rglob("*.npz"))


def test_real_graphs_are_as_known(real_data):
    graphs = load_ppi(real_data)
    assert len(graphs) == 24
    assert sum(g.num_nodes for g in graphs) == 56_658
    assert sum(g.num_edges for g in graphs) == 818_435 - 24_818
    assert sum(g.dropped_self_loops for g in graphs) == 24_818
    assert min(int(g.degrees.min()) for g in graphs) >= 1
    x = np.concatenate([g.x for g in graphs]).astype(float)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-5)
    deviation = x.std(axis=0)
    assert set(np.round(deviation, 5)) == {0, 1}
    with np.load(real_data / "ppi" / "ppi_structure.npz") as arrays:
        kept = np.flatnonzero(arrays["in_component_gt10"])
        graph_of = arrays["graph"]
    np.testing.assert_array_equal(np.concatenate([g.node_ids for g in graphs]), kept)
    assert [len(np.unique(graph_of[g.node_ids])) for g in graphs] == [1] * 24
