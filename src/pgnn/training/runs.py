"""Run directories: everything a training run leaves behind, in files that execute nothing.

config.toml         the options; `pgnn train --config` does it again
model.safetensors   the trained learner, and its anchor-sets by node id
history.csv         loss and AUCs, epoch by epoch
nodes.csv           row of the arrays and your id of each node, and its label
graph.npz           the graph as the model saw it, and the pairs it was judged by
metrics.json        the result, and the hashes of the others; written last
checkpoint.safetensors   the state of training, for --resume
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import check_rows
from pgnn.graph.sides import Sides
from pgnn.io import id_array
from pgnn.io.limits import check_archive, read_file
from pgnn.io.write import make_folder, open_atomic, sweep, write_columns
from pgnn.names import BEST
from pgnn.pairs.codes import as_pairs, edge_codes, is_among
from pgnn.pairs.sets import PairSet
from pgnn.training.fit import Epoch
from pgnn.training.learners import AnyLearner, load_learner
from pgnn.training.outcome import Outcome

FORMAT = 2
_LONGEST = 10_000  # characters of an option
_MOST_DIGITS = 12  # of an epoch's number
_COMPRESSED_ENTRIES = 1 << 22  # of a graph's rows, up to which its file is compressed
CHECKPOINT = "checkpoint.safetensors"
_CONFIG, _METRICS, _HISTORY = "config.toml", "metrics.json", "history.csv"
_MODEL, _GRAPH = "model.safetensors", "graph.npz"
_HISTORY_COLUMNS = ("epoch", "loss", "val_auc", "test_auc")


@dataclass(frozen=True, eq=False)
class RunData:
    """The graph of a run and the pairs it was judged by.

    Attributes:
        graph: The whole graph. Of a data set of several, the first that it was judged by.
        seen: The graph as the model saw it in training: of links, training edges only.
        pairs: The pairs of that graph it was judged by.
    """

    graph: Graph
    seen: Graph
    pairs: PairSet


@dataclass(frozen=True, eq=False)
class Run:
    """A finished training run.

    Attributes:
        folder: Where it is.
        learner: The trained model.
        outcome: The result.
        history: One record per epoch.
        config: The options it was made with.
        graph_hash: What the file of its graph must hash to.
    """

    folder: Path
    learner: AnyLearner
    outcome: Outcome
    history: list[dict[str, float | None]]
    config: dict[str, Any]
    graph_hash: str

    @cached_property
    def data(self) -> RunData:
        """Its graph and pairs, read when they are first needed.

        Raises:
            PGNNError: If the file is not the one that the run wrote, or is damaged.
        """
        path = self.folder / _GRAPH
        return _read_data(path, _checked_bytes(path, self.graph_hash))


def claim_folder(folder: Path, config: Mapping[str, Any], *, resume: bool) -> bool:
    """Make the folder of a run that begins, and keep its options there.

    A run that goes on from a checkpoint keeps the options that it began with.

    Returns:
        Whether the file of options is new there: what `release_folder` may remove.

    Raises:
        PGNNError: If a run is there already, finished or cut off, and is not to be resumed.
    """
    import tomli_w

    if (folder / _METRICS).exists() and not resume:
        raise PGNNError(
            f"{folder} holds a finished run; give another ", Parameter("out"),
            ", or remove that folder first",
        )  # fmt: skip
    if (folder / CHECKPOINT).exists() and not resume:
        raise PGNNError(
            f"{folder} holds a run that was cut off; go on with ", Parameter("resume"),
            ", give another ", Parameter("out"), ", or remove that folder first",
        )  # fmt: skip
    make_folder(folder)
    sweep(folder)
    is_new = not (folder / _CONFIG).exists()
    if not (folder / CHECKPOINT).exists():
        _write(folder / _CONFIG, tomli_w.dumps(_without_none(config)).encode())
    return is_new


def release_folder(folder: Path) -> None:
    """Remove the options of a run that failed before anything of it was kept."""
    if not (folder / CHECKPOINT).exists() and not (folder / _METRICS).exists():
        (folder / _CONFIG).unlink(missing_ok=True)


def save_run(
    folder: str | Path,
    *,
    learner: AnyLearner,
    graph: Graph,
    seen: Graph,
    pairs: PairSet,
    outcome: Outcome,
    history: Sequence[Epoch],
) -> None:
    """Finish a run directory; each file is there whole or not at all, metrics.json last.

    Raises:
        PGNNError: If the folder or a file cannot be written.
    """
    place = Path(folder)
    hashes = {_MODEL: learner.save(place / _MODEL)}
    hashes[_HISTORY] = _write(place / _HISTORY, _history_csv(history))
    _write_nodes(place / "nodes.csv", graph)
    hashes[_GRAPH] = _write(place / _GRAPH, _graph_npz(graph, seen, pairs))
    document = {"format": FORMAT, **outcome.to_json(), "sha256": hashes}
    _write(place / _METRICS, json.dumps(document, indent=2).encode())


@checked
def load_run(folder: str | Path, *, device: str = "cpu") -> Run:
    """Read a run directory; nothing in it is executed.

    Raises:
        PGNNError: If it is no run directory, unfinished, damaged, or of a newer format.
    """
    place = Path(folder)
    metrics = _metrics(place)
    hashes = metrics["sha256"]
    _checked_bytes(place / _MODEL, hashes.get(_MODEL))
    history = _read_history(place / _HISTORY)
    if _HISTORY in hashes:  # not of earlier versions
        _checked_bytes(place / _HISTORY, hashes[_HISTORY])
    try:
        outcome = Outcome.from_json(metrics)
    except PGNNError as error:
        raise PGNNError(f"{place / _METRICS}: is damaged ({error}); train anew") from error
    return Run(
        folder=place,
        learner=load_learner(place / _MODEL, device=device),
        outcome=outcome,
        history=history,
        config=read_config(place / _CONFIG),
        graph_hash=str(hashes.get(_GRAPH)),
    )


def _metrics(place: Path) -> dict[str, Any]:
    if not place.is_dir():
        raise PGNNError(f"{place}: there is no such run directory; `pgnn train --out` makes one")
    path = place / _METRICS
    if not path.is_file():
        unfinished = (place / CHECKPOINT).exists()
        if unfinished:
            raise PGNNError(
                f"{place}: is not finished (it has no metrics.json); resume its training first"
            )
        raise PGNNError(f"{place}: is no run directory (it has no metrics.json)")
    try:
        document = json.loads(read_file(path))
        version = document["format"]
        if not isinstance(version, int) or not isinstance(document["sha256"], dict):
            raise TypeError("format")
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise PGNNError(f"{path}: is damaged ({error}); train anew") from error
    if version > FORMAT:
        raise PGNNError(f"{path}: the run has format {version}, newer than {FORMAT}; update pgnn")
    if version == 1 and document.get("model") == BEST:
        raise PGNNError(
            f"{path}: the run is of an earlier version, whose {BEST} was another model; train anew"
        )
    return dict(document)


# ---------------------------------------------------------------------- single files


def _write(path: Path, data: bytes) -> str:
    """Write a file and return the hash of what was written."""
    with open_atomic(path) as file:
        file.write(data)
    return _sha256(data)


def _read(path: Path) -> bytes:
    try:
        return read_file(path)
    except OSError as error:
        raise PGNNError(f"{path}: cannot be read ({error.strerror}); train anew") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _checked_bytes(path: Path, wanted: str | None) -> bytes:
    content = _read(path)
    if _sha256(content) != wanted:
        raise PGNNError(f"{path}: is not the file that the run wrote; train anew")
    return content


def _without_none(config: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was not given: TOML has no word for it."""
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in config.items()
        if value is not None
    }


def read_config(path: Path) -> dict[str, Any]:
    """Return the options that a run was made with.

    Raises:
        PGNNError: If the file cannot be read, or an option is of the wrong kind.
    """
    try:
        config = tomllib.loads(read_file(path).decode())
        table = config.get("train", {})
        if not isinstance(table, dict):
            raise ValueError("train must be a table of options")
        for option, value in table.items():
            _check_option(option, value)
    except (OSError, ValueError, RecursionError) as error:
        raise PGNNError(f"{path}: is damaged ({error})") from error
    return config


_TEXTS = ("graph", "features", "source", "target", "weight", "id_column", "label", "device")
_FLAGS = ("directed", "unweighted", "header", "one_hot")


def _check_option(name: str, value: Any) -> None:
    """Refuse an option that no command wrote."""
    values = value if isinstance(value, list) else [value]
    plain = all(isinstance(entry, str | int | float | bool) for entry in values)
    if not plain or (name in _TEXTS and not isinstance(value, str)):
        raise ValueError(f"{name} must be {'a text' if name in _TEXTS else 'one value'}")
    if name in _FLAGS and not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false")
    if any(isinstance(entry, str) and len(entry) > _LONGEST for entry in values):
        raise ValueError(f"{name} has more than {_LONGEST:,} characters")


def _history_csv(history: Sequence[Epoch]) -> bytes:
    lines = [",".join(_HISTORY_COLUMNS)]
    for record in history:
        numbers = (record.loss, record.val_auc, record.test_auc)
        lines.append(
            ",".join([str(record.epoch), *("" if n is None else repr(n) for n in numbers)])
        )
    return ("\n".join(lines) + "\n").encode()


def _read_history(path: Path) -> list[dict[str, float | None]]:
    try:
        text = read_file(path).decode()
        names, *rows = (line.split(",") for line in text.splitlines())
        if tuple(names) != _HISTORY_COLUMNS:
            raise ValueError(f"its columns must be {', '.join(_HISTORY_COLUMNS)}")
        for row in rows:
            if not row[0].isdecimal() or len(row[0]) > _MOST_DIGITS:
                raise ValueError(f"an epoch must be a number (got {row[0][:20]!r})")
        return [{n: _finite(v) for n, v in zip(names, row, strict=True)} for row in rows]
    except (OSError, ValueError) as error:
        raise PGNNError(f"{path}: is damaged ({error})") from error


def _finite(field: str) -> float | None:
    """Return a number; None for none, and for what a curve cannot show."""
    value = float(field) if field else math.nan
    return value if math.isfinite(value) else None


def _write_nodes(path: Path, graph: Graph) -> None:
    columns = {"index": np.arange(graph.num_nodes), "id": id_array(graph)}
    if graph.y is not None:
        labels = np.array(["" if label is None else label for label in graph.labels()])
        columns["label"] = graph.y if graph.classes is None else labels
    write_columns(path, columns, {})


def _graph_npz(graph: Graph, seen: Graph, pairs: PairSet) -> bytes:
    arrays = {
        name: getattr(graph, name)
        for name in ("indptr", "indices", "weights", "x", "y", "classes")
        if getattr(graph, name) is not None
    }
    if graph.sides is not None:
        arrays |= {"left": graph.sides.left, "right": graph.sides.right}
        arrays["between"] = np.array(graph.sides.names)
    file = io.BytesIO()
    # Rows of a large graph shrink by a quarter, and that takes longer than all else that is saved.
    save = np.savez if len(graph.indices) > _COMPRESSED_ENTRIES else np.savez_compressed
    save(
        file,
        allow_pickle=False,
        **arrays,
        node_ids=id_array(graph),
        seen=is_among(_codes(graph), _codes(seen)),
        directed=np.array(graph.directed),
        pairs=pairs.pairs,
        labels=pairs.labels,
    )
    return file.getvalue()


def _codes(graph: Graph) -> NDArray[np.int64]:
    """Return one code per edge, sorted as edges are."""
    return edge_codes(graph.edges(), graph.num_nodes, directed=graph.directed)


def _read_data(path: Path, content: bytes) -> RunData:
    try:
        check_archive(path, content)
        # numpy would leave the file open if it is no archive.
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = dict(file)
        graph = _checked_graph(arrays)
        mask = arrays["seen"]
        if mask.dtype != np.bool_ or mask.shape != (graph.num_edges,):
            raise ValueError("it does not say of each edge whether it was seen")
        pairs = PairSet(as_pairs(arrays["pairs"], graph.num_nodes), arrays["labels"])
        return RunData(graph, graph.with_edges(mask), pairs)
    except Exception as error:  # of zipfile, zlib, numpy or what was written
        raise PGNNError(f"{path}: is damaged ({error}); train anew") from error


def _checked_graph(arrays: Mapping[str, Any]) -> Graph:
    """Build the graph anew: kernels trust a Graph, and a file may hold anything."""
    indptr, indices = arrays["indptr"], arrays["indices"]
    check_rows(indptr, indices, arrays.get("weights"))
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    y, classes = arrays.get("y"), arrays.get("classes")
    graph = Graph.from_edges(
        np.stack([rows, indices], axis=1),
        len(indptr) - 1,
        weights=arrays.get("weights"),
        directed=bool(arrays["directed"]),
        x=arrays.get("x"),
        y=y,
        node_ids=arrays["node_ids"],
    )
    for name in ("indptr", "indices", "weights", "y"):
        made: Any = getattr(graph, name)
        if not np.array_equal(made, arrays.get(name)):  # type: ignore[arg-type]
            raise ValueError(f"its {name} are not those of a graph")
    if "between" in arrays:
        left, right = arrays["between"].astype(str).tolist()
        sides = Sides(arrays["left"], arrays["right"], (left, right))
        if len(sides.left) != graph.num_nodes:
            raise ValueError("its sides are not those of its nodes")
        graph = replace(graph, sides=sides)
    graph = replace(graph, dropped_repeats=0)  # each edge is stored from both its ends
    if classes is None:
        return graph
    if graph.y is None or graph.y.min() < -1 or classes.shape <= (graph.y.max(),):
        raise ValueError("its labels are not of its classes")
    return replace(graph, classes=classes)
