"""How a file was read, said in one line and without printing."""

import json
from pathlib import Path

import networkx as nx
import pytest
import scipy.sparse as sp

from io_helpers import message
from pgnn.io import Header, ReadNotes, read_graph, read_graph_with_notes


def flags(name):
    return {"header=False": "--no-header", "header=True": "--header"}.get(name)


def test_notes_come_with_the_graph_that_read_graph_gives(write):
    path = write("edges.csv", "from,to,weight\na,b,1\nb,b,1\nb,a,2\n")
    graph, notes = read_graph_with_notes(path, directed=False)
    assert graph == read_graph(path)
    assert notes == ReadNotes(
        path=path,
        num_nodes=2,
        num_edges=1,
        directed=False,
        header=Header(True, "its names are usual ones"),
        source="from",
        target="to",
        weight="weight",
        dropped_self_loops=1,
        dropped_repeats=1,
    )
    assert notes.line() == (
        "edges.csv: 2 nodes, 1 edge; from - to; weight = weight (length); "
        "1 self-loop and 1 repeated edge left out"
    )


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("buyer,item\nann,pen\nbob,pen\n", "names (its ids occur in no other line, while those of "
         "other lines repeat; --no-header reads it as an edge)"),
        ("who,whom\nann1,bob1\neve2,joe2\n", "names (all ids below it have digits, and it has "
         "none; --no-header reads it as an edge)"),
        ("ann,bob\nbob,eve\n", "an edge (it looks like the other lines; --header reads it as "
         "names)"),
        ("ann,bob\n", "an edge (it is the only line; --header reads it as names)"),
    ],
)  # fmt: skip
def test_line_says_what_a_first_line_of_words_was_taken_for(write, text, remark):
    _, notes = read_graph_with_notes(write("edges.csv", text))
    assert notes.line(flags).endswith(f"; its first line was read as {remark}")


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("source,target\nann,bob\n", {}),
        ("1,2\n2,3\n", {}),
        ("buyer,item\nann,pen\nbob,pen\n", {"header": True}),
        ("buyer,item\nann,pen\nbob,pen\n", {"header": False}),
        ("buyer,item\nann,pen\nbob,pen\n", {"source": "buyer", "target": "item"}),
    ],
)
def test_line_leaves_out_what_is_plain(write, text, arguments):
    _, notes = read_graph_with_notes(write("edges.csv", text), **arguments)
    assert "first line" not in notes.line()


def test_notes_of_other_formats_have_no_columns(tmp_path, write):
    sp.save_npz(tmp_path / "g.npz", sp.coo_array(([2.0], ([0], [1])), shape=(2, 2)))
    nx.write_graphml(nx.path_graph(3), tmp_path / "g.graphml")
    lines = [read_graph_with_notes(tmp_path / name)[1].line() for name in ("g.npz", "g.graphml")]
    assert lines == [
        "g.npz: 2 nodes, 1 edge; directed; weight = the entries (length)",
        "g.graphml: 3 nodes, 2 edges",
    ]


def test_notes_name_columns_by_position_where_there_are_no_names(write):
    nodes = write("nodes.csv", "id,f\n1,0.5\n2,0.5\n")
    edges = write("edges.csv", "1,2,5\n")
    _, notes = read_graph_with_notes(edges, weight=2, directed=True, features=nodes)
    assert (notes.source, notes.target, notes.weight) == ("0", "1", "2")
    assert notes.line() == (
        "edges.csv: 2 nodes, 1 edge; 0 -> 1; weight = 2 (length); nodes of nodes.csv"
    )


def test_notes_are_json(write):
    _, notes = read_graph_with_notes(write("edges.csv", "a,b\n"))
    values = json.loads(json.dumps(notes.to_json()))
    assert Path(values.pop("path")) == notes.path
    assert values["header"] is False
    assert values["num_edges"] == 1


def bipartite(customers=12, products=6):
    return [(f"c{c}", f"p{(c + k) % products}") for c in range(customers) for k in range(3)]


def test_line_names_two_sides_by_their_columns(write):
    rows = "".join(f"{c},{p},3\n" for c, p in bipartite())
    path = write("orders.csv", "customer_id,product,weight\n" + rows)
    _, notes = read_graph_with_notes(path, repeats="sum")
    assert notes.sides.names == ("customer", "product")
    assert notes.line() == (
        "orders.csv: 12 customers + 6 products (two sides), 36 edges; customer_id -> product; "
        "weight = weight (strength)"
    )
    nodes = write("nodes.csv", "id,f\n" + "".join(f"c{c},1\n" for c in range(15)))
    _, notes = read_graph_with_notes(path, features=nodes)
    assert "12 customers + 6 products (two sides) + 3 other nodes, 36 edges" in notes.line()


def test_sides_without_names_are_counted(write):
    path = write("orders.txt", "".join(f"{c} {p}\n" for c, p in bipartite()))
    assert (
        "12 + 6 nodes (two sides), 36 edges" in read_graph_with_notes(path, header=False)[1].line()
    )


@pytest.mark.parametrize(
    "rows",
    [
        [(f"a{i}", f"b{i}") for i in range(9)],  # no id repeats
        [("a", f"b{i}") for i in range(9)],  # a star
        [(f"a{i}", f"a{i + 1}") for i in range(9)],  # ids on both sides
        [("a", "x"), ("b", "y"), ("a", "y")],  # too few
    ],
)
def test_sides_are_not_seen_where_there_are_none(write, rows):
    path = write("edges.csv", "".join(f"{u},{v}\n" for u, v in rows))
    assert read_graph_with_notes(path)[1].sides is None


def warned(path, **arguments):
    _, notes = read_graph_with_notes(path, **arguments)
    assert notes.to_json()["warnings"] == notes.warned()
    return notes.warned()


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("id,age,city", "{i},{age},rome"),  # ages are ids, too
        ("id,name,age", "{i},n{i},{age}"),
        ("person_id,team", "{i},t{age}"),
        ("who,city,age", "w{i},c{age},{age}"),
        ("name,height", "w{i},1.{i}"),
    ],
)
def test_a_table_of_nodes_given_as_a_graph_is_warned_about(write, header, row):
    rows = "\n".join(row.format(i=i, age=20 + i % 4) for i in range(30))
    (line,) = warned(write("people.csv", f"{header}\n{rows}\n"))
    column = header.split(",")[0]
    assert line == (
        "people.csv looks like a table of nodes, not of edges: no id of column "
        f"{column} repeats; give the file of edges, and this one as features"
    )


def test_a_graph_with_almost_no_repeated_ids_is_warned_about(write):
    rows = "".join(f"a{i},b{i}\n" for i in range(30)) + "a0,b1\n"
    (line,) = warned(write("edges.csv", "source,target\n" + rows))
    assert "almost no id occurs twice (58 of 60 nodes have a single edge)" in line
    assert "source and target choose others" in line


@pytest.mark.parametrize("value", ["0.{i}5", "2024-01-{i}"])
def test_fractions_and_dates_read_as_ids_are_warned_about(write, value):
    rows = "".join(f"a{i % 9},{value.format(i=10 + i % 9)}\n" for i in range(18))
    (line,) = warned(write("edges.csv", "source,value\n" + rows))
    assert "column value was read as ids of nodes, but holds fractions or dates" in line


def test_a_header_taken_as_an_edge_is_warned_about(write):
    words = "".join(f"{u}a,{v}a\n" for u, v in zip("abcdefghij", "klmnopqrst", strict=True))
    path = write("edges.csv", "buyer,item\n" + words)
    assert any(
        line.startswith("edges.csv: its first line (buyer, item) was read as an edge, but its ids "
                        "occur nowhere else; header=True")
        for line in warned(path)
    )  # fmt: skip
    numbers = write("numbers.csv", "buyer,item\n1,2\n2,3\n3,1\n")
    (line,) = warned(numbers, header=False)
    assert "(buyer, item) was read as an edge, but the ids below are numbers" in line
    assert warned(numbers) == []


def test_an_edge_taken_as_a_header_is_warned_about(write):
    path = write("edges.csv", "4,1\n1,2\n2,3\n3,1\n")
    (line,) = warned(path, header=True)
    assert "its first line (4, 1) was read as names, and holds numbers; header=False" in line


@pytest.mark.parametrize(
    "text",
    [
        "source,target\n" + "".join(f"{i},{(i * 7) % 20}\n" for i in range(20)),
        "employee,boss\n" + "".join(f"e{i},e{i // 3}\n" for i in range(1, 30)),
        "user_id,item_id\n" + "".join(f"u{i % 9},i{i % 4}\n" for i in range(30)),
        "1,2\n2,3\n",
    ],
)
def test_plain_tables_of_edges_are_not_warned_about(write, text):
    assert warned(write("edges.csv", text)) == []


def test_a_table_of_nodes_with_blanks_is_refused_with_a_hint(write):
    error = message(read_graph, write("people.csv", "id,city,age\n1,rome,3\n2,,4\n"))
    assert "line 3: the target id is missing" in error
    assert "a table of nodes belongs to features" in error
    error = message(read_graph, write("edges.csv", "source,target\na,b\na,\n"))
    assert "features" not in error
