"""The store of results: one file, with one line of JSON for each run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pgnn.errors import PGNNError

RESULTS = "reproduction.jsonl"  # its name in a folder of results


class Store:
    """Records of runs in one file, which is read once. A line that was cut off is left out.

    Args:
        path: The file; made when the first record is added.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._records: list[dict[str, Any]] | None = None
        self._runs: set[tuple[Any, ...]] = set()
        self._ends_whole = True

    def records(self) -> list[dict[str, Any]]:
        """Return all whole records, in the order in which they were added.

        Raises:
            PGNNError: If the file cannot be read, or holds something else.
        """
        return list(self._read())

    def has(self, column: str, model: str, protocol: str, seed: int) -> bool:
        """Return whether there is a record of a run."""
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
                file.write(("" if self._ends_whole else "\n") + json.dumps(record) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise PGNNError(f"{self.path}: cannot be written ({error.strerror})") from error
        self._ends_whole = True
        records.append(record)
        self._runs.add(_run_of(record))

    def _read(self) -> list[dict[str, Any]]:
        if self._records is None:
            try:
                text = self.path.read_text() if self.path.exists() else ""
            except (OSError, UnicodeDecodeError) as error:
                raise PGNNError(f"{self.path}: cannot be read ({error})") from error
            self._ends_whole = text.endswith("\n") or not text
            self._records = self._parse(text)
            self._runs = {_run_of(record) for record in self._records}
        return self._records

    def _parse(self, text: str) -> list[dict[str, Any]]:
        records = []
        for line in text.splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue  # a run was killed while it wrote this line
            if not isinstance(record, dict):
                raise PGNNError(f"{self.path}: holds lines that are no records of runs")
            records.append(record)
        return records


def _run_of(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record.get(name) for name in ("column", "model", "protocol", "seed"))
