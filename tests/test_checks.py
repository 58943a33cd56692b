"""Checks of single arguments: what passes, and what the message says of what does not."""

import numpy as np
import pytest

from pgnn import PGNNError, checks
from pgnn.errors import Parameter


@pytest.mark.parametrize("value", [1, 7, np.int32(7), np.uint8(255)])
def test_positive_integers_come_back_as_python_integers(value):
    checked = checks.positive_integer("top", value)
    assert (type(checked), checked) == (int, value)


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "1", None, np.float64(2), np.bool_(True)])
def test_what_is_no_positive_integer_is_shown(value):
    with pytest.raises(PGNNError) as raised:
        checks.positive_integer("top", value)
    assert str(raised.value) == f"top must be a positive integer (got {value!r})"


def test_integer_says_its_own_bound():
    assert checks.integer("seed", 0, at_least=0) == 0
    with pytest.raises(PGNNError, match=r"^seed must be an integer of at least 0 \(got -1\)$"):
        checks.integer("seed", -1, at_least=0)


@pytest.mark.parametrize("value", [0, -2.5, np.float32(0.5), np.int64(3)])
def test_finite_numbers_come_back_as_floats(value):
    checked = checks.number("scale", value)
    assert (type(checked), checked) == (float, value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, True, "0.5", None, [1.0]])
def test_what_is_no_finite_number_is_shown(value):
    with pytest.raises(PGNNError) as raised:
        checks.number("scale", value)
    assert str(raised.value) == f"scale must be a finite number (got {value!r})"


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5])
def test_share_excludes_both_bounds(value):
    assert checks.share("test", 0.5) == 0.5
    with pytest.raises(PGNNError, match=rf"^test must be above 0 and below 1 \(got {value:g}\)$"):
        checks.share("test", value)


@pytest.mark.parametrize("value", ["links", "", None, 3, ["link"]])
def test_one_of_lists_the_choices_in_order(value):
    choices = iter(["pair", "link"])  # any iterable, read once
    with pytest.raises(PGNNError) as raised:
        checks.one_of("task", value, choices)
    assert str(raised.value) == f"task must be one of pair, link (got {value!r})"
    assert checks.one_of("task", "link", ["pair", "link"]) == "link"


@pytest.mark.parametrize(
    "check",
    [
        lambda: checks.positive_integer("top", 0),
        lambda: checks.number("top", "x"),
        lambda: checks.share("top", 2),
        lambda: checks.one_of("top", "x", ["y"]),
    ],
)
def test_every_check_names_its_parameter_so_that_a_command_can_say_its_flag(check):
    with pytest.raises(PGNNError) as raised:
        check()
    assert isinstance(raised.value.args[0], Parameter)
    assert raised.value.worded({"top": "--top"}.get).startswith("--top must be ")


def test_fits_memory_names_what_to_make_smaller(monkeypatch):
    monkeypatch.setattr(checks, "total_memory", lambda: 2**30)
    checks.fits_memory("num_sets", 5, 2**30)
    with pytest.raises(
        PGNNError, match=r"num_sets = 5 needs 2 GiB of memory, .* has 1.0; use less"
    ):
        checks.fits_memory("num_sets", 5, 2**31)


def test_total_memory_is_that_of_a_machine():
    assert 2**26 < checks.total_memory() <= 2**50


@pytest.mark.parametrize("value", [None, -1, 1.5, "0", [1], True])
def test_as_generator_refuses_what_is_no_seed(value):
    with pytest.raises(PGNNError, match="rng must be"):
        checks.as_generator(value)


@pytest.mark.parametrize("value", [0, 1, None, "yes", np.array([True])])
def test_true_or_false_refuses_other_values(value):
    with pytest.raises(PGNNError, match="directed must be True or False"):
        checks.true_or_false("directed", value)
