"""Text tables as bytes: from what people write to one record per line, one separator per gap.

All steps work on the whole file with C calls of `bytes`, so a clean file of 10 million lines costs
a few scans. Line numbers are looked up afterwards, by `Text.records`, when something is wrong.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from pgnn.errors import PGNNError
from pgnn.io.limits import MAX_COLUMNS, MAX_LINE, gunzip, read_file

BOM = b"\xef\xbb\xbf"
SKIPPED_LINE = re.compile(rb"\n[ \t]*(?:[#%][^\n]*)?(?=\n)")  # blank, or a comment
SKIPPED_START = re.compile(rb"(?:[ \t]*(?:[#%][^\n]*)?\n)*")
SEPARATORS = {".csv": b",;\t", ".tsv": b"\t,;"}  # best first; other files may also use spaces
_ROUNDS = 4  # after which padding is stripped by a slower way that does not mind its length
# Begins as a formula does, and can call or reach something: =1, or @f(...), -1|...; or would be
# taken for one that was written with an apostrophe in front. Then another is put there.
FORMULA = r"^'*(?:=.|[+@\t\r-].*[(|!])"
SEPARATOR_NAMES = {b",": "commas", b";": "semicolons", b"\t": "tabs", b" ": "spaces or tabs"}


@dataclass(frozen=True)
class Text:
    """A text file, and its records in plain form.

    Attributes:
        path: Where it was read from.
        raw: The whole decompressed file without BOM, lines ended by newlines.
        plain: The same without comments, blank lines and padding around fields.
        separator: One byte; a space stands for any run of spaces and tabs in `raw`.
        num_separators: How many separators `plain` has outside quotes.
        first_line: The number of the first line of `raw`, if that is a part of a file.
    """

    path: Path
    raw: bytes
    plain: bytes
    separator: bytes
    num_separators: int
    first_line: int = 1

    def head(self, num_lines: int) -> list[list[str]]:
        """Return the fields of the first records."""
        lines = io.BytesIO(self.plain)
        return [self._fields(line) for line, _ in zip(lines, range(num_lines), strict=False)]

    def records(self) -> Iterator[tuple[int, str, list[str]]]:
        """Yield (1-based line number, raw line, fields) of every record, slowly."""
        tidy = self.plain == self.raw  # then every line is plain as it is
        for number, line in _numbered_lines(self.raw, self.first_line):
            plain = line if tidy else _without_padding(line, self.separator)[0]
            yield number, _as_str(line), self._fields(plain)

    def _fields(self, plain_line: bytes) -> list[str]:
        line, separator = _as_str(plain_line), self.separator.decode()
        if '"' not in line:
            return line.split(separator)
        field = rf'{separator}(?:"((?:[^"]|"")*)"|([^{separator}]*))'
        fields = re.findall(field, separator + line)
        return [quoted.replace('""', '"') or bare for quoted, bare in fields]

    def may_hold_odd_integers(self) -> bool:
        """Whether some field might be an integer not written as Python would: 007, +7, -0, " 7"."""
        if any(sign in self.plain for sign in (b"+", b"-0", b'"')):
            return True
        if self.plain[:1] == b"0" and self.plain[1:2].isdigit():
            return True
        codes = np.frombuffer(self.plain, dtype=np.uint8)
        for start in range(0, len(codes), 1 << 20):
            before = codes[start : start + (1 << 20)]
            zero, digit = codes[start + 1 :][: len(before)], codes[start + 2 :][: len(before)]
            before, zero = before[: len(digit)], zero[: len(digit)]
            odd = (zero == ord("0")) & (digit >= ord("0")) & (digit <= ord("9"))
            odd &= (before == ord("\n")) | (before == ord(self.separator))
            if odd.any():
                return True
        return False


def read_bytes(path: Path) -> bytes:
    """Return the contents of a file, decompressed if its name ends in .gz."""
    with file_errors(path):
        data = read_file(path, pipes=True)
        return gunzip(path, data) if path.suffix.lower() == ".gz" else data


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Say in one line why a file cannot be read or decompressed."""
    try:
        yield
    except FileNotFoundError as error:
        raise PGNNError(f"{path}: there is no such file; check the path") from error
    except IsADirectoryError as error:
        raise PGNNError(f"{path}: is a folder; give the path of a file in it") from error
    except OSError as error:
        raise PGNNError(f"{path}: cannot be read ({error.strerror})") from error
    except (EOFError, zlib.error) as error:
        raise PGNNError(
            f"{path}: cannot be decompressed ({error}); it is damaged or not a gzip file"
        ) from error


def read_text(path: Path, suffix: str) -> Text:
    """Read a text table, choosing its separator by the suffix and the first record."""
    raw = read_bytes(path).removeprefix(BOM)
    text = as_text(path, raw, suffix)
    return text or raise_no_records(path, is_empty=not raw.strip())


def raise_no_records(path: Path, *, is_empty: bool) -> NoReturn:
    """Refuse a text without records."""
    what = "is empty" if is_empty else "holds only comments and blank lines"
    raise PGNNError(f"{path}: {what}; a table needs at least one line")


def as_text(
    path: Path, raw: bytes, suffix: str, separator: bytes | None = None, first_line: int = 1
) -> Text | None:
    """Bring a text table, or whole lines of one, to plain form; None if it has no records.

    Args:
        path: Where it was read from.
        raw: The bytes, without a BOM.
        suffix: Tells which separators to look for.
        separator: The separator, if it is known.
        first_line: The number of the first line in the file.
    """
    raw = with_newlines(raw)
    _check_utf8(path, raw, first_line)
    if first_line == 1 and raw.startswith(b"%%MatrixMarket"):
        raise PGNNError(
            f"{path}: is a Matrix Market file, not an edge list; "
            "use Graph.from_scipy(scipy.io.mmread(path))"
        )
    _check_lines(path, raw)
    records = _without_skipped_lines(raw)
    if not records:
        return None
    if separator is None:
        separator = _choose_separator(records[: records.index(b"\n")], SEPARATORS.get(suffix))
    plain, outside = _without_padding(records, separator)
    if plain is not outside and not _quotes_are_sound(plain, outside, separator):
        _raise_unsound_quotes(path, raw, separator, first_line)
    if outside.count(separator, 0, outside.index(b"\n")) >= MAX_COLUMNS:
        raise PGNNError(f"{path}: has more than {MAX_COLUMNS:,} columns; split the table")
    return Text(path, raw, plain, separator, outside.count(separator), first_line)


def with_newlines(raw: bytes) -> bytes:
    """Return text whose lines end as those of Unix do."""
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


def _check_utf8(path: Path, data: bytes, first_line: int) -> None:
    if b"\0" in data:
        raise PGNNError(
            f"{path}: holds NUL bytes, so it is not UTF-8 text; save it as UTF-8 "
            "(Excel and PowerShell may write UTF-16)"
        )
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            number = data.count(b"\n", 0, error.start) + first_line
            line = data[data.rfind(b"\n", 0, error.start) + 1 :].split(b"\n", 1)[0]
            raise PGNNError(
                f"{path}, line {number}: is not UTF-8 text; save the file as UTF-8 "
                f"(got {shown(line.decode('latin-1'))})"
            ) from error


def _check_lines(path: Path, raw: bytes) -> None:
    """Refuse a line without end: from each newline, the next must be near."""
    place = 0
    while len(raw) - place > MAX_LINE:
        place = raw.rfind(b"\n", place, place + MAX_LINE) + 1
        if not place:
            raise_long_line(path)


def raise_long_line(path: Path) -> NoReturn:
    """Refuse a text with a line without end."""
    raise PGNNError(f"{path}: has a line of more than {MAX_LINE >> 20} MiB; is it a table?")


def shown(line: str) -> str:
    """Return a line as it is quoted in messages: whole, or the first 200 characters."""
    return repr(line) if len(line) <= 200 else f"{line[:200]!r}..."


def _as_str(line: bytes) -> str:
    return line.decode().rstrip("\n")


def _numbered_lines(raw: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, line with its newline) for lines that are neither comment nor blank."""
    for number, line in enumerate(io.BytesIO(raw), start=first_line):
        stripped = line.strip(b" \t\n")
        if stripped and stripped[:1] not in b"#%":
            yield number, line


def _without_skipped_lines(raw: bytes) -> bytes:
    """Drop comments and blank lines; what is left ends with a newline."""
    data = raw if raw.endswith(b"\n") else raw + b"\n"
    start = SKIPPED_START.match(data)
    data = data[start.end() if start else 0 :]
    # Seeking one byte is ten times as fast as seeking two, and comments are mostly at the top.
    if any(byte in data and b"\n" + byte in data for byte in (b"\n", b"#", b"%", b" ", b"\t")):
        data = SKIPPED_LINE.sub(b"", b"\n" + data)[1:]
    return data


def _choose_separator(line: bytes, candidates: bytes | None) -> bytes:
    """Return the first candidate that the first record has; without candidates also spaces."""
    outside = b"".join(line.split(b'"')[::2])
    for code in candidates or b"\t,;":
        candidate = bytes([code])
        # A tab beside an empty field is alignment: such a file is separated by runs of blanks.
        aligned = candidate == b"\t" and b"" in map(bytes.strip, line.split(b"\t"))
        if candidate in outside and (candidates or not aligned):
            return candidate
    return candidates[:1] if candidates else b" "


def _without_padding(data: bytes, separator: bytes) -> tuple[bytes, bytes]:
    """Drop spaces and tabs around fields.

    Returns:
        The data so stripped, and the part of it outside quotes with one `"` for each quoted run.
    """
    if b'"' not in data:
        plain = _strip_fields(data, separator)
        return plain, plain
    # Every other piece between quotes is outside them; stripping those as one keeps this in C.
    pieces = data.split(b'"')
    outside = _strip_fields(b'"'.join(pieces[::2]), separator)
    pieces[::2] = outside.split(b'"')
    return b'"'.join(pieces), outside


def _strip_fields(data: bytes, separator: bytes) -> bytes:
    if separator == b" ":
        data = data.replace(b"\t", b" ")
    pads = [pad for pad in (b" ", b"\t") if pad in data and (pad != separator or pad == b" ")]
    if not pads:
        return data
    data = b"\n" + data
    for _ in range(_ROUNDS):
        length = len(data)
        for pad in pads:
            for edge in (separator, b"\n"):
                data = data.replace(pad + edge, edge).replace(edge + pad, edge)
        if len(data) == length:
            return data[1:]
    # Long padding: one pass, which tries no blank twice, where rounds would be quadratic.
    pad, edge = b"".join(pads), re.escape(separator) + rb"\n"
    runs = rb"(?<=[%b])[%b]++|(?<![%b])[%b]++(?=[%b])" % (edge, pad, pad, pad, edge)
    return re.sub(runs, b"", data)[1:]


def _quotes_are_sound(plain: bytes, outside: bytes, separator: bytes) -> bool:
    """Whether quotes enclose whole fields and close on their line."""
    pieces = plain.split(b'"')
    if len(pieces) % 2 == 0 or b"\n" in b"".join(pieces[1::2]):
        return False
    edges = re.escape(separator) + rb"\n\""
    return re.search(rb"[^" + edges + rb'](?=")|"[^' + edges + rb"]", outside) is None


def _raise_unsound_quotes(path: Path, raw: bytes, separator: bytes, first_line: int) -> None:
    for number, line in _numbered_lines(raw, first_line):
        plain, outside = _without_padding(line, separator)
        if b'"' in plain and not _quotes_are_sound(plain, outside, separator):
            raise PGNNError(
                f"{path}, line {number}: has a stray quote; quotes must enclose whole fields, end "
                f"on the same line and be doubled inside (got {shown(_as_str(line))})"
            )
