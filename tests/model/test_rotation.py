"""Topics that start over from rotated components of the first texts."""

import os

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from wikitopics.model import Minibatch, allocation, kinds
from wikitopics.model.allocation import ROTATED_TOPICS
from wikitopics.model.minibatch import Entries
from wikitopics.model.rotation import (
    first_topics,
    largest_directions,
    sparse_product,
    transposed,
    varimax,
)
from wikitopics.model.threads import Threads

K = 5
W = 60
D = 2400
KINDS = ("lda", "scvb0")


def planted(seed, n=D, length=100):
    """Texts of K topics with twelve words each, in order."""
    random = np.random.default_rng(seed)
    topics = np.full((K, W), 0.002)
    for k in range(K):
        topics[k, 12 * k : 12 * (k + 1)] += random.dirichlet(np.full(12, 2.0))
    topics /= topics.sum(axis=1, keepdims=True)
    theta = random.dirichlet(np.full(K, 0.2), n)
    counts = random.multinomial(length, theta @ topics)
    return Minibatch.from_csr(csr_array(counts))


def learnt(model, texts, start=0):
    for first in range(start, texts.D, 200):
        model.learn(texts[first : first + 200])
    return model


def same_state(one, other):
    first = one.state()
    second = other.state()
    assert first.keys() == second.keys()
    for key, value in first.items():
        np.testing.assert_array_equal(value, second[key], err_msg=key)


def without_start(state):
    """A state as 1.2 would have kept it."""
    kept = {key: value for key, value in state.items() if "rotated" not in key}
    return {key: value for key, value in kept.items() if not key.startswith("first_")}


def test_products_are_those_of_dense_matrices():
    random = np.random.default_rng(0)
    dense = random.random((7, 9)) * (random.random((7, 9)) < 0.4)
    rows = csr_array(dense)
    matrix = Entries(rows.indptr.astype(np.int64), rows.indices, rows.data.astype(np.float32))
    factor = random.random((9, 3))
    np.testing.assert_allclose(
        sparse_product(matrix, factor, Threads(1)), dense @ factor, rtol=1e-5
    )
    factor = random.random((7, 3))
    turned = transposed(matrix, 9)
    np.testing.assert_allclose(
        sparse_product(turned, factor, Threads(1)), dense.T @ factor, rtol=1e-5
    )


def test_largest_directions_are_the_singular_vectors():
    block = np.random.default_rng(0).random((40, 6)).astype(np.float32)
    U, S, V = largest_directions(block, 3, Threads(1))
    np.testing.assert_allclose(S, np.linalg.svd(block)[1][:3], rtol=1e-4)
    np.testing.assert_allclose(U * S, block @ V, rtol=1e-3, atol=1e-4)


def test_a_rotation_finds_directions_of_few_words():
    random = np.random.default_rng(0)
    sparse = np.zeros((W, 4))
    for k in range(4):
        sparse[15 * k : 15 * (k + 1), k] = 1 + random.random(15)
    rotation, _ = np.linalg.qr(random.standard_normal((4, 4)))
    rotated = (sparse @ rotation).astype(np.float32)
    found = rotated @ varimax(rotated, Threads(1))
    largest = np.abs(found).max(axis=1)
    np.testing.assert_allclose(largest, sparse.max(axis=1), rtol=0.02)


def test_other_texts_and_another_seed_give_the_same_first_topics():
    for seed in (1, 2):
        texts = planted(seed)
        found = first_topics(texts, W, K, np.random.default_rng(seed), Threads(1))
        np.testing.assert_allclose(found.sum(axis=0), 1)
        groups = found.reshape(K, 12, K).sum(axis=1)  # of twelve words that make a topic
        assert sorted(groups.argmax(axis=0)) == list(range(K))
        assert groups.max(axis=0).min() > 0.5


def test_replicas_weigh_the_same_texts_differently():
    texts = planted(0)
    found = [first_topics(texts, W, K, np.random.default_rng(seed), Threads(1)) for seed in (1, 2)]
    in_order = [topics[:, topics.argmax(axis=0).argsort()] for topics in found]
    difference = np.abs(in_order[0] - in_order[1]).max()
    assert 1e-6 < difference < 0.05


READINGS = 3600
"""Three passes over 1,200 texts."""


def read_again(model, start=0, stop=READINGS):
    texts = planted(0, n=1200)
    for first in range(start, stop, 300):
        begin = first % texts.D
        model.rereads_later = first < texts.D
        model.passes_left = None if first < texts.D else (READINGS - first) / texts.D
        model.learn(texts[begin : begin + 300])
    return model


@pytest.mark.parametrize("estimate", [1200, 1300])  # of the number of texts
@pytest.mark.parametrize("kind", KINDS)
def test_topics_of_a_small_collection_start_over_once_all_of_it_is_read(kind, estimate):
    model = kinds.load(kind).create(10, W, estimate)  # too many topics for a single pass
    read_again(model, stop=1200)
    is_whole = estimate == 1200
    updates = 4 + 4 if is_whole else 4  # learnt again in four steps
    assert model.updates == updates
    assert is_whole or model.state()["first_indptr"].size == 1201
    read_again(model, start=1200)
    state = model.state()
    assert model.updates == 12 + 4
    assert "first_indptr" not in state
    assert state["documents_seen"] == READINGS
    assert state["documents_reread"] == 2400
    assert state["amount_seen"] == pytest.approx(READINGS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [600, 1200, 1500])
def test_a_model_that_reads_again_goes_on_with_the_same_bits(kind, stop):
    whole = read_again(kinds.load(kind).create(10, W, 1300, seed=3))
    part = read_again(kinds.load(kind).create(10, W, 1300, seed=3), stop=stop)
    again = kinds.load(kind).from_state(part.state())
    same_state(whole, read_again(again, start=stop))


@pytest.mark.parametrize("kind", KINDS)
def test_topics_start_over_once_and_counts_end_where_they_were(kind):
    texts = planted(0)
    model = kinds.load(kind).create(K, W, D)
    learnt(model, texts[:1000])
    assert model.state()["first_indptr"].size == 1001
    before = model.lambda_
    learnt(model, texts[1000:1200])
    state = model.state()
    assert "first_indptr" not in state
    assert state["documents_seen"] == 1200
    assert state["amount_seen"] == pytest.approx(1200)
    assert not np.array_equal(before, model.lambda_)
    updates = model.updates
    learnt(model, texts[1200:])
    assert model.updates == updates + 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_says_from_how_many_documents_it_starts_over(kind, monkeypatch):
    model = kinds.load(kind).create(K, W, D)
    seen = []

    def fresh(*arguments):
        seen.append(model.started_over_from)
        return first_topics(*arguments)

    monkeypatch.setattr("wikitopics.model.rotation.first_topics", fresh)
    texts = planted(0)
    said = []
    for first in range(800, 1600, 200):
        learnt(model, texts[: first + 200], start=first if said else 0)
        said.append(model.started_over_from)
    assert said == [0, 1200, 0, 0]
    assert seen == [1200]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [600, 1000, 1200])
def test_a_model_that_goes_on_starts_over_with_the_same_bits(kind, stop):
    texts = planted(0)
    whole = learnt(kinds.load(kind).create(K, W, D, seed=3), texts)
    part = learnt(kinds.load(kind).create(K, W, D, seed=3), texts[:stop])
    again = kinds.load(kind).from_state(part.state())
    same_state(whole, learnt(again, texts, start=stop))


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_gives_the_same_bits(kind):
    texts = planted(0)
    one, three = (kinds.load(kind).create(K, W, D, threads=threads) for threads in (1, 3))
    same_state(learnt(one, texts), learnt(three, texts))


@pytest.mark.parametrize("kind", KINDS)
def test_runs_on_any_texts_find_the_planted_topics(kind):
    for seed in (1, 2):
        texts = planted(seed)
        model = learnt(kinds.load(kind).create(K, W, D, seed=seed), texts)
        ids, _ = model.top_words(10)
        planted_topics = ids // 12
        assert (planted_topics == planted_topics[:, :1]).all()
        assert sorted(planted_topics[:, 0]) == list(range(K))


@pytest.mark.parametrize(
    ("length", "options"),
    [
        (100, {"warm_start": False}),
        (100, {"half_life": 500}),
        (30, {}),  # too few words for each topic
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_topics_do_not_start_over(kind, length, options):
    texts = planted(0, length=length)
    model = kinds.load(kind).create(K, W, D, options)
    learnt(model, texts)
    assert model.updates == D // 200


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distinct", [1, K - 1])
@pytest.mark.parametrize("kind", KINDS)
def test_topics_do_not_start_over_from_texts_of_which_most_are_equal(kind, distinct):
    texts = Minibatch.concatenate([planted(0)[:distinct]] * (D // distinct))
    model = learnt(kinds.load(kind).create(K, W, D), texts)
    assert model.updates == D // 200
    assert "first_indptr" not in model.state()
    assert np.isfinite(model.lambda_).all()


@pytest.mark.filterwarnings("error")
def test_texts_that_are_mostly_empty_have_first_topics_or_none():
    few = np.zeros((D, W), np.int64)
    for n_texts in (0, 1, 2 * K):
        few[:n_texts] = np.random.default_rng(0).integers(1, 90, (n_texts, W))
        for seed in range(4):
            random = np.random.default_rng(seed)
            found = first_topics(Minibatch.from_csr(csr_array(few)), W, K, random, Threads(1))
            assert found is None or np.allclose(found.sum(axis=0), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_first_texts_are_only_kept_as_long_as_topics_may_start_over(kind, monkeypatch):
    texts = planted(0)
    many_topics = kinds.load(kind).create(10 * K, W, D)  # each would need more texts than there are
    learnt(many_topics, texts[:800])
    assert "first_indptr" in many_topics.state()
    learnt(many_topics, texts[800:1000])
    assert "first_indptr" not in many_topics.state()
    light = kinds.load(kind).create(K, W, D)
    tiny = Minibatch(texts.indptr, texts.word_ids, texts.counts * np.float32(1e-6))
    learnt(light, tiny[:1000])
    assert "first_indptr" not in light.state()
    monkeypatch.setattr(allocation, "MOST_FIRST_WORDS", len(texts[:600].word_ids))
    long = kinds.load(kind).create(K, W, D)
    learnt(long, texts[:600])
    assert "first_indptr" in long.state()
    learnt(long, texts[600:])
    assert "first_indptr" not in long.state()
    assert long.updates == D // 200


@pytest.mark.parametrize("kind", KINDS)
def test_documents_too_few_to_start_over_from_are_not_kept_to_the_end(kind):
    texts = planted(0, n=600)
    model = learnt(kinds.load(kind).create(K, W, 600), texts)
    assert model.updates == 3
    assert not [key for key in model.state() if key.startswith("first_")]


@pytest.mark.parametrize("kind", KINDS)
def test_seeded_topics_do_not_start_over(kind):
    texts = planted(0)
    model = kinds.load(kind).create(K, W, D)
    model.seed([np.array([1, 2])])
    learnt(model, texts)
    assert model.updates == D // 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_1_2_that_has_learnt_goes_on_as_it_was(kind):
    texts = planted(0)
    model = learnt(kinds.load(kind).create(K, W, D), texts[:400])
    older = kinds.load(kind).from_state(without_start(model.state()))
    learnt(older, texts, start=400)
    assert older.updates == D // 200


def test_any_number_of_blas_threads_gives_the_same_bits():
    counts = np.random.default_rng(0).poisson(0.05, (600, 700))
    texts = Minibatch.from_csr(csr_array(counts))
    # More threads than cores would only wait for one another, for minutes.
    some = min(4, os.cpu_count() or 1)
    found = set()
    for threads in {1, 2, some}:
        random = np.random.default_rng(0)
        with threadpool_limits(threads, "blas"):
            topics = first_topics(texts, 700, ROTATED_TOPICS, random, Threads(1))
        found.add(topics.tobytes())
    assert len(found) == 1
