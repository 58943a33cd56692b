"""Find the links that are missing from your own edge list.

The file is made here: 200 people who know those living near them, and a tenth of the friendships is
left out. The model gets the list of friendships that remain, no addresses, and says which pairs are
most likely friends too. Replace the file by yours; ids may be any names or numbers.

Run it with `python examples/link_prediction.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

import pgnn
from pgnn import PGNNEmbedding
from pgnn.prediction.ranking import predict


def write_friends(path: Path, *, seed: int) -> set[frozenset[str]]:
    """Write an edge list with names, and return the friendships that were left out of it."""
    town = nx.random_geometric_graph(200, 0.13, seed=seed)
    names = [f"person{v}" for v in town]
    friends = [(names[u], names[v]) for u, v in town.edges]
    shuffled = np.random.default_rng(seed).permutation(len(friends))
    left_out, written = np.split(shuffled, [len(friends) // 10])
    lines = ["person,friend", *(",".join(friends[i]) for i in written)]
    path.write_text("\n".join(lines) + "\n")
    return {frozenset(friends[i]) for i in left_out}


def main(epochs: int = 60, seed: int = 0, top: int = 20) -> dict[str, float]:
    """Train on the file, print the likeliest missing links, and return how good they are."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "friends.csv"
        missing = write_friends(path, seed=seed)
        graph = pgnn.read_graph(path)
    print(f"{graph}, without {len(missing)} friendships that we know of\n")

    emb = PGNNEmbedding(task="link", epochs=epochs, random_state=seed).fit(graph)
    print(f"of a friend and a stranger, the friend scores higher: {emb.score(graph):.1%}")
    print("  (test AUC, on pairs held out of the file; 50% is a guess)\n")

    found = predict(emb.learner_, graph, top=top)
    names = graph.node_ids[found.pairs]
    right = [frozenset(pair) in missing for pair in names.tolist()]
    print(f"the {top} likeliest missing links, of {found.how}:")
    for (first, second), chance, spread, known in zip(
        names.tolist(), found.scores, found.spread, right, strict=True
    ):
        mark = "left out of the file" if known else ""
        print(f"  {first:>9} - {second:<9} {chance:.2f} +- {spread:.2f}  {mark}")
    pairs = graph.num_nodes * (graph.num_nodes - 1) // 2 - graph.num_edges
    guess = len(missing) / pairs
    print(f"{sum(right)} of {top} are indeed missing; by chance it would be {guess * top:.1f}")
    return {"test_auc": emb.score(graph), "right": sum(right) / top, "guess": guess}


if __name__ == "__main__":
    main()
