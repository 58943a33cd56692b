"""Learn what a community is on one graph with labels, then find communities in a graph never seen.

Task "pair" asks whether two nodes have the same label. The model learns it from distances in the
graph alone, so it needs no labels of the second graph, whose communities have other sizes and
another number: they are found by clustering its embedding.

Run it with `python examples/communities.py`.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from pgnn import Graph, PGNNEmbedding
from pgnn.prediction.ranking import predict


def communities(sizes: list[int], *, seed: int) -> tuple[nx.Graph, NDArray[np.int64]]:
    """Return a graph, sparse within communities and sparser between, and the community of nodes."""
    graph = nx.random_partition_graph(sizes, 0.3, 0.01, seed=seed)
    return graph, np.array([block for _, block in graph.nodes(data="block")])


def show(clusters: NDArray[np.int64], truth: NDArray[np.int64]) -> None:
    """Print how many nodes of each community a cluster has."""
    for cluster in range(clusters.max() + 1):
        counts = np.bincount(truth[clusters == cluster], minlength=truth.max() + 1)
        print(f"  cluster {cluster}: " + " ".join(f"{count:3}" for count in counts))


def main(epochs: int = 60, seed: int = 0) -> dict[str, float]:
    """Print and return how well communities are found, from 0 (by chance) to 1."""
    known, labels = communities([20] * 8, seed=seed)
    emb = PGNNEmbedding(task="pair", epochs=epochs, random_state=seed).fit(known, labels)
    print(f"trained on {len(known)} nodes, 8 communities with labels: AUC {emb.test_auc_:.3f} on")
    print("pairs of nodes held out; 0.5 is a guess\n")

    new, truth = communities([15, 25, 35, 45, 60], seed=seed + 1)
    clusters = KMeans(5, n_init=10, random_state=seed).fit_predict(emb.transform(new))
    agreement = float(adjusted_rand_score(truth, clusters))
    print(f"a graph never seen, {len(new)} nodes, 5 communities, no labels")
    print("nodes of each community (columns) in each cluster of the embedding:")
    show(clusters, truth)
    print(f"adjusted Rand index {agreement:.3f}: 0 is chance, 1 the communities themselves\n")

    graph = Graph.from_networkx(new)
    asked = np.array([0, graph.num_nodes - 1])
    similar = predict(emb.learner_, graph, top=5, nodes=asked)
    for node in asked:
        others = similar.pairs[similar.pairs[:, 0] == node, 1]
        print(
            f"most similar to node {node} of community {truth[node]}: "
            + ", ".join(f"{other} of {truth[other]}" for other in others)
        )
    right = float((truth[similar.pairs[:, 0]] == truth[similar.pairs[:, 1]]).mean())
    return {"test_auc": emb.test_auc_ or 0.0, "agreement": agreement, "similar": right}


if __name__ == "__main__":
    main()
