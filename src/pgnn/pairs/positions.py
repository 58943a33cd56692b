"""pair_positions: what two nodes' distances to the same anchor-sets say about the pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn import checks
from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.graph.keeping import keep
from pgnn.pairs.codes import as_pairs
from pgnn.positions import AnchorSets, anchor_distances, sample_anchor_sets
from pgnn.threads import in_blocks, resolve_threads, rows_of, step

POSITION_COLUMNS = (
    *("position_gap_max", "position_gap_mean", "position_gap_rms", "position_equal"),
    *("position_sum_min", "position_cosine", "position_cosine_centred", "position_shared"),
)
_BLOCK_PAIRS = 4096
_BLOCK_NODES = 16_384
_REPAIR_NODES = 512  # nodes that a search for a way round the pair's own edge visits at most


@dataclass(frozen=True, eq=False, repr=False)
class PairPositions:
    """Named numbers of pairs of nodes. The array is read-only.

    Attributes:
        values: float32 `[m, len(columns)]`.
        columns: Their names, see `pair_positions`.
    """

    values: NDArray[np.float32]
    columns: tuple[str, ...] = POSITION_COLUMNS

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __repr__(self) -> str:
        return f"PairPositions(pairs={len(self.values)}, columns={len(self.columns)})"


def pair_positions(
    graph: Graph,
    pairs: ArrayLike,
    *,
    num_draws: int = 2,
    num_sets: int | None = None,
    rng: int | np.random.Generator,
    num_threads: int | None = None,
) -> PairPositions:
    r"""Compare the distances of two nodes to the same random anchor-sets, pair by pair.

    With d_i(u) the hops from u to set i, neither weights nor directions read, and over sets that
    both nodes reach:

    - `position_gap_max`, `_mean`, `_rms`: of \|d_i(u) - d_i(v)\|. The largest is Bourgain's lower
      bound on the distance of u and v.
    - `position_equal`: the share of sets that are equally far.
    - `position_sum_min`: the smallest d_i(u) + d_i(v), the landmark method's upper bound, up to the
      sets' width.
    - `position_cosine`: of the rows 1/(d_i + 1); `_centred`: less the mean over all nodes.
    - `position_shared`: the share of sets that both nodes reach.

    Of several draws of sets the largest gap and the smallest sum are kept, of all else the mean.
    Where a pair is an edge, both rows are those of the graph without that edge (a search for the
    way round it visits 512 nodes at most, and then says that the way is at least so long).

    Args:
        graph: The graph.
        pairs: Node indices of different nodes, `[m, 2]`.
        num_draws: How many draws of anchor-sets.
        num_sets: Number of sets per draw; by default the paper's log^2 n.
        rng: Seed or generator for the draws.
        num_threads: By default all cores. It does not change the result.

    Raises:
        PGNNError: If a pair is not one of two different nodes.

    Example:
        >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
        >>> near, far = pair_positions(path, [(0, 2), (0, 4)], rng=0).values
        >>> bool(near[1] < far[1])
        True
    """
    num_draws = checks.positive_integer("num_draws", num_draws)
    checked = as_pairs(pairs, graph.num_nodes)
    if (checked[:, 0] == checked[:, 1]).any():
        raise PGNNError("a pair must be of two different nodes (got a node with itself)")
    threads = resolve_threads(num_threads)
    lost = _own_edges(graph, checked)
    plain = graph
    if graph.directed or graph.weights is not None:
        plain = keep(graph, "plain", lambda: Graph.from_edges(graph.edges(), graph.num_nodes))
    generator = np.random.default_rng(rng)
    result = np.zeros((len(checked), len(POSITION_COLUMNS)))
    result[:, 4] = np.inf
    for draw in range(num_draws):
        sets = sample_anchor_sets(graph.num_nodes, num_sets=num_sets, rng=generator)
        # Long lists of pairs are described block by block, and each block would search again.
        hops = keep(
            plain,
            f"hops of draw {draw}",
            partial(_HopRows.of, plain, sets, threads),
            besides=sha256(sets.nodes.tobytes() + sets.indptr.tobytes()).digest(),
        )
        with step(f"positions of {len(checked):,} pairs"):
            one = _describe(plain, hops, checked, lost, threads)
        largest = np.maximum(result[:, 0], one[:, 0])
        least = np.minimum(result[:, 4], one[:, 4])
        result += one / num_draws
        result[:, 0], result[:, 4] = largest, least
    return PairPositions(result.astype(np.float32))


def _own_edges(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which pairs are joined by their own edge alone.

    In a directed graph the edge from v to u still joins the pair (u, v) without the one asked
    about.
    """
    from pgnn.pairs.kernels.counts import find_entries

    def joined(ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        places = np.empty(len(ends), dtype=np.int64)
        find_entries(graph.indptr, graph.indices, ends, places)
        return np.asarray(places >= 0)

    if graph.directed:
        return joined(pairs) & ~joined(np.ascontiguousarray(pairs[:, ::-1]))
    return joined(pairs)


@dataclass(frozen=True, eq=False)
class _HopRows:
    """Hops of all nodes to the sets of one draw, and what all pairs need to know about them.

    Attributes:
        hops: -1 where a set is not reached, integers as narrow as they may be, `[n, k]`.
        typical: Mean over all nodes of near = 1/(hops + 1), float32 `[k]`.
        sums: Of each node the sums over sets of near^2 and of near * typical, `[n, 2]`.
    """

    hops: NDArray[Any]
    typical: NDArray[np.float32]
    sums: NDArray[np.float64]

    @classmethod
    def of(cls, graph: Graph, sets: AnchorSets, num_threads: int) -> _HopRows:
        """Search from all sets."""
        from pgnn.pairs.kernels.positions import sum_near, sum_rows

        with step(f"distances to {len(sets):,} anchor-sets"):
            distances = anchor_distances(graph, sets, num_threads=num_threads)
        hops = np.ascontiguousarray(distances.hops)
        num_nodes, num_sets = hops.shape
        totals = np.zeros(num_sets)
        sum_near(hops, 0, num_nodes, totals)
        typical = (totals / num_nodes).astype(np.float32)
        sums = np.empty((num_nodes, 2))

        def work(block: range, _: None) -> None:
            sum_rows(hops, block.start, block.stop, typical, sums)

        in_blocks(work, num_nodes, _BLOCK_NODES, lambda: None, num_threads)
        return cls(hops, typical, sums)


def _describe(
    graph: Graph,
    positions: _HopRows,
    pairs: NDArray[np.int64],
    lost: NDArray[np.bool_],
    num_threads: int,
) -> NDArray[np.float64]:
    from pgnn.pairs.kernels.positions import NUM_COLUMNS, describe_positions

    out = np.empty((len(pairs), NUM_COLUMNS))
    rows = (graph.indptr, graph.indices)
    num_nodes, num_sets = positions.hops.shape
    arrays = (positions.hops, positions.typical, positions.sums, pairs, lost)

    def work(block: range, scratch: tuple[Any, ...]) -> None:
        describe_positions(rows, *arrays, block.start, block.stop, _REPAIR_NODES, scratch, out)

    def make_scratch() -> tuple[Any, ...]:
        search = np.zeros(num_nodes + 1, dtype=np.int64), np.empty(num_nodes, dtype=np.int32)
        return search, np.empty((2, num_sets), dtype=np.int32)

    in_blocks(work, len(pairs), _BLOCK_PAIRS, make_scratch, num_threads, fills=rows_of(out))
    return out
