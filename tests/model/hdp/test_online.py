"""OnlineHDP beside its oracles, figure 9 and the default's passes, and whatever the numbers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln

from tests.model.conftest import emptied, planted_batch
from tests.model.hdp.recipe import recipe
from tests.model.reference.hdp import Elog_sticks as oracle_Elog_sticks
from tests.model.reference.hdp import (
    document_bound,
    document_gamma,
    expected_sticks,
    figure_9,
    learn,
)
from tests.model.reference.lda import Elog_dirichlet, words_of
from tests.model.reference.scvb0 import local_step
from wikitopics.model import Minibatch
from wikitopics.model.hdp import OnlineHDP
from wikitopics.model.hdp_e_step import bounds, corpus_of
from wikitopics.model.lambda_ import topics_from
from wikitopics.model.schedules import HDP_PAPER, HDP_WARM, THETA_STEPS, raised

# A small HDP, and documents for it.


T = 4
ALPHA = 0.7
ETA = 0.3
OMEGA = 1.5


@pytest.fixture
def documents():
    """24 documents of some 60 words out of 30, most with several topics, the sixth one empty."""
    return emptied(planted_batch(24, seed=3, n_words=30, length=60, alpha=0.5), 5)


def make(**options):
    sizes = {"n_words": 30, "n_documents": 1000, "max_topics": 8, "max_topics_per_document": T}
    priors = {"omega": OMEGA, "alpha": ALPHA, "eta": ETA}
    steps = {"tau0": 1.0, "kappa": 0.7}
    settings = {**sizes, **priors, **steps, "seed": 1, **options}
    return OnlineHDP(**settings)


def as_given(model):
    """The same model, which learns a corpus of the size that was given, however small."""
    model.recipe = HDP_PAPER
    return model


def trained(documents, **options):
    """A model past its start, in float64."""
    model = as_given(make(n_documents=documents.D, dtype="float64", **options))
    for _ in range(3):
        model.learn(documents)
    return model


# OnlineHDP beside its oracles: figure 9, and the default's passes.


def sticks_of(model):
    return np.stack([model.a, model.b], axis=1)


def oracle(model, documents, **more):
    """Of each document, after the oracle's local step: counts, E[log beta] of its words, phi, zeta,
    and its proportions."""
    lambda_ = model.lambda_.astype(float)
    sticks = sticks_of(model)
    Elog_beta = Elog_dirichlet(lambda_)
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        of_words = Elog_beta[:, ids]
        if model.warm_start:
            phi, zeta, theta = recipe(counts, of_words, sticks, T, ALPHA, 1e-2, **more)
        else:
            phi, zeta = figure_9(counts, of_words, sticks, T, ALPHA, 1e-2, 100)
            gamma = document_gamma(counts @ phi, ALPHA)
            theta = expected_sticks(gamma) @ zeta
        yield counts, of_words, phi, zeta, theta


def check_steps(model, batches, sizes, of_document, *settings):
    """The model learns as [SVI13] figure 9 does with these step sizes and this local step."""

    def local_step(counts, Elog_beta, sticks):
        return of_document(counts, Elog_beta, sticks, T, ALPHA, 1e-2, *settings)

    lambda_ = model.lambda_
    sticks = sticks_of(model)
    for batch, rho in zip(batches, sizes, strict=True):
        lambda_, sticks = learn(
            lambda_,
            sticks,
            batch,
            rho,
            model.n_documents,
            OMEGA,
            ETA,
            local_step,
        )
        model.learn(batch)
        assert model.rho == pytest.approx(rho, rel=1e-12)
        np.testing.assert_allclose(model.lambda_, lambda_, rtol=1e-10)
        np.testing.assert_allclose(sticks_of(model), sticks, rtol=1e-10)


def test_float64_steps_are_figure_9(documents):
    model = make(warm_start=False, dtype="float64", max_iterations=30)
    np.testing.assert_array_equal(sticks_of(model), [[1.0, OMEGA]] * 7)  # line 1
    batches = [documents[:10], documents[10:11], documents[11:], documents]
    sizes = [(1 + t) ** -0.7 for t in range(1, 5)]
    check_steps(model, batches, sizes, figure_9, 30)


def test_float64_steps_of_the_default_are_its_oracles(documents):
    model = as_given(make(dtype="float64", n_documents=documents.D))
    model.learn(documents)  # the start
    assert model.whole_step == 64
    words_a_step = 64 * 100  # steps count documents of 100 words
    batches = [documents[:4], documents[4:], documents]
    parts_of_steps = np.array([batch.n_tokens for batch in batches]) / words_a_step
    times = documents.n_tokens / words_a_step + np.cumsum(parts_of_steps)
    whole_sizes = (1 + times) ** -0.7
    sizes = 1 - (1 - whole_sizes) ** parts_of_steps
    # Topics ahead are held back: the balance ends after two thirds of the documents, here at once.
    check_steps(model, batches, sizes, recipe)


def test_topics_ahead_are_held_back_at_first(documents):
    n_documents = 10 * documents.D
    model = make(dtype="float64", n_documents=n_documents)
    model.recipe = HDP_WARM  # with the local step of a large corpus
    model.learn(documents)
    mass = model.lambda_.sum(axis=1) - 30 * raised(ETA, n_documents, 1e5)
    period = n_documents * 2 / 3
    exponent = 0.7 * (1 - documents.D / period)
    balance = (mass / mass.mean()) ** -exponent
    *_, expected = next(oracle(model, documents, balance=balance))
    theta = model.learn(documents[:1])
    np.testing.assert_allclose(theta, [expected], rtol=1e-5)


def bounds_of(model, documents):
    """Each document's terms of the ELBO after a local step: [W11]'s L_j without the corpus
    terms."""
    words = documents.words(model.n_words)
    found = model._e_step(words, model._corpus(words.ids, model._amount))
    corpus = corpus_of(model._topics.Elog_rows(words.ids), model.a, model.b)
    return bounds(words, corpus, model.alpha, found, model._workers)


@pytest.mark.parametrize("warm_start", [True, False])
def test_proportions_and_bounds_are_the_oracles(documents, warm_start):
    model = trained(documents, warm_start=warm_start)
    bounds = bounds_of(model, documents)
    theta = model.local_proportions(documents)
    if not warm_start:
        np.testing.assert_array_equal(model.infer(documents), theta)
    Elog_sigma = oracle_Elog_sticks(sticks_of(model))
    for d, (counts, Elog_beta, phi, zeta, expected) in enumerate(oracle(model, documents)):
        np.testing.assert_allclose(theta[d], expected, rtol=1e-5)
        if len(counts):
            bound = document_bound(counts, Elog_beta, Elog_sigma, phi, zeta, T, ALPHA)
            assert bounds[d] == pytest.approx(bound, rel=1e-9)
    np.testing.assert_array_equal(model.learn(documents), theta)


def test_held_out_proportions_are_passes_over_the_document(documents):
    model = trained(documents)
    topics = model.topics().T.astype(float)
    prior = model.document_prior()
    steps = (THETA_STEPS.s, THETA_STEPS.tau0, THETA_STEPS.kappa)
    _, expected, _ = local_step(documents, topics, topics.sum(axis=0), prior, 0.0, steps, passes=2)
    theta = expected + prior
    theta /= theta.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.infer(documents), theta, rtol=1e-5)


@pytest.mark.parametrize("D", [40, 16])
def test_no_two_topics_start_from_the_same_documents(D):
    of_a_word_each = Minibatch(np.arange(D + 1), np.arange(D), np.ones(D, int))
    drawn = HDP_WARM.draw(D, 20, np.random.default_rng(0))
    topics = topics_from(of_a_word_each, D, drawn, 0.1)
    np.testing.assert_allclose(topics.sum(axis=0), 1)
    assert np.unique(topics.round(9), axis=1).shape == topics.shape


def test_the_bound_with_tables_is_below_the_evidence():
    """Three words of one document, two topics, two tables; the evidence by Monte Carlo."""
    model = make(n_words=2, n_documents=1, max_topics=2, max_topics_per_document=2, dtype="float64")
    document = Minibatch([0, 2], [0, 1], [2, 1])
    model.learn(document)
    # Samples of the topics, of which of them 40 tables have, and of the tables' shares, from which
    # the probability of each word follows.
    random = np.random.default_rng(0)
    n = 200_000
    v = random.beta(model.a[0], model.b[0], n)
    first, second = (random.dirichlet(topic, n) for topic in model.lambda_)
    tables = []
    for _ in range(40):
        has_first = random.random(n) < v
        tables.append(np.where(has_first[:, None], first, second))
    rest = np.ones(n)
    probabilities = np.zeros((n, 2))
    for topic in tables:
        stick = random.beta(1, ALPHA, n)
        probabilities += (rest * stick)[:, None] * topic
        rest *= 1 - stick
    probabilities += rest[:, None] * tables[0]
    of_first_word, of_second_word = probabilities.T
    evidence = np.mean(of_first_word**2 * of_second_word)
    (bound,) = bounds_of(model, document)
    assert bound < np.log(evidence)


# What must hold of OnlineHDP whatever the numbers: weights, starts, step sizes, extremes.


@pytest.mark.parametrize("sizes", [[24], [1] * 24, [2, 3, 19], [16, 8]])
def test_starts_from_the_first_documents_however_they_come(documents, sizes):
    model = make(dtype="float64")
    model.recipe = replace(model.recipe, first_documents=24)
    position = 0
    for size in sizes:
        assert model.learn(documents[position : position + size]).shape == (size, 8)
        position += size
    assert model.updates == len(sizes)
    # Everything starts over once the first documents are there: nothing of the order is left but
    # the draws.
    assert model.state()["started_from"] == 24
    assert len(model.state()["first_counts"]) == 0
    model.learn(documents)
    assert model.updates == len(sizes) + 1


def test_the_start_weighs_as_much_as_the_corpus(documents):
    """Shown by steps that change next to nothing: 100 words a document, and the tables of all
    documents."""
    model = make(dtype="float64", tau0=1e12, kappa=1.0)
    model.learn(documents[:5])
    D = HDP_WARM.smallest_corpus
    K = model.n_topics
    words = D * 100 / K
    prior = model.n_words * raised(ETA, model.n_documents, 1e5)
    np.testing.assert_allclose(model.topic_weights(), words + prior, rtol=1e-6)
    tables = HDP_WARM.heavy * D * T / K
    later_topics = np.arange(K - 1, 0, -1)
    np.testing.assert_allclose(model.a, 1 + tables, rtol=1e-6)
    np.testing.assert_allclose(model.b, OMEGA + tables * later_topics, rtol=1e-6)


def test_survives_a_rescaled_state(documents):
    model = make(dtype="float64", warm_start=False, kappa=0.5, tau0=0.0, max_iterations=2)
    documents = documents[:3]
    other = OnlineHDP.from_state(model.state())
    for _ in range(40):
        model.learn(documents)
        state = other.state()
        scaled = {name: state[name] * state["scale"] for name in ("lambda_hat", "total_hat")}
        other = OnlineHDP.from_state({**state, **scaled, "scale": 1.0})
        other.learn(documents)
    np.testing.assert_allclose(model.lambda_, other.lambda_, rtol=1e-9)


@pytest.mark.parametrize("warm_start", [True, False])
@pytest.mark.parametrize(
    "option", [{"max_topics": 1}, {"max_topics_per_document": 1}, {"omega": 10.0}]
)
def test_extremes(option, warm_start):
    long = Minibatch([0, 3, 3], [0, 1, 2], [50_000, 1, 1])
    model = make(warm_start=warm_start, **option)
    for _ in range(3):
        theta = model.learn(long)
    for rows in (theta, model.infer(long), model.topics()):
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-4)


@pytest.mark.parametrize("size", [100, 300])
def test_documents_decide_how_many_topics_are_in_use(size):
    documents = planted_batch(size, seed=4, n_words=80, length=60, alpha=0.2)

    def in_use(max_topics):
        model = OnlineHDP(80, size, max_topics=max_topics, seed=1)
        for _ in range(5):
            model.learn(documents)
        last = OnlineHDP.from_state(model.state())
        np.testing.assert_array_equal(last.learn(documents), model.learn(documents))
        empty = model.topic_shares() == 0
        theta = model.local_proportions(documents)
        assert theta[:, empty].max(initial=0) <= 0.01
        return model.topics_in_use()

    root = size**0.5
    started = 3 * round(root)
    found = in_use(started)
    assert in_use(2 * started) == pytest.approx(found, rel=0.1)
    assert found < 3 * root


@pytest.mark.parametrize(("alpha", "first_larger"), [(0.5, True), (2.0, False)])
def test_the_last_two_of_all_tables_are_best_in_the_order_that_alpha_says(alpha, first_larger):
    """What docs/derivations.md tells: the last of T tables has no stick of its own."""

    def of_stick(words, words_after):
        return np.log(alpha) + betaln(1 + words, alpha + words_after)

    larger_first = of_stick(40, 3)
    smaller_first = of_stick(3, 40)
    assert (larger_first > smaller_first) == first_larger
    if alpha == 2:
        assert smaller_first == pytest.approx(-12.60, abs=0.005)
        assert larger_first == pytest.approx(-14.93, abs=0.005)
    # With a table of 5 words after them, the larger one comes first for every alpha.
    larger_first = of_stick(40, 3 + 5) + of_stick(3, 5)
    smaller_first = of_stick(3, 40 + 5) + of_stick(40, 5)
    assert larger_first > smaller_first
