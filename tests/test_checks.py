"""Checks of single arguments: what passes, and what the message says of what does not."""

from __future__ import annotations

import dataclasses
import warnings
from collections import UserList, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from numpy.typing import ArrayLike

import pgnn
from pgnn import Graph, PGNNError, checks
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


# ---------------------------------------------------------------------- kinds of arguments


@checks.checked
def _called(
    count: int = 1,
    share: float = 0.5,
    *more: int,
    named: bool | None = None,
    task: Literal["link", "pair"] = "link",
    graphs: Sequence[Graph] = (),
    pairs: ArrayLike | None = None,
    weights: Mapping[str, float] | None = None,
    ends: tuple[str, str] = ("a", "b"),
    path: str | Path = "",
    rng: int | np.random.Generator = 0,
    progress: Callable[[int], object] | None = None,
    unseen: Tensor | None = None,  # noqa: F821 - as where only type checkers import torch
    anything: Any = None,
):
    return "called"


RING = Graph.from_edges([(0, 1), (1, 2)])


@pytest.mark.parametrize(
    "arguments",
    [
        {"count": np.int8(3), "share": np.float32(0.5)},
        {"share": 2, "named": np.bool_(True), "task": "pair"},
        {"graphs": [RING, RING], "pairs": [(0, 1)], "weights": {"a": 1}},
        {
            "graphs": (),
            "pairs": np.zeros((1, 2)),
            "path": Path("x"),
            "rng": np.random.default_rng(),
        },
        {"pairs": range(3), "progress": print, "anything": object()},
    ],
)
def test_checked_lets_in_what_the_annotations_say(arguments):
    assert _called(**arguments) == "called"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 2.5}, "count must be an integer (got 2.5)"),
        ({"count": True}, "count must be an integer (got True)"),
        ({"share": "x"}, "share must be a number (got 'x')"),
        ({"named": 1}, "named must be True, False or None (got 1)"),
        ({"task": "node"}, "task must be one of link, pair (got 'node')"),
        ({"task": ["link"]}, "task must be one of link, pair (got ['link'])"),
        ({"graphs": RING}, "graphs must be a sequence, each a Graph (got Graph(num_nodes=3"),
        ({"graphs": [RING, 3]}, "graphs must be a sequence, each a Graph (got [Graph("),
        ({"graphs": np.zeros(3)}, "graphs must be a sequence, each a Graph (got ndarray of shape"),
        ({"pairs": {1, 2}}, "pairs must be an array or None (got {1, 2})"),
        ({"pairs": "01"}, "pairs must be an array or None (got '01')"),
        ({"weights": {"a": "x"}}, "weights must be a mapping from text to a number or None"),
        ({"ends": ("a",)}, "ends must be a tuple of (text, text) (got ('a',))"),
        ({"path": 3}, "path must be a path (got 3)"),
        ({"rng": None}, "rng must be an integer or a Generator (got None)"),
        ({"progress": 3}, "progress must be a function or None (got 3)"),
        ({"unseen": np.zeros(2)}, "unseen must be a tensor or None (got ndarray of shape [2])"),
    ],
)
def test_checked_names_the_parameter_and_its_kinds(arguments, message):
    with pytest.raises(PGNNError) as raised:
        _called(**arguments)
    assert str(raised.value).startswith(message)
    assert raised.value.worded({next(iter(arguments)): "--flag"}.get).startswith("--flag must be ")


def test_checked_looks_at_arguments_without_a_name_too():
    assert _called(1, 0.5, 3, 4) == "called"
    with pytest.raises(PGNNError, match=r"^share must be a number \(got None\)$"):
        _called(1, None)
    with pytest.raises(PGNNError, match=r"^more must be an integer \(got 'x'\)$"):
        _called(1, 0.5, 3, "x")


def test_checked_leaves_a_wrong_call_to_python():
    with pytest.raises(TypeError, match="unexpected keyword"):
        _called(nonsense=1)


def test_checked_class_checks_what_it_is_made_of_and_replaced_by():
    @checks.checked
    @dataclasses.dataclass(frozen=True)
    class Size:
        width: int

    assert Size(3).width == 3
    with pytest.raises(PGNNError, match="width must be an integer"):
        Size("x")
    with pytest.raises(PGNNError, match="width must be an integer"):
        dataclasses.replace(Size(3), width=None)


class Unshowable:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize("value", ["x" * 10**6, Unshowable(), "\x1b[2J", list(range(10**5))])
def test_values_are_shown_in_few_words_whatever_they_are(value):
    text = checks.shown(value)
    assert len(text) <= 80
    assert text.isprintable()


def test_numbers_refuses_what_is_ragged():
    assert checks.numbers("x", [1, 2]).tolist() == [1.0, 2.0]
    with pytest.raises(PGNNError, match="x must be an array of numbers"):
        checks.numbers("x", [[1, 2], [3]])


@pytest.mark.parametrize("width", [0, 2.5, 2**40])
def test_channels_are_positive_and_fit_the_memory(width):
    checks.channels(in_channels=3, out_channels=4)
    with pytest.raises(PGNNError, match="in_channels"):
        checks.channels(in_channels=width, out_channels=4)


class NoPath:
    def __fspath__(self):
        return 7


@pytest.mark.parametrize("path", ["a\0b", "a" * 300, "\ud800", Path("b" * 300), NoPath()])
def test_what_cannot_be_a_path_is_refused_before_the_system_sees_it(path):
    @checks.checked
    def read(path: str | Path, folder: str | None = None) -> Any:
        return path, folder

    with pytest.raises(PGNNError, match=r"^path must be a path \(got "):
        read(path)
    assert read("edges.csv", "a" * 300) == ("edges.csv", "a" * 300)  # any text


@pytest.mark.parametrize("kind", [UserList, deque, lambda items: memoryview(bytes(items))])
def test_items_of_every_sequence_are_checked(kind):
    @checks.checked
    def join(parts: Sequence[Graph]) -> int:
        return len(parts)

    with pytest.raises(PGNNError, match="parts must be a sequence, each a Graph"):
        join(kind([1]))


def test_integers_of_hundreds_of_digits_are_no_numbers():
    for value in (10**400, -(10**5000)):
        with pytest.raises(PGNNError, match="scale must be a finite number"):
            checks.number("scale", value)
        with pytest.raises(PGNNError, match=r"rows must be an integer \(got"):
            pgnn.datasets.grid(value, 2)


def test_small_integers_of_numpy_do_not_overflow():
    assert pgnn.datasets.grid(np.uint8(200), np.uint8(2)).num_nodes == 400
    assert pgnn.datasets.communities(np.uint8(20), np.uint8(20), rng=0).num_nodes == 400


def test_tensors_that_no_kernel_can_read_are_refused():
    decoder, z = pgnn.nn.DotDecoder(), torch.ones(3, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        odd = [torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), z.to_sparse_csr()]
    for pairs in odd:
        with pytest.raises(PGNNError, match=r"pairs must be a tensor \(got .*; make it dense"):
            decoder(z, pairs)
