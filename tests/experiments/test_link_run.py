"""One run of the benchmark of links: what is hidden, what is asked, what is recorded."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_helpers import community_edges, write_table
from pgnn import Graph, PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments import link_run, node2vec
from pgnn.experiments.link_run import (
    LinkGraph,
    LinkJob,
    LinkRecord,
    hide_links,
    run_link_job,
)
from pgnn.names import LINK_PROTOCOLS
from pgnn.prediction.candidates import top_pairs


def codes(pairs):
    return {tuple(sorted(pair)) for pair in np.asarray(pairs).tolist()}


def clique_with_tails():
    """Twelve nodes that all know each other, and 14 that know one of them: some are left alone."""
    clique = [(u, v) for u in range(12) for v in range(u)]
    return Graph.from_edges(clique + [(0, 12 + tail) for tail in range(14)])


@pytest.fixture
def town(tmp_path):
    path = tmp_path / "town.csv"
    write_table(path, community_edges(), ("source", "target"))
    return LinkGraph("town", path)


# ---------------------------------------------------------------------- what is hidden


@pytest.mark.parametrize("protocol", LINK_PROTOCOLS)
@given(seed=st.integers(0, 10_000))
def test_hidden_edges_are_not_visible_and_negatives_are_no_edges(protocol, seed):
    whole = clique_with_tails()
    visible, test = hide_links(whole, protocol, seed=seed)
    positives, negatives = codes(test.positives), codes(test.negatives)
    assert not positives & codes(visible.edges())
    assert len(positives) == len(negatives) == len(test) // 2
    assert not positives & negatives
    if protocol == "published":  # nodes keep their numbers
        assert codes(visible.edges()) | positives == codes(whole.edges())
        assert not negatives & codes(whole.edges())
        assert visible.num_nodes == whole.num_nodes
        assert len(positives) == whole.num_edges // 10


def test_published_asks_about_nodes_that_are_left_alone_and_honest_does_not():
    alone = []
    for seed in range(10):
        graph, test = hide_links(clique_with_tails(), "published", seed=seed)
        alone.append(int((graph.degrees[test.positives] == 0).any(axis=1).sum()))
        honest, kept = hide_links(clique_with_tails(), "honest", seed=seed)
        assert (honest.degrees > 0).all()
        assert honest.num_edges == graph.num_edges
        assert honest.num_nodes == np.count_nonzero(graph.degrees)
        assert len(kept.positives) == len(test.positives) - alone[-1]
    assert sum(alone) > 5


def test_both_protocols_hide_the_same_edges_and_honest_negatives_are_no_edges():
    whole = clique_with_tails()
    for seed in range(10):
        graph, test = hide_links(whole, "published", seed=seed)
        honest, kept = hide_links(whole, "honest", seed=seed)
        named = np.flatnonzero(graph.degrees)  # honest numbers these nodes in their order
        assert codes(named[honest.edges()]) == codes(graph.edges())
        assert codes(named[kept.positives]) <= codes(test.positives)
        assert not codes(named[kept.negatives]) & codes(whole.edges())


def test_what_is_hidden_depends_on_the_seed_alone():
    first = [hide_links(clique_with_tails(), "published", seed=seed)[1] for seed in (0, 0, 1)]
    assert np.array_equal(first[0].pairs, first[1].pairs)
    assert codes(first[0].positives) != codes(first[2].positives)


def test_negatives_are_uniform_over_non_edges():
    whole = Graph.from_edges([(v, (v + 1) % 10) for v in range(10)])
    drawn = [
        pair
        for seed in range(1500)
        for pair in codes(hide_links(whole, "published", seed=seed)[1].negatives)
    ]
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 35  # 45 pairs, 10 edges
    assert counts.min() > 15
    assert counts.max() < 80


def test_honest_without_a_hidden_edge_to_ask_about_says_so():
    star = Graph.from_edges([(0, v) for v in range(1, 12)])
    with pytest.raises(PGNNError, match="protocol 'honest' has nothing to ask about"):
        hide_links(star, "honest", seed=0)


def test_graph_that_cannot_be_split_is_named(tmp_path):
    write_table(tmp_path / "star.csv", [(0, v) for v in range(1, 12)])
    job = LinkJob(LinkGraph("star", tmp_path / "star.csv"), "honest", 0, ("mlp",))
    with pytest.raises(PGNNError, match=r"star\.csv: every hidden edge is the only one of a node"):
        run_link_job(job)


def test_unknown_protocol_is_refused():
    with pytest.raises(PGNNError, match="protocol must be one of published, honest"):
        hide_links(clique_with_tails(), "paper", seed=0)


# ---------------------------------------------------------------------- reading


def test_graphs_are_read_without_weights_and_directions(tmp_path):
    path = tmp_path / "g.csv"
    write_table(path, [(v, v + 1, 2.5) for v in range(12)], ("source", "target", "weight"))
    graph = LinkGraph("g", path).read()
    assert (graph.num_edges, graph.directed, graph.weights) == (12, False, None)


def test_graph_with_too_few_edges_is_refused_by_name(tmp_path):
    write_table(tmp_path / "g.csv", [(0, 1), (1, 2)])
    with pytest.raises(PGNNError, match=r"g\.csv: the graph has 2 edges, too few"):
        LinkGraph("g", tmp_path / "g.csv").read()


# ---------------------------------------------------------------------- records


def test_model_is_recorded_with_chances_top_hits_settings_and_command(town):
    (record,) = run_link_job(LinkJob(town, "honest", 2, ("mlp",)))
    assert (record.column, record.model, record.protocol, record.seed) == (
        "town",
        "mlp",
        "honest",
        2,
    )
    assert 0 <= record.test_auc <= 1
    assert record.calibration_error is not None
    assert record.brier is not None
    assert 0 <= record.top_hits <= record.test_pairs // 2
    assert record.seconds > 0
    assert record.processor_seconds > 0
    assert record.settings["model"] == "mlp"
    assert record.settings["seed"] == 2
    assert record.command == "pgnn reproduce town --protocol honest --model mlp --runs 3"
    assert {"pgnn", "torch", "numpy"} <= set(record.versions)
    again = LinkRecord.from_json(json.loads(json.dumps(record.to_json(), allow_nan=False)))
    assert again == record


def test_best_model_holds_out_nothing_of_the_visible_graph(town):
    (record,) = run_link_job(LinkJob(town, "published", 0, ("pgnn-best",), "mine"))
    assert record.settings["val"] is None
    assert record.settings["test"] == 0.0
    assert record.edges == town.read().num_edges - town.read().num_edges // 10
    assert record.top_hits is None  # a question of the honest protocol
    assert record.command.startswith("pgnn reproduce town --graphs mine --protocol published")


def test_heuristics_are_one_job_with_a_record_each(town):
    records = run_link_job(LinkJob(town, "honest", 0, HEURISTICS))
    assert [record.model for record in records] == list(HEURISTICS)
    for record in records:
        assert record.calibration_error is record.brier is record.settings is None
        assert record.top_hits is not None
        assert f'"{record.model}"' in record.command or " " not in record.model


def test_likeliest_links_of_a_good_heuristic_are_hidden_edges(tmp_path):
    """Two cliques: every pair without an edge inside one was hidden, and 150 others were not."""
    edges = [(u, v) for u in range(12) for v in range(u)]
    edges += [(u + 12, v + 12) for u, v in edges] + [(0, 12)]
    write_table(tmp_path / "cliques.csv", edges)
    graph = LinkGraph("cliques", tmp_path / "cliques.csv")
    (record,) = run_link_job(LinkJob(graph, "honest", 1, ("resource allocation",)))
    assert record.top_hits == record.test_pairs // 2


def test_of_equal_scores_none_is_preferred(town, monkeypatch):
    seen = []

    def noted(candidates, score, top, **options):
        seen.append(candidates.pairs)
        return top_pairs(candidates, score, top, **options)

    monkeypatch.setattr(link_run, "top_pairs", noted)
    for seed in (0, 1):
        run_link_job(LinkJob(town, "honest", seed, ("common neighbours", "3-paths")))
    assert np.array_equal(seen[0], seen[1])  # all rows choose from the same list
    for pairs in seen[::2]:
        order = np.lexsort(pairs.T[::-1])
        assert not np.array_equal(order, np.arange(len(pairs)))
        assert len(codes(pairs)) == len(pairs)


def test_same_job_gives_the_same_numbers(town):
    job = LinkJob(town, "honest", 1, ("mlp", "common neighbours"))
    first, second = run_link_job(job), run_link_job(job)
    for one, other in zip(first, second, strict=True):
        times = {"seconds": 0, "processor_seconds": 0}
        assert one.to_json() | times == other.to_json() | times


def test_node2vec_is_asked_like_a_model(town, monkeypatch):
    class Peer:
        def __call__(self, pairs):
            return np.full(len(pairs), 0.5)

        def logits(self, pairs):
            return np.zeros(len(pairs))

    class Fitted:
        @staticmethod
        def fit(graph, *, seed):
            assert seed == 4
            return Peer()

    monkeypatch.setattr(node2vec, "Node2vec", Fitted)
    monkeypatch.setattr(node2vec, "versions", lambda: {"pecanpy": "2.0.2"})
    (record,) = run_link_job(LinkJob(town, "honest", 4, ("node2vec",)))
    assert (record.test_auc, record.calibration_error, record.brier) == (0.5, 0.0, 0.25)
    assert record.versions["pecanpy"] == "2.0.2"
    assert record.top_hits is not None


def test_record_of_something_else_is_refused():
    with pytest.raises(PGNNError, match="a stored run has no 'calibration_error'"):
        LinkRecord.from_json(
            {"column": "a", "model": "b", "protocol": "c", "seed": 0, "test_auc": 1}
        )
