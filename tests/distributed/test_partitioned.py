"""A graph in parts is the graph that one process reads."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgnn import Graph, PGNNError, read_graph
from pgnn.distributed import partition, read_partitioned_graph
from pgnn.io import shares
from rank_threads import on_ranks
from strategies import graphs


def assert_parts_are(parts, graph):
    ids = [name for part in parts for name in part.node_ids.tolist()]
    assert ids == graph.node_ids.tolist()
    rows = [part.neighbors(i).tolist() for part in parts for i in range(part.num_own)]
    assert rows == [graph.neighbors(v).tolist() for v in range(graph.num_nodes)]
    for part in parts:
        assert (part.num_nodes, part.num_edges) == (graph.num_nodes, graph.num_edges)
        assert part.directed == graph.directed


@settings(max_examples=15, deadline=None)
@given(graph=graphs(weighted=False), size=st.integers(1, 4))
def test_parts_of_a_graph_are_its_rows(graph, size):
    assert_parts_are(on_ranks(size, lambda group: partition(graph)), graph)


@settings(max_examples=15, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    size=st.integers(1, 3),
    directed=st.booleans(),
    name=st.sampled_from(["{}", "{}000000000000", "n{}", "0{}"]),
    block=st.integers(1, 60),
)
def test_file_read_in_parts_is_the_graph_of_one_process(
    tmp_path_factory, pairs, size, directed, name, block
):
    path = tmp_path_factory.mktemp("parts") / "edges.csv"
    lines = [f"{name.format(u)},{name.format(v)}" for u, v in pairs]
    path.write_text("\n".join(["# edges", "source,target", *lines]))
    graph = read_graph(path, directed=directed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares, "BLOCK_BYTES", block)
        parts = on_ranks(size, lambda group: read_partitioned_graph(path, directed=directed))
    assert_parts_are(parts, graph)
    for part in parts:
        assert part.dropped_self_loops == graph.dropped_self_loops
        assert part.dropped_repeats == graph.dropped_repeats


def test_parquet_is_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "BLOCK_ROWS", 5)
    ends = np.random.default_rng(0).integers(0, 20, (40, 2))
    path = tmp_path / "edges.parquet"
    table = pl.DataFrame({"x": [0.5] * 40, "to": ends[:, 0], "from": ends[:, 1].astype(str)})
    table.write_parquet(path, row_group_size=7)
    assert_parts_are(on_ranks(2, lambda group: read_partitioned_graph(path)), read_graph(path))


def test_bad_line_is_named_on_all_ranks(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "1,2\n" * 50 + "3,\n")

    def work(group):
        with pytest.raises(PGNNError, match=r"edges.csv, line 52: the target id is missing"):
            read_partitioned_graph(path)

    on_ranks(2, work)


def test_file_without_edges_and_weighted_graphs_are_refused(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n")
    with pytest.raises(PGNNError, match="holds no edges"):
        read_partitioned_graph(path)
    with pytest.raises(PGNNError, match="graph has weights"):
        partition(Graph.from_edges([(0, 1)], weights=[2.0]))


def test_arrays_are_read_only_and_the_part_says_what_it_is():
    part = partition(Graph.from_edges([(0, 1)], directed=True))
    assert repr(part) == "PartitionedGraph(num_nodes=2, num_edges=1, directed, part 1 of 1)"
    with pytest.raises(ValueError, match="read-only"):
        part.indices[0] = 7
