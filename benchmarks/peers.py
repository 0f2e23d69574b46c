"""Other people's topic models behind the interface that measuring needs; each imported only if
installed."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Corpus
from benchmarks.harness import FOLDER, Unavailable
from benchmarks.measuring import timed
from wikitopics.model import Minibatch


def csr(batch: Minibatch, n_words: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((batch.counts, batch.word_ids, batch.indptr), shape=(batch.D, n_words))


def words_of(batch: Minibatch, d: int) -> tuple[list[int], list[int]]:
    """Word ids and counts of a document."""
    entries = slice(batch.indptr[d], batch.indptr[d + 1])
    return batch.word_ids[entries].tolist(), batch.counts[entries].tolist()


def bow(batch: Minibatch, d: int) -> list[tuple[int, int]]:
    """A document in gensim's form."""
    return list(zip(*words_of(batch, d), strict=True))


def tokens(batch: Minibatch, d: int) -> list[str]:
    """A document in tomotopy's form; words are their ids."""
    ids, counts = words_of(batch, d)
    found: list[str] = []
    for word_id, count in zip(ids, counts, strict=True):
        found += [str(word_id)] * count
    return found


def normalised(topics: NDArray[Any]) -> NDArray[Any]:
    """Rows that sum to 1."""
    topics = np.asarray(topics, float)
    scaled: NDArray[Any] = topics / topics.sum(axis=1, keepdims=True)
    return scaled


BEST_SIZE: Mapping[Corpus, int] = {"short": 4096, "long": 256, "full": 4096}
"""Documents in a minibatch with which [H10]'s algorithm does best, in every program that has it:
as many as in the paper where there are many articles, fewer where there are few."""


class SklearnLDA:
    """scikit-learn's LatentDirichletAllocation with `partial_fit`, minibatches of ``size``.

    learning_offset and learning_decay are 64 and 0.5 unless `options` has others. These are best on
    100,000 documents; on 12,000, its own defaults, 10 and 0.7, are better by 0.1 nats.
    """

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: int,
        size: int,
        **options: Any,
    ) -> None:
        from sklearn.decomposition import LatentDirichletAllocation

        self.n_words = n_words
        usual: dict[str, Any] = {
            "doc_topic_prior": 0.01,
            "topic_word_prior": 0.01,
            "random_state": 0,
            "batch_size": size,
            "total_samples": n_documents,
            "learning_offset": 64.0,
            "learning_decay": 0.5,
        }
        self._lda = LatentDirichletAllocation(n_topics, **(usual | options))

    def learn(self, batch: Minibatch) -> None:
        self._lda.partial_fit(csr(batch, self.n_words))

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        theta: NDArray[np.float64] = self._lda.transform(csr(batch, self.n_words))
        return theta.astype(np.float32)

    def topics(self) -> NDArray[Any]:
        return normalised(self._lda.components_)


class GensimLDA:
    """gensim's LdaModel, or LdaMulticore with workers; priors and steps as for scikit-learn.

    It is told how many documents there will be, as if it had been given all at once. Left to itself
    it would count those that have come so far, and score 0.3 nats less.
    """

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: int,
        size: int,
        workers: int = 0,
    ) -> None:
        from gensim.models import LdaModel, LdaMulticore

        self.n_words = n_words
        self.n_documents = n_documents
        options: dict[str, Any] = {
            "num_topics": n_topics,
            "id2word": {word_id: str(word_id) for word_id in range(n_words)},
            "chunksize": size,
            "alpha": [0.01] * n_topics,
            "eta": 0.01,
            "decay": 0.5,
            "offset": 64.0,
            "random_state": 0,
            "eval_every": None,
        }
        self._lda = LdaMulticore(workers=workers, **options) if workers else LdaModel(**options)

    def learn(self, batch: Minibatch) -> None:
        # `update` adds the documents of the minibatch to `numdocs`, which then is the number of all
        self._lda.state.numdocs = self.n_documents - batch.D
        self._lda.update([bow(batch, d) for d in range(batch.D)])

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        gamma, _ = self._lda.inference([bow(batch, d) for d in range(batch.D)])
        return normalised(gamma).astype(np.float32)

    def topics(self) -> NDArray[Any]:
        topics: NDArray[Any] = self._lda.get_topics()
        return topics


class Given:
    """The results of somebody else's program as a model: topics, (K, W), and the proportions,
    (D, K), of the documents for which `infer` will be called."""

    def __init__(self, topics: NDArray[Any], theta: NDArray[np.float32]) -> None:
        self.n_words = topics.shape[1]
        self._topics = topics
        self._theta = theta

    def topics(self) -> NDArray[Any]:
        return self._topics

    def infer(self, _: Minibatch) -> NDArray[np.float32]:
        return self._theta


def with_all(model: Any, documents: Minibatch) -> Any:
    """A model of tomotopy, given these documents."""
    for d in range(documents.D):
        model.add_doc(tokens(documents, d))
    return model


def sampled_topics(model: Any, topics: Sequence[int], n_words: int) -> NDArray[Any]:
    """(K, W) these topics of a model of tomotopy."""
    found = np.full((len(topics), n_words), 1e-12)
    used = np.array([int(word) for word in model.used_vocabs])
    found[:, used] = [model.get_topic_word_dist(k) for k in topics]
    return normalised(found)


def vowpal_wabbit(
    documents: Minibatch,
    n_topics: int,
    n_words: int,
    folder: Any,
) -> tuple[float, NDArray[Any]]:
    """CPU seconds of Vowpal Wabbit's online LDA over a file of these documents, and its topics (K,
    W).

    Minibatches of 256 and 16 bits of hash, the settings with which it does not crash.
    """
    from vowpalwabbit import Workspace

    texts = folder / "documents.vw"
    model = folder / "model.txt"
    with texts.open("w") as file:
        for d in range(documents.D):
            file.write(f"| {vowpal_wabbit_form(documents, d)}\n")

    def learn() -> None:
        workspace = Workspace(
            f"--lda {n_topics} --lda_D {documents.D} --lda_alpha 0.01 --lda_rho 0.01 --minibatch "
            f"256 -b 16 -l 1 --power_t 0.5 --initial_t 64 -d {texts} --readable_model {model} "
            "--quiet --no_stdin"
        )
        workspace.run_parser()
        workspace.finish()

    spent, _ = timed(learn)
    topics = np.zeros((n_words, n_topics))
    for line in model.read_text().splitlines():
        fields = line.split()
        # Lines of the model's head have other fields. The others are one for each possible hash,
        # and beyond the words' ids there are hashes that belong to no word.
        has_weights = len(fields) == 1 + n_topics and fields[0].isdigit()
        if has_weights and int(fields[0]) < n_words:
            topics[int(fields[0])] = [float(weight) for weight in fields[1:]]
    return spent, normalised(topics.T)


def vowpal_wabbit_form(batch: Minibatch, d: int) -> str:
    """A document as Vowpal Wabbit reads it, and BigARTM, too; words are their ids."""
    return " ".join(f"{word_id}:{count}" for word_id, count in bow(batch, d))


def gensim_hdp(documents: Minibatch, n_words: int) -> tuple[float, NDArray[Any], NDArray[Any]]:
    """CPU seconds, topics (K, W) and prior (K,) of gensim's HdpModel, step sizes of [W11] section
    4.2."""
    from gensim.models import HdpModel

    bows = [bow(documents, d) for d in range(documents.D)]
    options = {"T": 150, "K": 15, "chunksize": 256, "kappa": 0.6, "tau": 64.0, "random_state": 0}
    words = {word_id: str(word_id) for word_id in range(n_words)}
    # HdpModel's constructor learns from the documents.
    spent, hdp = timed(lambda: HdpModel(bows, words, **options))
    hdp.update_expectations()
    alpha, topics = hdp.hdp_to_lda()
    return spent, normalised(topics), np.maximum(alpha, 1e-6)


BIGARTM = ("bigartm10==0.10.1", "protobuf==3.20.3", "numpy<2", "pandas<3", "six")
"""BigARTM and what it needs, most of it older than what we need."""
BIGARTM_SETTINGS: Mapping[Corpus, Mapping[str, float]] = {
    "short": {"size": 4096, "tau0": 64.0, "kappa": 0.7, "beta": 0.001, "decorrelation": 500.0},
    "long": {"size": 256, "tau0": 1.0, "kappa": 0.7, "beta": 0.005, "decorrelation": 1500.0},
    "full": {"size": 1024, "tau0": 64.0, "kappa": 0.5, "beta": 0.01, "decorrelation": 2000.0},
}
"""The best of a few settings that were tried on the articles for tuning. The decorrelation is the
strongest that costs less than 0.01 nats on these; our own decorrelation costs about that much."""


@functools.cache
def environment(name: str, *packages: str) -> Path:
    """The Python of an environment that has these packages, made beside the corpora. Raises
    `Unavailable` if that fails."""
    folder = FOLDER / name
    python = folder / "bin" / "python"
    wanted = " ".join(packages)
    # Written when all is installed.
    installed = folder / "made"
    if not installed.exists() or installed.read_text() != wanted:
        create = [sys.executable, "-m", "venv", "--clear", str(folder)]
        install = [str(python), "-m", "pip", "install", "--quiet", *packages]
        for command in (create, install):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                why = done.stderr.splitlines()[-1] if done.stderr else "no reason given"
                raise Unavailable(f"{name} cannot be installed: {why}")
        installed.write_text(wanted)
    return python


def bigartm(
    documents: Minibatch,
    seen: Minibatch,
    n_topics: int,
    n_words: int,
    corpus: Corpus,
    decorrelated: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """CPU seconds (L,) and topics (L, K, W) at L moments of BigARTM's online learning of
    `documents`, the last of which is its end; and the proportions (D, K) that it then infers of the
    documents `seen`."""
    settings = {"topics": n_topics, "words": n_words, **BIGARTM_SETTINGS[corpus]}
    if not decorrelated:
        settings["decorrelation"] = 0.0
    with TemporaryDirectory() as name:
        folder = Path(name)
        for part, batch in (("train", documents), ("seen", seen)):
            with (folder / f"{part}.vw").open("w") as file:
                for d in range(batch.D):
                    file.write(f"{d} {vowpal_wabbit_form(batch, d)}\n")
        python = environment("bigartm", *BIGARTM)
        script = Path(__file__).with_name("bigartm.py")
        # BigARTM writes logs into the current folder.
        subprocess.run([python, script, folder, json.dumps(settings)], cwd=folder, check=True)
        with np.load(folder / "found.npz") as found:
            return found["seconds"], found["topics"], found["theta"]
