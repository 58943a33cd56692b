"""A run's anchors: found by node id on a graph that grew, kept in its file, and nodes stay put."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from pgnn import Graph, PGNNError
from pgnn.positions.anchors import AnchorSets, sample_anchor_sets
from pgnn.training import pair_learner
from pgnn.training.anchors import RunAnchors, place_anchors
from pgnn.training.learners import load_learner, make_any_learner
from pgnn.training.recipe import Recipe

PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)], node_ids=["a", "b", "c", "d"])
SETS = AnchorSets.from_sets([[0, 3], [1], [2]], 4)


def town(n=200, seed=0):
    graph = nx.random_geometric_graph(n, 0.14, seed=seed)
    names = [f"n{node}" for node in range(n)]
    return Graph.from_edges(list(graph.edges), n, node_ids=names)


def appended(graph, share=0.01, per_node=3, seed=1):
    """Return the graph with new nodes joined to random ones, all in another order."""
    rng = np.random.default_rng(seed)
    n, count = graph.num_nodes, max(1, int(share * graph.num_nodes))
    new = [(n + i, old) for i in range(count) for old in rng.choice(n, per_node, replace=False)]
    order = rng.permutation(n + count)
    edges = order[np.concatenate([graph.edges(), new])]
    names = np.array([*graph.node_ids, *(f"new{i}" for i in range(count))])
    return Graph.from_edges(edges, n + count, node_ids=names[np.argsort(order)])


def old_rows(graph, grown, embedding):
    row = {name: place for place, name in enumerate(grown.node_ids.tolist())}
    return embedding[[row[name] for name in graph.node_ids.tolist()]]


@pytest.mark.parametrize("model", ["pgnn-best", "pgnn-e-2l", "pgnn-f-2l", "pgnn-p-2l"])
def test_old_nodes_stay_put_when_nodes_are_appended(model):
    graph = town()
    learner = make_any_learner(Recipe(model=model), [graph]).with_anchors(graph)
    grown = appended(graph)
    before = learner.embed(graph)
    kept = old_rows(graph, grown, learner.embed(grown))
    assert np.corrcoef(before.ravel(), kept.ravel())[0, 1] > 0.99
    fresh = old_rows(graph, grown, learner.embed(grown, anchors="fresh"))
    assert np.corrcoef(before.ravel(), fresh.ravel())[0, 1] < 0.9


def test_anchors_kept_are_those_of_draw_0_of_the_graph():
    graph = town()
    for model in ("pgnn-best", "pgnn-e-2l"):
        learner = make_any_learner(Recipe(model=model), [graph]).with_anchors(graph)
        fresh, kept = (learner.embed(graph, anchors=choice) for choice in ("fresh", "run"))
        np.testing.assert_allclose(kept, fresh, atol=1e-5)


def test_new_nodes_lie_among_their_neighbours():
    graph = town()
    learner = make_any_learner(Recipe(), [graph]).with_anchors(graph)
    n = graph.num_nodes
    near = [int(v) for v in graph.neighbors(0)] + [0]
    edges = [*graph.edges().tolist(), *((n, v) for v in near)]
    grown = Graph.from_edges(edges, n + 1, node_ids=[*graph.node_ids.tolist(), "twin of n0"])
    embedding = learner.embed(grown)
    assert np.isfinite(embedding).all()
    apart = np.linalg.norm(embedding[:n] - embedding[n], axis=1)
    assert apart[0] < np.quantile(apart, 0.1)


def test_edges_between_old_nodes_do_move_them():
    graph = town()
    learner = make_any_learner(Recipe(), [graph]).with_anchors(graph)
    far = [(0, v) for v in range(1, 200, 2)]
    changed = Graph.from_edges(
        [*graph.edges().tolist(), *far], graph.num_nodes, node_ids=graph.node_ids
    )
    moved = np.abs(learner.embed(changed, anchors="run") - learner.embed(graph))
    assert moved[0].mean() > 0.1


def test_mean_and_deviation_are_those_of_the_run(monkeypatch):
    graph = town()
    learner = make_any_learner(Recipe(), [graph]).with_anchors(graph)
    half = np.arange(graph.num_nodes) < 120
    kept = half[graph.edges()].all(axis=1)
    part = graph.with_edges(kept)
    monkeypatch.setattr(pair_learner, "_MEASURED", 0)
    unmeasured = make_any_learner(Recipe(), [graph]).with_anchors(graph)
    assert learner.anchors.mean is not None
    assert unmeasured.anchors.mean is None
    assert abs(learner.embed(part, anchors="run").mean(axis=0)).max() > 0.1
    assert abs(unmeasured.embed(part, anchors="run").mean(axis=0)).max() < 1e-3
    np.testing.assert_allclose(unmeasured.embed(graph), learner.embed(graph), atol=1e-4)


# ---------------------------------------------------------------------- placing


def test_members_are_found_by_id_and_missing_ones_left_out():
    kept = RunAnchors.of(PATH, SETS)
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], node_ids=["x", "d", "c", "b"])
    placed = kept.place(graph)
    assert [part.tolist() for part in placed.sets] == [[1], [3], [2]]
    assert sorted(placed.known.tolist()) == [1, 2, 3]
    assert placed.redrawn.tolist() == [False] * 3
    assert placed.sets.num_nodes == 4


def test_a_set_without_members_gets_one_and_is_named():
    kept = RunAnchors.of(PATH, SETS)
    graph = Graph.from_edges([(0, 1), (1, 2)], node_ids=["a", "b", "x"])
    placed = kept.place(graph)
    assert placed.redrawn.tolist() == [False, False, True]
    assert placed.sets.sizes.tolist() == [1, 1, 1]
    assert [part.tolist() for part in kept.place(graph).sets] == [
        part.tolist() for part in placed.sets
    ]


def test_integers_are_found_in_a_file_with_a_name_that_is_text():
    graph = Graph.from_edges([(0, 1), (1, 2)], node_ids=[10, 20, 30])
    kept = RunAnchors.of(graph, AnchorSets.from_sets([[0], [2]], 3))
    grown = Graph.from_edges([(0, 1), (1, 2), (2, 3)], node_ids=["new", "30", "20", "10"])
    assert [part.tolist() for part in kept.place(grown).sets] == [[3], [1]]


def test_another_graph_with_the_same_ids_is_told_apart():
    graph = town()
    kept = RunAnchors.of(graph, sample_anchor_sets(graph.num_nodes, rng=0))
    other = replace(town(seed=5), node_ids=graph.node_ids)
    assert place_anchors(kept, graph, None, 0) is not None
    assert place_anchors(kept, appended(graph, 0.3), None, 0) is not None
    assert place_anchors(kept, other, None, 0) is None
    assert place_anchors(kept, other, "run", 0) is not None
    assert place_anchors(kept, graph, "fresh", 0) is None
    assert place_anchors(kept, graph, None, 1) is None
    assert place_anchors(kept, PATH, None, 0) is None
    assert place_anchors(None, graph, None, 0) is None


@pytest.mark.parametrize(
    ("kept", "choice", "draw", "match"),
    [
        (RunAnchors.of(PATH, SETS), "rum", 0, "anchors must be one of run, fresh"),
        (None, None, -1, "draw must be .*got -1"),
        (RunAnchors.of(PATH, SETS), "run", 1, "draw decides which anchors are drawn"),
        (RunAnchors.of(PATH, SETS), "run", 0, "none of the nodes .* use anchors=fresh"),
        (None, "run", 0, "the run keeps no anchors"),
    ],
)
def test_what_cannot_be_is_named(kept, choice, draw, match):
    with pytest.raises(PGNNError, match=match):
        place_anchors(kept, Graph.from_edges([(0, 1)]), choice, draw)


def test_a_baseline_has_no_anchors():
    learner = make_any_learner(Recipe(model="gcn"), [PATH]).with_anchors(PATH)
    assert learner.anchors is None
    for choice in ("run", "fresh"):
        with pytest.raises(PGNNError, match="gcn has no anchors; leave out anchors"):
            learner.embed(PATH, anchors=choice)


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("model", ["pgnn-best", "pgnn-e-2l"])
@pytest.mark.parametrize("ids", [None, ["é", "b\n", "", "d"]])
def test_a_file_keeps_anchors(model, ids, tmp_path):
    graph = PATH if ids is None else replace(PATH, node_ids=np.array(ids))
    learner = make_any_learner(Recipe(model=model, num_sets=5), [graph]).with_anchors(graph)
    learner.save(tmp_path / "learner")
    again = load_learner(tmp_path / "learner").anchors
    for name in ("node_ids", "edges", "mean", "scale"):
        before, after = getattr(learner.anchors, name), getattr(again, name)
        assert (before is None) == (after is None)
        if before is not None:
            np.testing.assert_array_equal(after, before)
    assert [part.tolist() for part in again.sets] == [
        part.tolist() for part in learner.anchors.sets
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", torch.tensor([0, 3, 1, 9], dtype=torch.int32)),
        ("edges", torch.tensor([[0, 4]], dtype=torch.int32)),
        ("edges", torch.tensor([0, 1], dtype=torch.int32)),
        ("mean", torch.zeros(2)),
        ("mean", torch.full((3,), float("nan"))),
        ("scale", torch.zeros(3)),
        ("id_ends", torch.tensor([1, 1, 2, 3])),
        ("id_bytes", None),
    ],
)
def test_anchors_that_make_no_sense_are_refused(name, value):
    tensors = RunAnchors.of(PATH, SETS).measured(np.eye(4, 3, dtype=np.float32)).to_tensors()
    assert RunAnchors.from_tensors(tensors, 3) is not None
    assert RunAnchors.from_tensors({}, 3) is None
    tensors[f"anchors.{name}"] = value
    if value is None:
        del tensors[f"anchors.{name}"]
    with pytest.raises((ValueError, LookupError)):
        RunAnchors.from_tensors(tensors, 3)
    with pytest.raises((ValueError, LookupError)):
        RunAnchors.from_tensors(tensors, 4)
