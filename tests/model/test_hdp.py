from dataclasses import replace

import numpy as np
import pytest
from scipy.special import psi

from model import Minibatch
from model._hdp_recipe import PAPER, WARM
from model._scvb0_recipe import THETA_STEPS
from model._topics import topics_from
from model.hdp import OnlineHDP
from tests.model.conftest import needs_jit, planted
from tests.model.oracle_hdp import Elog_sticks as oracle_Elog_sticks
from tests.model.oracle_hdp import (
    document_bound,
    expected_sticks,
    figure_9,
    learn,
    proportions,
    recipe,
)
from tests.model.oracle_lda import words_of
from tests.model.oracle_scvb0 import local_step

T, ALPHA, ETA, OMEGA = 4, 0.7, 0.3, 1.5


@pytest.fixture
def documents():
    """24 documents of some 60 words out of 30, most with several topics, the sixth one empty."""
    batch, _ = planted(24, seed=3, n_words=30, length=60, alpha=0.5)
    keep = batch.documents() != 5
    sizes = np.bincount(batch.documents()[keep], minlength=batch.D)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return Minibatch(indptr, batch.word_ids[keep], batch.counts[keep])


def make(**options):
    settings = {
        "n_words": 30,
        "n_documents": 1000,
        "max_topics": 8,
        "max_topics_per_document": T,
        "omega": OMEGA,
        "alpha": ALPHA,
        "eta": ETA,
        "tau0": 1.0,
        "kappa": 0.7,
        "seed": 1,
    }
    return OnlineHDP(**{**settings, **options})


def as_given(model):
    """The same model with D as it was given, however small."""
    model.recipe = PAPER
    return model


def sticks_of(model):
    return np.stack([model.a, model.b], axis=1)


def Elog_beta_of(model):
    lambda_ = model.lambda_.astype(float)
    return psi(lambda_) - psi(lambda_.sum(axis=1, keepdims=True))


def trained(documents, **options):
    """A model past its start, in float64."""
    model = as_given(make(n_documents=documents.D, dtype="float64", **options))
    for _ in range(3):
        model.learn(documents)
    return model


def test_float64_steps_are_figure_9(documents):
    model = make(warm_start=False, dtype="float64", max_iterations=30)
    lambda_, sticks = model.lambda_, sticks_of(model)
    np.testing.assert_array_equal(sticks, [[1.0, OMEGA]] * 7)  # line 1
    for t, batch in enumerate([documents[:10], documents[10:11], documents[11:], documents], start=1):
        lambda_, sticks = learn(
            lambda_,
            sticks,
            batch,
            (1 + t) ** -0.7,
            1000,
            OMEGA,
            ALPHA,
            ETA,
            lambda counts, Elog_beta, v: figure_9(counts, Elog_beta, v, T, ALPHA, 1e-2, 30),
        )
        model.learn(batch)
        np.testing.assert_allclose(model.lambda_, lambda_, rtol=1e-10)
        np.testing.assert_allclose(sticks_of(model), sticks, rtol=1e-10)


def test_float64_steps_of_the_default_are_its_oracles(documents):
    model = as_given(make(dtype="float64", n_documents=documents.D))
    model.learn(documents)  # the start
    lambda_, sticks = model.lambda_, sticks_of(model)
    # Steps count documents of 100 words.
    assert model.whole_step == 64
    time = documents.n_tokens / 6400
    for batch in [documents[:4], documents[4:], documents]:
        whole = batch.n_tokens / 6400
        time += whole
        rho = 1 - (1 - (1 + time) ** -0.7) ** whole
        # Topics ahead are held back: the balance ends after two thirds of the documents, here at once.
        lambda_, sticks = learn(
            lambda_,
            sticks,
            batch,
            rho,
            documents.D,
            OMEGA,
            ALPHA,
            ETA,
            lambda counts, Elog_beta, v: recipe(counts, Elog_beta, v, T, ALPHA, 1e-2),
        )
        model.learn(batch)
        assert model.rho == pytest.approx(rho, rel=1e-12)
        np.testing.assert_allclose(model.lambda_, lambda_, rtol=1e-10)
        np.testing.assert_allclose(sticks_of(model), sticks, rtol=1e-10)


def test_topics_ahead_are_held_back_at_first(documents):
    model = make(dtype="float64", n_documents=10 * documents.D)
    model.learn(documents)
    mass = model.lambda_.sum(axis=1) - 30 * ETA
    exponent = 0.7 * (1 - documents.D / (10 * documents.D * 2 / 3))
    balance = (mass / mass.mean()) ** -exponent
    ids, counts = words_of(documents, 0)
    expected = recipe(counts, Elog_beta_of(model)[:, ids], sticks_of(model), T, ALPHA, 1e-2, balance=balance)[
        2
    ]
    np.testing.assert_allclose(model.learn(documents[:1])[0], expected, rtol=1e-5)


def test_returned_proportions(documents):
    model = trained(documents)
    Elog_beta, sticks = Elog_beta_of(model), sticks_of(model)
    theta = model.learn(documents)
    assert theta.shape == (documents.D, 8)
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        expected = expected_sticks(sticks)
        if len(ids):
            expected = recipe(counts, Elog_beta[:, ids], sticks, T, ALPHA, 1e-2)[2]
        np.testing.assert_allclose(theta[d], expected, rtol=1e-5)


@pytest.mark.parametrize("warm_start", [True, False])
def test_local_proportions_are_those_that_learn_returns(documents, warm_start):
    model = trained(documents, warm_start=warm_start)
    theta = model.local_proportions(documents)
    np.testing.assert_array_equal(theta, model.learn(documents))


def test_held_out_proportions_are_passes_over_the_document(documents):
    model = trained(documents)
    lambda_, prior = model.lambda_.T.astype(float), model.document_prior()
    steps = (THETA_STEPS.s, THETA_STEPS.tau0, THETA_STEPS.kappa)
    N_theta, _ = local_step(documents, lambda_, lambda_.sum(axis=0), prior, 0.0, steps, passes=2)
    theta = N_theta + prior
    np.testing.assert_allclose(model.infer(documents), theta / theta.sum(axis=1, keepdims=True), rtol=1e-5)


def test_held_out_proportions_by_sweeps_are_the_oracles(documents):
    model = trained(documents)
    model.recipe = replace(model.recipe, inference_passes=0)
    theta, beta = model.infer(documents), model.topics()
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        prior = model.document_prior()
        expected = proportions(counts, beta[:, ids], prior) if len(ids) else prior / prior.sum()
        np.testing.assert_allclose(theta[d], expected, rtol=1e-5)


@pytest.mark.parametrize("D", [40, 16])
def test_no_two_topics_start_from_the_same_documents(D):
    of_a_word_each = Minibatch(np.arange(D + 1), np.arange(D), np.ones(D, int))
    topics = topics_from(of_a_word_each, D, WARM.draw(D, 20, np.random.default_rng(0)), 0.1)
    np.testing.assert_allclose(topics.sum(axis=0), 1)
    assert np.unique(topics.round(9), axis=1).shape == topics.shape


def test_held_out_proportions_of_figure_9(documents):
    model = trained(documents, warm_start=False)
    theta = model.infer(documents)
    Elog_beta, sticks = Elog_beta_of(model), sticks_of(model)
    for d in (0, 1, 7):
        ids, counts = words_of(documents, d)
        phi, zeta = figure_9(counts, Elog_beta[:, ids], sticks, T, ALPHA, 1e-2, 100)
        words = counts @ phi
        gamma = np.array([[1 + words[i], ALPHA + words[i + 1 :].sum()] for i in range(T - 1)])
        np.testing.assert_allclose(theta[d], expected_sticks(gamma) @ zeta, rtol=1e-5)


@pytest.mark.parametrize("warm_start", [True, False])
def test_document_bounds_are_the_oracles(documents, warm_start):
    model = trained(documents, warm_start=warm_start)
    bounds = model.document_bounds(documents)
    Elog_beta, sticks = Elog_beta_of(model), sticks_of(model)
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        if len(ids) == 0:
            continue
        here = Elog_beta[:, ids]
        if warm_start:
            phi, zeta = recipe(counts, here, sticks, T, ALPHA, 1e-2)[:2]
        else:
            phi, zeta = figure_9(counts, here, sticks, T, ALPHA, 1e-2, 100)
        expected = document_bound(counts, here, oracle_Elog_sticks(sticks), phi, zeta, T, ALPHA)
        assert bounds[d] == pytest.approx(expected, rel=1e-9)


def test_the_bound_never_falls_in_coordinate_ascent(documents):
    """With the word counts in every term; without them in one, as in well-known programs, it does fall."""
    start = trained(documents, warm_start=False, max_iterations=5)
    state = start.state()
    documents = documents[:8]
    last = np.full(documents.D, -np.inf)
    for iterations in range(1, 16):
        model = OnlineHDP.from_state({**state, "max_iterations": iterations, "tolerance": 1e-300})
        bounds = model.document_bounds(documents)
        assert np.all(bounds >= last - 1e-9 * np.abs(bounds))
        last = bounds


def test_the_bound_with_tables_is_below_the_evidence():
    """Three words of one document, two topics, two tables; the evidence by Monte Carlo."""
    model = make(n_words=2, n_documents=1, max_topics=2, max_topics_per_document=2, dtype="float64")
    document = Minibatch([0, 2], [0, 1], [2, 1])
    model.learn(document)
    random = np.random.default_rng(0)
    n = 200_000
    v = random.beta(model.a[0], model.b[0], n)
    beta = random.dirichlet(model.lambda_[0], n), random.dirichlet(model.lambda_[1], n)
    table = [np.where((random.random(n) < v)[:, None], *beta) for _ in range(40)]
    left, word = np.ones(n), np.zeros((n, 2))
    for topic in table:
        stick = random.beta(1, ALPHA, n)
        word += (left * stick)[:, None] * topic
        left *= 1 - stick
    word += left[:, None] * table[0]
    evidence = np.mean(word[:, 0] ** 2 * word[:, 1])
    assert model.document_bounds(document)[0] < np.log(evidence)


def test_statistics_sum_to_the_words(documents):
    model = make(dtype="float64", n_documents=documents.D, tau0=0.0, warm_start=False)
    model.learn(documents)  # t = 1: rho = 1
    assert model.rho == 1
    assert model.lambda_.sum() == pytest.approx(8 * 30 * ETA + documents.n_tokens, rel=1e-10)
    assert model.a.sum() + model.b[-1] - OMEGA - 7 == pytest.approx(T * documents.D, rel=1e-10)


def test_the_same_document_twice_and_in_another_order(documents):
    model = trained(documents)
    order = np.random.default_rng(0).permutation(documents.D)
    pieces = [words_of(documents, d) for d in order]
    shuffled = Minibatch(
        np.concatenate([[0], np.cumsum([len(ids) for ids, _ in pieces])]),
        np.concatenate([ids for ids, _ in pieces]),
        np.concatenate([counts for _, counts in pieces]),
    )
    other = OnlineHDP.from_state(model.state())
    np.testing.assert_allclose(other.infer(shuffled), model.infer(documents)[order], rtol=1e-6)
    model.learn(documents)
    other.learn(shuffled)
    np.testing.assert_allclose(other.lambda_, model.lambda_, rtol=1e-9)


def test_topics_keep_their_places(documents):
    """Relabelled topics and uniform sticks: the same step, relabelled."""
    model = trained(documents)
    model.a[:], model.b[:] = 1.0 + 50, OMEGA + 50 * np.arange(7, 0, -1.0)
    state = model.state()
    order = np.random.default_rng(0).permutation(8)
    other = OnlineHDP.from_state(
        {**state, "lambda_hat": state["lambda_hat"][:, order], "total_hat": state["total_hat"][order]}
    )
    model.learn(documents)
    other.learn(documents)
    # Sticks are not exactly uniform: an early one varies more.
    np.testing.assert_allclose(other.topics(), model.topics()[order], atol=0.02)


def test_a_corpus_weighs_as_a_large_one_against_the_priors(documents):
    small, large = (make(n_documents=D, dtype="float64") for D in (documents.D, WARM.smallest_corpus))
    for model in (small, large):
        model.learn(documents)
    # Every topic and stick rests on the words and tables of a large corpus, and D stays the one given.
    assert small.topic_weights().sum() == pytest.approx(large.topic_weights().sum(), rel=0.1)
    assert small.n_documents == small.state()["n_documents"] == documents.D
    paper = make(n_documents=documents.D, warm_start=False, tau0=0.0, dtype="float64")
    paper.learn(documents)
    assert paper.topic_weights().sum() == pytest.approx(8 * 30 * ETA + documents.n_tokens)


@needs_jit
def test_finds_planted_topics():
    batch, beta = planted(600, seed=5)
    for seed in range(3):
        model = OnlineHDP(40, 600, max_topics=20, eta=0.1, seed=seed)
        for _ in range(5):
            for start in range(0, 600, 100):
                model.learn(batch[start : start + 100])
        used = model.topics()[model.topic_shares() > 0.1]
        assert len(used) == 4
        distance = np.abs(used[:, None] - beta[None]).sum(axis=2)
        assert sorted(distance.argmin(axis=1)) == [0, 1, 2, 3]
        assert distance.min(axis=1).max() < 0.3


@pytest.mark.parametrize("sizes", [[24], [1] * 24, [2, 3, 19], [16, 8]])
def test_starts_from_the_first_documents_however_they_come(documents, sizes):
    model = make(dtype="float64")
    model.recipe = replace(model.recipe, first_documents=24)
    position = 0
    for size in sizes:
        theta = model.learn(documents[position : position + size])
        assert theta.shape == (size, 8)
        position += size
    assert model.updates == len(sizes)
    # Everything starts over once the first documents are there: nothing of the order is left but the draws.
    assert model.state()["started_from"] == 24
    assert len(model.state()["first_counts"]) == 0
    model.learn(documents)
    assert model.updates == len(sizes) + 1


def test_the_start_weighs_as_much_as_the_corpus(documents):
    """Shown by steps that change next to nothing: 100 words a document, and the tables of all documents."""
    model = make(dtype="float64", tau0=1e12, kappa=1.0)
    model.learn(documents[:5])
    D = WARM.smallest_corpus
    np.testing.assert_allclose(model.topic_weights(), D * 100 / 8 + 30 * ETA, rtol=1e-6)
    tables = WARM.heavy * D * T / 8
    np.testing.assert_allclose(model.a, 1 + tables, rtol=1e-6)
    np.testing.assert_allclose(model.b, OMEGA + tables * np.arange(7, 0, -1), rtol=1e-6)


def test_small_minibatches_forget_as_much_as_one_large(documents):
    whole = make(n_documents=1, dtype="float64")
    whole.learn(documents[:1])
    parts = OnlineHDP.from_state(whole.state())
    whole.learn(documents[:12])
    for start in range(0, 12, 3):
        parts.learn(documents[start : start + 3])
    last_parts = documents[:12].n_tokens / documents[9:12].n_tokens
    assert whole.rho == pytest.approx(1 - (1 - parts.rho) ** last_parts, rel=0.01)


def test_float32_drifts_little_in_a_thousand_updates(documents):
    """The totals are kept apart from lambda_hat, and its scale apart from both."""
    model = make(n_documents=24)
    for _ in range(3):
        model.learn(documents)
    for t in range(1000):
        model.learn(documents[t % 24 : t % 24 + 1])
    np.testing.assert_allclose(model._topics.totals(), model.lambda_.sum(axis=1, dtype=float), rtol=1e-5)


def test_survives_a_rescaled_state(documents):
    model = make(dtype="float64", warm_start=False, kappa=0.5, tau0=0.0, max_iterations=2)
    documents = documents[:3]
    other = OnlineHDP.from_state(model.state())
    for _ in range(40):
        model.learn(documents)
        topics = other._topics
        topics.hat *= topics.scale
        topics.total_hat *= topics.scale
        topics.scale = 1.0
        other.learn(documents)
    np.testing.assert_allclose(model.lambda_, other.lambda_, rtol=1e-9)


def test_extremes():
    long = Minibatch([0, 3, 3], [0, 1, 2], [50_000, 1, 1])
    for options in (
        {"max_topics": 1},
        {"max_topics_per_document": 1},
        {"alpha": 1e-6},
        {"alpha": 10.0, "omega": 10.0},
        {"eta": 1e-3},
        {"warm_start": False},
        {"warm_start": False, "max_topics": 1, "max_topics_per_document": 1},
    ):
        model = make(**options)
        for _ in range(3):
            theta = model.learn(long)
        for proportions_ in (theta, model.infer(long)):
            np.testing.assert_allclose(proportions_.sum(axis=1), 1, rtol=1e-4)
        assert np.all(np.isfinite(model.topics()))
        np.testing.assert_allclose(model.topics().sum(axis=1), 1, rtol=1e-4)
    single = OnlineHDP(1, 10)
    single.learn(Minibatch([0, 1], [0], [5]))
    np.testing.assert_allclose(single.topics(), 1)


@pytest.mark.parametrize(
    "options",
    [
        {"n_words": 0},
        {"n_documents": 0},
        {"n_documents": float("nan")},
        {"max_topics": 0},
        {"max_topics_per_document": 0},
        {"omega": 0},
        {"alpha": "learn"},
        {"eta": -1},
        {"eta": float("nan")},
        {"kappa": 0.4},
        {"kappa": 3},
        {"tau0": -1},
        {"tolerance": 0},
        {"threads": 0},
        {"dtype": "int"},
    ],
)
def test_refuses_settings_out_of_range(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options)
