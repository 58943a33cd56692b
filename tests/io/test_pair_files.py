import gzip

import numpy as np
import polars as pl
import pytest

from pgnn import Graph
from pgnn.errors import PGNNError
from pgnn.io.pair_files import find_nodes, near_ids, read_pair_table, read_pairs

PATH = [(0, 1), (1, 2), (2, 3)]


@pytest.fixture
def people():
    return Graph.from_edges(PATH, node_ids=["ann", "bob", "eve", "zoë"])


@pytest.fixture
def numbers():
    return Graph.from_edges(PATH, node_ids=[10, 20, 30, -4])


def write(tmp_path, text, name="pairs.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "pairs", "labels"),
    [
        ("source,target\nann,bob\neve,ann\n", [[0, 1], [2, 0]], None),
        ("ann,bob\neve,ann\n", [[0, 1], [2, 0]], None),
        ("u,v,label\nann,bob,1\neve,ann,0\n", [[0, 1], [2, 0]], [True, False]),
        ("a,b,Label\nann,bob,1\neve,ann,0\n", [[0, 1], [2, 0]], [True, False]),
        ("target,source,label\nann,bob,1\neve,ann,0\n", [[1, 0], [0, 2]], [True, False]),
        ("label,source,target\n1,ann,bob\n0,eve,ann\n", [[0, 1], [2, 0]], [True, False]),
        ("source,label,target\nann,1,bob\neve,0,ann\n", [[0, 1], [2, 0]], [True, False]),
        ("source,target,label\nann,bob,1.0\neve,ann,0.0\n", [[0, 1], [2, 0]], [True, False]),
        ("source,target,weight\nann,bob,3\n", [[0, 1]], None),
        ("# pairs\n\nann,bob\n\n  eve , zoë \n\n", [[0, 1], [2, 3]], None),
        ('"ann","bob"\n', [[0, 1]], None),
        ("ann,bob\nbob,ann\nann,bob\n", [[0, 1], [1, 0], [0, 1]], None),
    ],
)
def test_read_pairs_understands_tables(tmp_path, people, text, pairs, labels):
    indices, truth = read_pairs(write(tmp_path, text), people)
    assert indices.tolist() == pairs
    assert indices.dtype == np.int64
    assert (truth if truth is None else truth.tolist()) == labels


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("buyer,item\nann,bob\neve,zoë\n", [[0, 1], [2, 3]]),
        ("buyer,item\nann,bob\n", [[0, 1]]),
        ("ann,bob\neve,zoë\n", [[0, 1], [2, 3]]),
    ],
)
def test_read_pairs_takes_a_first_line_of_unknown_words_for_names(tmp_path, people, text, pairs):
    assert read_pairs(write(tmp_path, text), people)[0].tolist() == pairs


@pytest.mark.parametrize("text", ["ann,carl\nbob,eve\n", "carl,dora\n", "carl,dora\nann,fred\n"])
def test_read_pairs_does_not_take_a_mistake_for_names(tmp_path, people, text):
    with pytest.raises(PGNNError, match="no node 'carl'"):
        read_pairs(write(tmp_path, text), people)


def test_read_pairs_reads_gzip_and_blanks(tmp_path, people):
    path = tmp_path / "pairs.txt.gz"
    path.write_bytes(gzip.compress("from to label\nann  bob 1\neve zoë 0\n".encode()))
    indices, truth = read_pairs(path, people)
    assert (indices.tolist(), truth.tolist()) == ([[0, 1], [2, 3]], [True, False])


@pytest.mark.parametrize("labels", [[1, 0], [True, False], [1.0, 0.0]])
def test_read_pairs_reads_parquet(tmp_path, numbers, labels):
    path = tmp_path / "pairs.parquet"
    pl.DataFrame({"source": [10, -4], "target": [20, 30], "label": labels}).write_parquet(path)
    indices, truth = read_pairs(path, numbers)
    assert (indices.tolist(), truth.tolist()) == ([[0, 1], [3, 2]], [True, False])


@pytest.mark.parametrize("text", ["10,20\n-4,30\n", "source,target\n10,20\n-4,30\n"])
def test_read_pairs_reads_integer_ids(tmp_path, numbers, text):
    assert read_pairs(write(tmp_path, text), numbers)[0].tolist() == [[0, 1], [3, 2]]


def test_read_pairs_reads_integers_that_are_strings_in_the_graph(tmp_path):
    graph = Graph.from_edges(PATH, node_ids=["7", "007", "x", "8"])
    assert read_pairs(write(tmp_path, "7,8\n"), graph)[0].tolist() == [[0, 3]]
    assert read_pairs(write(tmp_path, "7,007\nx,8\n"), graph)[0].tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("# nothing\n\n", "only comments"),
        ("source,target\n", "holds no pairs"),
        ("ann\nbob\n", "needs at least 2 columns"),
        ("ann,bob\nann,carl\n", "no node 'carl' .its ids are like ann, bob, eve"),
        ("ann,bob\nann,ann\n", "line 2: a pair must be of two different nodes .got 'ann,ann'"),
        ("# x\n\nu,v\nann,bob\n\neve,eve\n", "line 6: a pair must be of two different nodes"),
        ("ann,bob\nann,\n", "line 2: an id is missing"),
        ("ann,bob\nann\n", "line 2: has 1 field"),
        ("u,v,label\nann,bob,2\n", "line 2: the label is '2', but it must be 0 or 1"),
        ("u,v,label\nann,bob,1\nann,eve,yes\n", "line 3: the label is 'yes'"),
        ("u,v,label\nann,bob,1\nann,eve,\n", "line 3: the label is ''"),
        ("u,v,label\nann,bob,1\nann,eve,nan\n", "line 3: the label is 'nan'"),
        ("u,v,label\nann,bob,1\nann,eve,0.5\n", "line 3: the label is '0.5'"),
        ("label,x,y\n1,ann,bob\n0,ann,eve\n", "`label` stands where an id is expected"),
    ],
)
def test_read_pairs_says_what_is_wrong(tmp_path, people, text, words):
    path = write(tmp_path, text)
    with pytest.raises(PGNNError, match=words) as raised:
        read_pairs(path, people)
    assert str(path) in str(raised.value)


def test_read_pairs_says_that_there_is_no_file(tmp_path, people):
    with pytest.raises(PGNNError, match="there is no such file"):
        read_pairs(tmp_path / "none.csv", people)


def test_read_pairs_refuses_an_unknown_integer(tmp_path, numbers):
    with pytest.raises(PGNNError, match=r"no node '40' .its ids are like 10, 20, 30"):
        read_pairs(write(tmp_path, "10,40\n"), numbers)


def test_unknown_ids_are_listed_and_counted(tmp_path, people):
    path = write(tmp_path, "ann,bob\nann,carl\ndora,fred\ncarl,eve\nann,gina\n")
    with pytest.raises(PGNNError) as raised:
        read_pair_table(path, people)
    assert str(raised.value) == (
        f"{path}: the graph has no node 'carl', 'dora', 'fred' or 1 others (its ids are like ann, "
        "bob, eve); 4 of 5 pairs name such nodes; correct them, or skip them with skip_unknown=True"
    )


def test_pairs_of_unknown_ids_are_skipped_if_asked(tmp_path, people):
    path = write(tmp_path, "u,v,label\nann,bob,1\nann,carl,1\ndora,carl,0\neve,zoë,0\n")
    table = read_pair_table(path, people, skip_unknown=True)
    assert table.pairs.tolist() == [[0, 1], [2, 3]]
    assert table.labels.tolist() == [True, False]
    assert (table.num_skipped, table.unknown, table.num_unknown) == (2, ("carl", "dora"), 2)
    whole = read_pair_table(write(tmp_path, "ann,bob\n"), people, skip_unknown=True)
    assert (whole.num_skipped, whole.unknown, whole.labels) == (0, (), None)


def test_a_table_of_unknown_ids_alone_is_refused_though_they_may_be_skipped(tmp_path, people):
    path = write(tmp_path, "carl,dora\nann,carl\n")
    with pytest.raises(PGNNError, match=r"no node 'carl', 'dora' .*; no pair is left"):
        read_pair_table(path, people, skip_unknown=True)


def test_a_node_with_itself_is_refused_in_parquet_by_row(tmp_path, numbers):
    path = tmp_path / "pairs.parquet"
    pl.DataFrame({"source": [10, 20], "target": [20, 20]}).write_parquet(path)
    with pytest.raises(PGNNError, match="row 2: a pair must be of two different nodes"):
        read_pair_table(path, numbers, skip_unknown=True)


def test_names_that_are_no_unicode_are_refused(people):
    with pytest.raises(PGNNError, match="names must be valid Unicode"):
        find_nodes(people, ["ann", "\udcff"])  # what Python makes of a byte that is no UTF-8


def test_find_nodes_by_ids_as_written(people, numbers):
    assert find_nodes(people, ["zoë", " ann", "zoë"]).tolist() == [3, 0, 3]
    assert find_nodes(numbers, ["-4", "20"]).tolist() == [3, 1]
    assert find_nodes(people, []).tolist() == []


@pytest.mark.parametrize("name", ["carl", "", "0", "Ann"])
def test_find_nodes_refuses_an_unknown_id(people, name):
    with pytest.raises(PGNNError, match=f"the graph has no node '{name}'"):
        find_nodes(people, ["ann", name])


@pytest.mark.parametrize("name", ["010", "1e1", "10.0", "99999999999999999999"])
def test_find_nodes_refuses_another_spelling_of_an_integer(numbers, name):
    with pytest.raises(PGNNError, match=f"the graph has no node '{name}'"):
        find_nodes(numbers, [name])


@pytest.mark.parametrize(
    ("name", "near"),
    [("ALICE", ["alice"]), ("alic", ["alice"]), (" bobb ", ["bob"]), ("zzz", [])],
)
def test_ids_that_are_spelt_alike_are_near(name, near):
    assert near_ids(name, np.array(["alice", "bob", "x17"])) == near


def test_ids_are_compared_also_where_there_are_very_many(monkeypatch):
    monkeypatch.setattr("pgnn.io.pair_files._MOST_COMPARED", 3)
    assert near_ids("alcie", np.array(["zoe", "yan", "alice", "bob"])) == ["alice"]
