"""Sets of pairs: checked, and not to be changed."""

import numpy as np
import pytest

from pgnn import PGNNError
from pgnn.pairs.sets import PairSet


def test_pair_sets_are_checked_and_read_only():
    pairs = PairSet(np.array([(0, 1), (1, 2)]), np.array([1, 0]))
    assert repr(pairs) == "PairSet(positives=1, negatives=1)"
    assert pairs.positives.tolist() == [[0, 1]]
    assert pairs.negatives.tolist() == [[1, 2]]
    assert len(PairSet(np.empty((0, 2)), np.empty(0))) == 0
    with pytest.raises(ValueError, match="read-only"):
        pairs.pairs[0] = 5
    with pytest.raises(PGNNError, match=r"labels must have one entry per pair, \[1\] \(got \[2\]"):
        PairSet(np.array([(0, 1)]), np.array([1, 0]))


def test_pair_sets_do_not_change_with_the_array_they_were_made_of():
    source = np.array([(0, 1)])
    pairs = PairSet(source, np.array([True]))
    source[0] = 9
    assert pairs.pairs.tolist() == [[0, 1]]


def test_join_puts_positives_first():
    pairs = PairSet.join(np.array([(0, 1)]), np.array([(2, 3), (4, 5)]))
    assert pairs.pairs.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert pairs.labels.tolist() == [True, False, False]
