"""Tables of nodes: text, flags, dates and blanks become numbers, and a run can do it again."""

import json
import tomllib

import numpy as np
import polars as pl
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from io_helpers import message
from pgnn import PGNNError, read_graph
from pgnn.io import FeatureEncoding, read_graph_with_notes
from pgnn.io.node_tables import FeatureColumn, NodeColumns, read_node_table

TABLE = """id,age,city,vip,joined,name
1,20,rome,yes,2020-01-01,ann
2,,oslo,no,2020-01-03,bob
3,40,,no,2020-01-05,eve
4,30,rome,yes,2020-01-03,joe
"""


def read(path, **chosen):
    return read_node_table(path, NodeColumns(**chosen))


def test_columns_of_any_kind_become_numbers(write):
    table = read(write("nodes.csv", TABLE))
    assert [(c.name, c.kind, c.width) for c in table.notes.encoding.columns] == [
        ("age", "number", 1),
        ("city", "words", 3),
        ("vip", "flag", 1),
        ("joined", "date", 1),
    ]
    days = 18262
    assert table.x.tolist() == [
        [20, 0, 1, 0, 1, days],
        [30, 1, 0, 0, 0, days + 2],  # the mean age
        [40, 0, 0, 1, 0, days + 4],  # a city that is blank has a column
        [30, 0, 1, 0, 1, days + 2],
    ]
    assert table.notes.left_out == (("name", "all its words are different"),)
    assert table.notes.num_blanks == 2


def test_line_says_what_became_of_columns_and_blanks(write):
    edges = write("edges.csv", "1,2\n2,3\n3,4\n4,5\n")
    _, notes = read_graph_with_notes(edges, features=write("nodes.csv", TABLE))
    assert notes.line().endswith(
        "nodes of nodes.csv: 3 columns of numbers, city as 3 one-hot columns, 2 blanks filled, "
        "name left out (all its words are different), 1 of 5 nodes have no row and are read as "
        "blank"
    )


def test_a_table_of_plain_numbers_needs_no_words(write):
    edges = write("edges.csv", "1,2\n")
    nodes = write("nodes.csv", "id,a,b\n1,0.5,1\n2,0.25,-1e3\n")
    graph, notes = read_graph_with_notes(edges, features=nodes)
    assert graph.x.tolist() == [[0.5, 1], [0.25, -1000]]
    assert notes.line().endswith("; nodes of nodes.csv")


def test_nodes_without_a_row_are_read_as_blank(write):
    edges = write("edges.csv", "1,2\n2,9\n")
    graph = read_graph(edges, features=write("nodes.csv", TABLE))
    row = graph.x[graph.node_ids.tolist().index(9)]
    assert row.tolist() == [30, 0, 0, 1, 0.5, 18264]
    words = write("words.csv", "id,city\n1,rome\n2,oslo\n3,rome\n")
    graph = read_graph(edges, features=words)
    assert graph.x[graph.node_ids.tolist().index(9)].tolist() == [0, 0]


def test_a_table_without_any_node_of_the_graph_is_refused(write):
    error = message(read_graph, write("e.csv", "7,8\n"), features=write("nodes.csv", TABLE))
    assert (
        "has no row for any of the 2 nodes that edges join (first: 7, 8); give the table" in error
    )


@pytest.mark.parametrize("chosen", [["age"], ["city", "age"], ["name"], [1]])
def test_feature_columns_are_chosen(write, chosen):
    table = read(write("nodes.csv", TABLE), features=chosen)
    names = [c.name for c in table.notes.encoding.columns]
    assert names == ["age" if name == 1 else name for name in chosen]
    assert table.x.shape == (4, table.notes.encoding.num_features)


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        (["height"], "column feature_columns='height' does not exist"),
        (["age", "age"], "column 'age' is named twice"),
        (["id"], "column 'id' holds ids or labels"),
        (["many"], "60 different words, more than 50; leave it out"),
    ],
)
def test_feature_columns_that_cannot_be_used_are_refused(write, chosen, problem):
    rows = "".join(f"{i},{i},w{i}\n" for i in range(60))
    path = write("nodes.csv", "id,age,many\n" + rows)
    with pytest.raises(PGNNError) as caught:
        read(path, features=chosen)
    assert problem in str(caught.value)


def test_columns_of_many_words_are_left_out_and_said(write):
    rows = "".join(f"{i},{i % 7},g{i % 9},w{i},x\n" for i in range(60))
    table = read(write("nodes.csv", "id,age,group,many,same\n" + rows))
    assert [c.name for c in table.notes.encoding.columns] == ["age", "group"]
    assert table.notes.left_out == (
        ("many", "60 different words, more than 50"),
        ("same", "all its words are the same"),
    )


def test_a_few_words_among_numbers_are_blanks(write):
    rows = "".join(f"{i},{'?' if i == 3 else 2}\n" for i in range(10))
    table = read(write("nodes.csv", "id,age\n" + rows))
    assert table.x[:, 0].tolist() == [2.0] * 10
    assert (table.notes.num_odd, table.notes.num_blanks) == (1, 0)


def test_parquet_columns_keep_their_kinds(tmp_path):
    frame = pl.DataFrame({
        "id": ["a", "b", "c"],
        "ok": [True, None, False],
        "f": [1.0, float("nan"), 3.0],
        "kind": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
        "list": [[1], [2], [3]],
    })  # fmt: skip
    frame.write_parquet(tmp_path / "nodes.parquet")
    table = read(tmp_path / "nodes.parquet")
    assert table.x.tolist() == [[1, 1, 1, 0], [0.5, 2, 0, 1], [0, 3, 1, 0]]
    assert [name for name, _ in table.notes.left_out] == ["list"]


def test_a_table_of_words_alone_has_its_header_found_by_the_graph(write):
    nodes = write("nodes.csv", "who,city\nann,rome\nbob,oslo\neve,rome\n")
    graph, notes = read_graph_with_notes(
        write("edges.csv", "source,target\nann,bob\nbob,eve\n"), features=nodes
    )
    assert graph.node_ids.tolist() == ["ann", "bob", "eve"]
    assert notes.feature_notes.encoding.columns[0].words == ("oslo", "rome")


def test_another_table_is_encoded_as_the_first(write):
    first = read(write("nodes.csv", TABLE))
    later = "city,age,id,vip,joined\nparis,,7,no,2020-01-01\nrome,50,8,,\n"
    table = read(write("later.csv", later), encoding=first.notes.encoding, id_column="id")
    assert table.x.tolist() == [[30, 0, 0, 0, 0, 18262], [50, 0, 1, 0, 0.5, 18264]]
    assert (table.notes.num_unseen, table.notes.num_blanks) == (1, 3)


def test_another_table_must_have_the_columns_of_the_first(write):
    first = read(write("nodes.csv", TABLE))
    with pytest.raises(PGNNError, match="has no column 'city', which the model was trained with"):
        read(write("later.csv", "id,age,vip,joined\n1,2,no,2020-01-01\n"),
             encoding=first.notes.encoding)  # fmt: skip
    with pytest.raises(PGNNError, match="feature_columns was chosen when the model was trained"):
        read(write("nodes2.csv", TABLE), encoding=first.notes.encoding, features=["age"])


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.integers(0, 5)
columns = st.builds(
    FeatureColumn,
    name=names,
    kind=st.sampled_from(["number", "flag", "date"]),
    mean=st.floats(-1e30, 1e30),
) | st.builds(
    FeatureColumn,
    name=names,
    kind=st.just("words"),
    words=st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True, max_size=4).map(
        tuple
    ),
    has_blank=st.booleans(),
)


@given(st.lists(columns, max_size=4))
def test_an_encoding_survives_json_and_toml(several):
    encoding = FeatureEncoding(tuple(several))
    assert FeatureEncoding.from_json(json.loads(json.dumps(encoding.to_json()))) == encoding
    document = tomllib.loads(tomli_w.dumps({"columns": encoding.to_json()}))
    assert FeatureEncoding.from_json(document["columns"]) == encoding
    assert encoding.blank.shape == (encoding.num_features,)


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        {},
        [1],
        [{"name": "a"}],
        [{"name": "a", "kind": "code"}],
        [{"name": ["a"], "kind": "number"}],
        [{"name": "a", "kind": "number", "mean": "x"}],
        [{"name": "a", "kind": "number", "mean": 1e300}],
        [{"name": "a", "kind": "number", "mean": float("nan")}],
        [{"name": "a", "kind": "words", "words": ["x", "x"]}],
        [{"name": "a", "kind": "words", "words": [1]}],
        [{"name": "a", "kind": ["words"], "words": [1]}],
    ],
)
def test_a_damaged_encoding_is_refused(damaged):
    with pytest.raises(PGNNError, match="damaged"):
        FeatureEncoding.from_json(damaged)


def slow_one_hot(cells):
    """The slow and obvious encoder of a column of words."""
    words = sorted({cell for cell in cells if cell})
    rows = []
    for cell in cells:
        row = [1.0 if cell == word else 0.0 for word in words]
        rows.append([*row, 1.0 if not cell else 0.0] if "" in cells else row)
    return rows


@given(st.lists(st.sampled_from(["red", "green", "blue", ""]), min_size=5, max_size=12))
def test_words_are_encoded_as_the_obvious_way_does(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("words") / "nodes.csv"
    path.write_text("id,color,n\n" + "".join(f"{i},{c},1\n" for i, c in enumerate(cells)))
    table = read(path)
    expected = np.array(slow_one_hot(cells))
    distinct = len(set(cells) - {""})
    if distinct < 2 or (distinct == len([c for c in cells if c]) and distinct > 2):
        assert table.x.shape == (len(cells), 1)
    else:
        assert table.x[:, :-1].tolist() == expected.tolist()
