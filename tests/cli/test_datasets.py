"""`pgnn datasets`."""

import json

import pytest


def test_datasets_shows_a_table(command):
    done = command("datasets")
    assert done.code == 0
    assert done.stderr == ""
    for name in ("grid", "communities", "ppi", "email", "protein"):
        (line,) = (line for line in done.stdout.splitlines() if line.startswith(f"│ {name} "))
        assert ("yes" in line) == (name in ("grid", "communities"))
    assert "56,658" in done.stdout


def test_datasets_json_is_one_document(command):
    done = command("datasets", "--json")
    rows = json.loads(done.stdout)["datasets"]
    assert [row["name"] for row in rows] == ["grid", "communities", "ppi", "email", "protein"]
    assert [row["present"] for row in rows] == [True, True, False, False, False]
    assert rows[1]["tasks"] == ["link", "pair"]
    assert (rows[0]["nodes"], rows[0]["edges"]) == (400, 760)
    assert done.stderr == ""


def test_datasets_looks_in_the_folder_that_is_given(command, tmp_path):
    folder = tmp_path / "data" / "email"
    folder.mkdir(parents=True)
    (folder / "edges.txt").write_text("")
    (folder / "labels.txt").write_text("")
    rows = json.loads(command("datasets", "--json", "--data-dir", tmp_path / "data").stdout)
    assert [row["name"] for row in rows["datasets"] if row["present"]] == [
        *("grid", "communities", "email")
    ]


@pytest.mark.parametrize("columns", [80, 120])
def test_datasets_at_80_columns_has_no_empty_column_and_shows_all(command, monkeypatch, columns):
    from pgnn.datasets import describe

    monkeypatch.setenv("COLUMNS", str(columns))
    text = command("datasets").stdout
    assert max(map(len, text.splitlines())) <= 80
    (head,) = (line for line in text.splitlines() if " name " in line)
    assert all(cell.strip() for cell in head.strip("┃").split("┃"))
    for row in describe():
        assert f"{row.name} " in text
        assert row.source in text
