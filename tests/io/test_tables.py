"""Tables of text and parquet: what the first line is, which records are wrong."""

import polars as pl
import pytest

from io_helpers import edge_ids, message
from pgnn.errors import PGNNError
from pgnn.io import read_graph, tables
from pgnn.io.tables import find_header, read_table


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("1,2\n3,4\n", [(1, 2), (3, 4)]),
        ("source,target\n1,2\n", [(1, 2)]),
        ("Source,Target\nann,bob\n", [("ann", "bob")]),
        ("from_node_id,to node id\nann,bob\n", [("ann", "bob")]),
        ("who,whom\n1,2\n", [(1, 2)]),
        ("who,whom,since\nann,bob,1999\n", [("ann", "bob")]),
        ("who,whom\nann,bob\n", [("who", "whom"), ("ann", "bob")]),
        ("u,v\nv,w\n", [("u", "v"), ("v", "w")]),  # known names, but used as ids below
        ("ann,1\n2,3\n", [("ann", "1"), ("2", "3")]),
        ("a,b,NA\nc,d,2\n", [("a", "b"), ("c", "d")]),  # a missing value is not a name
        (",source,target\n0,5,6\n1,6,7\n", [(5, 6), (6, 7)]),  # pandas' index comes first
        ("target,source\n1,2\n", [(2, 1)]),
    ],
)
def test_read_graph_header_is_detected(write, text, edges):
    graph = read_graph(write("edges.csv", text), directed=True)
    assert sorted(edge_ids(graph)) == sorted(edges)


@pytest.mark.parametrize(
    ("header", "edges"), [(True, [("c", "d")]), (False, [("a", "b"), ("c", "d")])]
)
def test_read_graph_header_is_forced(write, header, edges):
    assert edge_ids(read_graph(write("edges.csv", "a,b\nc,d\n"), header=header)) == edges


@pytest.mark.parametrize(
    ("columns", "ids"),
    [
        ({"a": [3, 1], "b": [2, 3]}, [1, 2, 3]),
        ({"a": ["3", "1"], "b": [2, 3]}, [1, 2, 3]),
        ({"a": ["3", "01"], "b": [2, 3]}, ["3", "2", "01"]),
        ({"a": pl.Series([2**64 - 1], dtype=pl.UInt64), "b": [1]}, ["18446744073709551615", "1"]),
        ({"a": pl.Series(["x", "y"], dtype=pl.Categorical), "b": ["y", "z"]}, ["x", "y", "z"]),
    ],
)
def test_read_graph_parquet_ids_follow_the_rule_of_text(write, columns, ids):
    assert read_graph(write("edges.parquet", columns)).node_ids.tolist() == ids


@pytest.mark.parametrize(
    ("columns", "row", "reason"),
    [
        ({"a": [1, None], "b": [1, 2]}, 2, "source id is missing"),
        ({"a": ["x", "y"], "b": ["y", ""]}, 2, "target id is missing"),
        ({"a": [1, 2], "b": [1, 2], "weight": [1.0, -1.0]}, 2, "weight is '-1.0'"),
        ({"a": [1, 2], "b": [1, 2], "weight": [None, 1.0]}, 1, "weight is ''"),
    ],
)
def test_read_graph_names_the_row_of_a_parquet_file(write, columns, row, reason):
    path = write("edges.parquet", columns)
    error = message(read_graph, path)
    assert error.startswith(f"{path}, row {row}: ")
    assert reason in error


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"a": [1.5], "b": [1]}, "column 'a' must hold integers or strings (got Float64)"),
        ({"a": [1], "b": [2], "weight": ["x"]}, "column 'weight' must hold numbers (got String)"),
        ({"a": [1]}, "needs at least 2 columns"),
    ],
)
def test_read_graph_refuses_parquet_columns_of_another_type(write, columns, reason):
    assert reason in message(read_graph, write("edges.parquet", columns))


@pytest.mark.parametrize("cut", [3, 12, 100, -4])
def test_read_graph_names_a_cut_parquet(write, cut):
    path = write("edges.parquet", {"u": ["a", "b", "c"], "v": ["b", "c", "a"]})
    path.write_bytes(path.read_bytes()[:cut])
    assert message(read_graph, path).startswith(f"{path}: cannot be read as parquet")


def test_read_graph_finds_the_line_when_a_column_is_counted_from_the_end(write):
    path = write("edges.csv", "s,t,a,b\n1,2,3,4\n5,6\n")
    assert ", line 3: has 2 fields" in message(read_graph, path, weight=-2)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("buyer,item\nann,pen\nbob,pen\nann,ink\n", ["ann", "pen", "bob", "ink"]),
        ("buyer,item,kind\nann,pen,x\nbob,pen,y\n", ["ann", "pen", "bob"]),
        ("customer product\nC001 P7\nC002 P8\n", ["C001", "P7", "C002", "P8"]),
    ],
)
def test_header_of_unknown_names_is_told_by_its_ids(write, text, names):
    path = write("edges.csv" if "," in text else "edges.txt", text)
    assert read_graph(path).node_ids.tolist() == names
    assert read_graph(path, header=False).num_nodes == len(names) + 2


@pytest.mark.parametrize(
    "text",
    [
        "ann,pen\nbob,pen\nann,ink\n",  # an id of the first line comes again
        "ann,bob\neve,joe\nzoe,tim\n",  # no line shares an id with another
        "ann,bob\neve,joe\njoe,zoe\nx,y\nz,w\n",  # nor do half of them
        "buyer,item,3\nann,pen,x\nbob,pen,y\n",  # a name is not a number
        "ann,ann\nbob,eve\neve,zoe\n",  # two columns of one name
    ],
)
def test_first_line_that_might_be_an_edge_is_one(write, text):
    graph = read_graph(write("edges.csv", text))
    assert graph.num_edges + graph.dropped_self_loops == text.count("\n")


def test_first_line_of_a_large_file_is_compared_with_all_of_it(write):
    chain = "".join(f"{'ab'[i % 2]}x{'y' * i},{'ba'[i % 2]}x{'y' * (i + 1)}\n" for i in range(300))
    assert read_graph(write("named.csv", "buyer,item\n" + chain)).num_edges == 300
    # The ids of the first line occur again, but after the lines that are looked at first.
    assert read_graph(write("bare.csv", "buyer,item\n" + chain + "item,ax\n")).num_edges == 302


def test_first_line_whose_ids_have_features_is_an_edge(write):
    edges = write("edges.csv", "ann,bob\neve,joe\njoe,zoe\n")
    nodes = write(
        "nodes.csv", "name,f\n" + "".join(f"{n},1\n" for n in ["ann", "bob", "eve", "joe", "zoe"])
    )
    assert read_graph(edges).num_edges == 2
    assert read_graph(edges, features=nodes).num_edges == 3


@pytest.mark.parametrize(
    ("rows", "present", "guessed"),
    [
        ([["a", "b"]], False, True),
        ([["source", "b"], ["x", "y"]], True, False),
        ([["source", "b"], ["x", "source"]], False, False),
        ([["1", "b"], ["x", "y"]], False, False),
        ([["a", "b", "n"], ["x", "y", "1"]], True, False),
        ([["a", "b", ""], ["x", "y", "z"]], False, False),
        ([["a", "b"], ["x1", "y1"], ["x2", "y2"]], True, True),
        ([["a", "b"], ["x1", "y1"]], False, True),
    ],
)
def test_find_header_decides_by_names_numbers_and_digits(rows, present, guessed):
    header = find_header(rows, [0, 1], lambda names: "source" in names)
    assert (header.present, header.guessed) == (present, guessed)
    assert header.reason


@pytest.mark.parametrize("header", ["", "source,target,weight\n"])
@pytest.mark.parametrize("block", [16, 40, 1000])
@pytest.mark.parametrize(
    "last", ["", "12,77,0.5", "ann,3,1", "7,,2", "007,3,1", "1,2", "8,9,1e400", "\ufeff8,9,1"]
)
def test_blocks_of_text_are_read_as_the_whole(tmp_path, monkeypatch, header, block, last):
    lines = "".join(f"{v % 7},{v * v % 11 + 100},{v + 1}\n" for v in range(60))
    path = tmp_path / "edges.csv"
    path.write_text(f"{header}{lines}{last}\n{lines}", encoding="utf-8")

    def read():
        table = read_table(path, None, [0, 1], lambda names: "source" in names)
        try:
            ids, numbers, _ = table.load([0, 1], [2], lambda fields: None)
        except PGNNError as error:
            return str(error)
        return [column.to_list() for column in (*ids, *numbers)]

    whole = read()
    monkeypatch.setattr(tables, "BLOCK_BYTES", block)
    assert read() == whole
