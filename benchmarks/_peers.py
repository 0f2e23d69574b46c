"""Other people's topic models behind the face that the measures need; each imported only where installed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import cpu_seconds, minibatches
from model import Minibatch, OnlineLDA


def csr(batch: Minibatch, n_words: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((batch.counts, batch.word_ids, batch.indptr), shape=(batch.D, n_words))


class SklearnLDA:
    """scikit-learn's LatentDirichletAllocation with `partial_fit`; `batch_size` is set to the minibatch's.

    offset: its learning_offset. Its default, 10, is best for 12,000 documents; 64 is for 100,000, by 0.1
    nats.
    """

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: int,
        batch_size: int = 1024,
        offset: float = 10.0,
        seed: int = 0,
    ) -> None:
        from sklearn.decomposition import LatentDirichletAllocation

        self.n_words = n_words
        self._lda = LatentDirichletAllocation(
            n_topics,
            doc_topic_prior=0.01,
            topic_word_prior=0.01,
            batch_size=batch_size,
            total_samples=n_documents,
            learning_offset=offset,
            random_state=seed,
        )

    def learn(self, batch: Minibatch) -> None:
        self._lda.partial_fit(csr(batch, self.n_words))

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        theta: NDArray[np.float32] = self._lda.transform(csr(batch, self.n_words)).astype(np.float32)
        return theta

    def topics(self) -> NDArray[Any]:
        components = self._lda.components_
        topics: NDArray[Any] = components / components.sum(axis=1, keepdims=True)
        return topics


class FixedTopics:
    """Topics and a Dirichlet prior learnt by somebody else; proportions by our own inference."""

    def __init__(self, topics: NDArray[Any], alpha: float | NDArray[np.float64]) -> None:
        K, W = topics.shape
        state = OnlineLDA(K, W, 1e6, warm_start=False, eta=1e-9).state()
        # Counts so large that exp(E[log beta]) is E[beta].
        counts = np.ascontiguousarray(topics.T * 1e9).astype(np.float32)
        state.update(
            lambda_hat=counts,
            total_hat=counts.sum(axis=0, dtype=float),
            eta_lambda=1e-9,
            alpha=np.full(K, alpha),
        )
        self._model = OnlineLDA.from_state(state)
        self.n_words = W
        self.infer = self._model.infer
        self.topics = self._model.topics
        self.document_prior = self._model.document_prior


class GensimHdp:
    """gensim's HdpModel, learnt when made from all its documents, step sizes of [W11] section 4.2."""

    def __init__(self, documents: Minibatch, words: list[str], T: int, K: int, batch_size: int = 256) -> None:
        from gensim.models import HdpModel

        corpus = [list(zip(*words_of(documents, d), strict=True)) for d in range(documents.D)]
        start = cpu_seconds()
        self._hdp = HdpModel(
            corpus,
            dict(enumerate(words)),
            T=T,
            K=K,
            chunksize=batch_size,
            kappa=0.6,
            tau=64.0,
            random_state=0,
        )
        self.seconds = cpu_seconds() - start

    def scorer(self) -> FixedTopics:
        self._hdp.update_expectations()
        alpha, topics = self._hdp.hdp_to_lda()
        return FixedTopics(topics / topics.sum(axis=1, keepdims=True), np.maximum(alpha, 1e-6))


def words_of(batch: Minibatch, d: int) -> tuple[list[int], list[int]]:
    entries = slice(batch.indptr[d], batch.indptr[d + 1])
    return batch.word_ids[entries].tolist(), batch.counts[entries].tolist()


def vowpal_wabbit_seconds(batch: Minibatch, n_topics: int, n_documents: int) -> float:
    """CPU seconds of Vowpal Wabbit's online LDA over a file of these documents, its start included.

    Minibatches of 256 and 16 bits of hash, the settings with which it does not crash.
    """
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.vw"
        with path.open("w") as file:
            for d in range(batch.D):
                file.write(
                    "| " + " ".join(f"{w}:{n}" for w, n in zip(*words_of(batch, d), strict=True)) + "\n"
                )
        start = cpu_seconds()
        workspace = Workspace(
            f"--lda {n_topics} --lda_D {n_documents} --lda_alpha 0.01 --lda_rho 0.01 --minibatch 256 -b 16 "
            f"--power_t 0.5 --initial_t 64 -d {path} --quiet --no_stdin"
        )
        workspace.run_parser()
        workspace.finish()
        return cpu_seconds() - start


def tomotopy_gibbs(
    batch: Minibatch, words: list[str], n_topics: int, sweeps: int
) -> tuple[float, FixedTopics]:
    """CPU seconds and topics of tomotopy's collapsed Gibbs sampling; alpha optimised every ten sweeps."""
    import tomotopy

    lda = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=0.01, seed=1)
    for part in minibatches(batch, 1000):
        for d in range(part.D):
            ids, counts = words_of(part, d)
            lda.add_doc([words[w] for w, n in zip(ids, counts, strict=True) for _ in range(n)])
    start = cpu_seconds()
    lda.train(sweeps, workers=1)
    seconds = cpu_seconds() - start
    place = {word: i for i, word in enumerate(words)}
    topics = np.full((n_topics, len(words)), 1e-12)
    used = [place[word] for word in lda.used_vocabs]
    for k in range(n_topics):
        topics[k, used] = lda.get_topic_word_dist(k)
    return seconds, FixedTopics(topics / topics.sum(axis=1, keepdims=True), np.array(lda.alpha, dtype=float))
