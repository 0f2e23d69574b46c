"""What must hold of every kind of model, whatever the numbers."""

import copy

import numpy as np
import pytest
import scipy.sparse

from tests.model.conftest import distances, needs_jit, planted, planted_batch, read, reordered
from wikitopics.model import (
    SCVB0,
    BatchHDP,
    CompletionSet,
    Minibatch,
    OnlineLDA,
    document_completion,
    kinds,
)


def learnt(kind, n_topics, batch, size, passes=1, seed=0, **options):
    """A model that has learnt the documents by minibatches of this size."""
    model = kinds.load(kind).create(n_topics, 40, batch.D, options, seed)
    return read(model, batch, size, passes)


def scvb0_of(batch, seed):
    return learnt("scvb0", 4, batch, 50, seed=seed)


def hdp_of(batch, seed):
    return learnt("hdp", 20, batch, 100, passes=5, seed=seed, eta=0.1)


def batch_hdp_of(batch, seed):
    return BatchHDP(40, max_topics=12, eta=0.1).fit(batch)


@needs_jit
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("n_documents", "model_of"),
    [(2000, scvb0_of), (600, hdp_of), (300, batch_hdp_of)],
    ids=["scvb0", "hdp", "batch hdp"],
)
def test_planted_topics_are_found(n_documents, model_of, seed):
    batch, beta = planted(n_documents, seed=6)
    model = model_of(batch, seed)
    used = model.topics()[model.topic_shares() > 0.1]
    assert len(used) == 4
    assert distances(used, beta).max() < 0.15


def test_the_help_says_what_the_priors_of_scvb0_are_by_default():
    model = SCVB0(5, 10, 10**9)
    help_of = {option.name: option.help for option in SCVB0.options}
    assert help_of["alpha"].endswith(f"; by default {model.state()['final_alpha'][0]}")
    assert help_of["eta"].endswith(f"; by default {model.eta:.3g}, and more in a small corpus")
    assert SCVB0(5, 10, 100).eta > model.eta


@pytest.mark.parametrize("word_id", [30, -1, 2**32])
def test_word_ids_out_of_range_are_refused(kind, word_id):
    model = kinds.load(kind).create(5, 30, 100)
    with pytest.raises(ValueError, match="from 0 to 29"):
        model.topic_rows(np.array([word_id]))


def test_numbers_of_top_words_are_whole_from_1_and_at_most_all_words_are_given(kind):
    model = kinds.load(kind).create(5, 30, 100)
    for n in (0, 2.5):
        with pytest.raises(ValueError, match="n must be a whole number from 1"):
            model.top_words(n)
        with pytest.raises(ValueError, match="n must be a whole number from 1"):
            model.relevant_words(n, 0.6)
    ids, _ = model.top_words(1000)
    assert ids.shape == (5, 30)
    assert model.relevant_words(1000, 0.6).ids.shape == (5, 30)


def test_a_matrix_in_place_of_a_minibatch_is_refused(kind):
    model = kinds.load(kind).create(5, 30, 100)
    matrix = scipy.sparse.csr_array((3, 30), dtype=np.int32)
    for method in (model.learn, model.infer):
        with pytest.raises(TypeError, match=r"Minibatch\.from_csr"):
            method(matrix)


def test_the_order_of_documents_does_not_matter(kind, documents):
    model = kinds.load(kind).create(5, 30, documents.D, {"dtype": "float64"})
    model.learn(documents)  # the HDP draws from these
    other = kinds.load(kind).from_state(model.state())
    order = np.random.default_rng(0).permutation(documents.D)
    turned = reordered(documents, order)
    np.testing.assert_allclose(other.infer(turned), model.infer(documents)[order], rtol=1e-6)
    np.testing.assert_allclose(other.learn(turned), model.learn(documents)[order], rtol=1e-5)
    np.testing.assert_allclose(other.topics(), model.topics(), rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 10.0])
@pytest.mark.parametrize("eta", [1e-3, 1.0])
@pytest.mark.parametrize("warm_start", [False, True])
def test_extreme_priors_give_finite_numbers(kind, alpha, eta, warm_start):
    batch, _ = planted(100)
    options = {"alpha": alpha, "eta": eta, "warm_start": warm_start}
    model = kinds.load(kind).create(8, 40, 1e7, options)
    for start in (0, 10, 11, 50):
        theta = model.learn(batch[start : start + 50])
        np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-4)
    assert np.isfinite(model.topics()).all()
    metrics = [document_completion(model, batch), *model.own_metrics(batch).values()]
    assert np.isfinite(metrics).all()


@pytest.mark.parametrize(("K", "W"), [(1, 1), (1, 30), (17, 1)])
def test_a_model_may_have_one_topic_or_one_word(kind, K, W):
    model = kinds.load(kind).create(K, W, 10)
    model.learn(Minibatch([0, 1, 2], [0, W - 1], [3, 1]))
    for rows in (model.topics(), model.topic_shares()[None]):
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_documents_without_words_teach_nothing(kind):
    model = kinds.load(kind).create(5, 40, 1000, {"warm_start": False, "alpha": 0.1})
    weights = model.topic_weights()
    topics = model.topics()
    np.testing.assert_allclose(model.learn(Minibatch([0, 0, 0], [], [])), 0.2, rtol=1e-6)
    np.testing.assert_array_equal(model.topic_weights(), weights)
    np.testing.assert_array_equal(model.topics(), topics)
    assert model.updates == 0


@needs_jit
def test_float32_drifts_little_in_a_thousand_updates(kind):
    batch, _ = planted(200)
    of_float64 = learnt(kind, 4, batch, 100, dtype="float64", warm_start=False, eta=0.05)
    state = of_float64.state()
    state["lambda_hat"] = state["lambda_hat"].astype(np.float32)
    of_float32 = kinds.load(kind).from_state(state)
    for _ in range(50):
        for start in range(0, 200, 10):
            minibatch = batch[start : start + 10]
            of_float64.learn(minibatch)
            of_float32.learn(minibatch)
    # A model carries the sums of its topics along: they are those of lambda still.
    sums = of_float32.lambda_.sum(axis=1, dtype=float)
    np.testing.assert_allclose(of_float32.topic_weights(), sums, rtol=1e-4)
    total_variation = 0.5 * np.abs(of_float32.topics() - of_float64.topics()).sum(axis=1)
    assert total_variation.max() < 5e-3


@pytest.mark.parametrize("seed", range(4))
def test_document_completion_refuses_words_out_of_range_in_either_half(seed):
    """By the seed, word 40 falls into the one half of the document or the other."""
    model = OnlineLDA(3, 40, 500)
    document = Minibatch([0, 2], [1, 40], [1, 1])
    with pytest.raises(ValueError, match="40"):
        document_completion(model, document, seed)


def completed(n_documents):
    """A set of planted documents to complete, and two models that have learnt others."""
    batch, _ = planted(300 + n_documents)
    models = [OnlineLDA(K, 40, 300, warm_start=False, seed=0) for K in (2, 4)]
    for model in models:
        for _ in range(10):
            model.learn(batch[:300])
    return CompletionSet(batch[300:]), models


def test_the_score_is_the_mean_of_the_nats_of_all_entries():
    documents, (model, _) = completed(50)
    nats = documents.nats(model)
    assert nats.shape == documents.hidden.word_ids.shape
    assert nats.sum() / documents.hidden.n_tokens == documents.score(model)


def test_the_error_of_a_difference_is_its_spread_over_sets_of_documents():
    documents, models = completed(4000)
    nats, others = map(documents.nats, models)
    parts = np.array_split(np.arange(documents.hidden.D), 40)
    of_entry = documents.hidden.documents()
    differences = []
    errors = []
    for part in parts:
        chosen = np.isin(of_entry, part)
        some = copy.copy(documents)
        some.hidden = documents.hidden[part[0] : part[-1] + 1]
        differences.append(some.mean(nats[chosen]) - some.mean(others[chosen]))
        errors.append(some.standard_error(nats[chosen], others[chosen]))
    np.testing.assert_allclose(np.std(differences, ddof=1), np.mean(errors), rtol=0.25)
    whole = documents.standard_error(nats, others)
    np.testing.assert_allclose(whole, np.mean(errors) / np.sqrt(len(parts)), rtol=0.05)


def test_a_model_differs_from_itself_by_exactly_nothing_and_one_document_tells_no_error():
    documents, (model, other) = completed(50)
    nats = documents.nats(model)
    assert documents.standard_error(nats, nats) == 0
    single = CompletionSet(Minibatch([0, 2], [1, 2], [1, 1]))
    assert np.isnan(single.standard_error(single.nats(model), single.nats(other)))
    nothing = CompletionSet(Minibatch([0], [], []))
    assert np.isnan(nothing.mean(nothing.nats(model)))


# Topics as they are read, docs/derivations.md: a word weighs less for its uses by other topics.


W = 30


def trained(kind, **options):
    """A model of 5 topics that has learnt 200 planted documents in two minibatches."""
    model = kinds.load(kind).create(5, W, 200, options)
    return read(model, planted_batch(200, n_words=W), 120)


def test_topics_are_read_as_derived(kind):
    model = trained(kind, decorrelation=0.5)
    plain = trained(kind, decorrelation=0)
    np.testing.assert_array_equal(model.lambda_, plain.lambda_)
    n_kw = plain.lambda_.astype(float) - plain._topics.eta
    n_w = n_kw.sum(axis=0)
    N = n_kw.sum()
    apart = 0.5 * 200 / (200 + 1500)  # after 200 documents
    p = (n_w - n_kw) / N  # how often other topics use the word
    c = np.sum((n_w / N) ** 2)
    expected = plain.topics() / (1 + apart * p / c)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.topics(), expected, rtol=2e-5)
    assert np.abs(model.topics() - plain.topics()).max() > 5e-4


def test_what_was_read_is_not_kept_beyond_the_next_step(kind):
    model = trained(kind)
    before = model.topics()
    documents = planted_batch(60, n_words=W)
    model.learn(documents)
    again = kinds.load(kind).from_state(model.state())
    assert not np.array_equal(model.topics(), before)
    np.testing.assert_array_equal(model.topics(), again.topics())
    np.testing.assert_array_equal(model.infer(documents), again.infer(documents))


def test_with_the_papers_settings_topics_are_read_without_decorrelation():
    assert OnlineLDA(5, W, 100, tau0=64, kappa=0.5).decorrelation == 0
    assert SCVB0(5, W, 100, warm_start=False).decorrelation == 0
    assert SCVB0(5, W, 100).decorrelation > 0
