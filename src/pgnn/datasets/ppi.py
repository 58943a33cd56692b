"""PPI: 24 protein-interaction graphs of human tissues."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
import zlib
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.datasets.features import Standardize, check_standardize, standardized
from pgnn.datasets.numbers import expect
from pgnn.datasets.parts import components, split
from pgnn.datasets.places import (
    RemoteFile,
    cache_folder,
    data_folders,
    find,
    obtain,
    read_bytes,
    store,
)
from pgnn.errors import PGNNError
from pgnn.graph import Graph

NUM_FEATURES = 50
SMALLEST_GRAPH = 11  # nodes
RECOVERED = ("ppi/ppi_structure.npz", "ppi/ppi_features_recovered.npz")
MEMBERS = tuple(
    f"{split}_{name}"
    for split, name in product(
        ("train", "valid", "test"), ("feats.npy", "graph_id.npy", "graph.json", "labels.npy")
    )
)

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError)


@dataclass(frozen=True)
class Counts:
    """What the components of more than 10 nodes hold; an edge counts once, self-loops do not."""

    graphs: int = 24
    nodes: int = 56_658
    edges: int = 793_617


COUNTS = Counts()


class Tables(NamedTuple):
    """All nodes of the source, also those in small components, and the 50 binary features."""

    edges: NDArray[np.int64]
    features: NDArray[np.bool_]


@checked
def load_ppi(
    data_dir: str | os.PathLike[str] | None = None, *, standardize: Standardize = "feature"
) -> list[Graph]:
    """Load the 24 protein-interaction graphs: the connected components of more than 10 nodes.

    The 50 features say which gene sets a protein belongs to. There are no labels here: the paper's
    link prediction does not use them. `node_ids` are row numbers of the source. Self-loops are
    dropped.

    The source is `ppi/ppi.zip`, the archive behind PyTorch Geometric's `PPI` class, which reads it;
    that takes a minute and much memory once, then the result is kept in the cache. A folder
    without it may hold `ppi/ppi_structure.npz` and `ppi/ppi_features_recovered.npz` instead: the
    same graphs, but features that were partly recovered from other publications; in 1,921 of 56,944
    rows some or all are unknown and 0. Say so beside figures that come from them;
    `source_of` tells which it is.

    Args:
        data_dir: A folder with either. By default, or if neither is there: the folder that the
            environment variable `PGNN_DATA` names, then the user's cache, into which the archive is
            downloaded.
        standardize: "feature": each feature over all nodes; "node": each node over its features;
            None: 0 and 1.

    Raises:
        PGNNError: If the files are absent and cannot be downloaded, or damaged.
    """
    check_standardize(standardize)
    paths = _find(data_dir) or obtain(FILES, data_dir)
    tables = _read_archive(paths[0]) if len(paths) == 1 else _read_recovered(*paths)
    return build(tables, standardize=standardize, source=str(paths[0]))


def source_of(data_dir: str | os.PathLike[str] | None = None) -> str | None:
    """Tell what `load_ppi` would read: "published" or "recovered" features; None for no files."""
    paths = _find(data_dir)
    return None if paths is None else ("published" if len(paths) == 1 else "recovered")


def build(tables: Tables, *, standardize: Standardize, source: str) -> list[Graph]:
    """Make the graphs and compare their counts with what is known of the data set."""
    num_nodes = len(tables.features)
    group = components(tables.edges, num_nodes, more_than=SMALLEST_GRAPH - 1)
    kept = group >= 0
    expect(int(group.max()) + 1, COUNTS.graphs, "components of more than 10 nodes", source)
    expect(int(kept.sum()), COUNTS.nodes, "nodes in them", source)
    x = np.zeros((num_nodes, NUM_FEATURES), dtype=np.float32)
    x[kept] = standardized(tables.features[kept].astype(np.float64), standardize)
    graphs = split(tables.edges, group, x=x, node_ids=np.arange(num_nodes))
    expect(sum(graph.num_edges for graph in graphs), COUNTS.edges, "edges in them", source)
    return graphs


def _find(data_dir: str | os.PathLike[str] | None) -> list[Path] | None:
    """The archive or the two recovered files of the first folder that has either."""
    for folder in data_folders(data_dir):
        if paths := find([FILES[0].path], [folder]) or find(RECOVERED, [folder]):
            return paths
    return None


def _read_recovered(structure: Path, features: Path) -> Tables:
    """Read the two files that hold complete structure and partly recovered features."""
    edges, graph = _read_arrays(structure, "edges", "graph")
    (packed,) = _read_arrays(features, "feats_packed")
    num_nodes = len(graph)
    expect(len(packed), num_nodes, "rows", str(features))
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.max(initial=0) >= num_nodes:
        raise PGNNError(f"{structure}: edges must be pairs of the {num_nodes:,} nodes of the file")
    return Tables(edges.astype(np.int64), _unpacked(packed))


def _read_archive(path: Path) -> Tables:
    """Read the archive through PyTorch Geometric once; afterwards what was kept in the cache."""
    data = read_bytes(path)
    key = hashlib.sha256(data).hexdigest()[:16]
    kept = cache_folder() / "ppi" / f"ppi_graphs_{key}.npz"
    if not kept.is_file():
        edges, features = convert_archive(data, str(path))
        build(Tables(edges, features), standardize=None, source=str(path))  # counts
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer, edges=edges.astype(np.int32), feats_packed=np.packbits(features, axis=1)
        )
        store(kept, buffer.getvalue())
    edges, packed = _read_arrays(kept, "edges", "feats_packed")
    return Tables(edges.astype(np.int64), _unpacked(packed))


def _read_arrays(path: Path, *names: str) -> list[NDArray[Any]]:
    """Read arrays of an npz file."""
    try:
        with np.load(io.BytesIO(read_bytes(path))) as arrays:
            return [arrays[name] for name in names]
    except _DAMAGED as error:
        raise PGNNError(
            f"{path}: is damaged or truncated ({error}); delete or replace it and load again"
        ) from error


def _unpacked(packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Features from bytes that hold eight each."""
    return np.unpackbits(packed, axis=1)[:, :NUM_FEATURES].astype(bool)


# ---------------------------------------------------------------------- the archive


def check_archive(data: bytes, source: str) -> dict[str, bytes]:
    """Unpack the twelve files; the archive's checksums say whether they are whole.

    Raises:
        PGNNError: If one is missing or the archive is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            paths = {path.rsplit("/", 1)[-1]: path for path in archive.namelist()}
            if missing := [name for name in MEMBERS if name not in paths]:
                raise PGNNError(f"{source}: the archive has no {', '.join(missing)}")
            return {name: archive.read(paths[name]) for name in MEMBERS}
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise PGNNError(
            f"{source}: is not a whole zip archive ({error}); delete it and load the data set again"
        ) from error


def convert_archive(data: bytes, source: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Edges (each once, without self-loops) and binary features of all graphs, numbered through.

    PyTorch Geometric would download by itself, but without a time limit and without checking the
    server's certificate; so it is given the files and only reads them.
    """
    members = check_archive(data, source)
    from torch_geometric.datasets import PPI

    edges, features, start = [], [], 0
    with TemporaryDirectory() as root:
        (Path(root) / "raw").mkdir()
        for name, content in members.items():
            (Path(root) / "raw" / name).write_bytes(content)
        try:
            for part in ("train", "val", "test"):
                dataset = PPI(root, split=part)
                graphs = [Graph.from_pyg(item, directed=False) for item in dataset]
                features.append(_binary(graphs, source))
                for graph in graphs:
                    edges.append(graph.edges().astype(np.int64) + start)
                    start += graph.num_nodes
        except PGNNError:
            raise
        except (EOFError, KeyError, IndexError, OSError, RuntimeError, ValueError) as error:
            raise PGNNError(
                f"{source}: PyTorch Geometric cannot read it ({type(error).__name__}: {error}); "
                "delete it and load the data set again"
            ) from error
    return np.concatenate(edges), np.concatenate(features)


def _binary(graphs: list[Graph], source: str) -> NDArray[np.bool_]:
    """Undo the standardisation that the archive's features went through.

    A standardised column of zeros and ones is below 0 where it was 0, above 0 where it was 1; one
    that was 0 throughout is still 0.
    """
    x = np.concatenate([graph.x for graph in graphs if graph.x is not None])
    for column in x.T:
        if len(np.unique(column)) > 2:
            raise PGNNError(f"{source}: features must have two values each (got more)")
    return x > 0


FILES = (RemoteFile("ppi/ppi.zip", "https://data.dgl.ai/dataset/ppi.zip", check_archive),)
