"""Node indices for the ids that edges name: at once, or block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgnn.graph.arrays import blocks_of
from pgnn.graph.columns import positions
from pgnn.graph.growing import GrowingArray

if TYPE_CHECKING:
    import polars as pl


def number_nodes(source: pl.Series, target: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
    """Number the ids of edges: integers ascending, strings in the order of the file.

    Args:
        source: First ids of the edges.
        target: Second ids, of the same kind as `source`.

    Returns:
        Pairs of node indices `[num_edges, 2]`, and the id of each node.
    """
    numbers = NodeNumbers()
    numbers.add(source, target)
    return numbers.taken()


class NodeNumbers:
    """Ids of edges that come block by block, and are numbered as `number_nodes` does.

    Integers are kept in 32 bits as long as they fit. Once a block has strings, an id is the number
    of a text that is kept once.

    Example:
        >>> import polars as pl
        >>> numbers = NodeNumbers()
        >>> numbers.add(pl.Series([7, 5]), pl.Series([5, 9]))
        >>> numbers.add(pl.Series(["x"]), pl.Series(["5"]))
        >>> pairs, ids = numbers.taken()
        >>> pairs.tolist(), ids.to_list()
        ([[0, 1], [1, 2], [3, 1]], ['7', '5', '9', 'x'])
    """

    def __init__(self) -> None:
        self._ends = GrowingArray(np.int32, (2,))
        self._texts: _Texts | None = None

    @property
    def are_integers(self) -> bool:
        """Whether all ids so far are integers."""
        return self._texts is None

    def add(self, source: pl.Series, target: pl.Series) -> None:
        """Add the ids of some edges, Int64 or String, none missing."""
        import polars as pl

        block = np.empty((len(source), 2), dtype=np.int64)
        if self._texts is None and not source.dtype == target.dtype == pl.Int64:
            self._texts = self._as_texts()
        for place, ids in enumerate((source, target)):
            block[:, place] = ids.to_numpy() if self._texts is None else self._texts.codes(ids)
        if self._ends.dtype != np.int64 and not _fits(block, np.int32):
            self._ends.widen(np.int64)
        self._ends.append(block)

    def taken(self) -> tuple[NDArray[np.int32], pl.Series]:
        """Return pairs of node indices `[num_edges, 2]` and the id of each node, and begin anew."""
        ends, texts = self._ends.taken(), self._texts
        self.__init__()  # type: ignore[misc]
        return (
            _number_integers(ends) if texts is None else in_order(ends, texts.all(), overwrite=True)
        )

    def _as_texts(self) -> _Texts:
        """Write all integers so far as texts."""
        import polars as pl

        texts, ends = _Texts(), self._ends.rows
        codes = np.empty(ends.shape, dtype=np.int32)
        for block in blocks_of(len(ends)):
            for place in (0, 1):
                codes[block, place] = texts.codes(pl.Series(ends[block, place], dtype=pl.Int64))
        self._ends = GrowingArray(np.int32, (2,))
        self._ends.append(codes)
        return texts


class _Texts:
    """Different texts, numbered in the order in which they come."""

    def __init__(self) -> None:
        import polars as pl

        self._kind = pl.Categorical(pl.Categories.random())
        self._all = pl.Series(dtype=self._kind)  # texts are kept as long as a column of their kind

    def codes(self, ids: pl.Series) -> NDArray[np.uint32]:
        """Return the number of each text."""
        import polars as pl

        return ids.cast(pl.String).cast(self._kind).to_physical().to_numpy()

    def all(self) -> pl.Series:
        """Return the texts, by their numbers."""
        return self._kind.categories.to_series()


def _fits(block: NDArray[np.int64], dtype: Any) -> bool:
    bounds = np.iinfo(dtype)
    return not block.size or (block.min() >= bounds.min and block.max() <= bounds.max)


def _number_integers(ends: NDArray[Any]) -> tuple[NDArray[np.int32], pl.Series]:
    """Number integer ids in ascending order; overwrites those of 32 bits."""
    import polars as pl

    pairs = ends if ends.dtype == np.int32 else np.empty(ends.shape, dtype=np.int32)
    low = int(ends.min()) if len(ends) else 0
    span = int(ends.max()) - low + 1 if len(ends) else 0
    if span <= 4 * len(ends) + 2**20:  # by a table of the whole range
        seen = np.zeros(span, dtype=bool)
        for block in blocks_of(len(ends)):
            seen[ends[block].astype(np.int64) - low] = True
        index = None if seen.all() else np.cumsum(seen, dtype=np.int32) - np.int32(1)
        for block in blocks_of(len(ends)):
            numbers = ends[block].astype(np.int64) - low
            pairs[block] = numbers if index is None else index[numbers]
        return pairs, pl.Series(np.flatnonzero(seen) + low, dtype=pl.Int64)
    ids = pl.Series(dtype=pl.Int64)
    for block in blocks_of(len(ends)):
        ids = pl.concat([ids, pl.Series(ends[block].ravel(), dtype=pl.Int64)]).unique()
    ids = ids.sort()
    for block in blocks_of(len(ends), len(ids)):
        part = pl.Series(ends[block].ravel(), dtype=pl.Int64)
        pairs[block] = positions(part, ids).reshape(-1, 2)
    return pairs, ids


def in_order(
    pairs: NDArray[np.int32], ids: pl.Series, *, overwrite: bool = False
) -> tuple[NDArray[np.int32], pl.Series]:
    """Number nodes that all have edges again: integers ascending, strings in the order of the file.

    Args:
        pairs: Pairs of nodes.
        ids: The id of each node.
        overwrite: Whether the pairs may be overwritten.

    Returns:
        The same, if they are in order.
    """
    import polars as pl

    keys = ids.to_numpy() if ids.dtype == pl.Int64 else _first_places(pairs, len(ids))
    if (keys[1:] > keys[:-1]).all():
        return pairs, ids
    order = np.argsort(keys)
    index = np.empty(len(ids), dtype=np.int32)
    index[order] = np.arange(len(order), dtype=np.int32)
    result = pairs if overwrite else np.empty_like(pairs)
    for block in blocks_of(len(pairs)):
        result[block] = index[pairs[block]]
    return result, ids[pl.Series(order)]


def _first_places(pairs: NDArray[np.int32], num_nodes: int) -> NDArray[np.int64]:
    """Return where each node is named first, row by row, the first before the second."""
    first = np.full(num_nodes, -1, dtype=np.int64)
    places = pairs.reshape(-1)
    for block in list(blocks_of(len(places)))[::-1]:
        # Of several places the last that is written stays: the first, from the end backwards.
        first[places[block][::-1]] = np.arange(block.stop - 1, block.start - 1, -1)
    return first
