"""`pgnn reproduce`."""

import gzip
import json

import pytest

from cli_helpers import listing, write_graph


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
    monkeypatch.setattr(reproduce, "is_whole", lambda record: True)  # one epoch is all there is
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
    assert "written without pictures" in done.stderr.split("test AUC")[0]
    assert (tmp_path / "results" / "reproduction.md").exists()


# ---------------------------------------------------------------------- links


@pytest.fixture
def inline_links(monkeypatch):
    """Run jobs of links in this process; gives the jobs."""
    from pgnn.experiments import links

    jobs_run = []

    def run(work, jobs, *, num_processes):
        for job in jobs:
            jobs_run.append((job, num_processes))
            yield work(job)

    monkeypatch.setattr(links, "run_on_processes", run)
    monkeypatch.setattr(links, "draw_links", lambda tables, path: None)
    monkeypatch.setattr(links.node2vec, "why_not", lambda: "pecanpy is not installed")
    return jobs_run


@pytest.fixture
def graphs(tmp_path):
    (tmp_path / "graphs").mkdir()
    write_graph(tmp_path / "graphs", "town.csv")
    (tmp_path / "graphs" / "nodes.csv").unlink()
    return tmp_path / "graphs"


LINKS = ["reproduce", "links", "--graphs", "graphs", "--runs", 2, "--model", "mlp"]


def test_links_prints_markdown_or_json_and_resumes(command, inline_links, graphs, tmp_path):
    done = command(*LINKS, "--jobs", 2)
    assert done.code == 0, done.stderr
    assert done.stdout.startswith("### Missing links, protocol `published`")
    assert (tmp_path / "results" / "links.md").read_text() in done.stdout
    assert "AUC" in done.stderr
    assert {processes for _, processes in inline_links} == {2}
    again = command(*LINKS, "--resume", "--json")
    cells = json.loads(again.stdout)["cells"]
    assert [(c["column"], c["model"], c["protocol"], c["runs"]) for c in cells] == [
        ("town", "mlp", "published", 2),
        ("town", "mlp", "honest", 2),
    ]
    assert "nothing left to do" in again.stderr
    refused = command(*LINKS)
    assert (refused.code, refused.stdout) == (2, "")
    assert "links.jsonl has runs already; give --resume to keep them" in refused.stderr


def test_links_runs_one_graph_by_its_name(command, inline_links, graphs):
    arguments = ["--graphs", "graphs", "--runs", 1, "--protocol", "honest", "--json"]
    done = command("reproduce", "town", *arguments, "--model", "heuristics")
    assert done.code == 0, done.stderr
    models = {cell["model"] for cell in json.loads(done.stdout)["cells"]}
    assert "common neighbours" in models
    assert {job.protocol for job, _ in inline_links} == {"honest"}


@pytest.mark.parametrize("table", ["links", "power"])
def test_links_without_data_is_one_clear_line(command, tmp_path, table):
    before = listing(tmp_path)
    done = command("reproduce", table)
    assert (done.code, done.stdout) == (2, "")
    assert "power.csv.gz" in done.stderr.partition(" not found in ")[0]
    assert "with --data-dir or PGNN_DATA" in done.stderr
    assert "folder of graph files of your own, --graphs" in done.stderr
    assert done.stderr.count("\n") == 1
    assert listing(tmp_path) == before


def test_links_refuses_a_protocol_of_the_tables(command, graphs):
    done = command(*LINKS, "--protocol", "paper")
    assert done.code == 2
    assert "--protocol must be one of published, honest (got 'paper')" in done.stderr


ALL = ["reproduce", "all", "--runs", 1, "--model", "gcn", "--json"]


@pytest.fixture
def two_columns(monkeypatch):
    """Let `all` be one column of the paper, and one of links."""
    from pgnn.experiments import links, reproduce
    from pgnn.experiments.config import COLUMNS

    monkeypatch.setattr(reproduce, "columns_of", lambda table: [COLUMNS["grid"]])
    monkeypatch.setattr(links, "LINK_GRAPHS", ("town",))


def test_all_is_the_tables_and_links(command, inline, inline_links, two_columns, graphs, tmp_path):
    data = (graphs / "town.csv").read_bytes()
    (tmp_path / "data" / "links").mkdir(parents=True)
    (tmp_path / "data" / "links" / "town.csv.gz").write_bytes(gzip.compress(data))
    done = command(*ALL, "--data-dir", "data")
    assert done.code == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    assert {(cell["column"], cell["protocol"]) for cell in cells} == {
        *(("grid", protocol) for protocol in ("paper", "released")),
        *(("town", protocol) for protocol in ("published", "honest")),
    }
    one = command(*ALL, "--data-dir", "data", "--protocol", "honest", "--out", "other")
    assert {cell["column"] for cell in json.loads(one.stdout)["cells"]} == {"town"}
    one = command(*ALL, "--data-dir", "data", "--protocol", "paper", "--out", "third")
    assert {cell["column"] for cell in json.loads(one.stdout)["cells"]} == {"grid"}


def test_all_without_the_graphs_of_links_says_so_and_does_the_rest(
    command, inline, inline_links, two_columns
):
    done = command(*ALL)
    assert done.code == 0, done.stderr
    assert {cell["column"] for cell in json.loads(done.stdout)["cells"]} == {"grid"}
    assert done.stderr.startswith("without links: town.csv.gz not found in")
    assert inline_links == []


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--model", "nosuch", "there is no row 'nosuch'; the rows are gcn"),
        ("--protocol", "nosuch", "--protocol must be one of paper, released, published, honest"),
    ],
)
def test_all_refuses_names_that_neither_has(command, inline, option, value, message):
    done = command("reproduce", "all", option, value)
    assert done.code == 2
    assert message in done.stderr


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


def test_every_column_of_the_paper_is_completed():
    from pgnn.cli import reproduce
    from pgnn.experiments.config import COLUMNS

    assert set(reproduce._COLUMNS) == set(COLUMNS)
