"""Sizes as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgnn.errors import PGNNError
from pgnn.memory.sizes import parse_size, say_size


@pytest.mark.parametrize(
    ("text", "num_bytes"),
    [
        ("4GB", 4 * 10**9),
        ("4gb", 4 * 10**9),
        ("500MB", 500 * 10**6),
        ("2GiB", 2 << 30),
        ("1.5 GiB", 3 << 29),
        (" 10KB ", 10_000),
        (".5MiB", 1 << 19),
        ("1TB", 10**12),
        (123, 123),
    ],
)
def test_sizes_are_read(text, num_bytes):
    assert parse_size(text) == num_bytes


@pytest.mark.parametrize(
    "text",
    [
        *("", "4", "GB", "4G", "-4GB", "0GB", "4XB", "4GBs", "nanGB", "1e3MB", "0.1KiB1"),
        *("\u0664GB", 0, -1, True, None, 1.5, b"4GB"),
    ],
)
def test_what_is_no_size_is_refused(text):
    with pytest.raises(PGNNError, match="memory must be a size such as 4GB"):
        parse_size(text)


@given(st.integers(10**6, 10**14))
def test_what_is_said_is_read_again_and_never_less(num_bytes):
    again = parse_size(say_size(num_bytes))
    assert num_bytes <= again <= num_bytes + max(10**6, 10**8)
