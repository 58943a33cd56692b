"""Shares of a table of edges: together they are the file, and no block is larger than said."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import PGNNError
from pgnn.io import shares
from pgnn.io.shares import open_shares


def rows_of(path, num_parts, **how):
    opened = open_shares(path, **how)
    return [
        row
        for part in range(num_parts)
        for block in opened.blocks(part, num_parts)
        for row in zip(*(end.cast(pl.String).to_list() for end in block), strict=True)
    ]


LINES = st.lists(
    st.sampled_from(["a1,b2", "7,8", "# note", "", '"x,y",3', "  5 , 6 ", "ü,ö"]), max_size=12
)


@settings(max_examples=60, deadline=None)
@given(
    lines=LINES,
    num_parts=st.integers(1, 5),
    block=st.integers(1, 40),
    end=st.sampled_from(["\n", "\r\n"]),
    start=st.sampled_from(["", "\ufeff", "# a long comment at the top\n\n"]),
    last=st.booleans(),
)
def test_shares_together_are_the_file(tmp_path_factory, lines, num_parts, block, end, start, last):
    path = tmp_path_factory.mktemp("shares") / "edges.csv"
    text = start + end.join(["source,target", *lines]) + end * last
    path.write_bytes(text.encode())
    ids = {"a1,b2": ("a1", "b2"), "7,8": ("7", "8"), '"x,y",3': ("x,y", "3"), "ü,ö": ("ü", "ö")}
    ids["  5 , 6 "] = ("5", "6")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares, "BLOCK_BYTES", block)
        patch.setattr(shares, "_HEAD_BYTES", block)
        assert rows_of(path, num_parts) == [ids[line] for line in lines if line in ids]


def test_columns_are_chosen_as_read_graph_chooses_them(tmp_path):
    path = tmp_path / "edges.tsv"
    path.write_text("w\tto\tfrom\n.5\ta\tb\n.7\tc\td\n")
    assert rows_of(path, 2) == [("b", "a"), ("d", "c")]
    assert open_shares(path).names == ("from", "to")
    assert rows_of(path, 2, source="to", target=0) == [("a", ".5"), ("c", ".7")]
    assert rows_of(path, 1, header=False)[0] == ("w", "to")


def test_lines_are_numbered_from_the_top_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "BLOCK_BYTES", 16)
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "1,2\n" * 40 + "1,2,3\n")
    with pytest.raises(PGNNError, match=r"edges.csv, line 42: has 3 fields"):
        rows_of(path, 3)


def test_rows_of_parquet_are_numbered_from_the_top_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "BLOCK_ROWS", 4)
    path = tmp_path / "edges.parquet"
    pl.DataFrame({"u": [1] * 11, "v": [2] * 10 + [None]}).write_parquet(path)
    with pytest.raises(PGNNError, match=r"edges.parquet, row 11: the target id is missing"):
        rows_of(path, 2)
    pl.DataFrame({"u": [1, 3], "v": [0.5, 1.5]}).write_parquet(path)
    with pytest.raises(PGNNError, match="column 'v' must hold integers or strings"):
        rows_of(path, 1)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("e.csv.gz", "x", "a compressed file cannot be read in parts; unpack it first"),
        ("e.npz", "x", "cannot be read in parts; give the edges as parquet or csv"),
        ("e.csv", "source,target,weight\n1,2,3\n", "holds weights, and a graph in parts has none"),
        ("e.csv", "ann,bob\nbob,eve\neve,dan\n", "whether its first line holds names"),
        ("e.csv", "", "is empty; a table needs at least one line"),
        ("e.csv", "# only\n", "holds only comments"),
        ("e.csv", "1\n2\n", "needs at least 2 columns"),
        ("e.parquet", "x", "cannot be read as parquet"),
    ],
)
def test_what_cannot_be_read_in_parts_is_one_clear_error(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(PGNNError, match=message):
        open_shares(tmp_path / name)


def test_places_that_are_no_files_are_one_clear_error(tmp_path):
    with pytest.raises(PGNNError, match="there is no such file"):
        open_shares(tmp_path / "none.csv")
    with pytest.raises(PGNNError, match="is a folder"):
        open_shares(tmp_path)
