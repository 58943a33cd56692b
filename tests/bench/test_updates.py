"""The benchmark of updates measures what it says, on a graph that is small."""

import pytest

from pgnn import PGNNError
from pgnn.bench import updates as bench


def test_measure_reports_the_ratio_of_what_it_measured():
    row = bench.measure(1000, 4000, 10, num_threads=1)
    assert (row.nodes, row.edges, row.sets, row.added) == (1000, 4000, 81, 10)
    assert row.ratio == row.search_seconds / row.seconds > 0
    assert row.equal
    assert row.threads == 1


def test_no_edges_are_refused():
    with pytest.raises(PGNNError, match="added must be a positive integer"):
        bench.measure(1000, 4000, 0)
