"""pgnn beside other libraries: the same hidden links, in one run.

Run `PGNN_DATA=FOLDER python benchmarks/peers.py [--graph usair ...] [--peer WORD ...] [--seeds 3]`;
node2vec needs the extra `peers`. karateclub asks for libraries of 2022, but embeddings of it work
beside those of today: `pip install --no-deps karateclub==1.3.3 pygsp`, then `pip install pandas
python-louvain python-Levenshtein tqdm six`. What is not installed is left out, and named.

A tenth of the edges of a public graph is hidden (protocol "honest" of `pgnn reproduce links`),
every peer learns from the rest on one thread, and is asked about the hidden edges and as many pairs
that no edge joins. results/peers.json has the AUC and the seconds of the processor, without those
for compiling kernels; what is there already is kept, so a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from seal import gae_scores, seal_scores

from pgnn import Graph
from pgnn.bench.graphs import grid_graph
from pgnn.evaluation.metrics import roc_auc
from pgnn.experiments.link_run import hide_links
from pgnn.experiments.links import find_link_graphs
from pgnn.experiments.node2vec import Node2vec, why_not
from pgnn.training.outcome import versions
from pgnn.training.pipeline import Problem, train
from pgnn.training.recipe import Recipe

RESULTS = Path(__file__).parents[1] / "results" / "peers.json"
Pairs = NDArray[np.int64]
Peer = Callable[[Graph, Pairs, int], NDArray[np.float64]]


def best_scores(graph: Graph, pairs: Pairs, seed: int) -> NDArray[np.float64]:
    """Train pgnn-best with the settings of `pgnn train`."""
    recipe = Recipe(test=0.0, seed=seed)
    trained = train(Problem.of_graph(graph, recipe), recipe, heuristics=False)
    return trained.learner.scorer(graph).logits(pairs)


def of_networkx(predictor: Callable[..., Any]) -> Peer:
    """Return a predictor of networkx as a peer."""

    def scores(graph: Graph, pairs: Pairs, _: int) -> NDArray[np.float64]:
        return np.array([score for _, _, score in predictor(graph.to_networkx(), pairs.tolist())])

    return scores


def of_seal(hops: int) -> Peer:
    """Return SEAL with neighbourhoods of some hops as a peer."""
    return lambda graph, pairs, seed: seal_scores(graph, pairs, seed=seed, hops=hops)


def of_karateclub(name: str) -> Peer:
    """Return an embedding of karateclub as a peer: pairs are judged as those of node2vec are."""

    def scores(graph: Graph, pairs: Pairs, seed: int) -> NDArray[np.float64]:
        model = getattr(import_module("karateclub"), name)(seed=seed)
        model.fit(graph.to_networkx())
        embedding = model.get_embedding().astype(np.float32)
        return Node2vec.of_embedding(embedding, graph, seed=seed).logits(pairs)

    return scores


PEERS: dict[str, Peer] = {
    "pgnn-best": best_scores,
    "SEAL, by PyG's parts": of_seal(1),
    "SEAL, by PyG's parts, two hops": of_seal(2),
    "GAE of PyG": lambda graph, pairs, seed: gae_scores(graph, pairs, seed=seed),
    "node2vec, by PecanPy": lambda graph, pairs, seed: Node2vec.fit(graph, seed=seed).logits(pairs),
    "DeepWalk, by karateclub": of_karateclub("DeepWalk"),
    "Walklets, by karateclub": of_karateclub("Walklets"),
    "NetMF, by karateclub": of_karateclub("NetMF"),
    "resource allocation, by networkx": of_networkx(nx.resource_allocation_index),
    "Adamic-Adar, by networkx": of_networkx(nx.adamic_adar_index),
    "Jaccard, by networkx": of_networkx(nx.jaccard_coefficient),
    "preferential attachment, by networkx": of_networkx(nx.preferential_attachment),
}


def why_no_karateclub() -> str | None:
    """Return why karateclub cannot be run here; None if it can."""
    try:
        import_module("karateclub")
    except ImportError as error:
        return str(error)
    return None


def main() -> None:
    """Ask every peer, and write what each found as soon as it did."""
    parser = argparse.ArgumentParser(description="pgnn beside other libraries")
    parser.add_argument("--graph", action="append", help="one of the public graphs; default: three")
    parser.add_argument("--peer", action="append", help="only peers with this in their name")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # as `pgnn.training.fit` does for its own
    wanted = options.graph or ["usair", "ns", "power"]
    reasons = {"PecanPy": why_not(), "karateclub": why_no_karateclub()}
    absent = [library for library, reason in reasons.items() if reason]
    for library in absent:
        print(f"without {library}: {reasons[library]}", file=sys.stderr)
    peers = {
        name: peer
        for name, peer in PEERS.items()
        if not any(word in name for word in absent)
        and any(word in name for word in options.peer or [""])
    }
    libraries = ["networkx", "torch-geometric"]
    libraries += [] if "PecanPy" in absent else ["pecanpy", "gensim"]
    libraries += [] if "karateclub" in absent else ["karateclub"]
    document: dict[str, Any] = {
        "command": f"python benchmarks/peers.py --seeds {options.seeds}",
        "versions": versions() | {name: version(name) for name in libraries},
        "rows": json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else [],
    }
    tiny, tiny_pairs = hide_links(grid_graph(8, 8), "honest", seed=0)
    for peer in peers.values():  # loads libraries and compiles kernels
        peer(tiny, tiny_pairs.pairs, 0)
    known = {(row["graph"], row["peer"], row["seed"]) for row in document["rows"]}
    graphs = {name: find_link_graphs(name).graphs[0].read() for name in wanted}
    for seed in range(options.seeds):  # a run that is cut off has whole seeds, but for the last
        for graph in wanted:
            visible, test = hide_links(graphs[graph], "honest", seed=seed)
            for name, peer in peers.items():
                if (graph, name, seed) in known:
                    continue
                torch.set_num_threads(1)  # libraries that start threads change it
                start, clock = time.process_time(), time.perf_counter()
                auc = roc_auc(test.labels, peer(visible, test.pairs, seed))
                row = {
                    "graph": graph,
                    "peer": name,
                    "seed": seed,
                    "auc": auc,
                    "processor_seconds": round(time.process_time() - start, 2),
                    "seconds": round(time.perf_counter() - clock, 2),
                }
                document["rows"].append(row)
                RESULTS.write_text(json.dumps(document, indent=1) + "\n")
                print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
