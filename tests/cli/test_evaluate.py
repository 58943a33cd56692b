"""`pgnn evaluate`."""

from cli_helpers import document


def test_pairs_of_a_table_are_judged_and_their_edges_hidden(trained, command):
    edges = (trained / "edges.csv").read_text().splitlines()[:4]
    (trained / "p.csv").write_text("\n".join(edges) + "\n")
    found = document(command("evaluate", "run", "edges.csv", "--pairs", "p.csv", "--json"))
    assert (found["num_positive"], found["num_negative"], found["hidden_edges"]) == (3, 3, 3)


def test_hidden_edges_are_mentioned_only_if_there_are_some(trained, command):
    own = command("evaluate", "run", "edges.csv")
    assert own.code == 0
    assert "judged by the test pairs of the training graph" in own.stdout
    assert "positive and" in own.stderr
    assert "0 edges" not in own.stderr
    edges = (trained / "edges.csv").read_text().splitlines()[:4]
    (trained / "p.csv").write_text("\n".join(edges) + "\n")
    of_a_table = command("evaluate", "run", "edges.csv", "--pairs", "p.csv")
    assert "; 3 edges of the file were hidden from the model\n" in of_a_table.stderr
