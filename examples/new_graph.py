"""Train on one graph, keep the model in a file, and use it on another graph of another size.

A P-GNN reads distances to random anchor-sets, which every graph has, so it works on graphs that it
has never seen. Here it learns on the streets of a small town, a grid with some streets closed, and
then looks for the closed streets of a larger one.

Run it with `python examples/new_graph.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

from pgnn import Graph
from pgnn.estimator import PGNNEmbedding
from pgnn.predict import predict


def town(height: int, width: int, *, seed: int) -> tuple[nx.Graph, set[frozenset[object]]]:
    """Return a grid of streets with a tenth of them closed, and the closed ones."""
    graph = nx.grid_2d_graph(height, width)
    streets = list(graph.edges)
    chosen = np.random.default_rng(seed).permutation(len(streets))[: len(streets) // 10]
    closed = [streets[i] for i in chosen]
    graph.remove_edges_from(closed)
    return graph, {frozenset(street) for street in closed}


def main(epochs: int = 80, seed: int = 0, top: int = 20) -> dict[str, float]:
    """Print and return how well links of the second town are predicted."""
    small, _ = town(12, 12, seed=seed)
    emb = PGNNEmbedding(task="link", epochs=epochs, random_state=seed).fit(small)
    print(f"trained on a town of {len(small)} crossings: test AUC {emb.test_auc_:.3f}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "streets.safetensors"
        emb.save(path)
        print(f"saved in a file of {path.stat().st_size / 1000:.0f} kB, and loaded\n")
        emb = PGNNEmbedding.load(path)

    large, closed = town(20, 25, seed=seed + 1)
    graph = Graph.from_networkx(large)
    embedding = emb.transform(graph)
    auc = emb.score(graph)
    print(f"a town of {len(large)} crossings, never seen: an embedding of {embedding.shape}")
    print(f"test AUC {auc:.3f} on links held out of it; 0.5 is a guess\n")

    found = predict(emb.learner_, graph, top=top)
    streets = [tuple(pair) for pair in graph.node_ids[found.pairs].tolist()]
    right = [frozenset(street) in closed for street in streets]
    print(f"the {top} likeliest missing streets, first five:")
    for (start, end), chance, known in list(zip(streets, found.scores, right, strict=True))[:5]:
        print(f"  {start} to {end}  {chance:.2f}  {'is closed' if known else 'was never there'}")
    pairs = len(large) * (len(large) - 1) // 2 - large.number_of_edges()
    print(
        f"{sum(right)} of {top} are closed streets; by chance it would be "
        f"{top * len(closed) / pairs:.2f}"
    )
    return {"test_auc": auc, "right": sum(right) / top, "guess": len(closed) / pairs}


if __name__ == "__main__":
    main()
