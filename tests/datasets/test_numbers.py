"""Tables of numbers: read whole, or one error with the line."""

import numpy as np
import pytest

from pgnn import PGNNError
from pgnn.datasets.numbers import expect, parse_floats, parse_integers


def test_lines_of_numbers_are_read():
    assert parse_integers(b"0 1\n 2\t3 \n", "t", columns=2).tolist() == [[0, 1], [2, 3]]
    assert parse_integers(b"7\n", "t", columns=1).dtype == np.int64
    assert parse_floats(b"0.5, -1\n", "t", columns=2, delimiter=",").tolist() == [[0.5, -1.0]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "t: is empty"),
        (b"0 1\n2 x\n", "t, line 2: 2 integers expected .got '2 x'"),
        (b"0 1\n2\n", "t, line 2: 2 integers expected"),
        (b"0 1 2\n", "t, line 1: 2 integers expected"),
        (b"0 1.5\n", "t, line 1: 2 integers expected"),
        (b"0 99999999999999999999\n", "t, line 1: 2 integers expected"),
    ],
)
def test_other_lines_are_named(data, message):
    with pytest.raises(PGNNError, match=message):
        parse_integers(data, "t", columns=2)


def test_numbers_that_are_not_finite_are_named():
    with pytest.raises(PGNNError, match="t, line 2: holds a number that is not finite"):
        parse_floats(b"1\nnan\n", "t", columns=1)


def test_a_count_that_differs_says_both():
    expect(3, 3, "nodes", "t")
    with pytest.raises(PGNNError, match=r"t: 4,000 nodes expected \(got 3"):
        expect(3, 4_000, "nodes", "t")
