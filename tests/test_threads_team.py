"""Blocks of work shared by processes: every process ends with what one alone computes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgnn
from pgnn.threads import (
    ElsewhereError,
    columns_of,
    current_team,
    in_blocks,
    num_cores,
    resolve_threads,
    rows_of,
    run_blocks,
    set_default_threads,
)
from rank_threads import on_ranks
from strategies import graphs


def squares(num_items, size, form):
    """Fill arrays of squares by blocks, in one of the forms that `fills` knows."""
    rows, columns = np.zeros((num_items, 2)), np.zeros((3, num_items), dtype=np.int16)
    order = np.random.default_rng(0).permutation(num_items)

    def work(block, _):
        assert current_team() is None  # a block is one process's own
        places = order[block.start : block.stop] if form == "indices" else np.array(block)
        rows[places] = places[:, None] ** 2
        columns[:, block.start : block.stop] = np.array(block) + 1

    def fills(block):
        if form == "rows":
            return [*rows_of(rows)(block), *columns_of(columns)(block)]
        return [(rows, order[block.start : block.stop]), *columns_of(columns)(block)]

    in_blocks(work, num_items, size, lambda: None, 2, fills=fills)
    return rows, columns


@settings(max_examples=20, deadline=None)
@given(
    num_items=st.integers(0, 12),
    block_size=st.integers(1, 5),
    num_ranks=st.integers(1, 3),
    form=st.sampled_from(["rows", "indices"]),
)
def test_all_processes_end_with_the_same_arrays(num_items, block_size, num_ranks, form):
    alone = squares(num_items, block_size, form)
    for shared in on_ranks(num_ranks, lambda _: squares(num_items, block_size, form)):
        for array, expected in zip(shared, alone, strict=True):
            np.testing.assert_array_equal(array, expected)


def test_each_block_is_done_by_one_process():
    workers = []
    filled = np.zeros(8)
    blocks = [range(i, i + 1) for i in range(8)]

    def share(group):
        array = np.zeros(8)
        run_blocks(
            lambda block, _: workers.append((block.start, group.rank)),
            blocks,
            lambda: None,
            1,
            fills=rows_of(array),
        )

    on_ranks(2, share)
    assert sorted(block for block, _ in workers) == list(range(8))
    assert {rank for _, rank in workers} == {0, 1}
    run_blocks(lambda block, _: None, blocks, lambda: None, 1, fills=rows_of(filled))


def test_a_failure_is_raised_by_all_processes():
    def share(group):
        def work(block, _):
            if block.start == 1:
                raise KeyError("broken")

        blocks = [range(i, i + 1) for i in range(4)]
        try:
            run_blocks(work, blocks, lambda: None, 1, fills=rows_of(np.zeros(4)))
        except (KeyError, ElsewhereError) as error:
            return type(error)

    assert on_ranks(2, share) == [ElsewhereError, KeyError]


def test_blocks_that_say_not_what_they_fill_are_done_by_all():
    def share(_):
        return sorted(run_blocks(lambda block, _: block.start, BLOCKS, lambda: None, 1))

    assert on_ranks(2, share) == [[0, 3], [0, 3]]


BLOCKS = [range(3), range(3, 4)]


@settings(max_examples=15, deadline=None)
@given(graph=graphs(), num_ranks=st.integers(2, 3), data=st.data())
def test_distances_are_the_same_on_any_number_of_processes(graph, num_ranks, data):
    num_sets = data.draw(st.sampled_from([3, 40, 70]))  # one block or several
    sets = pgnn.sample_anchor_sets(graph.num_nodes, num_sets=num_sets, rng=0)
    alone = pgnn.anchor_distances(graph, sets, num_threads=1)
    for shared in on_ranks(num_ranks, lambda _: pgnn.anchor_distances(graph, sets, num_threads=1)):
        np.testing.assert_array_equal(shared.distance, alone.distance)
        np.testing.assert_array_equal(shared.nearest, alone.nearest)


def test_long_paths_are_searched_the_same_way_by_all_processes():
    """Searching by levels is given up by the process whose sets are far; the others must follow."""
    edges = [(v, v + 1) for v in range(400)] + [(401, 402 + v) for v in range(40)]
    sets = [*([[402 + v] for v in range(32)]), *([[0]] * 32)]  # of a star, and of the path

    def search(_=None):
        graph = pgnn.Graph.from_edges(edges)  # a graph keeps what was found out about it
        return pgnn.anchor_distances(graph, sets, num_threads=1).hops

    alone = search()
    for shared in on_ranks(2, search):
        np.testing.assert_array_equal(shared, alone)


@pytest.mark.parametrize("method", ["exact", "estimated"])
@pytest.mark.parametrize("directed", [False, True])
def test_proximities_are_the_same_on_any_number_of_processes(method, directed):
    rng = np.random.default_rng(3)
    graph = pgnn.Graph.from_edges(
        [(u, v) for u, v in rng.integers(0, 60, (150, 2)) if u != v], 60, directed=directed
    )
    pairs = np.array([(u, v) for u in range(60) for v in range(60) if u != v])

    def describe(_=None):
        return pgnn.pair_proximities(graph, pairs, method=method, num_threads=1).values

    alone = describe()
    for shared in on_ranks(3, describe):
        np.testing.assert_array_equal(shared, alone)


def test_default_threads_can_be_fewer_than_the_cores():
    assert resolve_threads(None) == num_cores()
    set_default_threads(3)
    try:
        assert (resolve_threads(None), resolve_threads(2)) == (3, 2)
    finally:
        set_default_threads(None)
    assert resolve_threads(None) == num_cores()
