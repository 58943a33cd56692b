import json
import math
from dataclasses import asdict, fields

import numpy as np
import pytest

from pgnn.errors import PGNNError
from pgnn.names import MODELS
from pgnn.nn import PRESETS, make_baseline
from pgnn.training.recipe import _LARGE, FitSettings, Recipe


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("task", "edge", "task must be one of link, pair"),
        ("model", "pgnn", "model must be one of gcn, sage"),
        ("model", None, "model must be one of"),
        ("model", ["gcn"], "model must be one of"),
        ("variant", "new", "variant must be one of paper, released"),
        ("judged", "last", "judged must be one of model, epoch"),
        ("decoder", "mlp", "decoder must be one of distance, dot"),
        ("weights", "close", "weights must be one of length, strength"),
        ("scheme", "any", "scheme must be one of bernoulli, fixed"),
        ("hidden_channels", 0, "hidden_channels must be a positive integer"),
        ("epochs", 2.0, "epochs must be a positive integer"),
        ("eval_every", 0, "eval_every must be"),
        ("eval_draws", True, "eval_draws must be"),
        ("max_pairs", 0, "max_pairs must be"),
        ("num_sets", 0, "num_sets must be"),
        ("patience", 0, "patience must be"),
        ("lr_drop", 0, "lr_drop must be"),
        ("batch_graphs", 0, "batch_graphs must be"),
        ("batch_graphs", None, "batch_graphs must be"),
        ("c", 0.0, "c must be positive"),
        ("c", -1.0, "c must be positive"),
        ("c", float("nan"), "c must be a finite number"),
        ("c", "1", "c must be a finite number"),
        ("epochs", None, "epochs must be"),
        ("folds", -2, "folds must be an integer of at least 0"),
        ("folds", 1, "folds must be 0 or at least 2"),
        ("seed", -1, "seed must be an integer of at least 0"),
        ("seed", "0", "seed must be"),
        ("dropout", 1.0, "dropout must be at least 0 and below 1"),
        ("dropout", -0.1, "dropout must be"),
        ("dropout", float("nan"), "dropout must be a finite number"),
        ("dropout", "half", "dropout must be a finite number"),
        ("dropout", False, "dropout must be a finite number"),
        ("lr", 0, "lr must be positive"),
        ("lr", float("inf"), "lr must be a finite number"),
        ("lr", float("nan"), "lr must be a finite number"),
        ("weight_decay", -1.0, "weight_decay not negative"),
        ("val", 0.0, "val must be positive"),
        ("val", 0.95, "both together below 1"),
        ("val", None, "val must be a finite number"),
        ("test", -0.1, "test not negative"),
        ("test", 0.9, "both together below 1"),
        ("test", float("nan"), "test must be a finite number"),
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


def test_recipe_holds_numbers_of_numpy_as_those_of_python():
    plain = {"epochs": 3, "num_sets": 7, "seed": 2, "dropout": 0.25, "reuse_draw": True}
    recipe = Recipe(**{name: np.array([value])[0] for name, value in plain.items()})
    assert recipe == Recipe(**plain)
    assert json.loads(json.dumps(asdict(recipe))) == asdict(recipe)


def test_models_are_all_that_can_be_made():
    pgnns = [name for name in MODELS if name in PRESETS]
    assert sorted(pgnns) == sorted(PRESETS)
    for name in set(MODELS) - set(PRESETS):
        assert make_baseline(name, 1).in_channels == 1
        assert Recipe(model=name).model == name
    assert len(set(MODELS)) == len(MODELS) == len(PRESETS) + 5


def test_resolved_decides_only_what_was_left_open():
    small, large = (Recipe(seed=4).resolved(n) for n in (_LARGE, _LARGE + 1))
    assert small == Recipe(seed=4, folds=5, eval_every=5)
    assert large == Recipe(seed=4, folds=2, eval_every=1)
    for decided in (Recipe(folds=0, eval_every=7), small, large):
        assert decided.resolved(3) == decided.resolved(10**7) == decided


# ---------------------------------------------------------------------- the settings of the loop


def test_recipe_is_the_settings_of_the_loop():
    """No second set of settings is made of it, so nothing can differ from what was run."""
    recipe = Recipe(patience=9, max_pairs=11, eval_every=2, lr_drop=40, batch_graphs=3)
    assert isinstance(recipe, FitSettings)
    assert {field.name for field in fields(FitSettings)} < {field.name for field in fields(Recipe)}


def test_fit_settings_are_by_default_those_of_the_released_code():
    settings = FitSettings()
    assert (settings.epochs, settings.lr, settings.lr_drop) == (2000, 0.01, 200)
    assert (settings.weight_decay, settings.batch_graphs, settings.eval_every) == (5e-4, 8, 10)


@pytest.mark.parametrize(
    "options",
    [
        *({name: 0} for name in ("epochs", "batch_graphs", "eval_every", "eval_draws")),
        *({name: 0} for name in ("patience", "max_pairs", "lr_drop")),
        *({"lr": lr} for lr in (0, -1.0, math.nan)),
        {"weight_decay": -1e-3},
    ],
    ids=str,
)
def test_fit_settings_that_cannot_be_are_named(options):
    with pytest.raises(PGNNError, match=f"{next(iter(options))} .*(must be|not negative)|lr must"):
        FitSettings(**options)
