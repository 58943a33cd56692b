"""node2vec with logistic regression: the peer that most people try for missing links.

Random walks are those of PecanPy, embeddings those of gensim's word2vec, both with the defaults of
node2vec (p = q = 1, 10 walks of 80 steps per node, a window of 10, 128 numbers per node). A pair is
the Hadamard product of its two embeddings, standardised, and a logistic regression learns which
products are links. One pass over the walks and standardised products were the best of a few choices
on hidden pairs of three graphs, which favours this peer. It needs the extra `peers`; nothing else
in the library does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.pairs.codes import as_pairs, sorted_distinct, unordered_codes
from pgnn.pairs.negatives import draw_non_edges

INSTALL = "pip install 'position-gnn[peers]'"
_WALKS, _STEPS, _WINDOW, _WIDTH = 10, 80, 10, 128
_PASSES = 1  # over the walks, as node2vec has it


def why_not() -> str | None:
    """Return why node2vec cannot be run here, in a sentence; None if it can."""
    try:
        for name in ("gensim.models", "pecanpy.pecanpy"):
            import_module(name)
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed; {INSTALL}"
    except (ImportError, AttributeError) as error:  # its later versions do not know numpy 2
        return f"PecanPy {version('pecanpy')} cannot be used here ({error}); {INSTALL}"
    return None


def versions() -> dict[str, str]:
    """Return the versions of the peer's libraries."""
    return {name: version(name) for name in ("pecanpy", "gensim")}


@dataclass(frozen=True, eq=False)
class Node2vec:
    """Embeddings of nodes, and a classifier of their products.

    Attributes:
        embedding: `[n, 128]`; zeros for a node without edges, which no walk visits.
        classifier: A fitted pipeline of scikit-learn.
    """

    embedding: NDArray[np.float32]
    classifier: Any

    @classmethod
    def fit(cls, graph: Graph, *, seed: int) -> Node2vec:
        """Learn from the edges of a graph and from as many pairs that are none.

        The seed decides the negatives and word2vec. PecanPy's walks have no seed, so that two fits
        differ a little.

        Raises:
            PGNNError: If PecanPy is not installed, or cannot be used.
        """
        return cls.of_embedding(_embed(graph, seed), graph, seed=seed)

    @classmethod
    def of_embedding(cls, embedding: NDArray[np.float32], graph: Graph, *, seed: int) -> Node2vec:
        """Learn from an embedding of any kind, `[n, width]`, which products are links."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        edges = as_pairs(graph.edges())
        joined = sorted_distinct(unordered_codes(edges))
        others = draw_non_edges(np.random.default_rng(seed), joined, graph.num_nodes, len(edges))
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        classifier.fit(
            _products(embedding, np.concatenate([edges, others])),
            np.arange(len(edges) + len(others)) < len(edges),
        )
        return cls(embedding, classifier)

    def __call__(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the chance of each pair where half of the pairs are links, `[m]`."""
        return np.asarray(self.classifier.predict_proba(_products(self.embedding, pairs))[:, 1])

    def logits(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what pairs are ranked by, `[m]`."""
        return np.asarray(self.classifier.decision_function(_products(self.embedding, pairs)))


def _products(embedding: NDArray[np.float32], pairs: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.asarray(embedding[pairs[:, 0]] * embedding[pairs[:, 1]])


def _embed(graph: Graph, seed: int) -> NDArray[np.float32]:
    if reason := why_not():
        raise PGNNError(f"node2vec cannot be run: {reason}")
    from gensim.models import Word2Vec
    from pecanpy import pecanpy

    # Edges are drawn uniformly for p = q = 1: the fastest of PecanPy's ways to walk.
    walker = pecanpy.FirstOrderUnweighted(1, 1, 1, False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.edg"
        np.savetxt(path, graph.edges(), fmt="%d", delimiter="\t")
        walker.read_edg(str(path), weighted=False, directed=False)
    with _one_numba_thread():
        walks = walker.simulate_walks(_WALKS, _STEPS)
    words = Word2Vec(
        walks,
        vector_size=_WIDTH,
        window=_WINDOW,
        sg=1,
        min_count=0,
        workers=1,
        epochs=_PASSES,
        seed=seed + 1,  # 0 is no seed to gensim
    ).wv
    embedding = np.zeros((graph.num_nodes, _WIDTH), dtype=np.float32)
    nodes = [int(word) for word in words.index_to_key]
    embedding[nodes] = words.vectors
    return embedding


@contextmanager
def _one_numba_thread() -> Iterator[None]:
    """Walk on one thread, as all rows of the benchmark are run.

    numba starts its threads by OpenMP, which then counts them as torch's, too: without a word
    what torch trains next in this process would run on all cores.
    """
    import numba
    import torch

    of_torch, before = torch.get_num_threads(), numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)
        torch.set_num_threads(of_torch)
