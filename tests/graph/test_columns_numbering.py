"""From ids to node indices: integers ascending, strings in the order in which they come."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn.graph.columns import add_nodes, as_node_names, number_nodes, positions, to_common_kind

strings = st.text("abc", min_size=1, max_size=2)
integers = st.integers(-5, 5) | st.integers(-(2**62), 2**62)


@given(st.data(), st.sampled_from([strings, integers]))
def test_numbers_lead_back_to_the_ids(data, kind):
    edges = data.draw(st.lists(st.tuples(kind, kind), min_size=1, max_size=10))
    source, target = pl.Series([u for u, _ in edges]), pl.Series([v for _, v in edges])
    pairs, ids = number_nodes(source, target)
    assert [tuple(ids[place] for place in pair) for pair in pairs.tolist()] == edges
    seen = list(dict.fromkeys(name for edge in edges for name in edge))
    assert ids.to_list() == (seen if isinstance(seen[0], str) else sorted(seen))


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ([["1", "-2"], [3, 4]], pl.Int64),
        ([["1", "02"], [3, 4]], pl.String),
        ([["+1"], [3]], pl.String),
        ([["9223372036854775808"], [1]], pl.String),
        ([["x"], [1]], pl.String),
    ],
)
def test_ids_are_integers_only_if_none_changes_on_the_way(columns, kind):
    series = [pl.Series(column) for column in columns]
    kinds = {column.dtype for column in to_common_kind(series)}
    assert kinds == {kind}
    written = [column.cast(pl.String).to_list() for column in to_common_kind(series)]
    assert written == [[str(value) for value in column] for column in columns]


def test_positions_of_unknown_ids_are_minus_one():
    assert positions(pl.Series(["b", "z", "a"]), pl.Series(["a", "b"])).tolist() == [1, -1, 0]


def test_added_nodes_keep_integers_ascending_and_strings_in_order():
    pairs, ids = add_nodes(np.array([[0, 1]]), pl.Series([10, 30]), pl.Series([20, 10]))
    assert ids.to_list() == [10, 20, 30]
    assert pairs.tolist() == [[0, 2]]
    pairs, ids = add_nodes(np.array([[0, 1]]), pl.Series(["b", "c"]), pl.Series(["a", "b"]))
    assert ids.to_list() == ["b", "c", "a"]
    assert pairs.tolist() == [[0, 1]]


def test_nodes_numbered_from_zero_need_no_names():
    assert as_node_names(pl.Series([0, 1, 2])) is None
    assert as_node_names(pl.Series([0, 2])).tolist() == [0, 2]
    assert as_node_names(pl.Series(["0", "1"])).tolist() == ["0", "1"]
