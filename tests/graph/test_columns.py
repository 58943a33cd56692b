"""Which columns hold the edges: by name, by position, by usual names."""

import pytest

from pgnn import PGNNError
from pgnn.graph.columns import Columns, edge_columns, known_pair


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (["source", "target"], (0, 1)),
        (["weight", "Target", " SOURCE "], (2, 1)),
        (["From Node_ID", "to-node-id"], (0, 1)),
        (["u", "v", "source", "target"], (2, 3)),  # the pair listed first wins
        (["source", "to"], None),
        ([], None),
    ],
)
def test_usual_names_are_known_however_they_are_written(names, pair):
    assert known_pair(names) == pair


@pytest.mark.parametrize(
    ("names", "chosen", "positions"),
    [
        (["a", "b", "c"], (None, None, None), (0, 1, None)),
        (None, (None, None, 2), (0, 1, 2)),
        (["a", "b", "c"], ("c", -3, None), (2, 0, None)),
        (["a", "b", "Weight"], (None, None, None), (0, 1, 2)),
        (["a", "b", "weight"], (None, None, False), (0, 1, None)),
        (["weight", "b", "c"], (None, None, None), (0, 1, None)),  # its column holds ids
        (["weight", "to", "from"], (None, None, None), (2, 1, 0)),
    ],
)
def test_edge_columns_are_those_passed_else_the_usual_ones(names, chosen, positions):
    assert edge_columns(Columns(3, names), *chosen) == positions


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (("x", "b", None), "e.csv: column --source='x' does not exist; the columns are 'a', 'b'"),
        ((0, 9, None), "e.csv: --target=9, but there are 4 columns; count from 0 to 3"),
        (("a", None, None), "--source and --target belong together; give both or neither"),
        (("a", 0, None), "e.csv: --source and --target are both column 'a'"),
        ((None, None, "w"), "e.csv: column --weight='w' is ambiguous"),
        ((None, None, True), "--weight must be a column name or position (got True)"),
        ((None, None, 1), "e.csv: --weight is column 'b', which holds ids"),
    ],
)
def test_wrong_columns_are_one_error_that_names_the_parameter(chosen, message):
    with pytest.raises(PGNNError) as caught:
        edge_columns(Columns(4, ["a", "b", "w", "w"], "e.csv: "), *chosen)
    assert caught.value.worded("--{}".format).startswith(message)
    assert str(caught.value).startswith(message.replace("--", ""))


def test_a_name_in_a_table_without_names_is_refused():
    with pytest.raises(PGNNError, match="weight='w', but the table was read without a header"):
        edge_columns(Columns(3, None), None, None, "w")
