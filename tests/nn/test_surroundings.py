"""Features around both ends of a pair are those of the graph without the pair's own edge."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from pgnn.nn.reference import reference_surroundings
from pgnn.nn.surroundings import Surroundings


def rows_of_nodes(x, edges):
    """m_0, m_1, m_2 and the degree of each node, by a dense matrix."""
    adjacency = torch.zeros(len(x), len(x), dtype=x.dtype)
    for a, b in edges:
        adjacency[a, b] = adjacency[b, a] = 1
    degree = adjacency.sum(1, keepdim=True)
    step = adjacency / degree.clamp(min=1)
    return torch.cat([x, step @ x, step @ step @ x, degree], dim=1)


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 8))
    pairs = [(a, b) for b in range(n) for a in range(b)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True))
    numbers = st.floats(-4, 4, allow_nan=False, width=32)
    width = draw(st.integers(1, 2))
    x = draw(st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=n, max_size=n))
    return torch.tensor(x, dtype=torch.double), edges, pairs


@given(graphs())
def test_the_pairs_own_edge_is_left_out(graph):
    x, edges, pairs = graph
    rows = rows_of_nodes(x, edges)
    u, v = torch.tensor(pairs).unbind(1)
    joined = torch.tensor([float(pair in edges) for pair in pairs], dtype=torch.double)
    around = Surroundings(x.shape[1]).double()
    first, second = around(rows[u], rows[v], joined)
    for place, (a, b) in enumerate(pairs):
        expected = reference_surroundings(x, edges, a, b), reference_surroundings(x, edges, b, a)
        torch.testing.assert_close(first[place], expected[0], rtol=0, atol=1e-9)
        torch.testing.assert_close(second[place], expected[1], rtol=0, atol=1e-9)


def test_means_are_standardised_and_lone_nodes_have_zeros():
    x = torch.randn(6, 2, dtype=torch.double)
    rows = rows_of_nodes(x, [(0, 1), (1, 2), (2, 3), (3, 4)])
    around = Surroundings(2).double()
    around.measure(rows[:5])
    apart = torch.zeros(5, dtype=torch.double)
    read, lone = around(rows[:5], rows[5:].expand(5, -1), apart)
    torch.testing.assert_close(read[:, :2], x[:5])
    torch.testing.assert_close(read[:, 2:].mean(0), torch.zeros(4, dtype=torch.double))
    torch.testing.assert_close(read[:, 2:].std(0, correction=0), torch.ones(4, dtype=torch.double))
    assert not lone[:, 2:].any()
    _, without = around(rows[1:2], rows[:1], torch.ones(1, dtype=torch.double))
    assert not without[:, 2:].any()  # node 0 has lost its only neighbour


def test_what_all_nodes_share_is_zero():
    around = Surroundings(1)
    rows = torch.tensor([[2.0, 3.0, 3.0, 1.0]]).expand(4, -1)
    around.measure(rows)
    assert not around(rows, rows, torch.zeros(4))[0][:, 1:].any()
