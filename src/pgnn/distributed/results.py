"""Distances in a folder: one file per part, and a summary that comes last.

- `part-0000-of-0002.npz`, ...: the rows of one rank: `ids`, the ids of its nodes; `hops` (or
  `lengths`, of a weighted graph) and `nearest`, as `AnchorDistances` has them, `[rows, num_sets]`.
  Parts in order are the nodes in order; `nearest` counts nodes over all parts.
- `distances.json`: how many parts, nodes, edges and sets there are, and the seed of the sets. It is
  written when all parts are, so a folder without it is not whole.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked, integer
from pgnn.distributed.agreement import Exchanging, agreed
from pgnn.distributed.partitioned import resolve_group
from pgnn.errors import Parameter, PGNNError
from pgnn.graph.arrays import as_written_ids, check_array
from pgnn.io.limits import read_file
from pgnn.io.write import StrPath, as_path, make_folder, open_atomic
from pgnn.positions.anchors import AnchorSets, sample_anchor_sets
from pgnn.positions.distances import AnchorDistances

SUMMARY = "distances.json"


@checked
@dataclass(frozen=True)
class Summary:
    """What `distances.json` says.

    Attributes:
        num_parts: How many parts there are.
        num_nodes: Nodes of the graph.
        num_edges: Its edges.
        directed: Whether edges go one way.
        num_sets: How many anchor-sets there are.
        seed: What `sample_anchor_sets(num_nodes, num_sets=num_sets, rng=seed)` drew them with.
        cutoff: How far was searched; None for no bound.
    """

    num_parts: int
    num_nodes: int
    num_edges: int
    directed: bool
    num_sets: int
    seed: int
    cutoff: float | None


@dataclass(frozen=True)
class StoredDistances:
    """Distances that were read from a folder.

    Attributes:
        distances: Those of all nodes, as `pgnn.anchor_distances` gives them.
        node_ids: The id of each node: int64 or strings.
        summary: What the folder says about them.
    """

    distances: AnchorDistances
    node_ids: NDArray[Any]
    summary: Summary

    def sets(self) -> AnchorSets:
        """Draw the anchor-sets again that the distances lead to."""
        summary = self.summary
        return sample_anchor_sets(summary.num_nodes, num_sets=summary.num_sets, rng=summary.seed)


def check_folder(folder: Path) -> None:
    """Look whether distances can go to a folder; before long work, whose result needs a place.

    Raises:
        PGNNError: If it is a file, or is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PGNNError(f"{folder}: is not empty; give a new folder as ", Parameter("out"))


@checked
def write_distances(
    folder: StrPath,
    distances: AnchorDistances,
    node_ids: NDArray[Any],
    summary: Summary,
    *,
    group: Exchanging | None = None,
) -> None:
    """Write this rank's rows, and, as rank 0, the summary; all ranks call it together.

    Args:
        folder: An empty folder, or one to be made; of several machines, each writes to its own
            unless they share it.
        distances: Those of this rank's nodes.
        node_ids: The ids of this rank's nodes.
        summary: What there is in all; `num_parts` is the size of the group.
        group: Those who write the other parts; by default the processes that torchrun started, or
            this one alone.

    Raises:
        PGNNError: On all ranks, if one cannot write its part.
    """
    group = resolve_group(group)
    with agreed(group):
        place = as_path(folder, "folder")
        check_array("node_ids", node_ids)
        if len(node_ids) != distances.num_nodes:
            raise PGNNError(
                Parameter("node_ids"),
                f" must have one entry per row, [{distances.num_nodes}] (got [{len(node_ids)}])",
            )
        make_folder(place)
        kind = "hops" if distances.lengths is None else "lengths"
        arrays = {
            "ids": as_written_ids(node_ids),
            kind: distances.distance,
            "nearest": distances.nearest,
        }
        with open_atomic(place / part_name(group.rank, group.size)) as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # no array is named allow_pickle
    with agreed(group):
        if group.rank == 0:
            with open_atomic(place / SUMMARY) as file:
                file.write(json.dumps(asdict(summary), indent=2).encode() + b"\n")


def part_name(part: int, num_parts: int) -> str:
    """Return the name of a part's file.

    Example:
        >>> part_name(1, 16)
        'part-0001-of-0016.npz'
    """
    return f"part-{part:04d}-of-{num_parts:04d}.npz"


@checked
def read_distances(folder: StrPath) -> StoredDistances:
    """Read what `pgnn distances` or `write_distances` wrote, all parts, in one process.

    Raises:
        PGNNError: If the folder is not whole, or a file is damaged.
    """
    place = as_path(folder, "folder")
    summary = _read_summary(place / SUMMARY)
    parts = [
        _read_part(place / part_name(part, summary.num_parts)) for part in range(summary.num_parts)
    ]
    kinds = {kind for _, kind, _, _ in parts}
    rows = sum(len(ids) for ids, *_ in parts)
    widths = {array.shape[1:] for part in parts for array in part[2:]}
    if len(kinds) > 1 or rows != summary.num_nodes or widths != {(summary.num_sets,)}:
        raise PGNNError(f"{place}: its parts do not fit {SUMMARY}; they are of several runs")
    ids, _, distance, nearest = (list(column) for column in zip(*parts, strict=True))
    whole = AnchorDistances(
        np.concatenate(nearest), **{kinds.pop(): np.concatenate(distance)}, cutoff=summary.cutoff
    )
    return StoredDistances(whole, np.concatenate(ids), summary)


def _read_summary(path: Path) -> Summary:
    try:
        document = json.loads(read_file(path))
        summary = Summary(**document)
        for name in ("num_parts", "num_nodes", "num_sets"):
            integer(name, getattr(summary, name), at_least=1, at_most=2**31 - 1)
    except FileNotFoundError as error:
        raise PGNNError(
            f"{path.parent}: has no {SUMMARY}, so it holds no distances or not all parts"
        ) from error
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise PGNNError(f"{path}: is damaged ({error}); compute the distances again") from error
    return summary


def _read_part(path: Path) -> tuple[NDArray[Any], str, NDArray[Any], NDArray[np.int32]]:
    try:
        if not path.is_file():  # a pipe would be waited for
            raise FileNotFoundError(2, "there is no such file", str(path))
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            kind = "hops" if "hops" in arrays else "lengths"
            ids, distance, nearest = (arrays[name] for name in ("ids", kind, "nearest"))
        AnchorDistances(nearest, **{kind: distance})
        if ids.shape != distance.shape[:1]:
            raise PGNNError("it has not one id per row")
    except FileNotFoundError as error:
        raise PGNNError(
            f"{path}: there is no such part; put the parts of all machines in one folder"
        ) from error
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise PGNNError(f"{path}: is damaged ({error}); compute the distances again") from error
    return ids, kind, distance, nearest
