"""How the released code splits, flaws included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.pairs.codes import Pairs
from pgnn.pairs.negatives import draw_not_stored
from pgnn.pairs.sets import PairSet


def released_sizes(total: int, val: float, test: float) -> list[int]:
    """Return the part sizes of the released code, which rounds down where a part begins."""
    first, second = int((1 - (val + test)) * total), int((1 - test) * total)
    return [first, second - first, total - second]


def released_edge_parts(
    graph: Graph, generator: np.random.Generator, val: float, test: float
) -> list[NDArray[np.intp]]:
    """Cut the edges, in random order, where the released code does."""
    order = generator.permutation(graph.num_edges)
    return np.split(order, np.cumsum(released_sizes(graph.num_edges, val, test))[:-1])


def released_sets(
    parts: Sequence[Pairs], num_nodes: int, generator: np.random.Generator
) -> list[PairSet]:
    """Give each part as many of the released code's negatives."""
    stored = np.concatenate(parts)
    known = [parts[0], stored, stored]  # training negatives are compared to training positives
    return [
        PairSet.join(part, draw_not_stored(generator, taken, num_nodes, len(part)))
        for part, taken in zip(parts, known, strict=True)
    ]
