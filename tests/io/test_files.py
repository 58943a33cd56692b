"""Files to graphs, and embeddings and scores to files."""

import ast
import gzip
import os
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

import pgnn.io
from pgnn import Graph, PGNNError
from pgnn.io import read_graph, write_embeddings, write_scores

# ------------------------------------------------------------------ building files


@pytest.fixture
def write(tmp_path):
    """Write a file of the test's folder: text, bytes, or a dict of columns for parquet."""

    def write_file(name, content):
        path = tmp_path / name
        if isinstance(content, dict):
            pl.DataFrame(content).write_parquet(path)
            return path
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


def edge_ids(graph):
    """The edges by node id, in the order of the graph."""
    return [tuple(graph.node_ids[[u, v]].tolist()) for u, v in graph.edges()]


def expected_graph(edges, weights=None, directed=False):
    """The slow and obvious reader: number the ids of (source, target) strings one by one."""
    names = list(dict.fromkeys(name for edge in edges for name in edge))
    if all(re.fullmatch("0|-?[1-9][0-9]*", n) and abs(int(n)) < 2**63 for n in names):
        names = sorted(names, key=int)
        ids = [int(name) for name in names]
    else:
        ids = names
    pairs = [(names.index(u), names.index(v)) for u, v in edges]
    return Graph.from_edges(pairs, weights=weights, directed=directed, node_ids=ids)


def quote(field):
    return '"' + field.replace('"', '""') + '"'


# ------------------------------------------------------------------ round trips

plain_ids = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1).map(str),
    st.integers(0, 9).map(str),
    st.sampled_from(["007", "+7", "-0", "7", "-7", "1.0", "1e3", "x", "ß", "18446744073709551616"]),
    st.text("abxyz01", min_size=1, max_size=3),
)
any_character = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0")
any_ids = st.text(any_character, min_size=1, max_size=5) | st.text(
    '07 \t"#%,;+-', min_size=1, max_size=3
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


@settings(max_examples=40)
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


def test_read_graph_numbers_sparse_integers_as_it_does_dense_ones(write):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 50, (200, 2))
    dense = read_graph(write("dense.csv", "\n".join(f"{u},{v}" for u, v in small)))
    far = small * 10**15 - 10**16  # a range far too wide for a table of all integers in it
    sparse = read_graph(write("sparse.csv", "\n".join(f"{u},{v}" for u, v in far)))
    assert np.array_equal(sparse.node_ids, dense.node_ids * 10**15 - 10**16)
    assert np.array_equal(sparse.indices, dense.indices)


# ------------------------------------------------------------------ rules of reading


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
    found = graph.edge_weights()
    assert (None if found is None else found.tolist()) == weights


@pytest.mark.parametrize(
    "arguments",
    [{"source": "b", "target": "a"}, {"source": 2, "target": 1}, {"source": -1, "target": "a"}],
)
def test_read_graph_columns_are_chosen_by_name_or_position(write, arguments):
    path = write("edges.csv", "n,a,b\n0,1,2\n0,3,4\n")
    assert edge_ids(read_graph(path, directed=True, **arguments)) == [(2, 1), (4, 3)]


@pytest.mark.parametrize(
    ("name", "text", "edges"),
    [
        ("a.csv", "1;2\n3;4\n", [(1, 2), (3, 4)]),
        ("a.csv", "x y,z\n", [("x y", "z")]),
        ("a.txt", "x y,z\n", [("x y", "z")]),
        ("a.txt", "x, y\tz\n", [("x, y", "z")]),
        ("a.txt", "1\t\t2\n10\t3\n", [(1, 2), (3, 10)]),  # tabs that align columns
        ("a.txt", " 1   2\n10  \t 3 \n", [(1, 2), (3, 10)]),
        ("a.txt", '"x  y"   z\n', [("x  y", "z")]),
        ("a.csv", '"x, y" , "say ""hi"""\n', [("x, y", 'say "hi"')]),
        ("a.csv", '"# x",y\n"  z ",% w\n', [("# x", "y"), ("  z ", "% w")]),
        ("a.tsv", "x y\tz\r\n", [("x y", "z")]),
        ("a.TSV", "1\t2\r3\t4", [(1, 2), (3, 4)]),  # line ends of old Macs
    ],
)
def test_read_graph_separators_and_quotes(write, name, text, edges):
    assert edge_ids(read_graph(write(name, text), header=False)) == edges


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
    found = read_graph(tmp_path / "g.graphml")
    assert found.node_ids.tolist() == [9, 10]  # integers, so ascending: attributes move along
    assert found.classes[found.y].tolist() == ["a", "b"]
    assert found.x.tolist() == [[2.5], [1.5]]
    assert found.edge_weights().tolist() == [2.0]
    assert read_graph(tmp_path / "g.graphml", weight="cost").edge_weights().tolist() == [3.0]
    assert read_graph(tmp_path / "g.graphml", weight=False).weights is None


def test_read_graph_npz_weights_follow_from_scipy(tmp_path):
    sp.save_npz(tmp_path / "g.npz", sp.coo_array(([2.0, 3.0], ([0, 1], [1, 0])), shape=(2, 2)))
    assert read_graph(tmp_path / "g.npz").edge_weights().tolist() == [2.0, 3.0]
    assert read_graph(tmp_path / "g.npz", weight=False).weights is None


# ------------------------------------------------------------------ features


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


# ------------------------------------------------------------------ errors of reading


def message(call, *arguments, **keywords):
    with pytest.raises(PGNNError) as caught:
        call(*arguments, **keywords)
    text = str(caught.value)
    assert "\n" not in text
    return text


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
    found = message(read_graph, path)
    assert found.startswith(f"{path}, line {line}: ")
    assert repr(raw) in found
    assert reason in found


def test_read_graph_finds_the_line_when_a_column_is_counted_from_the_end(write):
    path = write("edges.csv", "s,t,a,b\n1,2,3,4\n5,6\n")
    assert ", line 3: has 2 fields" in message(read_graph, path, weight=-3)


def test_read_graph_shortens_a_very_long_raw_line(write):
    found = message(read_graph, write("edges.csv", "1,2\n3" + ",4" * 999))
    assert ", line 2: has 1000 fields" in found
    assert len(found) < 500


def test_read_graph_finds_the_line_in_whitespace_files(write):
    found = message(read_graph, write("edges.txt", "# c\n 1   2\n3  4\n\n 5  \n"))
    assert ", line 5: has 1 field where" in found
    assert repr(" 5  ") in found


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
    found = message(read_graph, path)
    assert found.startswith(f"{path}, row {row}: ")
    assert reason in found


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
    found = message(read_graph, path)
    assert found.startswith(str(path))
    assert reason in found


@settings(max_examples=150)
@given(
    st.binary(max_size=40) | st.text('01ab,;\t "\n\r#%.-+é', max_size=30).map(str.encode),
    st.sampled_from([".csv", ".tsv", ".txt", ".csv.gz", ".parquet", ".npz", ".graphml"]),
)
def test_read_graph_of_any_bytes_is_a_graph_or_a_one_line_error(data, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges" + suffix)
        path.write_bytes(data)
        found = outcome(path)
    assert isinstance(found, Graph) or re.fullmatch(f"{re.escape(str(path))}[:,] .+", str(found))


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


@pytest.mark.parametrize("cut", [3, 12, 100, -4])
def test_read_graph_names_a_cut_parquet(write, cut):
    path = write("edges.parquet", {"u": ["a", "b", "c"], "v": ["b", "c", "a"]})
    path.write_bytes(path.read_bytes()[:cut])
    assert message(read_graph, path).startswith(f"{path}: cannot be read as parquet")


def test_read_graph_turns_a_panic_of_polars_into_an_error(write, monkeypatch):
    def panic(source):
        raise pl.exceptions.PanicException("called `Option::unwrap()` on a `None` value")

    path = write("edges.parquet", {"u": ["a"], "v": ["b"]})
    monkeypatch.setattr(pl, "read_parquet", panic)
    assert message(read_graph, path).startswith(f"{path}: cannot be read as parquet (called")


@pytest.mark.parametrize("cut", [0, 5, 15, -1])
def test_read_graph_names_a_damaged_gz(write, tmp_path, cut):
    whole = gzip.compress(b"1,2\n" * 100)
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(whole[:cut] if cut else b"1,2\n")
    assert message(read_graph, path).startswith(f"{path}: cannot be decompressed")


def test_read_graph_names_missing_files_and_folders(write, tmp_path):
    missing = tmp_path / "missing.csv"
    assert message(read_graph, missing) == f"{missing}: there is no such file; check the path"
    assert message(read_graph, str(missing)).startswith(str(missing))
    assert "is a folder" in message(read_graph, tmp_path)
    edges = write("edges.csv", "1,2\n")
    assert message(read_graph, edges, features=missing).startswith(str(missing))
    assert "path must be" in message(read_graph, 3)
    assert "path must be" in message(read_graph, "")


def test_read_graph_names_an_unreadable_file(write, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    path = write("edges.csv", "1,2\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert message(read_graph, path) == f"{path}: cannot be read (Permission denied)"


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


def test_read_graph_refuses_an_ambiguous_column_name(write):
    path = write("edges.csv", "source,target,w,w\n1,2,3,4\n")
    assert "weight='w' is ambiguous" in message(read_graph, path, weight="w")
    assert read_graph(path, weight=3).edge_weights().tolist() == [4.0]


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
        ("id,f\n1,0\n2,x\n", 3, "2,x", "column 'f' is 'x'"),
        ("id,f\n1,0\n2,\n", 3, "2,", "column 'f' is ''"),
        ("id,f\n1,0\n2,NaN\n", 3, "2,NaN", "column 'f' is 'NaN'"),
        ("id,f\n1,0\n2,-inf\n", 3, "2,-inf", "column 'f' is '-inf'"),
        ("id,f\n1,0\n2,1e39\n", 3, "2,1e39", "column 'f' is '1e39'"),  # too large for float32
        ("id,f\n1,0\n2\n", 3, "2", "1 field where"),
        ("id,f\n,0\n2,0\n", 2, ",0", "node id is missing"),
        ("1,0\n2,x\n", 2, "2,x", "column 1 is 'x'"),
        ("1\n2\n", 1, "1", "at least 2 columns"),
    ],
)
def test_read_graph_features_names_file_line_and_raw_line(write, text, line, raw, reason):
    table = write("nodes.csv", text)
    found = message(read_graph, write("edges.csv", "1,2\n"), features=table)
    assert found.startswith(f"{table}, line {line}: ")
    assert repr(raw) in found
    assert reason in found


def test_read_graph_features_names_the_row_of_a_parquet_file(write):
    edges = write("edges.csv", "1,2\n")
    columns = {"id": [1, 2], "ok": [True, False], "f": [1.0, float("nan")]}
    found = message(read_graph, edges, features=write("nodes.parquet", columns))
    assert ", row 2: column 'f' is 'nan'" in found


def test_read_graph_features_explains_missing_nodes_and_labels(write):
    edges = write("edges.csv", "1,2\n3,4\n5,6\n7,8\n")
    table = write("nodes.csv", "id,f,c\n1,0,a\n9,1,\n")
    found = message(read_graph, edges, features=write("few.csv", "id,f\n1,0\n9,1\n"))
    assert "has no row for 7 of the 9 nodes of the graph (first: 2, 3, 4, 5, 6)" in found
    found = message(read_graph, edges, features=table, label="c")
    assert ", line 3: the label is missing" in found
    assert "label='d' does not exist" in message(read_graph, edges, features=table, label="d")
    assert "id_column='d' does not" in message(read_graph, edges, features=table, id_column="d")
    found = message(read_graph, edges, features=table, id_column="id", label=0)
    assert "id_column and label are both column 'id'" in found


# ------------------------------------------------------------------ writing

GRAPH = Graph.from_edges([(0, 1), (1, 2)], node_ids=["ann", "bob", "eve"])
SUFFIXES = [".csv", ".csv.gz", ".parquet", ".npz"]


def read_columns(path):
    """Whatever was written, as lists by column name."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name].tolist() for name in arrays}
    read = pl.read_parquet if path.suffix == ".parquet" else pl.read_csv
    return read(path).to_dict(as_series=False)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("ids", [GRAPH, ["ann", "bob", "eve"], np.array([7, 8, 9])])
def test_write_embeddings_can_be_read_back(tmp_path, suffix, ids):
    path = tmp_path / f"z{suffix}"
    values = np.array([[1.5, -2], [3, 0.1], [1 / 3, 1e-30]], dtype=np.float32)
    write_embeddings(path, values, ids)
    names = ids.node_ids.tolist() if ids is GRAPH else list(ids)
    found = read_columns(path)
    if suffix == ".npz":
        assert list(found) == ["ids", "embeddings"]
        assert found["ids"] == names
        assert np.array_equal(np.float32(found["embeddings"]), values)
    else:
        assert list(found) == ["id", "z0", "z1"]
        assert found["id"] == names
        assert np.array_equal(np.float32([found["z0"], found["z1"]]).T, values)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("spread", [None, [0.25, 0.5]])
def test_write_scores_can_be_read_back(tmp_path, suffix, spread):
    path = tmp_path / f"scores{suffix}"
    write_scores(path, [(0, 2), (1, 0)], [0.1, 0.9], GRAPH, spread=spread)
    expected = {"source": ["ann", "bob"], "target": ["eve", "ann"], "score": [0.1, 0.9]}
    assert read_columns(path) == expected | ({} if spread is None else {"spread": spread})


def test_write_scores_of_no_pairs_writes_the_header(tmp_path):
    write_scores(tmp_path / "s.csv", [], [], GRAPH)
    assert (tmp_path / "s.csv").read_text() == "source,target,score\n"
    write_scores(tmp_path / "s.parquet", [], [], GRAPH)
    kinds = pl.read_parquet(tmp_path / "s.parquet").dtypes
    assert kinds == [pl.String, pl.String, pl.Float64]


@settings(max_examples=50)
@given(
    st.lists(any_ids, min_size=1, max_size=6, unique=True), st.sampled_from([".csv", ".parquet"])
)
@example(["#a", " b", "c,d", 'e"', "%"], ".csv.gz")
@example(["007", "7"], ".csv")
@example([" ", " 7"], ".csv")
def test_write_embeddings_serves_as_features_of_read_graph(ids, suffix):
    graph = expected_graph([(name, ids[0]) for name in ids])
    values = np.arange(2.0 * len(ids)).reshape(-1, 2) / 3
    with tempfile.TemporaryDirectory() as folder:
        edges, table = Path(folder, "edges.parquet"), Path(folder, "z" + suffix)
        pl.DataFrame({"source": ids, "target": [ids[0]] * len(ids)}).write_parquet(edges)
        write_embeddings(table, values, graph)
        found = read_graph(edges, features=table, id_column="id")
    assert np.array_equal(found.node_ids, graph.node_ids)
    assert np.array_equal(found.x, values.astype(np.float32))


def test_write_embeddings_gz_is_the_same_every_time(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_embeddings(tmp_path / name, np.eye(3), GRAPH)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_write_embeddings_writes_other_ids_as_text(tmp_path):
    grid = Graph.from_networkx(nx.grid_2d_graph(1, 2))
    write_embeddings(tmp_path / "z.npz", np.eye(2), grid)
    assert read_columns(tmp_path / "z.npz")["ids"] == ["(0, 0)", "(0, 1)"]
    assert "must differ" in message(write_embeddings, tmp_path / "z.npz", np.eye(2), [1, "1"])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [True, False])
def test_write_embeddings_leaves_nothing_half_written(
    tmp_path, monkeypatch, suffix, failure, existing
):
    path = tmp_path / f"z{suffix}"
    if existing:
        path.write_bytes(b"precious")
    seen = []

    def fail(descriptor):
        seen.extend(os.listdir(tmp_path))
        raise failure

    monkeypatch.setattr(os, "fsync", fail)  # all bytes are written, but not safe on disk
    with pytest.raises(PGNNError if failure.args else KeyboardInterrupt) as caught:
        write_embeddings(path, np.eye(3), GRAPH)
    assert len(seen) == 1 + existing  # it was written beside its place
    assert os.listdir(tmp_path) == [path.name] * existing
    assert not existing or path.read_bytes() == b"precious"
    if failure.args:
        assert str(caught.value) == f"{path}: cannot be written (No space left on device)"


@pytest.mark.parametrize(
    ("suffix", "writer"),
    [
        (".csv", "polars.DataFrame.write_csv"),
        (".csv.gz", "polars.DataFrame.write_csv"),
        (".parquet", "polars.DataFrame.write_parquet"),
        (".npz", "numpy.savez"),
    ],
)
def test_write_scores_leaves_nothing_when_the_writer_breaks_midway(
    tmp_path, monkeypatch, suffix, writer
):
    path = tmp_path / f"scores{suffix}"
    path.write_bytes(b"precious")

    def break_midway(*arguments, **keywords):
        file = next(each for each in arguments if hasattr(each, "write"))
        file.write(b"half")
        raise RuntimeError("broken")

    monkeypatch.setattr(writer, break_midway)
    with pytest.raises(RuntimeError, match="broken"):
        write_scores(path, [(0, 1)], [0.5], GRAPH)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == b"precious"


def test_write_embeddings_forces_bytes_to_disk_before_the_rename(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *a: (calls.append("fsync"), fsync(*a)))
    monkeypatch.setattr(os, "replace", lambda *a: (calls.append("replace"), replace(*a)))
    write_embeddings(tmp_path / "z.csv", np.eye(3), GRAPH)
    assert calls == ["fsync", "replace"]
    assert (tmp_path / "z.csv").stat().st_size > 0


@pytest.mark.parametrize(
    ("name", "values", "ids", "reason"),
    [
        ("z.xlsx", np.eye(3), GRAPH, "must end in .csv, .csv.gz, .parquet, .npz"),
        ("z", np.eye(3), GRAPH, "must end in"),
        ("no/z.csv", np.eye(3), GRAPH, "no does not exist; create it first"),
        ("folder.csv", np.eye(3), GRAPH, "is a folder"),
        ("z.csv", np.eye(2), GRAPH, "[3, num_dimensions] (got [2, 2])"),
        ("z.csv", np.ones(3), GRAPH, "(got [3])"),
        ("z.csv", [[1, 2], [3]], [1, 2], "values must be an array of numbers"),
        ("z.csv", [["x"]], [1], "values must be"),
        ("z.csv", [[1j]], [1], "values must be real numbers"),
        ("z.csv", [[0.0], [np.nan]], [1, 2], "values must be finite (values[1, 0] = nan)"),
        ("z.csv", [[np.inf]], [1], "values must be finite"),
        ("z.csv", np.eye(2), [1, 1], "node_ids must be all different"),
        ("z.csv", np.eye(2), 2, "ids must be a graph or a list"),
        (None, np.eye(3), GRAPH, "path must be"),
    ],
)
def test_write_embeddings_explains_and_writes_nothing(tmp_path, name, values, ids, reason):
    (tmp_path / "folder.csv").mkdir()
    path = None if name is None else tmp_path / name
    assert reason in message(write_embeddings, path, values, ids)
    assert os.listdir(tmp_path) == ["folder.csv"]
    assert os.listdir(tmp_path / "folder.csv") == []


@pytest.mark.parametrize(
    ("pairs", "scores", "spread", "reason"),
    [
        ([(0, 3)], [1.0], None, "0..2 (got 0..3)"),
        ([(-1, 0)], [1.0], None, "0..2 (got -1..0)"),
        ([0, 1], [1.0], None, "[num_pairs, 2] (got int64 [2])"),
        ([(0.0, 1.0)], [1.0], None, "(got float64 [1, 2])"),
        ([(0, 1)], [1.0, 2.0], None, "scores must have one entry a pair, [1] (got [2])"),
        ([(0, 1)], [np.nan], None, "scores must be finite (scores[0] = nan)"),
        ([(0, 1)], [1.0], [np.inf], "spread must be finite"),
        ([(0, 1)], [1.0], [1.0, 2.0], "spread must have one entry a pair"),
        ([(0, 1), (2,)], [1.0], None, "pairs must be"),
    ],
)
def test_write_scores_explains_and_writes_nothing(tmp_path, pairs, scores, spread, reason):
    path = tmp_path / "s.csv"
    assert reason in message(write_scores, path, pairs, scores, GRAPH, spread=spread)
    assert os.listdir(tmp_path) == []


# ------------------------------------------------------------------ imports


@pytest.mark.parametrize(
    "module", ["io", "_graph_files", "_tables", "_text", "_ids", "_write", "_atomic"]
)
def test_io_modules_import_nothing_heavy_at_the_top(module):
    tree = ast.parse(Path(pgnn.io.__file__).with_name(f"{module}.py").read_text())
    names = {
        name.split(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
        )
    }
    assert "numpy" in names or module in ("_atomic", "_tables")
    assert not names & {"torch", "torch_geometric", "numba", "polars", "networkx", "scipy"}
