import threading

import pytest

from wikitopics.model.minibatch import Threads


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_come_back_in_order_whatever_the_number_of_threads(threads):
    assert Threads(threads).map(lambda a, b: (a, b), 10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert Threads(threads).map(lambda a, b: (a, b), 0, 4) == []


def test_blocks_run_side_by_side():
    meet = threading.Barrier(2, timeout=600)
    Threads(2).map(lambda a, b: meet.wait(), 2, 1)


def test_an_error_in_a_block_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        Threads(2).map(lambda a, b: 1 / (1 - a), 2, 1)
    with pytest.raises(ValueError, match="threads"):
        Threads(0)
