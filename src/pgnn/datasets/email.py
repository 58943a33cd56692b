"""Email: who wrote to whom in a European research institution (SNAP's email-Eu-core)."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.datasets.numbers import expect, parse_integers
from pgnn.datasets.parts import components, split
from pgnn.datasets.places import RemoteFile, obtain, read_bytes
from pgnn.errors import PGNNError
from pgnn.graph import Graph

DEPARTMENTS_PER_GRAPH = 6
SMALLEST_GRAPH = 11  # nodes


@dataclass(frozen=True)
class Counts:
    """What the original files hold."""

    edge_lines: int = 25_571
    nodes: int = 1_005
    departments: int = 42
    graph_nodes: tuple[int, ...] = (245, 139, 32, 223, 186, 37, 58)


COUNTS = Counts()


@checked
def load_email(data_dir: str | os.PathLike[str] | None = None) -> list[Graph]:
    """Load the 7 email graphs; a node is a person, its label the person's department.

    Departments are grouped six at a time by their number, edges between groups are dropped, and
    every connected component of more than 10 nodes is a graph, the one with the smallest node
    number first. Edges lose their direction; self-loops and repeats are dropped. Every node has the
    one feature 1.0; `node_ids` are the numbers of the original files.

    Args:
        data_dir: A folder with `email/edges.txt` (one `from to` per line) and `email/labels.txt`
            (one `node department` per line). By default, or if they are not there: the folder that
            the environment variable `PGNN_DATA` names, then the user's cache, into which they are
            downloaded.

    Raises:
        PGNNError: If the files are absent and cannot be downloaded, or damaged.
    """
    edges_path, labels_path = obtain(FILES, data_dir)
    pairs = check_edges(read_bytes(edges_path), str(edges_path))
    table = check_labels(read_bytes(labels_path), str(labels_path))
    graphs = build(pairs, table, source=str(edges_path))
    sizes = tuple(graph.num_nodes for graph in graphs)
    if sizes != COUNTS.graph_nodes:
        raise PGNNError(
            f"{edges_path}: graphs of {COUNTS.graph_nodes} nodes expected (got {sizes}); the file "
            "is damaged or another one: delete it and load the data set again"
        )
    return graphs


def build(pairs: NDArray[np.int64], table: NDArray[np.int64], *, source: str) -> list[Graph]:
    """Make the graphs from the two tables of the original files.

    Args:
        pairs: Node numbers, one row per edge.
        table: Node number and department, one row per node.
        source: What messages call the file of edges.

    Raises:
        PGNNError: If a node has two departments, or an edge a node without department.
    """
    table = table[np.argsort(table[:, 0], kind="stable")]
    numbers, department = table[:, 0], table[:, 1]
    if (repeats := numbers[1:][np.diff(numbers) == 0]).size:
        raise PGNNError(f"{source}: node {repeats[0]} has two lines in the file of labels")
    index = np.minimum(np.searchsorted(numbers, pairs), len(numbers) - 1)
    if (unknown := (numbers[index] != pairs).any(axis=1)).any():
        line = int(np.flatnonzero(unknown)[0])
        raise PGNNError(
            f"{source}, line {line + 1}: {pairs[line].tolist()} names a node that the file of "
            "labels does not have"
        )
    group = department // DEPARTMENTS_PER_GRAPH
    inside = index[group[index[:, 0]] == group[index[:, 1]]]
    graph_of = components(inside, len(numbers), more_than=SMALLEST_GRAPH - 1)
    x = np.ones((len(numbers), 1), dtype=np.float32)
    return split(inside, graph_of, x=x, y=department, node_ids=numbers)


def check_edges(data: bytes, source: str) -> NDArray[np.int64]:
    """Read the file of edges and compare its length with the original's."""
    pairs = parse_integers(data, source, columns=2)
    expect(len(pairs), COUNTS.edge_lines, "lines", source)
    return pairs


def check_labels(data: bytes, source: str) -> NDArray[np.int64]:
    """Read the file of departments and compare its counts with the original's."""
    table = parse_integers(data, source, columns=2)
    expect(len(np.unique(table[:, 0])), COUNTS.nodes, "nodes", source)
    expect(len(table), COUNTS.nodes, "lines", source)
    expect(len(np.unique(table[:, 1])), COUNTS.departments, "departments", source)
    return table


_SNAP = "https://snap.stanford.edu/data"
FILES = (
    RemoteFile("email/edges.txt", f"{_SNAP}/email-Eu-core.txt.gz", check_edges, gzip.decompress),
    RemoteFile(
        "email/labels.txt",
        f"{_SNAP}/email-Eu-core-department-labels.txt.gz",
        check_labels,
        gzip.decompress,
    ),
)
