"""Text tables: separators, quotes, lines that are quoted in errors, files that are no text."""

import gzip
from pathlib import Path

import pytest

from io_helpers import edge_ids, message
from pgnn.io import read_graph


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
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    path = write("edges.csv", "1,2\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert message(read_graph, path) == f"{path}: cannot be read (Permission denied)"
