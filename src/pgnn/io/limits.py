"""What a file may be: regular, small enough for the memory, and no bomb when it is unpacked."""

from __future__ import annotations

import io
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from pgnn.checks import checked, total_memory
from pgnn.errors import PGNNError
from pgnn.memory import more_needed

MAX_COLUMNS = 100_000
"""The most columns of a table."""

MAX_LINE = 16 << 20
"""The most bytes of a line."""

MAX_EXPANSION = 200
"""A compressed file may unpack to so many times its size, or to `ALWAYS_ALLOWED`."""

ALWAYS_ALLOWED = 64 << 20

MAX_EMPTY_NODES = 10_000_000
"""The most nodes of a sparse matrix that has fewer bytes than nodes."""

_CHUNK = 1 << 20
_MEMORY_PER_BYTE = 1.5  # of a table of integers as text, besides arrays; as it was measured


@checked
def read_file(path: Path, *, pipes: bool = False) -> bytes:
    """Return what a file holds.

    Only regular files are opened, so that a folder from a stranger cannot make a command wait for
    a pipe or read a device without end.

    Args:
        path: The file.
        pipes: Whether a pipe that somebody writes to is read, too, as the shell's `<(...)`.

    Raises:
        PGNNError: If it is something else, or larger than half of the memory.
        OSError: If it cannot be read.
    """
    with open_file(path, pipes=pipes) as file:
        size = os.fstat(file.fileno()).st_size
        more_needed(_MEMORY_PER_BYTE * size, f"reading {path}")
        check_size(path, size)
        return file.read()


def open_file(path: Path, *, pipes: bool = False) -> BinaryIO:
    """Open a regular file as `read_file` does; what comes out of a pipe is copied to one.

    Raises:
        PGNNError: If it is neither, or a pipe gives more than half of the memory.
        OSError: If it cannot be read.
    """
    # Without waiting: a pipe that nobody writes to is empty.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    file = open(descriptor, "rb")  # noqa: SIM115 - the caller closes it
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            return file
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "Is a directory", str(path))
        if not (pipes and stat.S_ISFIFO(mode)):
            raise PGNNError(f"{path}: is a device or a pipe; give a regular file")
        os.set_blocking(descriptor, True)
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        try:
            while part := file.read(_CHUNK):
                copy.write(part)
                check_size(path, copy.tell())
            copy.seek(0)
        except BaseException:
            copy.close()
            raise
    except BaseException:
        file.close()
        raise
    file.close()
    return cast(BinaryIO, copy)


def check_size(path: Path, size: int) -> None:
    """Refuse a file that is larger than half of the memory."""
    if size > total_memory() // 2:
        raise PGNNError(
            f"{path}: has {size / 2**30:,.1f} GiB or more, which is more than half of the memory"
        )


_BINARY = getattr(os, "O_BINARY", 0)  # of Windows


def gunzip(path: Path, data: bytes) -> bytes:
    """Unpack gzip, also of several members; see `unpacked`."""
    return b"".join(unpacked(path, io.BytesIO(data), len(data)))


def unpacked(path: Path, file: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield what gzip of this size unpacks to, piece by piece.

    Raises:
        PGNNError: If it unpacks to far more than its size, or to more than fits in memory.
        EOFError: If it was cut off.
        zlib.error: If it is damaged or no gzip.
    """
    most, total, rest = most_unpacked(size), 0, file.read(_CHUNK)
    while rest:
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            part = unpacker.decompress(rest, _CHUNK)
            rest = unpacker.unconsumed_tail
            total += len(part)
            if total > most:
                raise bomb(path, size)
            if part:
                yield part
            if not rest and not unpacker.eof:
                rest = file.read(_CHUNK)
                if not part and not rest:
                    raise EOFError("it ends too early")
        rest = unpacker.unused_data
        while not (rest := rest.lstrip(b"\0")):  # padding between members and at the end
            if not (rest := file.read(_CHUNK)):
                break


def check_archive(path: Path, data: bytes) -> int:
    """Return how many bytes the members of a zip archive (`.npz`) unpack to.

    Raises:
        PGNNError: If that is far more than its size, or more than fits in memory.
        zipfile.BadZipFile: If it is no archive.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        total = sum(member.file_size for member in archive.infolist())
    if total > most_unpacked(len(data)):
        raise bomb(path, len(data))
    return total


def most_unpacked(size: int) -> int:
    """Return the bytes that a compressed file of some bytes may unpack to."""
    return min(max(ALWAYS_ALLOWED, MAX_EXPANSION * size), total_memory() // 2)


def bomb(path: Path, size: int) -> PGNNError:
    """Return what to raise for a compressed file that unpacks to more."""
    return PGNNError(
        f"{path}: unpacks to more than {most_unpacked(size) >> 20:,} MiB, which is more than "
        f"{MAX_EXPANSION} times its size or half of the memory; unpack it yourself if you trust it"
    )
