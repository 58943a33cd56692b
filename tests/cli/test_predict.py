"""`pgnn predict`."""

import pytest

from cli_helpers import FEW, community_edges, document, metrics_of, write_table


def test_pair_task_predicts_similar_nodes(trained, command):
    assert metrics_of(trained / "teams")["task"] == "pair"
    arguments = ["predict", "teams", "edges.csv", "--top", 2, "--node", "n0", "--node", "n9"]
    links = document(command(*arguments, "--json"))["links"]
    assert [link["source"] for link in links] == ["n0", "n0", "n9", "n9"]
    assert "most similar nodes" in command(*arguments).stdout


def test_nodes_asked_for_come_first_in_their_pairs(trained, command):
    links = document(command("predict", "run", "edges.csv", "--node", "n3", "--top", 5, "--json"))[
        "links"
    ]
    assert [link["source"] for link in links] == ["n3"] * 5
    assert [link["score"] for link in links] == sorted((x["score"] for x in links), reverse=True)


def test_long_ids_are_never_cut_short(command, tmp_path):
    names = {v: f"{v}-" + "x" * 60 for v in range(24)}
    write_table(tmp_path / "g.csv", [(names[u], names[v]) for u, v in community_edges()])
    assert command("train", "g.csv", "--out", "run", *FEW, "--model", "mlp").code == 0
    done = command("predict", "run", "g.csv", "--top", 1)
    assert done.stdout.count("x") == 120
    assert "…" not in done.stdout


# ---------------------------------------------------------------------- pairs of one's own


def first_edges(folder, count):
    lines = (folder / "edges.csv").read_text().splitlines()[1 : count + 1]
    return [tuple(line.split(",")) for line in lines]


def test_own_pairs_are_scored_in_the_order_of_the_file(trained, command):
    edges = first_edges(trained, 2)
    pairs = [("n5", "n20"), edges[0], ("n0", "n23"), edges[1][::-1], ("n5", "n20")]
    write_table(trained / "p.csv", pairs, ("source", "target"))
    done = command("predict", "run", "edges.csv", "--pairs", "p.csv", "-o", "s.csv", "--json")
    found = document(done)
    assert [(link["source"], link["target"]) for link in found["links"]] == pairs
    assert found["links"][0] == found["links"][4]  # repeated pairs are scored each time
    assert (found["exact"], found["asked_edges"]) == (True, 2)
    assert found["scored"] == "the 5 pairs that were asked about"
    assert "2 edges of the graph among the pairs; a pair's own edge was not read" in done.stderr
    lines = (trained / "s.csv").read_text().splitlines()
    assert lines[0] == "node1,node2,score,spread"  # edges of this graph have no direction
    assert [line.split(",")[0] for line in lines[1:]] == [u for u, _ in pairs]
    shown = command("predict", "run", "edges.csv", "--pairs", "p.csv")
    assert "chances of your pairs" in shown.stdout


@pytest.mark.parametrize("model", ["pgnn-best", "pgnn-e-2l"])
def test_own_edge_of_a_pair_is_never_read(trained, command, model):
    if model != "pgnn-best":
        chosen = ("--model", model, "--out", "run")
        (trained / "run").rename(trained / "other")
        assert command("train", "edges.csv", *chosen, *FEW).code == 0
    *lines, edge = (trained / "edges.csv").read_text().splitlines()
    (trained / "p.csv").write_text(f"source,target\n{edge}\n")
    # Both nodes of the last edge are named before it, so that nodes are numbered alike.
    assert all(name in ",".join(lines).split(",") for name in edge.split(","))
    (trained / "less.csv").write_text("\n".join(lines) + "\n")
    ask = ("--pairs", "p.csv", "--base-rate", 0.5, "--json")
    with_edge, without = (
        document(command("predict", "run", name, *ask)) for name in ("edges.csv", "less.csv")
    )
    # Of pgnn-best, means over all nodes (of one column) are those of the graph as it is.
    score, wanted = (found["links"][0]["score"] for found in (with_edge, without))
    assert score == pytest.approx(wanted, abs=1e-3 if model == "pgnn-best" else 1e-6)
    assert (with_edge["asked_edges"], without["asked_edges"]) == (1, 0)


def test_base_rate_is_named_and_can_be_set(trained, command):
    links = ("predict", "run", "edges.csv", "--top", 3)
    by_default = document(command(*links, "--json"))
    edges = len((trained / "edges.csv").read_text().splitlines()) - 1
    assert by_default["base_rate"] == pytest.approx(0.1 * edges / (24 * 23 / 2 - edges))
    assert f"base rate of {by_default['base_rate']:.3g}, the share" in command(*links).stderr
    half = document(command(*links, "--base-rate", 0.5, "--json"))
    assert half["base_rate"] == 0.5
    for one, other in zip(half["links"], by_default["links"], strict=True):
        assert (one["source"], one["target"]) == (other["source"], other["target"])
        assert one["score"] > other["score"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("n0", "n1"), ("n2", "n2")], "p.csv, line 3: a pair must be of two different nodes (got"),
        ([("n0", "zz")], "the graph has no node 'zz' (its ids are like"),
        ([], "p.csv: holds no pairs"),
    ],
    ids=["itself", "unknown", "empty"],
)
@pytest.mark.parametrize("name", ["predict", "evaluate"])
def test_bad_pairs_are_one_clear_line(trained, command, name, rows, words):
    write_table(trained / "p.csv", rows, ("source", "target"))
    done = command(name, "run", "edges.csv", "--pairs", "p.csv", "--quiet")
    assert (done.code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert words in line


@pytest.mark.parametrize("other", [("--top", 3), ("--node", "n1")])
def test_own_pairs_and_a_list_of_the_best_exclude_each_other(trained, command, other):
    write_table(trained / "p.csv", [("n0", "n1")], ("source", "target"))
    done = command("predict", "run", "edges.csv", "--pairs", "p.csv", *other)
    assert done.code == 2
    assert f"--pairs scores its own pairs; leave out {other[0]}" in done.stderr
