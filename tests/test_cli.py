"""The command: what it prints, where, and with which exit code."""

import json
import subprocess
import sys

import pytest

COMMANDS = [
    *(["datasets"], ["train"], ["evaluate"], ["embed"], ["predict"], ["report"], ["reproduce"]),
    *(["bench", "distances"], ["bench", "layer"], ["bench", "pairs"], ["bench", "train"]),
]


def pgnn_command(*arguments):
    command = [sys.executable, "-m", "pgnn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_version_is_the_package_version():
    import pgnn

    done = pgnn_command("--version")
    assert done.stdout == f"pgnn {pgnn.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["bench"], *COMMANDS])
def test_help_explains(command, arguments):
    done = command(*arguments, "--help")
    assert done.code == 0
    assert "Usage" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", COMMANDS)
def test_help_of_every_command_has_an_example(command, arguments):
    text = command(*arguments, "--help").stdout
    assert "xample" in text
    assert f"pgnn {' '.join(arguments)}" in text.split("xample", 1)[1]


def test_every_command_is_in_the_list_of_these_tests():
    from pgnn._cli_bench import bench_app
    from pgnn.cli import app

    names = [[info.name] for info in app.registered_commands]
    names += [["bench", info.name] for info in bench_app.registered_commands]
    assert sorted(names) == sorted(COMMANDS)


@pytest.mark.parametrize("arguments", [["--help"], ["datasets"], ["datasets", "--json"]])
def test_light_commands_import_no_heavy_library(arguments):
    code = f"""
import sys
from pgnn.cli import main
sys.argv = ["pgnn", *{arguments!r}]
try:
    main()
except SystemExit as ended:
    heavy = {{"torch", "numba", "polars", "sklearn", "plotly"}} & set(sys.modules)
    print(ended.code, sorted(heavy), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "0 []\n"
    assert done.stdout


# ---------------------------------------------------------------------- bench


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


# ---------------------------------------------------------------------- datasets


def test_datasets_shows_a_table(command):
    done = command("datasets")
    assert done.code == 0
    assert done.stderr == ""
    for name in ("grid", "communities", "ppi", "email", "protein"):
        (line,) = (line for line in done.stdout.splitlines() if line.startswith(f"│ {name} "))
        assert ("yes" in line) == (name in ("grid", "communities"))
    assert "56,658" in done.stdout


def test_datasets_json_is_one_document(command):
    done = command("datasets", "--json")
    rows = json.loads(done.stdout)["datasets"]
    assert [row["name"] for row in rows] == ["grid", "communities", "ppi", "email", "protein"]
    assert [row["present"] for row in rows] == [True, True, False, False, False]
    assert rows[1]["tasks"] == ["link", "pair"]
    assert (rows[0]["nodes"], rows[0]["edges"]) == (400, 760)
    assert done.stderr == ""


def test_datasets_looks_in_the_folder_that_is_given(command, tmp_path):
    folder = tmp_path / "data" / "email"
    folder.mkdir(parents=True)
    (folder / "edges.txt").write_text("")
    (folder / "labels.txt").write_text("")
    rows = json.loads(command("datasets", "--json", "--data-dir", tmp_path / "data").stdout)
    assert [row["name"] for row in rows["datasets"] if row["present"]] == [
        *("grid", "communities", "email")
    ]


# ---------------------------------------------------------------------- train


def test_train_json_is_one_document_on_stdout_and_progress_on_stderr():
    done = pgnn_command("train", "grid", "--epochs", "3", "--threads", "1", "--json")
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert (record["column"], record["model"], record["protocol"]) == ("grid", "pgnn-e-2l", "paper")
    assert (record["epochs"], record["seed"]) == (3, 0)
    assert 0 <= record["test_auc"] <= 1
    assert "pgnn-e-2l on grid" in done.stderr
    assert "3/3" in done.stderr


def test_train_prints_one_line_for_people(command, small_grid):
    done = command("train", "grid", "--model", "gcn", "--epochs", "2", "--threads", "1")
    (line,) = done.stdout.splitlines()
    assert line.startswith("grid link, gcn, protocol paper, seed 0: test AUC 0.")
    assert "best of epoch 2 of 2" in line
    assert done.code == 0


def test_train_finds_the_column_of_its_arguments(command, small_grid):
    arguments = ["--model", "mlp", "--epochs", "1", "--seed", "4", "--threads", "1", "--json"]
    done = command("train", "grid", "--one-hot", "--protocol", "released", *arguments)
    record = json.loads(done.stdout)
    assert (record["column"], record["protocol"], record["seed"]) == ("grid-t", "released", 4)
    assert record["settings"]["decoder"] == "dot"


def test_train_out_holds_checkpoint_and_result_and_resume_continues(command, small_grid, tmp_path):
    out = tmp_path / "deep" / "run"
    arguments = ["train", "grid", "--epochs", "3", "--threads", "1", "--json", "--out", out]
    first = json.loads(command(*arguments).stdout)
    stored = json.loads((out / "metrics.json").read_text())
    assert (out / "checkpoint.safetensors").exists()
    assert {name: stored[name] for name in first} == first
    (out / "metrics.json").unlink()
    resumed = command(*arguments, "--resume")
    again = json.loads(resumed.stdout)
    assert again["epochs"] == 3  # not six: nothing was left to do
    assert again["test_auc"] == first["test_auc"]
    stored = json.loads((out / "metrics.json").read_text())
    assert {name: stored[name] for name in again} == again


def test_train_resume_without_a_checkpoint_starts(command, small_grid, tmp_path):
    out = ["--out", tmp_path / "run", "--resume", "--threads", "1", "--json"]
    done = command("train", "grid", "--model", "mlp", "--epochs", "2", *out)
    assert json.loads(done.stdout)["epochs"] == 2


def test_train_resume_of_another_run_is_refused(command, small_grid, tmp_path):
    out = ["--model", "mlp", "--epochs", "2", "--threads", "1", "--out", tmp_path / "run"]
    command("train", "grid", *out)
    done = command("train", "grid", *out, "--seed", "1", "--resume")
    assert done.code == 2
    assert done.stdout == ""
    assert "the checkpoint is of a run with other settings, data or seed" in done.stderr


# ---------------------------------------------------------------------- reproduce


def test_reproduce_prints_markdown_or_json_on_stdout(command, small_grid, tmp_path, monkeypatch):
    from pgnn.experiments import reproduce
    from pgnn.experiments.run import run_job

    def inline(jobs, *, num_processes, data_dir):
        for job in jobs:
            yield run_job(job, epochs=1)

    monkeypatch.setattr(reproduce, "run_jobs", inline)
    monkeypatch.setattr(reproduce, "to_png", lambda tables, path: None)
    arguments = ["reproduce", "grid", "--protocol", "paper", "--runs", "2", "--model", "gcn"]
    done = command(*arguments)
    assert done.code == 0
    assert done.stdout.startswith("### Table 1: Link prediction, protocol `paper`")
    assert (tmp_path / "results" / "reproduction.md").read_text() in done.stdout
    assert "test AUC" in done.stderr
    assert "test AUC" not in done.stdout
    again = command(*arguments, "--resume", "--json")
    (cell,) = json.loads(again.stdout)["cells"]
    assert (cell["column"], cell["model"], cell["runs"]) == ("grid", "gcn", 2)
    assert "nothing left to do" in again.stderr
    refused = command(*arguments)
    assert refused.code == 2
    assert refused.stdout == ""
    assert "has runs already; add --resume" in refused.stderr


# ---------------------------------------------------------------------- mistakes

NO_EXPERIMENT = "the paper has no such experiment; it has grid --task link --one-hot"
MISTAKES = [
    (["bench", "distances", "--family", "nope"], "unknown family 'nope'"),
    (["train", "nosuch"], "nosuch: there is no such file, and no such data set (grid, comm"),
    (["train", "Grid"], "Grid: there is no such file, and no such data set"),
    (["train", ""], "is a folder; give the path of a file"),
    (["train", "[/]"], "[/]: there is no such file, and no such data set"),
    (["train", "[red]grid"], "[red]grid: there is no such file, and no such data set"),
    (["train", "grid", "--task", "nosuch"], NO_EXPERIMENT),
    (["train", "grid", "--task", "pair"], NO_EXPERIMENT),
    (["train", "email"], NO_EXPERIMENT),
    (["train", "ppi", "--one-hot"], NO_EXPERIMENT),
    (["train", "communities", "--task", "pair", "--one-hot"], NO_EXPERIMENT),
    (["train", "grid", "--model", "nosuch"], "there is no model 'nosuch'; the names are gcn, sage"),
    (["train", "grid", "--model", "P-GNN-E-2L"], "there is no model 'P-GNN-E-2L'"),
    (["train", "grid", "--protocol", "nosuch"], "protocol must be 'paper' or 'released'"),
    (["train", "grid", "--resume"], "--resume needs --out, the folder with the checkpoint"),
    (["train", "grid", "--out", "a file"], "a file: "),
    (["reproduce", "nosuch"], "there is no table 'nosuch'; use table1, table2, all, or one of"),
    (["reproduce", "grid", "--model", "nosuch"], "there is no row 'nosuch'; the rows are gcn"),
    (["reproduce", "grid", "--protocol", "nosuch"], "protocol must be 'paper' or 'released'"),
    (["reproduce", "grid", "--out", "a file"], "a file: "),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(m[0]) for m in MISTAKES])
def test_users_mistake_is_one_line_and_exit_code_2(
    command, tmp_path, monkeypatch, arguments, message
):
    from pgnn.experiments import reproduce

    def too_late(*_, **__):
        raise AssertionError("the mistake was not noticed before the runs")

    monkeypatch.setattr(reproduce, "run_jobs", too_late)
    (tmp_path / "a file").write_text("")
    done = command(*arguments)
    assert done.code == 2
    assert message in done.stderr
    assert done.stderr.startswith("pgnn: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "no such command 'nosuch'"),
        (["train"], "missing argument"),
        (["train", "grid", "--epochs", "0"], "--epochs"),
        (["train", "grid", "--epochs", "many"], "--epochs"),
        (["train", "grid", "--seed", "-1"], "--seed"),
        (["train", "grid", "--threads", "0"], "--threads"),
        (["train", "grid", "--nosuch"], "--nosuch"),
        (["reproduce"], "missing argument"),
        (["reproduce", "grid", "--runs", "0"], "--runs"),
        (["reproduce", "grid", "--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_options_are_explained_with_exit_code_2(command, arguments, message):
    done = command(*arguments)
    assert done.code == 2
    assert message in done.stderr
    assert done.stderr.startswith("pgnn: ")
    assert done.stderr.endswith("--help`\n")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_users_mistake_leaves_no_traceback_in_a_shell():
    done = pgnn_command("train", "nosuch")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("pgnn: nosuch: there is no such file")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
