"""Mutations of bytes, tables, arrays, JSON and arguments; all that is drawn comes from one seed."""

import copy
import gzip
import io
import json
import math

import numpy as np
import scipy.sparse as sp

FIELDS = (
    *("", " ", '"', '""', "'", "\t", "\ufeff", "\u202e", "é", "日本", "a" * 300, "0", "1", "-1"),
    *("007", "+7", "-0", "1e5", "1e400", "nan", "inf", "-inf", "0x10", "9" * 30, "null", "NA"),
    *("source", "target", "weight", "id", "label", "=1+1", "#x", "%x", "a b", "a;b", "\x1b[2J"),
)
SPLICES = (
    *(b"\0", b"\n", b"\r", b"\r\n", b",", b";", b"\t", b" ", b'"', b"#", b"\xff", b"\xef\xbb\xbf"),
    *(b"-1", b"99999999999999999999", b"1e999", b"\xc3", b" " * 2000, b"," * 50, b"\n" * 50),
)


def mutated_bytes(rng, data):
    """Flip, cut, double, splice or drop a few places."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[place % len(data)] = rng.randrange(256)
        elif kind == 1:
            del data[place:]
        elif kind == 2:
            data[place:place] = rng.choice(SPLICES)
        elif kind == 3:
            del data[place : place + rng.randint(1, 20)]
        elif kind == 4:
            data[place:place] = data[max(0, place - 30) : place]
        elif kind == 5 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        else:
            number = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1))
            size = rng.choice((4, 8))
            data[place : place + size] = (number % 2 ** (8 * size)).to_bytes(size, "little")
    return bytes(data)


def table(rng, columns=None):
    """Return a table of edges as text, often a strange one."""
    separator = rng.choice((",", ",", ",", "\t", ";", " ", ", "))
    width = columns or rng.choice((1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5))
    rows = rng.randint(0, 30)
    names = rng.choice(
        (None, ["source", "target", "weight", "a", "b"], ["u", "v", "x", "y", "z"], "abcde")
    )
    lines = [] if names is None else [separator.join(names[:width])]
    for _ in range(rows):
        fields = [
            rng.choice(FIELDS) if rng.random() < 0.02 else str(rng.randrange(12))
            for _ in range(width + (rng.random() < 0.003))
        ]
        lines.append(separator.join(fields))
    text = rng.choice(("\n", "\n", "\r\n", "\r")).join(lines)
    return text.encode("utf-8", "surrogatepass")


def mutated_text(rng, data):
    """Change fields and lines of a table; it stays text."""
    text = data.decode("utf-8", "surrogatepass")
    for _ in range(rng.randint(1, 3)):
        lines = text.splitlines(keepends=True) or [""]
        place = rng.randrange(len(lines))
        kind = rng.randrange(7)
        if kind == 0:
            lines[place] = rng.choice(FIELDS) + lines[place]
        elif kind == 1:
            lines[place] = lines[place].rstrip("\r\n") + rng.choice(FIELDS) + "\n"
        elif kind == 2:
            lines.insert(place, lines[rng.randrange(len(lines))])
        elif kind == 3:
            lines.insert(place, rng.choice(("\n", "# a, b\n", "% x\n", " \n", ",\n", "\ufeff\n")))
        elif kind == 4:
            lines.pop(place)
        elif kind == 5:
            lines = [line.replace("1", rng.choice(FIELDS)) for line in lines]
        else:
            rng.shuffle(lines)
        text = "".join(lines)
    return text.encode("utf-8", "surrogatepass")


def npz_matrix(rng):
    """Return an npz file as scipy would write it, with wrong inner arrays."""
    n = rng.randint(1, 8)
    matrix = sp.random_array((n, n), density=0.4, rng=np.random.default_rng(rng.randrange(999)))
    kind = rng.choice(("csr", "csc", "coo", "bsr", "dia"))
    matrix = matrix.asformat(kind)
    arrays = {"format": kind.encode(), "shape": np.array(matrix.shape), "data": matrix.data}
    if kind == "coo":
        arrays |= {"row": matrix.row, "col": matrix.col}
    elif kind == "dia":
        arrays |= {"offsets": matrix.offsets}
    else:
        arrays |= {"indices": matrix.indices, "indptr": matrix.indptr}
    for _ in range(rng.randint(0, 3)):
        name = rng.choice(list(arrays))
        arrays[name] = mutated_array(rng, arrays[name])
    if rng.random() < 0.05:
        arrays.pop(rng.choice(list(arrays)))
    buffer = io.BytesIO()
    rng.choice((np.savez, np.savez_compressed))(buffer, **arrays)
    return buffer.getvalue()


def mutated_array(rng, array):
    """Change numbers, type, shape or length of an array."""
    array = np.array(array)
    kind = rng.randrange(8)
    extreme = rng.choice((-1, 0, 2**30, 2**31 - 1, -(2**31), 2**40, 2**62, 10**8, 3))
    if kind == 0 and array.size and array.dtype.kind in "iuf":
        changed = array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)
        changed.flat[rng.randrange(array.size)] = extreme
        return changed
    if kind == 1 and array.dtype.kind in "iuf":
        return array.astype(rng.choice((np.float64, np.int8, np.uint64, np.int64, bool, complex)))
    if kind == 2:
        return array[..., None] if array.ndim else array[None]
    if kind == 3:
        return array.ravel()[: rng.randrange(array.size + 1)]
    if kind == 4:
        return np.concatenate([array.ravel(), array.ravel()])
    if kind == 5 and array.dtype.kind in "iuf":
        return array + (extreme if array.dtype.itemsize == 8 else 1)
    if kind == 6 and array.dtype.kind == "f":
        return np.where(np.arange(array.size).reshape(array.shape) % 2, math.nan, -array)
    return np.array(rng.choice(("text", b"bytes", 7, 2.5, [], [[1, 2], [3, 4]])))


def mutated_argument(rng, value):
    """Return another value of the same kind, often one that cannot be; None if there is none."""
    import torch

    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((0, 1, -1, 2, 7, 20, 21, 1000, 2**31 - 1, 2**31, 2**40, 2**63))
    if isinstance(value, float):
        return rng.choice((0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 0.999, 1.001, math.nan, math.inf))
    if isinstance(value, str):
        return rng.choice(("", value.upper(), value + "x", " ", "a" * 100_000, "\0", "\ud800", "é"))
    if isinstance(value, np.ndarray):
        return mutated_array(rng, value)
    if isinstance(value, torch.Tensor):
        array = mutated_array(rng, value.detach().numpy())
        if array.dtype.kind not in "biufc" or array.dtype == np.uint64:
            return None
        return torch.from_numpy(np.ascontiguousarray(array))
    if isinstance(value, list | tuple) and value:
        items = list(value)
        place = rng.randrange(len(items))
        kind = rng.randrange(5)
        if kind == 0:
            items.pop(place)
        elif kind == 1:
            items.append(items[place])
        elif kind == 2:
            items = []
        elif kind == 3:
            items[place] = rng.choice((None, -1, 99, 2**40, 1.5, math.nan, "x", [], items, {}))
        else:
            changed = mutated_argument(rng, items[place])
            items[place] = items[place] if changed is None else changed
        return type(value)(items)
    if isinstance(value, dict) and value:
        return mutated_tree(rng, value) if _is_plain(value) else dict(list(value.items())[1:])
    return None


def _is_plain(document):
    """Return whether a document is made of what JSON has."""
    if isinstance(document, dict):
        return all(map(_is_plain, document.values()))
    if isinstance(document, list):
        return all(map(_is_plain, document))
    return document is None or isinstance(document, str | int | float)


VALUES = (
    *(None, True, False, 0, -1, 3, 2**31, 10**9, 10**18, 10**30, 0.5, -0.5, 1e300, math.nan),
    *(math.inf, "", "x", "a" * 20_000, "../../etc/passwd", "\x1b[31m", "<script>alert(1)</script>"),
    *([], {}, [1, 2], {"a": 1}, [[[]]], ["x"] * 5, {"fpr": [0, 1], "tpr": ["x"]}),
)


def mutated_tree(rng, document):
    """Replace, remove, add or double a few values of nested JSON."""
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(document))
        if not places:
            return rng.choice(VALUES)
        holder, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[rng.choice(("x", "", "graph", "__class__"))] = copy.deepcopy(rng.choice(VALUES))
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return document


def _places(node):
    keys = node.keys() if isinstance(node, dict) else range(len(node)) if node else ()
    for key in list(keys):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


def deep(depth=100_000):
    """Return JSON of many nested brackets."""
    return b"[" * depth + b"]" * depth


def graphml(rng):
    """Return GraphML, mutated as text."""
    edges = "".join(
        f'<edge source="n{rng.randrange(5)}" target="n{rng.randrange(5)}">'
        f'<data key="w">{rng.choice(("1", "2.5", "x", "-1", "nan"))}</data></edge>'
        for _ in range(6)
    )
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]>'
    text = (
        '<?xml version="1.0"?>' + rng.choice(("", "", bomb)) + "<graphml><key id='w' for='edge' "
        "attr.name='weight' attr.type='double'/><graph edgedefault="
        f"'{rng.choice(('directed', 'undirected', 'x'))}'>{edges}</graph></graphml>"
    )
    data = text.encode()
    return mutated_bytes(rng, data) if rng.random() < 0.7 else data


def parquet(rng):
    """Return a small parquet file, whose columns are often of odd types."""
    import datetime

    import polars as pl

    rows = rng.randint(0, 50)

    def column():
        kind = rng.randrange(12)
        numbers = [rng.randrange(9) for _ in range(rows)]
        if kind < 4:
            return pl.Series(numbers, dtype=rng.choice((pl.Int64, pl.UInt8, pl.Int32, pl.UInt64)))
        if kind < 7:
            return pl.Series([rng.choice((f"n{n}", *FIELDS[:9])) for n in numbers], dtype=pl.String)
        if kind == 7:
            return pl.Series([rng.choice((None, n)) for n in numbers], dtype=pl.Int64)
        if kind == 8:
            return pl.Series(
                [rng.choice((0.5, math.nan, math.inf, n)) for n in numbers], dtype=pl.Float64
            )
        if kind == 9:
            day = datetime.date(2024, 1, 1)
            return pl.Series([day + datetime.timedelta(n) for n in numbers], dtype=pl.Date)
        if kind == 10:
            return pl.Series([[n] * n for n in numbers], dtype=pl.List(pl.Int64))
        return pl.Series([b"\xff" * n for n in numbers], dtype=pl.Binary)

    names = rng.choice((("source", "target", "weight", "x"), ("u", "v", "", "\x1b[2J"), "abcd"))
    frame = pl.DataFrame({name: column() for name in names[: rng.randint(1, 4)]})
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression=rng.choice(("zstd", "snappy", "uncompressed", "gzip")))
    return buffer.getvalue()


def gz(rng, data):
    """Return gzip, sometimes damaged, of several members, or with waste behind."""
    packed = gzip.compress(data)
    kind = rng.randrange(4)
    if kind == 0:
        return mutated_bytes(rng, packed)
    if kind == 1:
        return packed + gzip.compress(b"x,y\n")
    return packed + (b"waste" if kind == 2 else b"")


def json_bytes(document):
    """Return a document as JSON, NaN included."""
    return json.dumps(document).encode()
