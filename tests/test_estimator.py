"""PGNNEmbedding: scikit-learn's own checks, and what they cannot know of graphs."""

import copy
import inspect
import json
import pickle
import pickletools
import random
from dataclasses import asdict, replace

import joblib
import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from pgnn.errors import PGNNError
from pgnn.estimator import PGNNEmbedding
from pgnn.evaluation.metrics import roc_auc
from pgnn.graph import Graph
from pgnn.graph.like import as_graph
from pgnn.training.learner import Learner
from pgnn.training.pipeline import split_graph
from pgnn.training.recipe import Recipe

FLAT = ("task", "model", "epochs", "random_state", "device", "verbose")


def quick(**changes):
    """Settings that train in no time: few that the estimator has, the others in a recipe."""
    settings = {"eval_every": 1, "num_sets": 8, "hidden_channels": 8, "eval_draws": 2}
    settings |= {name: value for name, value in changes.items() if name not in FLAT}
    flat = {name: value for name, value in changes.items() if name in FLAT}
    model = flat.setdefault("model", "pgnn-e-1l")
    return {"epochs": 2, "recipe": Recipe(model=model, **settings), **flat}


QUICK = quick()
# The checks' data are matrices of positive numbers: complete graphs, which have no missing links.
CHECKED = PGNNEmbedding(task="pair", **quick(epochs=1, num_sets=4, eval_draws=1))
NOT_APPLICABLE = {
    "check_n_features_in": "n_features_in_ counts features per node; a matrix of edges has none",
    "check_n_features_in_after_fitting": "transform takes graphs of any size",
    "check_methods_sample_order_invariance": "renumbered nodes draw other anchor-sets",
    "check_methods_subset_invariance": "a part of the rows of an adjacency matrix is no graph",
    "check_fit_idempotent": "it cuts rows out of an adjacency matrix, and keeps all columns",
    "check_fit2d_1sample": "one node is refused, in words of nodes and labels, not of samples",
    "check_fit2d_1feature": "its labels are all equal, which is refused; nodes have no features",
}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # graphs this small only lose time by sharing
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def caves():
    return as_graph(nx.connected_caveman_graph(6, 5))


@pytest.fixture(scope="module")
def labels():
    return np.repeat(np.arange(6), 5)


@pytest.fixture(scope="module")
def fitted(caves):
    return PGNNEmbedding(**QUICK).fit(caves)


def same_fit(first, second):
    return np.array_equal(first.embedding_, second.embedding_) and (
        first.history_ == second.history_ and first.test_auc_ == second.test_auc_
    )


# ---------------------------------------------------------------------- scikit-learn's checks


@parametrize_with_checks([CHECKED], expected_failed_checks=lambda _: NOT_APPLICABLE)
def test_estimator_passes_scikit_learn(estimator, check):
    """One that fails must be listed above; one listed that passes fails too (xfail is strict)."""
    assert check(estimator) is None


def test_checks_listed_as_not_applicable_exist():
    checks = [check.func for _, check in estimator_checks_generator(CHECKED)]
    names = {getattr(check, "func", check).__name__ for check in checks}  # partials of partials
    assert set(NOT_APPLICABLE) <= names
    assert len(names) > 40


# ---------------------------------------------------------------------- settings


def test_parameters_are_few_and_a_recipe():
    parameters = inspect.signature(PGNNEmbedding).parameters
    assert list(parameters) == ["task", "model", "epochs", "random_state", "recipe", "device",
                                "verbose"]  # fmt: skip
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert (defaults.pop("device"), defaults.pop("verbose")) == ("cpu", False)
    assert set(defaults.values()) == {None}  # the recipe's


def test_settings_without_a_recipe_are_those_the_library_recommends():
    assert PGNNEmbedding()._recipe() == Recipe()
    assert PGNNEmbedding("pair", model="gcn", epochs=3, random_state=5)._recipe() == Recipe(
        task="pair", model="gcn", epochs=3, seed=5
    )


def test_recipe_is_what_is_trained_by(caves):
    settings = {"dropout": 0.1, "folds": 2, "lr": 0.02, "val": 0.2, "test": 0.2, "patience": 3}
    recipe = Recipe(model="pgnn-e-1l", epochs=2, eval_every=1, num_sets=4, seed=5, **settings)
    assert PGNNEmbedding(recipe=recipe).fit(caves).learner_.recipe == recipe.resolved(30)


def test_parameters_win_over_the_recipe(caves):
    recipe = Recipe(task="pair", model="gcn", epochs=9, seed=7, eval_every=1, folds=2)
    flat = {"task": "link", "model": "mlp", "epochs": 2, "random_state": 0}
    used = PGNNEmbedding(**flat, recipe=recipe).fit(caves).learner_.recipe
    assert used == replace(recipe, task="link", model="mlp", epochs=2, seed=0).resolved(30)


def test_settings_can_be_searched_by_whole_recipes(caves):
    estimator = PGNNEmbedding(**QUICK)
    other = replace(QUICK["recipe"], num_sets=5)
    assert estimator.set_params(recipe=other).fit(caves).num_sets_ == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task", "node"),
        ("model", "gpt"),
        ("epochs", 0),
        ("epochs", 2.5),
        ("random_state", -1),
        ("random_state", True),
        ("recipe", {"lr": 0.1}),
        ("recipe", "fast"),
        ("device", "nonsense"),
    ],
)
def test_wrong_settings_are_refused_in_fit_only(caves, name, value):
    estimator = PGNNEmbedding().set_params(**{name: value})
    with pytest.raises(PGNNError, match=name):
        estimator.fit(caves)


def test_numbers_of_numpy_are_settings_too(caves, fitted):
    numbers = {n: v for n, v in asdict(QUICK["recipe"]).items() if type(v) in (int, float)}
    recipe = replace(QUICK["recipe"], **{n: np.array([v])[0] for n, v in numbers.items()})
    settings = {**QUICK, "epochs": np.int64(2), "recipe": recipe}
    found = PGNNEmbedding(random_state=np.int64(0), **settings).fit(caves)
    assert same_fit(found, fitted)
    assert json.dumps(asdict(found.learner_.recipe))  # so it can be saved


def test_repr_names_what_differs_from_defaults():
    assert repr(PGNNEmbedding(epochs=3)) == "PGNNEmbedding(epochs=3)"


# ---------------------------------------------------------------------- graphs in


def as_pyg(graph):
    return graph.to_pyg()


def as_dense(graph):
    return graph.to_scipy().toarray()


def as_lists(graph):
    return as_dense(graph).tolist()


def as_matrix(graph):
    return sp.lil_matrix(as_dense(graph))


def as_frame(graph):
    return pl.DataFrame(graph.edges(), schema=["source", "target"])


@pytest.mark.parametrize(
    "form", [Graph.to_networkx, Graph.to_scipy, as_pyg, as_dense, as_lists, as_matrix, as_frame]
)
def test_all_forms_of_a_graph_give_the_same(caves, fitted, form):
    found = PGNNEmbedding(**QUICK).fit(form(caves))
    assert same_fit(found, fitted)
    np.testing.assert_array_equal(found.node_ids_, caves.node_ids)
    np.testing.assert_array_equal(found.transform(form(caves)), fitted.embedding_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("edges.csv", "read_graph"),
        (np.array([(0, 1), (1, 2), (2, 3)]), "from_edges"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "Negative"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "NaN"),
        (sp.coo_array(np.array([[0.0, np.inf], [np.inf, 0.0]])), "inf"),
        (None, "adjacency matrix"),
        (7, "adjacency matrix"),
    ],
)
def test_what_is_no_graph_is_refused(fitted, given, message):
    for ask in (fitted.transform, PGNNEmbedding().fit, fitted.score):
        with pytest.raises(PGNNError, match=message):
            ask(given)


def test_dense_matrix_keeps_weights_and_directions():
    matrix = np.array([[0.0, 2.5, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    graph = as_graph(matrix)
    assert graph.directed
    assert graph.edge_weights().tolist() == [2.5, 1.0]
    assert not as_graph(matrix + matrix.T).directed
    assert as_graph((matrix + matrix.T) > 0).weights is None


# ---------------------------------------------------------------------- embeddings out


def test_embedding_is_that_of_the_whole_graph(caves, fitted):
    assert fitted.embedding_.shape == (30, 8)
    assert fitted.embedding_.dtype == np.float32
    np.testing.assert_array_equal(fitted.transform(caves), fitted.embedding_)
    np.testing.assert_array_equal(fitted.learner_.embed(caves), fitted.embedding_)
    np.testing.assert_array_equal(PGNNEmbedding(**QUICK).fit_transform(caves), fitted.embedding_)
    assert [epoch.epoch for epoch in fitted.history_] == [1, 2]
    assert fitted.best_epoch_ in (1, 2)
    assert 0 <= fitted.val_auc_ <= 1
    assert fitted.num_sets_ == 8


@pytest.mark.parametrize("size", [1, 2, 50])
def test_transform_takes_graphs_of_any_size(fitted, size):
    found = fitted.transform(nx.path_graph(size))
    assert found.shape == (size, 8)
    assert np.isfinite(found).all()


def test_number_of_sets_follows_the_size_of_the_graph_by_default(caves):
    found = PGNNEmbedding(**quick(num_sets=None)).fit(caves)
    assert found.embedding_.shape[1] == found.num_sets_ > 8


def test_baseline_has_no_sets(caves):
    found = PGNNEmbedding(**quick(model="gcn")).fit(caves)
    assert found.num_sets_ == 0
    assert found.embedding_.shape == (30, 8)
    assert len(found.get_feature_names_out()) == 8


def test_node_ids_are_the_names_of_rows(fitted):
    grid = nx.grid_2d_graph(5, 5)
    found = PGNNEmbedding(**QUICK).fit(grid)
    assert list(found.node_ids_) == list(grid)
    assert fitted.node_ids_.tolist() == list(range(30))


def test_outputs_have_names_and_can_be_tables(caves, fitted):
    names = [f"pgnnembedding{i}" for i in range(8)]
    assert fitted.get_feature_names_out().tolist() == names
    pytest.importorskip("polars")
    table = PGNNEmbedding(**QUICK).set_output(transform="polars").fit_transform(caves)
    assert table.columns == names
    np.testing.assert_array_equal(table.to_numpy(), fitted.embedding_)


def test_features_of_nodes_are_counted_and_required(caves):
    x = np.random.default_rng(0).normal(size=(30, 3))
    found = PGNNEmbedding(**QUICK).fit(replace(caves, x=x.astype(np.float32)))
    assert found.n_features_in_ == 3
    with pytest.raises(PGNNError, match="3 features"):
        found.transform(caves)
    assert not hasattr(found.fit(caves), "n_features_in_")


# ---------------------------------------------------------------------- scores


def test_score_of_the_fitted_graph_is_test_auc(caves, fitted):
    assert fitted.score(caves) == fitted.test_auc_
    split = split_graph(caves, fitted.learner_.recipe)
    scores = fitted.learner_.scorer(split.graph)(split.test.pairs)
    assert fitted.test_auc_ == roc_auc(split.test.labels, scores)


@pytest.mark.parametrize("graph", [nx.connected_caveman_graph(6, 5), nx.grid_2d_graph(6, 6)])
def test_score_hides_the_links_it_asks_about(fitted, monkeypatch, graph):
    seen, asked = [], []
    original = Learner.scorer

    def spy(self, shown):
        seen.append({(u, v) for u, v in shown.edges().tolist()})
        scorer = original(self, shown)
        return lambda pairs: (asked.extend(pairs.tolist()), scorer(pairs))[1]

    monkeypatch.setattr(Learner, "scorer", spy)
    assert 0 <= fitted.score(graph) <= 1
    edges = {(u, v) for u, v in as_graph(graph).edges().tolist()}
    links = {tuple(sorted(pair)) for pair in asked} & edges
    assert len(links) >= 3
    assert not links & seen[0]
    assert seen[0] < edges


def test_score_needs_pairs_held_out(caves):
    found = PGNNEmbedding(**quick(test=0.0)).fit(caves)
    assert found.test_auc_ is None
    with pytest.raises(PGNNError, match="test=0"):
        found.score(caves)


def test_pairs_by_index_and_by_id_are_the_same():
    graph = nx.relabel_nodes(nx.connected_caveman_graph(6, 5), lambda v: f"node {v}")
    found = PGNNEmbedding(**QUICK).fit(graph)
    scores = found.score_pairs(graph, [(0, 1), (0, 29), (1, 0)])
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[0] == scores[2]
    named = [("node 0", "node 1"), ("node 0", "node 29"), ("node 1", "node 0")]
    np.testing.assert_array_equal(found.score_pairs(graph, named, ids=True), scores)
    assert found.score_pairs(graph, [], ids=True).shape == (0,)
    tuples = nx.grid_2d_graph(4, 4)
    first = found.score_pairs(tuples, [((0, 0), (0, 1))], ids=True)
    np.testing.assert_array_equal(first, found.score_pairs(tuples, [(0, 1)]))


@pytest.mark.parametrize(
    ("pairs", "ids", "message"),
    [
        ([(0, 30)], False, "0..29"),
        ([(-1, 2)], False, "0..29"),
        ([(0, 1, 2)], False, "shape"),
        ([(0.5, 1.0)], False, "integer"),
        ([(0, 77)], True, "no node 77"),
        ([(0, 1, 2)], True, "two node ids"),
        ([0, 1], True, "two node ids"),
    ],
)
def test_pairs_of_other_nodes_are_refused(caves, fitted, pairs, ids, message):
    with pytest.raises(PGNNError, match=message):
        fitted.score_pairs(caves, pairs, ids=ids)


def test_default_model_learns_what_is_joined():
    graph = nx.connected_caveman_graph(12, 6)
    found = PGNNEmbedding(epochs=20, recipe=Recipe(eval_draws=2)).fit(graph)
    assert found.test_auc_ > 0.8
    joined, apart = found.score_pairs(graph, [(0, 2), (0, 36)])
    assert joined > apart


# ---------------------------------------------------------------------- labels


def test_labels_given_go_before_the_labels_of_the_graph(caves, labels):
    wrong = np.random.default_rng(0).permutation(labels)
    plain = PGNNEmbedding("pair", **QUICK).fit(replace(caves, y=labels))
    given = PGNNEmbedding("pair", **QUICK).fit(replace(caves, y=wrong), labels)
    other = PGNNEmbedding("pair", **QUICK).fit(replace(caves, y=wrong))
    assert same_fit(plain, given)
    assert not same_fit(plain, other)
    assert plain.score(caves, labels) == plain.test_auc_ == given.score(replace(caves, y=labels))


def test_labels_may_be_strings(caves, labels):
    names = [f"team {label}" for label in labels]
    first = PGNNEmbedding("pair", **QUICK).fit(caves, names)
    assert same_fit(first, PGNNEmbedding("pair", **QUICK).fit(caves, labels))


def test_labels_are_needed_by_pairs_and_not_read_by_links(caves, labels, fitted):
    assert same_fit(PGNNEmbedding(**QUICK).fit(caves, labels), fitted)
    with pytest.raises(PGNNError, match="requires y"):
        PGNNEmbedding("pair", **QUICK).fit(caves)
    with pytest.raises(PGNNError, match="one entry per node"):
        PGNNEmbedding("pair", **QUICK).fit(caves, labels[:-1])


# ---------------------------------------------------------------------- state


@pytest.mark.parametrize(
    "ask",
    [
        lambda e: e.transform(nx.path_graph(3)),
        lambda e: e.score(nx.path_graph(9)),
        lambda e: e.score_pairs(nx.path_graph(3), [(0, 1)]),
        lambda e: e.get_feature_names_out(),
        lambda e: e.save("nowhere.safetensors"),
    ],
)
def test_nothing_is_answered_before_fit(ask):
    with pytest.raises(NotFittedError):
        ask(PGNNEmbedding())


def test_refit_forgets_and_repeats(caves, fitted):
    estimator = PGNNEmbedding(**QUICK).fit(nx.grid_2d_graph(4, 5))
    assert not same_fit(estimator, fitted)
    assert same_fit(estimator.fit(caves), fitted)
    assert sorted(vars(estimator)) == sorted(vars(fitted))
    assert not same_fit(estimator.set_params(random_state=1).fit(caves), fitted)


def test_failed_refit_leaves_the_first_fit(caves, fitted):
    estimator = copy.deepcopy(fitted)
    with pytest.raises(PGNNError, match="too few"):
        estimator.fit(nx.path_graph(2))
    np.testing.assert_array_equal(estimator.transform(caves), fitted.embedding_)


def test_fit_leaves_global_generators_alone(caves):
    def states():
        numpy_state = np.random.get_state()  # noqa: NPY002
        return [random.getstate(), numpy_state[1].tolist(), torch.get_rng_state().tolist()]

    before = states()
    PGNNEmbedding(**QUICK).fit(caves).score(caves)
    assert states() == before


def test_fit_leaves_its_input_alone(caves, labels):
    labels = labels.copy()
    forms = [caves.to_networkx(), caves.to_scipy(), caves.to_pyg(), as_dense(caves)]
    untouched = copy.deepcopy(forms)
    for form in forms:
        PGNNEmbedding("pair", **QUICK).fit(form, labels)
    assert nx.utils.graphs_equal(forms[0], untouched[0])
    assert (forms[1] != untouched[1]).nnz == 0
    assert forms[2].keys() == untouched[2].keys()
    assert torch.equal(forms[2].edge_index, untouched[2].edge_index)
    np.testing.assert_array_equal(forms[3], untouched[3])
    for array in (labels, forms[1].data, forms[1].indices, forms[2].edge_index.numpy(), forms[3]):
        assert array.flags.writeable


def test_verbose_prints_evaluations_only_when_asked(caves, capsys):
    PGNNEmbedding(**QUICK).fit(caves)
    assert capsys.readouterr().out == ""
    PGNNEmbedding(**quick(verbose=True, epochs=4, eval_every=2)).fit(caves)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all("validation AUC 0." in line or "validation AUC 1." in line for line in lines)


# ---------------------------------------------------------------------- copies and files


def by_joblib(estimator, folder):
    joblib.dump(estimator, folder / "file")
    return joblib.load(folder / "file")


@pytest.mark.parametrize(
    "duplicate",
    [lambda e, _: pickle.loads(pickle.dumps(e)), lambda e, _: copy.deepcopy(e), by_joblib],
    ids=["pickle", "deepcopy", "joblib"],
)
def test_copies_answer_alike_to_the_bit(caves, fitted, duplicate, tmp_path):
    found = duplicate(fitted, tmp_path)
    assert same_fit(found, fitted)
    assert found.get_params() == fitted.get_params()
    assert sorted(vars(found)) == sorted(vars(fitted))
    grid = nx.grid_2d_graph(7, 7)
    np.testing.assert_array_equal(found.transform(grid), fitted.transform(grid))
    pairs = [(0, 1), (0, 20)]
    np.testing.assert_array_equal(found.score_pairs(caves, pairs), fitted.score_pairs(caves, pairs))


def test_pickle_holds_no_modules_of_torch(fitted):
    data = pickle.dumps(fitted, protocol=2)  # old enough to name a class in one piece
    named = {
        value.split()[0] for code, value, _ in pickletools.genops(data) if code.name == "GLOBAL"
    }
    assert {"pgnn.estimator", "pgnn.training.fit", "pgnn.training.recipe"} <= named
    assert not [
        name for name in named if name.startswith(("torch", "pgnn.nn", "pgnn.training.learner"))
    ]
    assert len(data) < 100_000


def test_unpickling_without_the_device_falls_back_to_the_cpu(caves, fitted):
    state = fitted.__getstate__()
    state["learner_"] = (state["learner_"][0], "cuda:99")
    found = PGNNEmbedding()
    with pytest.warns(UserWarning, match="cuda:99"):
        found.__setstate__(state)
    np.testing.assert_array_equal(found.transform(caves), fitted.embedding_)


def test_clone_is_not_fitted(caves, fitted):
    found = clone(fitted)
    assert found.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        found.transform(caves)
    assert pickle.loads(pickle.dumps(found)).get_params() == fitted.get_params()


def test_file_gives_the_estimator_back(caves, fitted, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    found = PGNNEmbedding.load(path)
    left_out = dict.fromkeys(("task", "model", "epochs", "random_state"))
    decided = {"recipe": fitted.learner_.recipe, "device": "cpu", "verbose": False}
    assert found.get_params() == left_out | decided
    assert same_fit(found.fit(caves), fitted)
    found = PGNNEmbedding.load(path)
    for name in ("history_", "best_epoch_", "val_auc_", "test_auc_", "num_sets_"):
        assert getattr(found, name) == getattr(fitted, name), name
    np.testing.assert_array_equal(found.transform(caves), fitted.embedding_)
    assert found.score(caves) == fitted.test_auc_
    assert not hasattr(found, "embedding_")
    found.save(path)  # what was loaded can be saved again
    assert PGNNEmbedding.load(path).history_ == fitted.history_
    np.testing.assert_array_equal(Learner.load(path).embed(caves), fitted.embedding_)


def test_file_of_a_learner_is_an_estimator_too(caves, fitted, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.learner_.save(path)
    found = PGNNEmbedding.load(path)
    np.testing.assert_array_equal(found.transform(caves), fitted.embedding_)
    assert not hasattr(found, "history_")


def test_file_that_is_something_else_is_refused(tmp_path):
    with pytest.raises(PGNNError, match="no such"):
        PGNNEmbedding.load(tmp_path / "absent")
    (tmp_path / "text").write_text("not a model")
    with pytest.raises(PGNNError, match="damaged"):
        PGNNEmbedding.load(tmp_path / "text")


def test_file_with_a_damaged_course_is_refused(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    monkeypatch.setattr(
        "pgnn.estimator.load_checkpoint", lambda _: ({}, {"fit": {"history_": [7]}})
    )
    with pytest.raises(PGNNError, match="course of training is damaged"):
        PGNNEmbedding.load(path)


# ---------------------------------------------------------------------- with other estimators


def test_pipeline_clusters_the_embedding(caves, fitted):
    clusters = make_pipeline(PGNNEmbedding(**QUICK), KMeans(6, n_init=1, random_state=0))
    expected = KMeans(6, n_init=1, random_state=0).fit_predict(fitted.embedding_)
    np.testing.assert_array_equal(clusters.fit_predict(caves), expected)


def test_grid_search_works_on_the_whole_graph(caves, fitted):
    everything = np.arange(30)
    search = GridSearchCV(
        PGNNEmbedding(**QUICK),
        {"recipe": [replace(QUICK["recipe"], hidden_channels=width) for width in (4, 8)]},
        cv=[(everything, everything)],
        error_score="raise",
    )
    search.fit(caves.to_scipy())
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == fitted.test_auc_
    assert search.best_params_["recipe"].hidden_channels == [4, 8][int(np.argmax(scores))]


def test_repeated_rows_of_a_frame_add_up_as_strengths():
    rows = [(u, v) for u, v in nx.connected_caveman_graph(5, 5).edges] * 2
    frame = pl.DataFrame(rows, schema=["u", "v"], orient="row")
    weighted = frame.with_columns(weight=pl.lit(1.0))
    once = weighted[: len(rows) // 2].with_columns(weight=pl.lit(2.0))
    recipe = Recipe(epochs=1, num_sets=4, weights="strength")
    twice, single = (PGNNEmbedding(recipe=recipe).fit(each) for each in (weighted, once))
    assert np.array_equal(twice.embedding_, single.embedding_)
    assert np.array_equal(twice.transform(weighted), single.transform(once))
