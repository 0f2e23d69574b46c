"""Topics as they are read, docs/derivations.md: a word weighs less for its uses by other topics."""

import numpy as np
import pytest

from tests.model.conftest import planted
from wikitopics.model import SCVB0, OnlineLDA, kinds

W = 30


def trained(kind, **options):
    model = kinds.load(kind).create(5, W, 200, options)
    documents, _ = planted(200, n_words=W)
    model.learn(documents[:120])
    model.learn(documents[120:])
    return model


@pytest.mark.parametrize("kind", kinds.names())
def test_topics_are_read_as_derived(kind):
    model = trained(kind, decorrelation=0.5)
    plain = trained(kind, decorrelation=0)
    np.testing.assert_array_equal(model.lambda_, plain.lambda_)
    n_kw = plain.lambda_.astype(float) - plain._topics.eta
    n_w, N = n_kw.sum(axis=0), n_kw.sum()
    apart = 0.5 * 200 / (200 + 1500)
    expected = plain.topics() / (1 + apart * (n_w - n_kw) / N / np.sum((n_w / N) ** 2))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.topics(), expected, rtol=2e-5)
    assert np.abs(model.topics() - plain.topics()).max() > 5e-4
    ids, probabilities = model.top_words(4)
    np.testing.assert_allclose(probabilities, np.take_along_axis(model.topics(), ids, axis=1), rtol=1e-6)


@pytest.mark.parametrize("kind", kinds.names())
def test_what_was_read_is_not_kept_beyond_the_next_step(kind):
    model = trained(kind)
    before, (documents, _) = model.topics(), planted(60, n_words=W)
    model.learn(documents)
    again = kinds.load(kind).from_state(model.state())
    assert not np.array_equal(model.topics(), before)
    np.testing.assert_array_equal(model.topics(), again.topics())
    np.testing.assert_array_equal(model.infer(documents), again.infer(documents))


def test_the_papers_settings_have_none():
    assert OnlineLDA(5, W, 100, tau0=64, kappa=0.5).decorrelation == 0
    assert SCVB0(5, W, 100, warm_start=False).decorrelation == 0
    assert SCVB0(5, W, 100).decorrelation > 0
