import json

import numpy as np
import pytest

from pgnn.errors import PGNNError
from pgnn.report import write_report
from pgnn.report.page import percent, plain, rounded, to_json
from report.samples import HOSTILE


@pytest.mark.parametrize("text", HOSTILE)
def test_json_cannot_leave_its_element(text):
    escaped = to_json({text: [text]})
    assert not set("<>&") & set(escaped)
    assert json.loads(escaped) == {text: [text]}


def test_json_refuses_what_javascript_cannot_read():
    with pytest.raises(ValueError, match="JSON"):
        to_json({"loss": float("nan")})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(5), 5),
        (np.str_("a"), "a"),
        (2**53, 2**53),
        (2**53 + 1, "9007199254740993"),
        (("a", 1), "('a', 1)"),
        (1.5, "1.5"),
        (True, "True"),
    ],
)
def test_ids_become_exact_integers_or_text(value, expected):
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


@pytest.mark.parametrize(
    ("value", "text"), [(0.12349, "0.123"), (-1.0, "\N{MINUS SIGN}1.000"), (None, "\N{EN DASH}")]
)
def test_numbers_are_rounded_to_three_digits(value, text):
    assert rounded(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.255, "26%"),
        (0.0421, "4.2%"),
        (0.0005, "0.05%"),
        (0.9968, "99.7%"),
        (0.0, "0%"),
        (1e-9, "< 0.01%"),
        (1.0, "> 99.99%"),
        (None, "\N{EN DASH}"),
    ],
)
def test_shares_are_told_in_percent(share, text):
    assert percent(share) == text


def test_report_is_written_as_utf8_and_replaces_what_was_there(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    write_report(path, "<p>結點 \ud800</p>")
    assert path.read_text(encoding="utf-8") == "<p>結點 ?</p>"
    assert list(tmp_path.iterdir()) == [path]


def test_report_in_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(PGNNError, match="does not exist"):
        write_report(tmp_path / "none" / "report.html", "<p>")
