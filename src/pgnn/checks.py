"""Checks of single arguments, each with one message that names the parameter.

`checked` reads the annotations of a public function, and refuses arguments of another kind at its
door. What a value must be besides, the function itself checks.
"""

from __future__ import annotations

import ast
import math
import os
import reprlib
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pgnn.errors import Parameter, PGNNError

MAX_LAYERS = 1000  # no model has more, and each takes memory


def positive_integer(name: str, value: Any) -> int:
    """Return a whole number of at least 1.

    Raises:
        PGNNError: If it is anything else; numpy's integers are integers, True is not.

    Example:
        >>> positive_integer("top", 3)
        3
    """
    return integer(name, value, at_least=1)


def integer(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> int:
    """Return a whole number of at least `at_least`, and of at most `at_most` if that is set."""
    wrong = isinstance(value, bool) or not isinstance(value, int | np.integer)
    if wrong or value < at_least:
        kind = "a positive integer" if at_least == 1 else f"an integer of at least {at_least}"
        raise PGNNError(Parameter(name), f" must be {kind} (got {shown(value)})")
    if at_most is not None and value > at_most:
        raise PGNNError(Parameter(name), f" must be at most {at_most:,} (got {shown(value)})")
    return int(value)


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    real = int | float | np.integer | np.floating
    try:
        finite = float(value) if isinstance(value, real) else math.nan
    except OverflowError:  # an integer of hundreds of digits
        finite = math.inf
    if isinstance(value, bool) or not math.isfinite(finite):
        raise PGNNError(Parameter(name), f" must be a finite number (got {shown(value)})")
    return finite


def share(name: str, value: Any) -> float:
    """Return a number above 0 and below 1."""
    checked = number(name, value)
    if not 0 < checked < 1:
        raise PGNNError(Parameter(name), f" must be above 0 and below 1 (got {checked:g})")
    return checked


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return a name that is among the choices."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise PGNNError(Parameter(name), f" must be one of {', '.join(known)} (got {value!r})")
    return value


def true_or_false(name: str, value: Any) -> bool:
    """Return a truth value; numpy's are truth values, 0 and 1 are not."""
    if not isinstance(value, bool | np.bool_):
        raise PGNNError(Parameter(name), f" must be True or False (got {value!r})")
    return bool(value)


def as_generator(rng: Any) -> np.random.Generator:
    """Return a generator of a seed, or the generator that was passed."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(integer("rng", rng, at_least=0))


def fits_memory(name: str, value: Any, num_bytes: int) -> None:
    """Refuse what needs more memory than there is, before the machine looks for it.

    Args:
        name: The parameter to make smaller.
        value: What was passed for it.
        num_bytes: How much the work needs at least.
    """
    if num_bytes > total_memory():
        raise PGNNError(
            Parameter(name),
            f" = {value if isinstance(value, str) else shown(value)} needs "
            f"{shown(-(-num_bytes // 2**30))} GiB of memory, and this machine has "
            f"{total_memory() / 2**30:,.1f}; use less",
        )


def numbers(name: str, value: Any, dtype: Any = np.float64) -> np.ndarray[Any, Any]:
    """Return an array of numbers of some type; what is ragged or no number is refused."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(value, dtype=dtype)
    except NO_ARRAY as error:
        raise PGNNError(Parameter(name), f" must be an array of numbers ({error})") from error


def channels(**widths: Any) -> None:
    """Refuse widths of layers that are no positive integers, or need more memory than there is."""
    largest = {name: integer(name, width, at_least=1) for name, width in widths.items()}
    name = max(largest, key=lambda name: largest[name])
    others = [width for other, width in largest.items() if other != name]
    fits_memory(name, largest[name], 8 * largest[name] * max(others, default=largest[name]))


NO_ARRAY = (TypeError, ValueError, RuntimeError, OverflowError, MemoryError)
"""What `np.asarray` raises for a value that is no array; RuntimeError is of tensors."""


@cache
def total_memory() -> int:
    """Return how many bytes this process may use at most: the machine's, or its container's."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on this system
        return 1 << 40
    with suppress(OSError, ValueError):  # no container, or "max"
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    with suppress(ImportError):  # not on this system
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        total = total if limit == resource.RLIM_INFINITY else min(total, limit)
    return total


# ---------------------------------------------------------------------- kinds of arguments

_Checked = TypeVar("_Checked", bound=Callable[..., Any])


def checked(function: _Checked) -> _Checked:
    """Let a function, or the constructor of a class, refuse arguments of a wrong kind.

    The annotations say which kinds are right; they are read when the function is first called.
    numpy's numbers are numbers, True is none.

    Raises:
        PGNNError: When it is called, if an argument is of another kind.

    Example:
        >>> @checked
        ... def double(count: int) -> int:
        ...     return 2 * count
        >>> double("x")
        Traceback (most recent call last):
        pgnn.errors.PGNNError: count must be an integer (got 'x')
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)  # type: ignore[misc]
        return function
    kinds: dict[str, Kind] = {}
    tests: dict[str, _Test] = {}
    in_order: list[_Test] = []
    rest: list[_Test] = []

    def read() -> None:
        kinds.update(kinds_of(function))
        tests.update({name: kind.holds for name, kind in kinds.items()})
        in_order.extend(list(tests.values())[: function.__code__.co_argcount])
        if function.__code__.co_flags & 0x04:  # *args, all of one kind
            rest.append(tests[list(tests)[-1]])

    def refuse(args: Any, kwargs: Any) -> None:
        names = [*kinds][: len(in_order)] + [[*kinds][-1]] * (len(args) - len(in_order))
        for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
            if name in kinds and not tests[name](value):
                kind = _either(kinds[name].words)
                hint = ""
                if kind == "a tensor":
                    hint = "; make it dense" if _is_a("Tensor", value) else "; use torch.as_tensor"
                raise PGNNError(Parameter(name), f" must be {kind} (got {shown(value)}){hint}")

    @wraps(function)
    def door(*args: Any, **kwargs: Any) -> Any:
        if not tests:
            read()
        for test, value in zip(in_order, args):  # noqa: B905 - defaults are not tested
            if not test(value):
                refuse(args, kwargs)
        for name in kwargs:
            if name in tests and not tests[name](kwargs[name]):
                refuse(args, kwargs)
        if rest and not all(map(rest[0], args[len(in_order) :])):
            refuse(args, kwargs)
        return function(*args, **kwargs)

    return typing.cast("_Checked", door)


_Test = Callable[[Any], bool]


class Kind(NamedTuple):
    """What an annotation lets in, and how a message calls it."""

    holds: _Test
    words: tuple[str, ...]


def kinds_of(function: Callable[..., Any]) -> dict[str, Kind]:
    """Return the kind of every parameter of a function; those without annotation are anything."""
    space = function.__globals__
    hints = getattr(function, "__annotations__", {})
    code = function.__code__
    more = bool(code.co_flags & 0x04)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + more]
    return {name: kind_of(hints[name], space) if name in hints else _ANYTHING for name in names}


def kind_of(hint: Any, space: Mapping[str, Any]) -> Kind:
    """Return the kind that an annotation stands for.

    Args:
        hint: The annotation, as text or as an object.
        space: What names in its text mean. A class that only type checkers import is not there,
            and then the class of a value is known by its name: nothing is imported for a check.
    """
    if isinstance(hint, str):
        return _kind_of_text(hint, space)
    if isinstance(hint, typing.ForwardRef):
        return _kind_of_text(hint.__forward_arg__, space)
    if hint is None or hint is type(None):
        return _NONE
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return _one_of_kind(typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        return _union([kind_of(part, space) for part in typing.get_args(hint)])
    if isinstance(hint, TypeVar):
        return _ANYTHING
    whole = origin or hint
    parts = [kind_of(part, space) for part in typing.get_args(hint) if not _is_open(part)]
    return _of_class(getattr(whole, "__name__", str(whole)), whole, parts)


def _is_open(part: Any) -> bool:
    """Return whether a part of an annotation is `...` or a list, as in `Callable[..., int]`."""
    return part is Ellipsis or isinstance(part, list)


def _kind_of_text(text: str, space: Mapping[str, Any]) -> Kind:
    key = (text, space.get("__name__", ""))
    if key not in _read:
        _read[key] = _kind_of_node(ast.parse(text, mode="eval").body, space)
    return _read[key]


_read: dict[tuple[str, str], Kind] = {}


def _kind_of_node(node: ast.expr, space: Mapping[str, Any]) -> Kind:
    """Return the kind of a piece of an annotation's text."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):  # a name in quotes
            return _kind_of_text(node.value, space)
        return _NONE
    if isinstance(node, ast.BinOp):
        return _union([_kind_of_node(node.left, space), _kind_of_node(node.right, space)])
    if isinstance(node, ast.Subscript):
        whole = ast.unparse(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if whole == "Literal":
            return _one_of_kind([ast.literal_eval(part) for part in inner])
        if whole.endswith(("NDArray", "PathLike", "Callable", "type")):
            inner = []
        parts = [
            _kind_of_node(part, space)
            for part in inner
            if not (isinstance(part, ast.Constant) and part.value is Ellipsis)
        ]
        return _of_class(whole.rpartition(".")[2], _value_of(node.value, space), parts)
    value = _value_of(node, space)
    module, _, name = ast.unparse(node).rpartition(".")
    if module == "nx" and value is None:  # another Graph than ours
        return Kind(lambda got: _is_a("Graph", got, "networkx"), ("a networkx graph",))
    if value is None or isinstance(value, type) or name in _KINDS:
        return _of_class(name, value, [])
    return kind_of(value, space)  # another name for a longer annotation


def _value_of(node: ast.expr, space: Mapping[str, Any]) -> Any:
    """Return what a name, with dots or without, stands for; None if it cannot be told."""
    if isinstance(node, ast.Attribute):
        return getattr(_value_of(node.value, space), node.attr, None)
    name = typing.cast("ast.Name", node).id
    return space.get(name, getattr(space.get("__builtins__"), name, None))


def _of_class(name: str, value: Any, parts: Sequence[Kind]) -> Kind:
    """Return the kind of a class, of which only the name may be known, and of what it holds."""
    if name in _KINDS:
        return _KINDS[name]
    if name in _HOLDERS:
        return _HOLDERS[name](parts)
    if value is Any:
        return _ANYTHING
    words = (f"an {name}" if name[0] in "AEIOU" else f"a {name}",)
    if getattr(value, "_is_protocol", False):  # whoever can do what it says
        needed = [part for part in dir(value) if not part.startswith("_")]
        needed += [part for part in value.__annotations__ if part not in needed]
        return Kind(lambda got: all(hasattr(got, part) for part in needed), words)
    if isinstance(value, type):
        return Kind(lambda got: isinstance(got, value), words)
    return Kind(lambda got: _is_a(name, got), words)


def _is_a(name: str, got: Any, library: str = "") -> bool:
    """Return whether a value is of a class of this name, which need not be imported."""
    kind: Any = type(got)
    return _has_base(kind, name, library)


@cache
def _has_base(kind: Any, name: str, library: str) -> bool:
    return any(
        base.__name__ == name and base.__module__.startswith(library) for base in kind.__mro__
    )


def _union(kinds: Sequence[Kind]) -> Kind:
    text, path = _KINDS["str"], _KINDS["Path"]
    if text in kinds and (path in kinds or _PATH in kinds):  # a path, but not any text
        kinds = [_PATH, *(kind for kind in kinds if kind not in (text, path, _PATH))]
    tests = [kind.holds for kind in kinds]
    if len(tests) == 2:  # most are
        first, second = tests
        return Kind(lambda got: first(got) or second(got), _joined(kinds))
    return Kind(lambda got: any(test(got) for test in tests), _joined(kinds))


def _joined(kinds: Sequence[Kind]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for kind in kinds for word in kind.words))


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _one_of_kind(choices: Iterable[Any]) -> Kind:
    known = tuple(choices)
    return Kind(
        lambda got: isinstance(got, _NAMES) and got in known,
        ("one of " + ", ".join(map(str, known)),),
    )


def _sequence(parts: Sequence[Kind]) -> Kind:
    test, words = _first(parts)

    def holds(got: Any) -> bool:
        if isinstance(got, _SEQUENCES):
            return test is None or all(map(test, got))
        if isinstance(got, np.ndarray):  # whose items are all of one kind
            return got.ndim > 0 and (test is None or (len(got) > 0 and test(got[0])))
        if isinstance(got, range):
            return test is None or all(map(test, got[:1]))
        if not isinstance(got, Sequence) or isinstance(got, _TEXTS):
            return False
        return test is None or all(map(test, got))

    return Kind(holds, (f"a sequence{words}",))


def _iterable(parts: Sequence[Kind]) -> Kind:
    test, words = _first(parts)

    def holds(got: Any) -> bool:
        if isinstance(got, np.ndarray):
            return got.ndim > 0 and (test is None or all(map(test, got[:1])))
        if isinstance(got, Sequence) and not isinstance(got, _TEXTS):  # can be read twice
            return test is None or all(map(test, got))
        return hasattr(type(got), "__iter__") and not isinstance(got, (*_TEXTS, type))

    return Kind(holds, (f"a sequence{words}",))


def _list(parts: Sequence[Kind]) -> Kind:
    test, words = _first(parts)
    return Kind(
        lambda got: isinstance(got, list) and (test is None or all(map(test, got))),
        (f"a list{words}",),
    )


def _tuple(parts: Sequence[Kind]) -> Kind:
    tests = [kind.holds for kind in parts]

    def holds(got: Any) -> bool:
        if not isinstance(got, tuple):
            return False
        if len(tests) < 2:  # of one kind, of any length
            return all(test(value) for test in tests for value in got)
        return len(got) == len(tests) and all(
            test(value) for test, value in zip(tests, got, strict=True)
        )

    held = ", ".join(_either(kind.words) for kind in parts)
    return Kind(holds, (f"a tuple of ({held})",))


def _mapping(parts: Sequence[Kind]) -> Kind:
    def holds(got: Any) -> bool:
        if not isinstance(got, Mapping) or hasattr(type(got), "shape"):  # of scipy: a matrix
            return False
        if len(parts) < 2:
            return True
        key, value = parts[0].holds, parts[1].holds
        return all(key(name) and value(held) for name, held in got.items())

    held = [_either(kind.words) for kind in parts]
    return Kind(holds, (f"a mapping from {held[0]} to {held[1]}" if held else "a mapping",))


def _first(parts: Sequence[Kind]) -> tuple[_Test | None, str]:
    """Return the test of what a sequence holds, None for anything, and its words."""
    if not parts or parts[0] is _ANYTHING:
        return None, ""
    return parts[0].holds, f", each {_either(parts[0].words)}"


# Tuples: `int | float` would be made anew at every call, and takes longer than all else here.
_FLOATS = (float, np.floating)
_LARGEST = 1 << 1000  # integers beyond it are no floats either, and cannot be printed
_ARRAYS = (np.ndarray, list, tuple, int, float, np.generic, range)
_PATHS = (str, os.PathLike)
_SEQUENCES = (list, tuple)
_TEXTS = (str, bytes)
_NAMES = (str, int)
_LONGEST_NAME = 255  # bytes of a file's name, on all common systems


def _is_integer(got: Any) -> bool:
    if isinstance(got, int):
        return not isinstance(got, bool) and -_LARGEST < got < _LARGEST
    return isinstance(got, np.integer)


def _is_number(got: Any) -> bool:
    return type(got) is float or isinstance(got, _FLOATS) or _is_integer(got)


def _is_truth(got: Any) -> bool:
    return got is True or got is False or isinstance(got, np.bool_)


def _is_array_like(got: Any) -> bool:
    if isinstance(got, _ARRAYS):
        return True
    return hasattr(type(got), "__array__")  # also of torch, pandas and polars


def is_path(got: Any) -> bool:
    """Return whether a value can be the path of a file; there need not be one."""
    if not isinstance(got, _PATHS):
        return False
    try:
        name = os.fsencode(got)
    except (TypeError, ValueError):  # of a class of the user's, or no valid Unicode
        return False
    return b"\0" not in name and max(map(len, name.split(b"/"))) <= _LONGEST_NAME


def is_dense_tensor(got: Any) -> bool:
    """Return whether a value is a tensor whose numbers lie in one block of memory."""
    if not _is_a("Tensor", got):
        return False
    dense = sys.modules["torch"].strided  # whoever has a tensor has imported it
    return bool(got.layout is dense and not got.is_nested and not got.is_quantized)


_ANYTHING = Kind(lambda got: True, ("anything",))  # noqa: ARG005 - whatever it is
_NONE = Kind(lambda got: got is None, ("None",))
_PATH = Kind(is_path, ("a path",))
_ARRAY = Kind(_is_array_like, ("an array",))
_KINDS = {
    "int": Kind(_is_integer, ("an integer",)),
    "float": Kind(_is_number, ("a number",)),
    "bool": Kind(_is_truth, ("True", "False")),
    "str": Kind(lambda got: isinstance(got, str), ("text",)),
    "Any": _ANYTHING,
    "object": _ANYTHING,
    "ArrayLike": _ARRAY,
    "NDArray": _ARRAY,
    "Path": Kind(lambda got: isinstance(got, Path) and is_path(got), ("a Path",)),
    "PathLike": _PATH,
    "StrPath": _PATH,
    "Callable": Kind(callable, ("a function",)),
    "Tensor": Kind(is_dense_tensor, ("a tensor",)),
    # What these may be is long; the one function that reads them says so.
    "Frame": _ANYTHING,
    "GraphLike": _ANYTHING,
    "sparray": _ANYTHING,
}
_HOLDERS = {
    "Sequence": _sequence,
    "Iterable": _iterable,
    "list": _list,
    "tuple": _tuple,
    "Mapping": _mapping,
    "dict": _mapping,
}


def shown(value: Any) -> str:
    """Return a value in few words, whatever it is, for a message."""
    kind = type(value).__name__
    try:
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape:
            return f"{kind} of shape {list(shape)}"
        text = _short.repr(value)
    except Exception:  # of a class of the user's
        text = ""
    article = "an" if kind[:1] in "aeiouAEIOU" else "a"
    return text if 0 < len(text) <= 80 and text.isprintable() else f"{article} {kind}"


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60
