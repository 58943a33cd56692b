"""The arrays a Graph is made of: checked, and edges sorted into rows without repeats."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.errors import Parameter, PGNNError

_LARGEST = np.iinfo(np.int64).max


MAX_ID_LENGTH = 10_000
"""The most characters of an id or a label: an array of strings is as wide as its longest."""


def as_edges(edges: ArrayLike) -> NDArray[np.integer[Any]]:
    """Return integer pairs `[num_edges, 2]`."""
    try:
        pairs = np.asarray(edges)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError(Parameter("edges"), f" must be pairs of node indices ({error})") from error
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise PGNNError(
            Parameter("edges"),
            f" must have shape [num_edges, 2] (got {list(pairs.shape)}); "
            "transpose an edge_index of shape [2, num_edges]",
        )
    if not np.issubdtype(pairs.dtype, np.integer):
        raise PGNNError(
            Parameter("edges"),
            f" must hold integer node indices (got dtype {pairs.dtype}); "
            "read_graph, from_frame and from_networkx map other ids to indices",
        )
    if pairs.dtype == np.uint64:
        if int(pairs.max()) > np.iinfo(np.int64).max:
            raise PGNNError(Parameter("edges"), f" must hold node indices (got {pairs.max()})")
        pairs = pairs.astype(np.int64)
    return pairs


def as_weights(weights: ArrayLike | None, num_edges: int) -> NDArray[np.float64] | None:
    """Return one positive finite float64 per edge, or None."""
    if weights is None:
        return None
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError(Parameter("weights"), f" must be numbers ({error})") from error
    if values.shape != (num_edges,):
        raise PGNNError(
            Parameter("weights"),
            f" must have one entry per edge, [{num_edges}] (got {list(values.shape)})",
        )
    bad = np.flatnonzero(~((values > 0) & np.isfinite(values)))
    if bad.size:
        raise PGNNError(
            Parameter("weights"),
            f" must be positive and finite (weights[{bad[0]}] = {values[bad[0]]})",
        )
    return values


def as_features(x: ArrayLike | None, num_nodes: int) -> NDArray[np.float32] | None:
    """Return finite float32 features `[num_nodes, num_features]`, or None."""
    if x is None:
        return None
    try:
        with np.errstate(over="ignore"):  # reported below as what it becomes: infinite
            features = np.array(x, dtype=np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError(
            "features ", Parameter("x"), f" must be numbers, one row per node ({error})"
        ) from error
    if features.ndim == 1:
        features = features[:, None]
    if features.ndim != 2 or features.shape[0] != num_nodes:
        raise PGNNError(
            "features ",
            Parameter("x"),
            f" must have one row per node, [{num_nodes}, num_features] "
            f"(got {list(features.shape)})",
        )
    if not np.isfinite(features).all():
        row, column = np.argwhere(~np.isfinite(features))[0]
        raise PGNNError(
            "features ",
            Parameter("x"),
            f" must be finite (x[{row}, {column}] = {features[row, column]}); "
            "fill or drop missing values first",
        )
    return features


def as_labels(
    y: ArrayLike | None, num_nodes: int
) -> tuple[NDArray[np.int64] | None, NDArray[Any] | None]:
    """Return one integer per node and, where labels are not all integers, what they stand for.

    A label may be unknown: None, NaN or an empty string. Its integer is -1, and all others then
    stand for something.

    Example:
        >>> as_labels([7, None, 3], 3)
        (array([ 1, -1,  0]), array([3, 7]))
    """
    if y is None:
        return None, None
    try:
        labels = np.asarray(y)
    except (TypeError, ValueError, RuntimeError) as error:
        raise PGNNError("labels ", Parameter("y"), f" must be one per node ({error})") from error
    if labels.shape != (num_nodes,):
        raise PGNNError(
            "labels ",
            Parameter("y"),
            f" must have one entry per node, [{num_nodes}] (got {list(labels.shape)})",
        )
    if labels.dtype == np.uint64 and labels.max(initial=0) > _LARGEST:
        raise PGNNError("labels ", Parameter("y"), f" must be below 2^63 (got {labels.max()})")
    if np.issubdtype(labels.dtype, np.integer) or labels.dtype == np.bool_:
        return labels.astype(np.int64), None
    unknown = np.array([_is_unknown(label) for label in labels.tolist()], dtype=bool)
    known = labels[~unknown]
    if labels.dtype == object and all(_is_integer(label) for label in known.tolist()):
        known = known.astype(np.int64)
    if np.issubdtype(known.dtype, np.floating):
        if not (np.abs(known) < 2.0**63).all() or not np.array_equal(known, np.round(known)):
            raise PGNNError(
                "labels ",
                Parameter("y"),
                " must be integers or strings (got fractions or infinity)",
            )
        known = known.astype(np.int64)
    is_whole = not unknown.any()
    if is_whole and known.dtype == np.int64:
        return known, None
    names, codes = np.unique(
        known if known.dtype == np.int64 else known.astype(str), return_inverse=True
    )
    integers = np.full(num_nodes, -1, dtype=np.int64)
    integers[~unknown] = codes
    return integers, names


def _is_unknown(label: Any) -> bool:
    return label is None or label == "" or (isinstance(label, float) and math.isnan(label))


def _is_integer(label: Any) -> bool:
    if isinstance(label, float):
        return label.is_integer()
    return isinstance(label, int | np.integer)


def as_node_ids(node_ids: ArrayLike | None, num_nodes: int) -> NDArray[Any]:
    """Return distinct node ids: int64, strings, or (from networkx) any hashable objects."""
    if node_ids is None:
        return np.arange(num_nodes, dtype=np.int64)
    ids = _id_array(node_ids)
    if len(ids) != num_nodes:
        raise PGNNError(
            Parameter("node_ids"),
            f" must have one entry per node, [{num_nodes}] (got [{len(ids)}])",
        )
    try:
        distinct = len(set(ids.tolist()) if ids.dtype == object else np.unique(ids))
    except TypeError as error:
        raise PGNNError(Parameter("node_ids"), f" must be hashable ({error})") from error
    if distinct != num_nodes:
        raise PGNNError(
            Parameter("node_ids"),
            f" must be all different ({num_nodes - distinct} repeat another)",
        )
    return ids


def as_written_ids(node_ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids as files hold them: int64 or strings; other objects by their `str`.

    Raises:
        PGNNError: If two ids are the same when written.
    """
    if node_ids.dtype != object:
        return node_ids
    texts = np.array([str(name) for name in node_ids])
    if len(np.unique(texts)) < len(texts):
        raise PGNNError("node ids must differ when written as text; give other ids")
    return texts


def check_lengths(longest: int, count: int) -> None:
    """Refuse ids or labels that are too long for an array of strings."""
    if longest > MAX_ID_LENGTH:
        raise PGNNError(
            f"an id or label has {longest:,} characters, and at most {MAX_ID_LENGTH:,} are allowed"
        )
    checks.fits_memory(
        "node_ids", f"{count:,} ids of up to {longest:,} characters", 8 * longest * count
    )


def _id_array(node_ids: ArrayLike) -> NDArray[Any]:
    """Return ids as int64 or strings where they are all of one of these kinds, else as objects."""
    try:
        if hasattr(type(node_ids), "__array__"):  # tensors and series hold scalars of their own
            node_ids = np.asarray(node_ids)
        if isinstance(node_ids, np.ndarray) and node_ids.ndim == 1 and node_ids.dtype != object:
            if np.issubdtype(node_ids.dtype, np.integer):
                fits = node_ids.dtype != np.uint64 or node_ids.max(initial=0) <= _LARGEST
                return node_ids.astype(np.int64 if fits else str)
            return node_ids.astype(str)
        values = list(node_ids)  # type: ignore[arg-type]
    except checks.NO_ARRAY as error:
        raise PGNNError(Parameter("node_ids"), f" must be a list of ids ({error})") from error
    if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    elif all(isinstance(value, str) for value in values):
        check_lengths(max((len(str(value)) for value in values), default=0), len(values))
        return np.array(values, dtype=str)
    ids = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # not all at once: numpy would look into tuples
        ids[place] = value
    return ids


# ---------------------------------------------------------------------- rows


Repeats = Literal["shortest", "sum"]
"""The weight of an edge that is listed more than once: the smallest, or all added up."""

REPEATS: tuple[Repeats, ...] = get_args(Repeats)


class CSR(NamedTuple):
    """Sorted rows, and how many of the source's edges are not in them."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    self_loops: int
    repeats: int


_BLOCK_EDGES = 1 << 18  # worked on at once
_WORD_BITS = 32  # of a node in a word


def blocks_of(num_rows: int, num_nodes: int = 0) -> Iterator[slice]:
    """Yield slices of rows that are worked on at once, and no fewer of them than nodes."""
    step = max(_BLOCK_EDGES, num_nodes)
    for start in range(0, num_rows, step):
        yield slice(start, min(start + step, num_rows))


def occurrences(nodes: NDArray[np.integer[Any]], num_nodes: int) -> NDArray[np.int64]:
    """Count how often each node is named.

    What `np.bincount` does, but that would make a copy of all with 64 bits.

    Args:
        nodes: Node indices, of one or more dimensions.
        num_nodes: Number of nodes.

    Example:
        >>> occurrences(np.array([[0, 2], [2, 3]], dtype=np.int32), 5).tolist()
        [1, 0, 2, 1, 0]
    """
    counts = np.zeros(num_nodes, dtype=np.int64)
    for block in blocks_of(len(nodes), num_nodes):
        counts += np.bincount(nodes[block].ravel(), minlength=num_nodes)
    return counts


def build_csr(
    pairs: NDArray[np.integer[Any]],
    weights: NDArray[np.float64] | None,
    num_nodes: int,
    directed: bool,
    repeats: Repeats = "shortest",
    *,
    overwrite: bool = False,
) -> CSR:
    """Sort pairs into rows, without self-loops, each edge once.

    An undirected pair is first turned to (small, large), so that both orientations of an edge count
    as one; the other half of the matrix is added last.

    Args:
        pairs: Node indices, one row per edge.
        weights: One number per edge, or None.
        num_nodes: Number of nodes.
        directed: Whether (u, v) and (v, u) are two edges.
        repeats: What an edge that is listed more than once weighs.
        overwrite: Whether pairs of 32 bits may be used up: their memory then serves to sort, and
            is given back as soon as it is not needed, so that no view of them may be left.
    """
    num_pairs = len(pairs)
    flags = pairs.flags
    is_ours = overwrite and pairs.dtype == np.int32 and flags.c_contiguous and flags.owndata
    scratch: NDArray[Any] = pairs if is_ours else np.empty((num_pairs, 2), dtype=np.int32)
    words, weights = _as_words(pairs, weights, directed, scratch.reshape(-1).view(np.int64))
    del pairs
    self_loops = num_pairs - len(words)
    words, values, num_repeats = _sorted_distinct(words, weights, repeats)
    del weights
    num_edges, counts = len(words), _split_words(words, num_nodes)
    del words
    # Nobody has a view of it any more, and what is behind the columns is not needed.
    scratch.resize(((num_edges + 1) // 2, 2), refcheck=False)
    indices = scratch.reshape(-1)[:num_edges]
    if directed:
        return CSR(_bounds(counts), indices.copy(), values, self_loops, num_repeats)
    return CSR(*_with_other_half(counts, indices, values), self_loops, num_repeats)


def _as_words(
    pairs: NDArray[np.integer[Any]],
    weights: NDArray[np.float64] | None,
    directed: bool,
    scratch: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Write each pair as one 64-bit word, and leave out self-loops.

    Words sort by row, then by column, in a single pass of numpy's fast sort. They are written to
    `scratch`, which may be the memory of the pairs: no word comes before its pair is read.
    """
    end = 0
    kept_weights = weights
    for block in blocks_of(len(pairs)):
        source, target = pairs[block, 0], pairs[block, 1]
        low = source if directed else np.minimum(source, target)
        high = target if directed else np.maximum(source, target)
        words = low.astype(np.int64)
        words <<= _WORD_BITS
        words |= high
        keep = source != target
        if end < block.start or not keep.all():
            words = words[keep]
            if weights is not None and kept_weights is not None:
                kept_weights = weights.copy() if kept_weights is weights else kept_weights
                kept_weights[end : end + len(words)] = weights[block][keep]
        scratch[end : end + len(words)] = words
        end += len(words)
    return scratch[:end], None if kept_weights is None else kept_weights[:end]


def _split_words(words: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
    """Put the columns of sorted words where the words begin; return the length of each row."""
    indices = words.view(np.int32)
    counts = np.zeros(num_nodes, dtype=np.int64)
    for block in blocks_of(len(words), num_nodes):
        part = words[block].copy()
        indices[block] = part & ((1 << _WORD_BITS) - 1)
        part >>= _WORD_BITS
        counts += np.bincount(part, minlength=num_nodes)
    return counts


def _bounds(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where rows of these lengths begin and end, `[len(counts) + 1]`."""
    bounds = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=bounds[1:])
    return bounds


def _with_other_half(
    counts: NDArray[np.int64], indices: NDArray[np.int32], values: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64] | None]:
    """Return the rows of a symmetric matrix, given the half above its diagonal.

    A row is its part below the diagonal and then its part above it, so nothing has to be sorted.
    """
    import scipy.sparse as sp  # takes as long to load as all else of `import pgnn`

    num_nodes = len(counts)
    data = np.ones(len(indices), dtype=np.int8) if values is None else values
    bounds = _bounds(counts)
    if len(indices) <= np.iinfo(np.int32).max:
        bounds = bounds.astype(np.int32)  # of one type with the indices, or scipy copies both
    above = sp.csr_array((data, indices, bounds), shape=(num_nodes, num_nodes))
    below = above.T.tocsr()
    counts_below = np.diff(below.indptr)
    starts = _bounds(counts + counts_below)
    whole = np.empty(2 * len(indices), dtype=np.int32)
    both = None if values is None else np.empty(2 * len(indices))
    for rows in _row_blocks(starts):
        lengths = np.stack([counts_below[rows], counts[rows]], axis=1).ravel()
        is_below = np.repeat(np.tile([True, False], rows.stop - rows.start), lengths)
        part = slice(starts[rows.start], starts[rows.stop])
        for half, is_half in ((below, is_below), (above, ~is_below)):
            entries = slice(half.indptr[rows.start], half.indptr[rows.stop])
            whole[part][is_half] = half.indices[entries]
            if both is not None:
                both[part][is_half] = half.data[entries]
    return starts, whole, both


def _row_blocks(starts: NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices of rows that have about as many entries as are worked on at once."""
    num_rows = len(starts) - 1
    low = 0
    while low < num_rows:
        high = int(np.searchsorted(starts, starts[low] + _BLOCK_EDGES, side="right")) - 1
        high = max(low + 1, min(high, num_rows))
        yield slice(low, high)
        low = high


def _sorted_distinct(
    words: NDArray[np.int64], weights: NDArray[np.float64] | None, repeats: Repeats
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None, int]:
    """Sort words in place and weights with them; keep one of each, weighing as `repeats` says."""
    if weights is None:
        words.sort()
    else:
        order = np.argsort(words, kind="stable")
        words[:] = words[order]
        weights = weights[order]
        del order
    first = np.ones(len(words), dtype=bool)
    np.not_equal(words[1:], words[:-1], out=first[1:])
    num_repeats = len(words) - int(np.count_nonzero(first))
    if num_repeats:
        if weights is not None:
            combine = np.add if repeats == "sum" else np.minimum
            weights = combine.reduceat(weights, np.flatnonzero(first))
        end = 0
        for block in blocks_of(len(words)):
            part = words[block][first[block]]
            words[end : end + len(part)] = part
            end += len(part)
        words = words[:end]
    return words, weights, num_repeats


def check_rows(indptr: Any, indices: Any, weights: Any) -> None:
    """Refuse compressed rows that are not those of a graph.

    Kernels address memory by these arrays, search rows as sorted ones, and add weights up until
    nothing gets shorter; so the arrays are looked at whenever a graph is made, by whatever way.

    Raises:
        PGNNError: If a type, a bound, the order within a row or a weight is wrong.
    """
    check_array("indptr", indptr, np.int64)
    check_array("indices", indices, np.int32)
    num_nodes = len(indptr) - 1
    if num_nodes < 1 or num_nodes > np.iinfo(np.int32).max:
        raise PGNNError(Parameter("indptr"), f" must be of 1 to 2^31 - 1 rows (got {num_nodes})")
    bounds_fit = indptr[0] == 0 and indptr[-1] == len(indices)
    if not bounds_fit or (indptr[1:] < indptr[:-1]).any():
        raise PGNNError(
            Parameter("indptr"), f" must ascend from 0 to the {len(indices)} entries of indices"
        )
    if len(indices):
        low, high = int(indices.min()), int(indices.max())
        if low < 0 or high >= num_nodes:
            raise PGNNError(
                Parameter("indices"),
                f" must lie in 0..{num_nodes - 1} (got {low if low < 0 else high})",
            )
        falls = np.flatnonzero(indices[1:] <= indices[:-1]) + 1  # only from one row to the next
        if (indptr[indptr.searchsorted(falls)] != falls).any():
            raise PGNNError(Parameter("indices"), " must ascend within each row, without repeats")
    if weights is None:
        return
    check_array("weights", weights, np.float64)
    if len(weights) != len(indices):
        raise PGNNError(
            Parameter("weights"),
            f" must have one entry per entry of indices, [{len(indices)}] (got [{len(weights)}])",
        )
    # NaN passes neither comparison.
    if len(weights) and not (weights.min() > 0 and weights.max() < np.inf):
        raise PGNNError(Parameter("weights"), " must be positive and finite")


def check_symmetric(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> None:
    """Refuse rows of an undirected graph in which an edge is there from one of its ends only.

    Rows that `symmetric` or this function has seen are not looked at again.
    """
    if id(indices) in _symmetric:
        return
    import scipy.sparse as sp

    entries = np.ones(len(indices), dtype=np.int8)
    turned = sp.csr_array((entries, indices, indptr), shape=(len(indptr) - 1,) * 2).tocsc()
    if not (np.array_equal(turned.indptr, indptr) and np.array_equal(turned.indices, indices)):
        raise PGNNError(
            Parameter("indices"),
            " must hold each edge of an undirected graph from both its ends; use from_edges, or ",
            Parameter("directed=True"),
        )
    symmetric(indices)


def symmetric(indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Seal neighbours whose rows are known to be symmetric, and remember that they are."""
    array = sealed(indices)
    key = id(array)
    _symmetric[key] = weakref.ref(array, lambda _: _symmetric.pop(key, None))
    return array


_symmetric: dict[int, weakref.ref[NDArray[np.int32]]] = {}


def check_array(name: str, array: Any, dtype: Any = None, *, ndim: int = 1) -> None:
    """Refuse what is no array of this type, in this machine's byte order, and of this dimension."""
    kind = "" if dtype is None else f" of {np.dtype(dtype)}"
    if not isinstance(array, np.ndarray):
        raise PGNNError(Parameter(name), f" must be an array{kind} (got {type(array).__name__})")
    if array.ndim != ndim or (dtype is not None and array.dtype != dtype):
        raise PGNNError(
            Parameter(name),
            f" must be an array{kind} with {ndim} dimension{'s' * (ndim > 1)} "
            f"(got {array.dtype} of shape {list(array.shape)})",
        )


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that cannot be written to, nor made writable again by `setflags`.

    It is a view of the array, which becomes read-only. An array that shares memory with one that
    may be written to, or does not lie in one piece, is copied.

    Example:
        >>> sealed(np.arange(3)).flags.writeable
        False
    """
    shared = array.flags.writeable and not array.flags.owndata
    if shared or _base_is_writeable(array) or not array.flags.c_contiguous:
        array = array.copy()
    array.setflags(write=False)
    return array.view() if array.flags.owndata else array


def _base_is_writeable(array: NDArray[Any]) -> bool:
    base = array.base
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    return False
