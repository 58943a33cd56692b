import re

import numpy as np
import pytest

from pgnn.errors import PGNNError
from pgnn.experiments.compare import compare, label
from pgnn.experiments.config import COLUMNS
from pgnn.experiments.link_run import LinkRecord
from pgnn.experiments.link_tables import LinkResults, link_tables
from pgnn.experiments.render import PPI_NOTE
from pgnn.report import render_results
from report.samples import data_in

VERSIONS = {"pgnn": "0.1.0", "torch": "2.13.0"}


def record(column, model, protocol, seed, auc):
    return {
        "column": column,
        "model": model,
        "protocol": protocol,
        "seed": seed,
        "test_auc": auc,
        "seconds": 1800.0,
        "command": f"pgnn train {column} --model {model} --protocol {protocol} --seed {seed}",
        "versions": VERSIONS,
    }


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    return [
        record(column, model, protocol, seed, float(rng.uniform(0.5, 1)))
        for protocol in ("paper", "released")
        for column in ("grid", "ppi", "email")
        for model in ("gcn", "pgnn-e-2l", "pgnn-p-2l", "katz", "shortest path")
        for seed in range(3)
    ]


def link_record(model, column, protocol, seed, auc, **more):
    defaults = dict.fromkeys(("calibration_error", "brier", "top_hits", "settings"))
    return {
        **defaults,
        "model": model,
        "column": column,
        "protocol": protocol,
        "seed": seed,
        "test_auc": auc,
        "test_pairs": 40,
        "nodes": 100,
        "edges": 400,
        "seconds": 2.0,
        "processor_seconds": 1.5,
        "command": f"pgnn reproduce {column} --protocol {protocol}",
        "versions": VERSIONS,
        **more,
    }


LINKS = [
    link_record("pgnn-best", "usair", "published", 0, 0.98, calibration_error=0.02, brier=0.05),
    link_record("pgnn-best", "usair", "published", 1, 0.96, calibration_error=0.04, brier=0.05),
    link_record("katz", "usair", "published", 0, 0.91, processor_seconds=0.01),
    link_record("pgnn-best", "<i>mine</i>", "honest", 0, 0.5, top_hits=3),
]


@pytest.fixture(scope="module")
def page(records):
    return render_results(records)


def test_data_holds_the_cells_of_compare(records, page):
    protocols = data_in(page)["protocols"]
    assert [protocol["name"] for protocol in protocols] == ["paper", "released"]
    columns = [COLUMNS[name] for name in ("grid", "ppi", "email")]
    for protocol in protocols:
        for table, expected in zip(
            protocol["tables"], compare(records, columns, protocol["name"]), strict=True
        ):
            assert [row["label"] for row in table["rows"]] == [label(r) for r in expected.rows]
            for row in table["rows"]:
                for column, cell in zip(expected.columns, row["cells"], strict=True):
                    wanted = expected.cell(row["name"], column)
                    assert (cell["mean"], cell["std"], cell["runs"], cell["differs"]) == (
                        wanted.mean,
                        wanted.std,
                        wanted.runs,
                        wanted.differs,
                    )
                    assert cell["paper"] == (None if wanted.paper is None else [*wanted.paper])


def test_cells_show_our_numbers_above_the_papers(page):
    pattern = (
        r'data-value="([^"]+)" data-std="([^"]+)" data-runs="(\d+)">.*?(\d\.\d{3}) '
        r'<span class="pm">± (\d\.\d{3})</span> <span class="runs">\((\d+)\)</span>'
    )
    cells = re.findall(pattern, page)
    data = data_in(page)
    expected = [
        cell
        for protocol in data["protocols"]
        for table in protocol["tables"]
        for row in table["rows"]
        for cell in row["cells"]
    ]
    assert [float(cell[0]) for cell in cells] == [cell["mean"] for cell in expected]
    for mean, std, runs, mean_text, std_text, runs_text in cells:
        assert (mean_text, std_text) == (f"{float(mean):.3f}", f"{float(std):.3f}")
        assert runs == runs_text == "3"
    papers = re.findall(r'<span class="paper" data-value="([^"]+)"', page)
    assert [float(mean) for mean in papers] == [c["paper"][0] for c in expected if c["paper"]]


def test_cells_that_differ_are_marked_and_no_others():
    near, far = COLUMNS["grid"].published("gcn"), COLUMNS["grid"].published("gat")
    page = render_results(
        [
            record("grid", "gcn", "paper", 0, near[0]),
            record("grid", "gat", "paper", 0, far[0] + 3 * far[1]),
            record("grid", "gin", "paper", 0, 0.1),
            record("grid", "katz", "paper", 0, 0.1),
        ]
    )
    rows = re.findall(r'<tr class="(\w+)"><th scope="row">(.*?)</th>(.*?)</tr>', page, re.S)
    marks = {name: re.findall("[▲▼]", cells) for _, name, cells in rows}
    assert marks == {"GCN": [], "GAT": ["▲"], "GIN": ["▼"], "katz": []}
    assert [" differs" in cells for _, _, cells in rows] == [False, True, True, False]
    assert "more than two standard deviations" in page


def test_heuristics_stand_in_a_body_of_their_own(page):
    bodies = re.findall(r'<tbody class="(\w+)">(.*?)</tbody>', page, re.S)
    for kind, body in bodies:
        names = re.findall(r'<th scope="row">(.*?)</th>', body)
        heuristic = {"katz", "shortest path"}
        assert names
        assert all((name in heuristic) == (kind == "heuristics") for name in names)
    assert len(bodies) == 8


def test_best_model_and_best_heuristic_are_bold(page):
    for protocol in data_in(page)["protocols"]:
        for table in protocol["tables"]:
            for place in range(len(table["columns"])):
                for kind in ("model", "heuristic"):
                    cells = [r["cells"][place] for r in table["rows"] if r["kind"] == kind]
                    best = max(cells, key=lambda cell: cell["mean"])
                    assert best["best"]
                    assert sum(cell["best"] for cell in cells) == 1


def test_note_of_ppi_is_there_only_with_ppi(page):
    assert page.count(PPI_NOTE) == 2  # a table of each protocol has it
    assert PPI_NOTE not in render_results([record("grid", "gcn", "paper", 0, 0.5)])


def test_cells_that_were_not_run_are_dashes():
    page = render_results(
        [record("grid", "gcn", "paper", 0, 0.5), record("grid-t", "gat", "paper", 0, 0.5)]
    )
    table = data_in(page)["protocols"][0]["tables"][0]
    assert [[cell is None for cell in row["cells"]] for row in table["rows"]] == [
        [True, False],
        [False, True],
    ]
    assert page.count('<td class="number muted">\N{EN DASH}</td>') == 2


def test_origin_names_versions_and_commands(page):
    assert "90 runs, 45.0 hours of computing" in page
    assert "90 runs with pgnn 0.1.0, torch 2.13.0." in page
    assert "pgnn train grid --model gcn --protocol paper --seed 0…2" in page


def test_records_without_command_or_versions_are_shown():
    old = {"column": "grid", "model": "gcn", "protocol": "paper", "seed": 0, "test_auc": 0.5}
    page = render_results([old])
    assert "1 runs with unknown" in page
    assert "The command for each run" not in page


def test_page_is_the_same_each_time(records, page):
    assert render_results(records) == page


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "there are no records to report"),
        ([record("new", "gcn", "paper", 0, 0.5)], "no record is of a known protocol"),
    ],
)
def test_nothing_to_show_is_an_error(records, message):
    with pytest.raises(PGNNError, match=message):
        render_results(records)


# ---------------------------------------------------------------------- links


def section(page, name):
    return re.search(rf'<section id="{name}">.*?</section>', page, re.S).group()


def test_link_tables_stand_below_those_of_the_paper(records):
    page = render_results(records, LINKS)
    text = section(page, "links-published")
    assert page.index('id="table-1-paper"') < page.index('id="links-published"')
    values = [float(value) for value in re.findall(r'data-value="([^"]+)"', text)]
    tables = LinkResults(link_tables(map(LinkRecord.from_json, LINKS))).to_json()["cells"]
    means = [cell["mean"] for cell in tables if cell["protocol"] == "published"]
    assert values[: len(means)] == means
    assert "0.970" in text
    assert "0.010" in text
    assert "WalkPool, published" in text
    assert "&lt; 0.1" in text  # seconds
    assert "Calibration error" in text
    assert "likeliest" not in text  # nobody was asked for them
    best = re.findall(r'class="number best" data-value="([^"]+)"', text)
    assert float(best[0]) == 0.987


def test_links_alone_have_a_page_and_names_of_graphs_are_text():
    page = render_results([], LINKS)
    assert "Missing links, measured" in page
    assert "Table 1" not in page
    text = section(page, "links-honest")
    assert "&lt;i&gt;mine&lt;/i&gt;" in text
    assert "<i>mine" not in page
    assert "3.0" in text


def test_nothing_to_report_is_said():
    with pytest.raises(PGNNError, match="there are no records"):
        render_results([], [])
