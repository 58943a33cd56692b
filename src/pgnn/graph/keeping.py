"""What was computed about a graph, kept beside it as long as the graph lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from pgnn.graph.graph import Graph

Value = TypeVar("Value")

MAX_NODES = 1 << 21  # what is kept takes memory per node: of larger graphs nothing is kept

_kept: dict[int, dict[str, tuple[object, Any]]] = {}


def keep(graph: Graph, name: str, make: Callable[[], Value], *, besides: object = None) -> Value:
    """Return what `make` returns, which is called once per graph and name if the graph is not huge.

    Graphs are frozen, so a value that is computed from the graph alone stays true.

    Args:
        graph: The graph that the value is about.
        name: What the value is.
        make: Computes the value.
        besides: What the value depends on besides the graph; the value of another is forgotten.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2)])
        >>> keep(path, "doctest", lambda: path.num_edges), keep(path, "doctest", lambda: 0)
        (2, 2)
    """
    if graph.num_nodes > MAX_NODES:
        return make()
    values = _kept.get(id(graph))
    if values is None:
        values = _kept[id(graph)] = {}
        weakref.finalize(graph, _kept.pop, id(graph), None)
    if name not in values or values[name][0] != besides:
        values.pop(name, None)  # not both at once: they may be large
        values[name] = besides, make()
    value: Value = values[name][1]
    return value


def is_kept(graph: Graph, name: str) -> bool:
    """Return whether a value is there already."""
    return name in _kept.get(id(graph), ())
