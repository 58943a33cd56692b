"""Pairs by label: every pair once, in the kind it belongs to."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pgnn.pairs.labelled import LabelledPairs


@given(st.lists(st.integers(0, 4), min_size=1, max_size=15))
def test_labelled_pairs_list_every_pair_once(labels):
    pairs = LabelledPairs.of(np.array(labels))
    same = pairs.same(np.arange(pairs.num_same))
    different = pairs.different(np.arange(pairs.num_different))
    every = list(combinations(range(len(labels)), 2))
    equal = [pair for pair in every if labels[pair[0]] == labels[pair[1]]]
    assert sorted(map(tuple, same.tolist())) == equal
    assert sorted(map(tuple, different.tolist())) == sorted(set(every) - set(equal))
    assert pairs.num_same + pairs.num_different == len(every)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=15))
def test_nodes_of_unknown_label_are_in_no_pair(nodes):
    labels, known = map(np.array, zip(*nodes, strict=True))
    pairs = LabelledPairs.of(labels, known)
    same = pairs.same(np.arange(pairs.num_same))
    different = pairs.different(np.arange(pairs.num_different))
    every = set(combinations(np.flatnonzero(known).tolist(), 2))
    equal = {(u, v) for u, v in every if labels[u] == labels[v]}
    assert sorted(map(tuple, same.tolist())) == sorted(equal)
    assert sorted(map(tuple, different.tolist())) == sorted(every - equal)
