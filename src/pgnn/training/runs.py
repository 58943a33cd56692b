"""Run directories: everything a training run leaves behind, in files that execute nothing.

config.toml         what was asked; `pgnn train --config` does it again
model.safetensors   the trained learner
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
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.io import id_array
from pgnn.io.atomic import make_folder, open_atomic
from pgnn.io.write import write_columns
from pgnn.pairs.codes import as_pairs, edge_codes, is_among
from pgnn.training.splits import PairSet

if TYPE_CHECKING:
    from pgnn.training.fit import Epoch
    from pgnn.training.learner import Learner

FORMAT = 1
CHECKPOINT = "checkpoint.safetensors"
_HASHED = ("model.safetensors", "graph.npz")
_HISTORY = ("epoch", "loss", "val_auc", "test_auc")


@dataclass(frozen=True, eq=False)
class Run:
    """A finished training run.

    Attributes:
        folder: Where it is.
        learner: The trained model.
        graph: The whole graph. Of a data set of several, the first that it was judged by.
        seen: The graph as the model saw it in training: of links, training edges only.
        pairs: The pairs of that graph it was judged by.
        metrics: The result.
        history: One record an epoch.
        config: What was asked.
    """

    folder: Path
    learner: Learner
    graph: Graph
    seen: Graph
    pairs: PairSet
    metrics: dict[str, Any]
    history: list[dict[str, float | None]]
    config: dict[str, Any]


def check_free(folder: Path) -> None:
    """Raise PGNNError if a finished run is there already."""
    if (folder / "metrics.json").exists():
        raise PGNNError(
            f"{folder} holds a finished run; give another --out, or remove that folder first"
        )


def save_run(
    folder: str | Path,
    *,
    learner: Learner,
    graph: Graph,
    seen: Graph,
    pairs: PairSet,
    metrics: Mapping[str, Any],
    history: Sequence[Epoch],
    config: Mapping[str, Any],
) -> None:
    """Write a run directory; each file is there whole or not at all, metrics.json last.

    Raises:
        PGNNError: If the folder or a file cannot be written.
    """
    import tomli_w

    place = Path(folder)
    make_folder(place)
    learner.save(place / "model.safetensors")
    _write(place / "config.toml", tomli_w.dumps(_without_none(config)).encode())
    _write(place / "history.csv", _history_csv(history))
    _write_nodes(place / "nodes.csv", graph)
    _write_graph(place / "graph.npz", graph, seen, pairs)
    hashes = {name: _sha256(place / name) for name in _HASHED}
    document = {"format": FORMAT, **metrics, "sha256": hashes}
    _write(place / "metrics.json", json.dumps(document, indent=2).encode())


def load_run(folder: str | Path, *, device: str = "cpu") -> Run:
    """Read a run directory; nothing in it is executed.

    Raises:
        PGNNError: If it is no run directory, unfinished, damaged, or of a newer format.
    """
    from pgnn.training.learner import Learner

    place = Path(folder)
    metrics = _metrics(place)
    for name in _HASHED:
        if _sha256(place / name) != metrics["sha256"].get(name):
            raise PGNNError(f"{place / name}: is not the file that the run wrote; train anew")
    graph, seen, pairs = _read_graph(place / "graph.npz")
    return Run(
        folder=place,
        learner=Learner.load(place / "model.safetensors", device=device),
        graph=graph,
        seen=seen,
        pairs=pairs,
        metrics=metrics,
        history=_read_history(place / "history.csv"),
        config=_read_config(place / "config.toml"),
    )


def _metrics(place: Path) -> dict[str, Any]:
    if not place.is_dir():
        raise PGNNError(f"{place}: there is no such run directory; `pgnn train --out` makes one")
    path = place / "metrics.json"
    if not path.exists():
        unfinished = (place / CHECKPOINT).exists()
        hint = "is not finished; go on with --resume" if unfinished else "is no run directory"
        raise PGNNError(f"{place}: {hint} (it has no metrics.json)")
    try:
        found = json.loads(path.read_bytes())
        version = found["format"]
        if not isinstance(version, int) or not isinstance(found["sha256"], dict):
            raise TypeError("format")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise PGNNError(f"{path}: is damaged ({error}); train anew") from error
    if version > FORMAT:
        raise PGNNError(f"{path}: the run has format {version}, newer than {FORMAT}; update pgnn")
    return dict(found)


# ---------------------------------------------------------------------- single files


def _write(path: Path, data: bytes) -> None:
    with open_atomic(path) as file:
        file.write(data)


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise PGNNError(f"{path}: cannot be read ({error.strerror}); train anew") from error


def _without_none(config: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was not given: TOML has no word for it."""
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in config.items()
        if value is not None
    }


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PGNNError(f"{path}: is damaged ({error})") from error


def _history_csv(history: Sequence[Epoch]) -> bytes:
    lines = [",".join(_HISTORY)]
    for record in history:
        numbers = (record.loss, record.val_auc, record.test_auc)
        lines.append(
            ",".join([str(record.epoch), *("" if n is None else repr(n) for n in numbers)])
        )
    return ("\n".join(lines) + "\n").encode()


def _read_history(path: Path) -> list[dict[str, float | None]]:
    try:
        names, *rows = (line.split(",") for line in path.read_text(encoding="utf-8").splitlines())
        if tuple(names) != _HISTORY:
            raise ValueError(f"its columns must be {', '.join(_HISTORY)}")
        return [
            {n: float(v) if v else None for n, v in zip(names, row, strict=True)} for row in rows
        ]
    except (OSError, ValueError) as error:
        raise PGNNError(f"{path}: is damaged ({error})") from error


def _write_nodes(path: Path, graph: Graph) -> None:
    columns = {"index": np.arange(graph.num_nodes), "id": id_array(graph)}
    if graph.y is not None:
        columns["label"] = graph.y if graph.classes is None else graph.classes[graph.y]
    write_columns(path, columns, {})


def _write_graph(path: Path, graph: Graph, seen: Graph, pairs: PairSet) -> None:
    arrays = {
        name: getattr(graph, name)
        for name in ("indptr", "indices", "weights", "x", "y", "classes")
        if getattr(graph, name) is not None
    }
    with open_atomic(path) as file:
        np.savez_compressed(
            file,
            allow_pickle=False,
            **arrays,
            node_ids=id_array(graph),
            seen=is_among(_codes(graph), _codes(seen)),
            directed=np.array(graph.directed),
            pairs=pairs.pairs,
            labels=pairs.labels,
        )


def _codes(graph: Graph) -> NDArray[np.int64]:
    """Return one code per edge, sorted as edges are."""
    return edge_codes(graph.edges(), graph.num_nodes, directed=graph.directed)


def _read_graph(path: Path) -> tuple[Graph, Graph, PairSet]:
    try:
        # numpy would leave the file open if it is no archive.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = dict(file)
        graph = _checked_graph(arrays)
        mask = arrays["seen"]
        if mask.dtype != np.bool_ or mask.shape != (graph.num_edges,):
            raise ValueError("it does not say of each edge whether it was seen")
        pairs = PairSet(as_pairs(arrays["pairs"], graph.num_nodes), arrays["labels"])
        return graph, graph.with_edges(mask), pairs
    except Exception as error:  # of zipfile, zlib, numpy or what was written
        raise PGNNError(f"{path}: is damaged ({error}); train anew") from error


def _checked_graph(arrays: Mapping[str, Any]) -> Graph:
    """Build the graph anew: kernels trust a Graph, and a file may hold anything."""
    indptr, indices = arrays["indptr"], arrays["indices"]
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
    if classes is None:
        return graph
    if graph.y is None or graph.y.min() < 0 or classes.shape <= (graph.y.max(),):
        raise ValueError("its labels are not of its classes")
    return replace(graph, classes=classes)
