"""The archive of PPI graphs -> edges and features, read by PyTorch Geometric's class."""

from __future__ import annotations

import io
import zipfile
import zlib
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph

MEMBERS = tuple(
    f"{split}_{name}"
    for split, name in product(
        ("train", "valid", "test"), ("feats.npy", "graph_id.npy", "graph.json", "labels.npy")
    )
)


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
