"""Minibatches, and the threads that share their documents."""

import threading

import numpy as np
import pytest
import scipy.sparse

from wikitopics.model import Minibatch
from wikitopics.model.threads import Threads


def test_words_of_a_document_are_sorted_and_merged_and_weights_not_whole_are_float32():
    batch = Minibatch([0, 4, 4, 6], [5, 2, 5, 7, 3, 1], [1, 2, 3, 0, 1, 1])
    assert batch.D == 3
    assert batch.indptr.tolist() == [0, 2, 2, 4]
    assert batch.word_ids.tolist() == [2, 5, 1, 3]
    assert batch.counts.tolist() == [2, 4, 1, 1]
    assert batch.n_tokens == 8
    assert batch.lengths().tolist() == [6, 0, 2]
    assert batch.documents().tolist() == [0, 0, 2, 2]
    batch = Minibatch([0, 3, 3, 5], [5, 2, 5, 7, 3], [0.25, 2.0, 0.5, 1e-12, 1.5])
    assert batch.counts.dtype == np.float32
    assert batch.word_ids.tolist() == [2, 5, 3]
    assert batch.counts.tolist() == [2.0, 0.75, 1.5]
    assert batch.lengths().tolist() == [2.75, 0.0, 1.5]
    assert batch.n_tokens == 4.25
    assert batch[2:].n_tokens == 1.5


@pytest.mark.parametrize(
    "dtype",
    [
        np.int8,
        np.uint16,
        np.int32,
        np.uint64,
        np.float16,
        np.float32,
        np.float64,
        ">i4",
        ">f4",
        ">f2",
    ],
)
def test_takes_any_whole_numbers(dtype):
    batch = Minibatch(np.array([0, 2], dtype), np.array([0, 1], dtype), np.array([3, 4], dtype))
    assert batch.indptr.dtype == np.int64
    assert batch.word_ids.dtype == np.int32
    assert batch.counts.dtype == np.int32
    assert batch.counts.tolist() == [3, 4]
    assert all(array.dtype.isnative for array in (batch.indptr, batch.word_ids, batch.counts))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float16, ">f2", ">f4", ">f8"])
def test_weights_of_any_width_and_byte_order_are_float32(dtype):
    batch = Minibatch([0, 2], [0, 1], np.array([0.5, 3], dtype))
    assert (batch.counts.dtype, batch.counts.tolist()) == (np.float32, [0.5, 3.0])
    assert batch.counts.dtype.isnative


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([], [], []), "start with 0"),
        (([1, 2], [0, 1], [1, 1]), "start with 0"),
        (([0, 2, 1, 2], [0, 1], [1, 1]), "decrease"),
        (([0, 3], [0, 1], [1, 1]), "ends at 3"),
        (([0, 2], [0, 1], [1]), "2 entries"),
        (([0, 2], [0, -1], [1, 1]), "word_ids must not be negative"),
        (([0, 2], [0, 2**31], [1, 1]), "exceed"),
        (([0, 2], [0, 1], [1, -1]), "counts must not be negative"),
        (([0, 2], [0, 0.5], [1, 1]), "word_ids must be whole"),
        (([0, 2], [0, 1], [1, np.nan]), "finite"),
        (([0, 2], [0, 1], [0.5, np.inf]), "finite"),
        (([0, 2], [0, 1], [0.5, -0.5]), "counts must not be negative"),
        (([0, 2], [0, 1], [0.5, 1e300]), "exceed"),
        (([0, 2], [0, 1], [1, 2**31]), "exceed"),
        (([0, 2], [0, 0], [2**30, 2**30]), "exceed"),
        (([0, 2], [0, 1], ["a", "b"]), "whole"),
        (([0, 2], [0, 1], [True, False]), "whole"),
        (([0, 2], [0, 1], [1, np.inf]), "whole"),
        (([[0, 2]], [0, 1], [1, 1]), "dimension"),
        (([0, 2], np.array([0, 2**64 - 1], np.uint64), [1, 1]), "64 bits"),
    ],
)
def test_refuses_what_is_no_minibatch(arrays, message):
    with pytest.raises(ValueError, match=message):
        Minibatch(*arrays)


@pytest.mark.parametrize("rows", [[3, 1, 0], [0, 0, 2], [], [3, 2, 1, 0]])
def test_documents_that_are_taken_are_those_of_these_numbers_in_this_order(rows):
    batch = Minibatch([0, 2, 2, 3, 5], [0, 1, 4, 2, 3], [1, 2.5, 3, 4, 5])
    numbers = np.array(rows, np.int64)
    taken = batch.take(numbers)
    one_by_one = [batch[row : row + 1] for row in rows]
    expected = Minibatch.concatenate([batch[:0], *one_by_one])
    for name in Minibatch.__slots__:
        array = getattr(taken, name)
        np.testing.assert_array_equal(array, getattr(expected, name))
        assert array.dtype == getattr(expected, name).dtype


def test_documents_of_a_slice_and_of_several_minibatches_together():
    batch = Minibatch([0, 2, 2, 3, 5], [0, 1, 4, 2, 3], [1, 2, 3, 4, 5])
    part = batch[1:3]
    assert part.D == 2
    assert part.indptr.tolist() == [0, 0, 1]
    assert part.word_ids.tolist() == [4]
    assert part.counts.tolist() == [3]
    assert batch[3:2].D == 0
    assert batch[10:].D == 0
    assert batch[-1:].counts.tolist() == [4, 5]
    with pytest.raises(ValueError, match="steps of one"):
        batch[::2]
    with pytest.raises(TypeError):
        batch[0]
    nothing = Minibatch([0], [], [])
    assert nothing.D == 0
    assert nothing.n_tokens == 0
    parts = [Minibatch([0, 2], [1, 3], [1, 2]), nothing, Minibatch([0, 0, 1], [0], [0.5])]
    batch = Minibatch.concatenate(parts)
    assert batch.indptr.tolist() == [0, 2, 2, 3]
    assert batch.word_ids.tolist() == [1, 3, 0]
    assert batch.counts.tolist() == [1.0, 2.0, 0.5]
    assert Minibatch.concatenate(parts[:2]).counts.dtype == np.int32


def test_rows_of_a_csr_matrix_and_word_ids_are_checked():
    matrix = scipy.sparse.csr_array(([1.0, 2.0, 3.0], [2, 0, 2], [0, 3]), shape=(1, 4))
    assert Minibatch.from_csr(matrix).word_ids.tolist() == [0, 2]
    with pytest.raises(ValueError, match="CSR"):
        Minibatch.from_csr(scipy.sparse.csc_array((2, 2)))
    batch = Minibatch([0, 1], [4], [1])
    batch.check_words(5)
    with pytest.raises(ValueError, match="word id 4 is out of range"):
        batch.check_words(4)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_come_back_in_order_whatever_the_number_of_threads(threads):
    def block(start, stop):
        return start, stop

    assert Threads(threads).map(block, 10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert Threads(threads).map(block, 0, 4) == []


def test_blocks_run_side_by_side_and_an_error_in_one_reaches_the_caller():
    meet = threading.Barrier(2, timeout=600)
    Threads(2).map(lambda start, stop: meet.wait(), 2, 1)

    def failing(start, stop):
        if start == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Threads(2).map(failing, 2, 1)
    with pytest.raises(ValueError, match="threads"):
        Threads(0)
