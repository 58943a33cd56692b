"""`pgnn predict`."""

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
