"""The one exception: its message in one piece or several, and in the words of a command."""

import pickle

import pytest

import pgnn
from pgnn.errors import Parameter, PGNNError

PARTS = (Parameter("num_sets"), " and num_sets or ", Parameter("weights"), " (got 0)")


def test_error_is_a_value_error_and_public():
    assert issubclass(PGNNError, ValueError)
    assert pgnn.PGNNError is PGNNError


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("nodes.csv: line 3 is empty",), "nodes.csv: line 3 is empty"),
        (PARTS, "num_sets and num_sets or weights (got 0)"),
        ((), ""),
    ],
)
def test_message_is_all_parts_in_a_row(parts, message):
    assert str(PGNNError(*parts)) == message


def test_worded_replaces_parameters_and_nothing_else():
    error = PGNNError(*PARTS)
    assert error.worded({"num_sets": "--sets"}.get) == "--sets and num_sets or weights (got 0)"
    assert error.worded(lambda _: None) == str(error)


def test_parameter_is_its_name():
    assert Parameter("top") == "top"
    assert f"{Parameter('top')} is 3" == "top is 3"


def test_error_comes_back_from_another_process_with_its_parameters():
    copy = pickle.loads(pickle.dumps(PGNNError(*PARTS)))
    assert str(copy) == str(PGNNError(*PARTS))
    assert copy.worded(str.upper) == "NUM_SETS and num_sets or WEIGHTS (got 0)"
