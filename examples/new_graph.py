"""Train on one graph, keep the model in a file, and use it on another graph of another size.

A P-GNN reads distances to random anchor-sets, which every graph has, so it works on graphs that it
has never seen. Here it learns in a small field of radio sensors, where those in reach of each other
have a link, and then looks for the broken links of a field four times as large.

Run it with `python examples/new_graph.py`.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

from pgnn import Graph, PGNNEmbedding
from pgnn.prediction.ranking import predict


def field(num_sensors: int, *, seed: int) -> tuple[Graph, set[tuple[int, int]]]:
    """Return sensors with about ten links each, a tenth of them broken, and the broken ones."""
    reach = math.sqrt(10 / (math.pi * num_sensors))
    links = list(nx.random_geometric_graph(num_sensors, reach, seed=seed).edges)
    broken, working = np.split(
        np.random.default_rng(seed).permutation(np.sort(links, axis=1)), [len(links) // 10]
    )
    return Graph.from_edges(working, num_sensors), {(u, v) for u, v in broken.tolist()}


def main(epochs: int = 60, seed: int = 0, top: int = 20) -> dict[str, float]:
    """Print and return how well links of the second field are predicted."""
    small, _ = field(150, seed=seed)
    emb = PGNNEmbedding(task="link", epochs=epochs, random_state=seed).fit(small)
    print(f"trained on {small.num_nodes} sensors: AUC {emb.test_auc_:.3f} on links held out")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sensors.safetensors"
        emb.save(path)
        print(f"saved to a file of {path.stat().st_size / 1000:.0f} kB, and loaded from it\n")
        emb = PGNNEmbedding.load(path)

    large, broken = field(600, seed=seed + 1)
    print(f"a field never seen, {large.num_nodes} sensors:")
    print(f"  embedding of shape {emb.transform(large).shape}")
    auc = emb.score(large)
    print(f"  AUC {auc:.3f} on links held out; 0.5 is a guess\n")

    found = predict(emb.learner_, large, top=top)
    right = [(u, v) in broken for u, v in found.pairs.tolist()]
    print(f"its {top} likeliest missing links, the first five:")
    for (u, v), chance, known in list(zip(found.pairs, found.scores, right, strict=True))[:5]:
        print(f"  {u:>3} - {v:<3}  {chance:.2f}  {'is broken' if known else 'was never there'}")
    pairs = large.num_nodes * (large.num_nodes - 1) // 2 - large.num_edges
    guess = len(broken) / pairs
    print(f"{sum(right)} of {top} are broken links; by chance it would be {top * guess:.2f}")
    return {"test_auc": auc, "right": sum(right) / top, "guess": guess}


if __name__ == "__main__":
    main()
