"""Times of edges: what is read, what a typed time means, and what is refused."""

from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn import PGNNError
from pgnn.io.times import TimeScale, _seconds, is_readable, read_times


def seconds(*parts):
    return datetime(*parts, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-01", (2024, 3, 1)),
        ("2024-03", (2024, 3, 1)),
        ("2024/3/1", (2024, 3, 1)),
        ("2024-03-01T12:30", (2024, 3, 1, 12, 30)),
        ("2024-03-01 12:30:05", (2024, 3, 1, 12, 30, 5)),
        ("2024-03-01T12:30:05Z", (2024, 3, 1, 12, 30, 5)),
        ("2024-03-01T12:30:05+02:00", (2024, 3, 1, 10, 30, 5)),
    ],
)
def test_dates_are_seconds_in_utc(text, moment):
    times, scale = read_times(pl.Series([text, "1970-01-02"]))
    assert times.tolist() == [seconds(*moment), 86400.0]
    assert scale.kind == "date"


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([2019, 2021]),
        pl.Series(["2019", "2021"]),
        pl.Series([2019.0, 2021.0], dtype=pl.Float32),
    ],
)
def test_numbers_stay_as_they_are(column):
    times, scale = read_times(column)
    assert times.tolist() == [2019.0, 2021.0]
    assert scale == TimeScale("number", None, years=True)


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("ms"), pl.Datetime("ns", "UTC")])
def test_columns_of_dates_are_read_whatever_their_unit(kind):
    column = pl.Series([date(2024, 3, 1), None]).cast(pl.Datetime("us"))
    column = column.dt.replace_time_zone("UTC").cast(kind) if "UTC" in str(kind) else (
        column.cast(kind)
    )  # fmt: skip
    times, scale = read_times(column)
    assert times[0] == seconds(2024, 3, 1)
    assert np.isnan(times[1])
    assert scale.kind == "date"


@pytest.mark.parametrize(
    ("texts", "bad"),
    [
        (["2024-01-01", "soon"], 1),
        (["2024-01-01", "2024-13-01"], 1),
        (["2024-01-01", None], 1),
        (["2024-01-01", "12"], 1),
        (["12", "2024-01-01"], 1),
        (["1", "nan"], 1),
        (["1", "inf"], 1),
        (["03/04/2024", "2024-01-01"], 0),
    ],
)
def test_what_is_no_time_is_nan_and_not_readable(texts, bad):
    times, scale = read_times(pl.Series(texts, dtype=pl.String))
    assert np.flatnonzero(np.isnan(times)).tolist() == [bad]
    assert [is_readable(text or "", scale) for text in texts].index(False) == bad


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2024", (2024, 1, 1), (2025, 1, 1)),
        ("2024-12", (2024, 12, 1), (2025, 1, 1)),
        ("2024-02", (2024, 2, 1), (2024, 3, 1)),
        ("2024-02-28", (2024, 2, 28), (2024, 2, 29)),
    ],
)
def test_a_typed_period_begins_with_its_first_moment_and_ends_with_its_last(text, first, after):
    scale = TimeScale("date")
    assert scale.earliest("test_from", text) == seconds(*first)
    last = scale.latest("until", text)
    assert last < seconds(*after)
    assert np.nextafter(last, np.inf) == seconds(*after)


def test_an_exact_moment_is_its_own_end():
    scale = TimeScale("date")
    assert scale.earliest("until", "2024-02-01T10:00") == scale.latest("until", "2024-02-01T10:00")


def test_dates_may_be_typed_for_unix_times_and_years():
    _, unix = read_times(pl.Series([1.6e9, 1.7e9]))
    assert unix.earliest("test_from", "2024-03") == seconds(2024, 3, 1)
    _, millis = read_times(pl.Series([1.6e12, 1.7e12]))
    assert millis.earliest("test_from", "2024-03") == 1000 * seconds(2024, 3, 1)
    _, years = read_times(pl.Series([1990, 2020]))
    assert years.earliest("test_from", "2010-01-01") == 2010
    assert unix.earliest("test_from", "1650000000") == 1650000000


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (TimeScale("date"), "soon"),
        (TimeScale("date"), "31.12.2024"),
        (TimeScale("number"), "2024-01-01"),
        (TimeScale("number"), "inf"),
    ],
)
def test_a_typed_time_of_another_kind_is_refused(scale, text):
    with pytest.raises(PGNNError, match="test_from must be a") as caught:
        scale.earliest("test_from", text)
    assert repr(text) in str(caught.value)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))
def test_a_date_that_is_shown_is_read_back(moment):
    times, scale = read_times(pl.Series([moment.isoformat()]))
    assert scale.earliest("test_from", scale.shown(times[0])) == pytest.approx(times[0], abs=1e-5)


@given(st.floats(-1e15, 1e15))
def test_a_number_that_is_shown_is_read_back(number):
    scale = TimeScale("number")
    assert scale.earliest("test_from", scale.shown(number)) == number


shapes = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 30)).flatmap(
    lambda moment: st.sampled_from([
        moment.date().isoformat(),
        moment.replace(microsecond=0).isoformat(),
        moment.replace(microsecond=0).isoformat(" "),
        moment.isoformat(),
        moment.strftime("%Y-%m"),
        moment.replace(microsecond=0).isoformat() + "+01:00",
    ])
)  # fmt: skip
odd_shapes = st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9])?",
                           fullmatch=True)  # fmt: skip


@given(st.lists(shapes | odd_shapes, min_size=1, max_size=8))
def test_dates_read_all_at_once_are_those_read_one_by_one(texts):
    times, _ = read_times(pl.Series(texts))
    slow = [_seconds(text) for text in texts]
    assert [None if np.isnan(time) else time for time in times] == slow
