"""One run of a cell: its record, its data, its seed."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from pgnn import PGNNError, datasets
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments.config import COLUMNS, setup_of
from pgnn.experiments.run import (
    Job,
    load_graphs,
    load_problem,
    recipe_of,
    run_heuristics,
    run_job,
    train_dataset,
)
from pgnn.nn import PRESETS, DistanceDecoder, DotDecoder
from pgnn.training import learner as learner_module
from pgnn.training.learner import make_learner
from pgnn.training.outcome import Experiment, Outcome
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe
from pgnn.training.runs import CHECKPOINT, load_run, read_config

FIELDS = {
    *("column", "model", "protocol", "seed", "test_auc", "val_auc", "best_epoch", "epochs"),
    *("seconds", "graphs", "settings", "command", "versions"),
}


# ---------------------------------------------------------------------- data


@pytest.mark.parametrize("protocol", ["paper", "released"])
def test_load_graphs_asks_for_the_data_of_the_setup(small_data, protocol):
    load_graphs("protein", setup_of("protein", protocol, "gcn"), 7, "somewhere")
    how = {"paper": ("feature", "paper"), "released": ("node", "released")}[protocol]
    assert small_data == [
        {"name": "protein", "seed": 7, "data_dir": "somewhere",
         "standardize": how[0], "keep": how[1]}
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["email", "protein"])
def test_load_graphs_leaves_out_graphs_without_pairs_to_tell_apart(small_data, column):
    graphs = load_graphs(column, setup_of(column, "paper", "gcn"), 0, None)
    assert [graph.num_nodes for graph in graphs] == [8, 9, 10, 11, 12]
    assert all(1 < len(np.unique(graph.y)) < graph.num_nodes for graph in graphs)


def test_load_graphs_keeps_all_graphs_for_links(small_data):
    assert len(load_graphs("ppi", setup_of("ppi", "paper", "gcn"), 0, None)) == 7


@pytest.mark.parametrize(("column", "num_nodes"), [("grid-t", 30), ("communities-t", 24)])
def test_load_graphs_gives_one_hot_columns_n_features(small_data, column, num_nodes):
    (graph,) = load_graphs(column, setup_of(column, "paper", "gcn"), 0, None)
    np.testing.assert_array_equal(graph.x, np.eye(num_nodes))


def test_load_graphs_leaves_other_columns_their_features(small_data):
    assert load_graphs("grid", setup_of("grid", "paper", "gcn"), 0, None)[0].x.shape == (30, 1)


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
    settings = record["settings"]
    assert (settings["protocol"], settings["standardize"], settings["keep"]) == (
        "released",
        "node",
        "released",
    )
    recipe = settings["recipe"]
    assert recipe["epochs"] == 2
    assert recipe["eval_draws"] == 8  # the model's, not the column's
    assert (recipe["patience"], recipe["max_pairs"], recipe["eval_every"]) == (30, None, 10)
    assert (recipe["task"], recipe["model"], recipe["variant"]) == (
        "link",
        "pgnn-p-2l",
        "released",
    )
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


def test_run_job_does_what_a_changed_setup_says(small_data):
    job = Job("grid", "gcn", "paper", 0)
    setup = setup_of("grid", "paper", "gcn")
    setup = replace(setup, recipe=replace(setup.recipe, decoder="dot"), standardize="node")
    record = run_job(job, epochs=2, setup=setup)
    assert record["settings"]["recipe"]["decoder"] == "dot"
    assert record["settings"]["standardize"] == small_data[0]["standardize"] == "node"


def test_problem_of_a_job_is_its_column_split_by_its_protocol(small_data):
    job = Job("email", "gcn", "released", 2)
    setup = setup_of("email", "released", "gcn")
    problem = load_problem(job, setup, command="pgnn train email")
    assert len(problem.graphs) == len(problem.splits) == 5
    assert not problem.standardise  # the data set has done it
    assert problem.experiment == Experiment("email", "released")
    assert problem.command == "pgnn train email"
    again = load_problem(job, setup)
    other = load_problem(replace(job, seed=3), setup)
    tests = [[s.test.pairs.tolist() for s in found.splits] for found in (problem, again, other)]
    assert tests[0] == tests[1] != tests[2]


def test_recipe_of_a_job_has_its_task_model_seed_and_epochs():
    setup = setup_of("email", "paper", "gin")
    recipe = recipe_of(Job("email", "gin", "paper", 4), setup)
    assert recipe == replace(setup.recipe, task="pair", model="gin", seed=4)
    assert recipe_of(Job("email", "gin", "paper", 4), setup, 7) == replace(recipe, epochs=7)


def made_for(column, model, protocol="paper"):
    """The learner of a job, not trained, and what it is for."""
    job, setup = Job(column, model, protocol, 0), setup_of(column, protocol, model)
    graphs = [split.graph for split in load_problem(job, setup).splits]
    return make_learner(recipe_of(job, setup), graphs, standardise=False)


def test_model_of_a_one_hot_column_reads_n_features(small_data):
    assert made_for("grid-t", "pgnn-e-1l").num_features == 30
    assert made_for("grid", "pgnn-e-1l").num_features == 0
    assert run_job(Job("grid-t", "pgnn-e-1l", "paper", 0), epochs=2)["epochs"] == 2


@pytest.mark.parametrize(
    ("protocol", "decoder", "scheme"),
    [("paper", DistanceDecoder, "bernoulli"), ("released", DotDecoder, "fixed")],
)
def test_learner_of_a_job_follows_the_setup(small_data, protocol, decoder, scheme):
    made = made_for("grid", "pgnn-f-2l", protocol)
    draws = made._draws(None)
    assert isinstance(made.decoder, decoder)
    assert (draws.proximity, draws.cutoff, draws.scheme) == ("hops", 2, scheme)
    draws = made_for("grid", "pgnn-p-2l", protocol)._draws(None)
    assert (draws.proximity, draws.c) == ("ppr", 4.0)
    assert made_for("grid", "gcn", protocol)._draws(None) is None


@pytest.mark.parametrize(("alpha", "tol"), [(0.3, 1e-3), (0.05, 1e-6)])
def test_alpha_and_tol_of_a_preset_reach_the_draws(small_data, monkeypatch, alpha, tol):
    preset = replace(PRESETS["pgnn-p-2l"], alpha=alpha, tol=tol)
    monkeypatch.setitem(PRESETS, "pgnn-p-2l", preset)
    drawn = []
    fit = learner_module.fit
    monkeypatch.setattr(
        learner_module, "fit", lambda *a, **more: drawn.append(more["draws"]) or fit(*a, **more)
    )
    run_job(Job("grid", "pgnn-p-2l", "paper", 0), epochs=1)
    assert [(draws.alpha, draws.tol, draws.c) for draws in drawn] == [(alpha, tol, preset.c)]


# ---------------------------------------------------------------------- one run, kept in a folder


@pytest.mark.parametrize("model", ["pgnn-e-2l", "pgnn-p-2l", "gcn"])
@pytest.mark.parametrize("protocol", ["paper", "released"])
def test_saved_recipe_of_a_data_set_run_is_what_was_run(small_data, tmp_path, model, protocol):
    outcome = train_dataset(
        "communities", "pair", model, protocol=protocol, seed=3, epochs=2, out=tmp_path
    )
    setup = setup_of("communities-pairs", protocol, model)
    wanted = replace(setup.recipe, task="pair", model=model, seed=3, epochs=2)
    loaded = load_run(tmp_path)
    assert outcome.recipe == loaded.outcome.recipe == loaded.learner.recipe == wanted
    assert (wanted.patience, wanted.max_pairs, wanted.eval_every) == (30, None, 10)
    assert wanted.variant == "released"
    assert replace(loaded.outcome, seconds=0) == replace(outcome, seconds=0)
    assert loaded.outcome.experiment == Experiment("communities-pairs", protocol)


def test_paper_variant_of_a_data_set_run_is_stored_and_loads_as_paper(small_data, tmp_path):
    job = Job("grid", "pgnn-e-2l", "paper", 0)
    setup = setup_of("grid", "paper", "pgnn-e-2l")
    setup = replace(setup, recipe=replace(setup.recipe, variant="paper"))
    assert run_job(job, epochs=2, setup=setup)["settings"]["recipe"]["variant"] == "paper"
    train(load_problem(job, setup), recipe_of(job, setup, 2), out=tmp_path)
    loaded = load_run(tmp_path)
    assert loaded.learner.recipe.variant == "paper"
    assert {layer.message for layer in loaded.learner.model.layers} == {"paper"}


def test_train_dataset_gives_the_result_of_the_job(small_data, tmp_path):
    outcome = train_dataset("grid", "link", "pgnn-e-1l", seed=1, epochs=3, out=tmp_path / "run")
    record = run_job(Job("grid", "pgnn-e-1l", "paper", 1), epochs=3)
    for name in ("test_auc", "val_auc", "best_epoch", "epochs", "command"):
        assert getattr(outcome, name) == record[name]
    assert asdict(outcome.recipe) == record["settings"]["recipe"]
    options = read_config(tmp_path / "run" / "config.toml")["train"]
    asked = {"graph": "grid", "task": "link", "model": "pgnn-e-1l", "protocol": "paper"}
    assert options == asked | {"one_hot": False, "seed": 1, "epochs": 3, "device": "cpu"}


def test_data_set_and_file_give_results_of_the_same_keys(small_data):
    by_name = train_dataset("email", "pair", "gcn", epochs=2).to_json()
    chosen = Recipe(model="gcn", epochs=2)
    by_file = train(Problem.of_graph(datasets.grid(5, 6), chosen), chosen).outcome.to_json()
    assert list(by_name) == list(by_file)
    assert list(by_name)[:5] == ["task", "model", "test_auc", "val_auc", "seconds"]
    assert set(by_name["heuristics"]) == set(by_file["heuristics"]) == set(HEURISTICS)
    assert Outcome.from_json(by_name).to_json() == by_name


def test_train_dataset_tells_progress_and_how_long_it_can_get(small_data):
    seen = []
    train_dataset("grid", "link", "gcn", epochs=3, progress=lambda e, most: seen.append((e, most)))
    assert [(epoch.epoch, most) for epoch, most in seen] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cora", "link", "gcn"), "no data set 'cora'; the names are communities, email"),
        (("email", "link", "gcn"), "the paper has no such experiment; it has grid --task link"),
        (("grid", "link", "gpt"), "model must be one of gcn, sage"),
    ],
)
def test_train_dataset_refuses_what_the_paper_does_not_have(small_data, arguments, words):
    with pytest.raises(PGNNError, match=words):
        train_dataset(*arguments)


def test_train_dataset_resumes_only_from_a_folder(small_data):
    with pytest.raises(PGNNError, match="resume needs out, the folder with the checkpoint"):
        train_dataset("grid", "link", "gcn", resume=True)


def test_data_set_run_cut_off_and_resumed_ends_as_if_it_had_not_been(
    small_data, tmp_path, monkeypatch
):
    monkeypatch.setattr("pgnn.training.fit._CHECKPOINT_SECONDS", -1.0)
    asked = {"epochs": 24}
    whole = train_dataset("communities", "link", "pgnn-e-2l", **asked)
    seen = []

    def stopped(epoch, _):
        seen.append(epoch.epoch)
        if epoch.epoch == 13:
            raise KeyboardInterrupt

    asked["out"] = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train_dataset("communities", "link", "pgnn-e-2l", progress=stopped, **asked)
    assert (tmp_path / "run" / CHECKPOINT).exists()
    with pytest.raises(PGNNError, match="holds a run that was cut off"):
        train_dataset("communities", "link", "pgnn-e-2l", **asked)
    resumed = train_dataset(
        "communities",
        "link",
        "pgnn-e-2l",
        resume=True,
        progress=lambda epoch, _: seen.append(epoch.epoch),
        **asked,
    )
    assert seen == [*range(1, 14), *range(13, 25)]  # the epoch of the interrupt was not stored
    assert replace(resumed, seconds=0) == replace(whole, seconds=0)


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
