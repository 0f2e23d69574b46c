"""Short texts: topics that start as a mixture, and texts that are about one."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from tests.model.conftest import distances, planted
from wikitopics.model import Minibatch, kinds, mixture, mixture_kernels
from wikitopics.model.lambda_ import Lambda


def learnt(kind, threads=1, *, restored=False):
    batch, beta = planted(1200, n_words=40, length=5, alpha=0.01)
    model = kinds.load(kind).create(4, 40, 1200, threads=threads)
    for start in range(0, 1200, 200):
        if restored:
            model = type(model).from_state(model.state())
        model.learn(batch[start : start + 200])
    return model, batch, beta


def test_topics_of_short_texts_are_those_planted(kind):
    model, batch, beta = learnt(kind)
    assert distances(model.topics(), beta).max() < 0.2
    largest = model.infer(batch).max(axis=1)
    assert np.mean(largest > 0.7) > 0.8


def test_a_state_and_threads_keep_the_start_to_the_bit(kind):
    one, _, _ = learnt(kind)
    other, _, _ = learnt(kind, threads=3, restored=True)
    assert np.array_equal(one.lambda_, other.lambda_)


def test_the_largest_share_falls_gradually_to_nothing_in_long_texts():
    shares = [mixture.largest_share(words * 7, 7) for words in np.arange(0, 30, 0.5)]
    assert mixture.largest_share(0, 0) == 0
    assert shares[0] == mixture.LARGEST_SHARE
    assert shares[-24:] == [0] * 24
    assert np.all(np.diff(shares) <= 0)
    assert np.diff(shares).min() > -0.07


def log_probabilities(counts, beta, prior):
    """Of each text: if it is about one topic, and if it mixes topics, word by word."""
    one = []
    mixed = []
    for text in counts:
        one.append(np.log((prior / prior.sum()) @ np.prod(beta**text, axis=1)))
        words = np.flatnonzero(text)
        expected = prior.copy()
        log_probability = 0.0
        for word in words:
            gamma = expected * beta[:, word]
            log_probability += text[word] * np.log(gamma.sum() / expected.sum())
            expected += text[word] * gamma / gamma.sum()
        mixed.append(log_probability)
    return np.array(one), np.array(mixed)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-10)])
def test_a_texts_part_is_its_posterior_probability_of_one_topic(dtype, tolerance):
    random = np.random.default_rng(0)
    K = 4
    W = 15
    beta = random.dirichlet(np.full(W, 0.3), K) + 1e-3
    beta /= beta.sum(axis=1, keepdims=True)
    prior = random.gamma(1, 0.3, K) + 0.1
    counts = random.poisson(0.4, (30, W))
    counts[3] = 0
    words = Minibatch.from_csr(scipy.sparse.csr_array(counts)).words(W)
    rows = beta.T[words.ids] * random.random((len(words.ids), 1))  # up to a factor for each word
    found = mixture.OfOneTopic.find(words, rows.astype(dtype), prior, 0.3, 0.6)
    one, mixed = log_probabilities(counts, beta, prior)
    posterior = 0.3 * np.exp(one) / (0.3 * np.exp(one) + 0.7 * np.exp(mixed))
    np.testing.assert_allclose(found.parts, 0.6 * posterior, rtol=tolerance)
    assert found.parts[3] == pytest.approx(0.6 * 0.3)  # a text without words says nothing
    of_words = (counts * found.parts[:, None]).T @ found.R
    np.testing.assert_allclose(found.sums, of_words[words.ids], rtol=tolerance, atol=1e-6)


def test_of_two_different_words_the_probability_that_they_mix_topics_is_exact():
    """So texts of one topic and texts that mix them are compared fairly: neither probability is
    fitted to the words."""
    random = np.random.default_rng(1)
    beta = random.dirichlet(np.ones(4), 3)
    prior = np.array([0.2, 0.5, 0.1])
    pairs = np.array(list(itertools.combinations(range(4), 2)))
    counts = np.zeros((len(pairs), 4), int)
    np.put_along_axis(counts, pairs, 1, axis=1)
    words = Minibatch.from_csr(scipy.sparse.csr_array(counts)).words(4)
    texts = mixture.OfOneTopic.find(words, beta.T[words.ids], prior, 0.5, 1.0)
    total = prior.sum()
    moments = (np.outer(prior, prior) + np.diag(prior)) / (total * (total + 1))  # E[theta theta^T]
    first, second = (beta[:, word] for word in pairs.T)
    one = (prior / total) @ (first * second)
    mixed = np.einsum("jt,jk,kt->t", first, moments, second)
    np.testing.assert_allclose(texts.parts, one / (one + mixed), rtol=1e-10)


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_the_texts_say_whether_they_are_about_one_topic(kind):
    probability = []
    for alpha in (0.001, 2.0):
        batch, _ = planted(2000, n_words=40, length=8, alpha=alpha)
        model = kinds.load(kind).create(4, 40, 2000)
        for start in [*range(0, 2000, 200)] * 3:
            model.learn(batch[start : start + 200])
        probability.append(model._about_one_topic)
    of_one_topic, of_several = probability
    assert of_one_topic > of_several + 0.05


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_the_learnt_probability_is_part_of_the_state(kind):
    model, _, _ = learnt(kind)
    probability = model._about_one_topic
    assert probability != mixture.FIRST_PROBABILITY
    assert type(model).from_state(model.state())._about_one_topic == probability
    state = model.state()
    del state["about_one_topic"]  # as saved by 1.2 and before
    batch, _ = planted(200, n_words=40, length=5, alpha=0.01)
    older = type(model).from_state(state)
    older.learn(batch)
    assert 0 < older._about_one_topic < 1


def test_long_texts_do_not_come_near_the_mixture(kind, monkeypatch):
    def refuse(*arguments, **named):
        raise AssertionError("the mixture was asked")

    for name in ("first_topics", "only_topics", "OfOneTopic"):
        monkeypatch.setattr(mixture, name, refuse)
    batch, _ = planted(200, n_words=40, length=20, alpha=0.1)
    model = kinds.load(kind).create(4, 40, 200)
    model.learn(batch)
    model.infer(batch)
    assert model._mixture_share == 0
    assert "about_one_topic" not in model.state()


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-10)])
def test_the_m_step_of_texts_of_one_topic_agrees_with_the_oracle(dtype, tolerance):
    random = np.random.default_rng(2)
    W = 9
    K = 3
    strays = 0.4
    before, prior, chosen = random.gamma(1, 1, (3, W, K)).astype(dtype)
    beta, own, log_rows, expected = np.empty((4, W, K), dtype)
    mixture_kernels.rows_with_strays(before, prior, strays, beta, own, log_rows)
    mixture_kernels.return_strays(chosen, beta, own, expected)
    topics = (before + prior) / (before + prior).sum(axis=0)
    rows = (1 - strays) * topics + strays * topics.mean(axis=1, keepdims=True)
    of_topics = chosen * (1 - strays) * topics / rows
    of_corpus = (chosen - of_topics).sum(axis=1, keepdims=True)
    returned = of_corpus * topics / topics.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(beta, topics, rtol=tolerance)
    np.testing.assert_allclose(log_rows, np.log(rows), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(expected, of_topics + returned, rtol=tolerance)


def test_annealing_begins_where_topics_form_and_ends_with_the_likelihood():
    for words in (1, 5, 14):
        tempers = mixture.tempers(words, mixture.STEPS)
        assert tempers[0] == pytest.approx(words**-0.5)
        assert np.all(np.diff(tempers) >= 0)
        assert tempers[-mixture.LAST_STEPS :] == [1.0] * mixture.LAST_STEPS


def test_a_fit_of_short_texts_does_not_depend_on_how_they_are_sorted():
    """The topics start from the first texts, which in a sorted collection are of one subject."""
    pytest.importorskip("sklearn")
    from wikitopics.sklearn import SCVB0Estimator

    beta = np.kron(np.eye(4), np.full(10, 0.1))
    random = np.random.default_rng(0)
    about = np.repeat(np.arange(4), 3000)  # all of the first 8,192 are of three subjects
    X = np.array([random.multinomial(5, beta[k]) for k in about])
    estimator = SCVB0Estimator(4, random_state=0).fit(scipy.sparse.csr_array(X))
    assert distances(estimator.components_, beta).max() < 0.1


def test_a_state_from_before_goes_on_without_the_mixture(kind):
    model, batch, _ = learnt(kind)
    state = model.state()
    del state["words_read"]
    model = type(model).from_state(state)
    assert model._mixture_share == 0
    model.learn(batch[:200])
    assert "words_read" not in model.state()


def test_topics_whose_prior_is_too_small_for_a_number_are_no_texts():
    batch, _ = planted(50, n_words=40, length=5, alpha=0.01)
    model = kinds.load("hdp").create(2000, 40, 50)
    model.learn(batch)
    assert model.document_prior().min() == 0
    assert np.allclose(model.infer(batch).sum(axis=1), 1)


def test_a_seeded_topic_is_replaced_by_the_fresh_one_that_has_its_seeds():
    """Also where the subjects of few texts have changed places."""
    topics = Lambda.of(np.ones((6, 3)), eta=0.1)
    topics.seed([np.array([0, 1]), np.array([2, 3])])
    fresh = np.full((6, 3), 0.01)
    fresh[[2, 3], 0] = 1.0
    fresh[[4, 5], 1] = 1.0
    fresh[[0, 1], 2] = 1.0
    assert mixture.matched(fresh, topics).tolist() == [2, 0, 1]


@pytest.mark.filterwarnings("error")
def test_seeds_may_be_words_that_the_first_texts_lack(kind):
    batch, _ = planted(300, n_words=40, length=5, alpha=0.01)
    model = kinds.load(kind).create(4, 50, 300)
    model.seed([np.array([0, 45]), np.array([49])])
    model.learn(batch)
    assert np.isfinite(model.topics()).all()
