"""Means, deviations and what differs from the paper, by hand."""

import pytest

from pgnn.experiments.compare import Cell, compare, label
from pgnn.experiments.config import COLUMNS, columns_of
from pgnn.names import MODELS


def test_cell_has_mean_and_deviation_of_its_runs(record):
    records = [record(seed=seed, test_auc=auc) for seed, auc in enumerate([0.5, 0.6, 0.7, 0.8])]
    (table,) = compare(records, [COLUMNS["grid"]], "paper")
    cell = table.cell("gcn", COLUMNS["grid"])
    assert cell.mean == pytest.approx(0.65)
    assert cell.std == pytest.approx((0.05 / 4) ** 0.5)  # of all runs, not n - 1: 0.1118
    assert cell.runs == 4
    assert cell.paper == (0.456, 0.037)


@pytest.mark.parametrize(
    ("mean", "std", "paper", "differs"),
    [
        (0.60, 0.03, (0.50, 0.04), False),  # two deviations of both together: 2 * 0.05
        (0.599, 0.03, (0.50, 0.04), False),
        (0.601, 0.03, (0.50, 0.04), True),
        (0.399, 0.03, (0.50, 0.04), True),  # below counts as well
        (0.401, 0.03, (0.50, 0.04), False),
        (0.581, 0.0, (0.50, 0.04), True),
        (0.579, 0.0, (0.50, 0.04), False),
        (0.999, 0.0, None, False),  # the paper has no such cell
    ],
)
def test_cell_differs_beyond_two_deviations_of_both_together(mean, std, paper, differs):
    # The first case sits on the border, where rounding would decide: moved a little inside.
    cell = Cell(mean - 1e-12 if mean == 0.60 else mean, std, 3, paper)
    assert cell.differs is differs


def test_tables_are_split_by_number_and_keep_the_columns(record):
    records = [record("grid"), record("email")]
    first, second = compare(records, columns_of("all"), "paper")
    assert (first.number, second.number) == (1, 2)
    assert first.columns == columns_of("table1")
    assert second.columns == columns_of("table2")
    assert first.protocol == second.protocol == "paper"


def test_models_come_in_the_order_of_the_paper_and_heuristics_after(record):
    names = ["katz", "pgnn-p-2l", "common neighbours", "gin", "pgnn-f-1l", "gcn"]
    (table,) = compare([record(model=name) for name in names], [COLUMNS["grid"]], "paper")
    assert table.rows == ["gcn", "gin", "pgnn-f-1l", "pgnn-p-2l", "common neighbours", "katz"]


def test_rows_of_earlier_versions_are_left_out(record):
    names = ["ppr", "katz", "gcn"]
    (table,) = compare([record(model=name) for name in names], [COLUMNS["grid"]], "paper")
    assert table.rows == ["gcn", "katz"]


def test_all_models_are_rows_in_their_order_and_before_heuristics(record):
    names = ["Adamic-Adar", *reversed(MODELS)]
    (table,) = compare([record(model=name) for name in names], [COLUMNS["grid"]], "paper")
    assert table.rows == [*MODELS, "Adamic-Adar"]


def test_heuristics_and_our_own_model_have_no_number_of_the_paper(record):
    records = [record(model=name, test_auc=0.99) for name in ("pgnn-p-2l", "pagerank", "mlp")]
    (table,) = compare(records, [COLUMNS["grid"]], "paper")
    for row in table.rows:
        cell = table.cell(row, COLUMNS["grid"])
        assert cell.paper is None
        assert not cell.differs


def test_cells_that_were_not_run_are_missing(record):
    records = [record("grid", "gcn"), record("ppi", "gin")]
    (table,) = compare(records, columns_of("table1"), "paper")
    assert table.rows == ["gcn", "gin"]
    assert table.cell("gcn", COLUMNS["ppi"]) is None
    assert table.cell("gin", COLUMNS["grid"]) is None
    assert table.cell("gin", COLUMNS["ppi"]).runs == 1


def test_rows_without_a_run_in_a_table_are_not_shown_there(record):
    records = [record("grid", "gcn"), record("email", "gin")]
    first, second = compare(records, columns_of("all"), "paper")
    assert (first.rows, second.rows) == (["gcn"], ["gin"])


def test_other_protocols_and_other_columns_do_not_count(record):
    records = [
        record(test_auc=0.6),
        record(test_auc=0.1, protocol="released"),
        record("grid-t", test_auc=0.2),
        record("communities", test_auc=0.3),
        record("communities-pairs", test_auc=0.4),
    ]
    (table,) = compare(records, [COLUMNS["grid"]], "paper")
    assert table.cell("gcn", COLUMNS["grid"]).mean == 0.6
    (table,) = compare(records, [COLUMNS["grid"]], "released")
    assert table.cell("gcn", COLUMNS["grid"]).mean == 0.1
    (table,) = compare(records, columns_of("table2"), "paper")
    assert table.cell("gcn", COLUMNS["communities-pairs"]).mean == 0.4


def test_of_a_seed_that_was_run_twice_the_last_run_counts(record):
    records = [record(test_auc=0.1), record(seed=1, test_auc=0.5), record(test_auc=0.7)]
    (table,) = compare(records, [COLUMNS["grid"]], "paper")
    cell = table.cell("gcn", COLUMNS["grid"])
    assert (cell.runs, cell.mean) == (2, pytest.approx(0.6))


def test_no_records_give_tables_without_rows():
    tables = compare([], columns_of("all"), "paper")
    assert [table.number for table in tables] == [1, 2]
    assert [table.rows for table in tables] == [[], []]


def test_labels_are_the_papers_where_it_has_one():
    assert label("pgnn-e-2l") == "P-GNN-E-2L"
    assert label("sage") == "GraphSAGE"
    assert label("shortest path") == "shortest path"
