"""Email: the original text format, the seven graphs, damaged and missing files, downloading."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

import pgnn
from pgnn import PGNNError
from pgnn.datasets import email, load_email

COUNTS = email.Counts(edge_lines=15, nodes=25, departments=3, graph_nodes=(12,))


def small_files():
    """A path through 12 people of departments 0 and 5, a self-loop, repeats, and others."""
    path = [(u, u + 1) for u in range(11)]
    others = [(3, 3), (1, 0), (20, 21), (11, 20)]  # (11, 20) joins two groups of departments
    edges = "".join(f"{u} {v}\n" for u, v in path + others)
    labels = "".join(f"{v} {(0 if v % 2 else 5) if v < 15 else 6}\n" for v in range(25))
    return edges.encode(), labels.encode()


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(email, "COUNTS", COUNTS)
    return small_files()


def put(folder, edges, labels):
    (folder / "email").mkdir(parents=True, exist_ok=True)
    (folder / "email" / "edges.txt").write_bytes(edges)
    (folder / "email" / "labels.txt").write_bytes(labels)
    return folder


def test_small_files_give_one_graph(small, tmp_path):
    (graph,) = load_email(put(tmp_path, *small))
    assert graph.edges().tolist() == [[u, u + 1] for u in range(11)]
    assert (graph.dropped_self_loops, graph.dropped_repeats) == (1, 1)
    assert graph.node_ids.tolist() == list(range(12))
    assert graph.y.tolist() == [5, 0] * 6
    np.testing.assert_array_equal(graph.x, np.ones((12, 1), dtype=np.float32))


def test_order_of_labels_does_not_matter(small, tmp_path):
    edges, labels = small
    turned = b"".join(reversed(labels.splitlines(keepends=True)))
    assert load_email(put(tmp_path / "a", edges, labels)) == load_email(
        put(tmp_path / "b", edges, turned)
    )


def test_real_graphs_are_as_known(real_data):
    graphs = load_email(real_data)
    assert [g.num_nodes for g in graphs] == [245, 139, 32, 223, 186, 37, 58]
    assert sum(g.num_edges for g in graphs) == 7201
    for graph in graphs:
        assert len(set((graph.y // 6).tolist())) == 1  # six departments at most, of one group
        reached = pgnn.anchor_distances(
            graph, pgnn.AnchorSets.from_sets([[0]], graph.num_nodes)
        ).hops
        assert (reached >= 0).all()
        assert not (graph.edges()[:, 0] == graph.edges()[:, 1]).any()
    ids = np.concatenate([graph.node_ids for graph in graphs])
    assert len(np.unique(ids)) == 920
    departments = dict(np.loadtxt(real_data / "email" / "labels.txt", dtype=int).tolist())
    for graph in graphs:
        assert graph.y.tolist() == [departments[node] for node in graph.node_ids.tolist()]


def test_truncated_edges_are_refused(small, tmp_path):
    edges, labels = small
    put(tmp_path, edges[: edges.rindex(b"20 21")], labels)
    with pytest.raises(PGNNError, match=r"edges\.txt: 15 lines expected \(got 13\)"):
        load_email(tmp_path)


def test_line_cut_in_the_middle_is_named(small, tmp_path):
    edges, labels = small
    put(tmp_path, edges[:-4], labels)
    with pytest.raises(PGNNError, match=r"edges\.txt, line 15: 2 integers expected \(got '11'\)"):
        load_email(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e, t: (b"", t), r"edges\.txt: is empty"),
        (lambda e, t: (e.replace(b"20 21", b"20 x1"), t), r"edges\.txt, line 14: .*'20 x1'"),
        (lambda e, t: (e.replace(b"20 21", b"20 99"), t), r"edges\.txt, line 14: \[20, 99\]"),
        (lambda e, t: (e.replace(b"20 21", b"20 1.5"), t), r"edges\.txt, line 14: .*'20 1.5'"),
        (lambda e, t: (e, t[:-5]), r"labels\.txt: 25 nodes expected \(got 24\)"),
        (lambda e, t: (e, t.replace(b"24 6", b"23 6")), r"labels\.txt: 25 nodes expected"),
        (lambda e, t: (e, t.replace(b" 5", b" 0")), r"labels\.txt: 3 departments expected"),
        (lambda e, t: (e.replace(b"5 6\n", b"5 5\n"), t), r"edges\.txt: graphs of \(12,\) nodes"),
        (lambda e, t: (b"\xff\xfe" + e, t), r"edges\.txt, line 1"),
    ],
)
def test_damaged_files_are_named(small, tmp_path, change, message):
    with pytest.raises(PGNNError, match=message):
        load_email(put(tmp_path, *change(*small)))


def test_node_with_two_departments_is_refused():
    with pytest.raises(PGNNError, match="node 1 has two lines"):
        email.build(np.array([[0, 1]]), np.array([[0, 0], [1, 0], [1, 2]]), source="e")


@pytest.fixture
def served(small, server, monkeypatch):
    folder, address = server
    for name, data in zip(("edges", "labels"), small, strict=True):
        (folder / f"{name}.gz").write_bytes(gzip.compress(data))
    files = [
        replace(file, url=f"{address}/{name}.gz")
        for file, name in zip(email.FILES, ("edges", "labels"), strict=True)
    ]
    monkeypatch.setattr(email, "FILES", tuple(files))
    return folder


def test_missing_files_are_downloaded_once(served, small, cache):
    graphs = load_email()
    assert [g.num_nodes for g in graphs] == [12]
    assert (cache / "email" / "edges.txt").read_bytes() == small[0]
    assert sorted(p.name for p in (cache / "email").iterdir()) == ["edges.txt", "labels.txt"]
    for path in served.iterdir():
        path.unlink()
    assert load_email() == graphs


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-12], "failed"),
        (lambda data: b"<html>moved</html>", "failed"),
        (lambda data: data[:20] + b"\x00" * 8 + data[28:], "failed"),
        (lambda data: gzip.compress(b"0 1\n"), "edges.gz: 15 lines expected"),
    ],
)
def test_damaged_download_is_not_kept(served, cache, damage, message):
    path = served / "edges.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(PGNNError, match=message):
        load_email()
    assert not list(cache.rglob("*.*"))


def test_absent_on_the_server_is_one_clear_error(served, cache):
    (served / "labels.gz").unlink()
    with pytest.raises(
        PGNNError, match=r"labels\.txt was not found .*failed \(HTTP Error 404"
    ) as e:
        load_email()
    assert "edges.gz" not in str(e.value)  # that one is in the cache by now
    assert (cache / "email" / "edges.txt").is_file()
