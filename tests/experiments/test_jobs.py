"""Many runs on several processes."""

import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from pgnn import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments import jobs
from pgnn.experiments.config import setup_of
from pgnn.experiments.jobs import HeuristicsJob, run_jobs, run_on_processes
from pgnn.experiments.run import Job, run_job
from pgnn.threads import resolve_threads


class InlinePool:
    """Runs what is submitted at once, in this process."""

    made: list["InlinePool"]

    def __init__(self, num_processes, context, initializer):
        self.num_processes, self.method = num_processes, context.get_start_method()
        self.shutdowns = []
        InlinePool.made.append(self)

    def submit(self, function, *arguments, **options):
        future = Future()
        try:
            future.set_result(function(*arguments, **options))
        except PGNNError as error:
            future.set_exception(error)
        return future

    def shutdown(self, **options):
        self.shutdowns.append(options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdowns.append("closed")


@pytest.fixture
def inline(monkeypatch):
    InlinePool.made = []
    monkeypatch.setattr(jobs, "ProcessPoolExecutor", InlinePool)
    return InlinePool.made


def test_run_jobs_gives_the_record_of_each_job(inline, monkeypatch):
    asked = []

    def fake(job, *, data_dir):
        asked.append((job, data_dir))
        return {"seed": job.seed}

    monkeypatch.setattr(jobs, "run_job", fake)
    wanted = [Job("grid", "gcn", "paper", seed) for seed in range(3)]
    records = list(run_jobs(wanted, num_processes=2, data_dir="there"))
    assert sorted(record["seed"] for (record,) in records) == [0, 1, 2]
    assert asked == [(job, "there") for job in wanted]
    (pool,) = inline
    assert (pool.num_processes, pool.method) == (2, "spawn")
    assert pool.shutdowns == ["closed"]


def test_run_jobs_runs_heuristics_as_one_job_with_a_record_each(inline, small_data):
    (records,) = run_jobs([HeuristicsJob("grid", "paper", 3)], num_processes=2, data_dir=None)
    assert [record["model"] for record in records] == list(HEURISTICS)
    assert {record["seed"] for record in records} == {3}


def test_run_jobs_passes_an_error_on_and_cancels_the_others(inline, monkeypatch):
    def fake(job, *, data_dir):
        raise PGNNError("no such thing")

    monkeypatch.setattr(jobs, "run_job", fake)
    with pytest.raises(PGNNError, match="no such thing"):
        list(run_jobs([Job("grid", "gcn", "paper", 0)], num_processes=1, data_dir=None))
    assert inline[0].shutdowns[0] == {"wait": False, "cancel_futures": True}


def test_run_jobs_left_half_way_cancels_the_others(inline, monkeypatch):
    monkeypatch.setattr(jobs, "run_job", lambda job, data_dir: {"seed": job.seed})
    wanted = [Job("grid", "gcn", "paper", seed) for seed in range(3)]
    records = run_jobs(wanted, num_processes=1, data_dir=None)
    assert next(records)[0]["seed"] in (0, 1, 2)
    records.close()
    assert inline[0].shutdowns[0] == {"wait": False, "cancel_futures": True}


@pytest.mark.parametrize("count", [0, -1])
def test_run_jobs_needs_a_process(count):
    with pytest.raises(
        PGNNError, match=rf"num_processes must be a positive integer \(got {count}\)"
    ):
        list(run_jobs([], num_processes=count, data_dir=None))


def test_run_jobs_without_jobs_starts_nothing():
    assert list(run_jobs([], num_processes=2, data_dir=None)) == []


def test_run_jobs_in_another_process_gives_the_same_numbers():
    wanted = [Job("grid", "mlp", "paper", seed) for seed in (0, 2)]
    records = [record for (record,) in run_jobs(wanted, num_processes=1, data_dir=None)]
    assert sorted(record["seed"] for record in records) == [0, 2]
    (there,) = (record for record in records if record["seed"] == 2)
    here = run_job(wanted[1])
    for name in ("test_auc", "val_auc", "best_epoch", "epochs", "settings", "versions"):
        assert there[name] == here[name]
    epochs = setup_of("grid", "paper", "mlp").recipe.epochs
    assert there["epochs"] < epochs  # patience ended it


@pytest.mark.skipif(resolve_threads(None) == 1, reason="needs two cores")
def test_processes_have_one_thread_each_for_kernels_too():
    """Two processes of two threads would fight for two cores."""
    assert list(run_on_processes(resolve_threads, [None], num_processes=1)) == [1]


PARENT = """
from pgnn.experiments.jobs import run_on_processes
from sleeping import work
if __name__ == "__main__":
    list(run_on_processes(work, [60], num_processes=1))
"""


@pytest.mark.parametrize("kind", ["SIGTERM", "SIGKILL"])
def test_worker_ends_with_the_process_that_started_it(tmp_path, kind):
    """A job that would sleep for a minute; its process tells its number in a file."""
    (tmp_path / "sleeping.py").write_text(
        "import os, pathlib, time\n"
        "def work(seconds):\n"
        f"    pathlib.Path({str(tmp_path / 'worker')!r}).write_text(str(os.getpid()))\n"
        "    time.sleep(seconds)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    try:
        worker = until(lambda: (tmp_path / "worker").exists() and (tmp_path / "worker").read_text())
    finally:
        parent.send_signal(getattr(signal, kind))
        parent.wait()
    assert until(lambda: not is_running(int(worker)))


def until(condition):
    """Wait for something to become true, for a minute at most; return it."""
    for _ in range(1200):
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def is_running(process):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
