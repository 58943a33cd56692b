"""What `evaluate`, `embed` and `predict` take over from a run, and what they say of a graph."""

import shutil

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


def test_features_are_taken_over_for_the_same_file_only(trained, command):
    assert command("embed", "teams", "edges.csv", "-o", "z.csv").code == 0
    shutil.copy(trained / "edges.csv", trained / "other.csv")
    refused = command("embed", "teams", "other.csv", "-o", "z.csv")
    assert "give the same features" in refused.stderr
    given = ["--features", "nodes.csv"]
    assert command("embed", "teams", "other.csv", "-o", "other_z.csv", *given).code == 0
    assert (trained / "z.csv").read_bytes() == (trained / "other_z.csv").read_bytes()


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
    assert str(other) in text
    config.write_text(text)
    refused = command("predict", "teams", "edges.csv")
    assert refused.code == 2
    assert "secret" not in refused.stderr.replace(str(other), "")
    assert command("predict", "teams", "edges.csv", "--features", "nodes.csv").code == 0
