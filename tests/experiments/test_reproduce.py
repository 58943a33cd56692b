"""`reproduce`: what is run, what is kept, what is written."""

import json
import sys

import numpy as np
import pytest

from pgnn import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments import reproduce as module
from pgnn.experiments import store
from pgnn.experiments.config import columns_of
from pgnn.experiments.jobs import HeuristicsJob
from pgnn.experiments.render import to_png
from pgnn.experiments.reproduce import reproduce
from pgnn.experiments.run import Job
from pgnn.experiments.store import Store
from pgnn.names import TABLE_ROWS as MODELS


class Runs:
    """Stands for `run_jobs`: notes the jobs, gives made-up numbers."""

    def __init__(self, make):
        self.make, self.jobs, self.heuristics, self.options = make, [], [], []
        self.fail_after = None

    def run_jobs(self, jobs, **options):
        self.options.append(options)
        for number, job in enumerate(jobs):
            if number == self.fail_after:
                raise KeyboardInterrupt
            if isinstance(job, HeuristicsJob):
                self.heuristics.append((job.column, job.protocol, job.seed))
                rows = HEURISTICS
            else:
                self.jobs.append(job)
                rows = [job.model]
            yield [self.record(job.column, row, job.protocol, job.seed) for row in rows]

    def record(self, column, model, protocol, seed):
        place = sum(map(ord, column + model + protocol))
        return self.make(column, model, protocol, seed, (place % 50 + 50 + seed) / 110)


@pytest.fixture
def runs(record, monkeypatch):
    fake = Runs(record)
    monkeypatch.setattr(module, "run_jobs", fake.run_jobs)
    monkeypatch.setattr(module, "to_png", lambda tables, path: None)  # drawing takes most of a run
    return fake


@pytest.fixture
def start(tmp_path):
    """Call reproduce with defaults; progress goes to `start.seen`. Gives Markdown and JSON."""

    def call(table="grid", **options):
        settings = {
            "protocols": ["paper"],
            "runs": 2,
            "jobs": 1,
            "models": ["gcn", "gin"],
            "out": tmp_path / "results",
            "resume": False,
            "data_dir": None,
            "progress": lambda *report: call.seen.append(report),
        }
        reproduction = reproduce(table, **{**settings, **options})
        return reproduction.markdown, reproduction.to_json()

    call.seen = []
    call.out = tmp_path / "results"
    call.path = call.out / "reproduction.jsonl"
    return call


def test_reproduce_runs_every_cell_once(runs, start):
    start("all", protocols=["released", "paper"], models=None, runs=1)
    cells = {(job.column, job.model, job.protocol, job.seed) for job in runs.jobs}
    assert len(runs.jobs) == len(cells) == 8 * 10 * 2
    assert {model for _, model, _, _ in cells} == set(MODELS)
    assert {column for column, _, _, _ in cells} == {column.name for column in columns_of("all")}
    assert len(Store(start.path).records()) == len(runs.jobs) + 8 * 2 * len(HEURISTICS)


def test_reproduce_runs_the_longest_column_last(runs, start):
    start("all", models=["gcn"], runs=1)
    assert [job.column for job in runs.jobs][-1] == "ppi"
    assert runs.jobs[0].column == "grid-t"


def test_reproduce_passes_processes_and_data_on(runs, start):
    start(jobs=3, data_dir="there")
    assert runs.options == [{"num_processes": 3, "data_dir": "there"}]


def test_reproduce_with_resume_runs_only_what_is_missing(runs, start):
    start()
    first, runs.jobs = runs.jobs, []
    start(resume=True, runs=3, models=["gcn", "gin", "gat"])
    assert len(first) == 4
    assert runs.jobs == [
        Job("grid", "gat", "paper", 0),
        Job("grid", "gat", "paper", 1),
        Job("grid", "gcn", "paper", 2),
        Job("grid", "gin", "paper", 2),
        Job("grid", "gat", "paper", 2),
    ]
    assert start.seen[5][:2] == (4, 9)  # progress begins with what is stored
    assert len(Store(start.path).records()) == 9


def test_reproduce_refuses_to_start_over_stored_runs(runs, start):
    start()
    before, runs.jobs = start.path.read_bytes(), []
    with pytest.raises(PGNNError, match=r"has runs already; give resume=True to keep them"):
        start()
    assert runs.jobs == []
    assert start.path.read_bytes() == before


def test_reproduce_with_nothing_left_says_so_and_still_renders(runs, start):
    markdown, summary = start()
    (start.out / "reproduction.md").unlink()
    runs.jobs, start.seen[:] = [], []
    again = start(resume=True)
    assert runs.jobs == []
    assert start.seen == [(4, 4, "nothing left to do")]
    assert again == (markdown, summary)
    assert (start.out / "reproduction.md").read_text() == markdown


def test_reproduce_killed_midway_keeps_what_was_stored(runs, start):
    runs.fail_after = 3
    with pytest.raises(KeyboardInterrupt):
        start()
    assert len(Store(start.path).records()) == 3
    assert not (start.out / "reproduction.md").exists()
    runs.fail_after, runs.jobs = None, []
    _, summary = start(resume=True)
    assert len(runs.jobs) == 1
    assert [cell["runs"] for cell in summary["cells"]] == [2, 2]


def test_reproduce_after_a_cut_off_line_does_that_run_again(runs, start):
    _, whole = start()
    text = start.path.read_text()
    start.path.write_text(text[:-20])
    runs.jobs = []
    _, summary = start(resume=True)
    assert runs.jobs == [Job("grid", "gin", "paper", 1)]
    assert summary == whole


def test_reproduce_reports_each_run(runs, start):
    start()
    assert [report[:2] for report in start.seen] == [(done, 4) for done in range(5)]
    assert start.seen[0][2] == ""
    for (_, _, text), job in zip(start.seen[1:], runs.jobs, strict=True):
        assert f"seed {job.seed:2}" in text
        assert job.model in text
        assert "test AUC 0." in text


def test_reproduce_writes_the_tables_it_returns(runs, start, monkeypatch):
    monkeypatch.setattr(module, "to_png", to_png)
    markdown, _ = start("all", protocols=["released", "paper"], runs=1)
    assert (start.out / "reproduction.md").read_text() == markdown
    assert sorted(path.name for path in start.out.iterdir()) == [
        "reproduction.jsonl",
        "reproduction.md",
        "reproduction_paper.png",
        "reproduction_released.png",
    ]
    for protocol in ("paper", "released"):
        png = (start.out / f"reproduction_{protocol}.png").read_bytes()
        assert png.startswith(b"\x89PNG")
    heads = [line for line in markdown.splitlines() if line.startswith("###")]
    assert [head.split()[2] + head.split("`")[1] for head in heads] == [
        *("1:released", "2:released", "1:paper", "2:paper")
    ]


def test_reproduce_draws_only_the_protocols_asked_for(runs, start, monkeypatch):
    drawn = []
    monkeypatch.setattr(module, "to_png", lambda tables, path: drawn.append(path))
    start()
    assert drawn == [start.out / "reproduction_paper.png"]


def test_reproduce_keeps_the_markdown_when_the_picture_cannot_be_drawn(runs, start, monkeypatch):
    def no_picture(tables, path):
        raise PGNNError("no picture")

    monkeypatch.setattr(module, "to_png", no_picture)
    with pytest.raises(PGNNError, match="no picture"):
        start()
    assert "| GCN |" in (start.out / "reproduction.md").read_text()


def test_summary_values_are_those_of_the_stored_runs(runs, start):
    _, summary = start("table2", protocols=["released", "paper"], runs=3, models=None)
    stored = Store(start.path).records()
    assert len(summary["cells"]) == 2 * 3 * (len(MODELS) + len(HEURISTICS))
    for cell in summary["cells"]:
        same = ("protocol", "column", "model")
        values = [r["test_auc"] for r in stored if all(r[name] == cell[name] for name in same)]
        assert cell["runs"] == len(values) == 3
        assert cell["mean"] == pytest.approx(np.mean(values))
        assert cell["std"] == pytest.approx(np.std(values))
        assert cell["table"] == 2
        (column,) = columns_of(cell["column"])
        known = cell["model"] in MODELS[:8]
        assert cell["paper"] == (column.published(cell["model"]) if known else None)
    json.dumps(summary, allow_nan=False)


def test_summary_says_what_differs(record, start, monkeypatch):
    def given(jobs, **_):
        yield [record("grid", "gcn", test_auc=0.9)]  # the paper: 0.456 +- 0.037
        yield [record("grid", "gin", test_auc=0.5)]  # the paper: 0.499 +- 0.054

    monkeypatch.setattr(module, "run_jobs", given)
    _, summary = start(runs=1)
    assert {cell["model"]: cell["differs"] for cell in summary["cells"]} == {
        "gcn": True,
        "gin": False,
    }


def test_heuristics_run_only_where_no_row_was_chosen(runs, start):
    start()
    assert runs.heuristics == []
    start(models=None, resume=True)
    assert runs.heuristics == [("grid", "paper", 0), ("grid", "paper", 1)]


def test_heuristics_that_are_stored_are_not_run_again(runs, start):
    start(models=None)
    runs.heuristics = []
    start(models=None, resume=True, runs=3)
    assert runs.heuristics == [("grid", "paper", 2)]


def test_heuristics_cut_off_midway_are_run_again(runs, start):
    start(models=None, runs=1)
    lines = start.path.read_text().splitlines(keepends=True)
    start.path.write_text("".join(lines[:-1]))  # the last is the one that is asked for
    runs.heuristics = []
    _, summary = start(models=None, resume=True, runs=1)
    assert runs.heuristics == [("grid", "paper", 0)]
    assert {cell["runs"] for cell in summary["cells"]} == {1}  # none is counted twice


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("table3", {}, "there is no table 'table3'"),
        ("grid", {"models": ["gcn", "nosuch"]}, "there is no row 'nosuch'; the rows are gcn, sage"),
        ("grid", {"protocols": ["nosuch"]}, r"protocol must be .* \(got 'nosuch'\)"),
    ],
)
def test_reproduce_refuses_unknown_names_before_it_runs_anything(
    runs, start, table, options, message
):
    with pytest.raises(PGNNError, match=message):
        start(table, **options)
    assert runs.options == []
    assert not start.out.exists()


def test_reproduce_finds_out_that_it_cannot_write_before_it_runs(runs, start):
    start.out.write_text("not a folder")
    with pytest.raises(PGNNError, match="results"):
        start()
    assert runs.jobs == []


def test_reproduce_reads_its_store_once(runs, start, monkeypatch):
    start(models=None)
    reads = []
    read_file = store.read_file
    monkeypatch.setattr(store, "read_file", lambda path: reads.append(path) or read_file(path))
    start(models=None, resume=True, runs=3)
    assert reads == [start.path]


def test_reproduce_without_matplotlib_says_so_before_it_runs_anything(runs, start, monkeypatch):
    def no_picture(tables, path):
        raise AssertionError("there is nothing to draw with")

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(module, "to_png", no_picture)
    markdown, _ = start()
    ready, total, line = start.seen[0]
    assert (ready, total) == (0, 4)
    assert "without pictures" in line
    assert "pip install 'position-gnn[plots]'" in line
    assert not any("pictures" in text for _, _, text in start.seen[1:])  # one remark, and only one
    assert (start.out / "reproduction.md").read_text() == markdown


def test_heuristics_are_jobs_that_progress_counts(runs, start):
    start(models=None, runs=1)
    assert start.seen[-1][:2] == (len(MODELS) + 1, len(MODELS) + 1)
    assert any("heuristics seed  0" in line for _, _, line in start.seen)
