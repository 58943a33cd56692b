"""What a page says about a run: measured as the model does, in words that are true of the model."""

from dataclasses import replace

import numpy as np
import pytest

import pgnn
from pgnn.errors import PGNNError
from pgnn.evaluation.judging import Judgement
from pgnn.experiments.config import COLUMNS
from pgnn.experiments.render import PPI_NOTE
from pgnn.report import collect, collect_run, render_run
from pgnn.report.collect import measure_positions
from pgnn.training.outcome import Experiment
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe
from pgnn.training.runs import load_run
from report.samples import caveman, data_in


@pytest.fixture(scope="module")
def run_of(tmp_path_factory):
    """Train for a moment and load the run; the same settings are trained once."""
    made = {}

    def make(model, graph="caveman", **settings):
        key = (model, graph, *sorted(settings.items()))
        if key not in made:
            recipe = Recipe(model=model, epochs=1, **settings)
            folder = tmp_path_factory.mktemp("runs") / "run"
            problem = Problem.of_graph(GRAPHS[graph], recipe)
            train(problem, recipe, out=folder, config={"train": {"graph": "cliques.csv"}})
            made[key] = load_run(folder)
        return made[key]

    return make


def weighted():
    graph = caveman()
    # Edges between low numbers are weak, those between high numbers strong.
    weights = 1.0 + graph.edges().sum(axis=1) ** 2
    return pgnn.Graph.from_edges(graph.edges(), graph.num_nodes, weights=weights, y=graph.y)


GRAPHS = {"caveman": caveman(), "weighted": weighted()}


def with_weights(graph, weights):
    return pgnn.Graph.from_edges(graph.edges(), graph.num_nodes, weights=weights)


# ---------------------------------------------------------------------- positions


@pytest.mark.parametrize("meaning", ["length", "strength"])
def test_weights_are_measured_as_the_model_reads_them(run_of, meaning):
    run = run_of("pgnn-e-2l", "weighted", weights=meaning)
    positions = measure_positions(run)
    seen = run.data.seen
    raw = seen.edge_weights()
    lengths = raw if meaning == "length" else 1 / raw
    expected = pgnn.anchor_distances(with_weights(seen, lengths), positions.sets).lengths
    assert positions.kind == "lengths"
    reached = np.isfinite(expected) & (expected > 0)
    assert (np.isfinite(positions.values) == np.isfinite(expected)).all()
    # The model's unit is the mean weight: all lengths differ from the plain ones by one factor.
    ratio = positions.values[reached] / expected[reached]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    wrong = pgnn.anchor_distances(with_weights(seen, 1 / lengths), positions.sets).lengths
    assert np.ptp(positions.values[reached] / wrong[reached]) > 1


@pytest.mark.parametrize("model", ["pgnn-p-2l", "pgnn-best"])
@pytest.mark.parametrize("meaning", ["length", "strength"])
def test_walks_follow_strong_edges(run_of, model, meaning):
    run = run_of(model, "weighted", weights=meaning)
    positions = measure_positions(run)
    seen = run.data.seen
    raw = seen.edge_weights()
    strengths = raw if meaning == "strength" else 1 / raw
    alpha = 0.15 if model == "pgnn-best" else 0.05
    walked = pgnn.anchor_ppr(with_weights(seen, strengths), positions.sets, alpha=alpha)
    assert positions.kind == "pagerank"
    np.testing.assert_allclose(positions.values, walked * positions.sets.sizes, atol=1e-5)
    assert positions.values.max() <= 1 + 1e-5  # a share of the walk's time


@pytest.mark.parametrize("scheme", ["bernoulli", "fixed"])
def test_anchor_sets_are_drawn_by_the_scheme_of_the_recipe(run_of, scheme):
    run = run_of("pgnn-e-2l", scheme=scheme)
    sets = measure_positions(run).sets
    expected = pgnn.sample_anchor_sets(
        run.data.seen.num_nodes, num_sets=len(sets), scheme=scheme, rng=run.outcome.seed
    )
    assert [s.tolist() for s in sets] == [s.tolist() for s in expected]
    exact = [max(1, run.data.seen.num_nodes >> int(i)) for i in sets.size_class]
    assert (sets.sizes.tolist() == exact) == (scheme == "fixed")


def test_cut_hops_are_cut_on_the_page_as_well(run_of):
    positions = measure_positions(run_of("pgnn-f-2l"))
    assert (positions.kind, positions.cutoff) == ("hops", 2)
    assert positions.values.max() == 2
    full = pgnn.anchor_distances(run_of("pgnn-f-2l").data.seen, positions.sets).hops
    np.testing.assert_array_equal(positions.values, np.where(full > 2, -1, full))


def test_embedding_of_a_large_graph_is_that_of_the_sets_on_the_page(run_of, monkeypatch):
    run = run_of("pgnn-best")
    whole = collect_run(run, top=2).embedding
    assert whole.shape[1] == run.learner.num_sets
    monkeypatch.setattr(collect, "_MOST_EMBEDDED", 10)
    monkeypatch.setattr(collect, "_MAX_SETS", 3)
    some = collect_run(run, top=2)
    assert some.embedding.shape == (len(whole), 3) == some.positions.values.shape
    np.testing.assert_allclose(some.embedding.mean(axis=0), 0, atol=1e-5)
    order = np.argsort(some.positions.values[:, 0], kind="stable")
    assert (np.diff(some.embedding[order, 0]) >= -1e-6).all()


def test_baseline_is_shown_with_hops_that_it_does_not_read(run_of):
    run = run_of("gcn", "weighted", weights="strength")
    positions = measure_positions(run)
    plain = pgnn.Graph.from_edges(run.data.seen.edges(), run.data.seen.num_nodes)
    np.testing.assert_array_equal(
        positions.values, pgnn.anchor_distances(plain, positions.sets).hops
    )
    assert positions.kind == "hops"


# ---------------------------------------------------------------------- words

SAYS = {
    # model: (the page says, the page does not say)
    "pgnn-e-2l": (["number of hops to the nearest node", "P-GNN-E-2L describes a node"], ["walk"]),
    "pgnn-f-2l": (["counted up to 2 and no farther", "farther away than 2 hops"], ["walk"]),
    "pgnn-p-2l": (["random walk", "personalised PageRank", "such shares"], ["hop", "distance"]),
    "pgnn-best": (
        ["judges pairs of nodes", "personalised PageRank", "embedding of a node is made of"],
        ["hop", "A P-GNN learns"],
    ),
    "gcn": (["without anchor-sets", "GCN does not read such distances"], ["A P-GNN learns"]),
    "mlp": (["does not read the graph", "MLP does not read such distances"], ["A P-GNN learns"]),
}


def words_of(report):
    """Every sentence that explains positions, on the page and under the picker."""
    return " ".join([report.about, report.reading, *report.positions.words.values()])


@pytest.mark.parametrize("model", SAYS)
def test_page_explains_what_the_model_reads(run_of, model):
    report = collect_run(run_of(model), top=2)
    said, unsaid = SAYS[model]
    words = words_of(report)
    assert [text for text in said if text not in words] == []
    assert [text for text in unsaid if text in words] == []
    page = render_run(report)
    assert report.about in page.replace("&#39;", "'")
    assert data_in(page)["measure"]["reading"] == report.reading


def test_page_explains_lengths_where_edges_have_weights(run_of):
    report = collect_run(run_of("pgnn-e-2l", "weighted", weights="strength"), top=2)
    assert "the length of its shortest path to the nearest node" in report.about
    assert "hops" not in words_of(report)
    assert "weighted (strength)" in dict(report.facts)["graph"]


@pytest.mark.parametrize(
    ("task", "question"),
    [
        ("link", "is there an edge between two nodes?"),
        ("pair", "do two nodes have the same label?"),
    ],
)
def test_task_is_a_question_in_plain_english(run_of, task, question):
    report = collect_run(run_of("pgnn-e-2l", task=task), top=5)
    facts = dict(report.facts)
    assert facts["task"] == question
    assert facts["graph"].startswith("cliques.csv, 25 nodes, ")
    assert report.title == "P-GNN-E-2L on cliques.csv"


@pytest.mark.parametrize(
    ("model", "spread"),
    [
        ("pgnn-e-2l", "from one draw of anchor-sets"),
        ("pgnn-best", "heads of the model"),
        ("gcn", ""),
    ],
)
def test_spread_is_explained_as_the_model_has_it(run_of, model, spread):
    report = collect_run(run_of(model), top=3)
    assert report.num_listed == 3
    assert len(report.links) > 3
    assert "A score is the chance that a pair is a link" in report.links_text
    assert spread in report.links_text
    assert ("spread" in report.links_text) == bool(spread)
    assert all((link.spread is not None) == bool(spread) for link in report.links)


# ---------------------------------------------------------------------- results


def test_results_are_those_of_the_outcome(run_of):
    run = run_of("pgnn-e-2l")
    report = collect_run(run, top=2)
    model, *heuristics = report.rows
    assert model.name == "P-GNN-E-2L (this run)"
    assert model.metrics.items() < run.outcome.test.metrics.items()
    assert set(model.metrics) == set(heuristics[0].metrics)  # others compare nothing
    assert model.paper is None
    assert {row.name: row.metrics for row in heuristics} == {
        name: judgement.metrics for name, judgement in run.outcome.heuristics.items()
    }
    assert {row.kind for row in heuristics} == {"heuristic"}
    assert list(report.roc) == ["P-GNN-E-2L", *run.outcome.heuristics]
    assert report.history == run.history
    assert report.num_sets == run.learner.num_sets


def test_calibration_is_that_of_the_pairs_the_run_was_judged_by(run_of):
    run = run_of("pgnn-best")
    bins = collect_run(run, top=2).calibration
    assert sum(one.num_pairs for one in bins) == len(run.data.pairs)
    shares = sum(one.num_pairs * one.share for one in bins)
    assert round(shares) == np.count_nonzero(run.data.pairs.labels)
    chances = run.learner.scorer(run.data.seen).with_spread(
        run.data.pairs.pairs, base_rate=run.outcome.base_rate
    )[0]
    assert sum(one.num_pairs * one.mean_chance for one in bins) == pytest.approx(chances.sum())


def test_held_out_edges_are_those_that_the_model_did_not_see(run_of):
    run = run_of("pgnn-e-2l")
    held_out = {tuple(sorted(pair)) for pair in collect_run(run, top=2).held_out.tolist()}
    every = {tuple(sorted(pair)) for pair in run.data.graph.edges().tolist()}
    seen = {tuple(sorted(pair)) for pair in run.data.seen.edges().tolist()}
    assert held_out == every - seen
    assert held_out


def test_links_are_told_with_what_was_searched_and_what_joins_them(run_of):
    run = run_of("pgnn-best")
    report = collect_run(run, top=4)
    assert report.links_text.startswith("Searched: ")
    joined = {tuple(sorted(pair)) for pair in run.data.graph.edges().tolist()}
    for link in report.links:
        assert tuple(sorted((link.source, link.target))) not in joined
        assert link.between.ends == (link.source, link.target)
        assert link.reason
    scores = [link.score for link in report.links]
    assert scores == sorted(scores, reverse=True)


def test_verdict_is_that_of_the_outcome(run_of):
    run = run_of("pgnn-e-2l")
    told = replace(run, outcome=replace(run.outcome, verdict="It is best."))
    assert collect_run(told, top=2).verdict == "It is best."
    untold = collect_run(replace(run, outcome=replace(run.outcome, verdict=None)), top=2)
    assert f"AUC of {run.outcome.test_auc:.3f}" in untold.verdict


def test_cell_of_the_paper_is_set_beside_its_number(run_of):
    run = run_of("pgnn-e-2l")
    graphs = replace(run.outcome.graph, graphs=24)
    outcome = replace(run.outcome, experiment=Experiment("ppi", "paper"), graph=graphs)
    changed = replace(run, outcome=outcome)
    report = collect_run(changed, top=2)
    assert report.rows[0].paper == COLUMNS["ppi"].published("pgnn-e-2l")
    assert PPI_NOTE in report.notes
    assert any("24 graphs" in note for note in report.notes)


def test_run_without_test_pairs_has_a_page(run_of):
    run = run_of("gcn")
    outcome = replace(run.outcome, test=None, test_auc=None, heuristics={})
    report = collect_run(replace(run, outcome=outcome), top=2)
    assert (report.rows, report.roc) == ([], {})
    curveless = replace(outcome, test=Judgement(3, {"roc_auc": 0.5}))
    assert collect_run(replace(run, outcome=curveless), top=2).roc == {}


def test_top_must_be_positive(run_of):
    with pytest.raises(PGNNError, match=r"top must be a positive integer \(got 0\)"):
        collect_run(run_of("gcn"), top=0)
