"""Text tables: separators, quotes, lines that are quoted in errors, files that are no text."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_helpers import edge_ids, message
from pgnn.io import parts, read_graph
from pgnn.io.text import _strip_fields


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


def test_read_graph_shortens_a_very_long_raw_line(write):
    error = message(read_graph, write("edges.csv", "1,2\n3" + ",4" * 999))
    assert ", line 2: has 1000 fields" in error
    assert len(error) < 500


def test_read_graph_finds_the_line_in_whitespace_files(write):
    error = message(read_graph, write("edges.txt", "# c\n 1   2\n3  4\n\n 5  \n"))
    assert ", line 5: has 1 field where" in error
    assert repr(" 5  ") in error


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
    def refuse(path, pipes):
        raise PermissionError(13, "Permission denied")

    path = write("edges.csv", "1,2\n")
    monkeypatch.setattr(parts, "open_file", refuse)
    assert message(read_graph, path) == f"{path}: cannot be read (Permission denied)"


def strip_slowly(data, separator):
    """Drop blanks around fields until there are none: what `_strip_fields` must equal."""
    if separator == b" ":
        data = data.replace(b"\t", b" ")
    pads = [b" "] if separator in (b" ", b"\t") else [b" ", b"\t"]
    data, before = b"\n" + data, None
    while data != before:
        before = data
        for pad in pads:
            for edge in (separator, b"\n"):
                data = data.replace(pad + edge, edge).replace(edge + pad, edge)
    return data[1:]


@given(
    st.lists(st.sampled_from([b"a", b" ", b"  ", b" " * 9, b"\t", b" \t " * 4, b",", b"\n", b";"])),
    st.sampled_from([b",", b";", b"\t", b" "]),
)
def test_padding_is_stripped_as_by_the_obvious_loop(pieces, separator):
    data = b"".join(pieces) + b"\n"
    assert _strip_fields(data, separator) == strip_slowly(data, separator)


def test_long_padding_takes_no_time(tmp_path):
    """Would take hours if time grew with the square of the padding."""
    path = tmp_path / "edges.csv"
    path.write_text("a" + " " * 3_000_000 + ",b\nb,c" + " " * 3_000_000 + "\n")
    assert read_graph(path).node_ids.tolist() == ["a", "b", "c"]


def test_an_endless_line_is_refused(tmp_path):
    (tmp_path / "edges.csv").write_bytes(b"a,b\n" + b"a" * (17 << 20))
    assert "has a line of more than 16 MiB" in message(read_graph, tmp_path / "edges.csv")


def test_a_million_columns_are_refused(tmp_path):
    (tmp_path / "edges.csv").write_bytes(b"a," * 1_000_000 + b"a\n")
    assert "has more than 100,000 columns" in message(read_graph, tmp_path / "edges.csv")


def test_an_id_keeps_a_byte_order_mark_of_its_own(tmp_path):
    (tmp_path / "edges.csv").write_bytes("\ufeff\ufeffa,b\n\ufeffa,c\n".encode())
    assert read_graph(tmp_path / "edges.csv").node_ids.tolist() == ["\ufeffa", "b", "c"]
