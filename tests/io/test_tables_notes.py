"""How a file was read, said in one line and without printing."""

import json
from pathlib import Path

import networkx as nx
import pytest
import scipy.sparse as sp

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
        "edges.csv: 2 nodes, 1 edge; from - to; weight = weight; "
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
        "g.npz: 2 nodes, 1 edge; directed; weight = the entries",
        "g.graphml: 3 nodes, 2 edges",
    ]


def test_notes_name_columns_by_position_where_there_are_no_names(write):
    nodes = write("nodes.csv", "id,f\n1,0.5\n2,0.5\n")
    edges = write("edges.csv", "1,2,5\n")
    _, notes = read_graph_with_notes(edges, weight=2, directed=True, features=nodes)
    assert (notes.source, notes.target, notes.weight) == ("0", "1", "2")
    assert notes.line() == "edges.csv: 2 nodes, 1 edge; 0 -> 1; weight = 2; nodes of nodes.csv"


def test_notes_are_json(write):
    _, notes = read_graph_with_notes(write("edges.csv", "a,b\n"))
    values = json.loads(json.dumps(notes.to_json()))
    assert Path(values.pop("path")) == notes.path
    assert values["header"] is False
    assert values["num_edges"] == 1
