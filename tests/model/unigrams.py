"""A model of somebody else's: a mixture of unigrams, in which a document has one topic."""

import numpy as np

from model import Entry, OnlineModel, Option


class MixtureOfUnigrams(OnlineModel):
    """Online EM. _counts: (W, K) expected words of each topic so far, decayed; _documents: (K,) documents."""

    kind = "unigrams"
    label = "mixture of unigrams"
    default_topics = 50
    options = (Option("eta", "Dirichlet parameter of the topics", 0.1, above=0),)
    entries = (
        Entry("eta", least=1e-9),
        Entry("counts", "_counts", "float64", "W K", least=0),
        Entry("documents", "_documents", "float64", "K", least=0),
    )

    def __init__(self, n_topics, n_words, n_documents, *, eta=0.1, seed=0, threads=1):
        super().__init__(n_topics, n_words, n_documents, seed, threads)
        self.check_options(eta=eta)
        self.eta = eta
        self._counts = self._random.gamma(1.0, 1.0, (n_words, n_topics))
        self._documents = np.ones(n_topics)

    def topics(self):
        smooth = (self._counts + self.eta).T
        return smooth / smooth.sum(axis=1, keepdims=True)

    def topic_shares(self):
        return self._counts.sum(axis=0) / self._counts.sum()

    def document_prior(self):
        return self._documents / self._documents.sum()

    def learn(self, batch):
        theta = self.infer(batch).astype(float)
        if batch.D:
            rho = (self._updates + 2.0) ** -0.6
            words = np.zeros_like(self._counts)
            np.add.at(words, batch.word_ids, batch.counts[:, None] * theta[batch.documents()])
            scale = self.n_documents / batch.D
            self._counts = (1 - rho) * self._counts + rho * scale * words
            self._documents = (1 - rho) * self._documents + rho * (1 + scale * theta.sum(axis=0))
            self._updates, self._seen, self._rho = self._updates + 1, self._seen + batch.D, rho
        return theta.astype(np.float32)

    def infer(self, batch):
        batch.check_words(self.n_words)
        scores = np.tile(np.log(self.document_prior()), (batch.D, 1))
        words = batch.counts[:, None] * np.log(self.topics()[:, batch.word_ids].T)
        np.add.at(scores, batch.documents(), words)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
