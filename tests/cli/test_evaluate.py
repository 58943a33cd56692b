"""`pgnn evaluate`."""

import csv

import pytest
from sklearn.metrics import roc_auc_score

from cli_helpers import document, write_table

LINKS = [("n0", "n1"), ("n2", "n1"), ("n9", "n8")]


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


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


def test_metrics_say_how_sure_they_are_and_for_which_base_rate(trained, command):
    found = document(command("evaluate", "run", "edges.csv", "--json"))
    metrics = found["metrics"]
    assert metrics["auc_low"] <= metrics["roc_auc"] <= metrics["auc_high"]
    assert 0 <= metrics["brier"] <= 1
    assert 0 <= metrics["calibration_error"] <= 1
    assert found["base_rate"] == 0.5
    assert {"lone_pairs", "without_lone", "repeated_pairs", "as_good"} <= set(found)
    assert "pgnn-best" in found["verdict"]
    assert "`pgnn predict RUN GRAPH" in found["verdict"]
    assert not any(name.startswith("hits") for name in metrics)  # five negatives
    shown = command("evaluate", "run", "edges.csv")
    assert "with 95% confidence between" in shown.stdout
    assert found["verdict"] in shown.stdout
    assert "chances for a base rate of 0.5: Brier score" in shown.stdout


def test_few_pairs_are_warned_of(trained, command):
    for more in ((), ("--json",)):
        done = command("evaluate", "run", "edges.csv", *more)
        assert "fewer than 100: the numbers are rough" in done.stderr


def test_scores_are_written_with_labels(trained, command):
    done = command("evaluate", "run", "edges.csv", "-o", "s.csv", "--json")
    metrics = document(done)["metrics"]
    rows = rows_of(trained / "s.csv")
    assert list(rows[0]) == ["source", "target", "label", "score", "spread"]
    labels = [int(row["label"]) for row in rows]
    scores = [float(row["score"]) for row in rows]
    assert roc_auc_score(labels, scores) == pytest.approx(metrics["roc_auc"])
    brier = sum((y - p) ** 2 for y, p in zip(labels, scores, strict=True)) / len(rows)
    assert brier == pytest.approx(metrics["brier"])
    assert "written to s.csv" in command("evaluate", "run", "edges.csv", "-o", "s.csv").stderr


def test_scores_are_refused_a_file_that_cannot_be_written(trained, command):
    done = command("evaluate", "run", "edges.csv", "-o", "s.xls")
    assert (done.code, done.stdout) == (2, "")
    assert "must end in" in done.stderr


def test_base_rate_moves_chances_and_not_ranks(trained, command):
    low, high = (
        document(command("evaluate", "run", "edges.csv", "--base-rate", rate, "--json"))
        for rate in (0.01, 0.9)
    )
    assert (low["base_rate"], high["base_rate"]) == (0.01, 0.9)
    assert low["metrics"]["roc_auc"] == high["metrics"]["roc_auc"]
    assert low["metrics"]["brier"] != high["metrics"]["brier"]


@pytest.mark.parametrize("rate", [0, 1, -0.5, "nan"])
def test_base_rate_must_be_a_share(trained, command, rate):
    for name in ("evaluate", "predict"):
        done = command(name, "run", "edges.csv", "--base-rate", rate)
        assert done.code == 2
        assert "--base-rate must be" in done.stderr


@pytest.mark.parametrize("kind", ["two-hop", "degree"])
def test_hard_negatives_are_drawn_for_the_runs_own_links(trained, command, kind):
    own = document(command("evaluate", "run", "edges.csv", "--json"))
    command("evaluate", "run", "edges.csv", "-o", "easy.csv")
    done = command("evaluate", "run", "edges.csv", "--negatives", kind, "-o", "s.csv", "--json")
    found = document(done)
    assert found["num_positive"] == found["num_negative"] == own["num_positive"]
    assert found["pairs"].startswith("the test links of the training graph, and as many drawn")
    easy, hard = (
        {(r["source"], r["target"]) for r in rows_of(trained / name) if r["label"] == "1"}
        for name in ("easy.csv", "s.csv")
    )
    assert easy == hard


def test_hard_negatives_are_refused_where_none_are_drawn(trained, command):
    write_table(trained / "p.csv", [(*pair, i % 2) for i, pair in enumerate(LINKS)],
                ("source", "target", "label"))  # fmt: skip
    done = command("evaluate", "run", "edges.csv", "--pairs", "p.csv", "--negatives", "degree")
    assert "--negatives is for pairs that are drawn, and these pairs have labels" in done.stderr
    teams = ("--features", "nodes.csv", "--label", "team")
    done = command("evaluate", "teams", "edges.csv", *teams, "--negatives", "degree")
    assert "--negatives is for runs of task 'link'" in done.stderr
    done = command("evaluate", "run", "edges.csv", "--negatives", "easy")
    assert "--negatives must be one of uniform, two-hop, degree or None (got 'easy')" in done.stderr


# ---------------------------------------------------------------------- bad pairs


def test_unknown_ids_are_listed_and_counted_and_skipped_if_asked(trained, command):
    unknown = [("n0", "zz"), ("qq", "n1"), ("xx", "yy")]
    write_table(trained / "p.csv", [*LINKS, *unknown], ("source", "target"))
    done = command("evaluate", "run", "edges.csv", "--pairs", "p.csv")
    assert done.code == 2
    assert (
        "p.csv: the graph has no node 'zz', 'qq', 'xx' or 1 others (its ids are like "
    ) in done.stderr
    assert "3 of 6 pairs name such nodes; correct them, or skip them with --skip-unknown" in (
        done.stderr
    )
    skipped = command(
        "evaluate", "run", "edges.csv", "--pairs", "p.csv", "--skip-unknown", "--json"
    )
    assert document(skipped)["num_positive"] == 3
    assert (
        "skipped 3 pairs of nodes that the graph does not have: 'zz', 'qq', 'xx', ..."
        in skipped.stderr
    )
    write_table(trained / "p.csv", unknown, ("source", "target"))
    done = command("evaluate", "run", "edges.csv", "--pairs", "p.csv", "--skip-unknown")
    assert done.code == 2
    assert "no pair is left" in done.stderr


@pytest.mark.parametrize("name", ["evaluate", "predict"])
def test_skipping_unknown_ids_needs_pairs(trained, command, name):
    done = command(name, "run", "edges.csv", "--skip-unknown")
    assert done.code == 2
    assert "--skip-unknown is for the pairs of a file; give --pairs" in done.stderr


def test_repeated_pairs_count_once_and_may_not_contradict(trained, command):
    again = [*LINKS, LINKS[0], LINKS[1][::-1]]
    write_table(trained / "p.csv", again, ("source", "target"))
    done = command("evaluate", "run", "edges.csv", "--pairs", "p.csv", "--json")
    found = document(done)
    assert (found["num_positive"], found["repeated_pairs"]) == (3, 2)
    assert "left out 2 pairs that repeat others" in done.stderr
    write_table(trained / "p.csv", [(*pair, i % 2) for i, pair in enumerate(again)],
                ("source", "target", "label"))  # fmt: skip
    done = command("evaluate", "run", "edges.csv", "--pairs", "p.csv")
    assert done.code == 2
    assert "the pair of 'n0' and 'n1' is listed with label 1 and with label 0" in done.stderr
