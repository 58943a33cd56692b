"""`pgnn distances`, alone and under torchrun."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from pgnn import anchor_distances, read_graph, sample_anchor_sets
from pgnn.bench.graphs import random_graph
from pgnn.distributed import read_distances


def write_edges(path, header="source,target"):
    names = np.array([f"n{v}" for v in range(300)])
    edges = names[random_graph(300, 1500, rng=0).edges()]
    path.write_text("\n".join([header, *map(",".join, edges.tolist())]) + "\n")


def test_distances_are_those_of_the_library(command, tmp_path):
    write_edges(tmp_path / "edges.csv")
    asked = ("edges.csv", "-o", "d", "--sets", 5, "--seed", 7, "--cutoff", 3)
    done = command("distances", *asked, "--json")
    assert done.code == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["folder"], document["num_nodes"], document["num_parts"]) == ("d", 300, 1)
    stored, graph = read_distances(tmp_path / "d"), read_graph(tmp_path / "edges.csv")
    sets = sample_anchor_sets(300, num_sets=5, rng=7)
    expected = anchor_distances(graph, sets, cutoff=3)
    np.testing.assert_array_equal(stored.distances.hops, expected.hops)
    np.testing.assert_array_equal(stored.distances.nearest, expected.nearest)
    assert stored.node_ids.tolist() == graph.node_ids.tolist()
    assert "300 nodes, 1,500 edges" in done.stderr


def test_mistakes_are_one_line_and_leave_nothing(command, tmp_path):
    write_edges(tmp_path / "edges.csv")
    done = command("distances", "edges.csv")
    assert (done.code, "give a folder to write to" in done.stderr) == (2, True)
    done = command("distances", "none.csv", "-o", "d")
    assert (done.code, "there is no such file" in done.stderr) == (2, True)
    assert not (tmp_path / "d").exists()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "mine").write_text("x")
    done = command("distances", "edges.csv", "-o", "d")
    assert (done.code, "is not empty; give a new folder as --out" in done.stderr) == (2, True)


def torchrun(*arguments):
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    settings = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*launch, "-m", "pgnn", *map(str, arguments)], capture_output=True, text=True, env=settings
    )


def test_two_processes_write_what_one_writes(command, tmp_path):
    write_edges(tmp_path / "edges.csv")
    asked = ("distances", tmp_path / "edges.csv", "--sets", 40)
    done = torchrun(*asked, "-o", tmp_path / "two", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["num_parts"] == 2
    assert "300 nodes and 1,500 edges in 2 parts" in done.stderr
    assert command(*asked, "-o", tmp_path / "one").code == 0
    one, two = (read_distances(tmp_path / name) for name in ("one", "two"))
    assert one.distances.hops.dtype == two.distances.hops.dtype
    np.testing.assert_array_equal(one.distances.hops, two.distances.hops)
    np.testing.assert_array_equal(one.distances.nearest, two.distances.nearest)
    np.testing.assert_array_equal(one.node_ids, two.node_ids)


@pytest.mark.parametrize("flag", ["--features", "--time", "--between"])
def test_graph_in_parts_has_edges_alone(monkeypatch, tmp_path, flag):
    from pgnn.cli import distances
    from pgnn.cli.options import Reading
    from pgnn.errors import PGNNError

    reading = Reading(**{flag.removeprefix("--"): "x"})
    drawing = distances._Drawing(None, None, 0)
    with pytest.raises(PGNNError, match="is not for a graph in parts"):
        distances._search_parts(tmp_path / "e.csv", reading, tmp_path / "d", drawing)
