"""Times of edges: ISO dates or plain numbers, as float64 that compare."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from pgnn.errors import Parameter, PGNNError

if TYPE_CHECKING:
    import polars as pl

WANTED = "times must be dates such as 2024-03-31 or 2024-03-31T12:00, or plain numbers"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MONTH = re.compile(r"([0-9]{4})[-/]([0-9]{1,2})")
_SLASHED = re.compile(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})(.*)")
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
_DATE = "^[1-9][0-9]{3}-[01][0-9]-[0-3][0-9]"
_USUAL = {
    "%Y-%m-%d": f"{_DATE}$",
    "%Y-%m-%dT%H:%M:%S": f"{_DATE}T{_CLOCK}",
    "%Y-%m-%d %H:%M:%S": f"{_DATE} {_CLOCK}",
}
_YEARS = (1000, 3000)
_UNIX = ((1e8, 1e11, 1.0), (1e11, 1e14, 1e3), (1e14, 1e17, 1e6), (1e17, 1e20, 1e9))


@dataclass(frozen=True)
class TimeScale:
    """What the times of a table are: dates, as seconds since 1970 (UTC), or numbers as they stand.

    Attributes:
        kind: "date" or "number".
        per_second: Of numbers that look like unix times, how many make a second; else None.
        years: Whether the numbers look like years.

    Example:
        >>> scale = TimeScale("date")
        >>> scale.shown(scale.earliest("test_from", "2024-03"))
        '2024-03-01'
    """

    kind: Literal["date", "number"]
    per_second: float | None = None
    years: bool = False

    def shown(self, value: float) -> str:
        """Write a time so that `earliest` reads it back."""
        if self.kind == "number":
            return str(int(value)) if value == int(value) else repr(float(value))
        try:
            moment = datetime(1970, 1, 1) + timedelta(seconds=float(value))
        except OverflowError:  # parquet has dates beyond the year 9999
            return repr(float(value))
        if (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0):
            return moment.date().isoformat()
        return moment.isoformat()

    def earliest(self, parameter: str, text: str) -> float:
        """Return the first moment of a time that a user typed: of `2024-03`, the 1st of March."""
        return self._period(parameter, text)[0]

    def latest(self, parameter: str, text: str) -> float:
        """Return the last moment of a time that a user typed: of a day, its last."""
        start, end = self._period(parameter, text)
        return start if end == start else float(np.nextafter(end, -np.inf))

    def _period(self, parameter: str, text: str) -> tuple[float, float]:
        """Return when a typed time begins and ends; both are the same for an exact one."""
        text = text.strip()
        if self.kind == "number":
            if _NUMBER.fullmatch(text) and np.isfinite(float(text)):
                return float(text), float(text)
            if self.per_second is not None and (period := _period_of(text)) is not None:
                return period[0] * self.per_second, period[1] * self.per_second
            if self.years and (period := _period_of(text)) is not None:
                year = float(datetime.fromtimestamp(period[0], UTC).year)
                return year, year
            wanted = "a number, as in the column of times"
        else:
            if (period := _period_of(text)) is not None:
                return period
            wanted = "a date such as 2024-03-31, as in the column of times"
        raise PGNNError(Parameter(parameter), f" must be {wanted} (got {text!r})")


def _period_of(text: str) -> tuple[float, float] | None:
    """Return begin and end of a year, a month or a day, or an exact moment twice."""
    if re.fullmatch("[0-9]{4}", text):
        first, last = _seconds(f"{text}-01-01"), _seconds(f"{int(text) + 1:04}-01-01")
    elif month := _MONTH.fullmatch(text):
        year, number = int(month[1]), int(month[2])
        following = (year + number // 12, number % 12 + 1)
        first = _seconds(f"{year:04}-{number:02}-01")
        last = _seconds(f"{following[0]:04}-{following[1]:02}-01")
    else:
        first = last = _seconds(text)
        if first is not None and not re.search("[T: ]", text):
            last = first + 24 * 3600
    return None if first is None or last is None else (first, last)


def _seconds(text: str) -> float | None:
    """Return an ISO date or datetime in seconds since 1970; one without a zone is in UTC."""
    text = text.strip()
    if slashed := _SLASHED.fullmatch(text):
        text = f"{slashed[1]}-{int(slashed[2]):02}-{int(slashed[3]):02}{slashed[4]}"
    elif month := _MONTH.fullmatch(text):
        text = f"{month[1]}-{int(month[2]):02}-01"
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None


def read_times(column: pl.Series) -> tuple[NDArray[np.float64], TimeScale]:
    """Return times as float64 and what they are; NaN where a time cannot be read.

    Args:
        column: Of text, numbers, dates or datetimes. Text is numbers if its first entry is one.

    Example:
        >>> import polars as pl
        >>> times, scale = read_times(pl.Series(["2024-01-01", "2024-01-02"]))
        >>> (times[1] - times[0]).item(), scale.kind
        (86400.0, 'date')
    """
    import polars as pl

    if column.dtype.is_temporal() and column.dtype in (pl.Date, pl.Datetime):
        micros = column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64)
        return micros.fill_null(np.nan).to_numpy() / 1e6, TimeScale("date")
    if column.dtype.is_numeric() and column.dtype != pl.Boolean:
        return _as_numbers(column.cast(pl.Float64))
    texts = column.cast(pl.String, strict=False).str.strip_chars()
    first = texts.drop_nulls().head(1).to_list()
    if not first or _NUMBER.fullmatch(first[0]):
        numbers = texts.cast(pl.Float64, strict=False)
        return _as_numbers(numbers)
    return _as_dates(texts), TimeScale("date")


def _as_dates(texts: pl.Series) -> NDArray[np.float64]:
    """Return seconds since 1970: the usual forms all at once, any others one by one."""
    import polars as pl

    seconds = np.full(len(texts), np.nan)
    for form, pattern in _USUAL.items():
        rows = np.flatnonzero(texts.str.contains(pattern).fill_null(False).to_numpy())
        if len(rows):
            moments = texts.gather(rows).str.to_datetime(form, strict=False, time_unit="us")
            seconds[rows] = moments.dt.epoch("us").cast(pl.Float64).fill_null(np.nan) / 1e6
    rest = np.flatnonzero(np.isnan(seconds) & texts.is_not_null().to_numpy())
    if len(rest):
        distinct, which = np.unique(texts.gather(rest).to_numpy(), return_inverse=True)
        odd = [_seconds(text) for text in distinct.tolist()]
        seconds[rest] = np.array(odd, dtype=np.float64)[which]  # None becomes NaN
    return seconds


def _as_numbers(column: pl.Series) -> tuple[NDArray[np.float64], TimeScale]:
    values = column.fill_null(np.nan).to_numpy().astype(np.float64)
    values = np.where(np.isfinite(values), values, np.nan)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return values, TimeScale("number")
    low, high = float(finite.min()), float(finite.max())
    years = _YEARS[0] <= low and high <= _YEARS[1] and bool((finite == finite.round()).all())
    per_second = next((unit for least, most, unit in _UNIX if least <= low and high < most), None)
    return values, TimeScale("number", per_second, years)


def is_readable(field: str, scale: TimeScale) -> bool:
    """Whether one entry of a column of times can be read, as `read_times` reads it."""
    if scale.kind == "number":
        return bool(_NUMBER.fullmatch(field.strip()))
    return _seconds(field) is not None
