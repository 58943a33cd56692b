"""node2vec with logistic regression, the optional peer."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from pgnn import Graph, PGNNError
from pgnn.experiments import node2vec
from pgnn.experiments.node2vec import Node2vec, why_not


def test_without_pecanpy_the_reason_says_how_to_install_it(monkeypatch):
    for name in ("gensim.models", "pecanpy.pecanpy"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install 'position-gnn[peers]'" in why_not()
    with pytest.raises(PGNNError, match=r"node2vec cannot be run: .*\[peers\]"):
        Node2vec.fit(Graph.from_edges([(0, 1), (1, 2), (2, 3)]), seed=0)


def test_a_version_that_cannot_be_imported_is_a_reason(monkeypatch):
    def broken(name):
        raise AttributeError("module 'numpy' has no attribute 'bool8'")

    monkeypatch.setattr(node2vec, "import_module", broken)
    monkeypatch.setattr(node2vec, "version", lambda name: "2.0.9")
    assert "PecanPy 2.0.9 cannot be used here (module 'numpy' has" in why_not()


def test_pairs_are_judged_by_products_of_embeddings(monkeypatch):
    """Embeddings that tell two cliques apart make every link likelier than other pairs."""
    edges = [(u, v) for u in range(8) for v in range(u)]
    graph = Graph.from_edges(edges + [(u + 8, v + 8) for u, v in edges], num_nodes=17)
    side = np.where(np.arange(17) < 8, 1, -1)[:, None].astype(np.float32)
    side[16] = 0  # a node without edges
    monkeypatch.setattr(node2vec, "_embed", lambda graph, seed: side)
    peer = Node2vec.fit(graph, seed=0)
    inside, across = peer(np.array([[0, 1], [9, 10]])), peer(np.array([[0, 9], [5, 15]]))
    assert inside.min() > 0.5 > across.max()
    pairs = np.array([[0, 1], [0, 16], [0, 9]])
    assert np.array_equal(np.argsort(peer.logits(pairs)), np.argsort(peer(pairs)))


@pytest.mark.skipif(why_not() is not None, reason="PecanPy is not installed")
def test_node2vec_finds_communities():
    edges = [(u, v) for u in range(10) for v in range(u)]
    graph = Graph.from_edges([*edges, *((u + 10, v + 10) for u, v in edges), (0, 10)], num_nodes=21)
    peer = Node2vec.fit(graph, seed=0)
    assert peer.embedding.shape == (21, 128)
    assert not peer.embedding[20].any()
    assert peer(np.array([[1, 2], [11, 12]])).min() > peer(np.array([[1, 12], [2, 11]])).max()
    assert set(node2vec.versions()) == {"pecanpy", "gensim"}


def test_walks_leave_torchs_threads_as_they_were():
    """In a process of its own, because numba starts its threads once."""
    code = """
        import torch
        from pgnn.experiments.node2vec import _one_numba_thread
        torch.set_num_threads(1)
        torch.get_num_threads()  # as any computation does: torch would set them anew at its first
        with _one_numba_thread():
            pass
        print(torch.get_num_threads())
    """
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    told = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert told.stdout.split() == ["1"]
