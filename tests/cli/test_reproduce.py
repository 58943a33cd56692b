"""`pgnn reproduce`."""

import json

import pytest

from cli_helpers import listing


@pytest.fixture
def inline(monkeypatch, small_grid):
    """Run jobs in this process, one epoch each; gives the jobs."""
    from pgnn.experiments import reproduce
    from pgnn.experiments.jobs import HeuristicsJob, records_of
    from pgnn.experiments.run import run_job

    jobs_run = []

    def run_jobs(jobs, *, num_processes, data_dir):
        for job in jobs:
            jobs_run.append((job, num_processes))
            heuristics = isinstance(job, HeuristicsJob)
            yield records_of(job, data_dir) if heuristics else [run_job(job, epochs=1)]

    monkeypatch.setattr(reproduce, "run_jobs", run_jobs)
    monkeypatch.setattr(reproduce, "to_png", lambda tables, path: None)
    return jobs_run


ARGUMENTS = ["reproduce", "grid", "--protocol", "paper", "--runs", "2", "--model", "gcn"]


def test_reproduce_prints_markdown_or_json_on_stdout(command, inline, tmp_path):
    done = command(*ARGUMENTS)
    assert done.code == 0
    assert done.stdout.startswith("### Table 1: Link prediction, protocol `paper`")
    assert (tmp_path / "results" / "reproduction.md").read_text() in done.stdout
    assert "test AUC" in done.stderr
    assert "test AUC" not in done.stdout
    again = command(*ARGUMENTS, "--resume", "--json")
    (cell,) = json.loads(again.stdout)["cells"]
    assert (cell["column"], cell["model"], cell["runs"]) == ("grid", "gcn", 2)
    assert "nothing left to do" in again.stderr
    refused = command(*ARGUMENTS)
    assert refused.code == 2
    assert refused.stdout == ""
    assert "has runs already; give --resume to keep them" in refused.stderr


def test_reproduce_is_quiet_if_asked(command, inline):
    done = command(*ARGUMENTS, "--quiet")
    assert (done.code, done.stderr) == (0, "")
    assert "| GCN |" in done.stdout


def test_reproduce_takes_options_from_a_file(command, inline, tmp_path):
    text = '[reproduce]\ntable = "grid"\nprotocol = "paper"\nruns = 1\nmodel = ["gcn", "gin"]\n'
    (tmp_path / "c.toml").write_text(text + "as_json = true\njobs = 3\n")
    done = command("reproduce", "--config", "c.toml", "--runs", 2)
    cells = json.loads(done.stdout)["cells"]
    assert [(cell["model"], cell["runs"]) for cell in cells] == [("gcn", 2), ("gin", 2)]
    assert {processes for _, processes in inline} == {3}


def test_reproduce_runs_heuristics_on_its_processes_too(command, inline):
    done = command("reproduce", "grid", "--protocol", "paper", "--runs", 1, "--jobs", 2, "--json")
    assert done.code == 0, done.stderr
    models = {cell["model"] for cell in json.loads(done.stdout)["cells"]}
    assert {"gcn", "shortest path"} <= models
    assert [type(job).__name__ for job, _ in inline].count("HeuristicsJob") == 1
    assert "heuristics seed  0" in done.stderr


def test_reproduce_without_matplotlib_says_so_first_and_ends_well(
    command, inline, tmp_path, monkeypatch
):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = command(*ARGUMENTS)
    assert done.code == 0
    assert "there will be no pictures" in done.stderr.split("test AUC")[0]
    assert (tmp_path / "results" / "reproduction.md").exists()


def test_interrupted_reproduction_says_how_to_go_on(command, inline, tmp_path, monkeypatch):
    from pgnn.experiments import reproduce

    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "run_jobs", pressed)
    there = listing(tmp_path)
    done = command(*ARGUMENTS, "--quiet")
    message = "pgnn: stopped; --resume does only the runs that are missing\n"
    assert (done.code, done.stdout, done.stderr) == (130, "", message)
    assert listing(tmp_path) == there
