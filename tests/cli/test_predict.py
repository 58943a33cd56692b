"""`pgnn predict`."""

import random

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


# ---------------------------------------------------------------------- reasons and heuristics


def test_why_adds_the_first_reason_to_each_row(trained, command):
    ask = ("predict", "run", "edges.csv", "--top", 3, "--why")
    links = document(command(*ask, "-o", "s.csv", "--json"))["links"]
    lines = (trained / "s.csv").read_text().splitlines()
    assert lines[0] == "node1,node2,score,spread,why"
    assert len(lines) == len(links) + 1
    for link in links:
        ends = (link["source"], link["target"])
        explained = document(command("explain", "run", "edges.csv", *ends, "--json"))
        assert link["why"] == link["reason"]["name"] == explained["reasons"][0]["name"]
    assert "why" in command(*ask).stdout


@pytest.mark.parametrize("name", ["resource allocation", "resource-allocation", "Adamic-Adar"])
def test_a_heuristic_answers_in_the_same_form(trained, command, name):
    ask = ("predict", "run", "edges.csv", "--top", 4)
    by_model = document(command(*ask, "--json"))
    found = document(command(*ask, "--model", name, "--json"))
    assert set(found) == set(by_model)
    assert set(found["links"][0]) == set(by_model["links"][0])
    assert found["model"] == name.replace("resource-", "resource ")
    assert found["base_rate"] is None
    scores = [link["score"] for link in found["links"]]
    assert scores == sorted(scores, reverse=True)
    done = command(*ask, "--model", name)
    assert f"scores are those of {found['model']}, no chances" in done.stderr


def test_a_heuristic_scores_own_pairs_and_links_of_a_node(trained, command):
    write_table(trained / "p.csv", [("n5", "n20"), ("n0", "n1")], ("source", "target"))
    ask = ("predict", "run", "edges.csv", "--model", "common neighbours", "--json")
    own = document(command(*ask, "--pairs", "p.csv"))["links"]
    assert [(link["source"], link["target"]) for link in own] == [("n5", "n20"), ("n0", "n1")]
    of_a_node = document(command(*ask, "--node", "n3", "--top", 2))["links"]
    assert [link["source"] for link in of_a_node] == ["n3", "n3"]


def test_the_runs_own_model_may_be_named(trained, command):
    ask = ("predict", "run", "edges.csv", "--top", 2, "--json")
    assert document(command(*ask, "--model", "pgnn-best")) == document(command(*ask))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "foo"), "--model must be one of shortest path, common neighbours, "),
        (("--model", "katz", "--why"), "--model has no chances; leave out --why"),
        (("--groups",), "--groups is for runs of task 'pair'"),
        (("--groups", "--top", 3), "--groups lists every node; leave out --top"),
    ],
)
def test_options_that_do_not_fit_are_one_clear_line(trained, command, options, words):
    done = command("predict", "run", "edges.csv", *options)
    assert (done.code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert words in line


# ---------------------------------------------------------------------- groups


def test_groups_are_listed_with_labels_of_unlabelled_nodes(trained, command):
    lines = (trained / "nodes.csv").read_text().splitlines()
    hidden = {f"n{v}" for v in (2, 9, 17)}
    rows = [line.split(",") for line in lines[1:]]
    labels = [(row[0], "" if row[0] in hidden else row[3]) for row in rows]
    write_table(trained / "some.csv", labels, ("id", "team"))
    table = ("--features", "some.csv", "--label", "team", "--task", "pair")
    assert command("train", "edges.csv", *table, "--out", "new", "--epochs", 4).code == 0
    done = command("predict", "new", "edges.csv", "--groups", "-o", "g.csv", "--json")
    found = document(done)
    assert found["num_groups"] == 3
    assert {row["id"] for row in found["groups"] if row["predicted"]} == hidden
    truth = {row[0]: row[3] for row in rows}
    assert {row["id"]: row["label"] for row in found["groups"]} == truth
    assert (trained / "g.csv").read_text().startswith("id,group,label,predicted,chance\n")
    two = document(command("predict", "new", "edges.csv", "--groups", 2, "--json"))
    assert two["num_groups"] == 2
    shown = command("predict", "--groups", "new", "edges.csv")
    assert "groups of nodes" in shown.stdout
    assert "3 labels predicted" in shown.stderr


def write_shop(path):
    """Customers of three tastes buy products, popular ones rather."""
    rng = random.Random(0)
    rows = set()
    for customer in range(40):
        for _ in range(6):
            product = min(int(rng.expovariate(0.12)), 26)
            product += -product % 3 + customer % 3 if rng.random() < 0.7 else 0
            rows.add((f"C{customer:04d}", f"P{product:04d}"))
    write_table(path, sorted(rows), ("customer", "product"))


def test_a_shop_is_recommended_products_to_customers_only(command, tmp_path):
    write_shop(tmp_path / "shop.csv")
    done = command("train", "shop.csv", "--out", "run", *FEW)
    assert done.code == 0, done.stderr
    assert "40 customers + " in done.stderr
    assert "hits@10 for each customer" in done.stdout
    metrics = metrics_of(tmp_path / "run")
    assert metrics["graph"]["between"] == ["customer", "product"]
    assert "common neighbours" not in metrics["heuristics"]
    for name in ("popularity", "item-based filtering"):
        assert 0 <= metrics["heuristics"][name]["metrics"]["hits@10_per_node"] <= 1
    links = document(command("predict", "run", "shop.csv", "--top", 10, "--json"))["links"]
    assert [(link["source"][0], link["target"][0]) for link in links] == [("C", "P")] * 10
    own = document(command("predict", "run", "shop.csv", "--node", "C0007", "--json"))
    assert own["ends"] == ["customer", "product"]
    assert {link["source"] for link in own["links"]} == {"C0007"}
    assert all(link["target"].startswith("P") for link in own["links"])
    bought = (tmp_path / "shop.csv").read_text()
    assert not any(f"C0007,{link['target']}\n" in bought for link in own["links"])
    again = document(command("evaluate", "run", "shop.csv", "--json"))
    assert again["metrics"]["roc_auc"] == metrics["test_auc"]
    assert again["metrics"]["hits@10_per_node"] == metrics["test"]["hits@10_per_node"]
    # A run remembers its sides: fewer rows than are recognised by themselves.
    few = "".join((tmp_path / "shop.csv").read_text().splitlines(keepends=True)[:20])
    (tmp_path / "few.csv").write_text(few)
    links = document(command("predict", "run", "few.csv", "--json"))["links"]
    assert {(link["source"][0], link["target"][0]) for link in links} == {("C", "P")}
    write_table(tmp_path / "p.csv", [("C0001", "C0002")], ("a", "b"))
    refused = command("predict", "run", "shop.csv", "--pairs", "p.csv")
    assert refused.code == 2
    assert "not across these sides" in refused.stderr


def test_directed_links_name_source_and_target(command, tmp_path):
    rng = random.Random(0)
    edges = {(f"n{t}", f"n{rng.randrange(t)}") for t in range(5, 60) for _ in range(4)}
    write_table(tmp_path / "cites.csv", sorted(edges), ("citing", "cited"))
    done = command("train", "cites.csv", "--directed", "--out", "run", *FEW)
    assert done.code == 0, done.stderr
    assert "direction, an edge against the same edge turned round: AUC pgnn-best" in done.stdout
    metrics = metrics_of(tmp_path / "run")
    assert metrics["direction_auc"] == metrics["test"]["direction_auc"] > 0.5
    again = document(command("evaluate", "run", "cites.csv", "--json"))
    assert again["direction_auc"] == metrics["direction_auc"]
    table = command("predict", "run", "cites.csv", "--top", 3, "-o", "links.csv")
    assert "source" in table.stdout
    assert (tmp_path / "links.csv").read_text().startswith("source,target,score")
    own = document(command("predict", "run", "cites.csv", "--node", "n30", "--json"))
    assert own["directed"]
    ends = [(link["source"], link["target"]) for link in own["links"]]
    assert all("n30" in pair for pair in ends)
    assert not set(ends) & edges
    refused = command("predict", "run", "cites.csv", "--undirected")
    assert refused.code == 2
    assert "--directed" in refused.stderr


def test_undirected_links_do_not_pretend_a_direction(trained, command):
    done = command("predict", "run", "edges.csv", "--top", 3)
    assert "node1" in done.stdout
    assert "source" not in done.stdout
    assert document(command("predict", "run", "edges.csv", "--json"))["directed"] is False
