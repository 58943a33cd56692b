"""The best of what a node met, kept in a heap. Imported when first used: numba is slow to load.

An entry is one integer word: the cost in its high bits, and in its low bits how many steps a node
is away on a random circle of all nodes. The lowest word is the best, so ties of cost are broken by
the circle: with one order for all, every node of a star would be paired with the same few others,
while on a circle each has other ones next to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def word_of(cost: float, u: int, v: int, order: Any) -> Any:
    """Return the word for node v at u, where `order[w]` is the place of node w on the circle."""
    # The bits of a float are in order as integers, if those of negative ones are turned round.
    bits = np.int64(np.float32(cost + 0.0).view(np.int32))  # + 0 makes -0 the same as 0
    if bits < 0:
        bits ^= 0x7FFFFFFF
    steps = order[v] - order[u]
    return (bits << 32) | (steps if steps >= 0 else steps + len(order))


@njit(nogil=True, cache=True)
def offer(heap: Any, size: int, room: int, word: int) -> int:
    """Put a word among the `room` best, of which the worst is the root; returns the heap's size."""
    if size < room:
        spot = size
        while spot > 0 and heap[(spot - 1) >> 1] < word:
            heap[spot] = heap[(spot - 1) >> 1]
            spot = (spot - 1) >> 1
        heap[spot] = word
        return size + 1
    if word < heap[0]:
        _sink(heap, size, word)
    return size


@njit(nogil=True, cache=True)
def _sink(heap: Any, size: int, word: int) -> None:
    """Put a word in place of the root, and down to where everything below is better."""
    spot = 0
    while True:
        child = 2 * spot + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= word:
            break
        heap[spot] = heap[child]
        spot = child
    heap[spot] = word


@njit(nogil=True, cache=True)
def write_best_first(heap: Any, size: int, u: int, order: Any, circle: Any, nodes: Any) -> None:
    """Write the nodes of all words, `circle[order[w]] == w`, and empty the heap, worst first."""
    n = len(order)
    for last in range(size - 1, -1, -1):
        place = (heap[0] & 0xFFFFFFFF) + order[u]
        nodes[last] = circle[place if place < n else place - n]
        _sink(heap, last, heap[last])
