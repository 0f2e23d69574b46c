"""Learning with many topics: pairs of words and rows in half precision, beside one word at a time
and whole rows."""

import numpy as np
import pytest

from tests.model.conftest import emptied, needs_jit, planted_batch, read
from wikitopics.model import SCVB0, Minibatch, OnlineLDA, kinds, scvb0_e_step
from wikitopics.model.scvb0_e_step import ThetaPasses, e_step
from wikitopics.model.scvb0_kernels import PackedRows, pack_rows
from wikitopics.model.threads import Threads

pytestmark = pytest.mark.usefixtures("not_short")

ONE = Threads(1)
W = 30
K = 20
"""Not a whole number of registers."""


def texts():
    """Documents with odd and even numbers of words, with one word and with none."""
    batch = emptied(planted_batch(12, n_topics=3, n_words=W, length=8), 5)
    return Minibatch.concatenate([batch, Minibatch([0, 1], [3], [2])])


def halved(rows):
    """The rows, rounded to half precision by another way: 8 binary digits."""
    mantissa, exponent = np.frexp(rows)
    return np.ldexp(np.floor(mantissa * 256 + 0.5) / 256, exponent).astype(np.float32)


def made_rows(U):
    rows = np.zeros((U, 32), np.float32)
    rows[:, :K] = np.random.default_rng(3).gamma(0.3, 1.0, (U, K)) + 1e-4
    return rows


def both(monkeypatch, rows, batch, *, sums_last_pass=True, **more):
    """The E-step by pairs, and one word at a time."""
    words = batch.words(W)
    passes = ThetaPasses(np.linspace(0.05, 0.2, K), 2, sums_last_pass=sums_last_pass)
    found = []
    for many in (1, 1000):
        monkeypatch.setattr(scvb0_e_step, "MANY_TOPICS", many)
        found.append(e_step(words, rows, passes, ONE, **more))
    return found


def test_packed_rows_keep_the_oracles_eight_digits():
    rows = made_rows(7)
    H = 16
    alpha = np.zeros(2 * H, np.float32)
    alpha[:K] = 0.1
    packed = PackedRows(np.empty((7, H), np.uint32), np.empty(7, np.float32))
    pack_rows(0, 7, rows, alpha, packed)
    low = (packed.bits << np.uint32(16)).view(np.float32)
    high = (packed.bits & np.uint32(0xFFFF0000)).view(np.float32)
    unpacked = np.hstack([low, high])
    np.testing.assert_array_equal(unpacked, halved(rows))
    np.testing.assert_allclose(unpacked, rows, rtol=2**-8)
    np.testing.assert_allclose(packed.of_prior, unpacked @ alpha, rtol=1e-5)


@pytest.mark.parametrize("sums_last_pass", [True, False])
@pytest.mark.parametrize("part", [1.0, 0.3])
def test_pairs_of_words_are_the_oracles_words_one_by_one(monkeypatch, part, sums_last_pass):
    """To rounding, where rows have few digits anyway."""
    batch = texts()
    rows = halved(made_rows(len(batch.words(W).ids)))
    parts = np.full(batch.D, part)
    pairs, singly = both(monkeypatch, rows, batch, parts=parts, sums_last_pass=sums_last_pass)
    theta, statistics = pairs
    expected_theta, expected = singly
    np.testing.assert_allclose(theta, expected_theta, rtol=1e-4)
    np.testing.assert_allclose(statistics.sums[:, :K], expected.sums[:, :K], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(statistics.mass, expected.mass, rtol=1e-4)
    np.testing.assert_allclose(statistics.mass.sum(), part * batch.n_tokens, rtol=1e-5)
    assert not statistics.sums[:, K:].any()


def test_rows_in_half_precision_change_the_oracle_by_less_than_a_hundredth(monkeypatch):
    batch = texts()
    rows = made_rows(len(batch.words(W).ids))
    (theta, statistics), (expected_theta, expected) = both(monkeypatch, rows, batch)
    np.testing.assert_allclose(theta, expected_theta, rtol=0.02)
    np.testing.assert_allclose(statistics.mass, expected.mass, rtol=0.02)
    np.testing.assert_allclose(statistics.mass.sum(), batch.n_tokens, rtol=1e-5)


def test_a_model_in_float64_is_not_packed(monkeypatch):
    monkeypatch.setattr(scvb0_e_step, "pack_rows", None)
    monkeypatch.setattr(scvb0_e_step, "MANY_TOPICS", 1)
    SCVB0(K, W, 100, dtype="float64").learn(texts())
    with pytest.raises(TypeError):
        SCVB0(K, W, 100).learn(texts())


@needs_jit
@pytest.mark.parametrize("make", [OnlineLDA, SCVB0])
def test_the_bits_are_the_same_by_any_number_of_threads_and_after_a_stop(monkeypatch, make):
    monkeypatch.setattr(scvb0_e_step, "MANY_TOPICS", 20)
    monkeypatch.setattr(scvb0_e_step, "DOCUMENT_BLOCK", 64)
    batch = planted_batch(1200, n_topics=30, n_words=400, length=60)
    one = read(make(40, 400, 5000, threads=1), batch, 300)
    three = read(make(40, 400, 5000, threads=3), batch, 300)
    np.testing.assert_array_equal(one.topics(), three.topics())
    stopped = read(make(40, 400, 5000), batch[:600], 300)
    resumed = kinds.load(stopped.kind).from_state(stopped.state())
    read(resumed, batch[600:], 300)
    np.testing.assert_array_equal(one.topics(), resumed.topics())
