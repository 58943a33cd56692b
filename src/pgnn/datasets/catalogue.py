"""What is known of each data set, and the one door through which all of them are loaded."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from pgnn.checks import checked
from pgnn.datasets.email import FILES as EMAIL_FILES
from pgnn.datasets.email import load_email
from pgnn.datasets.features import Standardize, check_standardize
from pgnn.datasets.places import data_folders, find
from pgnn.datasets.ppi import load_ppi, source_of
from pgnn.datasets.protein import FILES as PROTEIN_FILES
from pgnn.datasets.protein import Keep, load_protein
from pgnn.datasets.synthetic import communities, grid
from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.names import DATASETS


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set without loading it.

    Attributes:
        name: What `load` calls it.
        graphs: Number of graphs.
        nodes: Nodes of all graphs.
        edges: Edges of all graphs, each once, without self-loops.
        features: Features per node; 1 where it is the constant 1.
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
_ROWS = (
    DatasetInfo("grid", 1, 400, 760, 1, _LINK, "20 x 20 grid", True),
    DatasetInfo("communities", 1, 400, 3_800, 1, _LINK + _PAIR, _CAVEMAN, True),
    DatasetInfo("ppi", 24, 56_658, 793_617, 50, _LINK, _PPI_SOURCE, False),
    DatasetInfo("email", 7, 920, 7_201, 1, _PAIR, "SNAP email-Eu-core", False),
    DatasetInfo("protein", 1_113, 43_471, 81_044, 29, _PAIR, "TUDataset PROTEINS_full", False),
)
_CATALOGUE = {row.name: row for row in _ROWS}


@checked
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
    raise PGNNError(f"there is no data set {name!r}; the names are {', '.join(DATASETS)}")


@checked
def describe(data_dir: str | os.PathLike[str] | None = None) -> list[DatasetInfo]:
    """List the data sets in the order of the paper; nothing is read or downloaded.

    Args:
        data_dir: As for `load`; decides what is `present`.

    Example:
        >>> [row.name for row in describe()]
        ['grid', 'communities', 'ppi', 'email', 'protein']
    """
    folders = data_folders(data_dir)
    rows = dict(_CATALOGUE)
    for name, files in (("email", EMAIL_FILES), ("protein", PROTEIN_FILES)):
        present = find([file.path for file in files], folders) is not None
        rows[name] = replace(rows[name], present=present)
    ppi_source = source_of(data_dir)
    rows["ppi"] = replace(rows["ppi"], present=ppi_source is not None)
    if ppi_source == "recovered":
        rows["ppi"] = replace(rows["ppi"], source=f"{_PPI_SOURCE}; features partly recovered")
    return [rows[name] for name in DATASETS]
