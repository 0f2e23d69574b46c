"""Small corpora: a vocabulary, and counts of documents from planted topics."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sharing import Once
from wikitopics.crawler.embedded import corpus as embedded


def letters(n: int) -> list[str]:
    """``n`` distinct words of three letters."""
    every_word = itertools.product("abcdefghijklmnop", repeat=3)
    return ["".join(next(every_word)) for _ in range(n)]


SMALL = ("--batch-size", "64", "--held-out", "40", "--seed", "3")
"""Options of a session over a small corpus."""


@dataclass(frozen=True)
class Corpus:
    """A vocabulary file and a counts file over it."""

    vocabulary: Path
    counts: Path
    words: tuple[str, ...]
    indptr: Any
    word_ids: Any
    numbers: Any

    def options(self) -> list[str]:
        """The options of a session that reads it in one pass."""
        files = ["--counts", str(self.counts), "--vocab", str(self.vocabulary)]
        return ["--source", "counts", *files, "--passes", "1"]


def write_corpus(
    folder: Path,
    documents: int,
    words: int = 60,
    seed: int = 0,
    empty: Sequence[int] = (),
) -> Corpus:
    """Documents from five planted topics; those in ``empty`` hold no word."""
    random = np.random.default_rng(seed)
    n_topics = 5
    beta = np.full((n_topics, words), 0.2 / words)
    for k in range(n_topics):  # each has a fifth of the words for its own
        beta[k, k * words // n_topics : (k + 1) * words // n_topics] += 4.0 / words
    beta /= beta.sum(axis=1, keepdims=True)
    ids_by_document = []
    numbers_by_document = []
    for d in range(documents):
        length = random.poisson(25) + 2
        theta = random.dirichlet(np.full(n_topics, 0.2))
        numbers_of_words = random.multinomial(length, theta @ beta)
        if d in empty:
            numbers_of_words = np.zeros_like(numbers_of_words)
        ids = np.flatnonzero(numbers_of_words)
        ids_by_document.append(ids)
        numbers_by_document.append(numbers_of_words[ids])
    lengths = [len(ids) for ids in ids_by_document]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.txt").write_text("\n".join(letters(words)) + "\n")
    np.savez(
        folder / "counts.npz",
        indptr=np.cumsum([0, *lengths], dtype=np.int64),
        word_ids=np.concatenate(ids_by_document).astype(np.int32),
        counts=np.concatenate(numbers_by_document).astype(np.int32),
        n_words=words,
    )
    return read_corpus(folder)


def read_corpus(folder: Path) -> Corpus:
    """What `write_corpus` wrote."""
    vocabulary = folder / "words.txt"
    counts = folder / "counts.npz"
    with np.load(counts) as arrays:
        return Corpus(
            vocabulary,
            counts,
            words=tuple(vocabulary.read_text().split()),
            indptr=arrays["indptr"],
            word_ids=arrays["word_ids"],
            numbers=arrays["counts"],
        )


@pytest.fixture
def corpus_of(tmp_path: Path) -> Callable[..., Corpus]:
    """Makes a corpus: ``corpus_of(documents, …)``."""
    numbers = itertools.count()

    def make(documents: int, **options: Any) -> Corpus:
        return write_corpus(tmp_path / f"corpus{next(numbers)}", documents, **options)

    return make


@pytest.fixture(scope="session")
def corpus(made_once: Once) -> Corpus:
    """700 documents over 60 words, three of them empty."""
    folder = made_once("corpus", lambda folder: write_corpus(folder, 700, empty=(3, 200, 699)))
    return read_corpus(folder)


def synthetic_corpus(n_articles: int) -> embedded.Corpus:
    """Made-up articles about eight made-up subjects."""
    rng = np.random.default_rng(0)
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
    made_up = []
    for _ in range(900):
        stem = "".join(rng.choice(syllables, rng.integers(2, 5)))
        ending = str(rng.choice(["n", "r", "s"]))
        made_up.append(stem + ending)
    words = tuple(dict.fromkeys(made_up))  # each once
    subjects = rng.dirichlet(np.full(len(words), 0.05), 8)
    indptr = [0]
    ids = []
    counts = []
    for _ in range(n_articles):
        mixture = rng.dirichlet(np.full(8, 0.2)) @ subjects
        drawn = rng.multinomial(int(rng.integers(40, 500)), mixture)
        used = np.flatnonzero(drawn)
        ids.append(used)
        counts.append(drawn[used])
        indptr.append(indptr[-1] + len(used))
    titles = [f"{words[i % len(words)].capitalize()} {i}" for i in range(n_articles)]
    return embedded.Corpus(
        titles=tuple(titles),
        words=words,
        indptr=np.array(indptr, dtype=np.int64),
        word_ids=np.concatenate(ids).astype(np.int32),
        counts=np.concatenate(counts).astype(np.int32),
    )
