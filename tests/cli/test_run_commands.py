"""The path of a user: train, evaluate, embed, predict, report, on graphs of many kinds."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

from cli_helpers import TRAINED_WITH, community_edges, outcome, write_table

FEW = TRAINED_WITH[:-1]  # not quiet
ODD_NAMES = ["a [b]", "[red]x[/red]", "[/]", "müller", "東京", "O'Hara", "-1", "007", "x y"]


def odd_name(index):
    return ODD_NAMES[index] if index < len(ODD_NAMES) else f"n{index}"


def strings(folder):
    write_table(folder / "g.csv", [(odd_name(u), odd_name(v)) for u, v in community_edges()])
    return []


def integers(folder):
    edges = community_edges()
    write_table(folder / "g.csv", [(10 * u, 10 * v) for u, v in [*edges, (0, 0), edges[0]]])
    return []


def weighted(folder):
    edges = [(u, v, 0.5 + (u * v) % 5) for u, v in community_edges()]
    write_table(folder / "g.csv", edges, ("u", "v", "km"))
    return ["--weight", "km", "--weights", "length"]


def directed(folder):
    write_table(folder / "g.csv", community_edges(), ("from", "to"))
    return ["--directed"]


def disconnected(folder):
    edges = community_edges()
    write_table(folder / "g.csv", [*edges, *((u + 50, v + 50) for u, v in edges)], ("u", "v"))
    return []


def attributed(folder):
    write_table(folder / "g.csv", community_edges(), ("u", "v"))
    write_table(folder / "x.csv", [(v, v % 4, v / 9) for v in range(24)], ("id", "a", "b"))
    return ["--features", "x.csv"]


KINDS = [strings, integers, weighted, directed, disconnected, attributed]


def document(done):
    """Return the one JSON document that a command printed."""
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)


def metrics_of(folder, *, without=("seconds",)):
    found = json.loads((folder / "metrics.json").read_text())
    return {name: value for name, value in found.items() if name not in without}


# ---------------------------------------------------------------------- the whole path


@pytest.mark.parametrize("write", KINDS, ids=lambda write: write.__name__)
def test_path_from_file_to_report_works_for_graphs_of_every_kind(command, tmp_path, write):
    options = write(tmp_path)
    trained = document(command("train", "g.csv", "--out", "run", *options, *FEW, "--json"))
    stored = metrics_of(tmp_path / "run", without=("format", "sha256"))
    assert trained == {**stored, "run": "run"}
    assert trained["graph"]["directed"] == (write is directed)
    assert trained["graph"]["weighted"] == (write is weighted)
    assert trained["graph"]["features"] == (2 if write is attributed else 0)

    judged = document(command("evaluate", "run", "g.csv", "--json"))
    assert judged["pairs"].startswith("the test pairs of the training graph")
    assert judged["metrics"] == pytest.approx(trained["test"])

    made = document(command("embed", "run", "g.csv", "-o", "z.csv", "--json"))
    ids = pl.read_csv(tmp_path / "z.csv", infer_schema=False)["id"].to_list()
    assert (made["nodes"], made["dimensions"]) == (trained["graph"]["nodes"], 6)
    assert len(set(ids)) == len(ids) == made["nodes"]

    found = document(command("predict", "run", "g.csv", "--top", 3, "-o", "p.csv", "--json"))
    table = pl.read_csv(tmp_path / "p.csv", infer_schema=False)
    assert [str(link["source"]) for link in found["links"]] == table["source"].to_list()
    assert [link["score"] for link in found["links"]] == table["score"].cast(float).to_list()
    assert {str(link[end]) for link in found["links"] for end in ("source", "target")} <= set(ids)

    if write in (strings, directed):  # a page takes a second
        written = document(command("report", "run", "-o", "r.html", "--json"))
        assert written["bytes"] == (tmp_path / "r.html").stat().st_size
    if write is strings:
        assert set(ODD_NAMES) < set(ids)
    if write is integers:
        assert (trained["graph"]["dropped_self_loops"], trained["graph"]["dropped_repeats"]) == (
            1,
            1,
        )
        assert all(link["source"] % 10 == 0 for link in found["links"])


def test_quiet_leaves_stderr_empty(trained, command):
    for arguments in (
        ["train", "edges.csv", "--out", "new", *FEW],
        ["evaluate", "run", "edges.csv"],
        ["embed", "run", "edges.csv", "-o", "z.csv"],
        ["predict", "run", "edges.csv"],
        ["report", "run"],
    ):
        done = command(*arguments, "--quiet")
        assert (done.code, done.stderr) == (0, "")
        assert done.stdout


def test_remarks_go_to_stderr(command, tmp_path):
    integers(tmp_path)
    done = command("train", "g.csv", *FEW)
    assert "left out 1 self-loops and 1 repeated edges" in done.stderr
    assert "pgnn predict g-run g.csv --top 10" in done.stderr
    assert "the run is in g-run" in done.stdout
    assert (tmp_path / "g-run" / "metrics.json").exists()


# ---------------------------------------------------------------------- what decides the numbers


def test_config_of_a_run_repeats_it_and_what_is_typed_wins(trained, command):
    config = ["train", "--config", "run/config.toml", "--quiet"]
    assert command(*config, "--out", "again").code == 0
    assert outcome(trained / "again") == outcome(trained / "run")
    assert command(*config, "--out", "other", "--seed", 3, "--model", "mlp").code == 0
    recipe = metrics_of(trained / "other")["recipe"]
    assert (recipe["seed"], recipe["model"], recipe["epochs"]) == (3, "mlp", 2)


def test_config_may_hold_a_data_set_and_questions(trained, command, small_grid):
    text = '[train]\ngraph = "grid"\nmodel = "mlp"\nepochs = 1\n[predict]\ntop = 2\nnode = ["n0"]\n'
    (trained / "c.toml").write_text(text + "quiet = true\nas_json = true\n")
    assert "grid link, mlp" in command("train", "--config", "c.toml", "--quiet").stdout
    done = command("predict", "run", "edges.csv", "--config", "c.toml")
    assert [link["source"] for link in document(done)["links"]] == ["n0", "n0"]
    assert done.stderr == ""


def test_seed_decides_the_numbers_and_threads_do_not(trained, command):
    arguments = ["train", "edges.csv", *TRAINED_WITH]
    assert command(*arguments, "--threads", 2, "--out", "two").code == 0
    assert command(*arguments, "--threads", 2, "--seed", 1, "--out", "seed").code == 0
    one, two, seed = (metrics_of(trained / name) for name in ("run", "two", "seed"))
    assert two["test"] == pytest.approx(one["test"])
    assert two["val_auc"] == pytest.approx(one["val_auc"])
    history = [(trained / name / "history.csv").read_text() for name in ("run", "two", "seed")]
    assert history[0] == history[1] != history[2]
    assert seed["recipe"]["seed"] == 1


# ---------------------------------------------------------------------- what is taken over


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
    assert done.stderr == "the run was trained without features; those of this graph are not read\n"


# ---------------------------------------------------------------------- data sets


def test_data_set_leaves_a_run_that_every_command_accepts(command, tmp_path, small_grid):
    from pgnn.datasets import grid

    out = ["--out", "run", "--epochs", 1, "--threads", 1]
    record = document(command("train", "grid", *out, "--json"))
    assert (record["column"], record["model"]) == ("grid", "pgnn-e-2l")
    write_table(tmp_path / "g.csv", grid(5, 6).edges(), ("u", "v"))
    write_table(tmp_path / "x.csv", [(v, 1) for v in range(30)], ("id", "one"))
    ask = ["run", "g.csv", "--features", "x.csv", "--json"]
    assert document(command("evaluate", *ask))["metrics"]["roc_auc"] >= 0
    assert document(command("embed", *ask, "-o", "z.npz"))["nodes"] == 30
    assert len(document(command("predict", *ask, "--top", 4))["links"]) == 4
    assert command("report", "run").stdout == "the report is in report.html\n"
    assert command("train", "--config", "run/config.toml", "--out", "again").code == 0
    without = ("seconds", "heuristics", "sha256")
    assert metrics_of(tmp_path / "again", without=without) == metrics_of(
        tmp_path / "run", without=without
    )


def test_file_named_like_a_data_set_is_read_as_a_file(command, tmp_path):
    integers(tmp_path)
    (tmp_path / "g.csv").rename(tmp_path / "grid")
    found = document(command("train", "grid", *FEW, "--json"))
    assert (found["graph"]["nodes"], found["run"]) == (24, "grid-run")


def test_folder_named_like_a_data_set_is_not_taken_for_a_graph(command, tmp_path, small_grid):
    (tmp_path / "grid").mkdir()
    done = command("train", "grid", "--model", "mlp", "--epochs", 1, "--out", "grid")
    assert (done.code, done.stdout[:15]) == (0, "grid link, mlp,")


# ---------------------------------------------------------------------- questions


def test_pair_task_predicts_similar_nodes(trained, command):
    assert metrics_of(trained / "teams")["task"] == "pair"
    arguments = ["predict", "teams", "edges.csv", "--top", 2, "--node", "n0", "--node", "n9"]
    links = document(command(*arguments, "--json"))["links"]
    assert [link["source"] for link in links] == ["n0", "n0", "n9", "n9"]
    assert "most similar nodes" in command(*arguments).stdout


def test_pairs_of_a_table_are_judged_and_their_edges_hidden(trained, command):
    edges = (trained / "edges.csv").read_text().splitlines()[:4]
    (trained / "p.csv").write_text("\n".join(edges) + "\n")
    found = document(command("evaluate", "run", "edges.csv", "--pairs", "p.csv", "--json"))
    assert (found["num_positive"], found["num_negative"], found["hidden_edges"]) == (3, 3, 3)


def test_nodes_asked_for_come_first_in_their_pairs(trained, command):
    links = document(command("predict", "run", "edges.csv", "--node", "n3", "--top", 5, "--json"))[
        "links"
    ]
    assert [link["source"] for link in links] == ["n3"] * 5
    assert [link["score"] for link in links] == sorted((x["score"] for x in links), reverse=True)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".npz"])
def test_embeddings_have_the_ids_of_the_file(trained, command, suffix):
    import pgnn
    from pgnn.training.runs import load_run

    assert command("embed", "run", "edges.csv", "-o", f"z{suffix}").code == 0
    path = trained / f"z{suffix}"
    if suffix == ".npz":
        with np.load(path) as file:
            ids, values = file["ids"].tolist(), file["embeddings"]
    else:
        table = pl.read_parquet(path) if suffix == ".parquet" else pl.read_csv(path)
        ids, values = table["id"].to_list(), table.drop("id").to_numpy()
    graph = pgnn.read_graph(trained / "edges.csv")
    assert ids == graph.node_ids.tolist()
    wanted = load_run(trained / "run").learner.embed(graph)
    np.testing.assert_allclose(values, wanted, rtol=1e-5)


# ---------------------------------------------------------------------- what people see


def test_tables_fit_in_80_columns(trained, command, monkeypatch):
    from pgnn.evaluation.heuristics import HEURISTICS

    monkeypatch.setenv("COLUMNS", "80")
    trained_table = command("train", "edges.csv", "--out", "new", *FEW).stdout
    for name in ("pgnn-best", *HEURISTICS):
        (line,) = (line for line in trained_table.splitlines() if f"│ {name} " in line)
        assert line.count("│") == 7
    for heading in ("AUC", "AP", "hits@10", "hits@100", "MRR"):
        assert f" {heading} " in trained_table
    judged = command("evaluate", "run", "edges.csv").stdout
    links = command("predict", "run", "edges.csv").stdout
    for text in (trained_table, judged, links):
        lines = [line for line in text.splitlines() if "│" in line or "┃" in line]
        assert lines
        assert max(map(len, lines)) <= 80
        assert "…" not in text


def test_long_ids_are_never_cut_short(command, tmp_path):
    names = {v: f"{v}-" + "x" * 60 for v in range(24)}
    write_table(tmp_path / "g.csv", [(names[u], names[v]) for u, v in community_edges()])
    assert command("train", "g.csv", "--out", "run", *FEW, "--model", "mlp").code == 0
    done = command("predict", "run", "g.csv", "--top", 1)
    assert done.stdout.count("x") == 120
    assert "…" not in done.stdout


def test_predictions_show_odd_ids_as_they_are(command, tmp_path):
    strings(tmp_path)
    assert command("train", "g.csv", "--out", "run", *FEW).code == 0
    nodes = [option for name in ODD_NAMES for option in ("--node", name)]
    text = command("predict", "run", "g.csv", "--top", 1, *nodes).stdout
    for name in ODD_NAMES:
        assert f"│ {name} " in text


def test_run_without_test_pairs_says_so_little(trained, command):
    done = command("train", "edges.csv", "--out", "new", "--test", 0, *FEW)
    assert done.code == 0
    assert done.stdout.startswith("best epoch ")


def test_completion_is_offered(command, monkeypatch):
    help_text = command("--help").stdout
    assert "--install-completion" in help_text
    assert "--show-completion" in help_text
    monkeypatch.setenv("_PGNN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "pgnn ev")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert command().stdout.split() == ["evaluate"]
