"""The limit itself: `memory_limit`, and what other rooms ask about it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgnn.checks import checked
from pgnn.errors import Parameter, PGNNError
from pgnn.memory.files import array_file
from pgnn.memory.sizes import parse_size, say_size

_KEPT_FREE = 0.1  # the share of the limit that may be filled between two looks
_SMALLEST_ARRAY = 1 << 20  # an array below it is not worth a range of the file
_ARRAYS = 512  # so many just smaller ones would fill the limit

_limit: int | None = None


@contextmanager
@checked
def memory_limit(size: str | int | None) -> Iterator[None]:
    """Keep the resident memory of this process below a limit, as long as the context lasts.

    Large numpy arrays that are made meanwhile lie in a nameless file in the folder for temporary
    files (`TMPDIR`, which must be on a disk), and their pages leave memory whenever it fills up.
    Results are the same as without a limit. What cannot lie in the file has to fit below the limit:
    Python and the libraries (about 0.5 GB), a file as it is read, and what torch makes. A process
    that is forked meanwhile shares these arrays: what it writes to them, this process sees.

    Args:
        size: Such as "4GB", "500MB" or "2GiB", or a number of bytes; None for no limit.

    Raises:
        PGNNError: If the size makes no sense, the system cannot keep it (it must be Linux), or the
            folder for temporary files is itself in memory.

    Example:
        >>> import pgnn
        >>> with pgnn.memory_limit("4GB"):
        ...     f = pgnn.bourgain_embedding(pgnn.Graph.from_edges([(0, 1), (1, 2)]), rng=0)
    """
    global _limit
    if size is None:
        yield
        return
    num_bytes = parse_size(size)
    if not sys.platform.startswith("linux"):
        raise PGNNError(Parameter("memory"), " can be kept on Linux only; leave it out")
    if _limit is not None:
        raise PGNNError(Parameter("memory"), " is limited already; end that limit first")
    file = array_file()
    _check_folder(file.folder)
    most = int(num_bytes * (1 - _KEPT_FREE))
    file.set_sizes(least=max(_SMALLEST_ARRAY, num_bytes // _ARRAYS), most=most)
    _limit = num_bytes
    file.use()
    file.watch()
    try:
        least_needed(file.keep_below(), "Python alone")
        yield
    except MemoryError as error:
        if file.num_failed:
            raise PGNNError(
                f"there is no room left for temporary files in {file.folder}; set TMPDIR to a "
                "folder on a larger disk"
            ) from error
        raise
    finally:
        _limit = None
        file.end_watch()
        file.leave()


def use_limit_here() -> None:
    """Put arrays into the file on this thread as well, if a limit is kept."""
    if _limit is not None:
        array_file().use()


def is_limited() -> bool:
    """Whether a limit is kept now."""
    return _limit is not None


@checked
def rows_at_once(num_rows: int, row_bytes: int) -> int:
    """Return how many rows to work on at once: all, or while a limit is kept, a share of it.

    Args:
        num_rows: How many there are.
        row_bytes: What one of them takes besides arrays of numpy.
    """
    if _limit is None:
        return max(1, num_rows)
    return max(1, min(num_rows, _limit // (32 * max(1, row_bytes))))


@checked
def more_needed(num_bytes: float, work: str) -> None:
    """Refuse work that needs so much besides what the process has, and that is no array of numpy.

    Args:
        num_bytes: How much it takes at once.
        work: What is to be done, in words.

    Raises:
        PGNNError: As `least_needed`.
    """
    if _limit is not None:
        least_needed(array_file().keep_below() + num_bytes, work)


@checked
def least_needed(num_bytes: float, work: str) -> None:
    """Refuse work that cannot stay below the limit, before it begins.

    Args:
        num_bytes: The least that the process needs for it at once.
        work: What is to be done, in words.

    Raises:
        PGNNError: If that is more than the limit; it says how much is needed.
    """
    if _limit is not None and num_bytes > _limit:
        raise PGNNError(
            Parameter("memory"),
            f" is too small: {work} needs {say_size(num_bytes)} (got {say_size(_limit)})",
        )


def _check_folder(folder: str) -> None:
    """Refuse a folder that is itself in memory."""
    place = Path(folder).resolve()
    kinds: dict[Path, str] = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, point, kind, *_ = line.split()
        kinds[Path(point.encode().decode("unicode_escape"))] = kind
    kind = next((kinds[path] for path in (place, *place.parents) if path in kinds), "")
    if kind in ("tmpfs", "ramfs"):
        raise PGNNError(
            Parameter("memory"),
            f" needs room on a disk, and {folder} is in memory ({kind}); set TMPDIR to a folder on "
            "a disk",
        )
