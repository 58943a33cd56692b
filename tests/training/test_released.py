"""The released code's splits in parts; test_splits judges them as a whole."""

import numpy as np
import pytest

from pgnn import Graph
from pgnn.training.released import released_edge_parts, released_sets, released_sizes


@pytest.mark.parametrize(
    ("total", "sizes"), [(760, [608, 76, 76]), (10, [8, 1, 1]), (7, [5, 1, 1]), (3, [2, 0, 1])]
)
def test_released_sizes_round_down_where_a_part_begins(total, sizes):
    assert released_sizes(total, 0.1, 0.1) == sizes
    assert sum(sizes) == total


def test_released_edge_parts_hold_every_edge_once():
    graph = Graph.from_edges([(v, v + 1) for v in range(40)])
    parts = released_edge_parts(graph, np.random.default_rng(0), 0.1, 0.1)
    assert [len(part) for part in parts] == released_sizes(40, 0.1, 0.1)
    assert sorted(np.concatenate(parts).tolist()) == list(range(40))
    assert np.concatenate(parts).tolist() != list(range(40))


def test_released_sets_compare_negatives_to_what_is_stored_alone():
    edges = np.array([(u, v) for u in range(12) for v in range(u) if (u + v) % 3])
    parts = [edges[:30], edges[30:35], edges[35:40]]
    sets = released_sets(parts, 12, np.random.default_rng(0))
    stored = {tuple(pair) for pair in edges[:40].tolist()}
    for part, pairs in zip(parts, sets, strict=True):
        assert pairs.positives.tolist() == part.tolist()
        assert len(pairs.negatives) == len(part)
    train, val, test = ({tuple(pair) for pair in pairs.negatives.tolist()} for pairs in sets)
    assert not (val | test) & stored
    assert not train & {tuple(pair) for pair in parts[0].tolist()}
    turned = {(v, u) for u, v in stored}
    assert (train | val | test) & turned  # the flaw: a positive turned round counts as negative
