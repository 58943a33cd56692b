"""The benchmark of links: which graphs, what is run, kept and written."""

import gzip
import json
import sys

import pytest

from cli_helpers import community_edges, write_table
from pgnn import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments import links as module
from pgnn.experiments.link_run import LinkRecord, run_link_job
from pgnn.experiments.links import find_link_graphs, reproduce_links
from pgnn.experiments.store import Store
from pgnn.names import LINK_GRAPHS, LINK_PROTOCOLS


def write_graphs(folder, *names):
    """Write small graphs, each larger than the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        path = folder / name
        write_table(path, community_edges(groups=3 + number), ("source", "target"))
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(path.read_bytes()))
    return folder


class Runs:
    """Stands for `run_on_processes`: notes the jobs, gives made-up records."""

    def __init__(self):
        self.jobs, self.processes, self.fail_after = [], None, None

    def run(self, work, jobs, *, num_processes):
        assert work is run_link_job
        self.processes = num_processes
        for number, job in enumerate(jobs):
            if number == self.fail_after:
                raise KeyboardInterrupt
            self.jobs.append((job.graph.name, job.rows, job.protocol, job.seed))
            yield [self.record(job, row) for row in job.rows]

    @staticmethod
    def record(job, row):
        return LinkRecord(
            job.graph.name, row, job.protocol, job.seed, (50 + len(row)) / 100, 0.02, 0.1,
            7 if job.protocol == "honest" else None, 10, 20, 45, 1.5, 1.2, None, "pgnn", {},
        )  # fmt: skip


@pytest.fixture
def runs(monkeypatch):
    fake = Runs()
    monkeypatch.setattr(module, "run_on_processes", fake.run)
    monkeypatch.setattr(module, "draw_links", lambda tables, path: None)
    monkeypatch.setattr(module.node2vec, "why_not", lambda: None)
    return fake


@pytest.fixture
def start(tmp_path):
    """Call reproduce_links with defaults; progress goes to `start.seen`."""
    folder = write_graphs(tmp_path / "graphs", "b.csv", "a.csv")

    def call(**options):
        settings = {
            "graphs": find_link_graphs(folder=folder),
            "protocols": list(LINK_PROTOCOLS),
            "runs": 2,
            "jobs": 1,
            "models": ["mlp", "gcn"],
            "out": tmp_path / "results",
            "resume": False,
            "progress": lambda *report: call.seen.append(report),
            "folder": folder,
        }
        return reproduce_links(**{**settings, **options})

    call.seen, call.out = [], tmp_path / "results"
    call.path = call.out / "links.jsonl"
    return call


# ---------------------------------------------------------------------- graphs


def test_files_of_a_folder_become_columns(tmp_path):
    write_graphs(tmp_path, "town.csv", "city.tsv.gz", "road.edges", "notes.md", ".hidden.csv")
    graphs = find_link_graphs(folder=tmp_path).graphs
    assert [graph.name for graph in graphs] == ["city", "road", "town"]
    assert graphs[2].path == tmp_path / "town.csv"
    (one,) = find_link_graphs("road", folder=tmp_path).graphs
    assert one.name == "road"


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ([], "links", "has no graph files; their names end in .csv"),
        (["notes.md"], "links", "has no graph files"),
        (["a.csv", "a.tsv"], "links", "has two graphs 'a', a.csv and a.tsv"),
        (["a.csv"], "b", "has no graph 'b'; it has a"),
    ],
)
def test_folder_without_the_graphs_asked_for_is_refused(tmp_path, files, name, message):
    write_graphs(tmp_path, *files)
    with pytest.raises(PGNNError, match=message):
        find_link_graphs(name, folder=tmp_path)


def test_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PGNNError, match="graphs must be a folder that exists"):
        find_link_graphs(folder=tmp_path / "nowhere")


def test_public_graphs_are_found_in_the_data_folder(tmp_path):
    write_graphs(tmp_path / "links", *(f"{name}.csv.gz" for name in LINK_GRAPHS))
    found = find_link_graphs(data_dir=str(tmp_path))
    assert [graph.name for graph in found.graphs] == list(LINK_GRAPHS)
    assert found.remark == ""
    (one,) = find_link_graphs("ns", data_dir=str(tmp_path)).graphs
    assert one.path == tmp_path / "links" / "ns.csv.gz"


def test_public_graphs_are_found_by_the_environment(tmp_path, monkeypatch):
    write_graphs(tmp_path / "links", "usair.csv.gz")
    monkeypatch.setenv("PGNN_DATA", str(tmp_path))
    found = find_link_graphs()
    assert [graph.name for graph in found.graphs] == ["usair"]
    assert found.missing == ("ns", "yeast", "power", "facebook")
    assert found.remark.startswith("ns.csv.gz, yeast.csv.gz, power.csv.gz and facebook.csv.gz not")


def test_public_graphs_that_are_nowhere_are_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.delenv("PGNN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(PGNNError) as caught:
        find_link_graphs(data_dir=str(tmp_path))
    message = str(caught.value)
    assert "usair.csv.gz" in message
    assert f"not found in {tmp_path / 'links'} and" in message
    assert "name the folder above links with data_dir or PGNN_DATA" in message
    assert "\n" not in message
    with pytest.raises(PGNNError, match=r"^power.csv.gz not found"):
        find_link_graphs("power", data_dir=str(tmp_path))


def test_unknown_graph_is_refused():
    with pytest.raises(PGNNError, match="there is no graph 'nosuch'; the graphs are usair, ns"):
        find_link_graphs("nosuch")


# ---------------------------------------------------------------------- what is run


def test_every_cell_is_run_once_smallest_graph_first(runs, start):
    start(jobs=3)
    assert runs.processes == 3
    assert len(runs.jobs) == len(set(runs.jobs)) == 2 * 2 * 2 * 2
    assert runs.jobs[:3] == [
        ("b", ("mlp",), "published", 0),
        ("b", ("mlp",), "honest", 0),
        ("b", ("mlp",), "published", 1),
    ]
    assert len(Store(start.path).records()) == 16


def test_default_rows_are_the_models_heuristics_and_the_peer(runs, start):
    start(models=None, runs=1, protocols=["honest"])
    rows = [rows for name, rows, _, _ in runs.jobs if name == "a"]
    assert rows == [("pgnn-best",), HEURISTICS, ("node2vec",), ("pgnn-e-2l",), ("pgnn-p-2l",)]


def test_rows_are_chosen_by_name(runs, start):
    start(models=["heuristics", "gcn", "gcn"], runs=1, protocols=["honest"])
    assert [rows for name, rows, _, _ in runs.jobs if name == "a"] == [("gcn",), HEURISTICS]
    runs.jobs.clear()
    start(models=[HEURISTICS[1]], runs=1, protocols=["honest"], out=start.out.parent / "other")
    assert [rows for name, rows, _, _ in runs.jobs if name == "a"] == [(HEURISTICS[1],)]


def test_node2vec_row_is_skipped_with_a_remark_where_it_cannot_be_run(runs, start, monkeypatch):
    monkeypatch.setattr(module.node2vec, "why_not", lambda: "pecanpy is not installed; pip")
    start(models=None, runs=1, protocols=["honest"])
    assert ("node2vec",) not in [rows for _, rows, _, _ in runs.jobs]
    total = len(runs.jobs)
    assert start.seen[0] == (
        0,
        total,
        "there will be no row node2vec: pecanpy is not installed; pip",
    )
    with pytest.raises(PGNNError, match="node2vec cannot be run: pecanpy is not installed"):
        start(models=["node2vec"], resume=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["nosuch"]}, "there is no row 'nosuch'; the rows are gcn"),
        ({"protocols": ["paper"]}, "protocol must be one of published, honest"),
        ({"runs": 0}, "runs must be a positive integer"),
    ],
)
def test_unknown_names_are_refused_before_anything_is_run(runs, start, options, message):
    with pytest.raises(PGNNError, match=message):
        start(**options)
    assert runs.jobs == []
    assert not start.out.exists()


def test_graph_that_cannot_be_read_is_refused_before_anything_is_run(runs, start, tmp_path):
    write_table(tmp_path / "graphs" / "tiny.csv", [(0, 1)])
    with pytest.raises(PGNNError, match=r"tiny\.csv: the graph has 1 edges, too few"):
        start(graphs=find_link_graphs(folder=tmp_path / "graphs"))
    assert not start.out.exists()


# ---------------------------------------------------------------------- what is kept


def test_cut_off_midway_keeps_what_was_stored_and_resumes(runs, start):
    runs.fail_after = 5
    with pytest.raises(KeyboardInterrupt):
        start()
    assert len(Store(start.path).records()) == 5
    assert not (start.out / "links.md").exists()
    done, runs.jobs, runs.fail_after, start.seen[:] = runs.jobs, [], None, []
    results = start(resume=True)
    assert start.seen[0] == (5, 16, "")
    assert len(runs.jobs) == 11
    assert not set(done) & set(runs.jobs)
    assert {cell["runs"] for cell in results.to_json()["cells"]} == {2}


def test_a_line_that_was_cut_off_is_run_again(runs, start):
    whole = start().to_json()
    start.path.write_text(start.path.read_text()[:-20])
    runs.jobs = []
    assert start(resume=True).to_json() == whole
    assert len(runs.jobs) == 1


def test_heuristics_cut_off_midway_are_not_stored_twice(runs, start):
    start(models=["heuristics"], runs=1, protocols=["honest"])
    lines = start.path.read_text().splitlines(keepends=True)
    start.path.write_text("".join(lines[:-1]))
    start(models=["heuristics"], runs=1, protocols=["honest"], resume=True)
    assert len(Store(start.path).records()) == len(lines)


def test_stored_runs_are_refused_without_resume(runs, start):
    start()
    with pytest.raises(PGNNError, match=r"links\.jsonl has runs already; give resume=True"):
        start()


def test_nothing_left_to_do_is_said_and_rendered(runs, start):
    text = start().markdown
    (start.out / "links.md").unlink()
    runs.jobs, start.seen[:] = [], []
    assert start(resume=True).markdown == text == (start.out / "links.md").read_text()
    assert start.seen == [(16, 16, "nothing left to do")]
    assert runs.jobs == []


def test_files_show_all_that_is_stored_and_the_result_what_was_asked(runs, start, tmp_path):
    start()
    (graphs,) = [find_link_graphs("a", folder=tmp_path / "graphs")]
    results = start(graphs=graphs, protocols=["honest"], models=["gcn"], resume=True)
    assert {cell["column"] for cell in results.to_json()["cells"]} == {"a"}
    assert "`published`" not in results.markdown
    assert "`published`" in (start.out / "links.md").read_text()


def test_progress_tells_of_each_job(runs, start):
    start(models=["mlp", "heuristics"], runs=1, protocols=["honest"])
    assert [report[:2] for report in start.seen] == [(ready, 4) for ready in range(5)]
    assert "honest    b          mlp" in start.seen[1][2]
    assert "AUC 0.5300  top hits 7  1.5 s" in start.seen[1][2]
    assert f"best of {len(HEURISTICS)}: " in start.seen[-1][2]


def test_missing_graphs_are_remarked_and_the_others_run(runs, start, tmp_path, monkeypatch):
    write_graphs(tmp_path / "data" / "links", "ns.csv.gz")
    start(graphs=find_link_graphs(data_dir=str(tmp_path / "data")), folder=None)
    assert {name for name, _, _, _ in runs.jobs} == {"ns"}
    assert "facebook.csv.gz not found in" in start.seen[0][2]
    assert start.seen[0][2].endswith(": left out")


def test_without_matplotlib_there_is_no_picture(runs, start, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(module, "draw_links", None)
    start()
    assert "pip install 'position-gnn[plots]'" in start.seen[0][2]
    assert sorted(path.name for path in start.out.iterdir()) == ["links.jsonl", "links.md"]


def test_real_runs_on_another_process_are_stored_whole(start, tmp_path):
    results = start(models=["mlp", "heuristics"], runs=1, protocols=["honest"])
    records = [json.loads(line) for line in start.path.read_text().splitlines()]
    assert len(records) == 2 * (1 + len(HEURISTICS))
    for record in records:
        assert LinkRecord.from_json(record).to_json() == record
        assert f"--graphs {tmp_path / 'graphs'}" in record["command"]
    assert (start.out / "links.png").read_bytes().startswith(b"\x89PNG")
    assert "| MLP |" in results.markdown
