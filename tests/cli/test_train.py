"""`pgnn train`: results, run directories, Ctrl-C and going on."""

import json
import shutil
import subprocess
import sys

import pytest

from cli_helpers import (
    FEW,
    TRAINED_WITH,
    community_edges,
    document,
    listing,
    metrics_of,
    outcome,
    write_graph,
    write_table,
)


def test_train_json_is_one_document_on_stdout_and_progress_on_stderr():
    arguments = ["train", "grid", "--epochs", "3", "--threads", "1", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "pgnn", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["experiment"] == {"column": "grid", "protocol": "paper"}
    assert record["model"] == "pgnn-e-2l"
    assert (record["epochs"], record["seed"]) == (3, 0)
    assert 0 <= record["test_auc"] <= 1
    assert "pgnn-e-2l on grid" in done.stderr
    assert "3/3" in done.stderr


def test_remarks_go_to_stderr(command, tmp_path):
    edges = community_edges()
    write_table(tmp_path / "g.csv", [*edges, (0, 0), edges[0]])
    done = command("train", "g.csv", *FEW)
    assert "1 self-loop and 1 repeated edge left out" in done.stderr
    assert "pgnn predict g-run g.csv --top 10" in done.stderr
    assert "the run is in g-run" in done.stdout
    assert (tmp_path / "g-run" / "metrics.json").exists()


def test_run_without_test_pairs_says_so_little(trained, command):
    done = command("train", "edges.csv", "--out", "new", "--test", 0, *FEW)
    assert done.code == 0
    assert done.stdout.startswith("best epoch ")


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


# ---------------------------------------------------------------------- data sets


def test_train_prints_the_result_and_a_verdict_for_people(command, small_grid):
    done = command("train", "grid", "--model", "gcn", "--epochs", "2", "--threads", "1")
    line, verdict = done.stdout.splitlines()
    assert "gcn" in verdict
    assert "95% interval" in verdict
    assert line.startswith("grid link, gcn, protocol paper, seed 0: test AUC 0.")
    assert "best epoch 2 of 2" in line
    assert done.code == 0


def test_train_finds_the_column_of_its_arguments(command, small_grid):
    arguments = ["--model", "mlp", "--epochs", "1", "--seed", "4", "--threads", "1", "--json"]
    done = command("train", "grid", "--one-hot", "--protocol", "released", *arguments)
    record = json.loads(done.stdout)
    assert record["experiment"] == {"column": "grid-t", "protocol": "released"}
    assert (record["seed"], record["recipe"]["decoder"]) == (4, "dot")


def test_train_out_holds_checkpoint_and_result_and_resume_continues(command, small_grid, tmp_path):
    out = tmp_path / "deep" / "run"
    arguments = ["train", "grid", "--epochs", "3", "--threads", "1", "--json", "--out", out]
    first = json.loads(command(*arguments).stdout)
    stored = json.loads((out / "metrics.json").read_text())
    assert (out / "checkpoint.safetensors").exists()
    assert first.pop("run") == str(out)
    assert {name: stored[name] for name in first} == first
    (out / "metrics.json").unlink()
    resumed = command(*arguments, "--resume")
    again = json.loads(resumed.stdout)
    assert again["epochs"] == 3  # not six: nothing was left to do
    assert again["test_auc"] == first["test_auc"]
    stored = json.loads((out / "metrics.json").read_text())
    again.pop("run")
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
    assert "--seed 1 is not what the run began with" in done.stderr


def test_data_set_leaves_a_run_that_every_command_accepts(command, tmp_path, small_grid):
    from pgnn.datasets import grid

    out = ["--out", "run", "--epochs", 1, "--threads", 1]
    record = document(command("train", "grid", *out, "--json"))
    assert (record["experiment"]["column"], record["model"]) == ("grid", "pgnn-e-2l")
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
    write_table(tmp_path / "grid", community_edges())
    found = document(command("train", "grid", *FEW, "--json"))
    assert (found["graph"]["nodes"], found["run"]) == (24, "grid-run")


def test_folder_named_like_a_data_set_is_not_taken_for_a_graph(command, tmp_path, small_grid):
    (tmp_path / "grid").mkdir()
    done = command("train", "grid", "--model", "mlp", "--epochs", 1, "--out", "grid")
    assert (done.code, done.stdout[:15]) == (0, "grid link, mlp,")


# ---------------------------------------------------------------------- Ctrl-C


def press(monkeypatch, *, epoch):
    """Press Ctrl-C at the end of an epoch; a checkpoint is written after every one."""
    from pgnn.cli import train
    from pgnn.training import fit

    def all_of(listeners):
        def tell(record):
            for listener in listeners:
                listener(record)
            if record.epoch == epoch:
                raise KeyboardInterrupt

        return tell

    monkeypatch.setattr(train, "all_of", all_of)
    monkeypatch.setattr(fit, "_CHECKPOINT_SECONDS", -1.0, raising=False)


def test_interrupted_training_keeps_its_checkpoint_and_resumes(trained, command, monkeypatch):
    arguments = ["train", "edges.csv", "--out", "new", *TRAINED_WITH]
    with monkeypatch.context() as patch:
        press(patch, epoch=2)
        done = command(*arguments)
    assert done.code == 130
    assert done.stderr.startswith("pgnn: stopped; ")
    assert "--resume" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert (trained / "new" / "checkpoint.safetensors").exists()
    assert not (trained / "new" / "metrics.json").exists()
    assert command(*arguments, "--resume").code == 0
    assert outcome(trained / "new") == outcome(trained / "run")


def fake_training(monkeypatch, *files):
    """Training that writes empty files of these names, and is stopped by Ctrl-C."""
    from pgnn.cli import train

    def train_problem(*_, out, **__):
        out.mkdir(parents=True)
        for name in files:
            (out / name).write_text("")
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "train_problem", train_problem)


@pytest.mark.parametrize("files", [[], ["config.toml"]])
def test_training_interrupted_before_a_checkpoint_leaves_nothing(
    trained, command, monkeypatch, files
):
    fake_training(monkeypatch, *files)
    there = listing(trained)
    done = command("train", "edges.csv", "--out", "deep/new", *TRAINED_WITH)
    assert done.code == 130
    assert done.stderr == "pgnn: stopped before there was a checkpoint; nothing was kept\n"
    assert listing(trained) == there


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["checkpoint.safetensors"], "stopped; --resume goes on from new/checkpoint.safetensors"),
        (
            ["checkpoint.safetensors", "config.toml"],
            "stopped; `pgnn train --resume --out new` goes on",
        ),
    ],
)
def test_interrupted_training_says_what_goes_on(trained, command, monkeypatch, files, message):
    fake_training(monkeypatch, *files)
    done = command("train", "edges.csv", "--out", "new", *TRAINED_WITH)
    assert (done.code, done.stderr) == (130, f"pgnn: {message}\n")
    assert sorted(path.name for path in (trained / "new").iterdir()) == files


# ---------------------------------------------------------------------- going on


@pytest.fixture
def cut_off(trained):
    """Give the folder of a run that has a checkpoint and its options, and no result."""
    shutil.copytree(trained / "run", trained / "new")
    for path in (trained / "new").iterdir():
        if path.name not in ("checkpoint.safetensors", "config.toml"):
            path.unlink()
    return trained / "new"


@pytest.mark.parametrize(
    "typed",
    [
        [],
        ["edges.csv"],
        ["edges.csv", *TRAINED_WITH],
        ["--task", "link", "--seed", 0],
        ["--weighted"],
    ],
)
def test_resume_needs_no_option_but_the_folder(cut_off, command, typed):
    done = command("train", *typed, "--resume", "--out", "new", "--quiet")
    assert done.code == 0, done.stderr
    assert outcome(cut_off) == outcome(cut_off.parent / "run")


def test_resume_finds_the_folder_of_the_graph(cut_off, command):
    cut_off.rename(cut_off.parent / "edges-run")
    assert command("train", "edges.csv", "--resume").code == 0
    assert outcome(cut_off.parent / "edges-run") == outcome(cut_off.parent / "run")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--seed", 5], "--seed 5 is not what the run began with: new/config.toml has seed = 0"),
        (["--sets", 7], "--sets 7 is not what the run began with: new/config.toml has sets = 6"),
        (
            ["--lr", 0.1],
            "--lr 0.1 is not what the run began with: new/config.toml had no such option",
        ),
        (["--folds", 3], "--folds 3 is not what the run began with"),
        (["--source", "a"], "--source a is not what the run began with: new/config.toml had no"),
        (["--directed"], "--directed is not what the run began with"),
        (["--unweighted"], "--unweighted is not what the run began with"),
        (["grid"], "the run began with edges.csv, not grid; leave it out"),
    ],
)
def test_resume_refuses_options_the_run_did_not_begin_with(cut_off, command, typed, message):
    there = listing(cut_off)
    done = command("train", *typed, "--resume", "--out", "new")
    assert done.code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert listing(cut_off) == there


def test_resume_may_change_the_device(cut_off, command):
    config = cut_off / "config.toml"
    config.write_text(config.read_text().replace('device = "cpu"', 'device = "nosuch"'))
    refused = command("train", "--resume", "--out", "new")
    assert refused.code == 2
    assert "--device nosuch cannot be used" in refused.stderr
    assert command("train", "--resume", "--out", "new", "--device", "cpu").code == 0


def test_resume_of_a_data_set_needs_no_option_but_the_folder(command, small_grid, tmp_path):
    command("train", "grid", "--model", "mlp", "--epochs", 2, "--one-hot", "--out", "run")
    (tmp_path / "run" / "metrics.json").rename(tmp_path / "before.json")
    record = document(command("train", "--resume", "--out", "run", "--json"))
    before = json.loads((tmp_path / "before.json").read_text())
    assert record["test_auc"] == before["test_auc"]
    assert record["model"] == "mlp"


def test_resume_without_a_graph_needs_the_options_of_the_run(trained, command):
    (trained / "new").mkdir()
    done = command("train", "--resume", "--out", "new")
    assert done.code == 2
    assert "new/config.toml: there is no such file to resume from; give a graph" in done.stderr


def test_run_that_is_there_is_not_written_over(trained, command):
    there = listing(trained / "run")
    done = command("train", "edges.csv", "--out", "run", *TRAINED_WITH)
    assert done.code == 2
    assert "holds a finished run" in done.stderr
    assert listing(trained / "run") == there


def test_run_that_was_cut_off_is_not_written_over(cut_off, command):
    there = listing(cut_off)
    done = command("train", "edges.csv", "--out", "new", *TRAINED_WITH)
    assert done.code == 2
    assert "--resume" in done.stderr
    assert listing(cut_off) == there


# ---------------------------------------------------------------------- TensorBoard


def test_tensorboard_hears_of_every_epoch_beside_the_bar(command, tmp_path):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    write_graph(tmp_path)
    done = command("train", "edges.csv", "--out", "run", "--tensorboard", "logs/a", *FEW)
    assert done.code == 0, done.stderr
    logged = accumulators.EventAccumulator(str(tmp_path / "logs" / "a")).Reload()
    assert [event.step for event in logged.Scalars("loss")] == [1, 2]


def test_missing_tensorboard_is_noticed_before_training(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    write_graph(tmp_path)
    there = listing(tmp_path)
    done = command("train", "edges.csv", "--out", "run", "--tensorboard", "logs", *FEW)
    assert done.code == 2
    assert "position-gnn[tensorboard]" in done.stderr
    assert listing(tmp_path) == there


# ---------------------------------------------------------------------- judging


def test_result_says_how_sure_it_is_and_which_is_best(trained, command):
    done = command("train", "edges.csv", "--out", "new", *FEW)
    assert "with 95% confidence between" in done.stdout
    assert "chances for a base rate of 0.5: Brier score" in done.stdout
    verdict = metrics_of(trained / "new")["verdict"]
    assert verdict in done.stdout.splitlines()
    assert "pgnn-best" in verdict
    assert "hold out more with --test, or compare several --seed" in done.stderr


def test_result_has_metrics_of_chances_and_of_pairs_without_lone_nodes(trained, command):
    found = document(command("train", "edges.csv", "--out", "new", *FEW, "--json"))
    assert {"roc_auc", "auc_low", "auc_high", "brier", "calibration_error"} <= set(found["test"])
    assert {"base_rate", "lone_pairs", "test_without_lone", "verdict"} <= set(found)
    assert found["base_rate"] == 0.5
    for judged in found["heuristics"].values():
        assert not {"brier", "calibration_error"} & set(judged["metrics"])


@pytest.mark.parametrize("kind", ["two-hop", "degree"])
def test_hard_negatives_are_a_setting_of_the_run(trained, command, kind):
    done = command("train", "edges.csv", "--out", "new", *FEW, "--negatives", kind, "--json")
    assert document(done)["recipe"]["negatives"] == kind
    assert f'negatives = "{kind}"' in (trained / "new" / "config.toml").read_text()
    again = document(command("evaluate", "new", "edges.csv", "--json"))
    assert again["metrics"]["roc_auc"] == document(done)["test"]["roc_auc"]
    done = command("train", "edges.csv", "--out", "n", "--task", "pair", "--negatives", kind)
    assert "--negatives is a setting of task 'link'" in done.stderr
