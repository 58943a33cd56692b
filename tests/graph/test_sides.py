"""Two kinds of nodes: which tables have them, what users may say, and what follows."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import Graph, PGNNError
from pgnn.graph.sides import Sides, as_between, sides_of_columns, sides_of_table, sides_of_types
from strategies import graphs


def shop(num_left=8, num_right=7):
    pairs = product(range(num_left), range(num_left, num_left + num_right))
    return np.array([(c, p) for c, p in pairs if (c + p) % 3])


def test_a_shop_is_recognised_by_its_columns():
    sides = sides_of_columns(shop(), 15, ("customer", "product"))
    assert (sides.left_nodes.tolist(), sides.right_nodes.tolist()) == (
        list(range(8)), list(range(8, 15)),
    )  # fmt: skip
    assert sides.names == ("customer", "product")


def grid(size):
    cells = list(product(range(size), range(size)))
    index = {cell: place for place, cell in enumerate(cells)}
    right = [(index[r, c], index[r, c + 1]) for r, c in cells if c + 1 < size]
    down = [(index[r, c], index[r + 1, c]) for r, c in cells if r + 1 < size]
    return np.array(right + down)


@pytest.mark.parametrize(
    "pairs",
    [
        grid(9),
        np.array([((v - 1) // 2, v) for v in range(1, 63)]),  # a tree
        np.array([(0, v) for v in range(1, 60)]),  # a star
        np.array([(v, v + 40) for v in range(40)]),  # nobody stands twice
        shop()[:20],  # too few rows
    ],
    ids=["grid", "tree", "star", "matching", "few"],
)
def test_what_only_has_two_colours_is_no_shop(pairs):
    assert sides_of_columns(pairs, int(pairs.max()) + 1) is None


@given(graph=graphs(), data=st.data())
def test_pairs_across_are_those_of_a_left_and_a_right_node(graph, data):
    n = graph.num_nodes
    kinds = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    between = data.draw(st.sampled_from([("a", "b"), ("b", "a"), ("a", "a")]))
    if not set(between) <= set(kinds):
        with pytest.raises(PGNNError, match="no type"):
            graph.with_sides(kinds, between)
        return
    typed = graph.with_sides(kinds, between)
    every = np.array([(u, v) for u in range(n) for v in range(n) if u != v], dtype=np.int64)
    every = every.reshape(-1, 2)
    wanted = [{kinds[u], kinds[v]} == set(between) for u, v in every]
    assert typed.sides.contain(every).tolist() == wanted
    assert typed.sides.num_pairs == sum(wanted) // 2
    turned = typed.sides.left_first(every[wanted])
    assert all(kinds[u] == between[0] and kinds[v] == between[1] for u, v in turned)
    joined = {tuple(sorted(edge)) for edge in graph.edges().tolist()}
    across = {edge for edge in joined if {kinds[edge[0]], kinds[edge[1]]} == set(between)}
    assert {tuple(sorted(link)) for link in typed.links().tolist()} == across
    ordered = 1 + typed.has_ordered_links
    assert typed.num_free_pairs == ordered * typed.sides.num_pairs - len(typed.links())
    for node in range(n):
        opposite = typed.sides.opposite(node)
        assert all(kinds[v] in between for v in opposite)


def test_types_carry_through_parts_of_a_graph_and_unions():
    graph = Graph.from_edges(shop()).with_sides(["c"] * 8 + ["p"] * 7)
    assert graph.with_edges([0, 1]).sides == graph.sides
    union = Graph.disjoint_union([graph, graph])
    assert union.sides.left_nodes.tolist() == [*range(8), *range(15, 23)]
    assert Graph.disjoint_union([graph, Graph.from_edges([(0, 1)])]).sides is None
    assert graph != Graph.from_edges(shop())
    assert "between=c,p" in repr(graph)


def test_between_names_columns_in_either_order_or_types():
    pairs = shop()
    columns = ("Customer ID", "product_id")
    sides = sides_of_table(pairs, 15, columns=columns, between="product,customer")
    assert sides.left_nodes.tolist() == list(range(8, 15))
    assert sides_of_table(pairs, 15, columns=columns, between="all") is None
    types = ["a"] * 8 + ["b"] * 5 + ["c"] * 2
    assert sides_of_table(pairs, 15, columns=columns, types=types) is None
    sides = sides_of_table(pairs, 15, columns=columns, types=types, between="a,c")
    assert sides.right_nodes.tolist() == [13, 14]
    assert sides_of_table(pairs, 15, types=["a"] * 8 + ["b"] * 7).names == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"between": "buyer,item"}, "'customer' and 'product'"),
        ({"between": "customer"}, "two names"),
        ({"between": "a,x", "types": ["a"] * 8 + ["b"] * 7}, "no type 'x'; there are a, b"),
    ],
)
def test_what_is_no_pair_of_kinds_is_refused(arguments, words):
    with pytest.raises(PGNNError, match=words):
        sides_of_table(shop(), 15, columns=("customer", "product"), **arguments)


def test_an_id_in_both_columns_is_no_shop_and_says_so():
    with pytest.raises(PGNNError, match="1 ids stand in both columns"):
        sides_of_table(np.array([(0, 1), (1, 2)]), 3, columns=("u", "v"), between="u,v")


def test_sides_are_checked():
    with pytest.raises(PGNNError, match="both sides"):
        Sides(np.array([True, True, False]), np.array([False, True, True]), ("a", "b"))
    with pytest.raises(PGNNError, match="3 types"):
        sides_of_types(["a", "b", "c"])
    with pytest.raises(PGNNError, match="one entry per node"):
        Graph.from_edges([(0, 1)]).with_sides(["a", "b", "b"])
    with pytest.raises(PGNNError, match="two names"):
        as_between("a,b,c")
