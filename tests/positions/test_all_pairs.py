"""PageRank between all nodes: means over members equal what solving for the sets gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.positions import AnchorSets
from pgnn.positions.all_pairs import AllPairs
from pgnn.positions.reference import reference_ppr
from strategies import graphs


@settings(max_examples=25, deadline=None)
@given(graph=graphs(max_nodes=9), data=st.data())
def test_means_equal_the_oracle(graph, data):
    node = st.integers(0, graph.num_nodes - 1)
    members = data.draw(st.lists(st.sets(node, min_size=1), min_size=1, max_size=4))
    sets = AnchorSets.from_sets([sorted(some) for some in members], graph.num_nodes)
    means = AllPairs([graph], alpha=0.3).to_sets(sets)
    assert means.dtype == np.float32
    np.testing.assert_allclose(means, reference_ppr(graph, sets, 0.3), atol=5e-6)


def test_graphs_of_a_union_have_means_of_their_own():
    pair = Graph.from_edges([(0, 1)])
    path = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    together = AllPairs([pair, path], alpha=0.5).to_sets([[0, 3, 4], [1]])
    np.testing.assert_allclose(
        together[:2], AllPairs([pair], alpha=0.5).to_sets([[0], [1]]), rtol=1e-6
    )
    np.testing.assert_allclose(
        together[2:, 0], AllPairs([path], alpha=0.5).to_sets([[1, 2]])[:, 0], rtol=1e-6
    )
    assert not together[2:, 1].any()  # no member there


def test_what_does_not_fit_is_refused():
    with pytest.raises(PGNNError, match="graphs must be at least one"):
        AllPairs([], alpha=0.5)
    pairs = AllPairs([Graph.from_edges([(0, 1)])], alpha=0.5)
    with pytest.raises(PGNNError, match="holds node 2"):
        pairs.to_sets([[2]])
