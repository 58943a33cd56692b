"""Paths of files and folders, and files that are either written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pgnn.errors import Parameter, PGNNError

StrPath = str | os.PathLike[str]


def as_path(path: StrPath, parameter: str) -> Path:
    """Return what was passed for the path of a file as one."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise PGNNError(Parameter(parameter), f" must be the path of a file (got {path!r})")
    return Path(path)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there.

    Raises:
        PGNNError: If it cannot be made, as where a file has its name.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PGNNError(f"{path}: is not a folder and cannot be made ({error.strerror})") from error


def check_place(path: Path) -> None:
    """Raise PGNNError if a file cannot be at `path`, as far as can be told without writing."""
    if not path.parent.is_dir():
        raise PGNNError(f"{path}: the folder {path.parent} does not exist; create it first")
    if path.is_dir():
        raise PGNNError(f"{path}: is a folder; give the name of a file in it")


@contextmanager
def open_atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the name `path` when, and only when, all is written.

    The bytes go to a hidden file in the same folder, are forced to disk and then renamed over
    `path`; if anything fails the hidden file is removed and what was at `path` is untouched.

    Raises:
        PGNNError: If the folder does not exist or the file cannot be written.
    """
    check_place(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise PGNNError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)
