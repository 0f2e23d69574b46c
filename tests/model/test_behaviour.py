"""What must hold of every kind of model, whatever the numbers."""

import numpy as np
import pytest

from tests.model.conftest import distances, needs_jit, planted, reordered
from wikitopics.model import BatchHDP, kinds


def learnt(kind, n_topics, batch, size, passes=1, seed=0, **options):
    model = kinds.load(kind).create(n_topics, 40, batch.D, options, seed)
    for _ in range(passes):
        for start in range(0, batch.D, size):
            model.learn(batch[start : start + size])
    return model


@needs_jit
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("n_documents", "found"),
    [
        (2000, lambda batch, seed: learnt("scvb0", 4, batch, 50, seed=seed)),
        (600, lambda batch, seed: learnt("hdp", 20, batch, 100, passes=5, seed=seed, eta=0.1)),
        (300, lambda batch, seed: BatchHDP(40, max_topics=12, eta=0.1).fit(batch)),
    ],
    ids=["scvb0", "hdp", "batch hdp"],
)
def test_planted_topics_are_found(n_documents, found, seed):
    batch, beta = planted(n_documents, seed=6)
    model = found(batch, seed)
    used = model.topics()[model.topic_shares() > 0.1]
    assert len(used) == 4
    assert distances(used, beta).max() < 0.15


@pytest.mark.parametrize("kind", kinds.names())
def test_words_and_numbers_of_words_out_of_range_are_refused(kind):
    model = kinds.load(kind).create(5, 30, 100)
    for wrong in ([30], [-1], [2**32]):
        with pytest.raises(ValueError, match="from 0 to 29"):
            model.topic_rows(np.array(wrong))
    with pytest.raises(ValueError, match="n must be at least 1"):
        model.top_words(0)


@pytest.mark.parametrize("kind", kinds.names())
def test_the_order_of_documents_does_not_matter(kind, documents):
    model = kinds.load(kind).create(5, 30, documents.D, {"dtype": "float64"})
    model.learn(documents)  # the HDP draws from these
    other = kinds.load(kind).from_state(model.state())
    order = np.random.default_rng(0).permutation(documents.D)
    turned = reordered(documents, order)
    np.testing.assert_allclose(other.infer(turned), model.infer(documents)[order], rtol=1e-6)
    np.testing.assert_allclose(other.learn(turned), model.learn(documents)[order], rtol=1e-5)
    np.testing.assert_allclose(other.topics(), model.topics(), rtol=1e-9)


@needs_jit
@pytest.mark.parametrize("kind", kinds.names())
def test_float32_drifts_little_in_a_thousand_updates(kind):
    batch, _ = planted(400)
    wide = learnt(kind, 4, batch, 100, dtype="float64", warm_start=False, eta=0.05)
    state = wide.state()
    narrow = kinds.load(kind).from_state({**state, "lambda_hat": state["lambda_hat"].astype(np.float32)})
    for t in range(1000):
        for model in (wide, narrow):
            model.learn(batch[t % 20 * 20 :][:20])
    # The totals carried along stay those of the rows.
    np.testing.assert_allclose(narrow.topic_weights(), narrow.lambda_.sum(axis=1, dtype=float), rtol=1e-4)
    assert 0.5 * np.abs(narrow.topics() - wide.topics()).sum(axis=1).max() < 5e-3
