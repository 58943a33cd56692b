import json
import math
from dataclasses import asdict, fields, replace

import numpy as np
import pytest

from pgnn.errors import PGNNError
from pgnn.names import BEST, MODELS
from pgnn.nn import PRESETS, make_baseline
from pgnn.training.recipe import _LARGE, FitSettings, Recipe

NOT_OF_BEST = ("decoder", "dropout", "val", "folds", "patience", "eval_every", "c")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("task", "edge", "task must be one of link, pair"),
        ("model", "pgnn", "model must be one of gcn, sage"),
        ("model", None, "model must be text"),
        ("model", ["gcn"], "model must be text"),
        ("variant", "new", "variant must be one of paper, released"),
        ("judged", "last", "judged must be one of model, epoch"),
        ("decoder", "mlp", "decoder must be one of distance, dot"),
        ("weights", "close", "weights must be one of length, strength"),
        ("scheme", "any", "scheme must be one of bernoulli, fixed"),
        ("hidden_channels", 0, "hidden_channels must be a positive integer"),
        ("epochs", 2.0, "epochs must be an integer or None"),
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
        ("c", "1", "c must be a number or None"),
        ("folds", -2, "folds must be an integer of at least 0"),
        ("folds", 1, "folds must be 0 or at least 2"),
        ("seed", -1, "seed must be an integer of at least 0"),
        ("seed", "0", "seed must be"),
        ("dropout", 1.0, "dropout must be at least 0 and below 1"),
        ("dropout", -0.1, "dropout must be"),
        ("dropout", float("nan"), "dropout must be a finite number"),
        ("dropout", "half", "dropout must be a number or None"),
        ("dropout", False, "dropout must be a number or None"),
        ("lr", 0, "lr must be positive"),
        ("lr", float("inf"), "lr must be a finite number"),
        ("lr", float("nan"), "lr must be a finite number"),
        ("weight_decay", -1.0, "weight_decay must be not negative"),
        ("val", 0.0, "val must be positive"),
        ("val", 0.95, "both together below 1"),
        ("val", "some", "val must be a number or None"),
        ("seed", 2**63, "seed must be below 2.63"),
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


@pytest.mark.parametrize("name", [f.name for f in fields(Recipe) if f.name in NOT_OF_BEST])
def test_recipe_of_pgnn_best_refuses_what_it_does_not_have(name):
    value = {"decoder": "dot", "dropout": 0.1, "val": 0.2, "c": 2.0}.get(name, 3)
    with pytest.raises(PGNNError, match=f"{name} is not a setting of pgnn-best; leave it out"):
        Recipe(**{name: value})
    assert getattr(Recipe(model="gcn", **{name: value}), name) == value


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"task": "pair", "num_sets": 7, "max_pairs": None, "test": 0, "weight_decay": 0},
        {"model": "gcn", "patience": 3, "folds": 0, "dropout": 0, "val": 0.3, "c": 2.0},
        {"model": "mlp", "seed": 2**63 - 1, "variant": "paper", "judged": "epoch"},
    ],
)
def test_recipe_survives_a_round_trip_through_a_dict(settings):
    recipe = Recipe(**settings)
    assert Recipe.from_dict(asdict(recipe)) == recipe
    assert {name: getattr(recipe, name) for name in settings} == settings
    decided = recipe.resolved(100)
    assert Recipe.from_dict(asdict(decided)) == decided


def test_from_dict_names_the_unknown_setting_and_the_known_ones():
    with pytest.raises(PGNNError, match="no setting 'layers'") as raised:
        Recipe.from_dict({"layers": 3, "seed": 1})
    assert all(field.name in str(raised.value) for field in fields(Recipe))


def test_from_dict_takes_defaults_for_what_is_missing():
    assert Recipe.from_dict({"seed": 3}) == Recipe(seed=3)


def test_recipe_holds_numbers_of_numpy_as_those_of_python():
    plain = {"epochs": 3, "num_sets": 7, "seed": 2, "dropout": 0.25, "reuse_draw": True}
    recipe = Recipe(model="gcn", **{name: np.array([v])[0] for name, v in plain.items()})
    assert recipe == Recipe(model="gcn", **plain)
    assert json.loads(json.dumps(asdict(recipe))) == asdict(recipe)


def test_models_are_all_that_can_be_made():
    pgnns = [name for name in MODELS if name in PRESETS]
    assert sorted(pgnns) == sorted(PRESETS)
    for name in set(MODELS) - set(PRESETS) - {BEST}:
        assert make_baseline(name, 1).in_channels == 1
        assert Recipe(model=name).model == name
    assert len(set(MODELS)) == len(MODELS) == len(PRESETS) + 6


def test_resolved_decides_only_what_was_left_open():
    small, large = (Recipe(model="gcn", seed=4).resolved(n) for n in (_LARGE, _LARGE + 1))
    assert (small.folds, small.eval_every) == (5, 5)
    assert (large.folds, large.eval_every) == (2, 1)
    assert replace(small, folds=2, eval_every=1) == large
    assert (small.epochs, small.lr, small.weight_decay) == (200, 0.01, 5e-4)
    assert (small.decoder, small.hidden_channels, small.dropout) == ("distance", 32, 0.5)
    assert (small.val, small.patience) == (0.1, 8)
    for decided in (small, large):
        assert decided.resolved(3) == decided.resolved(10**7) == decided
    mine = Recipe(model="gcn", folds=0, eval_every=7, lr=0.5, patience=2).resolved(10**7)
    assert (mine.folds, mine.eval_every, mine.lr, mine.patience) == (0, 7, 0.5, 2)


def test_resolved_of_pgnn_best_is_the_same_for_every_size():
    decided = Recipe(seed=4).resolved(3)
    assert decided == Recipe(seed=4).resolved(10**7) == decided.resolved(_LARGE + 1)
    assert (decided.hidden_channels, decided.epochs) == (64, 12)
    assert (decided.lr, decided.weight_decay) == (3e-3, 1e-2)
    assert all(getattr(decided, name) is None for name in NOT_OF_BEST)
    assert Recipe(hidden_channels=9).resolved(3).hidden_channels == 9


# ---------------------------------------------------------------------- the settings of the loop


def test_settings_of_the_loop_are_those_of_the_recipe():
    recipe = Recipe(model="gcn", patience=9, max_pairs=11, eval_every=2, lr_drop=40, eval_draws=4)
    settings = asdict(recipe.resolved(30).fit_settings())
    assert settings == {name: asdict(recipe.resolved(30))[name] for name in settings}
    assert set(settings) == {field.name for field in fields(FitSettings)}
    assert (settings["patience"], settings["max_pairs"], settings["eval_every"]) == (9, 11, 2)


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


@pytest.mark.parametrize(
    ("name", "value"),
    [("eval_draws", 10**9), ("epochs", 10**9), ("hidden_channels", 10**6), ("num_sets", 10**8)],
)
def test_a_stranger_cannot_ask_for_work_without_end(name, value):
    with pytest.raises(PGNNError, match=f"{name} must be at most"):
        Recipe(**{name: value})
