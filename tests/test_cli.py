"""The command: what it prints, where, and with which exit code."""

import json
import subprocess
import sys

import pytest


def pgnn_command(*arguments):
    command = [sys.executable, "-m", "pgnn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_version_is_the_package_version():
    import pgnn

    done = pgnn_command("--version")
    assert done.stdout == f"pgnn {pgnn.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["bench", "--help"], ["bench", "distances", "--help"]]
)
def test_help_explains(arguments):
    done = pgnn_command(*arguments)
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert done.stderr == ""


def test_bench_distances_json_is_one_document_on_stdout(monkeypatch):
    from typer.testing import CliRunner

    from pgnn.bench import distances
    from pgnn.bench.graphs import grid_graph
    from pgnn.cli import app

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["bench", "distances", "--family", "nope"], "unknown family 'nope'")],
)
def test_users_mistake_is_one_line_and_exit_code_2(arguments, message):
    done = pgnn_command(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
