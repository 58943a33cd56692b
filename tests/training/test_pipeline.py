"""The one training pipeline: what a run says is what was run, stopped or not, kept or not."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.evaluation.judging import judge, judge_heuristics
from pgnn.io.write import locked_folder
from pgnn.training.checkpoint import load_checkpoint
from pgnn.training.fit import fit
from pgnn.training.outcome import Experiment, GraphFacts, Outcome
from pgnn.training.pipeline import Problem, split_graph, train
from pgnn.training.recipe import Recipe
from pgnn.training.runs import CHECKPOINT, load_run, read_config
from pgnn.training.splits import make_splits, split_links, split_pairs

QUICK = {
    "model": "pgnn-p-2l",
    "epochs": 3,
    "eval_every": 1,
    "eval_draws": 2,
    "hidden_channels": 8,
    "folds": 2,
}
OF_MODELS = ("auc_low", "auc_high", "brier", "calibration_error")


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def recipe(**settings):
    return Recipe(**{**QUICK, **settings})


def blocks(size=9, num_blocks=3, *, seed=0, weighted=False):
    """Communities in a ring."""
    rng = np.random.default_rng(seed)
    n = size * num_blocks
    edges = [
        (u, v) for u in range(n) for v in range(u) if u // size == v // size and rng.random() < 0.5
    ]
    edges += [(b * size, (b + 1) % num_blocks * size) for b in range(num_blocks)]
    return Graph.from_edges(
        edges,
        n,
        y=np.arange(n) // size,
        weights=0.25 + rng.random(len(edges)) if weighted else None,
        node_ids=[f"n{v}" for v in range(n)],
    )


def train_on(graph, folder=None, *, options=None, **settings):
    """Train on one graph; `options` are those of `train`."""
    chosen = recipe(**settings)
    return train(Problem.of_graph(graph, chosen), chosen, out=folder, **(options or {}))


def run_on(folder, graph, **settings):
    train_on(graph, folder, options={"config": {"train": {"graph": "g"}}}, **settings)
    return load_run(folder)


def unordered(pairs):
    return {frozenset((int(u), int(v))) for u, v in pairs}


def stop_after(epoch, error=KeyboardInterrupt):
    """A progress callback that presses Ctrl-C."""

    def progress(record):
        if record.epoch == epoch:
            raise error

    return progress


def assert_same_result(one, other):
    assert replace(one.outcome, seconds=0) == replace(other.outcome, seconds=0)
    assert one.fit.history == other.fit.history
    for first, second in (
        (one.learner.model, other.learner.model),
        (one.learner.decoder, other.learner.decoder),
    ):
        states = first.state_dict(), second.state_dict()
        assert states[0].keys() == states[1].keys()
        assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.fixture(scope="module")
def link_run(tmp_path_factory):
    return run_on(tmp_path_factory.mktemp("runs") / "link", blocks())


@pytest.fixture(scope="module")
def pair_run(tmp_path_factory):
    return run_on(tmp_path_factory.mktemp("runs") / "pair", blocks(), task="pair")


# ---------------------------------------------------------------------- problems


@pytest.mark.parametrize(("task", "maker"), [("link", split_links), ("pair", split_pairs)])
def test_split_graph_is_of_the_task_and_the_same_each_time(task, maker):
    chosen = recipe(task=task, val=0.2, test=0.2)
    one, two = split_graph(blocks(), chosen), split_graph(blocks(), chosen)
    sizes = [len(part) for part in (one.train, one.val, one.test)]
    alike = maker(blocks(), rng=0, val=0.2, test=0.2)
    assert sizes == [len(part) for part in (alike.train, alike.val, alike.test)]
    assert one.test.pairs.tolist() == two.test.pairs.tolist()
    other = split_graph(blocks(), replace(chosen, seed=1))
    assert one.test.pairs.tolist() != other.test.pairs.tolist()


def test_problem_of_a_graph_holds_it_and_its_split():
    problem = Problem.of_graph(blocks(), recipe())
    assert list(problem.graphs) == [blocks()]
    (split,) = problem.splits
    assert split.graph == split_graph(blocks(), recipe()).graph
    assert (problem.experiment, problem.command, problem.standardise) == (None, None, True)


# ---------------------------------------------------------------------- leakage


@pytest.mark.parametrize("model", ["pgnn-p-2l", "pgnn-e-2l", "sage"])
@pytest.mark.parametrize("weighted", [False, True])
def test_training_without_the_held_out_edges_gives_the_same_model(model, weighted):
    graph, chosen = blocks(weighted=weighted), recipe(model=model)
    split = split_graph(graph, chosen)
    assert split.graph.num_edges < graph.num_edges
    whole = train(Problem([graph], [split]), chosen)
    parted = train(Problem([split.graph], [split]), chosen)
    assert whole.outcome.graph != parted.outcome.graph
    parted = replace(parted, outcome=replace(parted.outcome, graph=whole.outcome.graph))
    assert_same_result(whole, parted)


# ---------------------------------------------------------------------- the run and its outcome


@pytest.mark.parametrize("task", ["link", "pair"])
def test_train_leaves_a_run_that_says_what_was_measured(task, link_run, pair_run):
    run = link_run if task == "link" else pair_run
    outcome, data = run.outcome, run.data
    assert (outcome.task, outcome.model, outcome.epochs) == (task, "pgnn-p-2l", 3)
    assert outcome.graph == GraphFacts.of(blocks())
    assert outcome.test_pairs == len(data.pairs) > 0
    scores = run.learner.scorer(data.seen)(data.pairs.pairs)
    ranked = judge(data.pairs.labels, scores)
    assert {name: outcome.test.metrics[name] for name in ranked} == ranked
    assert set(outcome.test.metrics) == {*ranked, *OF_MODELS}
    assert outcome.test_auc == outcome.test.metrics["roc_auc"]
    assert set(outcome.heuristics) == set(HEURISTICS)
    assert outcome.heuristics == judge_heuristics([(data.seen, data.pairs)])
    assert outcome.num_sets == run.learner.num_sets
    assert {"pgnn", "python", "torch", "numpy", "numba"} == set(outcome.versions)
    assert outcome.best_epoch in (1, 2, 3)
    best = run.history[outcome.best_epoch - 1]
    assert (best["epoch"], best["val_auc"]) == (outcome.best_epoch, outcome.val_auc)
    assert (outcome.experiment, outcome.command) == (None, None)
    assert run.config == {"train": {"graph": "g"}}
    assert data.graph == blocks()
    hidden = data.graph.num_edges - data.seen.num_edges
    assert hidden > 0 if task == "link" else hidden == 0
    assert not unordered(data.seen.edges()) & unordered(data.pairs.positives) or task == "pair"


def test_recipe_of_a_run_is_the_one_that_was_used(tmp_path, link_run):
    assert link_run.outcome.recipe == link_run.learner.recipe == recipe().resolved(27)
    left_open = train_on(blocks(), tmp_path, model="mlp", folds=None, eval_every=None)
    assert (left_open.outcome.recipe.folds, left_open.outcome.recipe.eval_every) == (5, 5)
    assert load_run(tmp_path).outcome.recipe == left_open.learner.recipe


def test_settings_of_the_loop_are_those_of_the_recipe_that_is_stored(monkeypatch):
    used = []

    def spied(*arguments, **more):
        used.append(more["settings"])
        return fit(*arguments, **more)

    monkeypatch.setattr("pgnn.training.learner.fit", spied)
    outcome = train_on(blocks(), patience=7, max_pairs=30, lr_drop=2).outcome
    assert used == [outcome.recipe.fit_settings()]
    assert (outcome.recipe.patience, outcome.recipe.max_pairs, outcome.recipe.lr_drop) == (7, 30, 2)


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_variant_is_stored_and_loaded(tmp_path, variant):
    trained = train_on(blocks(), tmp_path, model="pgnn-e-2l", variant=variant)
    run = load_run(tmp_path)
    assert run.outcome.recipe.variant == run.learner.recipe.variant == variant
    assert {layer.message for layer in run.learner.model.layers} == {variant}
    assert np.array_equal(run.learner.embed(blocks()), trained.learner.embed(blocks()))


def test_metrics_file_is_the_outcome_in_strict_json(link_run):
    text = (link_run.folder / "metrics.json").read_text()

    def refuse(name):
        raise AssertionError(name)

    document = json.loads(text, parse_constant=refuse)
    assert document.pop("format") == 2
    assert set(document.pop("sha256")) == {"model.safetensors", "graph.npz", "history.csv"}
    assert document == link_run.outcome.to_json()


def test_same_seed_gives_the_same_numbers_with_and_without_a_folder(tmp_path, link_run):
    again = run_on(tmp_path, blocks())
    assert replace(again.outcome, seconds=0) == replace(link_run.outcome, seconds=0)
    assert link_run.history == again.history
    assert_same_result(train_on(blocks()), train_on(blocks()))
    assert train_on(blocks()).outcome.test_auc == again.outcome.test_auc
    assert train_on(blocks(), seed=1).outcome.test_auc != again.outcome.test_auc


@pytest.mark.parametrize("task", ["link", "pair"])
def test_default_model_trains_stops_and_goes_on_for_both_tasks(tmp_path, task):
    chosen = Recipe(task=task, epochs=3)
    problem = Problem.of_graph(blocks(), chosen)
    trained = train(problem, chosen, out=tmp_path / "whole")
    assert trained.outcome.model == "pgnn-best"
    assert 0 <= trained.outcome.test_auc <= 1
    again = load_run(tmp_path / "whole").learner
    pairs = [(0, 1), (0, 20)]
    assert np.array_equal(again.scorer(blocks())(pairs), trained.learner.scorer(blocks())(pairs))
    with pytest.raises(KeyboardInterrupt):
        train(problem, chosen, out=tmp_path / "cut", progress=stop_after(2))
    with pytest.raises(PGNNError, match="holds a run that was cut off"):
        train(problem, chosen, out=tmp_path / "cut")
    resumed = train(problem, chosen, out=tmp_path / "cut", resume=True)
    assert replace(resumed.outcome, seconds=0) == replace(trained.outcome, seconds=0)
    assert resumed.fit.history == trained.fit.history


def test_without_test_pairs_nothing_is_judged(tmp_path):
    run = run_on(tmp_path, blocks(), test=0)
    outcome = run.outcome
    assert (outcome.test_auc, outcome.test, outcome.test_pairs) == (None, None, 0)
    assert outcome.heuristics == {}
    assert len(run.data.pairs) == 0
    assert train_on(blocks(), test=0).fit.test_auc is None


def test_heuristics_can_be_left_out():
    assert train_on(blocks(), options={"heuristics": False}).outcome.heuristics == {}


# ---------------------------------------------------------------------- several graphs


def several(protocol="paper"):
    """Five graphs, some of them held out whole, and what the paper calls them."""
    graphs = [replace(blocks(size=size), x=np.ones((3 * size, 1))) for size in (4, 5, 6, 7, 8)]
    return Problem(
        graphs,
        make_splits(graphs, "pair", rng=0, protocol=protocol),
        standardise=False,
        experiment=Experiment("email", protocol),
        command="pgnn train email",
    )


@pytest.mark.parametrize("protocol", ["paper", "released"])
@pytest.mark.parametrize(("draws", "reuse"), [(1, False), (3, False), (1, True)])
def test_result_of_the_best_epoch_is_judged_where_the_recipe_says_so(protocol, draws, reuse):
    problem = several(protocol)
    chosen = recipe(
        task="pair", judged="epoch", eval_draws=draws, reuse_draw=reuse, batch_graphs=2, folds=0
    )
    trained = train(problem, chosen)
    outcome = trained.outcome
    assert outcome.test_auc == pytest.approx(trained.fit.test_auc, abs=1e-12)
    assert outcome.val_auc == trained.fit.val_auc
    assert outcome.test_pairs == outcome.test.num_pairs == sum(len(s.test) for s in problem.splits)
    assert len(trained.fit.test_scores) == outcome.test_pairs
    by_model = train(problem, replace(chosen, judged="model"))
    tested = [split for split in problem.splits if len(split.test)]
    aucs = [
        judge(s.test.labels, by_model.learner.scorer(s.graph)(s.test.pairs))["roc_auc"]
        for s in tested
    ]
    assert by_model.outcome.test_auc == pytest.approx(np.mean(aucs))


def test_run_on_several_graphs_keeps_the_first_that_it_was_judged_by(tmp_path):
    problem = several()
    outcome = train(problem, recipe(task="pair"), out=tmp_path).outcome
    run = load_run(tmp_path)
    assert run.outcome == outcome
    first = next(i for i, split in enumerate(problem.splits) if len(split.test))
    assert run.data.graph == problem.graphs[first]
    assert run.data.pairs.pairs.tolist() == problem.splits[first].test.pairs.tolist()
    assert outcome.graph == GraphFacts.of(*problem.graphs)
    assert (outcome.graph.graphs, outcome.graph.nodes) == (5, 90)
    assert outcome.experiment == Experiment("email", "paper")
    assert outcome.command == "pgnn train email"
    assert run.learner.num_features == 0


# ---------------------------------------------------------------------- stopped and taken up


def test_finished_run_is_not_overwritten(link_run):
    before = {path.name: path.read_bytes() for path in link_run.folder.iterdir()}
    with pytest.raises(PGNNError, match="holds a finished run"):
        train_on(blocks(), link_run.folder, seed=1)
    assert {path.name: path.read_bytes() for path in link_run.folder.iterdir()} == before


def test_options_are_in_the_folder_while_training_runs(tmp_path):
    seen = []
    options = {
        "config": {"train": {"graph": "edges.csv", "seed": None}},
        "progress": lambda _: seen.append(read_config(tmp_path / "run" / "config.toml")),
    }
    train_on(blocks(), tmp_path / "run", options=options)
    assert seen == [{"train": {"graph": "edges.csv"}}] * 3


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_stopped_before_the_first_periodic_checkpoint_goes_on_to_the_same_result(
    tmp_path, link_run, stop
):
    """A validation AUC was shown in epoch 1, and ten seconds have not passed."""
    with pytest.raises(KeyboardInterrupt):
        train_on(blocks(), tmp_path, options={"progress": stop_after(stop)})
    assert sorted(path.name for path in tmp_path.iterdir()) == [CHECKPOINT, "config.toml"]
    assert load_checkpoint(tmp_path / CHECKPOINT)[1]["epoch"] >= 1
    with pytest.raises(PGNNError, match=r"is not finished .*; resume its training first"):
        load_run(tmp_path)
    seen = []
    resumed = train_on(blocks(), tmp_path, options={"resume": True, "progress": seen.append})
    assert seen[-1].epoch == 3
    assert seen[0].epoch > 1
    assert replace(resumed.outcome, seconds=0) == replace(link_run.outcome, seconds=0)
    assert load_run(tmp_path).history == link_run.history


def test_cut_off_run_is_refused_without_resume(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train_on(blocks(), tmp_path, options={"progress": stop_after(2)})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(PGNNError, match="holds a run that was cut off; go on with resume"):
        train_on(blocks(), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_resuming_with_other_settings_is_refused_and_changes_nothing(tmp_path):
    options = {"config": {"train": {"epochs": 3}}, "progress": stop_after(2)}
    with pytest.raises(KeyboardInterrupt):
        train_on(blocks(), tmp_path, options=options)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    options = {"config": {"train": {"epochs": 30}}, "resume": True}
    with pytest.raises(PGNNError, match="of a run with other settings, data or seed"):
        train_on(blocks(), tmp_path, options=options, epochs=30)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_resuming_a_finished_run_gives_it_again(tmp_path):
    first = train_on(blocks(), tmp_path)
    seen = []
    again = train_on(blocks(), tmp_path, options={"resume": True, "progress": seen.append})
    assert seen == []
    assert_same_result(first, again)


@pytest.mark.parametrize(
    ("options", "settings"),
    [({"device": "nonsense"}, {}), ({}, {"folds": 10**6}), ({}, {"lr": 1e30, "decoder": "dot"})],
    ids=["device", "folds", "rate"],
)
def test_failed_training_leaves_no_file(tmp_path, options, settings):
    with pytest.raises(PGNNError, match=r"cannot be used|number of folds|loss is"):
        train_on(blocks(), tmp_path / "run", options=options, **settings)
    assert not (tmp_path / "run").exists() or list((tmp_path / "run").iterdir()) == []


def test_failed_training_keeps_a_file_that_was_there(tmp_path):
    (tmp_path / "config.toml").write_text("mine = true\n")
    with pytest.raises(PGNNError, match="number of folds"):
        train_on(blocks(), tmp_path, folds=10**6)
    assert (tmp_path / "config.toml").exists()


# ---------------------------------------------------------------------- one form of result


def test_file_and_data_set_have_the_same_keys():
    by_file = train_on(blocks()).outcome.to_json()
    by_data_set = train(several(), recipe(task="pair", judged="epoch")).outcome.to_json()
    assert list(by_file) == list(by_data_set)
    assert list(by_file)[:5] == ["task", "model", "test_auc", "val_auc", "seconds"]
    for document in (by_file, by_data_set):
        assert Outcome.from_json(document).to_json() == document
    assert asdict(GraphFacts.of(blocks())) == by_file["graph"]


def test_two_trainings_into_one_folder_are_kept_apart(tmp_path):
    recipe = Recipe(model="pgnn-e-1l", epochs=1, num_sets=2)
    ring = Graph.from_edges([(v, (v + 1) % 30) for v in range(30)])
    with locked_folder(tmp_path), pytest.raises(PGNNError, match="another process is writing"):
        train(Problem.of_graph(ring, recipe), recipe, out=tmp_path)
    assert list(tmp_path.iterdir()) == []
