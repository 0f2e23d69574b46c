import os

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from wikitopics.model import Minibatch, kinds

# Thousands of documents: minutes where kernels run as plain Python.
needs_jit = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="slow if not compiled"
)


def planted(n_documents, seed=0, n_topics=4, n_words=40, length=40, alpha=0.1):
    """Documents from known topics with separate favourite words: the minibatch and beta, (K, W)."""
    random = np.random.default_rng(seed)
    beta = np.full((n_topics, n_words), 0.1 / n_words)
    for k in range(n_topics):
        first = k * n_words // n_topics
        end = (k + 1) * n_words // n_topics
        beta[k, first:end] += 0.9 * n_topics / n_words
    beta /= beta.sum(axis=1, keepdims=True)
    counts = np.zeros((n_documents, n_words), int)
    for d, theta in enumerate(random.dirichlet(np.full(n_topics, alpha), n_documents)):
        n_tokens = random.poisson(length) + 1
        counts[d] = random.multinomial(n_tokens, theta @ beta)
    return Minibatch.from_csr(csr_array(counts)), beta


def planted_batch(n_documents, **more):
    """The minibatch of `planted`."""
    batch, _ = planted(n_documents, **more)
    return batch


def distances(topics, beta):
    """Total variation between planted topics and those found, best matched."""
    distance = 0.5 * np.abs(topics[:, None] - beta[None]).sum(axis=2)
    return distance[linear_sum_assignment(distance)]


def leading_from(*first_ids):
    """The leading words of topics: for each topic ten words, of the ids from this one on."""
    ids = np.array([np.arange(first, first + 10) for first in first_ids], np.int32)
    falling = np.linspace(0.2, 0.05, 10, dtype=np.float32)
    return ids, np.tile(falling, (len(first_ids), 1))


def batch_of(documents, times=1):
    """Documents from the ids of their words, each of which counts as many times as it stands
    there, `times` over."""
    lengths = [len(words) for words in documents]
    indptr = np.append(0, np.cumsum(lengths))
    word_ids = np.concatenate(documents).astype(int)
    return Minibatch(indptr, word_ids, np.full(len(word_ids), times))


def read(model, batch, size, passes=1):
    """The model once it has learnt the documents in minibatches of this size, `passes` times."""
    for _ in range(passes):
        for start in range(0, batch.D, size):
            model.learn(batch[start : start + size])
    return model


def reordered(batch, order):
    """The same documents in another order."""
    return Minibatch.concatenate([batch[d : d + 1] for d in order])


def emptied(batch, d):
    """The same documents, one of them without its words."""
    return Minibatch.concatenate([batch[:d], Minibatch([0, 0], [], []), batch[d + 1 :]])


@pytest.fixture(params=kinds.names())
def kind(request):
    """The name of each kind of model."""
    return request.param


@pytest.fixture
def documents():
    """24 short documents over 30 words, the sixth one empty."""
    return emptied(planted_batch(24, seed=3, n_words=30, length=15), 5)


@pytest.fixture
def not_short(monkeypatch):
    """The texts of a test are long enough to mix topics, however few words they have."""
    monkeypatch.setattr("wikitopics.model.mixture.LONG_TEXTS", 1.0)
