"""Write the characters of Les Miserables and who meets whom to edges.csv: a graph to try pgnn on.

The data are Donald Knuth's, from the novel of 1862; networkx carries them.
"""

from __future__ import annotations

import csv
from pathlib import Path

import networkx as nx


def main(path: Path = Path("edges.csv")) -> None:
    """Write an edge a row, with the number of chapters in which both appear."""
    graph = nx.les_miserables_graph()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target", "weight"])
        writer.writerows((u, v, chapters) for u, v, chapters in graph.edges(data="weight"))
    print(f"{graph.number_of_nodes()} characters, {graph.number_of_edges()} edges, in {path}")


if __name__ == "__main__":
    main()
