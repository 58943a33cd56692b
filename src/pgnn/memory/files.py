"""Large numpy arrays in a nameless file: where numpy gets memory from while a limit is kept.

numpy has a door for this (NEP 49): a handler of four functions, which every array remembers that
was made with it. Small arrays still come from malloc. A large one is a range of one file that has
no name, mapped into memory. Its pages can be given back to the system at any moment, and come back
when they are read: `release_pages` does that, and nothing is lost, since the file keeps them.

A thread of the system, not of Python, looks at the memory every two milliseconds: it needs no lock
of the interpreter, so it is not late when the interpreter is busy. All functions are compiled
(`pgnn.memory.kernels`), also because arrays may die at the very end of the interpreter.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SET_HANDLER = 304  # the place of PyDataMem_SetHandler in numpy's table of functions


class _Handler(ctypes.Structure):
    """numpy's PyDataMem_Handler."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("table", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )


class ArrayFile:
    """The file, and the handler that puts large arrays into it; see `array_file`.

    Attributes:
        folder: Where the file is. It has no name there, and is gone when the process is.
    """

    def __init__(self) -> None:
        import tempfile  # most programs need no limit

        from pgnn.memory import kernels

        self.folder = tempfile.gettempdir()
        self._file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115 - open for good
        self._table: NDArray[np.int64] = np.zeros(kernels.TABLE_SIZE, dtype=np.int64)
        self._statm = open("/proc/self/statm", "rb")  # noqa: SIM115 - open for good
        self._table[kernels.SELF] = self._table.ctypes.data
        self._table[kernels.FILE] = self._file.fileno()
        self._table[kernels.STATM] = self._statm.fileno()
        functions = kernels.take, kernels.take_zeros, kernels.resize, kernels.give
        addresses = (function.address for function in functions)
        self._handler = _Handler(b"pgnn", 1, self._table.ctypes.data, *addresses)
        make_capsule = ctypes.pythonapi.PyCapsule_New
        make_capsule.restype = ctypes.py_object
        make_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._capsule = make_capsule(ctypes.addressof(self._handler), b"mem_handler", None)
        self._before: Any = None
        self._watching: ctypes.c_ulong | None = None
        # Arrays may outlive all modules: what their functions need is never freed.
        for needed in (self, *functions):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(needed))

    def set_sizes(self, *, least: int, most: int) -> None:
        """Say how many bytes an array in the file has at least, and the process at most."""
        from pgnn.memory import kernels

        self._table[kernels.LEAST], self._table[kernels.MOST] = least, most

    def use(self) -> None:
        """Put new large arrays into the file, on this thread."""
        before = _set_handler(self._capsule)
        if before is not self._capsule:
            self._before = before

    def leave(self) -> None:
        """Let numpy find memory as before, on this thread; arrays in the file stay there."""
        if self._before is not None:
            _set_handler(self._before)

    @property
    def num_failed(self) -> int:
        """How often there was no room in the folder."""
        from pgnn.memory import kernels

        return int(self._table[kernels.FAILED])

    @property
    def arrays(self) -> list[tuple[int, int]]:
        """Address and length in bytes of each array in the file."""
        from pgnn.memory import kernels

        slots = self._table[kernels.FIRST :].reshape(-1, 4)[: self._table[kernels.USED]]
        return [(address, size) for address, size in slots[:, :2].tolist() if address]

    def keep_below(self) -> int:
        """Give pages of arrays back if there is too much memory; return how much there is then.

        The pages come back when they are read.
        """
        from pgnn.memory import kernels

        return int(self._call(kernels.keep_below, ctypes.c_int64))

    def release_pages(self) -> None:
        """Give the pages of all arrays back."""
        from pgnn.memory import kernels

        self._call(kernels.release_pages, None)

    def watch(self) -> None:
        """Begin to look at the memory all the time."""
        from pgnn.memory import kernels

        self._table[kernels.STOP] = 0
        thread = ctypes.c_ulong()
        address, table = (
            ctypes.c_void_p(kernels.watch.address),
            ctypes.c_void_p(self._handler.table),
        )
        if ctypes.CDLL(None).pthread_create(ctypes.byref(thread), None, address, table):
            raise MemoryError("no thread can be started")
        self._watching = thread

    def end_watch(self) -> None:
        """Look no more."""
        from pgnn.memory import kernels

        if self._watching is not None:
            self._table[kernels.STOP] = 1
            ctypes.CDLL(None).pthread_join(self._watching, None)
            self._watching = None

    def _call(self, function: Any, result: Any) -> Any:
        return ctypes.CFUNCTYPE(result, ctypes.c_void_p)(function.address)(self._handler.table)


@cache
def array_file() -> ArrayFile:
    """Return the one file of this process; made when it is first needed."""
    return ArrayFile()


def _set_handler(capsule: Any) -> Any:
    """Make numpy use a handler on this thread; return the one before."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = ctypes.cast(
        get_pointer(import_module("numpy._core._multiarray_umath")._ARRAY_API, None),
        ctypes.POINTER(ctypes.c_void_p),
    )
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(functions[_SET_HANDLER])
    return set_handler(capsule)
