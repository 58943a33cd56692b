"""Sides: the two kinds of nodes that links are asked about, such as customers and products.

A graph with sides has links in question only between a node of the left side and one of the right:
negatives, heuristics, candidates and metrics keep to such pairs. All edges stay visible.

Two colours alone do not make sides: a tree or a grid of streets has two colours as well. What tells
a shop from a grid is its table: there, customers stand in one column and products in the other, and
no id stands in both. `sides_of_columns` follows that rule, and `sides_of_types` what the user says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.arrays import occurrences
from pgnn.graph.columns import plain_name

LEFT_RIGHT = ("left", "right")  # sides of a table without names
LEAST_EDGES = 30  # of a table whose columns are recognised as two sides
LEAST_NODES = 5  # of each side
_MOST_LISTED = 8  # types that an error lists


@dataclass(frozen=True, eq=False, repr=False)
class Sides:
    """Which nodes are on the left side and which on the right; a node may be on neither.

    Either no node is on both sides, or both are the same nodes: then links are asked about between
    nodes of one type.

    Attributes:
        left: Whether each node is on the left side, bool `[num_nodes]`. The array is read-only.
        right: Whether each node is on the right side.
        names: What the sides are called.

    Example:
        >>> shop = Sides(np.array([True, False, False]), np.array([False, True, True]), ("c", "p"))
        >>> shop.contain(np.array([(0, 1), (1, 2), (2, 0)])).tolist(), shop.num_pairs
        ([True, False, True], 2)
    """

    left: NDArray[np.bool_]
    right: NDArray[np.bool_]
    names: tuple[str, str]

    def __post_init__(self) -> None:
        for side in ("left", "right"):
            array = np.array(getattr(self, side), dtype=bool)
            array.setflags(write=False)
            object.__setattr__(self, side, array)
        if self.left.ndim != 1 or self.left.shape != self.right.shape:
            raise PGNNError(
                "both sides must have one truth value per node "
                f"(got shapes {list(self.left.shape)} and {list(self.right.shape)})"
            )
        if not (self.left.any() and self.right.any()):
            empty = self.names[0 if not self.left.any() else 1]
            raise PGNNError(Parameter("between"), f": no node is of type {empty!r}")
        if (self.left & self.right).any() and not self.same:
            raise PGNNError("a node cannot be on both sides, unless both are the same nodes")

    @cached_property
    def same(self) -> bool:
        """Whether both sides are the same nodes."""
        return bool(np.array_equal(self.left, self.right))

    @cached_property
    def left_nodes(self) -> NDArray[np.int64]:
        """The nodes of the left side, ascending."""
        return np.flatnonzero(self.left)

    @cached_property
    def right_nodes(self) -> NDArray[np.int64]:
        """The nodes of the right side, ascending."""
        return np.flatnonzero(self.right)

    @cached_property
    def num_pairs(self) -> int:
        """How many unordered pairs are across the sides."""
        count = len(self.left_nodes)
        return count * (count - 1) // 2 if self.same else count * len(self.right_nodes)

    def contain(self, pairs: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return whether each pair, in either order, is of a left and a right node, `[m]`."""
        u, v = pairs[:, 0], pairs[:, 1]
        return np.asarray((self.left[u] & self.right[v]) | (self.right[u] & self.left[v]))

    def left_first(self, pairs: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return pairs with the left node first; with the same nodes on both sides, as they are."""
        turned = pairs.astype(np.int64)
        if not self.same:
            swapped = self.right[turned[:, 0]] & self.left[turned[:, 1]]
            turned[swapped] = turned[swapped, ::-1]
        return turned

    def opposite(self, node: int) -> NDArray[np.int64]:
        """Return the nodes of the other side; none for a node that is on no side."""
        if self.left[node]:
            return self.right_nodes
        return self.left_nodes if self.right[node] else self.left_nodes[:0]

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes and names."""
        if not isinstance(other, Sides):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.left, other.left)
            and np.array_equal(self.right, other.right)
        )

    def __hash__(self) -> int:
        return hash((self.names, len(self.left_nodes), len(self.right_nodes)))

    def __repr__(self) -> str:
        (left, right), counts = self.names, (len(self.left_nodes), len(self.right_nodes))
        return f"Sides({left}={counts[0]}, {right}={counts[1]})"


def sides_of_columns(
    pairs: NDArray[np.integer[Any]],
    num_nodes: int,
    names: tuple[str, str] = LEFT_RIGHT,
) -> Sides | None:
    """Recognise two kinds of nodes by the two columns of a table of edges.

    They are two sides if no node stands in both columns, there are at least 30 rows and 5 nodes of
    each side, and in each column some node stands more than once. A tree or a grid, which has two
    colours too, has nodes that stand in both columns.

    Args:
        pairs: Nodes of both columns, row by row, `[m, 2]`.
        num_nodes: Number of nodes; a node that no row names is on neither side.
        names: What the columns are called.

    Returns:
        The sides, or None where there is one kind of node.

    Example:
        >>> buys = np.array([(c, 10 + p) for c in range(10) for p in range(6) if (c + p) % 2])
        >>> sides_of_columns(buys, 16, ("customer", "product"))
        Sides(customer=10, product=6)
        >>> sides_of_columns(np.array([(v, v + 1) for v in range(40)]), 41)
    """
    counts = [occurrences(pairs[:, place], num_nodes) for place in (0, 1)]
    left, right = counts[0] > 0, counts[1] > 0
    enough = len(pairs) >= LEAST_EDGES and min(left.sum(), right.sum()) >= LEAST_NODES
    if not enough or (left & right).any() or min(count.max() for count in counts) < 2:
        return None
    return Sides(left, right, names)


def sides_of_types(types: ArrayLike, between: Sequence[str] | None = None) -> Sides:
    """Make sides of the types of nodes.

    Args:
        types: The type of each node, words or numbers, `[num_nodes]`; empty where it is unknown.
        between: The types of the left and of the right side, which may be the same; by default the
            two that there are, in the order of their first nodes.

    Raises:
        PGNNError: If there is no such type, or there are not two and none were chosen.

    Example:
        >>> sides_of_types(["reader", "book", "book", "shop"], ("reader", "book"))
        Sides(reader=1, book=2)
    """
    words = checks.numbers("types", types, None).astype(str)
    kinds, first = np.unique(words, return_index=True)
    kinds = kinds[np.argsort(first)]
    kinds = kinds[kinds != ""]
    listed = ", ".join(kinds[:_MOST_LISTED].tolist()) + ", ..." * (len(kinds) > _MOST_LISTED)
    if between is None:
        if len(kinds) != 2:
            raise PGNNError(
                f"the nodes are of {len(kinds)} types ({listed}); say which two links are between "
                "with ", Parameter("between"),
            )  # fmt: skip
        between = kinds.tolist()
    left, right = as_between(between)
    for name in (left, right):
        if name not in kinds:
            raise PGNNError(
                Parameter("between"), f": there is no type {name!r}; there are {listed}"
            )
    return Sides(words == left, words == right, (left, right))


def sides_of_table(
    pairs: NDArray[np.integer[Any]],
    num_nodes: int,
    *,
    columns: tuple[str, str] | None = None,
    types: ArrayLike | None = None,
    between: str | Sequence[str] | None = None,
) -> Sides | None:
    """Decide which two kinds of nodes the links of a table of edges are between.

    - With `between`, they are the types of these names or, without types, the two columns: a name
      stands for a column that is called so or begins so (`customer` for `customer_id`); of a table
      without names, for its first and second column. "all" stands for any two nodes.
    - With two types alone, they are these, if every edge leads from one to the other.
    - With neither, `sides_of_columns` decides.

    Args:
        pairs: Nodes of both columns, row by row, `[m, 2]`.
        num_nodes: Number of nodes.
        columns: What the columns are called; None for a file without columns.
        types: The type of each node, where that is known, `[num_nodes]`.
        between: What the user said.

    Raises:
        PGNNError: If `between` names no types or columns, or a node stands in both columns.

    Example:
        >>> buys = np.array([(0, 2), (1, 2), (1, 3)])
        >>> names = ("customer_id", "product_id")
        >>> sides_of_table(buys, 4, columns=names)
        >>> sides_of_table(buys, 4, columns=names, between="product,customer")
        Sides(product=2, customer=2)
    """
    if between == "all":
        return None
    if types is not None:
        if between is not None:
            return sides_of_types(types, as_between(between))
        if len(set(np.asarray(types).astype(str).tolist()) - {""}) != 2:
            return None
        sides = sides_of_types(types)
        return sides if len(pairs) and sides.contain(pairs).all() else None
    if between is None:
        return None if columns is None else sides_of_columns(pairs, num_nodes, columns)
    names = as_between(between)
    left, right = (occurrences(pairs[:, place], num_nodes) > 0 for place in (0, 1))
    if (left & right).any():
        raise PGNNError(
            Parameter("between"), f": {np.count_nonzero(left & right):,} ids stand in both columns,"
            " so the columns do not tell two kinds of nodes; give ", Parameter("type_column"),
            ", or, if they are different nodes, write different ids",
        )  # fmt: skip
    if columns is not None and not all(map(str.isdecimal, columns)):
        if all(map(_stands_for, names, columns[::-1])):
            left, right = right, left
        elif not all(map(_stands_for, names, columns)):
            raise PGNNError(
                Parameter("between"), f": the columns are called {columns[0]!r} and {columns[1]!r} "
                f"(got {','.join(names)!r})",
            )  # fmt: skip
    return Sides(left, right, names)


def _stands_for(name: str, column: str) -> bool:
    """Whether a column is called so, or begins so; case and punctuation do not count."""
    return plain_name(column).startswith(plain_name(name))


def as_between(between: object) -> tuple[str, str]:
    """Return the two names of `--between LEFT,RIGHT`.

    Raises:
        PGNNError: If they are not two names.

    Example:
        >>> as_between("customer, product")
        ('customer', 'product')
    """
    parts = between.split(",") if isinstance(between, str) else between
    if isinstance(parts, Sequence):
        names = [str(part).strip() for part in parts]
        if len(names) == 2 and all(names):
            return names[0], names[1]
    raise PGNNError(
        Parameter("between"), f" must be two names, such as customer,product (got {between!r})"
    )
