"""The compiled functions that numpy asks for memory; see `pgnn.memory.files`.

Imported when a limit is first kept: numba is slow to load. `table` is one array of integers: some
numbers, room to read a line into, then four numbers for each large array.
"""

from __future__ import annotations

import mmap
from typing import Any

from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

PAGE = 4096
SLOTS = 8192  # large arrays that may live at once
SELF, FILE, STATM, LEAST, MOST, END, USED, FAILED, LOCK, STOP = range(10)
LINE = 10  # where the line begins
FIRST = 32
ADDRESS, SIZE, PLACE, ROOM = range(4)  # room: how long the range in the file may be
TABLE_SIZE = FIRST + 4 * SLOTS

_SIZE_T, _POINTER, _INT, _OFFSET = types.uintp, types.intp, types.intc, types.int64
_TABLE = types.CPointer(types.int64)
_PROTECTION, _SHARED = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED
_LONGEST = 1 << 50  # sums of such lengths do not overflow
_DONTNEED = mmap.MADV_DONTNEED
_PAUSE, _LONG_PAUSE = 2_000, 100_000  # microseconds between two looks at the memory
_DROP_RANGE = 1 | 2  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE

_malloc = types.ExternalFunction("malloc", _POINTER(_SIZE_T))
_calloc = types.ExternalFunction("calloc", _POINTER(_SIZE_T, _SIZE_T))
_realloc = types.ExternalFunction("realloc", _POINTER(_POINTER, _SIZE_T))
_free = types.ExternalFunction("free", types.void(_POINTER))
_usable_size = types.ExternalFunction("malloc_usable_size", _SIZE_T(_POINTER))
_memcpy = types.ExternalFunction("memcpy", _POINTER(_POINTER, _POINTER, _SIZE_T))
_fallocate = types.ExternalFunction("fallocate", _INT(_INT, _INT, _OFFSET, _OFFSET))
_mmap = types.ExternalFunction("mmap", _POINTER(_POINTER, _SIZE_T, _INT, _INT, _INT, _OFFSET))
_munmap = types.ExternalFunction("munmap", _INT(_POINTER, _SIZE_T))
_madvise = types.ExternalFunction("madvise", _INT(_POINTER, _SIZE_T, _INT))
_malloc_trim = types.ExternalFunction("malloc_trim", _INT(_SIZE_T))
_usleep = types.ExternalFunction("usleep", _INT(types.uint32))
_sched_yield = types.ExternalFunction("sched_yield", _INT())
_pread = types.ExternalFunction("pread", _POINTER(_INT, _POINTER, _SIZE_T, _OFFSET))


@intrinsic
def _exchange(_typing: Any, _address: Any, _value: Any) -> Any:
    """Write a number, and return the one that was there, as one step that no thread can part."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("xchg", pointer, arguments[1], "seq_cst")

    return types.int64(types.intp, types.int64), generate


@njit(cache=True)
def _lock(table: Any) -> None:
    """Keep ranges from coming and going while their pages are given back."""
    while _exchange(_POINTER(table[SELF] + 8 * LOCK), _OFFSET(1)) != 0:
        _sched_yield()


@njit(cache=True)
def _unlock(table: Any) -> None:
    _exchange(_POINTER(table[SELF] + 8 * LOCK), _OFFSET(0))


@njit(cache=True)
def _resident_bytes(table: Any) -> Any:
    """Return the memory of this process: the second number of /proc/self/statm, in pages."""
    line = _POINTER(table[SELF] + 8 * LINE)
    length = _pread(_INT(table[STATM]), line, _SIZE_T(8 * (FIRST - LINE)), _OFFSET(0))
    number, blanks = 0, 0
    for place in range(length):
        byte = (table[LINE + place // 8] >> (8 * (place % 8))) & 255
        if byte == ord(" "):
            blanks += 1
        elif blanks == 1:
            number = 10 * number + byte - ord("0")
    return number * PAGE


@njit(cache=True)
def _release_pages(table: Any) -> None:
    """Give the pages of all arrays back to the system; the file keeps them."""
    for number in range(table[USED]):
        slot = FIRST + 4 * number
        if table[slot + ADDRESS] != 0:
            _madvise(_POINTER(table[slot + ADDRESS]), _SIZE_T(table[slot + SIZE]), _INT(_DONTNEED))


@njit(cache=True)
def _keep_below(table: Any, more: Any) -> Any:
    """Give pages back if so much more would be too much; return how much memory there is then."""
    resident = _resident_bytes(table)
    if resident + more > table[MOST]:
        _release_pages(table)
        resident = _resident_bytes(table)
    return resident


@njit(cache=True)
def _slot_of(table: Any, address: Any) -> Any:
    """Return where the table knows an address; -1 for an array that malloc made."""
    if address % PAGE == 0 and address != 0:
        for number in range(table[USED]):
            if table[FIRST + 4 * number + ADDRESS] == address:
                return FIRST + 4 * number
    return -1


@njit(cache=True)
def _map_range_alone(table: Any, size: Any) -> Any:
    """Do what `_map_range` does; nobody else changes the table."""
    length = (_OFFSET(size) + PAGE - 1) // PAGE * PAGE
    slot = -1
    for number in range(table[USED]):  # a range that an array left, not much longer
        other = FIRST + 4 * number
        if table[other + ADDRESS] == 0 and length <= table[other + ROOM] <= 2 * length:
            slot = other
            break
    is_new = slot < 0
    if is_new:
        slot = FIRST + 4 * table[USED]
        if table[USED] == SLOTS or length > _LONGEST:
            table[FAILED] += 1
            return _POINTER(0)
        table[slot + PLACE], table[slot + ROOM] = table[END], length
    place, file = table[slot + PLACE], _INT(table[FILE])
    # The disk's room is taken now: if it were full later, writing would end the process.
    if _fallocate(file, _INT(0), place, length) != 0:
        table[FAILED] += 1
        return _POINTER(0)
    address = _mmap(_POINTER(0), _SIZE_T(length), _INT(_PROTECTION), _INT(_SHARED), file, place)
    if address == -1:
        table[FAILED] += 1
        return _POINTER(0)
    if is_new:
        table[USED] += 1
        table[END] += length
    _keep_below(table, length)
    table[slot + ADDRESS], table[slot + SIZE] = address, length
    return _POINTER(address)


@njit(cache=True)
def _map_range(table: Any, size: Any) -> Any:
    """Map a range of the file, all zeros; return 0 if there is no room for it."""
    _lock(table)
    address = _map_range_alone(table, size)
    _unlock(table)
    return address


@njit(cache=True)
def _unmap_range(table: Any, slot: Any) -> None:
    """Give a range back to the file, and its room to the disk."""
    length = table[slot + SIZE]
    _lock(table)
    _munmap(_POINTER(table[slot + ADDRESS]), _SIZE_T(length))
    table[slot + ADDRESS] = 0
    _unlock(table)
    _fallocate(_INT(table[FILE]), _INT(_DROP_RANGE), table[slot + PLACE], length)


@cfunc(_POINTER(_TABLE, _SIZE_T), cache=True)
def take(raw: Any, size: Any) -> Any:
    """Stand in for malloc."""
    table = carray(raw, (TABLE_SIZE,))
    return _malloc(size) if size < _SIZE_T(table[LEAST]) else _map_range(table, size)


@cfunc(_POINTER(_TABLE, _SIZE_T, _SIZE_T), cache=True)
def take_zeros(raw: Any, count: Any, each: Any) -> Any:
    """Stand in for calloc."""
    table = carray(raw, (TABLE_SIZE,))
    if count * each < _SIZE_T(table[LEAST]):
        return _calloc(count, each)
    return _map_range(table, count * each)


@cfunc(types.void(_TABLE, _POINTER, _SIZE_T), cache=True)
def give(raw: Any, address: Any, _size: Any) -> None:
    """Stand in for free; the size is not needed."""
    table = carray(raw, (TABLE_SIZE,))
    slot = _slot_of(table, address)
    if slot < 0:
        _free(address)
    else:
        _unmap_range(table, slot)


@cfunc(_POINTER(_TABLE, _POINTER, _SIZE_T), cache=True)
def resize(raw: Any, address: Any, size: Any) -> Any:
    """Stand in for realloc."""
    table = carray(raw, (TABLE_SIZE,))
    slot = _slot_of(table, address)
    if slot < 0 and size < _SIZE_T(table[LEAST]):
        return _realloc(address, size)
    old = _usable_size(address) if slot < 0 else _SIZE_T(table[slot + SIZE])
    fresh = _malloc(size) if size < _SIZE_T(table[LEAST]) else _map_range(table, size)
    if fresh == 0:
        return _POINTER(0)
    _memcpy(fresh, address, min(old, size))
    if slot < 0:
        _free(address)
    else:
        _unmap_range(table, slot)
    return fresh


@cfunc(_OFFSET(_TABLE), cache=True)
def keep_below(raw: Any) -> Any:
    """Give pages of arrays back if there is too much memory; return how much there is then."""
    table = carray(raw, (TABLE_SIZE,))
    _lock(table)
    resident = _keep_below(table, 0)
    _unlock(table)
    return resident


@cfunc(types.void(_TABLE), cache=True)
def release_pages(raw: Any) -> None:
    """Give the pages of all arrays back."""
    table = carray(raw, (TABLE_SIZE,))
    _lock(table)
    _release_pages(table)
    _unlock(table)


@cfunc(_POINTER(_TABLE), cache=True)
def watch(raw: Any) -> Any:
    """Look at the memory again and again until `STOP` is set: what a thread of its own does."""
    table = carray(raw, (TABLE_SIZE,))
    while _exchange(_POINTER(table[SELF] + 8 * STOP), _OFFSET(0)) == 0:
        _lock(table)
        resident = _keep_below(table, 0)
        _unlock(table)
        if resident > table[MOST]:  # the rest is no array: free what is not used
            _malloc_trim(_SIZE_T(0))
            _usleep(types.uint32(_LONG_PAUSE))
        else:
            _usleep(types.uint32(_PAUSE))
    return _POINTER(0)
