import csv
import hashlib
import io
import json
import os
import pickle
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation.evaluate import evaluate
from pgnn.evaluation.judging import Judgement
from pgnn.training import runs
from pgnn.training.fit import Epoch
from pgnn.training.learner import Learner, make_learner
from pgnn.training.outcome import GraphFacts, Outcome, versions
from pgnn.training.recipe import Recipe
from pgnn.training.runs import (
    CHECKPOINT,
    claim_folder,
    load_run,
    read_config,
    release_folder,
    save_run,
)
from pgnn.training.splits import PairSet, split_links

SMALL = Recipe(model="pgnn-e-2l", hidden_channels=4, num_sets=3, eval_draws=2).resolved(10)
OLD_RUNS = Path(__file__).parent / "runs_of_format_1"  # left by the last version that wrote it
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


def outcome_of(graph, learner, pairs):
    """A result that was never reached, of a run on this graph."""
    return Outcome(
        task="link",
        model=learner.recipe.model,
        test_auc=0.5,
        val_auc=0.75,
        seconds=1.5,
        best_epoch=3,
        epochs=3,
        seed=0,
        num_sets=learner.num_sets,
        graph=GraphFacts.of(graph),
        test_pairs=len(pairs),
        test=Judgement(len(pairs), {"roc_auc": 0.5}),
        heuristics={},
        recipe=learner.recipe,
        versions=versions(),
    )


def save(folder, graph=None, *, resume=False, **more):
    """Leave a run directory, as training does at its beginning and at its end."""
    graph = ring() if graph is None else graph
    split = split_links(graph, rng=0)
    learner = more.pop("learner", None) or make_learner(SMALL, [graph])
    saved = {"learner": learner, "graph": graph, "seen": split.graph, "pairs": split.test}
    saved |= {"outcome": outcome_of(graph, learner, split.test), "history": HISTORY}
    saved |= more
    claim_folder(folder, CONFIG, resume=resume)
    save_run(folder, **saved)
    return SimpleNamespace(**saved)


def load_all(folder):
    """Load a run and the graph that is read only when it is needed."""
    run = load_run(folder)
    assert run.data
    return run


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
    "unknown": ring(y=["b", None, "a", "", "b"] * 2),
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
    saved = save(tmp_path / "a" / "run", graph)
    run = load_run(tmp_path / "a" / "run")
    data = run.data
    assert data.graph == graph
    assert data.graph.node_ids.dtype.kind == graph.node_ids.dtype.kind
    assert data.graph.dropped_repeats == 0
    assert data.seen == saved.seen
    assert data.seen.num_edges < graph.num_edges
    assert data.pairs.pairs.tolist() == saved.pairs.pairs.tolist()
    assert data.pairs.labels.tolist() == saved.pairs.labels.tolist()
    assert np.array_equal(run.learner.embed(graph), saved.learner.embed(graph))
    assert run.outcome == saved.outcome
    assert names(run.folder) == sorted(FILES)


def test_history_and_config_survive_a_round_trip(tmp_path):
    save(tmp_path)
    run = load_run(tmp_path)
    wanted = [(e.epoch, e.loss, e.val_auc, e.test_auc) for e in HISTORY]
    assert [tuple(record.values()) for record in run.history] == wanted
    assert all(list(r) == ["epoch", "loss", "val_auc", "test_auc"] for r in run.history)
    train = {k: v for k, v in CONFIG["train"].items() if v is not None}
    assert run.config == {**CONFIG, "train": train}


@pytest.mark.parametrize("kind", ["strings", "classes", "unknown", "integers", "features"])
def test_nodes_table_names_the_row_id_and_label_of_each_node(tmp_path, kind):
    graph = GRAPHS[kind]
    save(tmp_path, graph)
    with open(tmp_path / "nodes.csv", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    columns = [list(map(str, range(10))), [str(name) for name in graph.node_ids]]
    if graph.y is not None:
        columns.append(["" if label is None else str(label) for label in graph.labels()])
    assert names == ["index", "id", "label"][: len(columns)]
    assert rows == [list(row) for row in zip(*columns, strict=True)]


def test_ids_of_other_kinds_become_text(tmp_path):
    import networkx as nx

    graph = Graph.from_networkx(nx.grid_2d_graph(3, 4))
    save(tmp_path, graph)
    assert load_run(tmp_path).data.graph.node_ids.tolist() == [str(v) for v in graph.node_ids]


def test_classes_that_no_node_has_are_kept(tmp_path):
    graph = replace(ring(y=[0, 2] * 5), classes=np.array(["c", "b", "a"]))
    save(tmp_path, graph)
    assert load_run(tmp_path).data.graph == graph


def test_run_without_test_pairs_survives_a_round_trip(tmp_path):
    save(tmp_path, pairs=PairSet(np.empty((0, 2), dtype=np.int64), []))
    assert len(load_run(tmp_path).data.pairs) == 0


def test_metrics_hold_the_hashes_and_the_format(tmp_path):
    save(tmp_path)
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert found["format"] == runs.FORMAT == 2
    assert set(found["sha256"]) == {"model.safetensors", "graph.npz", "history.csv"}
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
    monkeypatch.undo()
    claim_folder(tmp_path, CONFIG, resume=False)
    with pytest.raises(PGNNError, match="is no run directory"):
        load_run(tmp_path)


def test_metrics_are_written_last(tmp_path, monkeypatch):
    written = []
    rename = os.replace
    monkeypatch.setattr("os.replace", lambda s, t: written.append(Path(t).name) or rename(s, t))
    save(tmp_path)
    assert written[0] == "config.toml"
    assert written[-1] == "metrics.json"
    assert sorted(written) == sorted(FILES)


def test_a_crash_while_a_file_is_written_keeps_the_old_one(tmp_path, monkeypatch):
    save(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}

    def cut_off(file, **arrays):
        file.write(b"PK")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", cut_off)
    other = make_learner(replace(SMALL, seed=1), [ring()])
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, ring(12), learner=other, resume=True)
    assert (tmp_path / "graph.npz").read_bytes() == before["graph.npz"]
    assert names(tmp_path) == sorted(FILES)
    with pytest.raises(PGNNError, match="is not the file that the run wrote"):
        load_run(tmp_path)  # the model is another already


def test_save_refuses_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(PGNNError, match="is not a folder"):
        save(tmp_path / "run")


# ---------------------------------------------------------------------- the beginning of a run


def test_claim_writes_the_options_before_anything_else(tmp_path):
    folder = tmp_path / "a" / "run"
    assert claim_folder(folder, CONFIG, resume=False)
    assert names(folder) == ["config.toml"]
    assert read_config(folder / "config.toml")["train"]["epochs"] == 3
    assert not claim_folder(folder, {"train": {"epochs": 4}}, resume=False)  # nothing was kept
    assert read_config(folder / "config.toml") == {"train": {"epochs": 4}}


def test_claim_refuses_a_finished_run(tmp_path):
    save(tmp_path)
    with pytest.raises(PGNNError, match="holds a finished run; give another out, or remove"):
        claim_folder(tmp_path, {}, resume=False)
    claim_folder(tmp_path, {}, resume=True)


def test_claim_refuses_a_run_that_was_cut_off(tmp_path):
    claim_folder(tmp_path, CONFIG, resume=False)
    (tmp_path / CHECKPOINT).write_bytes(b"the work of hours")
    with pytest.raises(PGNNError, match="holds a run that was cut off; go on with resume, give"):
        claim_folder(tmp_path, {}, resume=False)
    assert (tmp_path / CHECKPOINT).read_bytes() == b"the work of hours"
    assert not claim_folder(tmp_path, {}, resume=True)


def test_claim_of_a_run_that_goes_on_keeps_the_options_it_began_with(tmp_path):
    """Other options are refused later, by the checkpoint; they must not replace the true ones."""
    claim_folder(tmp_path, {"train": {"epochs": 10}}, resume=False)
    (tmp_path / CHECKPOINT).write_bytes(b"")
    claim_folder(tmp_path, {"train": {"epochs": 20}}, resume=True)
    assert read_config(tmp_path / "config.toml") == {"train": {"epochs": 10}}


def test_release_removes_options_only_where_nothing_else_was_kept(tmp_path):
    claim_folder(tmp_path, CONFIG, resume=False)
    release_folder(tmp_path)
    assert names(tmp_path) == []
    release_folder(tmp_path)
    claim_folder(tmp_path, CONFIG, resume=False)
    (tmp_path / CHECKPOINT).write_bytes(b"")
    release_folder(tmp_path)
    assert names(tmp_path) == [CHECKPOINT, "config.toml"]


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
    with pytest.raises(
        PGNNError, match=r"is not finished .it has no metrics.json.; resume its training first"
    ):
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
    save(tmp_path)
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 3}))
    with pytest.raises(PGNNError, match="format 3, newer than 2; update pgnn"):
        load_run(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz"])
def test_load_refuses_a_file_that_the_run_did_not_write(tmp_path, name):
    save(tmp_path / "a")
    other = make_learner(replace(SMALL, seed=1), [ring(12)])
    save(tmp_path / "b", ring(12), learner=other)
    (tmp_path / "a" / name).write_bytes((tmp_path / "b" / name).read_bytes())
    with pytest.raises(PGNNError, match=f"{name}: is not the file that the run wrote; train anew"):
        load_all(tmp_path / "a")


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz"])
def test_load_refuses_a_file_whose_hash_is_missing(tmp_path, name):
    save(tmp_path)
    found = json.loads((tmp_path / "metrics.json").read_text())
    del found["sha256"][name]
    (tmp_path / "metrics.json").write_text(json.dumps(found))
    with pytest.raises(PGNNError, match=f"{name}: is not the file"):
        load_all(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "graph.npz", "history.csv", "config.toml"])
def test_load_says_which_file_is_missing(tmp_path, name):
    save(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(PGNNError, match=name):
        load_all(tmp_path)


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
        load_all(folder)
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
        load_all(folder)
    seal(folder)
    with pytest.raises(PGNNError, match=name):
        load_all(folder)
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
        load_all(tmp_path)


def content(run):
    data = run.data
    return (
        data.graph.indices.tolist(),
        data.graph.node_ids.tolist(),
        data.seen.indices.tolist(),
        data.pairs.pairs.tolist(),
        {name: t.tolist() for name, t in run.learner.model.state_dict().items()},
    )


def test_file_of_a_large_graph_is_larger_and_says_the_same(tmp_path, monkeypatch):
    save(tmp_path / "small")
    monkeypatch.setattr(runs, "_COMPRESSED_ENTRIES", 0)
    save(tmp_path / "large")
    sizes = [(tmp_path / name / "graph.npz").stat().st_size for name in ("small", "large")]
    assert sizes[0] < sizes[1]
    small, large = (content(load_run(tmp_path / name))[:4] for name in ("small", "large"))
    assert small == large


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
    load = Learner.load
    if name == "graph.npz":
        load = lambda path: runs._read_data(path, path.read_bytes())  # noqa: E731
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
                load_all(tmp_path)
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
        load_all(tmp_path)


# ---------------------------------------------------------------------- read when it is needed


@pytest.fixture
def read_bytes(monkeypatch):
    """Keeps the names of the files that are read."""
    names = []
    original = runs.read_file
    monkeypatch.setattr(runs, "read_file", lambda p: names.append(p.name) or original(p))
    return names


def test_questions_to_the_learner_do_not_read_the_graph_of_the_run(tmp_path, read_bytes):
    save(tmp_path)
    read_bytes.clear()
    run = load_run(tmp_path)
    run.learner.embed(ring(14))
    run.learner.scorer(ring(14))([(0, 5)])
    assert "graph.npz" not in read_bytes
    assert run.data is run.data
    assert read_bytes.count("graph.npz") == 1


@pytest.mark.parametrize("how", ["removed", "damaged", "of another run"])
def test_learner_answers_without_the_graph_and_evaluate_says_what_is_missing(tmp_path, how):
    saved = save(tmp_path)
    path = tmp_path / "graph.npz"
    if how == "removed":
        path.unlink()
    elif how == "damaged":
        path.write_bytes(path.read_bytes()[:-20])
    else:
        save(tmp_path / "other", ring(12))
        path.write_bytes((tmp_path / "other" / "graph.npz").read_bytes())
    run = load_run(tmp_path)
    assert np.array_equal(run.learner.embed(ring(12)), saved.learner.embed(ring(12)))
    pairs = [(0, 1), (0, 5)]
    assert np.array_equal(run.learner.scorer(ring())(pairs), saved.learner.scorer(ring())(pairs))
    assert evaluate(run, ring(30), share=0.2).num_positive == 6  # another graph, told by its size
    words = "cannot be read .*; train anew" if how == "removed" else "is not the file that the run"
    with pytest.raises(PGNNError, match=rf"graph\.npz: {words}"):
        evaluate(run, ring())


# ---------------------------------------------------------------------- runs of format 1


def test_file_run_of_format_1_loads_and_answers_as_it_did():
    run = load_run(OLD_RUNS / "file")
    outcome = run.outcome
    assert (outcome.task, outcome.model, outcome.seed) == ("link", "pgnn-e-2l", 0)
    assert outcome.recipe == run.learner.recipe
    assert (outcome.recipe.variant, outcome.recipe.judged) == ("released", "model")
    assert outcome.graph == GraphFacts.of(run.data.graph)
    assert run.data.graph.node_ids[0] == "n0"
    assert run.data.graph.classes.tolist() == ["a", "b", "c"]
    assert [record["epoch"] for record in run.history] == [1, 2, 3]
    assert run.config == {"train": {"graph": "edges.csv", "epochs": 3}}
    again = evaluate(run, run.data.graph).metrics
    both = again.keys() & outcome.test.metrics.keys()
    assert {"roc_auc", "average_precision", "mrr"} <= both
    for name in both:
        assert again[name] == pytest.approx(outcome.test.metrics[name]), name


def test_run_of_format_1_with_a_model_of_the_same_name_is_refused_in_one_clear_line(tmp_path):
    """What was called pgnn-best then is another model now."""
    shutil.copytree(OLD_RUNS / "file", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model": "pgnn-best"}))
    with pytest.raises(PGNNError, match="of an earlier version, whose pgnn-best was another model"):
        load_run(tmp_path)


def test_data_set_run_of_format_1_loads_and_says_how_it_was_trained():
    run = load_run(OLD_RUNS / "dataset")
    outcome = run.outcome
    assert (outcome.task, outcome.model, outcome.seed) == ("pair", "pgnn-p-2l", 1)
    assert (outcome.experiment.column, outcome.experiment.protocol) == (
        "communities-pairs",
        "released",
    )
    recipe = outcome.recipe  # what was run, though the file of the model says otherwise
    assert (recipe.patience, recipe.max_pairs, recipe.eval_every) == (30, None, 10)
    assert (recipe.lr_drop, recipe.batch_graphs, recipe.reuse_draw) == (200, 8, True)
    assert (recipe.decoder, recipe.scheme, recipe.folds) == ("dot", "fixed", 0)
    assert run.learner.num_sets == outcome.num_sets == 64
    assert outcome.test_auc == outcome.test.metrics["roc_auc"] == 1.0
    assert evaluate(run, run.data.graph).metrics["roc_auc"] == 1.0
