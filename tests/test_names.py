"""Lists of names agree with each other, and with what they name."""

from typing import get_args

import pytest

from pgnn import datasets, names
from pgnn.nn import presets
from pgnn.training.recipe import Recipe


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (names.TASKS, names.Task),
        (names.PROTOCOLS, names.Protocol),
        (names.LINK_PROTOCOLS, names.LinkProtocol),
        (names.NEGATIVES, names.Negatives),
    ],
)
def test_lists_hold_what_their_types_allow(values, kind):
    assert values == get_args(kind)


def test_models_are_those_with_a_label_each_of_its_own():
    assert set(names.MODELS) == set(names.LABELS)
    assert len(set(names.LABELS.values())) == len(names.MODELS)


def test_models_hold_rows_of_the_table_and_the_best():
    assert names.MODELS[: len(names.TABLE_ROWS)] == names.TABLE_ROWS
    assert names.TABLE_ROWS[-1] == names.BEST
    assert set(names.LINK_MODELS) <= set(names.MODELS)
    assert names.NODE2VEC not in names.MODELS


def test_table_rows_stand_in_the_order_of_the_paper():
    labels = [names.LABELS[name] for name in names.TABLE_ROWS]
    baselines, variants = ["GCN", "GraphSAGE", "GAT", "GIN"], ["F-1L", "F-2L", "E-1L", "E-2L"]
    assert labels == [
        *baselines,
        *(f"P-GNN-{name}" for name in variants),
        "P-GNN-P-2L",
        "pgnn-best",
    ]


def test_best_is_the_default():
    assert Recipe().model == names.BEST


def test_names_are_of_models_and_data_that_there_are():
    assert set(presets.PRESETS) <= set(names.MODELS)
    assert {info.name for info in datasets.describe()} == set(names.DATASETS)
