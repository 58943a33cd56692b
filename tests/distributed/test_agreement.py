"""All processes of a group stop for the same reason."""

import pytest

from pgnn.distributed.agreement import Alone, agreed, shared
from pgnn.errors import Parameter, PGNNError
from rank_threads import on_ranks


def test_error_of_one_is_raised_on_all_with_its_parameters():
    def work(group):
        try:
            with agreed(group):
                if group.rank == 1:
                    raise PGNNError("line 7: ", Parameter("weight=False"), " is missing")
        except PGNNError as error:
            return error.worded({"weight=False": "--unweighted"}.get)

    assert on_ranks(3, work) == ["line 7: --unweighted is missing"] * 3


def test_the_lowest_rank_is_heard_if_several_fail():
    def work(group):
        with agreed(group):
            if group.rank:
                raise PGNNError(f"rank {group.rank}")

    with pytest.raises(PGNNError, match=r"^rank 1$"):
        on_ranks(3, work)


def test_nothing_is_raised_where_all_went_well_and_numbers_are_shared():
    def work(group):
        with agreed(group):
            numbers = shared(group, group.rank, 7)
        return numbers.tolist()

    assert on_ranks(2, work) == [[[0, 7], [1, 7]]] * 2
    assert work(Alone()) == [[0, 7]]
