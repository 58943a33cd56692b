from dataclasses import asdict, fields

import pytest

from pgnn.errors import PGNNError
from pgnn.nn import PRESETS, make_baseline
from pgnn.training.recipe import _LARGE, MODEL_NAMES, Recipe


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("task", "edge", "task must be one of link, pair"),
        ("model", "pgnn", "model must be one of pgnn-best"),
        ("model", None, "model must be one of"),
        ("model", ["gcn"], "model must be one of"),
        ("decoder", "mlp", "decoder must be one of distance, dot"),
        ("weights", "close", "weights must be one of length, strength"),
        ("scheme", "any", "scheme must be one of bernoulli, fixed"),
        ("hidden_channels", 0, "hidden_channels must be an integer of at least 1"),
        ("epochs", 2.0, "epochs must be an integer of at least 1"),
        ("eval_every", 0, "eval_every must be"),
        ("eval_draws", True, "eval_draws must be"),
        ("max_pairs", 0, "max_pairs must be"),
        ("num_sets", 0, "num_sets must be"),
        ("patience", 0, "patience must be"),
        ("epochs", None, "epochs must be"),
        ("folds", -2, "folds must be an integer of at least 0"),
        ("folds", 1, "folds must be 0 or at least 2"),
        ("seed", -1, "seed must be an integer of at least 0"),
        ("seed", "0", "seed must be"),
        ("dropout", 1.0, "dropout must be at least 0 and below 1"),
        ("dropout", -0.1, "dropout must be"),
        ("dropout", float("nan"), "dropout must be"),
        ("dropout", "half", "dropout must be a number"),
        ("dropout", False, "dropout must be a number"),
        ("lr", 0, "lr must be positive"),
        ("lr", float("inf"), "lr must be positive"),
        ("lr", float("nan"), "lr must be positive"),
        ("weight_decay", -1.0, "weight_decay not negative"),
        ("val", 0.0, "val must be positive"),
        ("val", 0.95, "both together below 1"),
        ("val", None, "val must be a number"),
        ("test", -0.1, "test not negative"),
        ("test", 0.9, "both together below 1"),
        ("test", float("nan"), "val must be positive"),
    ],
)
def test_recipe_refuses_what_is_not_allowed(name, value, words):
    with pytest.raises(PGNNError, match=words) as raised:
        Recipe(**{name: value})
    shown = value if isinstance(value, str) else f"{value:g}" if type(value) is float else value
    assert name == "folds" or str(shown) in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"task": "pair", "num_sets": 7, "patience": None, "max_pairs": None, "folds": 0},
        {"test": 0, "dropout": 0, "weight_decay": 0, "seed": 2**70},
    ],
)
def test_recipe_survives_a_round_trip_through_a_dict(given):
    recipe = Recipe(**given)
    assert Recipe.from_dict(asdict(recipe)) == recipe
    assert {name: getattr(recipe, name) for name in given} == given


def test_from_dict_names_the_unknown_setting_and_the_known_ones():
    with pytest.raises(PGNNError, match="no setting 'layers'") as raised:
        Recipe.from_dict({"layers": 3, "seed": 1})
    assert all(field.name in str(raised.value) for field in fields(Recipe))


def test_from_dict_takes_defaults_for_what_is_missing():
    assert Recipe.from_dict({"seed": 3}) == Recipe(seed=3)


def test_model_names_are_all_there_are():
    pgnns = [name for name in MODEL_NAMES if name in PRESETS]
    assert sorted(pgnns) == sorted(PRESETS)
    for name in set(MODEL_NAMES) - set(PRESETS):
        assert make_baseline(name, 1).in_channels == 1
    assert len(set(MODEL_NAMES)) == len(MODEL_NAMES) == len(PRESETS) + 5


def test_resolved_decides_only_what_was_left_open():
    small, large = (Recipe(seed=4).resolved(n) for n in (_LARGE, _LARGE + 1))
    assert small == Recipe(seed=4, folds=5, eval_every=5)
    assert large == Recipe(seed=4, folds=2, eval_every=1)
    for given in (Recipe(folds=0, eval_every=7), small, large):
        assert given.resolved(3) == given.resolved(10**7) == given


def test_fit_settings_are_those_of_the_recipe():
    recipe = Recipe(
        epochs=3,
        lr=0.5,
        weight_decay=0.25,
        eval_every=2,
        patience=9,
        eval_draws=4,
        max_pairs=11,
    )
    settings = asdict(recipe.fit_settings())
    shared = {name: value for name, value in asdict(recipe).items() if name in settings}
    assert len(shared) == 7
    assert shared == {name: settings[name] for name in shared}
    assert (settings["lr_drop"], settings["batch_graphs"]) == (None, 1)
