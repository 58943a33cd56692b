"""`pgnn explain`."""

import pytest

from cli_helpers import document

KEYS = {"source", "target", "score", "reasons", "paths"}


@pytest.mark.parametrize("run", ["run", "teams"])
def test_explanation_has_the_same_keys_for_every_run(trained, command, run):
    found = document(command("explain", run, "edges.csv", "n0", "n5", "--json"))
    assert set(found) >= KEYS
    assert (found["source"], found["target"]) == ("n0", "n5")
    assert found["reasons"]
    for reason in found["reasons"]:
        assert set(reason) >= {"name", "value", "effect", "evidence"}
    for path in found["paths"]:
        assert (path[0], path[-1]) == ("n0", "n5")


def test_score_is_that_of_predict(trained, command):
    (trained / "p.csv").write_text("source,target\nn0,n20\n")
    scored = document(command("predict", "run", "edges.csv", "--pairs", "p.csv", "--json"))
    found = document(command("explain", "run", "edges.csv", "n0", "n20", "--json"))
    assert found["score"] == pytest.approx(scored["links"][0]["score"])


def test_people_read_reasons_paths_and_heuristics(trained, command):
    done = command("explain", "run", "edges.csv", "n0", "n20")
    assert done.code == 0
    assert "n0 - n20: chance of a link" in done.stdout
    for words in ("effect on the score", "shortest paths: n0 - ", "resource allocation"):
        assert words in done.stdout


def test_an_edge_is_explained_without_itself_and_that_is_said(trained, command):
    u, v = (trained / "edges.csv").read_text().splitlines()[1].split(",")
    done = command("explain", "run", "edges.csv", u, v, "--json")
    found = document(done)
    assert found["is_edge"]
    assert [u, v] not in found["paths"]
    assert "the graph has an edge between the two; it was not read" in done.stderr


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (("n0", "N5"), "the graph has no node 'N5'; did you mean 'n5'"),
        (("zzz", "n5"), "the graph has no node 'zzz' (its ids are like"),
        (("n5", "n5"), "a pair must be of two different nodes (got 'n5' twice)"),
    ],
)
def test_wrong_nodes_are_one_clear_line(trained, command, ends, words):
    done = command("explain", "run", "edges.csv", *ends)
    assert (done.code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert words in line
