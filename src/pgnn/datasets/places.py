"""Where the files of data sets are: folders in their order, and downloads into the last."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgnn.errors import Parameter, PGNNError
from pgnn.io.write import open_atomic

TIMEOUT_SECONDS = 30.0  # of silence, not of the whole transfer


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set and its public source.

    Attributes:
        path: Where it lies inside a data folder, with forward slashes.
        url: Where the original is.
        check: Called with the bytes and a name for messages; raises PGNNError if they are damaged.
        unpack: What is done to the downloaded bytes before they are checked and stored.
    """

    path: str
    url: str
    check: Callable[[bytes, str], object]
    unpack: Callable[[bytes], bytes] = bytes


def data_folders(data_dir: str | os.PathLike[str] | None) -> list[Path]:
    """Folders to look in, first one first: the argument, `PGNN_DATA`, the user's cache.

    Raises:
        PGNNError: If the argument is not a folder.
    """
    folders = []
    if data_dir is not None:
        folders.append(Path(data_dir).expanduser())
        if not folders[0].is_dir():
            raise PGNNError(
                Parameter("data_dir"),
                f" must be a folder that exists (got {os.fspath(data_dir)!r})",
            )
    if from_environment := os.environ.get("PGNN_DATA"):
        folders.append(Path(from_environment).expanduser())
    return [*folders, cache_folder()]


def cache_folder() -> Path:
    """The folder that downloads go to; it need not exist yet."""
    if root := os.environ.get("XDG_CACHE_HOME"):
        cache = Path(root)
    elif sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path.home() / ".cache"
    return cache / "pgnn" / "datasets"


def find(paths: Sequence[str], folders: Sequence[Path]) -> list[Path] | None:
    """The files `paths` in the first folder that has all of them, so that copies do not mix."""
    for folder in folders:
        if all((folder / path).is_file() for path in paths):
            return [folder / path for path in paths]
    return None


def obtain(files: Sequence[RemoteFile], data_dir: str | os.PathLike[str] | None) -> list[Path]:
    """Find the files, or download those that the cache lacks.

    Raises:
        PGNNError: If a file is nowhere and cannot be downloaded; says where it was looked for.
    """
    folders = data_folders(data_dir)
    if paths := find([file.path for file in files], folders):
        return paths
    cache = folders[-1]
    for file in files:
        if (cache / file.path).is_file():
            continue
        try:
            data = file.unpack(_fetch(file.url))
        except (OSError, EOFError, zlib.error) as error:
            raise _unreachable(file, files, folders, error) from error
        file.check(data, file.url)  # nothing damaged enters the cache
        store(cache / file.path, data)
    return [cache / file.path for file in files]


def read_bytes(path: Path) -> bytes:
    """Read a whole file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PGNNError(f"{path}: cannot be read ({error.strerror or error})") from error


def store(target: Path, data: bytes) -> None:
    """Write a file of the cache, whole or not at all; its folder is made."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PGNNError(
            f"{target.parent}: cannot be made ({error.strerror or error}); set XDG_CACHE_HOME to a "
            "folder that can be written"
        ) from error
    with open_atomic(target) as out:
        out.write(data)


def _unreachable(
    file: RemoteFile, files: Sequence[RemoteFile], folders: Sequence[Path], error: Exception
) -> PGNNError:
    """The error for a file that is nowhere and cannot be downloaded; says what to do by hand."""
    looked_in = ", ".join(str((folder / file.path).parent) for folder in folders)
    missing = [other for other in files if not (folders[-1] / other.path).is_file()]
    by_hand = ", ".join(
        f"{other.url}{' (unpacked)' if other.url.endswith('.gz') else ''} as "
        f"{folders[-1] / other.path}"
        for other in missing
    )
    return PGNNError(
        f"{Path(file.path).name} was not found in {looked_in}, and downloading it from {file.url} "
        f"failed ({error}); save {by_hand}, or set PGNN_DATA to a folder that has "
        f"{' and '.join(other.path for other in files)}"
    )


def _fetch(url: str) -> bytes:
    """Download; raises OSError, whatever goes wrong on the way."""
    from http.client import HTTPException  # here, because most programs never download
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(url, headers={"User-Agent": "pgnn"})  # noqa: S310 (the URLs are constants)
    try:
        with urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            data: bytes = response.read()
    except HTTPError as error:
        error.close()  # it holds the connection
        raise
    except HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
    return data
