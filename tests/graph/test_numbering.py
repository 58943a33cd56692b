"""From ids to node indices: integers ascending, strings in the order in which they come."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn.graph import arrays
from pgnn.graph.columns import add_nodes, as_node_names, positions, to_common_kind
from pgnn.graph.numbering import NodeNumbers, in_order, number_nodes

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


@given(st.data(), st.integers(1, 7), st.booleans())
def test_blocks_are_numbered_as_the_whole(data, step, in_small_blocks):
    kinds = [integers, strings, st.integers(0, 30), st.integers(-(2**31), 2**31)]
    kind = st.one_of(data.draw(st.lists(st.sampled_from(kinds), min_size=1)))
    edges = data.draw(st.lists(st.tuples(kind, kind), min_size=1, max_size=40))
    numbers, are_texts = NodeNumbers(), False
    with pytest.MonkeyPatch.context() as patch:
        if in_small_blocks:
            patch.setattr(arrays, "_BLOCK_EDGES", step)
        for start in range(0, len(edges), step):
            block = edges[start : start + step]
            are_integers = all(isinstance(name, int) for edge in block for name in edge)
            are_texts |= not are_integers
            ends = [[edge[place] for edge in block] for place in (0, 1)]
            kind_of = pl.Int64 if are_integers else pl.String
            numbers.add(*(pl.Series(list(map(str, end))).cast(kind_of) for end in ends))
            assert numbers.are_integers != are_texts
        pairs, ids = numbers.taken()
    names = [[str(name) if are_texts else name for name in edge] for edge in edges]
    assert [[ids[place] for place in pair] for pair in pairs.tolist()] == names
    seen = list(dict.fromkeys(name for edge in names for name in edge))
    assert ids.to_list() == (seen if are_texts else sorted(seen))
    assert pairs.dtype == np.int32


def test_in_order_leaves_what_was_passed_unless_it_may_be_overwritten():
    pairs = np.array([[1, 0], [2, 1]], dtype=np.int32)
    renumbered, ids = in_order(pairs, pl.Series(["a", "b", "c"]))
    assert (renumbered.tolist(), ids.to_list()) == ([[0, 1], [2, 0]], ["b", "a", "c"])
    assert pairs.tolist() == [[1, 0], [2, 1]]
    assert in_order(pairs, pl.Series([5, 3, 4]), overwrite=True)[0] is pairs
    assert pairs.tolist() == [[0, 2], [1, 0]]
