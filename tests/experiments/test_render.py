"""Markdown that is a table, and a picture that is written whole or not at all."""

import re
import sys
from itertools import pairwise

import pytest

from pgnn import PGNNError
from pgnn.evaluation.heuristics import HEURISTICS
from pgnn.experiments.compare import compare, label
from pgnn.experiments.config import COLUMNS, columns_of
from pgnn.experiments.render import PPI_NOTE, missing_for_pictures, to_markdown, to_png

PNG = b"\x89PNG\r\n\x1a\n"


def rows_of(markdown):
    """Return the cells of each line of the tables."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture
def many(record):
    """Runs of some cells of both tables, and of the heuristics."""
    records = [
        record(column, model, seed=seed, test_auc=0.5 + 0.1 * seed)
        for column in ("grid", "ppi", "email", "communities-pairs")
        for model in ("gcn", "pgnn-e-2l", "pgnn-p-2l")
        for seed in range(2)
    ]
    return records + [record("grid", name) for name in HEURISTICS]


def test_markdown_has_the_same_number_of_cells_in_every_line(many):
    for table in compare(many, columns_of("all"), "paper"):
        head, rule, *body = rows_of(to_markdown([table]))
        assert head == ["", *(column.title for column in table.columns)]
        assert set(rule) == {"---"}
        assert {len(line) for line in (head, rule, *body)} == {len(table.columns) + 1}
        assert len(body) == len(table.rows)


def test_markdown_table_begins_after_an_empty_line_and_ends_with_one(many):
    lines = to_markdown(compare(many, columns_of("all"), "paper")).splitlines()
    borders = [pair for pair in pairwise(lines) if pair[0][:1] == "|" or pair[1][:1] == "|"]
    starts = [before for before, after in borders if not before.startswith("|")]
    ends = [after for before, after in borders if not after.startswith("|")]
    assert starts == ["", ""]
    assert ends == [""]  # of the first; the second is the last of the file


def test_markdown_cell_has_ours_and_the_papers(record):
    records = [record(seed=seed, test_auc=auc) for seed, auc in enumerate([0.45, 0.55])]
    records += [record(model="katz", test_auc=0.75), record(model="pgnn-p-2l", test_auc=1)]
    text = to_markdown(compare(records, [COLUMNS["grid"]], "paper"))
    assert rows_of(text)[2:] == [
        ["GCN", "0.500 ± 0.050 [0.456 ± 0.037]"],
        ["P-GNN-P-2L", "1.000 ± 0.000"],
        ["katz", "0.750 ± 0.000"],
    ]


def test_markdown_marks_only_cells_that_differ(record):
    records = [record(test_auc=0.6), record(model="sage", test_auc=0.6)]  # 0.456, 0.532
    text = to_markdown(compare(records, [COLUMNS["grid"]], "paper"))
    assert rows_of(text)[2:] == [
        ["GCN", "0.600 ± 0.000* [0.456 ± 0.037]"],
        ["GraphSAGE", "0.600 ± 0.000 [0.532 ± 0.050]"],
    ]


def test_markdown_marks_cells_with_runs_that_were_cut_short(record):
    records = [
        record("ppi", epochs=20, best_epoch=20),
        record("ppi", "gin", epochs=165, best_epoch=15),
    ]
    text = to_markdown(compare(records, [COLUMNS["ppi"]], "paper"))
    assert [("†" in cell) for _, cell in rows_of(text)[2:]] == [True, False]
    assert "`†`: some of its runs ended before they stopped improving" in text
    assert "†" not in to_markdown(compare(records[1:], [COLUMNS["ppi"]], "paper"))


def test_markdown_says_what_it_shows(record):
    records = [record(protocol="released", seed=seed) for seed in range(3)]
    text = to_markdown(compare(records, [COLUMNS["grid"]], "released"))
    assert "### Table 1: Link prediction, protocol `released`" in text
    assert "mean and standard deviation of 3 runs" in text
    assert "`*`: more than two standard deviations" in text
    pairs = to_markdown(compare([record("email")], [COLUMNS["email"]], "paper"))
    assert "### Table 2: Pairwise node classification, protocol `paper`" in pairs


def test_markdown_says_how_many_runs_where_cells_differ(record):
    records = [record(seed=seed) for seed in range(10)] + [record(model="gin")]
    text = to_markdown(compare(records, [COLUMNS["grid"]], "paper"))
    assert "of 1 to 10 runs" in text


def test_markdown_of_a_cell_that_was_not_run_is_empty(record):
    records = [record("grid", "gcn"), record("ppi", "gin")]
    _, _, gcn, gin = rows_of(to_markdown(compare(records, columns_of("table1"), "paper")))
    assert gcn[1:3] == ["", ""]
    assert (gcn[5], gin[3]) == ("", "")
    assert gcn[3].startswith("0.500")
    assert gin[5].startswith("0.500")


def test_markdown_says_that_features_of_ppi_are_partly_recovered(record):
    with_ppi = to_markdown(compare([record("ppi")], columns_of("table1"), "paper"))
    assert with_ppi.count(PPI_NOTE) == 1
    assert "features are partly recovered" in PPI_NOTE
    without = to_markdown(compare([record("email")], columns_of("table2"), "paper"))
    assert "PPI" not in without


@pytest.mark.parametrize("columns", ["all", "grid"])
def test_markdown_of_no_records_is_empty(columns):
    assert to_markdown([]) == ""
    assert to_markdown(compare([], columns_of(columns), "paper")) == ""


def test_png_is_a_png_and_nothing_else_is_left(many, tmp_path):
    path = tmp_path / "tables.png"
    to_png(compare(many, columns_of("all"), "paper"), path)
    data = path.read_bytes()
    assert data.startswith(PNG)
    assert data.rstrip().endswith(b"IEND\xaeB`\x82")
    assert list(tmp_path.iterdir()) == [path]


def test_png_is_replaced_whole_or_not_at_all(record, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    path = tmp_path / "tables.png"
    path.write_bytes(b"before")

    def half(self, file, **_):
        file.write(PNG)
        raise OSError(28, "No space left on device")

    tables = compare([record()], [COLUMNS["grid"]], "paper")
    with monkeypatch.context() as patch:
        patch.setattr(Figure, "savefig", half)
        with pytest.raises(PGNNError, match=r"cannot be written \(No space left"):
            to_png(tables, path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    to_png(tables, path)
    assert path.read_bytes().startswith(PNG)


def test_png_closes_its_figure_also_when_it_cannot_be_written(record, tmp_path):
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    tables = compare([record()], [COLUMNS["grid"]], "paper")
    to_png(tables, tmp_path / "tables.png")
    assert plt.get_fignums() == before
    with pytest.raises(PGNNError, match="does not exist"):
        to_png(tables, tmp_path / "nowhere" / "tables.png")
    assert plt.get_fignums() == before


def test_png_of_missing_cells_and_of_ties_can_be_drawn(record, tmp_path):
    records = [record("grid", "gcn", test_auc=1.0), record("grid", "gin", test_auc=1.0)]
    to_png(compare(records, columns_of("table1"), "paper"), tmp_path / "tables.png")
    assert (tmp_path / "tables.png").stat().st_size > 1000


def test_numbers_of_markdown_are_those_of_the_cells(many):
    (table,) = compare(many, [COLUMNS["grid"]], "paper")
    shown = {row[0]: row[1] for row in rows_of(to_markdown([table]))[2:]}
    for row in table.rows:
        mean, std = re.findall(r"\d\.\d{3}", shown[label(row)])[:2]
        cell = table.cell(row, COLUMNS["grid"])
        assert (mean, std) == (f"{cell.mean:.3f}", f"{cell.std:.3f}")


def test_nothing_is_missing_for_pictures_where_matplotlib_is():
    assert missing_for_pictures() is None


@pytest.mark.parametrize("module", ["matplotlib", "matplotlib.figure"])
def test_without_matplotlib_only_the_picture_is_missing(many, tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)  # its import raises ModuleNotFoundError
    tables = compare(many, columns_of("all"), "paper")
    assert "| GCN |" in to_markdown(tables)
    assert missing_for_pictures().endswith("pip install 'position-gnn[plots]'")
    with pytest.raises(PGNNError, match=r"pip install 'position-gnn\[plots\]'"):
        to_png(tables, tmp_path / "tables.png")
    assert list(tmp_path.iterdir()) == []


def test_extra_that_draws_pictures_is_one_of_the_project():
    import tomllib
    from pathlib import Path

    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    assert any(name.startswith("matplotlib") for name in extras["plots"])
    assert any("plots" in name for name in extras["dev"])
