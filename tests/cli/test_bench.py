"""`pgnn bench`."""

import json

import pytest


def test_bench_distances_json_is_one_document_on_stdout(monkeypatch):
    from typer.testing import CliRunner

    from pgnn.bench import distances
    from pgnn.bench.graphs import grid_graph
    from pgnn.cli.app import app

    tiny = {"tiny": distances.Family(lambda: grid_graph(6, 7), 1, scipy_sets=2, released=True)}
    monkeypatch.setattr(distances, "FAMILIES", tiny)
    monkeypatch.setattr(
        distances, "run", lambda names, threads: [distances.measure(*names, threads)]
    )
    done = CliRunner().invoke(app, ["bench", "distances", "--json"])
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["family"], row["nodes"], row["edges"], row["sets"]) == ("tiny", 42, 71, 25)
    assert row["ratio"] == pytest.approx(row["scipy_seconds"] / row["seconds"])
    assert row["released_ratio"] == pytest.approx(row["released_seconds"] / row["seconds"])
    assert row["result_and_graph_bytes"] == 42 * 25 * 5 + 43 * 8 + 142 * 4
    assert row["peak_bytes"] > row["result_and_graph_bytes"]


def test_bench_updates_prints_a_table_or_json():
    import json

    from typer.testing import CliRunner

    from pgnn.cli.app import app

    words = ["bench", "updates", "--nodes", "1000", "--edges", "3000", "--added", "5"]
    (row,) = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["rows"]
    assert (row["nodes"], row["edges"], row["added"], row["equal"]) == (1000, 3000, 5, True)
    assert "Distances after edges arrived" in CliRunner().invoke(app, words).stdout


def test_bench_scale_prints_a_table_and_the_top_or_json(monkeypatch):
    from typer.testing import CliRunner

    from pgnn.bench import scale
    from pgnn.cli.app import app

    step = scale.Step(2.0, 3.0, 10**9)
    row = scale.Row(
        nodes=2000,
        edges=20_000,
        hidden=2000,
        train=step,
        evaluate=step,
        predict=step,
        seconds=6.0,
        peak_bytes=10**9,
        auc=0.9,
        heuristic="pagerank",
        heuristic_auc=0.8,
        test_pairs=4000,
        top=100,
        top_hidden=50,
        heuristics_top_hidden={"pagerank": 3, "katz": 40},
        threads=2,
    )
    asked = []

    def run(sizes, **options):
        asked.append((list(sizes), options["seed"], options["warm_up"]))
        yield row

    monkeypatch.setattr(scale, "run", run)
    words = ["bench", "scale", "--nodes", "2000", "--seed", "3"]
    document = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert document["seed"] == 3
    assert "pgnn" in document["versions"]
    assert document["rows"][0]["train"]["peak_bytes"] == 10**9
    printed = CliRunner().invoke(app, words).stdout
    assert "0.8000" in printed
    assert "50 of pgnn-best and 40 of katz" in " ".join(printed.split())
    CliRunner().invoke(app, [*words, "--no-warm-up"])
    assert asked == [([2000], 3, 20_000)] * 2 + [([2000], 3, None)]
