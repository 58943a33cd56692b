"""Many runs on several processes."""

from concurrent.futures import Future

import pytest

from pgnn import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments import jobs
from pgnn.experiments.config import setup_of
from pgnn.experiments.jobs import HeuristicsJob, run_jobs
from pgnn.experiments.run import Job, run_job


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
