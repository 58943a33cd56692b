"""Protein: 1,113 proteins as graphs of their secondary structure (TUDataset's PROTEINS_full)."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked, one_of
from pgnn.datasets.features import Standardize, check_standardize, standardized
from pgnn.datasets.numbers import expect, parse_floats, parse_integers
from pgnn.datasets.parts import split
from pgnn.datasets.places import RemoteFile, obtain, read_bytes
from pgnn.errors import PGNNError
from pgnn.graph import Graph

Keep = Literal["paper", "released"]

NUM_ATTRIBUTES = 29


@dataclass(frozen=True)
class Counts:
    """What the original archive holds; an edge has two entries."""

    graphs: int = 1_113
    nodes: int = 43_471
    edge_entries: int = 162_088
    labels: int = 3


COUNTS = Counts()


@dataclass(frozen=True)
class Tables:
    """The text files of the archive, with node and graph numbers that start at 0.

    Attributes:
        edges: `[entries, 2]`, every edge in both directions.
        graph: The graph of each node.
        attributes: `[nodes, 29]`.
        labels: One label per node.
    """

    edges: NDArray[np.int64]
    graph: NDArray[np.int64]
    attributes: NDArray[np.float64]
    labels: NDArray[np.int64]


@checked
def load_protein(
    data_dir: str | os.PathLike[str] | None = None,
    *,
    keep: Keep = "paper",
    standardize: Standardize = "feature",
) -> list[Graph]:
    """Load the protein graphs; a node is a helix (label 0), a strand (1) or a turn (2).

    The paper calls the label a functional role. What the 29 attributes are is not written in the
    archive; the numbers show: first and last residue and length (columns 0-2), length in space (3),
    a strand's direction (4: -1, 0 or 1, and 0 for all but label 1), four chemical sums over the
    residues (5-8), twelve counts of residues in classes (9-20; 11 and 20 are equal), and eight
    values that are the same for all nodes of a graph (21-28).

    `node_ids` are the node numbers of the original files, which start at 1.

    Args:
        data_dir: A folder with `protein/PROTEINS_full.zip`. By default, or if it is not there: the
            folder that the environment variable `PGNN_DATA` names, then the user's cache, into
            which it is downloaded.
        keep: "paper": all 1,113 graphs as they are. "released": what the released code keeps:
            isolated nodes are dropped, then graphs of 20 to 1,000 nodes kept in which at most
            n * n / 4 pairs of nodes have the same label (364 graphs).
        standardize: "feature": each attribute over all nodes that are kept; "node": each node over
            its attributes, as in the released code; None: not at all.

    Raises:
        PGNNError: If the file is absent and cannot be downloaded, or damaged.
    """
    check_standardize(standardize)
    one_of("keep", keep, get_args(Keep))
    (path,) = obtain(FILES, data_dir)
    tables = check_archive(read_bytes(path), str(path))
    return build(tables, keep=keep, standardize=standardize)


def build(tables: Tables, *, keep: Keep, standardize: Standardize) -> list[Graph]:
    """Make the graphs that `keep` keeps."""
    group = tables.graph if keep == "paper" else _released_groups(tables)
    kept = group >= 0
    x = np.zeros(tables.attributes.shape, dtype=np.float32)
    x[kept] = standardized(tables.attributes[kept], standardize)
    numbers = np.arange(1, len(group) + 1)
    return split(tables.edges, group, x=x, y=tables.labels, node_ids=numbers)


def read_archive(data: bytes, source: str) -> Tables:
    """Read the text files of a TUDataset archive with 29 node attributes.

    Raises:
        PGNNError: If a file is missing, damaged, or does not fit the others.
    """

    def text(name: str) -> tuple[bytes, str]:
        return members[f"PROTEINS_full_{name}.txt"], f"{source}, {name}"

    members = _unpack(data, source, ("A", "graph_indicator", "node_attributes", "node_labels"))
    edges = parse_integers(*text("A"), columns=2, delimiter=",") - 1
    graph = parse_integers(*text("graph_indicator"), columns=1)[:, 0] - 1
    attributes = parse_floats(*text("node_attributes"), columns=NUM_ATTRIBUTES, delimiter=",")
    labels = parse_integers(*text("node_labels"), columns=1)[:, 0]
    expect(len(attributes), len(graph), "nodes", f"{source}, node_attributes")
    expect(len(labels), len(graph), "nodes", f"{source}, node_labels")
    if not np.array_equal(np.unique(graph), np.arange(graph.max() + 1)):
        raise PGNNError(f"{source}, graph_indicator: graphs must be numbered 1, 2, ... without gap")
    outside = ((edges < 0) | (edges >= len(graph))).any(axis=1)
    if outside.any() or (graph[edges[:, 0]] != graph[edges[:, 1]]).any():
        where = outside if outside.any() else graph[edges[:, 0]] != graph[edges[:, 1]]
        line = int(np.flatnonzero(where)[0])
        raise PGNNError(
            f"{source}, A, line {line + 1}: {(edges[line] + 1).tolist()} does not join two nodes "
            "of one graph"
        )
    return Tables(edges, graph, attributes, labels)


def check_archive(data: bytes, source: str) -> Tables:
    """Read the archive and compare its counts with the original's."""
    tables = read_archive(data, source)
    expect(len(tables.graph), COUNTS.nodes, "nodes", source)
    expect(int(tables.graph.max()) + 1, COUNTS.graphs, "graphs", source)
    expect(len(tables.edges), COUNTS.edge_entries, "lines of edges", source)
    expect(len(np.unique(tables.labels)), COUNTS.labels, "node labels", source)
    return tables


def _unpack(data: bytes, source: str, names: tuple[str, ...]) -> dict[str, bytes]:
    """The named text files, in whatever folder of the archive they are."""
    wanted = {f"PROTEINS_full_{name}.txt" for name in names}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            paths = {path.rsplit("/", 1)[-1]: path for path in archive.namelist()}
            if missing := sorted(wanted - paths.keys()):
                raise PGNNError(f"{source}: the archive has no {', '.join(missing)}")
            return {name: archive.read(paths[name]) for name in wanted}
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise PGNNError(
            f"{source}: is not a whole zip archive ({error}); delete it and load the data set again"
        ) from error


def _released_groups(tables: Tables) -> NDArray[np.int64]:
    """The graph of each node, numbered anew among those that the released code keeps, or -1."""
    connected = np.zeros(len(tables.graph), dtype=bool)
    connected[tables.edges] = True
    num_graphs = int(tables.graph.max()) + 1
    _, label = np.unique(tables.labels, return_inverse=True)
    counts = np.zeros((num_graphs, int(label.max()) + 1), dtype=np.int64)  # [graph, label]
    np.add.at(counts, (tables.graph[connected], label[connected]), 1)
    nodes = counts.sum(axis=1)
    same_label_pairs = (counts * (counts - 1) // 2).sum(axis=1)
    kept = (nodes >= 20) & (nodes <= 1_000) & (4 * same_label_pairs <= nodes**2)
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    return np.where(connected, number[tables.graph], -1)


FILES = (
    RemoteFile(
        "protein/PROTEINS_full.zip",
        "https://www.chrsmrrs.com/graphkerneldatasets/PROTEINS_full.zip",
        check_archive,
    ),
)
