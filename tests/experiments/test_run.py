"""One run of a cell: its record, its data, its seed."""

import json

import numpy as np
import pytest

from pgnn import datasets
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments import run
from pgnn.experiments.config import COLUMNS, setup_of
from pgnn.experiments.run import (
    Job,
    load_graphs,
    run_heuristics,
    run_job,
    train_job,
)
from pgnn.nn import DistanceDecoder, DotDecoder

FIELDS = {
    *("column", "model", "protocol", "seed", "test_auc", "val_auc", "best_epoch", "epochs"),
    *("seconds", "graphs", "settings", "command", "versions"),
}


# ---------------------------------------------------------------------- data


@pytest.mark.parametrize("protocol", ["paper", "released"])
def test_load_graphs_asks_for_the_data_of_the_setup(small_data, protocol):
    load_graphs("protein", protocol, 7, "somewhere")
    how = {"paper": ("feature", "paper"), "released": ("node", "released")}[protocol]
    assert small_data == [
        {"name": "protein", "seed": 7, "data_dir": "somewhere",
         "standardize": how[0], "keep": how[1]}
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["email", "protein"])
def test_load_graphs_leaves_out_graphs_without_pairs_to_tell_apart(small_data, column):
    graphs = load_graphs(column, "paper", 0, None)
    assert [graph.num_nodes for graph in graphs] == [8, 9, 10, 11, 12]
    assert all(1 < len(np.unique(graph.y)) < graph.num_nodes for graph in graphs)


def test_load_graphs_keeps_all_graphs_for_links(small_data):
    assert len(load_graphs("ppi", "paper", 0, None)) == 7


@pytest.mark.parametrize(("column", "num_nodes"), [("grid-t", 30), ("communities-t", 24)])
def test_load_graphs_gives_one_hot_columns_n_features(small_data, column, num_nodes):
    (graph,) = load_graphs(column, "paper", 0, None)
    np.testing.assert_array_equal(graph.x, np.eye(num_nodes))


def test_load_graphs_leaves_other_columns_their_features(small_data):
    assert load_graphs("grid", "paper", 0, None)[0].x.shape == (30, 1)


# ---------------------------------------------------------------------- one run


@pytest.mark.parametrize("model", ["gcn", "mlp", "pgnn-f-1l", "pgnn-e-2l", "pgnn-p-2l"])
@pytest.mark.parametrize("protocol", ["paper", "released"])
def test_run_job_gives_a_whole_record(small_data, model, protocol):
    record = run_job(Job("grid", model, protocol, 1), epochs=3)
    assert set(record) == FIELDS
    assert (record["column"], record["model"]) == ("grid", model)
    assert (record["protocol"], record["seed"]) == (protocol, 1)
    assert 0 <= record["test_auc"] <= 1
    assert 0 <= record["val_auc"] <= 1
    assert (record["epochs"], record["best_epoch"], record["graphs"]) == (3, 3, 1)
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_run_job_records_the_settings_and_versions_it_ran_with(small_data):
    record = run_job(Job("grid", "pgnn-p-2l", "released", 0), epochs=2)
    assert record["settings"]["protocol"] == "released"
    assert record["settings"]["fit"]["epochs"] == 2
    assert record["settings"]["fit"]["eval_draws"] == 8  # the preset's, not the column's
    assert set(record["versions"]) == {"pgnn", "python", "torch", "numpy", "numba"}
    assert all(isinstance(version, str) and version for version in record["versions"].values())


@pytest.mark.parametrize("model", ["gin", "pgnn-e-2l"])
def test_run_job_same_seed_gives_the_same_result(small_data, model):
    import torch

    def result(seed):
        torch.rand(seed + 3)  # what was drawn before does not matter
        record = run_job(Job("communities", model, "paper", seed), epochs=5)
        return record["test_auc"], record["val_auc"], record["best_epoch"]

    assert result(0) == result(0)
    assert len({result(seed) for seed in range(3)}) > 1


def test_run_job_leaves_the_random_numbers_of_torch_alone(small_data):
    import torch

    before = torch.random.get_rng_state()
    run_job(Job("grid", "pgnn-e-1l", "paper", 0), epochs=2)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_run_job_counts_only_graphs_with_pairs(small_data):
    assert run_job(Job("email", "gcn", "paper", 0), epochs=2)["graphs"] == 5


def test_run_job_of_a_one_hot_column_reads_n_features(small_data, monkeypatch):
    channels = []
    make = run.make_model

    def spy(name, in_channels, setup, seed):
        channels.append(in_channels)
        return make(name, in_channels, setup, seed)

    monkeypatch.setattr(run, "make_model", spy)
    run_job(Job("grid-t", "pgnn-e-1l", "paper", 0), epochs=2)
    assert channels == [30]


@pytest.mark.parametrize(
    ("protocol", "decoder", "scheme"),
    [("paper", DistanceDecoder, "bernoulli"), ("released", DotDecoder, "fixed")],
)
def test_make_model_follows_the_setup(protocol, decoder, scheme):
    setup = setup_of("grid", protocol)
    _, made, draws = run.make_model("pgnn-f-2l", 1, setup, 0)
    assert isinstance(made, decoder)
    assert (draws.proximity, draws.cutoff, draws.scheme) == ("hops", 2, scheme)
    _, _, draws = run.make_model("pgnn-p-2l", 1, setup, 0)
    assert (draws.proximity, draws.c) == ("ppr", 4.0)
    assert run.make_model("gcn", 1, setup, 0)[2] is None


def test_run_job_cut_off_and_resumed_ends_as_if_it_had_not_been(small_data, tmp_path, monkeypatch):
    from pgnn.training import fit as train

    monkeypatch.setattr(train, "_CHECKPOINT_SECONDS", 0.0)
    job = Job("communities", "pgnn-e-2l", "paper", 0)
    whole = train_job(job, epochs=24).record
    seen = []

    def killed(epoch):
        seen.append(epoch.epoch)
        if epoch.epoch == 13:
            raise KeyboardInterrupt

    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(KeyboardInterrupt):
        train_job(job, epochs=24, checkpoint=path, progress=killed)
    resumed = train_job(
        job,
        epochs=24,
        checkpoint=path,
        resume=True,
        progress=lambda epoch: seen.append(epoch.epoch),
    ).record
    assert seen == [*range(1, 14), *range(13, 25)]  # the cut-off epoch was not stored
    for name in ("test_auc", "val_auc", "best_epoch", "epochs"):
        assert resumed[name] == whole[name]


# ---------------------------------------------------------------------- heuristics


@pytest.mark.parametrize("column", ["grid", "communities-pairs", "email"])
@pytest.mark.parametrize("protocol", ["paper", "released"])
def test_run_heuristics_gives_a_record_each(small_data, column, protocol):
    records = run_heuristics(column, protocol, 3, None)
    assert [record["model"] for record in records] == list(HEURISTICS)
    for record in records:
        assert set(record) == {
            *("column", "model", "protocol", "seed", "test_auc", "seconds", "command", "versions")
        }
        assert (record["column"], record["protocol"], record["seed"]) == (column, protocol, 3)
        assert 0 <= record["test_auc"] <= 1
    assert json.loads(json.dumps(records, allow_nan=False)) == records


def test_run_heuristics_scores_the_pairs_that_models_are_judged_by(small_data):
    from pgnn.evaluation.heuristics import heuristic_scores
    from pgnn.evaluation.metrics import roc_auc
    from pgnn.training.splits import make_splits

    (split,) = make_splits([datasets.grid(5, 6)], "link", rng=2, protocol="paper")
    for record in run_heuristics("grid", "paper", 2, None):
        scores = heuristic_scores(split.graph, split.test.pairs, record["model"])
        assert record["test_auc"] == roc_auc(split.test.labels, scores)


def test_every_column_can_be_run_under_both_protocols(small_data):
    for column in COLUMNS:
        for protocol in ("paper", "released"):
            record = run_job(Job(column, "mlp", protocol, 0), epochs=1)
            assert 0 <= record["test_auc"] <= 1
