"""Splits whose test part has negatives that are hard to tell from links."""

import numpy as np
import pytest

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.pairs.codes import unordered_codes
from pgnn.pairs.proximities import pair_proximities
from pgnn.training.pipeline import split_graph
from pgnn.training.recipe import Recipe
from pgnn.training.splits import split_links


def some_graph(directed=False):
    edges = np.random.default_rng(0).zipf(1.6, size=(260, 2)) % 60
    return Graph.from_edges(edges, 60, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["two-hop", "degree"])
def test_only_negatives_of_the_test_part_are_hard(kind, directed):
    graph = some_graph(directed)
    easy = split_links(graph, rng=5)
    hard = split_links(graph, rng=5, negatives=kind)
    assert hard.graph == easy.graph
    for part in ("train", "val"):
        assert np.array_equal(getattr(hard, part).pairs, getattr(easy, part).pairs)
    assert np.array_equal(hard.test.positives, easy.test.positives)
    assert len(hard.test) == len(easy.test)
    drawn = unordered_codes(hard.test.negatives)
    assert len(np.unique(drawn)) == len(drawn)
    taken = np.concatenate([graph.edges(), hard.train.negatives, hard.val.negatives])
    assert not np.isin(drawn, unordered_codes(taken.astype(np.int64))).any()
    near = pair_proximities(Graph.from_edges(hard.graph.edges(), 60), hard.test.negatives)
    if kind == "two-hop":
        assert (near.column("common_neighbours") > 0).all()
    else:
        assert (near.column("degree_min") > 0).all()


def test_recipe_decides_the_negatives_of_a_graph():
    graph = some_graph()
    uniform, by_default = (split_graph(graph, r) for r in (Recipe(negatives="uniform"), Recipe()))
    assert np.array_equal(uniform.test.pairs, by_default.test.pairs)
    hard = split_graph(graph, Recipe(negatives="two-hop"))
    assert not np.array_equal(hard.test.negatives, uniform.test.negatives)


def test_hard_negatives_where_they_make_no_sense_are_refused():
    with pytest.raises(PGNNError, match="negatives is a setting of task 'link'"):
        Recipe(task="pair", negatives="degree")
    with pytest.raises(PGNNError, match="negatives must be one of uniform, two-hop, degree"):
        Recipe(negatives="hard")
    with pytest.raises(PGNNError, match="negatives must be uniform with protocol 'released'"):
        split_links(some_graph(), rng=0, protocol="released", negatives="degree")
    clique = Graph.from_edges([(u, v) for u in range(6) for v in range(u)], 12)
    with pytest.raises(PGNNError, match="use negatives=uniform"):
        split_links(clique, rng=0, negatives="two-hop", test=0.4)
