"""What `evaluate`, `embed` and `predict` take over from a run, and what they say of a graph."""

import re
import shutil
import tomllib

import tomli_w

from cli_helpers import FEW, community_edges, document, write_table


def test_columns_are_taken_over_from_the_run(command, tmp_path):
    edges = [(f"n{u}", 1990 + u, f"n{v}") for u, v in community_edges()]
    write_table(tmp_path / "a.csv", edges, ("one", "year", "two"))
    write_table(tmp_path / "b.csv", edges[3:], ("one", "year", "two"))
    columns = ["--source", "one", "--target", "two"]
    assert command("train", "a.csv", *columns, "--out", "run", *FEW).code == 0
    for name in ("a.csv", "b.csv"):
        links = document(command("predict", "run", name, "--top", 2, "--json"))["links"]
        assert all(link["target"].startswith("n") for link in links)
    held_out = document(command("evaluate", "run", "b.csv", "--share", 0.2, "--json"))
    assert held_out["pairs"].startswith("a share of 0.2 held out of this graph")
    typed = command("predict", "run", "a.csv", "--source", "one", "--target", "year", "--json")
    assert any(not str(link["target"]).startswith("n") for link in document(typed)["links"])


def test_features_are_found_again_for_the_same_nodes(trained, command):
    assert command("embed", "teams", "edges.csv", "-o", "z.csv").code == 0
    shutil.copy(trained / "edges.csv", trained / "other.csv")
    done = command("embed", "teams", "other.csv", "-o", "other_z.csv")
    assert done.code == 0
    said = "the table of nodes that the run was trained with is read again: "
    assert done.stderr.startswith(said)
    assert (trained / "z.csv").read_bytes() == (trained / "other_z.csv").read_bytes()


def remembered(trained, **changes):
    """Change what the run `teams` remembers of its table of nodes."""
    path = trained / "teams/config.toml"
    config = tomllib.loads(path.read_text())
    config["features"] |= changes
    path.write_text(tomli_w.dumps(config))


def test_features_that_moved_or_changed_are_asked_for(trained, command, tmp_path):
    remembered(trained, path=str(tmp_path / "gone/nodes.csv"))
    assert command("embed", "teams", "edges.csv", "-o", "z.csv").code == 0  # beside the graph
    table = trained / "nodes.csv"
    text = table.read_text()
    table.write_text(text + "\n")
    refused = command("embed", "teams", "edges.csv", "-o", "z.csv")
    assert refused.code == 2
    assert refused.stderr == (
        "pgnn: the run was trained with features of nodes.csv, which has changed since; give the "
        "table of nodes with --features\n"
    )
    assert command("embed", "teams", "edges.csv", "-o", "z.csv", "--features", table).code == 0
    table.unlink()
    refused = command("embed", "teams", "edges.csv", "-o", "z.csv")
    assert "which is not there any more; give the table of nodes with --features" in refused.stderr


def test_a_run_of_a_stranger_reads_no_other_file(trained, command, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("id,f0,f1\nn0,1,2\n")
    remembered(trained, path=str(secret))
    (trained / "nodes.csv").unlink()
    done = command("embed", "teams", "edges.csv", "-o", "z.csv")
    assert done.code == 2
    assert "secret.csv, which has changed since" in done.stderr
    remembered(trained, columns=[{"name": "f0", "kind": "code"}])
    done = command("embed", "teams", "edges.csv", "-o", "z.csv", "--features", secret)
    assert (done.code, len(done.stderr.splitlines())) == (2, 1)
    assert "the description of a feature column is damaged" in done.stderr


def test_text_columns_are_encoded_by_the_run_as_in_training(command, tmp_path):
    edges = [(f"n{u}", f"n{v}") for u, v in community_edges()]
    write_table(tmp_path / "edges.csv", edges, ("a", "b"))
    cities = ["rome", "oslo", "", "kyiv"]
    rows = [(f"n{i}", cities[i % 4], i % 5 or "") for i in range(22)]
    write_table(tmp_path / "people.csv", rows, ("who", "city", "age"))
    done = command("train", "edges.csv", "--features", "people.csv", "--out", "run", *FEW)
    assert done.code == 0
    assert (
        "nodes of people.csv: 1 column of numbers, city as 4 one-hot columns, 10 blanks filled, "
        "2 of 24 nodes have no row and are read as blank" in done.stderr
    )
    rows = [(f"n{i}", "lima" if i == 1 else cities[i % 4]) for i in range(24)]
    write_table(tmp_path / "later.csv", [(i, 3, n) for n, i in rows], ("city", "age", "who"))
    new = ("--features", "later.csv", "--id-column", "who")
    done = command("predict", "run", "edges.csv", *new, "--top", 2, "--json")
    assert len(document(done)["links"]) == 2
    assert "1 word that training did not see read as zeros" in done.stderr
    chosen = ("--features", "people.csv", "--feature-columns", "age")
    assert command("train", "edges.csv", *chosen, "--out", "age", *FEW).code == 0
    assert document(command("predict", "age", "edges.csv", "--json"))["links"]
    refused = command("train", "edges.csv", "--feature-columns", "age", "--out", "x")
    assert refused.stderr.startswith("pgnn: --id-column, --label, --feature-columns and --type")


def test_warnings_of_a_wrong_file_are_shown(command, tmp_path):
    rows = [(f"n{i}", 20 + i % 4, "xy"[i % 2]) for i in range(24)]
    write_table(tmp_path / "people.csv", rows, ("id", "age", "team"))
    done = command("train", "people.csv", "--out", "run", *FEW)
    lines = [line for line in done.stderr.splitlines() if line.startswith("warning: people.csv")]
    assert lines == [
        "warning: people.csv looks like a table of nodes, not of edges: no id of column id "
        "repeats; give the file of edges, and this one as --features"
    ]


def test_a_wrong_node_suggests_near_ids(trained, command):
    done = command("predict", "run", "edges.csv", "--node", "N12x")
    assert done.stderr.startswith("pgnn: the graph has no node 'N12x'; did you mean 'n12'")


def test_features_a_run_does_not_read_are_mentioned(trained, command):
    table = ["--features", "nodes.csv", "--label", "team"]
    done = command("predict", "run", "edges.csv", *table, "--json")
    assert document(done)["links"]
    said = "the run was trained without features; those of this graph are not read"
    assert said in done.stderr.splitlines()


def test_features_that_a_config_names_elsewhere_are_not_read(trained, command, tmp_path_factory):
    other = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    other.write_text("secret of another user\n")
    config = trained / "teams" / "config.toml"
    text = config.read_text().replace('"nodes.csv"', f'"{other}"')
    text = re.sub('"[^"]*nodes.csv"', f'"{other}"', text)
    assert str(other) in text
    config.write_text(text)
    refused = command("predict", "teams", "edges.csv")
    assert refused.code == 2
    assert "another user" not in refused.stderr
    assert command("predict", "teams", "edges.csv", "--features", "nodes.csv").code == 0
