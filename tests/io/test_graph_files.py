"""Files to graphs: round trips, rules of reading, features, errors."""

import gzip
import re
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from io_helpers import any_ids, edge_ids, expected_graph, message
from pgnn import Graph, PGNNError
from pgnn.io import read_graph, read_graph_with_notes


def quote(field):
    return '"' + field.replace('"', '""') + '"'


plain_ids = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1).map(str),
    st.integers(0, 9).map(str),
    st.sampled_from(["007", "+7", "-0", "7", "-7", "1.0", "1e3", "x", "ß", "18446744073709551616"]),
    st.text("abxyz01", min_size=1, max_size=3),
)


integer_ids = st.integers(-5, 30).map(str)


FORMATS = [(".csv", ","), (".tsv", "\t"), (".txt", " "), (".edges", ";"), (".el", "\t"), ("", ",")]


def edge_lists(ids):
    return st.lists(st.tuples(ids, ids), min_size=1, max_size=12)


@st.composite
def edge_files(draw):
    """Name, text and arguments of an edge file, and the graph that it should be read as."""
    suffix, separator = draw(st.sampled_from(FORMATS))
    quoted = draw(st.booleans())
    edges = draw(st.one_of(edge_lists(integer_ids), edge_lists(any_ids if quoted else plain_ids)))
    # Dyadic fractions are exact in decimal and in binary.
    weight = st.integers(1, 99).map(lambda count: count / 8)
    weights = draw(st.none() | st.lists(weight, min_size=len(edges), max_size=len(edges)))
    directed, header = draw(st.booleans()), draw(st.booleans())
    rows = [list(edge) for edge in edges]
    if quoted:
        rows = [[quote(field) for field in row] for row in rows]
    if weights is not None:
        rows = [[*row, str(value)] for row, value in zip(rows, weights, strict=True)]
    if header:
        rows.insert(0, ["source", "target", "weight"][: len(rows[0])])
    pad = draw(st.sampled_from(["", " ", "  "]))
    lines = [pad + (pad + separator + pad).join(row) + pad for row in rows]
    for noise in draw(st.lists(st.sampled_from(["", "  ", "# 1,2", "% 1 2", ' # "']), max_size=4)):
        lines.insert(draw(st.integers(0, len(lines))), noise)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = (
        draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + draw(st.sampled_from(["", end]))
    )
    arguments = {"directed": directed, "header": header}
    if weights is not None and not header:
        arguments["weight"] = 2
    gz = draw(st.sampled_from(["", ".gz"]))
    return "edges" + suffix + gz, text, arguments, expected_graph(edges, weights, directed)


@settings(max_examples=150)
@given(edge_files())
def test_read_graph_of_any_text_table_equals_graph_from_memory(file):
    name, text, arguments, expected = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        graph = read_graph(path, **arguments)
    assert graph == expected
    assert graph.node_ids.dtype.kind == expected.node_ids.dtype.kind
    assert graph.dropped_self_loops == expected.dropped_self_loops
    assert graph.dropped_repeats == expected.dropped_repeats


@settings(max_examples=15)  # parquet is read by a process of its own
@given(edge_lists(st.one_of(integer_ids, any_ids)), st.booleans(), st.booleans())
@example([("1", "2"), ("2", "x")], False, False)
def test_read_graph_of_parquet_equals_graph_from_memory(edges, directed, weighted):
    weights = [0.5 + i for i in range(len(edges))] if weighted else None
    columns = {"source": [u for u, _ in edges], "target": [v for _, v in edges]}
    if weights:
        columns["weight"] = weights
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.parquet")
        pl.DataFrame(columns).write_parquet(path)
        assert read_graph(path, directed=directed) == expected_graph(edges, weights, directed)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1), st.booleans())
def test_read_graph_of_npz_and_graphml_equals_graph_from_memory(edges, directed):
    graph = Graph.from_edges(edges, num_nodes=11, directed=directed)
    with tempfile.TemporaryDirectory() as folder:
        matrix, markup = Path(folder, "graph.npz"), Path(folder, "graph.graphml.gz")
        sp.save_npz(matrix, graph.to_scipy())
        nx.write_graphml(graph.to_networkx(), markup)
        assert read_graph(matrix, directed=directed) == graph
        assert read_graph(markup) == graph


@pytest.mark.parametrize(
    ("text", "weight", "weights"),
    [
        ("1,2,5\n", None, None),  # a third column may be a time: never used unasked
        ("1,2,5\n", 2, [5.0]),
        ("1,2,5\n", -1, [5.0]),
        ("source,target,time\n1,2,5\n", None, None),
        ("source,target,time\n1,2,5\n", "time", [5.0]),
        ("source,target,length\n1,2,5\n", None, None),
        ("source,target,weight\n1,2,5\n", None, [5.0]),
        ("source,target,Weight\n1,2,5\n", None, [5.0]),
        ("source,target,weight\n1,2,5\n", False, None),
        ("source,target,weight,w\n1,2,5,6\n", "w", [6.0]),
        ("source,target,weight\n1,2,+1e2\n", None, [100.0]),
    ],
)
def test_read_graph_weight_is_a_column_named_weight_or_the_one_given(write, text, weight, weights):
    graph = read_graph(write("edges.csv", text), weight=weight)
    kept = graph.edge_weights()
    assert (None if kept is None else kept.tolist()) == weights


def test_read_graph_directed_default_depends_on_the_format(write, tmp_path):
    assert not read_graph(write("edges.csv", "1,2\n")).directed
    one_way = sp.coo_array(([1, 1], ([0, 1], [1, 2])), shape=(3, 3))
    sp.save_npz(tmp_path / "one_way.npz", one_way)
    sp.save_npz(tmp_path / "both.npz", one_way + one_way.T)
    assert read_graph(tmp_path / "one_way.npz").directed
    assert not read_graph(tmp_path / "one_way.npz", directed=False).directed
    assert not read_graph(tmp_path / "both.npz").directed
    nx.write_graphml(nx.path_graph(3), tmp_path / "path.graphml")
    nx.write_graphml(nx.DiGraph([(0, 1), (1, 2)]), tmp_path / "arrows.graphml")
    assert not read_graph(tmp_path / "path.graphml").directed
    assert read_graph(tmp_path / "path.graphml", directed=True).num_edges == 4
    assert read_graph(tmp_path / "arrows.graphml").directed
    assert read_graph(tmp_path / "arrows.graphml", directed=False).num_edges == 2


def test_read_graph_graphml_keeps_ids_weights_and_labels(tmp_path):
    graph = nx.Graph()
    graph.add_nodes_from([(10, {"y": "b", "x": 1.5}), (9, {"y": "a", "x": 2.5})])
    graph.add_edge(10, 9, weight=2.0, cost=3.0)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    read = read_graph(tmp_path / "g.graphml")
    assert read.node_ids.tolist() == [9, 10]  # integers, so ascending: attributes move along
    assert read.classes[read.y].tolist() == ["a", "b"]
    assert read.x.tolist() == [[2.5], [1.5]]
    assert read.edge_weights().tolist() == [2.0]
    assert read_graph(tmp_path / "g.graphml", weight="cost").edge_weights().tolist() == [3.0]
    assert read_graph(tmp_path / "g.graphml", weight=False).weights is None


def test_read_graph_npz_weights_follow_from_scipy(tmp_path):
    sp.save_npz(tmp_path / "g.npz", sp.coo_array(([2.0, 3.0], ([0, 1], [1, 0])), shape=(2, 2)))
    assert read_graph(tmp_path / "g.npz").edge_weights().tolist() == [2.0, 3.0]
    assert read_graph(tmp_path / "g.npz", weight=False).weights is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nodes.csv", "id,a,club,b\n3,1,red,2\n1,3,blue,4\n2,5,red,6\n9,7,blue,8\n"),
        (
            "nodes.tsv.gz",
            "id\ta\tclub\tb\n3\t1\tred\t2\n1\t3\tblue\t4\n2\t5\tred\t6\n9\t7\tblue\t8",
        ),
        ("nodes.txt", "# nodes\nid  a club b\n3 1 red 2\n1 3 blue 4\n\n2 5 red 6\n9 7 blue 8\n"),
        (
            "nodes.parquet",
            {
                "id": [3, 1, 2, 9],
                "a": [1, 3, 5, 7],
                "club": ["red", "blue", "red", "blue"],
                "b": [2.0, 4.0, 6.0, 8.0],
            },
        ),
    ],
)
def test_read_graph_features_are_joined_by_id(write, name, content):
    graph = read_graph(write("e.csv", "1,2\n2,3\n"), features=write(name, content), label="club")
    assert graph.node_ids.tolist() == [1, 2, 3, 9]
    assert graph.x.tolist() == [[3, 4], [5, 6], [1, 2], [7, 8]]
    assert graph.classes[graph.y].tolist() == ["blue", "red", "red", "blue"]
    assert graph.degrees.tolist() == [1, 2, 1, 0]  # 9 has no edge and stays


def test_read_graph_features_with_only_labels_leave_x_none(write):
    table = write("nodes.csv", "node,label\nann,1\nbob,0\n")
    graph = read_graph(write("e.csv", "bob,ann\n"), features=table, label="label")
    assert graph.x is None
    assert graph.node_ids.tolist() == ["bob", "ann"]
    assert graph.y.tolist() == [0, 1]
    assert graph.classes is None


def test_read_graph_features_without_header_are_read_by_position(write):
    table = write("cora.content", "31 0 1 theory\n45 1 0 nets\n")  # as in the Cora files
    graph = read_graph(write("e.txt", "45 31\n"), features=table, label=-1)
    assert graph.x.tolist() == [[0, 1], [1, 0]]
    assert graph.classes[graph.y].tolist() == ["theory", "nets"]


def test_read_graph_features_decide_the_kind_of_all_ids(write):
    table = write("nodes.csv", "name,f\nx9,4\n10,1\n2,2\n3,3\n")
    graph = read_graph(write("e.csv", "10,2\n2,3\n"), features=table)
    assert graph.node_ids.tolist() == ["10", "2", "3", "x9"]
    assert graph.x.tolist() == [[1], [2], [3], [4]]


def test_read_graph_features_join_ids_of_every_format(write, tmp_path):
    sp.save_npz(tmp_path / "g.npz", sp.coo_array(([1], ([0], [1])), shape=(2, 2)))
    table = write("nodes.csv", "id,f\n2,0.5\n1,1.5\n0,2.5\n")
    graph = read_graph(tmp_path / "g.npz", features=table)
    assert graph.node_ids.tolist() == [0, 1, 2]
    assert graph.x.tolist() == [[2.5], [1.5], [0.5]]


def test_read_graph_features_id_column_may_be_any(write):
    table = write("nodes.csv", "f,who,t\n0.5,1,7\n1.5,2,8\n")
    graph = read_graph(write("e.csv", "1,2\n"), features=table, id_column="who", label=2)
    assert graph.x.tolist() == [[0.5], [1.5]]
    assert graph.y.tolist() == [7, 8]


def test_read_graph_features_alone_make_isolated_nodes(write):
    table = write("nodes.csv", "id,f\n1,0\n2,0\n")
    graph = read_graph(write("e.csv", "source,target\n"), features=table)
    assert (graph.num_nodes, graph.num_edges) == (2, 0)


def outcome(path):
    try:
        return read_graph(path)
    except PGNNError as error:
        return error


@pytest.mark.parametrize("name", ["edges.csv", "edges.csv.gz"])
@pytest.mark.parametrize(
    ("text", "line", "raw", "reason"),
    [
        ("1,2\n3\n4,5\n", 2, "3", "1 field where"),
        ("1,2\n3,4\n5,6,7\n", 3, "5,6,7", "3 fields where"),
        ("1,2,9\n3,4\n", 2, "3,4", "2 fields where"),  # short of a column that is not even used
        ("1,2,9\n3,4\n5,6,7,8\n", 2, "3,4", "2 fields where"),  # one short, one long
        ("1,2,9\n3,4,9,9\n5,6\n", 2, "3,4,9,9", "4 fields where"),
        ('a,"b,c"\nd,e,f\n', 2, "d,e,f", "3 fields where"),
        ("# c\n\n1\n2\n", 3, "1", "at least 2 columns separated by commas"),
        ("1,2\n# c\n,4\n", 3, ",4", "source id is missing"),
        ("\r\n1,2\r\n3,  \r\n", 3, "3,  ", "target id is missing"),
        ('a,b\nc,""\n', 2, 'c,""', "target id is missing"),
        ("source,target,weight\n1,2,3\n1,2,x\n", 3, "1,2,x", "weight is 'x'"),
        ("source,target,weight\n\n1,2,0\n", 3, "1,2,0", "weight is '0'"),
        ("source,target,weight\n1,2,-1.5\n", 2, "1,2,-1.5", "weight is '-1.5'"),
        ("source,target,weight\n1,2,1\n1,2,nan\n", 3, "1,2,nan", "weight is 'nan'"),
        ("source,target,weight\n1,2,inf\n", 2, "1,2,inf", "weight is 'inf'"),
        ("source,target,weight\na,b,1e999\n", 2, "a,b,1e999", "weight is '1e999'"),
        ("source,target,weight\na,b,\n", 2, "a,b,", "weight is ''"),
        ("source,target,weight\na,b,1_0\n", 2, "a,b,1_0", "weight is '1_0'"),
        ('a,b\nx"y,c\n', 2, 'x"y,c', "stray quote"),
        ('a,b\n"x,c\ny",d\n', 2, '"x,c', "stray quote"),
        ('a,b\n# "\n"x" y,c\n', 3, '"x" y,c', "stray quote"),
    ],
)
def test_read_graph_names_file_line_and_raw_line(write, name, text, line, raw, reason):
    path = write(name, text)
    error = message(read_graph, path)
    assert error.startswith(f"{path}, line {line}: ")
    assert repr(raw) in error
    assert reason in error


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("edges.csv", "", "is empty"),
        ("edges.csv.gz", "", "is empty"),
        ("edges.csv", "\n  \n", "is empty"),
        ("edges.txt", "# a\n% b\n", "only comments"),
        ("edges.csv", "source,target\n", "holds no edges"),
        ("edges.csv", "a,b\ncafé,b\n".encode("latin-1"), "line 2: is not UTF-8 text"),
        ("edges.csv", "a,b\n".encode("utf-16"), "UTF-16"),
        ("edges.mtx", "%%MatrixMarket matrix\n3 3 1\n1 2 1\n", "mmread"),
        ("edges.parquet", b"nonsense", "cannot be read as parquet"),
        ("edges.parquet", b"", "cannot be read as parquet"),
        ("graph.npz", b"nonsense", "no sparse matrix"),
        ("graph.npz", b"PK\x03\x04 cut", "no sparse matrix"),
        ("graph.graphml", b"<graphml", "cannot be read as GraphML"),
        ("graph.graphml", b"<graphml/>", "cannot be read as GraphML"),
    ],
)
def test_read_graph_names_a_file_it_cannot_use(write, name, content, reason):
    path = write(name, content)
    error = message(read_graph, path)
    assert error.startswith(str(path))
    assert reason in error


@settings(max_examples=150)
@given(
    st.binary(max_size=40) | st.text('01ab,;\t "\n\r#%.-+é', max_size=30).map(str.encode),
    st.sampled_from([".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".npz", ".graphml"]),
)
def test_read_graph_of_any_bytes_is_a_graph_or_a_one_line_error(data, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges" + suffix)
        path.write_bytes(data)
        result = outcome(path)
    assert isinstance(result, Graph) or re.fullmatch(f"{re.escape(str(path))}[:,] .+", str(result))


def test_read_graph_of_an_npz_with_a_changed_byte_is_a_graph_or_an_error(tmp_path):
    path, outcomes = tmp_path / "g.npz", []
    sp.save_npz(path, sp.eye_array(5, k=1))
    whole = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        outcomes.append(outcome(path))
    errors = [each for each in outcomes if isinstance(each, PGNNError)]
    assert errors
    assert all(str(error).startswith(str(path)) for error in errors)


@pytest.mark.parametrize("matrix", [sp.coo_array((2, 3)), -sp.eye_array(3), sp.eye_array(3) * 1j])
def test_read_graph_names_the_file_of_a_matrix_that_is_no_graph(tmp_path, matrix):
    path = tmp_path / "graph.npz"
    sp.save_npz(path, matrix)
    assert message(read_graph, path).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            {"source": "x", "target": "b"},
            "source='x' does not exist; the columns are 'a', 'b', 'c'",
        ),
        ({"weight": "x"}, "weight='x' does not exist"),
        ({"weight": 3}, "weight=3, but there are 3 columns"),
        ({"weight": -4}, "weight=-4, but there are 3 columns"),
        ({"weight": True}, "weight must be a column name or position (got True)"),
        ({"header": False, "weight": "c"}, "read without a header"),
        ({"source": "a"}, "give both or neither"),
        ({"source": "a", "target": 0}, "source and target are both column 'a'"),
        ({"header": "yes"}, "header must be"),
        ({"directed": "yes"}, "directed must be"),
        ({"label": "c"}, "give features too"),
        ({"id_column": "c"}, "give features too"),
    ],
)
def test_read_graph_explains_wrong_arguments(write, arguments, reason):
    assert reason in message(read_graph, write("edges.csv", "a,b,c\n1,2,3\n"), **arguments)


def test_read_graph_refuses_table_arguments_for_other_formats(tmp_path):
    sp.save_npz(tmp_path / "g.npz", sp.eye_array(2))
    nx.write_graphml(nx.path_graph(2), tmp_path / "g.graphml")
    for name in ("g.npz", "g.graphml"):
        assert "are for tables" in message(read_graph, tmp_path / name, header=False)
        assert "weight" in message(read_graph, tmp_path / name, weight=0)
    assert "weight='x'; there are none" in message(read_graph, tmp_path / "g.graphml", weight="x")


@pytest.mark.parametrize(
    ("text", "line", "raw", "reason"),
    [
        ("id,f\n1,0\n# c\n2,1\n1,2\n", 5, "1,2", "node '1' is already on line 2"),
        ("id,f\n1,0\n2,-inf\n", 3, "2,-inf", "column 'f' is '-inf'"),
        ("id,f\n1,0\n2,1e39\n", 3, "2,1e39", "column 'f' is '1e39'"),  # too large for float32
        ("id,f\n1,0\n2\n", 3, "2", "1 field where"),
        ("id,f\n,0\n2,0\n", 2, ",0", "node id is missing"),
        ("1\n2\n", 1, "1", "at least 2 columns"),
    ],
)
def test_read_graph_features_names_file_line_and_raw_line(write, text, line, raw, reason):
    table = write("nodes.csv", text)
    error = message(read_graph, write("edges.csv", "1,2\n"), features=table)
    assert error.startswith(f"{table}, line {line}: ")
    assert repr(raw) in error
    assert reason in error


def test_read_graph_features_names_the_row_of_a_parquet_file(write):
    edges = write("edges.csv", "1,2\n")
    columns = {"id": [1, 2], "ok": [True, False], "f": [1.0, float("inf")]}
    error = message(read_graph, edges, features=write("nodes.parquet", columns))
    assert ", row 2: column 'f' is 'inf'" in error


@pytest.mark.parametrize(
    ("table", "labels"),
    [
        ("id,c\n1,a\n2,\n3,b\n4,a\n", ["a", None, "b", "a"]),
        ("id,c\n1,7\n2,\n3,-1\n4,7\n", [7, None, -1, 7]),
        ("id,c\n1,a\n3,b\n", ["a", None, "b", None]),
        ("id,c\n4,5\n1,5\n", [5, None, None, 5]),
        ("id,f,c\n1,0.5,a\n2,1,\n3,1,b\n4,2,\n", ["a", None, "b", None]),
    ],
    ids=["strings", "integers", "no row", "integers without row", "features"],
)
def test_labels_may_be_missing(write, table, labels):
    graph = read_graph(
        write("edges.csv", "1,2\n3,4\n"), features=write("nodes.csv", table), label="c"
    )
    assert graph.labels() == labels
    assert graph.labelled.tolist() == [label is not None for label in labels]


def test_labels_of_string_ids_are_integers_where_some_are_missing(write):
    edges, table = write("e.csv", "x,y\ny,z\n"), write("n.csv", "id,c\nx,3\ny,\nz,1\n")
    assert read_graph(edges, features=table, label="c").labels() == [3, None, 1]


def test_labels_missing_in_a_parquet_file_are_unknown(write):
    edges = write("edges.csv", "1,2\n2,3\n")
    for values in (["a", None, "b"], [4, None, 5]):
        table = write("nodes.parquet", {"id": [1, 2, 3], "c": values})
        assert read_graph(edges, features=table, label="c").labels() == values


def test_read_graph_features_explains_missing_nodes_and_labels(write):
    edges = write("edges.csv", "1,2\n3,4\n5,6\n7,8\n")
    table = write("nodes.csv", "id,f,c\n1,0,a\n9,1,\n")
    few = write("few.csv", "id,f,c\n1,0,a\n9,1,b\n")
    graph = read_graph(edges, features=few, label="c")
    assert graph.labelled.sum() == 2
    other = write("other.csv", "id,f,c\n8,0,a\n9,1,b\n")
    error = message(read_graph, write("e.csv", "1,2\n3,4\n"), features=other, label="c")
    assert "has no row for any of the 4 nodes that edges join (first: 1, 2, 3, 4)" in error
    assert "label='d' does not exist" in message(read_graph, edges, features=table, label="d")
    assert "id_column='d' does not" in message(read_graph, edges, features=table, id_column="d")
    error = message(read_graph, edges, features=table, id_column="id", label=0)
    assert "id_column and label are both column 'id'" in error


@pytest.mark.parametrize(
    "arguments",
    [{"source": "b", "target": "a"}, {"source": 2, "target": 1}, {"source": -1, "target": "a"}],
)
def test_read_graph_columns_are_chosen_by_name_or_position(write, arguments):
    path = write("edges.csv", "n,a,b\n0,1,2\n0,3,4\n")
    assert edge_ids(read_graph(path, directed=True, **arguments)) == [(2, 1), (4, 3)]


def test_read_graph_refuses_an_ambiguous_column_name(write):
    path = write("edges.csv", "source,target,w,w\n1,2,3,4\n")
    assert "weight='w' is ambiguous" in message(read_graph, path, weight="w")
    assert read_graph(path, weight=3).edge_weights().tolist() == [4.0]


def test_read_graph_numbers_sparse_integers_as_it_does_dense_ones(write):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 50, (200, 2))
    dense = read_graph(write("dense.csv", "\n".join(f"{u},{v}" for u, v in small)))
    far = small * 10**15 - 10**16  # a range far too wide for a table of all integers in it
    sparse = read_graph(write("sparse.csv", "\n".join(f"{u},{v}" for u, v in far)))
    assert np.array_equal(sparse.node_ids, dense.node_ids * 10**15 - 10**16)
    assert np.array_equal(sparse.indices, dense.indices)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("7,3\n3,10\n", [3, 7, 10]),
        ("7,3\n3,-10\n", [-10, 3, 7]),
        ("007,7\n", ["007", "7"]),
        ("7,8\n9,07\n", ["7", "8", "9", "07"]),
        ('7,"08"\n', ["7", "08"]),
        ('7," 8"\n', ["7", " 8"]),
        ('7," "\n', ["7", " "]),
        ('"7","8"\n', [7, 8]),
        ("0,-0\n", ["0", "-0"]),
        ("1,+1\n", ["1", "+1"]),
        ("1,9223372036854775808\n", ["1", "9223372036854775808"]),
        ("1,1.0\n", ["1", "1.0"]),
        ("b,a\n1,b\n", ["b", "a", "1"]),
        ("a,NA\n", ["a", "NA"]),
    ],
)
def test_read_graph_ids_are_integers_only_if_all_are_plain_integers(write, text, ids):
    graph = read_graph(write("edges.csv", text), header=False)
    assert graph.node_ids.tolist() == ids


# ------------------------------------------------------------------ repeats and parameters


@pytest.mark.parametrize(("rule", "weight"), [("shortest", 1.0), ("sum", 6.0)])
def test_read_graph_weighs_repeated_edges_by_the_rule(write, tmp_path, rule, weight):
    rows = [("a", "b", 3.0), ("b", "a", 1.0), ("a", "b", 2.0)]
    text = "source,target,weight\n" + "".join(f"{u},{v},{w}\n" for u, v, w in rows)
    multigraph = nx.MultiGraph()
    multigraph.add_weighted_edges_from(rows)
    nx.write_graphml(multigraph, tmp_path / "g.graphml")
    for path in (write("edges.csv", text), tmp_path / "g.graphml"):
        graph = read_graph(path, repeats=rule)
        assert graph.edge_weights().tolist() == [weight]
        assert graph.dropped_repeats == 2
    assert "repeats must be one of" in message(read_graph, write("e.csv", text), repeats="max")


def test_read_graph_of_a_symmetric_matrix_adds_nothing_up(tmp_path):
    strengths = Graph.from_edges([(0, 1), (1, 2)], weights=[2.0, 3.0])
    sp.save_npz(tmp_path / "g.npz", strengths.to_scipy())
    graph = read_graph(tmp_path / "g.npz", repeats="sum")
    assert graph == strengths
    assert graph.dropped_repeats == 0


@pytest.mark.parametrize(
    ("name", "text", "arguments", "worded"),
    [
        ("e.csv", "source,target\n", {}, "use <header=False>)"),
        ("e.csv", "source,target,weight\na,b,x\n", {}, "ignore weights with <weight=False> (got"),
        ("e.csv", "a,b,c\n1,2,3\n", {"source": "x", "target": "a"}, "column <source>='x' does not"),
        ("e.csv", "a,b,c\n1,2,3\n", {"source": 0, "target": 7}, "<target>=7, but there are 3"),
        ("e.csv", "a,b,c\n1,2,3\n", {"source": 0, "target": 0}, "<source> and <target> are both"),
        ("e.csv", "a,b,c\n1,2,3\n", {"source": 0}, "<source> and <target> belong together"),
        ("e.csv", "a,b,c\n1,2,3\n", {"weight": 0}, "<weight> is column 'a', which holds ids"),
        ("e.csv", "a,b,c\n1,2,3\n", {"weight": "x"}, "column <weight>='x' does not exist"),
        ("e.csv", "a,b,c\n1,2,3\n", {"label": "x"}, "<id_column>, <label>, "
         "<feature_columns> and <type_column> name columns of a feature table; give <features>"),
        ("e.csv", "a,b,c\n1,2,3\n", {"header": 5}, "<header> must be True, False or None"),
        ("e.csv", "a,b,c\n1,2,3\n", {"directed": 5}, "<directed> must be True, False or None"),
        ("e.csv", "1,2\n", {"features": "nodes.csv", "id_column": 9}, "<id_column>=9, but there"),
        ("e.csv", "1,2\n", {"features": "nodes.csv", "label": "x"}, "column <label>='x' does not"),
        ("e.csv", "1,2\n", {"features": "nodes.csv", "label": 0}, "<id_column> and <label> are "
         "both column 'id'"),
        ("e.csv", "4,5\n", {"features": "nodes.csv", "label": 1}, "give the table of these "
         "nodes as <features>"),
        ("e.npz", "", {"header": True}, "<source>, <target> and <header> are for tables"),
        ("e.npz", "", {"weight": "w"}, "<weight> must be None or False"),
        ("e.graphml", "", {"weight": 1}, "<weight> must name an edge attribute"),
    ],
)  # fmt: skip
def test_read_graph_errors_name_their_parameters(write, name, text, arguments, worded):
    path = write(name, text)
    nodes = write("nodes.csv", "id,f\n1,0\n2,0\n")
    if "features" in arguments:
        arguments = arguments | {"features": nodes}
    with pytest.raises(PGNNError) as caught:
        read_graph(path, **arguments)
    assert worded in caught.value.worded("<{}>".format)
    assert "--" not in str(caught.value)


def shop_rows():
    return [(f"c{c}", f"p{p}") for c in range(9) for p in range(8) if (c + p) % 2]


def test_two_columns_without_a_common_id_are_two_kinds_of_nodes(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("customer,product\n" + "".join(f"{c},{p}\n" for c, p in shop_rows()))
    graph, notes = read_graph_with_notes(path)
    assert graph.sides.names == ("customer", "product")
    assert all(name.startswith("c") for name in graph.node_ids[graph.sides.left])
    assert "9 customers + 8 products (two sides)" in notes.line()
    assert notes.to_json()["between"] == ["customer", "product"]
    assert read_graph(path, between="all").sides is None
    assert read_graph(path, between="product,customer").sides.names == ("product", "customer")
    assert read_graph(path, directed=True).has_ordered_links is False
    with pytest.raises(PGNNError, match="'customer' and 'product'"):
        read_graph(path, between="buyer,thing")


@pytest.mark.parametrize("arguments", [{}, {"type_column": "kind"}, {"type_column": 1}])
def test_types_of_a_node_table_are_kinds_of_nodes(tmp_path, arguments):
    path, nodes = tmp_path / "e.csv", tmp_path / "n.csv"
    path.write_text("u,v\na,x\nx,b\na,b\nb,y\ny,z\n")
    nodes.write_text("id,kind,size\na,person,1\nb,person,2\nx,film,3\ny,film,4\nz,place,5\n")
    graph = read_graph(path, features=nodes, between="person,film", **arguments)
    assert graph.node_ids[graph.sides.left].tolist() == ["a", "b"]
    assert graph.node_ids[graph.sides.right].tolist() == ["x", "y"]
    assert graph.x[:, -1].tolist() == [1, 3, 2, 4, 5]
    if not arguments:
        assert read_graph(path, features=nodes).sides is None  # three types
    else:
        with pytest.raises(PGNNError, match="name two types with between"):
            read_graph(path, features=nodes, **arguments)
    with pytest.raises(PGNNError, match="no type 'song'; there are person, film, place"):
        read_graph(path, features=nodes, between="person,song", **arguments)


def test_two_types_that_all_edges_lead_across_are_recognised(tmp_path):
    path, nodes = tmp_path / "e.csv", tmp_path / "n.csv"
    path.write_text("u,v\na,x\nx,b\nb,y\n")
    nodes.write_text("id,type\na,person\nb,person\nx,film\ny,film\n")
    assert read_graph(path, features=nodes).sides.names == ("person", "film")


def test_a_type_column_needs_a_node_table(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("u,v\na,x\nx,b\n")
    with pytest.raises(PGNNError, match="type_column name columns of a feature table"):
        read_graph(path, type_column="kind")
