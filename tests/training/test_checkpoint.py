"""Checkpoints: read back as written, whole or not at all, and a run goes on as if never cut off."""

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import kill_and_resume
from pgnn import PGNNError
from pgnn.datasets.synthetic import communities
from pgnn.nn import DistanceDecoder, make_baseline, make_pgnn
from pgnn.training import fit as train
from pgnn.training.batches import Draws
from pgnn.training.checkpoint import FORMAT, load_checkpoint, save_checkpoint
from pgnn.training.fit import fit
from pgnn.training.recipe import FitSettings
from pgnn.training.splits import Split, split_links

DTYPES = [
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool),
]


# ---------------------------------------------------------------------- the file


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (3, 2), (2, 1, 4)], ids=str)
def test_checkpoint_gives_back_tensors_to_the_bit(tmp_path, dtype, shape):
    tensor = torch.randint(0, 2, shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    save_checkpoint(tmp_path / "c", {"a": tensor, "b": tensor[None]}, {})
    found, _ = load_checkpoint(tmp_path / "c")
    assert found["a"].dtype == dtype
    assert found["a"].shape == shape
    assert torch.equal(found["a"], tensor)
    assert found["b"].shape == (1, *shape)


def test_checkpoint_takes_views_shared_memory_and_gradients(tmp_path):
    whole = torch.arange(12.0).reshape(3, 4).requires_grad_()
    tensors = {"whole": whole, "same": whole, "row": whole[1], "turned": whole.T}
    save_checkpoint(tmp_path / "c", tensors, {})
    found, _ = load_checkpoint(tmp_path / "c")
    assert set(found) == set(tensors)
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    found["same"].zero_()
    assert torch.equal(found["whole"], whole)


def test_checkpoint_keeps_not_a_number_and_infinity(tmp_path):
    save_checkpoint(tmp_path / "c", {"a": torch.tensor([np.nan, np.inf, -0.0])}, {"v": -np.inf})
    found, description = load_checkpoint(tmp_path / "c")
    assert found["a"].numpy().tobytes() == np.array([np.nan, np.inf, -0.0], "f4").tobytes()
    assert description == {"v": -np.inf}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30)
@given(description=st.dictionaries(st.text(), json_values, max_size=4))
def test_checkpoint_gives_back_the_description(tmp_path_factory, description):
    path = tmp_path_factory.mktemp("description") / "c"
    save_checkpoint(path, {"a": torch.ones(1)}, description)
    assert load_checkpoint(path)[1] == description


def test_checkpoint_is_json_and_numbers_and_no_pickle(tmp_path):
    """The whole file is accounted for: a length, a JSON header, the bytes of the tensors."""
    save_checkpoint(tmp_path / "c", {"a": torch.arange(6.0)}, {"epoch": 3})
    data = (tmp_path / "c").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    begin, end = header["a"]["data_offsets"]
    assert data[8 + length :][begin:end] == np.arange(6.0, dtype="f4").tobytes()
    assert len(data) == 8 + length + end
    found = json.loads(header["__metadata__"]["pgnn"])
    assert len(found.pop("sha256")) == 64
    assert found == {"format": FORMAT, "description": {"epoch": 3}}
    assert set(header) == {"a", "__metadata__"}


def whole_file(folder):
    save_checkpoint(folder / "c", {"a": torch.arange(50.0)}, {"epoch": 3})
    return (folder / "c").read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.01, 0.02, 0.1, 0.3, 0.5, 0.9, 0.999])
def test_checkpoint_cut_short_is_named(tmp_path, share):
    data = whole_file(tmp_path)
    (tmp_path / "c").write_bytes(data[: int(share * len(data))])
    with pytest.raises(PGNNError, match=r"c: the checkpoint is damaged .*; delete it") as caught:
        load_checkpoint(tmp_path / "c")
    assert str(tmp_path / "c") in str(caught.value)


@settings(max_examples=60)
@given(data=st.binary(max_size=200))
def test_checkpoint_of_any_bytes_is_named(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "random.bin"
    path.write_bytes(data)
    with pytest.raises(PGNNError, match=r"random\.bin: the checkpoint is damaged"):
        load_checkpoint(path)


@settings(max_examples=150)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_checkpoint_with_a_changed_byte_in_front_loads_or_is_named(tmp_path_factory, place, byte):
    folder = tmp_path_factory.mktemp("byte")
    data = bytearray(whole_file(folder))
    data[int(place * (len(data) - 200))] = byte
    (folder / "c").write_bytes(data)
    try:
        outcome = [len(tensor) for tensor in load_checkpoint(folder / "c")[0].values()]
    except PGNNError as error:
        outcome = str(error)
    assert outcome == [50] or str(folder / "c") in outcome


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (
            {"pgnn": f'{{"format": {FORMAT + 1}, "description": {{}}}}'},
            f"has format {FORMAT + 1}, newer than",
        ),
        ({"format": "pt"}, "damaged"),
        ({"pgnn": f'{{"format": {FORMAT}}}'}, "damaged"),
        ({"pgnn": f'{{"format": {FORMAT}, "description": 3}}'}, "damaged"),
        ({"pgnn": "{"}, "damaged"),
        ({"pgnn": "[]"}, "damaged"),
        (None, "damaged"),
    ],
)
def test_checkpoint_of_another_format_is_named(tmp_path, metadata, message):
    from safetensors.torch import save_file

    save_file({"a": torch.ones(2)}, tmp_path / "other", metadata)
    with pytest.raises(PGNNError, match=f"other: .*{message}"):
        load_checkpoint(tmp_path / "other")


@pytest.mark.parametrize("name", ["absent", "."])
def test_checkpoint_that_is_no_file_is_named(tmp_path, name):
    with pytest.raises(PGNNError, match="there is no such checkpoint") as caught:
        load_checkpoint(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_checkpoint_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch, step, error):
    before = whole_file(tmp_path)

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((PGNNError, KeyboardInterrupt)) as caught:
        save_checkpoint(tmp_path / "c", {"a": torch.zeros(3)}, {})
    if isinstance(error, OSError):
        assert isinstance(caught.value, PGNNError)
        assert "No space left" in str(caught.value)
    assert os.listdir(tmp_path) == ["c"]
    assert (tmp_path / "c").read_bytes() == before


# ---------------------------------------------------------------------- resuming


class CutOffError(Exception):
    """What a test raises in the middle of a run."""


SETTINGS = FitSettings(epochs=12, eval_every=3, lr_drop=5, max_pairs=40, eval_draws=2)
SPLIT = split_links(communities(4, 5, rng=0), rng=0)


def start(name, path=None, *, stop=None, error=CutOffError, splits=(SPLIT,), **options):
    """Train a small model from the same initial weights; return it and the course of training."""

    def progress(record):
        if record.epoch == stop:
            raise error

    torch.manual_seed(0)
    model = make_baseline(name, 1) if name == "gcn" else make_pgnn(name, 1, hidden_channels=8)
    options = {"settings": SETTINGS, "seed": 3, **options}
    draws = {"gcn": None, "pgnn-p-2l": Draws("ppr", num_sets=8)}.get(name, Draws(num_sets=8))
    options.setdefault("draws", draws)
    found = fit(model, DistanceDecoder(), splits, checkpoint=path, progress=progress, **options)
    return model, found


@pytest.fixture
def every_epoch(monkeypatch):
    monkeypatch.setattr(train, "_CHECKPOINT_SECONDS", -1.0)


def assert_same(one, other):
    (model_a, found_a), (model_b, found_b) = one, other
    assert asdict(replace(found_a, seconds=0)) == asdict(replace(found_b, seconds=0))
    states = model_a.state_dict(), model_b.state_dict()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.mark.usefixtures("every_epoch")
@pytest.mark.parametrize("name", ["pgnn-e-2l", "pgnn-p-2l", "gcn"])
@pytest.mark.parametrize("stops", [[1], [2], [3], [4], [7], [12], [2, 5, 5, 6, 11]], ids=str)
def test_resumed_run_equals_one_that_was_not_cut_off(tmp_path, name, stops):
    for stop in stops:
        with pytest.raises(CutOffError):
            start(name, tmp_path / "c", stop=stop, resume=True)
    assert (tmp_path / "c").exists() == (stops != [1])
    assert_same(start(name, tmp_path / "c", resume=True), start(name))


# SETTINGS evaluates in epoch 3 first; ten seconds pass before a checkpoint is due.
@pytest.mark.parametrize("name", ["pgnn-e-2l", "pgnn-p-2l", "gcn"])
@pytest.mark.parametrize("stop", [1, 4, 11])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_stopped_before_the_first_periodic_checkpoint_writes_one(tmp_path, name, stop, error):
    with pytest.raises(error):
        start(name, tmp_path / "c", stop=stop, error=error)
    assert 1 <= load_checkpoint(tmp_path / "c")[1]["epoch"] <= stop
    assert_same(start(name, tmp_path / "c", resume=True), start(name))


@pytest.mark.parametrize("step", [1, 2, 7])
def test_stopped_within_an_epoch_writes_the_last_whole_one(tmp_path, monkeypatch, step):
    """The state in the middle of an epoch could not be taken up."""
    monkeypatch.setattr(train, "_KEPT_SECONDS", -1.0)
    one_epoch, steps = train._Run._one_epoch, []

    def stopped(run, inputs):
        steps.append(run.epoch)
        record = one_epoch(run, inputs)
        if len(steps) == step:
            raise KeyboardInterrupt
        return record

    with monkeypatch.context() as patch:
        patch.setattr(train._Run, "_one_epoch", stopped)
        with pytest.raises(KeyboardInterrupt):
            start("pgnn-e-2l", tmp_path / "c")
    if step == 1:
        assert not (tmp_path / "c").exists()
    else:
        assert load_checkpoint(tmp_path / "c")[1]["epoch"] == step - 1
    assert_same(start("pgnn-e-2l", tmp_path / "c", resume=True), start("pgnn-e-2l"))


@pytest.mark.usefixtures("every_epoch")
def test_stopped_run_does_not_put_an_older_state_over_its_checkpoint(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        start("gcn", tmp_path / "c", stop=6, error=KeyboardInterrupt)
    assert load_checkpoint(tmp_path / "c")[1]["epoch"] == 5


@pytest.mark.parametrize("patience", [None, 1])
def test_resuming_a_finished_run_trains_no_more(tmp_path, patience):
    chosen = replace(SETTINGS, patience=patience, eval_every=1, lr=1e-9)
    first = start("gcn", tmp_path / "c", settings=chosen)
    assert first[1].stopped_early == (patience == 1)
    # The callback would raise at the first epoch trained, whichever it is.
    for epoch in range(1, 13):
        again = start("gcn", tmp_path / "c", settings=chosen, resume=True, stop=epoch)
    assert_same(first, again)


def test_run_without_resume_begins_anew(tmp_path):
    first = start("gcn", tmp_path / "c")
    assert_same(start("gcn", tmp_path / "c", resume=False), first)
    with pytest.raises(CutOffError):
        start("gcn", tmp_path / "c", resume=False, stop=1)


def same_sizes_other_edges():
    """A split that differs from SPLIT in nothing that can be counted."""
    other = split_links(communities(4, 5, rng=0), rng=1)
    assert len(other.train) == len(SPLIT.train)
    return other


@pytest.mark.parametrize(
    "options",
    [
        {"seed": 4},
        {"settings": replace(SETTINGS, lr=0.02)},
        {"settings": replace(SETTINGS, epochs=20)},
        {"draws": Draws(num_sets=9)},
        {"splits": [split_links(communities(4, 6, rng=0), rng=0)]},
        {"splits": [SPLIT, SPLIT]},
        pytest.param({"splits": [same_sizes_other_edges()]}, id="edges"),
        pytest.param(
            {"splits": [Split(SPLIT.graph, SPLIT.train, SPLIT.test, SPLIT.val)]},
            id="held-out pairs",
        ),
        pytest.param(
            {
                "splits": [
                    replace(SPLIT, graph=replace(SPLIT.graph, x=2 * np.asarray(SPLIT.graph.x)))
                ]
            },
            id="features",
        ),
    ],
)
def test_checkpoint_of_another_run_is_refused(tmp_path, options):
    start("pgnn-e-2l", tmp_path / "c")
    with pytest.raises(PGNNError, match=r"c: the checkpoint is of a run with other settings"):
        start("pgnn-e-2l", tmp_path / "c", resume=True, **options)


def test_checkpoint_of_another_model_is_refused(tmp_path):
    start("pgnn-e-2l", tmp_path / "c")
    with pytest.raises(PGNNError, match=r"c: the checkpoint is of a run with other settings"):
        start("gcn", tmp_path / "c", resume=True, draws=Draws(num_sets=8))


def test_checkpoint_of_a_model_with_another_gate_is_refused(tmp_path, monkeypatch):
    start("pgnn-e-2l", tmp_path / "c")
    build = make_pgnn
    monkeypatch.setitem(globals(), "make_pgnn", lambda *a, **k: build(*a, **k, variant="paper"))
    with pytest.raises(PGNNError, match="other settings"):
        start("pgnn-e-2l", tmp_path / "c", resume=True)


def test_damaged_checkpoint_stops_a_resumed_run(tmp_path):
    start("gcn", tmp_path / "c")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:-1])
    with pytest.raises(PGNNError, match="c: the checkpoint is damaged"):
        start("gcn", tmp_path / "c", resume=True)


# ---------------------------------------------------------------------- killed processes


def started(*arguments):
    command = [sys.executable, kill_and_resume.__file__, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def numbers_of(process):
    lines = process.communicate(timeout=120)[0].splitlines()
    assert process.returncode == 0
    return json.loads(lines[-1])


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    found = numbers_of(started(tmp_path_factory.mktemp("whole") / "run.safetensors"))
    assert len(found["history"]) == kill_and_resume.EPOCHS
    return found


def assert_finished_alike(found, expected, path):
    assert {**found, "starts": []} == expected
    # What a kill left of a file half written is hidden and named so that nobody reads it.
    left = [p.name for p in path.parent.iterdir() if p != path]
    assert all(name.startswith(f".{path.name}.") and name.endswith(".tmp") for name in left)
    assert load_checkpoint(path)[1]["epoch"] == kill_and_resume.EPOCHS


def test_run_killed_again_and_again_ends_with_the_same_numbers(tmp_path, uninterrupted):
    path = tmp_path / "run.safetensors"
    found = numbers_of(started(path, "--kills", 12))
    killed = [epoch for epoch in found["starts"] if epoch is not None]
    assert len(killed) >= 3  # all of them, unless the machine stood still for a second
    assert killed == sorted(killed)
    assert killed[-1] > 1
    assert_finished_alike(found, uninterrupted, path)


def test_killed_process_is_resumed_by_another(tmp_path, uninterrupted):
    path = tmp_path / "run.safetensors"
    process = started(path)
    assert process.stdout.readline()
    time.sleep(random.Random(0).uniform(0.1, 0.3))
    process.kill()
    process.communicate()
    assert process.returncode < 0
    other = started(path)
    assert int(other.stdout.readline()) > 1
    assert_finished_alike(numbers_of(other), uninterrupted, path)


def test_checkpoint_of_the_same_content_is_the_same_file(tmp_path):
    for name in ("one", "two"):
        save_checkpoint(tmp_path / name, {"a": torch.ones(2), "b": torch.zeros(1)}, {"x": 1})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("version", [1, 2])
def test_altered_tensors_and_descriptions_are_refused(tmp_path, version):
    save_checkpoint(tmp_path / "c", {"a": torch.arange(6.0)}, {"epoch": 3})
    data = (tmp_path / "c").read_bytes().replace(b'format\\": 2', b'format\\": %d' % version)
    (tmp_path / "c").write_bytes(data)
    assert load_checkpoint(tmp_path / "c")[1] == {"epoch": 3}
    for changed in (data[:-1] + b"\7", data.replace(b'epoch\\": 3', b'epoch\\": 4')):
        (tmp_path / "c").write_bytes(changed)
        with pytest.raises(PGNNError, match="its contents are not what was written"):
            load_checkpoint(tmp_path / "c")


def test_a_checkpoint_without_its_hash_is_refused(tmp_path):
    save_checkpoint(tmp_path / "c", {"a": torch.arange(6.0)}, {"epoch": 3})
    data = (tmp_path / "c").read_bytes().replace(b"sha256", b"sha257")
    (tmp_path / "c").write_bytes(data)
    with pytest.raises(PGNNError, match="the checkpoint is damaged"):
        load_checkpoint(tmp_path / "c")
