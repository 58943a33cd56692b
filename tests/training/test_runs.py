import csv
import hashlib
import io
import json
import os
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.training import runs
from pgnn.training.fit import Epoch
from pgnn.training.learner import Learner
from pgnn.training.recipe import Recipe
from pgnn.training.runs import CHECKPOINT, check_free, load_run, save_run
from pgnn.training.splits import PairSet, split_links

FILES = (
    "config.toml",
    "graph.npz",
    "history.csv",
    "metrics.json",
    "model.safetensors",
    "nodes.csv",
)
HISTORY = [Epoch(1, 0.7), Epoch(2, 1 / 3, 0.5, 0.1 + 0.2), Epoch(3, 1e-12, 0.75)]
CONFIG = {
    "train": {"graph": 'a "b"\\c.csv', "weight": None, "val": 0.1, "epochs": 3, "directed": True},
    "note": "zoë\n",
    "list": [1, 2],
}
STRANGE = ["a,b", 'say "hi"', "two\nlines", "zoë", "#1", " pad ", "", "007", "😀", "x"]


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def ring(n=10, **more):
    return Graph.from_edges([(v, (v + 1) % n) for v in range(n)], n, **more)


def save(folder, graph=None, **more):
    graph = ring() if graph is None else graph
    split = split_links(graph, rng=0)
    given = {
        "learner": Learner(Recipe(hidden_channels=4, num_sets=3), graph),
        "graph": graph,
        "seen": split.graph,
        "pairs": split.test,
        "metrics": {"task": "link", "test": {"roc_auc": 0.5}},
        "history": HISTORY,
        "config": CONFIG,
    }
    save_run(folder, **{**given, **more})
    return SimpleNamespace(**{**given, **more})


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def seal(folder):
    """Write the hashes anew, as somebody would who wants a changed file to be read."""
    path = folder / "metrics.json"
    found = json.loads(path.read_text())
    for name in found["sha256"]:
        found["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(found))


# ---------------------------------------------------------------------- round trips

GRAPHS = {
    "plain": ring(),
    "integers": ring(node_ids=[7, -3, 2**62, 0, 1, 2, 3, 4, 5, 6]),
    "strings": ring(node_ids=STRANGE),
    "features": ring(x=np.arange(20).reshape(10, 2) / 3, y=[0, 5, -2] * 3 + [0]),
    "classes": ring(y=["b", "a,c", 'q"', "zoë", "b"] * 2, node_ids=STRANGE),
    "weighted": ring(weights=np.arange(1, 11) / 3),
    "directed": Graph.from_edges(
        [(v, (v * 3 + 1) % 10) for v in range(10)] + [(1, 0), (0, 1)],
        11,
        directed=True,
        weights=np.arange(1, 13) / 7,
    ),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_run_survives_a_round_trip(tmp_path, kind):
    graph = GRAPHS[kind]
    given = save(tmp_path / "a" / "run", graph)
    run = load_run(tmp_path / "a" / "run")
    assert run.graph == graph
    assert run.graph.node_ids.dtype.kind == graph.node_ids.dtype.kind
    assert run.seen == given.seen
    assert run.seen.num_edges < graph.num_edges
    assert run.pairs.pairs.tolist() == given.pairs.pairs.tolist()
    assert run.pairs.labels.tolist() == given.pairs.labels.tolist()
    assert np.array_equal(run.learner.embed(graph), given.learner.embed(graph))
    assert run.metrics["test"] == {"roc_auc": 0.5}
    assert names(run.folder) == sorted(FILES)


def test_history_and_config_survive_a_round_trip(tmp_path):
    save(tmp_path)
    run = load_run(tmp_path)
    wanted = [(e.epoch, e.loss, e.val_auc, e.test_auc) for e in HISTORY]
    assert [tuple(record.values()) for record in run.history] == wanted
    assert all(list(r) == ["epoch", "loss", "val_auc", "test_auc"] for r in run.history)
    train = {k: v for k, v in CONFIG["train"].items() if v is not None}
    assert run.config == {**CONFIG, "train": train}


@pytest.mark.parametrize("kind", ["strings", "classes", "integers", "features"])
def test_nodes_table_names_the_row_id_and_label_of_each_node(tmp_path, kind):
    graph = GRAPHS[kind]
    save(tmp_path, graph)
    with open(tmp_path / "nodes.csv", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    columns = [list(map(str, range(10))), [str(name) for name in graph.node_ids]]
    if graph.y is not None:
        labels = graph.y if graph.classes is None else graph.classes[graph.y]
        columns.append([str(label) for label in labels])
    assert names == ["index", "id", "label"][: len(columns)]
    assert rows == [list(row) for row in zip(*columns, strict=True)]


def test_ids_of_other_kinds_become_text(tmp_path):
    import networkx as nx

    graph = Graph.from_networkx(nx.grid_2d_graph(3, 4))
    save(tmp_path, graph)
    assert load_run(tmp_path).graph.node_ids.tolist() == [str(v) for v in graph.node_ids]


def test_classes_that_no_node_has_are_kept(tmp_path):
    graph = replace(ring(y=[0, 2] * 5), classes=np.array(["c", "b", "a"]))
    save(tmp_path, graph)
    assert load_run(tmp_path).graph == graph


def test_run_without_test_pairs_survives_a_round_trip(tmp_path):
    save(tmp_path, pairs=PairSet(np.empty((0, 2), dtype=np.int64), []))
    assert len(load_run(tmp_path).pairs) == 0


def test_metrics_hold_the_hashes_and_the_format(tmp_path):
    save(tmp_path)
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert found["format"] == 1
    assert set(found["sha256"]) == {"model.safetensors", "graph.npz"}
    for name, digest in found["sha256"].items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest


# ---------------------------------------------------------------------- whole or not at all


@pytest.mark.parametrize("number", range(6))
def test_a_crash_leaves_old_files_whole_and_metrics_for_the_end(tmp_path, monkeypatch, number):
    written = []
    rename = os.replace

    def crash(source, target):
        if len(written) == number:
            raise OSError(28, "No space left on device")
        written.append(Path(target).name)
        rename(source, target)

    monkeypatch.setattr("os.replace", crash)
    with pytest.raises(PGNNError, match="cannot be written"):
        save(tmp_path)
    assert names(tmp_path) == sorted(written)
    assert "metrics.json" not in written
    check_free(tmp_path)
    with pytest.raises(PGNNError, match="is no run directory"):
        load_run(tmp_path)


def test_metrics_are_written_last(tmp_path, monkeypatch):
    written = []
    rename = os.replace
    monkeypatch.setattr("os.replace", lambda s, t: written.append(Path(t).name) or rename(s, t))
    save(tmp_path)
    assert written[-1] == "metrics.json"
    assert sorted(written) == sorted(FILES)


def test_a_crash_while_a_file_is_written_keeps_the_old_one(tmp_path, monkeypatch):
    save(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}

    def cut_off(file, **arrays):
        file.write(b"PK")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", cut_off)
    other = Learner(Recipe(hidden_channels=4, num_sets=3, seed=1), ring())
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, ring(12), learner=other)
    assert (tmp_path / "graph.npz").read_bytes() == before["graph.npz"]
    assert names(tmp_path) == sorted(FILES)
    with pytest.raises(PGNNError, match="is not the file that the run wrote"):
        load_run(tmp_path)  # the model is another already


def test_save_refuses_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(PGNNError, match="is not a folder"):
        save(tmp_path / "run")


def test_check_free_refuses_only_a_finished_run(tmp_path):
    check_free(tmp_path / "nothing")
    check_free(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(b"")
    check_free(tmp_path)
    save(tmp_path)
    with pytest.raises(PGNNError, match="holds a finished run; give another --out"):
        check_free(tmp_path)


# ---------------------------------------------------------------------- what is no run


def test_load_says_what_a_folder_is_not(tmp_path):
    with pytest.raises(PGNNError, match="no such run directory; `pgnn train --out` makes one"):
        load_run(tmp_path / "nothing")
    (tmp_path / "other.txt").write_text("")
    with pytest.raises(PGNNError, match=r"is no run directory .it has no metrics.json"):
        load_run(tmp_path)
    with pytest.raises(PGNNError, match="no such run directory"):
        load_run(tmp_path / "other.txt")
    (tmp_path / CHECKPOINT).write_bytes(b"")
    with pytest.raises(PGNNError, match="is not finished; go on with --resume"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "3",
        "{",
        '{"format": "1", "sha256": {}}',
        '{"format": 1}',
        '{"format": 1, "sha256": []}',
        '{"accuracy": 0.9}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_load_refuses_metrics_that_are_damaged_or_foreign(tmp_path, text):
    save(tmp_path)
    (tmp_path / "metrics.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(PGNNError, match=r"metrics.json: is damaged .*train anew"):
        load_run(tmp_path)


def test_load_refuses_a_newer_format(tmp_path):
    save(tmp_path, metrics={"format": 2})
    with pytest.raises(PGNNError, match="format 2, newer than 1; update pgnn"):
        load_run(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz"])
def test_load_refuses_a_file_that_the_run_did_not_write(tmp_path, name):
    save(tmp_path / "a")
    other = Learner(Recipe(hidden_channels=4, num_sets=3, seed=1), ring(12))
    save(tmp_path / "b", ring(12), learner=other)
    (tmp_path / "a" / name).write_bytes((tmp_path / "b" / name).read_bytes())
    with pytest.raises(PGNNError, match=f"{name}: is not the file that the run wrote; train anew"):
        load_run(tmp_path / "a")


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz"])
def test_load_refuses_a_file_whose_hash_is_missing(tmp_path, name):
    save(tmp_path)
    found = json.loads((tmp_path / "metrics.json").read_text())
    del found["sha256"][name]
    (tmp_path / "metrics.json").write_text(json.dumps(found))
    with pytest.raises(PGNNError, match=f"{name}: is not the file"):
        load_run(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz", "history.csv", "config.toml"])
def test_load_says_which_file_is_missing(tmp_path, name):
    save(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(PGNNError, match=name):
        load_run(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "epoch,loss\n1,2\n",
        "epoch,loss,val_auc,test_auc\n1,2\n",
        "epoch,loss,val_auc,test_auc\n1,2,x,\n",
        "epoch,lorr,val_auc,test_auc\n1,2,,\n",
    ],
)
def test_load_refuses_a_damaged_history(tmp_path, text):
    save(tmp_path)
    (tmp_path / "history.csv").write_text(text)
    with pytest.raises(PGNNError, match=r"history.csv: is damaged"):
        load_run(tmp_path)


@pytest.mark.parametrize("text", [b"a =", b"a = \xff", b"a = " + b"[" * 50_000])
def test_load_refuses_a_damaged_config(tmp_path, text):
    save(tmp_path)
    (tmp_path / "config.toml").write_bytes(text)
    with pytest.raises(PGNNError, match=r"config.toml: is damaged"):
        load_run(tmp_path)


# ---------------------------------------------------------------------- what a file may hold


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def rewrite_graph(folder, **changes):
    with np.load(folder / "graph.npz", allow_pickle=True) as file:
        arrays = {**dict(file), **changes}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    with open(folder / "graph.npz", "wb") as file:
        np.savez(file, **arrays)
    seal(folder)


@pytest.mark.parametrize("name", ["node_ids", "pairs", "indptr", "extra"])
def test_load_does_not_unpickle_an_array(tmp_path, name):
    folder, sign = tmp_path / "run", tmp_path / "executed"
    save(folder)
    bomb = np.empty(10, dtype=object)
    bomb[0] = Bomb(sign)
    rewrite_graph(folder, **{name: bomb})
    with pytest.raises(PGNNError, match=r"graph.npz: is damaged .*train anew"):
        load_run(folder)
    assert not sign.exists()
    with np.load(folder / "graph.npz", allow_pickle=True) as file:
        assert file[name] is not None
    assert sign.exists()  # the trap works


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz"])
def test_load_does_not_unpickle_a_file(tmp_path, name):
    folder, sign = tmp_path / "run", tmp_path / "executed"
    save(folder)
    (folder / name).write_bytes(pickle.dumps(Bomb(sign)))
    with pytest.raises(PGNNError, match="is not the file that the run wrote"):
        load_run(folder)
    seal(folder)
    with pytest.raises(PGNNError, match=name):
        load_run(folder)
    assert not sign.exists()
    pickle.loads((folder / name).read_bytes())
    assert sign.exists()  # the trap works


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": np.full(20, 10, dtype=np.int32)},
        {"indices": np.full(20, -1, dtype=np.int32)},
        {"indices": np.zeros(20, dtype=np.int32)},
        {"indices": np.arange(20.0)},
        {"indices": None},
        {"indptr": np.array([0, 20])},
        {"indptr": np.array([0, 25, *[20] * 9])},
        {"indptr": np.empty(0, dtype=np.int64)},
        {"weights": np.ones(20) * np.nan},
        {"weights": np.arange(1.0, 21.0)},  # not the same in both directions
        {"weights": np.ones(3)},
        {"x": np.ones((3, 2))},
        {"x": np.full((10, 1), np.inf)},
        {"y": np.zeros(4, dtype=np.int64)},
        {"y": np.full(10, 3), "classes": np.array(["a", "b"])},
        {"classes": np.array(["a", "b"])},
        {"node_ids": np.zeros(10, dtype=np.int64)},
        {"node_ids": np.arange(9)},
        {"seen": np.ones(11, dtype=bool)},
        {"seen": np.zeros(10, dtype=np.int64)},
        {"seen": None},
        {"pairs": np.array([[0, 10]]), "labels": np.array([True])},
        {"pairs": np.array([[0, -1]]), "labels": np.array([True])},
        {"labels": np.ones(50, dtype=bool)},
        {"directed": np.array([True, False])},
        {"directed": np.array(True), "indices": np.sort(np.arange(20) % 10).astype(np.int32)},
    ],
    ids=str,
)
def test_load_refuses_arrays_that_are_no_graph(tmp_path, changes):
    save(tmp_path)
    rewrite_graph(tmp_path, **changes)
    with pytest.raises(PGNNError, match=r"graph.npz: is damaged"):
        load_run(tmp_path)


def content(run):
    return (
        run.graph.indices.tolist(),
        run.graph.node_ids.tolist(),
        run.seen.indices.tolist(),
        run.pairs.pairs.tolist(),
        {name: t.tolist() for name, t in run.learner.model.state_dict().items()},
    )


@pytest.mark.parametrize("name", FILES)
def test_flipped_bytes_give_an_error_or_the_same_content(tmp_path, name):
    save(tmp_path)
    whole = content(load_run(tmp_path))
    data = (tmp_path / name).read_bytes()
    rng = np.random.default_rng(len(data))
    refused = 0
    for place in rng.choice(len(data), size=min(len(data), 25), replace=False).tolist():
        spoilt = bytearray(data)
        spoilt[place] ^= int(rng.integers(1, 256))
        (tmp_path / name).write_bytes(bytes(spoilt))
        try:
            assert content(load_run(tmp_path)) == whole
        except PGNNError:
            refused += 1
    assert refused == 25 if name in ("model.safetensors", "graph.npz") else refused <= 25


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz"])
def test_flipped_bytes_behind_a_right_hash_raise_no_other_error(tmp_path, name):
    save(tmp_path, GRAPHS["classes"])
    data = (tmp_path / name).read_bytes()
    load = runs._read_graph if name == "graph.npz" else Learner.load
    rng = np.random.default_rng(1)
    ends = [0] * 60 + [len(data) - 1200] * 60  # headers are there
    refused = 0
    for start in ends:
        spoilt = bytearray(data)
        spoilt[start + int(rng.integers(1200))] ^= int(rng.integers(1, 256))
        (tmp_path / name).write_bytes(bytes(spoilt))
        try:
            load(tmp_path / name)
        except PGNNError:
            refused += 1
    assert refused > 0


def test_cut_off_files_are_refused(tmp_path):
    save(tmp_path)
    for name in ("model.safetensors", "graph.npz"):
        data = (tmp_path / name).read_bytes()
        for length in (0, 1, 8, len(data) // 2, len(data) - 1):
            (tmp_path / name).write_bytes(data[:length])
            seal(tmp_path)
            with pytest.raises(PGNNError, match=name):
                load_run(tmp_path)
        (tmp_path / name).write_bytes(data)
        seal(tmp_path)


def test_an_array_too_large_for_memory_is_refused(tmp_path):
    save(tmp_path)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<i8", "fortran_order": False, "shape": (1 << 60,)}
    )
    with zipfile.ZipFile(tmp_path / "graph.npz", "w") as file:
        file.writestr("indptr.npy", header.getvalue())
    seal(tmp_path)
    with pytest.raises(PGNNError, match=r"graph.npz: is damaged"):
        load_run(tmp_path)
