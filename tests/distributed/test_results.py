"""Distances in a folder come back as they were."""

import json

import numpy as np
import pytest

from pgnn import Graph, PGNNError, anchor_distances, sample_anchor_sets
from pgnn.bench.graphs import random_graph
from pgnn.distributed import (
    partition,
    partitioned_distances,
    read_distances,
    write_distances,
)
from pgnn.distributed.results import Summary, check_folder, part_name
from rank_threads import on_ranks


def summary_of(graph, num_parts, num_sets=6):
    return Summary(num_parts, graph.num_nodes, graph.num_edges, graph.directed, num_sets, 3, None)


@pytest.fixture
def stored(tmp_path):
    graph = random_graph(50, 120, rng=0)
    sets = sample_anchor_sets(50, num_sets=6, rng=3)

    def work(group):
        part = partition(graph)
        result = partitioned_distances(part, sets)
        write_distances(tmp_path / "d", result, part.node_ids, summary_of(graph, 3))

    on_ranks(3, work)
    return tmp_path / "d", graph, sets


def test_parts_of_all_ranks_are_read_by_one_process(stored):
    folder, graph, sets = stored
    found = read_distances(folder)
    expected = anchor_distances(graph, sets)
    np.testing.assert_array_equal(found.distances.hops, expected.hops)
    np.testing.assert_array_equal(found.distances.nearest, expected.nearest)
    assert found.node_ids.tolist() == graph.node_ids.tolist()
    assert [each.tolist() for each in found.sets()] == [each.tolist() for each in sets]
    assert found.summary == summary_of(graph, 3)


def test_lengths_and_strings_come_back(tmp_path):
    graph = Graph.from_edges([(0, 1)], weights=[2.5], node_ids=["ann", "bob"])
    result = anchor_distances(graph, [[0]])
    write_distances(tmp_path, result, graph.node_ids, summary_of(graph, 1, num_sets=1))
    found = read_distances(tmp_path)
    assert found.distances.lengths.tolist() == [[0], [2.5]]
    assert found.node_ids.tolist() == ["ann", "bob"]


def test_folder_that_is_not_whole_is_refused(stored):
    folder, _, _ = stored
    with pytest.raises(PGNNError, match="is not empty"):
        check_folder(folder)
    (folder / part_name(1, 3)).write_bytes(b"PK\x03\x04 no")
    with pytest.raises(PGNNError, match=r"part-0001-of-0003.npz: is damaged"):
        read_distances(folder)
    (folder / part_name(1, 3)).unlink()
    with pytest.raises(PGNNError, match="no such part; put the parts of all machines"):
        read_distances(folder)
    (folder / "distances.json").unlink()
    with pytest.raises(PGNNError, match=r"has no distances.json"):
        read_distances(folder)


@pytest.mark.parametrize(
    "change", [{"num_nodes": 51}, {"num_sets": 5}, {"num_parts": 0}, {"more": 1}, "x"]
)
def test_summary_that_does_not_fit_is_refused(stored, change):
    path = stored[0] / "distances.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | change if isinstance(change, dict) else change))
    with pytest.raises(PGNNError, match=r"is damaged|do not fit"):
        read_distances(stored[0])
