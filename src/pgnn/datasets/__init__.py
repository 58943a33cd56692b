"""The data sets of the paper, by name: `pgnn.datasets.load("communities", seed=0)`."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from pgnn.datasets import email as _email
from pgnn.datasets import ppi as _ppi
from pgnn.datasets import protein as _protein
from pgnn.datasets.email import load_email as load_email
from pgnn.datasets.features import Standardize as Standardize
from pgnn.datasets.features import check_standardize
from pgnn.datasets.features import with_constant_features as with_constant_features
from pgnn.datasets.features import with_one_hot_features as with_one_hot_features
from pgnn.datasets.places import data_folders, find
from pgnn.datasets.ppi import load_ppi as load_ppi
from pgnn.datasets.protein import Keep as Keep
from pgnn.datasets.protein import load_protein as load_protein
from pgnn.datasets.synthetic import communities as communities
from pgnn.datasets.synthetic import grid as grid
from pgnn.errors import PGNNError
from pgnn.graph import Graph


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set without loading it.

    Attributes:
        name: What `load` calls it.
        graphs: Number of graphs.
        nodes: Nodes of all graphs.
        edges: Edges of all graphs, each once, without self-loops.
        features: Features of a node; 1 where it is the constant 1.
        tasks: What the paper predicts on it: "link" (is there an edge), "pair" (same label).
        source: Where it comes from.
        present: Whether `load` can give it without downloading.
    """

    name: str
    graphs: int
    nodes: int
    edges: int
    features: int
    tasks: tuple[str, ...]
    source: str
    present: bool


_LINK, _PAIR = ("link",), ("pair",)
_PPI_SOURCE = "protein interactions in human tissues"
_CAVEMAN = "connected caveman graph, 1% of edges rewired"
_CATALOGUE = (
    DatasetInfo("grid", 1, 400, 760, 1, _LINK, "20 x 20 grid", True),
    DatasetInfo("communities", 1, 400, 3_800, 1, _LINK + _PAIR, _CAVEMAN, True),
    DatasetInfo("ppi", 24, 56_658, 793_617, 50, _LINK, _PPI_SOURCE, False),
    DatasetInfo("email", 7, 920, 7_201, 1, _PAIR, "SNAP email-Eu-core", False),
    DatasetInfo("protein", 1_113, 43_471, 81_044, 29, _PAIR, "TUDataset PROTEINS_full", False),
)
NAMES = tuple(row.name for row in _CATALOGUE)


def load(
    name: str,
    *,
    seed: int = 0,
    data_dir: str | os.PathLike[str] | None = None,
    standardize: Standardize = "feature",
    keep: Keep = "paper",
) -> list[Graph]:
    """Load a data set of the paper as a list of undirected graphs.

    Files are looked for in `data_dir`, in the folder that the environment variable `PGNN_DATA`
    names, and in the user's cache (`pgnn/datasets` in `XDG_CACHE_HOME` or the system's own place);
    what is in none of them is downloaded into the cache. What was read is compared with the known
    counts of the data set.

    Args:
        name: "grid", "communities", "ppi", "email" or "protein".
        seed: Decides which edges of "communities" are rewired; the others have no randomness.
        data_dir: A folder with files of data sets: `email/edges.txt`, `email/labels.txt`,
            `protein/PROTEINS_full.zip`, `ppi/ppi.zip`.
        standardize: How the features of "ppi" and "protein" are standardised: "feature" (each over
            all nodes of the data set), "node" (each node over its features) or None. The others
            have the constant feature 1, which is left as it is.
        keep: Which graphs of "protein": "paper" for all, "released" for those that the released
            code kept.

    Raises:
        PGNNError: For an unknown name or option, and for files that are damaged, or absent and
            not to be downloaded.

    Example:
        >>> load("grid")
        [Graph(num_nodes=400, num_edges=760, num_features=1)]
    """
    check_standardize(standardize)
    match name:
        case "grid":
            return [grid()]
        case "communities":
            return [communities(rng=seed)]
        case "ppi":
            return load_ppi(data_dir, standardize=standardize)
        case "email":
            return load_email(data_dir)
        case "protein":
            return load_protein(data_dir, keep=keep, standardize=standardize)
    raise PGNNError(f"there is no data set {name!r}; the names are {', '.join(NAMES)}")


def describe(data_dir: str | os.PathLike[str] | None = None) -> list[DatasetInfo]:
    """List the data sets in the order of the paper; nothing is read or downloaded.

    Args:
        data_dir: As for `load`; decides what is `present`.

    Example:
        >>> [row.name for row in describe()]
        ['grid', 'communities', 'ppi', 'email', 'protein']
    """
    folders = data_folders(data_dir)
    ppi_source = _ppi.source_of(data_dir)
    present = {"ppi": ppi_source is not None}
    for name, module in (("email", _email), ("protein", _protein)):
        present[name] = find([file.path for file in module.FILES], folders) is not None
    rows = [replace(row, present=present.get(row.name, True)) for row in _CATALOGUE]
    if ppi_source == "recovered":
        rows = [
            replace(row, source=f"{row.source}; features partly recovered")
            if row.name == "ppi"
            else row
            for row in rows
        ]
    return rows
