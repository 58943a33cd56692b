"""An array whose length is not known while it is filled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_FIRST_ROWS = 1 << 10
_GROWTH = 1.25  # of the room; what is reserved too much is touched, so it counts


class GrowingArray:
    """Rows that are appended block by block, in one piece of memory.

    One large array can move to a file while a limit of memory is kept, which many small ones
    cannot, and nothing has to be joined in the end.

    Example:
        >>> rows = GrowingArray(np.float64)
        >>> rows.append(np.array([1.0, 2.0]))
        >>> rows.append(np.array([3.0]))
        >>> rows.taken().tolist()
        [1.0, 2.0, 3.0]
    """

    def __init__(self, dtype: DTypeLike, width: tuple[int, ...] = ()) -> None:
        self._array: NDArray[Any] = np.empty((0, *width), dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its numbers."""
        return self._array.dtype

    @property
    def rows(self) -> NDArray[Any]:
        """What was appended so far; no longer valid after the next `append`."""
        return self._array[: self._length]

    def append(self, block: NDArray[Any]) -> None:
        """Append rows."""
        end = self._length + len(block)
        if end > len(self._array):
            self._resize(max(end, int(_GROWTH * len(self._array)), _FIRST_ROWS))
        self._array[self._length : end] = block
        self._length = end

    def widen(self, dtype: DTypeLike) -> None:
        """Give all numbers another type."""
        self._array = self.rows.astype(dtype)

    def taken(self) -> NDArray[Any]:
        """Return the array, which is the caller's from now on, and begin anew."""
        self._resize(self._length)
        array = self._array
        self._array, self._length = np.empty((0, *array.shape[1:]), dtype=array.dtype), 0
        return array

    def _resize(self, length: int) -> None:
        # Nobody else has the array itself, and views of it are promised to be gone.
        self._array.resize((length, *self._array.shape[1:]), refcheck=False)
