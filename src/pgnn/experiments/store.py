"""The store of results: one file, with one line of JSON for each run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pgnn.errors import Parameter, PGNNError
from pgnn.io.limits import read_file
from pgnn.io.write import make_folder

RESULTS = "reproduction.jsonl"  # the runs of the paper's tables in a folder of results
LINKS = "links.jsonl"  # the runs of the benchmark of links


class Store:
    """Records of runs in one file, which is read once. A line that was cut off is left out.

    Args:
        path: The file; made when the first record is added.
        counts: Whether a stored record is still what a run would give; a run whose record does not
            count is done again, and its new record stands behind the former one.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        counts: Callable[[dict[str, Any]], bool] = lambda _: True,
    ) -> None:
        self.path = Path(path)
        self._counts = counts
        self._records: list[dict[str, Any]] | None = None
        self._runs: set[tuple[Any, ...]] = set()
        self._ends_whole = True

    def records(self) -> list[dict[str, Any]]:
        """Return all whole records, in the order in which they were added.

        Raises:
            PGNNError: If the file cannot be read, or holds something else.
        """
        records = self._read()
        for record in records if self.path.name == RESULTS else ():
            if missing := missing_of(record):
                raise PGNNError(
                    f"{self.path}: holds lines that are no records ({missing} is missing)"
                )
        return list(records)

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self._read())

    def has(self, column: str, model: str, protocol: str, seed: int) -> bool:
        """Return whether there is a record of a run, and it counts."""
        self._read()
        return (column, model, protocol, seed) in self._runs

    def add(self, record: dict[str, Any]) -> None:
        """Append a record and force it to disk.

        Raises:
            PGNNError: If the file cannot be written.
        """
        try:
            records = self._read()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                size = file.tell()
                try:
                    file.write(("" if self._ends_whole else "\n") + json.dumps(record) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:  # the disk is full: no half line stays
                    os.truncate(self.path, size)
                    raise
        except OSError as error:
            raise PGNNError(f"{self.path}: cannot be written ({error.strerror})") from error
        self._ends_whole = True
        records.append(record)
        self._runs.add(_run_of(record))

    def add_new(self, records: Iterable[dict[str, Any]]) -> None:
        """Append those records whose runs are not there yet; see `add`."""
        self._read()
        for record in records:
            if _run_of(record) not in self._runs:
                self.add(record)

    def _read(self) -> list[dict[str, Any]]:
        if self._records is None:
            try:
                text = read_file(self.path).decode() if self.path.exists() else ""
            except (OSError, UnicodeDecodeError) as error:
                raise PGNNError(f"{self.path}: cannot be read ({error})") from error
            self._ends_whole = text.endswith("\n") or not text
            self._records = self._parse(text)
            self._runs = {_run_of(record) for record in self._records if self._counts(record)}
        return self._records

    def _parse(self, text: str) -> list[dict[str, Any]]:
        records = []
        for line in text.splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue  # a run was killed while it wrote this line
            except (RecursionError, ValueError) as error:
                raise PGNNError(f"{self.path}: is damaged ({error})") from error
            problem = problem_of(record)
            if problem:
                raise PGNNError(f"{self.path}: holds lines that are no records of runs ({problem})")
            records.append(record)
        return records


def open_store(
    folder: Path,
    name: str,
    *,
    resume: bool,
    counts: Callable[[dict[str, Any]], bool] = lambda _: True,
) -> Store:
    """Return the store in a folder of results, which is made.

    Args:
        folder: The folder.
        name: Name of the file.
        resume: Whether there may be runs already.
        counts: Whether a stored record need not be made anew; see `Store`.

    Raises:
        PGNNError: If there are runs and `resume` is False, or the folder cannot be made.
    """
    make_folder(folder)  # before the runs: what cannot be stored need not be run
    store = Store(folder / name, counts=counts)
    if len(store) and not resume:
        raise PGNNError(
            f"{store.path} has runs already; give ",
            Parameter("resume=True"),
            " to keep them, or move the file away",
        )
    return store


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("column", "model", "protocol", "command"), str),
    **dict.fromkeys(("seed", "epochs", "best_epoch"), int),
    **dict.fromkeys(("test_auc", "seconds"), int | float),
    "versions": dict,
}
_NEEDED = ("column", "model", "protocol", "seed", "test_auc")  # of each run of the paper's tables
_LONGEST = 10_000  # characters of a text


def problem_of(record: Any) -> str | None:
    """Say what is wrong with a line, or None."""
    if not isinstance(record, dict):
        return "a line is no table"
    for key, kind in _KINDS.items():
        value = record.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kind):
            return f"{key} is of the wrong kind"
        if isinstance(value, int | float) and not abs(value) < 1e15:
            return f"{key} is out of range"
        texts = [*value, *value.values()] if isinstance(value, dict) else [value]
        if kind in (str, dict) and not all(
            isinstance(text, str) and len(text) <= _LONGEST for text in texts
        ):
            return f"{key} is of the wrong kind"
    return None


def missing_of(record: dict[str, Any]) -> str | None:
    """Say what a record of the paper's tables lacks, or None."""
    return next((name for name in _NEEDED if record.get(name) is None), None)


def _run_of(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record.get(name) for name in ("column", "model", "protocol", "seed"))
