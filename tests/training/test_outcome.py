"""Outcome: one typed result with one JSON form, which older files are read into as well."""

import json
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.evaluation.judging import Judgement
from pgnn.names import BEST, MODELS, PROTOCOLS, TASKS
from pgnn.training.outcome import Experiment, GraphFacts, Outcome, versions
from pgnn.training.recipe import Recipe

TOP = ("task", "model", "test_auc", "val_auc", "seconds")
OLD_RUNS = Path(__file__).parent / "runs_of_format_1"

shares = st.floats(0, 1)
counts = st.integers(0, 10**9)
metrics = st.dictionaries(st.sampled_from(["mrr", "hits@10", "average_precision"]), shares).flatmap(
    lambda found: shares.map(lambda auc: {"roc_auc": auc, **found})
)
curves = st.none() | st.lists(st.tuples(shares, shares)).map(
    lambda points: {"fpr": [p for p, _ in points], "tpr": [p for _, p in points]}
)
judgements = st.builds(Judgement, counts, metrics, curves)
facts = st.builds(
    GraphFacts,
    **{f.name: st.booleans() if f.type == "bool" else counts for f in fields(GraphFacts)}
    | {"between": st.none() | st.just(["customer", "product"])},
)
plain = {
    "task": st.sampled_from(TASKS),
    "variant": st.sampled_from(["paper", "released"]),
    "judged": st.sampled_from(["model", "epoch"]),
    "max_pairs": st.none() | st.integers(1, 10**6),
    "seed": counts,
}
recipes = st.builds(Recipe, **plain) | st.builds(
    Recipe,
    model=st.sampled_from([model for model in MODELS if model != BEST]),
    patience=st.none() | st.integers(1, 99),
    c=st.none() | st.floats(0.01, 9),
    **plain,
)


@st.composite
def outcomes(draw):
    recipe, test = draw(recipes), draw(st.none() | judgements)
    return Outcome(
        task=recipe.task,
        model=recipe.model,
        test_auc=None if test is None else test.metrics["roc_auc"],
        val_auc=draw(shares),
        seconds=draw(st.floats(0, 1e6)),
        best_epoch=draw(counts),
        epochs=draw(counts),
        seed=recipe.seed,
        num_sets=draw(counts),
        graph=draw(facts),
        test_pairs=0 if test is None else test.num_pairs,
        test=test,
        heuristics=draw(st.dictionaries(st.text(max_size=5), judgements, max_size=2)),
        recipe=recipe,
        versions=draw(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2)),
        experiment=draw(
            st.none() | st.builds(Experiment, st.text(max_size=5), st.sampled_from(PROTOCOLS))
        ),
        command=draw(st.none() | st.text(max_size=5)),
    )


OUTCOME = Outcome(
    task="link",
    model="gcn",
    test_auc=0.75,
    val_auc=0.5,
    seconds=1.5,
    best_epoch=2,
    epochs=3,
    seed=7,
    num_sets=0,
    graph=GraphFacts.of(Graph.from_edges([(0, 1), (1, 2)])),
    test_pairs=4,
    test=Judgement(4, {"roc_auc": 0.75, "mrr": 0.5}, {"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]}),
    heuristics={"ppr": Judgement(4, {"roc_auc": 0.25})},
    recipe=Recipe(model="gcn", seed=7, variant="paper"),
    versions=versions(),
)


# ---------------------------------------------------------------------- the JSON form


@settings(max_examples=80)
@given(outcomes())
def test_outcome_survives_a_round_trip_through_json(outcome):
    text = json.dumps(outcome.to_json(), allow_nan=False)
    assert Outcome.from_json(json.loads(text)) == outcome


@settings(max_examples=30)
@given(outcomes(), outcomes())
def test_outcome_has_the_same_keys_whatever_was_run(one, other):
    assert list(one.to_json()) == list(other.to_json())
    assert tuple(one.to_json())[:5] == TOP
    more = {"roc", "direction_auc"}  # of `test`
    assert set(one.to_json()) == {field.name for field in fields(Outcome)} | more


def test_outcome_has_the_whole_recipe_and_facts():
    document = OUTCOME.to_json()
    assert document["recipe"] == asdict(OUTCOME.recipe)
    assert document["recipe"]["variant"] == "paper"
    assert document["graph"]["nodes"] == 3
    assert document["test"] == {"roc_auc": 0.75, "mrr": 0.5}
    assert document["heuristics"]["ppr"]["metrics"] == {"roc_auc": 0.25}
    assert document["experiment"] is None


@pytest.mark.parametrize("name", ["task", "model", "val_auc", "seconds", "recipe", "versions"])
def test_outcome_says_what_is_missing(name):
    document = OUTCOME.to_json()
    del document[name]
    with pytest.raises(PGNNError, match="the result cannot be read"):
        Outcome.from_json(document)


@pytest.mark.parametrize(
    "changes",
    [
        {"val_auc": "high"},
        {"val_auc": None},
        {"epochs": []},
        {"graph": {"colour": 3}},
        {"graph": 5},
        {"test": {"mrr": 0.5}},
        {"test": 3},
        {"heuristics": {"ppr": {}}},
        {"heuristics": [1]},
        {"recipe": 5},
        {"recipe": {"layers": 3}},
        {"recipe": {"epochs": 0}},
        {"experiment": {"table": 1}},
        {"versions": "1"},
        {"task": "colour"},
        {"model": "gpt"},
    ],
    ids=str,
)
def test_outcome_refuses_what_is_of_another_kind(changes):
    with pytest.raises(PGNNError, match="the result cannot be read"):
        Outcome.from_json({**OUTCOME.to_json(), **changes})


def test_outcome_without_test_pairs_has_no_test():
    untested = replace(OUTCOME, test=None, test_auc=None, test_pairs=0, heuristics={})
    document = untested.to_json()
    assert (document["test"], document["roc"], document["test_auc"]) == (None, None, None)
    assert Outcome.from_json(document) == untested


def test_outcome_keeps_what_is_said_about_the_test():
    judged = replace(
        OUTCOME,
        base_rate=0.5,
        lone_pairs=1,
        test_without_lone=Judgement(3, {"roc_auc": 1.0}),
        verdict="gcn is best.",
    )
    document = json.loads(json.dumps(judged.to_json()))
    assert Outcome.from_json(document) == judged
    for name in ("base_rate", "lone_pairs", "test_without_lone", "verdict"):  # an older file
        del document[name]
    assert Outcome.from_json(document) == OUTCOME


# ---------------------------------------------------------------------- format 1


def old_metrics(name):
    return json.loads((OLD_RUNS / name / "metrics.json").read_text())


def test_outcome_reads_the_metrics_of_a_file_run_of_format_1():
    document = old_metrics("file")
    outcome = Outcome.from_json(document)
    assert (outcome.task, outcome.model, outcome.num_sets) == ("link", "pgnn-e-2l", 4)
    assert outcome.test_auc == document["test"]["roc_auc"]
    assert outcome.test.metrics == document["test"]
    assert outcome.test.roc == document["roc"]
    assert outcome.seed == document["recipe"]["seed"]
    assert outcome.graph.graphs == 1
    assert (outcome.graph.nodes, outcome.graph.edges, outcome.graph.weighted) == (18, 27, True)
    assert {k: v for k, v in asdict(outcome.recipe).items() if k in document["recipe"]} == (
        document["recipe"]
    )
    assert (outcome.recipe.lr_drop, outcome.recipe.batch_graphs) == (None, 1)
    assert outcome.heuristics["ppr"].metrics == document["heuristics"]["ppr"]["metrics"]
    assert outcome.heuristics["ppr"].num_pairs == 6
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_outcome_reads_the_metrics_of_a_file_run_of_format_1_without_test_pairs():
    document = old_metrics("file")
    for name in ("test", "test_pairs", "roc", "heuristics"):
        del document[name]
    outcome = Outcome.from_json(document)
    assert (outcome.test_auc, outcome.test, outcome.test_pairs) == (None, None, 0)
    assert outcome.heuristics == {}


def test_outcome_reads_the_metrics_of_a_data_set_run_of_format_1():
    document = old_metrics("dataset")
    outcome = Outcome.from_json(document)
    assert (outcome.task, outcome.model, outcome.seed) == ("pair", "pgnn-p-2l", 1)
    assert outcome.experiment == Experiment("communities-pairs", "released")
    assert outcome.command == document["command"]
    assert outcome.test_auc == document["test_auc"]
    assert outcome.graph.graphs == document["graphs"]
    fit, settings = document["settings"]["fit"], document["settings"]
    recipe = asdict(outcome.recipe)
    assert {name: recipe[name] for name in fit} == fit
    for name in ("variant", "decoder", "scheme", "c"):
        assert recipe[name] == settings[name]
    assert (recipe["folds"], recipe["judged"]) == (0, "epoch")
    assert outcome.heuristics["ppr"].metrics == document["heuristics"]["ppr"]["metrics"]
    assert Outcome.from_json(outcome.to_json()) == outcome


@pytest.mark.parametrize("settings", [None, 3, {}, {"fit": 3}, {"variant": "paper"}])
def test_outcome_refuses_a_data_set_run_of_format_1_with_damaged_settings(settings):
    with pytest.raises(PGNNError, match="the result cannot be read"):
        Outcome.from_json({**old_metrics("dataset"), "settings": settings})


# ---------------------------------------------------------------------- facts


def test_facts_of_a_graph_count_what_there_is():
    graph = Graph.from_edges(
        [(0, 1), (1, 0), (2, 2), (1, 2)],
        5,
        weights=[1, 2, 3, 4],
        x=np.ones((5, 3)),
        y=[0, 7, 7, 7, 7],
    )
    assert asdict(GraphFacts.of(graph)) == {
        "graphs": 1,
        "nodes": 5,
        "edges": 2,
        "directed": False,
        "weighted": True,
        "features": 3,
        "classes": 2,
        "dropped_self_loops": 1,
        "dropped_repeats": 1,
        "between": None,
    }
    assert GraphFacts.of(Graph.from_edges([(0, 1)], directed=True)).classes == 0


def test_facts_of_several_graphs_are_of_all_together():
    one = Graph.from_edges([(0, 1), (1, 1)], 3, y=[0, 1, 2])
    two = Graph.from_edges([(0, 1), (1, 2)], 4, y=[0, 0, 1, 1])
    facts = GraphFacts.of(one, two)
    assert (facts.graphs, facts.nodes, facts.edges, facts.classes) == (2, 7, 3, 3)
    assert facts.dropped_self_loops == 1


def test_versions_name_what_results_depend_on():
    assert set(versions()) == {"pgnn", "python", "torch", "numpy", "numba"}
    assert all(isinstance(version, str) and version for version in versions().values())
