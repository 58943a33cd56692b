"""The store of results."""

import json

import pytest

from pgnn import PGNNError
from pgnn.experiments import store as experiments_store
from pgnn.experiments.store import Store


def test_store_gives_back_what_was_added(record, tmp_path):
    store = Store(tmp_path / "folder" / "runs.jsonl")
    assert store.records() == []
    assert not store.path.exists()
    added = [record(seed=seed, settings={"fit": {"lr": 0.01}}) for seed in range(3)]
    for one in added:
        store.add(one)
    assert store.records() == added == Store(str(store.path)).records()
    assert len(store.path.read_text().splitlines()) == 3


def test_store_keeps_lines_it_did_not_write(record, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(record(seed=8)) + "\n")
    Store(path).add(record(seed=9))
    assert [found["seed"] for found in Store(path).records()] == [8, 9]


@pytest.mark.parametrize("length", [1, 2, 20, -2])
def test_store_ignores_a_line_that_was_cut_off_and_begins_a_new_one(record, tmp_path, length):
    store = Store(tmp_path / "runs.jsonl")
    store.add(record(seed=0))
    store.add(record(seed=1))
    first, second = store.path.read_text().splitlines(keepends=True)
    store.path.write_text(first + second[:length])
    store = Store(store.path)
    assert store.records() == [record(seed=0)]
    assert not store.has("grid", "gcn", "paper", 1)
    store.add(record(seed=2))
    assert store.records() == [record(seed=0), record(seed=2)] == Store(store.path).records()
    assert store.path.read_text().endswith("\n")


def test_store_reads_a_whole_line_that_only_lacks_its_end(record, tmp_path):
    store = Store(tmp_path / "runs.jsonl")
    store.path.write_text(json.dumps(record(seed=0)))
    store.add(record(seed=1))
    assert store.records() == [record(seed=0), record(seed=1)]


def test_store_has_the_runs_that_were_added(record, tmp_path):
    store = Store(tmp_path / "runs.jsonl")
    runs = [
        ("grid", "gcn", "paper", 0),
        ("grid", "gcn", "paper", 1),
        ("grid", "gcn", "released", 0),
        ("grid", "gin", "paper", 0),
        ("grid-t", "gcn", "paper", 0),
    ]
    for ready, run in enumerate(runs):
        assert [store.has(*other) for other in runs] == [place < ready for place in range(5)]
        store.add(record(*run))
    assert all(Store(store.path).has(*run) for run in runs)


def test_a_record_that_does_not_count_is_made_anew_and_kept_behind(record, tmp_path):
    path = tmp_path / "runs.jsonl"
    Store(path).add(record(seed=0, epochs=20))
    Store(path).add(record(seed=1, epochs=400))
    store = Store(path, counts=lambda run: run["epochs"] >= 300)
    assert [store.has("grid", "gcn", "paper", seed) for seed in (0, 1)] == [False, True]
    store.add_new([record(seed=0, epochs=310), record(seed=1, epochs=999)])
    assert [run["epochs"] for run in Store(path).records()] == [20, 400, 310]
    assert store.has("grid", "gcn", "paper", 0)


def test_store_is_read_once(record, tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    Store(path).add(record(seed=0))
    reads = []
    read_file = experiments_store.read_file
    monkeypatch.setattr(
        experiments_store, "read_file", lambda path: reads.append(path) or read_file(path)
    )
    store = Store(path)
    for seed in range(1, 5):
        assert not store.has("grid", "gcn", "paper", seed)
        store.add(record(seed=seed))
        assert len(store.records()) == seed + 1
    assert reads == [path]


def test_store_of_other_lines_is_refused(tmp_path):
    (tmp_path / "runs.jsonl").write_text("[1, 2]\n")
    with pytest.raises(PGNNError, match="no records of runs"):
        Store(tmp_path / "runs.jsonl").records()


@pytest.mark.parametrize("where", ["a file/runs.jsonl", "a folder"])
def test_store_that_cannot_be_written_says_so(record, tmp_path, where):
    (tmp_path / "a file").write_text("")
    (tmp_path / "a folder").mkdir()
    with pytest.raises(PGNNError, match=f"{where}: cannot be (written|read)"):
        Store(tmp_path / where).add(record())


def test_store_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(PGNNError, match="cannot be read"):
        Store(tmp_path).records()


@pytest.mark.parametrize(
    "line",
    [
        '{"column": 3}', '{"test_auc": "x"}', '{"seed": 1.5}', '{"versions": []}', "[]", "3",
        '{"versions": {"a": 1}}', '{"seconds": 1e400}', "[" * 100_000, '{"column": "a"}',
    ],
)  # fmt: skip
def test_lines_of_another_kind_are_refused(record, tmp_path, line):
    path = tmp_path / "reproduction.jsonl"
    path.write_text(json.dumps(record(seed=0)) + "\n" + line + "\n")
    with pytest.raises(PGNNError, match=r"reproduction\.jsonl: "):
        Store(path).records()


def test_a_full_disk_leaves_no_half_line(record, tmp_path, monkeypatch):
    store = Store(tmp_path / "runs.jsonl")
    store.add(record(seed=0))
    before = store.path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    one = record(seed=1)
    with monkeypatch.context() as patch:
        patch.setattr(experiments_store.os, "fsync", full)
        with pytest.raises(PGNNError, match="No space left"):
            store.add(one)
    assert store.path.read_bytes() == before
    store.add(record(seed=1))
    assert len(Store(store.path).records()) == 2
