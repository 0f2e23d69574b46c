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
    return [
        "".join(word)
        for word in itertools.islice(itertools.product("abcdefghijklmnop", repeat=3), n)
    ]


SMALL = ("--batch-size", "64", "--held-out", "40", "--seed", "3")
"""Options of a session over one of these."""


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
        """The options of a trainer that reads this corpus once."""
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
    beta = np.full((5, words), 0.2 / words)
    for k in range(5):
        beta[k, k * words // 5 : (k + 1) * words // 5] += 4.0 / words
    beta /= beta.sum(axis=1, keepdims=True)
    rows = [
        random.multinomial(random.poisson(25) + 2, random.dirichlet(np.full(5, 0.2)) @ beta)
        for _ in range(documents)
    ]
    ids = [np.flatnonzero(row if d not in empty else 0) for d, row in enumerate(rows)]
    indptr = np.concatenate(([0], np.cumsum([len(i) for i in ids]))).astype(np.int64)
    word_ids = np.concatenate(ids).astype(np.int32)
    numbers = np.concatenate([row[i] for row, i in zip(rows, ids, strict=True)]).astype(np.int32)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.txt").write_text("\n".join(letters(words)) + "\n")
    np.savez(folder / "counts.npz", indptr=indptr, word_ids=word_ids, counts=numbers, n_words=words)
    return read_corpus(folder)


def read_corpus(folder: Path) -> Corpus:
    """What `write_corpus` wrote."""
    vocabulary = folder / "words.txt"
    counts = folder / "counts.npz"
    with np.load(counts) as arrays:
        found = [arrays[name] for name in ("indptr", "word_ids", "counts")]
    return Corpus(vocabulary, counts, tuple(vocabulary.read_text().split()), *found)


@pytest.fixture
def corpus_of(tmp_path: Path) -> Callable[..., Corpus]:
    """Makes a corpus: ``corpus_of(documents, …)``."""
    number = itertools.count()
    return lambda documents, **more: write_corpus(
        tmp_path / f"corpus{next(number)}", documents, **more
    )


@pytest.fixture(scope="session")
def corpus(made_once: Once) -> Corpus:
    """700 documents over 60 words, three of them empty."""
    return read_corpus(
        made_once("corpus", lambda folder: write_corpus(folder, 700, empty=(3, 200, 699)))
    )


def synthetic_corpus(n_articles: int) -> embedded.Corpus:
    """Made-up articles about eight made-up subjects."""
    rng = np.random.default_rng(0)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    words = tuple(
        dict.fromkeys(
            "".join(rng.choice(syllables, rng.integers(2, 5))) + rng.choice(["n", "r", "s"])  # type: ignore[operator, unused-ignore]  # by numpy 2.5
            for _ in range(900)
        )
    )
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
    return embedded.Corpus(
        titles=tuple(f"{words[i % len(words)].capitalize()} {i}" for i in range(n_articles)),
        words=words,
        indptr=np.array(indptr, dtype=np.int64),
        word_ids=np.concatenate(ids).astype(np.int32),
        counts=np.concatenate(counts).astype(np.int32),
    )
