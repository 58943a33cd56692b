"""Edges with times: what was known at a moment, and that later events decide nothing in it."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_helpers import edge_ids, expected_graph, message
from pgnn import PGNNError, read_graph
from pgnn.io import Events, read_events

ORDERS = """buyer,item,day,amount
ann,pen,2024-01-05,2
bob,pen,2024-02-01,1
ann,pen,2024-03-01,3
ann,ink,2024-04-01,1
"""


def test_repeated_events_are_strengths(write):
    path = write("orders.csv", ORDERS)
    counted = read_events(path, "day", repeats="sum").graph()
    assert dict(zip(edge_ids(counted), counted.edge_weights().tolist(), strict=True)) == {
        ("ann", "pen"): 2.0,
        ("pen", "bob"): 1.0,
        ("ann", "ink"): 1.0,
    }
    summed = read_events(path, "day", weight="amount", repeats="sum").graph()
    assert sorted(summed.edge_weights().tolist()) == [1.0, 1.0, 5.0]
    assert read_events(path, "day").graph().weights is None  # lengths: nothing adds up


def test_a_graph_of_all_events_is_that_of_the_file(write):
    path = write("orders.csv", ORDERS)
    assert read_events(path, "day").graph() == read_graph(path)


@pytest.mark.parametrize(
    ("until", "kept"),
    [("2024-01-05", 1), ("2024-02", 2), ("2024", 4), ("2024-03-01T00:00", 3), ("2024-02-28", 2)],
)
def test_until_drops_later_events_and_counts_them(write, until, kept):
    events = read_events(write("orders.csv", ORDERS), "day", until=until)
    assert (len(events), events.num_dropped) == (kept, 4 - kept)
    _, notes = events.graph_with_notes()
    assert (f"{4 - kept} events after {until} dropped" in notes.line()) == (kept < 3)


def test_line_says_the_column_and_the_span_of_times(write):
    events = read_events(write("orders.csv", ORDERS), "day", weight="amount", repeats="sum")
    assert events.graph_with_notes()[1].line() == (
        "orders.csv: 4 nodes, 3 edges; buyer - item; weight = amount (strength); time = day "
        "(2024-01-05 to 2024-04-01); 1 repeated event added up"
    )


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a,b,t\nx,y,2024-01-01\ny,z,soon\n", 3, "the time is 'soon', but times must be dates"),
        ("a,b,t\nx,y,2024-01-01\n\ny,z,2024-02-30\n", 4, "the time is '2024-02-30'"),
        ("a,b,t\nx,y,2024-01-01\ny,z,\n", 3, "the time is missing"),
        ("a,b,t\nx,y,5\ny,z,2024-01-01\n", 3, "the first is a number, so all must be"),
        ("a,b,t\nx,y,03/04/2024\n", 2, "the time is '03/04/2024'"),
    ],
)
def test_a_time_that_cannot_be_read_is_named_with_its_line(write, text, line, reason):
    path = write("edges.csv", text)
    error = message(read_events, path, "t")
    assert error.startswith(f"{path}, line {line}: ")
    assert reason in error


def test_columns_that_cannot_hold_times_are_refused(write, tmp_path):
    path = write("orders.csv", ORDERS)
    assert "column time='when' does not exist" in message(read_events, path, "when")
    assert "time is column 'item', which holds ids" in message(read_events, path, "item")
    error = message(read_events, path, "amount", weight="amount")
    assert "time is column 'amount', which holds weights" in error
    assert "all events are after until (2020)" in message(read_events, path, "day", until="2020")
    with pytest.raises(PGNNError, match="names a column of a table"):
        read_events(tmp_path / "graph.npz", "day")


def test_times_of_parquet_are_read(tmp_path):
    frame = pl.DataFrame({"u": [1, 2, 3], "v": [2, 3, 4], "t": [1.5, None, 2.0]})
    frame.write_parquet(tmp_path / "edges.parquet")
    assert ", row 2: the time is missing" in message(read_events, tmp_path / "edges.parquet", "t")
    frame.with_columns(pl.col("t").fill_null(3.0)).write_parquet(tmp_path / "edges.parquet")
    assert read_events(tmp_path / "edges.parquet", "t").graph(before=2.0).num_edges == 1


ids = st.sampled_from(["1", "2", "3", "4", "5"])
later_ids = ids | st.sampled_from(["007", "zoe", "6"])
rows = st.lists(st.tuples(ids, ids, st.integers(0, 5)), min_size=1, max_size=12)
later = st.lists(st.tuples(later_ids, later_ids, st.integers(6, 9)), max_size=6)


@given(rows, later, st.randoms(use_true_random=False), st.booleans())
def test_later_events_change_nothing_in_the_graph_of_earlier_ones(past, future, chance, directed):
    mixed = [*past, *future]
    order = sorted(range(len(mixed)), key=lambda i: (chance.random(), i))
    places = sorted(i for i in order if i < len(past))  # earlier events keep their order
    seats = [i < len(past) for i in order]
    shuffled = [mixed[places.pop(0)] if seat else None for seat in seats]
    queue = list(future)
    table = [row if row is not None else queue.pop(0) for row in shuffled]
    graph = Events.of(*zip(*table, strict=True), directed=directed).graph(before=6)
    alone = Events.of(*zip(*past, strict=True), directed=directed).graph()
    assert graph == alone
    slow = expected_graph([(u, v) for u, v, _ in past], directed=directed)
    assert edge_ids(graph) == edge_ids(slow)
    assert sum(graph.edge_weights()) == sum(u != v for u, v, _ in past)


@given(rows, later)
def test_places_are_those_of_the_ids(past, future):
    events = Events.of(*zip(*past, *future, strict=True))
    graph = events.graph(before=6)
    names = [str(name) for name in graph.node_ids.tolist()]
    expected = [
        [names.index(name) if name in names else -1 for name in row[:2]] for row in past + future
    ]
    assert events.places(graph).tolist() == expected


def test_events_of_arrays_need_times():
    with pytest.raises(PGNNError, match=r"times\[1\] is 'soon', which is no time"):
        Events.of(["a", "b"], ["b", "c"], ["2024-01-01", "soon"])


@pytest.mark.parametrize("name", ["source", "target", "times"])
def test_columns_that_hold_lists_are_refused(name):
    """Polars follows a list that holds itself to the end of the stack, and the process with it."""
    endless = [0]
    endless.append(endless)
    for column in (endless, np.zeros((2, 2)), [(1, 2), 3]):
        columns = {"source": [0, 1], "target": [1, 2], "times": [1, 2]} | {name: column}
        with pytest.raises(PGNNError, match=f"{name} must be a flat list"):
            Events.of(**columns)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": []}, r"target has 0 entries, source has 2"),
        ({"target": [1]}, r"target has 1 entries, source has 2"),
        ({"times": [1]}, r"times has 1 entries, source has 2"),
        ({"weights": [1.0]}, r"weights has 1 entries, source has 2"),
        ({"source": []}, r"target has 2 entries, source has 0"),
        ({"weights": 3.0}, r"weights must be a list with one number for each event"),
        ({"weights": [[1.0], [2.0]]}, r"weights must be a list"),
    ],
)
def test_columns_that_are_not_equally_long_are_refused(changed, message):
    columns = {"source": [0, 1], "target": [1, 2], "times": [1, 2], **changed}
    with pytest.raises(PGNNError, match=message):
        Events.of(**columns)
