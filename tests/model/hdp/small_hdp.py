"""A small HDP, and documents for it."""

from tests.model.conftest import emptied, planted
from wikitopics.model.hdp import PAPER, OnlineHDP

T, ALPHA, ETA, OMEGA = 4, 0.7, 0.3, 1.5


def mixed_documents():
    """24 documents of some 60 words out of 30, most with several topics, the sixth one empty."""
    return emptied(planted(24, seed=3, n_words=30, length=60, alpha=0.5)[0], 5)


def make(**options):
    sizes = {"n_words": 30, "n_documents": 1000, "max_topics": 8, "max_topics_per_document": T}
    priors = {"omega": OMEGA, "alpha": ALPHA, "eta": ETA}
    return OnlineHDP(**sizes | priors | {"tau0": 1.0, "kappa": 0.7, "seed": 1} | options)


def as_given(model):
    """The same model with D as it was given, however small."""
    model.recipe = PAPER
    return model


def trained(documents, **options):
    """A model past its start, in float64."""
    model = as_given(make(n_documents=documents.D, dtype="float64", **options))
    for _ in range(3):
        model.learn(documents)
    return model
