"""What the paper's tables consist of: its numbers, and the settings of both protocols."""

import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from pgnn import PGNNError
from pgnn.experiments.config import COLUMNS, columns_of, is_whole, setup_of
from pgnn.names import BEST, LABELS, MODELS, TABLE_ROWS
from pgnn.nn import PRESETS, make_baseline
from pgnn.training.recipe import Recipe

PAPER = Path(__file__).parents[3] / "shared" / "paper" / "position-aware-gnn.tex"
TITLES = {
    1: ["Grid-T", "Communities-T", "Grid", "Communities", "PPI"],
    2: ["Communities", "Email", "Protein"],
}
NAMES = {
    1: ["grid-t", "communities-t", "grid", "communities", "ppi"],
    2: ["communities-pairs", "email", "protein"],
}


def parse_table(tex, label):
    """Return a table's titles, and for each row its label and pairs of mean and deviation."""
    after = tex[tex.index(f"\\label{{{label}}}") :]
    body = after[after.index(r"\toprule") : after.index(r"\end{tabular}")]
    body = re.sub(r"\\(toprule|midrule|bottomrule)", "", body)
    head, *lines = [line.strip() for line in body.split(r"\\") if line.strip()]
    rows = []
    for line in lines:
        name, *cells = line.split("&")
        numbers = [re.findall(r"\d\.\d+", cell) for cell in cells]
        rows.append((name.strip(), [(float(mean), float(std)) for mean, std in numbers]))
    return [title.strip() for title in head.split("&")[1:]], rows


@pytest.fixture(scope="module")
def tex():
    if not PAPER.is_file():
        pytest.skip("needs the paper's source in ../shared/paper, next to the project")
    return PAPER.read_text()


@pytest.mark.parametrize(("table", "label"), [(1, "tab:link_pred"), (2, "tab:community_detect")])
def test_columns_hold_every_number_of_the_paper(tex, table, label):
    titles, rows = parse_table(tex, label)
    columns = columns_of(f"table{table}")
    assert [column.title for column in columns] == titles
    assert len(rows) == 8
    for number, column in enumerate(columns):
        assert column.paper == tuple(cells[number] for _, cells in rows)


def test_rows_are_those_of_the_paper_but_for_its_slip(tex):
    wanted = [LABELS[model] for model in TABLE_ROWS[:8]]
    assert [name for name, _ in parse_table(tex, "tab:link_pred")[1]] == wanted
    second = [name for name, _ in parse_table(tex, "tab:community_detect")[1]]
    assert second == ["GAT", *wanted[1:]]  # the first must be GCN: the third is GAT again


def test_published_numbers_by_hand():
    assert COLUMNS["grid-t"].published("gcn") == (0.698, 0.051)
    assert COLUMNS["communities-pairs"].published("gcn") == (0.520, 0.025)
    assert COLUMNS["communities-pairs"].published("gat") == (0.620, 0.022)
    assert COLUMNS["communities-pairs"].published("pgnn-e-2l") == (1.0, 0.001)
    assert COLUMNS["protein"].published("pgnn-f-2l") == (0.729, 0.176)
    assert COLUMNS["ppi"].published("pgnn-e-2l") == (0.808, 0.003)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_have_eight_numbers_and_none_for_our_own_model(name):
    column = COLUMNS[name]
    assert len(column.paper) == 8
    assert all(0 < mean <= 1 and 0 < std < 0.2 for mean, std in column.paper)
    assert column.published("pgnn-p-2l") is None


def test_rows_are_models_that_can_be_built():
    assert [model for model in TABLE_ROWS if model in PRESETS] == list(PRESETS)
    for model in TABLE_ROWS:
        if model not in PRESETS and model != BEST:
            assert type(make_baseline(model, 1)).__name__ == LABELS[model]
    assert len({LABELS[model] for model in MODELS}) == len(MODELS)
    assert set(MODELS) - set(TABLE_ROWS) == {"mlp"}


@pytest.mark.parametrize("table", [1, 2])
def test_columns_of_a_table_are_in_the_order_of_the_paper(table):
    columns = columns_of(f"table{table}")
    assert [column.name for column in columns] == NAMES[table]
    assert [column.title for column in columns] == TITLES[table]
    assert {column.table for column in columns} == {table}
    assert {column.task for column in columns} == {"link" if table == 1 else "pair"}


def test_columns_of_all_and_of_one_name():
    assert [column.name for column in columns_of("all")] == NAMES[1] + NAMES[2] == list(COLUMNS)
    for name in COLUMNS:
        assert columns_of(name) == [COLUMNS[name]]


def test_one_hot_columns_are_the_transductive_ones():
    assert [name for name in COLUMNS if COLUMNS[name].one_hot] == ["grid-t", "communities-t"]
    assert COLUMNS["grid-t"].dataset == "grid"
    assert COLUMNS["communities-t"].dataset == "communities"


@pytest.mark.parametrize("table", ["table3", "Grid", "", "table", None])
def test_columns_of_an_unknown_name_lists_the_names(table):
    with pytest.raises(PGNNError, match="use table1, table2, all, or one of grid-t, communities-t"):
        columns_of(table)


@pytest.mark.parametrize("protocol", ["Paper", "", None, "clean"])
def test_setup_of_an_unknown_protocol_is_refused(protocol):
    with pytest.raises(PGNNError, match=r"protocol must be one of paper, released \(got "):
        setup_of("grid", protocol, "gcn")


@pytest.mark.parametrize("name", COLUMNS)
def test_released_setup_has_the_choices_of_the_released_code(name):
    setup = setup_of(name, "released", "pgnn-e-2l")
    recipe = setup.recipe
    assert setup.protocol == "released"  # its splits, flawed negatives and all
    assert setup.standardize == "node"
    assert setup.keep == "released"
    assert recipe.variant == "released"
    assert recipe.decoder == "dot"
    assert recipe.scheme == "fixed"  # floor(n / 2^i) nodes per set
    assert recipe.reuse_draw  # evaluation reads the anchors of the last training pass
    assert (recipe.lr, recipe.lr_drop, recipe.weight_decay) == (0.01, 200, 5e-4)


@pytest.mark.parametrize("name", COLUMNS)
def test_paper_setup_has_clean_choices(name):
    setup = setup_of(name, "paper", "pgnn-e-2l")
    recipe = setup.recipe
    assert setup.protocol == "paper"
    assert setup.standardize == "feature"
    assert setup.keep == "paper"  # all 1,113 graphs of Protein
    assert (recipe.variant, recipe.decoder, recipe.scheme) == ("released", "distance", "bernoulli")
    assert not recipe.reuse_draw


@pytest.mark.parametrize("protocol", ["paper", "released"])
@pytest.mark.parametrize("name", COLUMNS)
def test_setups_judge_the_best_epoch_and_hide_no_folds_as_the_paper(name, protocol):
    recipe = setup_of(name, protocol, "gcn").recipe
    assert (recipe.judged, recipe.folds) == ("epoch", 0)
    assert (recipe.hidden_channels, recipe.dropout) == (32, 0.5)


@pytest.mark.parametrize("name", ["grid-t", "communities-t", "grid", "communities", "email"])
def test_small_columns_train_as_long_and_judge_as_often_as_the_released_code(name):
    recipe = setup_of(name, "released", "gcn").recipe
    assert (recipe.epochs, recipe.eval_every, recipe.max_pairs) == (2000, 10, None)
    assert recipe.patience == 30


def test_ppi_has_fewer_epochs_under_released_and_protein_has_not():
    assert setup_of("ppi", "released", "gcn").recipe.epochs == 300
    assert setup_of("ppi", "paper", "gcn").recipe.epochs == 1000
    assert setup_of("protein", "released", "gcn").recipe.epochs == 2000


@pytest.mark.parametrize("protocol", ["paper", "released"])
@pytest.mark.parametrize("name", COLUMNS)
def test_large_columns_differ_in_their_steps_alone_and_have_time_to_settle(name, protocol):
    setup, whole = setup_of(name, protocol, "gcn"), setup_of("grid", protocol, "gcn")
    steps = {"epochs": 1, "batch_graphs": 1, "eval_every": 1, "max_pairs": None, "patience": 1}
    assert replace(setup, recipe=replace(setup.recipe, **steps)) == replace(
        whole, recipe=replace(whole.recipe, **steps)
    )
    assert setup.recipe.epochs >= 300
    assert (setup != whole) == (name in ("protein", "ppi"))


@pytest.mark.parametrize("protocol", ["paper", "released"])
@pytest.mark.parametrize("name", COLUMNS)
def test_setups_are_those_of_all_models_but_for_the_draws_of_pagerank(name, protocol):
    first = setup_of(name, protocol, "gcn")
    for model in TABLE_ROWS[:8]:
        assert setup_of(name, protocol, model) == first
    by_walks = setup_of(name, protocol, "pgnn-p-2l").recipe
    assert (first.recipe.eval_draws, first.recipe.c) == (1, None)
    assert by_walks == replace(first.recipe, eval_draws=PRESETS["pgnn-p-2l"].eval_draws)


@pytest.mark.parametrize(
    ("epochs", "best_epoch", "whole"),
    [(20, 14, False), (1000, 999, True), (165, 15, True), (160, 15, False), (400, 400, False)],
)
def test_a_run_is_whole_if_it_stopped_improving_or_used_its_epochs(epochs, best_epoch, whole):
    run = {"column": "ppi", "model": "gat", "protocol": "paper", "seed": 0}
    assert is_whole({**run, "epochs": epochs, "best_epoch": best_epoch}) == whole


@pytest.mark.parametrize("row", [{"model": "shortest path"}, {"model": BEST, "epochs": 12}])
def test_what_has_no_epochs_of_the_table_is_whole(row):
    assert is_whole({"column": "ppi", "protocol": "paper", "seed": 0, "best_epoch": 9, **row})


def test_setups_do_not_change():
    setup = setup_of("ppi", "paper", "gcn")
    with pytest.raises(FrozenInstanceError):
        setup.keep = "released"
    assert isinstance(setup.recipe, Recipe)
    assert setup_of("grid", "paper", "gcn").recipe.max_pairs is None  # not what "ppi" was given
