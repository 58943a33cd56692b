"""Embeddings, scores and other columns to csv, parquet and npz files, each whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.checks import NO_ARRAY, checked, is_path, shown
from pgnn.errors import Parameter, PGNNError
from pgnn.graph import Graph
from pgnn.graph.arrays import as_node_ids, as_written_ids
from pgnn.io.text import FORMULA
from pgnn.memory import more_needed
from pgnn.pairs.codes import as_pairs

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import polars as pl

_HIDDEN = re.compile(r"\.(.+)\.[0-9a-f]{8}\.tmp")
StrPath = str | os.PathLike[str]


def as_path(path: StrPath, parameter: str) -> Path:
    """Return what was passed for the path of a file as one."""
    if not is_path(path) or not os.fspath(path):
        raise PGNNError(Parameter(parameter), f" must be the path of a file (got {shown(path)})")
    return Path(path)


@checked
def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there.

    Raises:
        PGNNError: If it cannot be made, as where a file has its name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PGNNError(f"{path}: is not a folder and cannot be made ({error.strerror})") from error


@checked
def check_place(path: Path) -> None:
    """Raise PGNNError if a file cannot be at `path`, as far as can be told without writing."""
    if not path.parent.is_dir():
        raise PGNNError(f"{path}: the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise PGNNError(f"{path}: is a folder; give the name of a file in it")
    names_device = path.is_symlink() and path.absolute().parent == Path("/dev")  # /dev/stdout
    if names_device or (path.exists() and not path.is_file()):
        # The file that is renamed would take the place of the device, for every program.
        raise PGNNError(f"{path}: is a device or a pipe; give the name of a file")


@contextmanager
def open_atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the name `path` when, and only when, all is written.

    The bytes go to a hidden file in the same folder, are forced to disk and then renamed over
    `path`; if anything fails the hidden file is removed and what was at `path` is untouched. Hidden
    files that a killed process left are removed first.

    Raises:
        PGNNError: If the folder does not exist or the file cannot be written.
    """
    check_place(path)
    temporary = None
    try:
        sweep(path.parent, path.name)
        temporary, file = _open_hidden(path)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)  # before the lock on it is gone
    except OSError as error:
        raise PGNNError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        if temporary is not None:
            with suppress(OSError):  # it is renamed, or the file system became read-only
                temporary.unlink()


def sweep(folder: Path, name: str = "") -> None:
    """Remove hidden files of `open_atomic` whose writers are gone: a writer holds a lock.

    Args:
        folder: Where to look.
        name: Only those for this file; by default all.
    """
    if fcntl is None:
        return
    for path in folder.iterdir():
        match = _HIDDEN.fullmatch(path.name)
        if match is None or (name and match[1] != name):
            continue
        with suppress(OSError), open(path, "rb") as file:  # gone, or being written
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _open_hidden(path: Path) -> tuple[Path, BinaryIO]:
    """Make a hidden file beside a path, and lock it so that nobody sweeps it away."""
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        file = open(temporary, "xb")  # noqa: SIM115 - the caller closes it
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink == 0:  # swept away between its birth and its lock
                file.close()
                continue
        return temporary, file


class BusyError(PGNNError):
    """Another process writes to the folder."""


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Keep other processes from writing to a folder, which exists, until this one is finished.

    The lock is on the folder itself: it leaves no file behind, and ends with the process, however
    it ends.

    Raises:
        BusyError: If another process has it.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(
                f"{folder}: another process is writing to it; wait until that is finished, or give "
                "another ",
                Parameter("out"),
            ) from error
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)


_CSV_CELLS = 1 << 20  # written at once
_PARQUET_COPIES = 2.2  # of all columns, by polars; as it was measured
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".npz")


@checked
def write_embeddings(path: StrPath, values: ArrayLike, ids: Graph | ArrayLike) -> None:
    """Write one row of numbers per node, with the node's own id.

    A table has the columns `id`, `z0`, `z1`, ...; an `.npz` the arrays `ids` and `embeddings`. The
    file appears whole or not at all.

    Args:
        path: A file ending in .csv, .csv.gz, .parquet or .npz.
        values: Finite numbers `[num_nodes, num_dimensions]`.
        ids: The graph whose nodes these are, or their ids.

    Raises:
        PGNNError: If the values are not such numbers or the file cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        ...     write_embeddings(file.name, [[0.5, 1.0], [2.0, 0.0]], ["ann", "bob"])
        ...     print(Path(file.name).read_text().split())
        ['id,z0,z1', 'ann,0.5,1.0', 'bob,2.0,0.0']
    """
    file, names = as_path(path, "path"), id_array(ids)
    matrix = _as_floats(values, "values")
    if matrix.ndim != 2 or len(matrix) != len(names):
        raise PGNNError(
            Parameter("values"),
            f" must have one row per node, [{len(names)}, num_dimensions] "
            f"(got {list(matrix.shape)})",
        )
    columns = {"id": names} | {f"z{i}": column for i, column in enumerate(matrix.T)}
    write_columns(file, columns, {"ids": names, "embeddings": matrix})


@checked
def write_scores(
    path: StrPath,
    pairs: ArrayLike,
    scores: ArrayLike,
    ids: Graph | ArrayLike,
    *,
    spread: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    reasons: Sequence[str] | None = None,
    ends: tuple[str, str] = ("source", "target"),
) -> None:
    """Write one score per pair of nodes, with the nodes' own ids.

    The columns (of an `.npz`: the arrays) are those of `ends`, `label` (if it is passed),
    `score`, and `spread` and `why` (if they are passed). The file appears whole or not at all.

    Args:
        path: A file ending in .csv, .csv.gz, .parquet or .npz.
        pairs: Node indices `[num_pairs, 2]`.
        scores: One finite number per pair.
        ids: The graph whose nodes these are, or the ids of its nodes.
        spread: How far the score varied, one finite number per pair.
        labels: Whether each pair is positive; written as 1 and 0.
        reasons: Why each pair has its score, in words.
        ends: What the columns of the first and second node are called.

    Raises:
        PGNNError: If the arrays do not fit or the file cannot be written.
    """
    file, names = as_path(path, "path"), id_array(ids)
    index = as_pairs(pairs, len(names))
    columns = {end: names[index[:, place]] for place, end in enumerate(ends)}
    if labels is not None:
        try:
            truth = np.asarray(labels).astype(bool)
        except (TypeError, ValueError, RuntimeError) as error:
            raise PGNNError(Parameter("labels"), f" must be truth values ({error})") from error
        if truth.shape != (len(index),):
            raise PGNNError(
                Parameter("labels"),
                f" must have one entry per pair, [{len(index)}] (got {list(truth.shape)})",
            )
        columns["label"] = truth.astype(np.int64)
    columns["score"] = _as_floats(scores, "scores", len(index))
    if spread is not None:
        columns["spread"] = _as_floats(spread, "spread", len(index))
    if reasons is not None:
        if len(reasons) != len(index):
            raise PGNNError(
                Parameter("reasons"),
                f" must have one entry per pair, [{len(index)}] (got [{len(reasons)}])",
            )
        columns["why"] = np.array(list(reasons), dtype=str)
    write_columns(file, columns, columns)


@checked
def id_array(ids: Graph | ArrayLike) -> NDArray[Any]:
    """Return ids as int64 or strings; other objects (of a networkx graph) by their `str`."""
    if isinstance(ids, Graph):
        return as_written_ids(ids.node_ids)
    try:
        names = as_node_ids(ids, len(ids))  # type: ignore[arg-type]
    except (TypeError, RuntimeError) as error:
        raise PGNNError(
            Parameter("ids"), f" must be a graph or a list of node ids ({error})"
        ) from error
    return as_written_ids(names)


def _as_floats(values: ArrayLike, parameter: str, length: int | None = None) -> NDArray[Any]:
    """Return finite float32 or float64; with a length, one number per pair."""
    name = Parameter(parameter)
    try:
        array = np.asarray(values)
        array = array.astype(np.result_type(array.dtype, np.float32), copy=False)
    except NO_ARRAY as error:
        raise PGNNError(name, f" must be an array of numbers ({error})") from error
    if not np.issubdtype(array.dtype, np.floating):
        raise PGNNError(name, f" must be real numbers (got dtype {array.dtype})")
    if length is not None and array.shape != (length,):
        raise PGNNError(
            name, f" must have one entry per pair, [{length}] (got {list(array.shape)})"
        )
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise PGNNError(name, f" must be finite ({parameter}[{place}] = {array[tuple(bad[0])]})")
    return array


@checked
def check_writable(path: Path) -> str:
    """Return which of `SUFFIXES` a path ends in; before long work, whose result needs a place.

    Raises:
        PGNNError: If it ends in none of them, its folder does not exist, or it is a folder.
    """
    suffix = next((end for end in SUFFIXES if path.name.lower().endswith(end)), None)
    if suffix is None:
        raise PGNNError(f"{path}: the file name must end in {', '.join(SUFFIXES)}")
    check_place(path)
    return suffix


@checked
def write_columns(
    path: Path, columns: dict[str, NDArray[Any]], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write columns as a table, or arrays as an `.npz`, by the suffix of the path.

    Raises:
        PGNNError: If it cannot be written, or a table has no columns.
    """
    suffix = check_writable(path)
    for name, column in (columns | arrays).items():
        if not isinstance(column, np.ndarray):
            raise PGNNError(Parameter(name), f" must be an array (got {shown(column)})")
    if suffix != ".npz" and not columns:
        raise PGNNError(Parameter("columns"), " must hold at least one column (got none)")
    if suffix == ".parquet":
        size = sum(column.nbytes for column in columns.values())
        more_needed(_PARQUET_COPIES * size, f"writing {path} (csv and npz take less)")
    try:
        texts = {} if suffix == ".npz" else _as_texts(columns)
    except UnicodeEncodeError as error:
        raise PGNNError(f"{path}: a text is no valid Unicode ({error.reason})") from error
    with open_atomic(path) as file:
        if suffix == ".npz":
            np.savez(file, **arrays)  # type: ignore[arg-type]  # no array is named allow_pickle
        elif suffix == ".parquet":
            import polars as pl

            buffer = io.BytesIO()  # a full disk is an error of ours, not of polars
            pl.DataFrame(columns | texts).write_parquet(buffer)
            file.write(buffer.getbuffer())
        elif suffix == ".csv":
            _write_csv(columns, texts, file)
        else:
            # Without a time in the header equal tables give equal files.
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as compressed:
                _write_csv(columns, texts, cast("IO[bytes]", compressed))


def _as_texts(columns: dict[str, NDArray[Any]]) -> dict[str, pl.Series]:
    """Return the columns of texts as polars has them."""
    import polars as pl

    return {
        name: pl.Series(column.tolist(), dtype=pl.String)
        for name, column in columns.items()
        if column.dtype.kind == "U"
    }


def _write_csv(
    columns: dict[str, NDArray[Any]], texts: dict[str, pl.Series], file: IO[bytes]
) -> None:
    """Write a table whose first line is the header, quoting ids only if they need it.

    An id that a spreadsheet would run as a formula, such as `=HYPERLINK(...)`, gets an apostrophe
    in front, which makes a spreadsheet show it as text; readers of text tables take it away again.
    Parquet and npz keep such ids as they are. Few rows are held at once besides the arrays.
    """
    import polars as pl

    safe = {}
    for name, column in texts.items():
        runs = column.str.contains(f"(?s){FORMULA}")
        safe[name] = ("'" + column).zip_with(runs, column)
    odd = r"^[#%\s]|\s$"  # would be read as a comment, or lose its blanks
    quoted = any(column.str.contains(odd).any() for column in safe.values())
    num_rows = len(next(iter(columns.values())))
    step = max(1, _CSV_CELLS // len(columns))
    for start in range(0, max(1, num_rows), step):
        rows = slice(start, start + step)
        frame = pl.DataFrame(
            {
                name: safe[name][rows] if name in safe else column[rows]
                for name, column in columns.items()
            }
        )
        part = io.BytesIO()
        frame.write_csv(
            part, include_header=start == 0, quote_style="non_numeric" if quoted else "necessary"
        )
        file.write(part.getbuffer())
