"""Which articles choose defaults, and which report figures: no article does both.

    python -m benchmarks.splits        # make the files, and say what is in them

| corpus | from | counted over | documents of |
|---|---|---|---|
| `short` | bow-stream-150k.npz | the 7,702 words of [H10] | 103 words |
| `long` | articles-60k.jsonl.xz, those with at least 150 counted words | the shipped vocabulary | 377 words |
| `full` | bow-long-60k.npz, articles of full length, as in a crawl | the words of [H10] | 380 words |

| part | documents | for |
|---|---|---|
| `train` | all that are in neither set below | learning, whatever is being found out |
| `tuning` | those that scored when earlier defaults were chosen, and some more | choosing defaults |
| `report` | 4,000 short, 1,500 long, 2,000 full, never scored before | every figure that the docs state |

A document's part follows from a hash of its place in the corpus (short, full) or of its page id (long), so
that it is the same on every machine. The files are kept beside this script, outside the repository.
"""

from __future__ import annotations

import functools
import hashlib
import json
import lzma
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Unavailable
from wikitopics.model import Minibatch
from wikitopics.vocab import Vocabulary

SHARED = Path(os.environ.get("WIKITOPICS_SHARED", Path(__file__).parents[2] / "shared")) / "corpus"
Corpus = Literal["short", "long", "full"]
CORPORA: tuple[Corpus, ...] = get_args(Corpus)
FOLDER = Path(__file__).parent / "data"
ARRAYS = ("indptr", "word_ids", "counts")
PARTS = ("train", "tuning", "report")
REPORTED = {"short": 4_000, "long": 1_500, "full": 2_000}
TUNING_LONG = 750
TUNING_FULL = 2_000
LONG = 150
"""Counted words from which an article of plain text is a long one."""
SCORED_BEFORE = 500
"""So many of the articles with 165 words of [H10]'s list, the first in the file, scored earlier choices."""
SCORED_BEFORE_LENGTH = 165


def shared(name: str) -> Path:
    """A file of real articles, which are not in the repository. Raises `Unavailable` where it is not."""
    if not (SHARED / name).exists():
        raise Unavailable(f"{name} is not in {SHARED}")
    return SHARED / name


@functools.cache
def vocabulary_of_2010() -> list[str]:
    """The words of [H10]."""
    return shared("dictnostops.txt").read_text(encoding="utf-8").split()


def articles(name: str = "articles-60k.jsonl.xz") -> Iterator[dict[str, str]]:
    """Each with its id, title and text."""
    with lzma.open(shared(name), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _load(name: str) -> Minibatch:
    with np.load(shared(name)) as file:
        return Minibatch(*(file[array] for array in ARRAYS))


def batch_of(documents: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> Minibatch:
    """Documents given as word ids and their counts."""
    indptr = np.cumsum([0, *(len(ids) for ids, _ in documents)])
    return Minibatch(indptr, *(np.concatenate(part) for part in zip(*documents, strict=True)))


class Split(NamedTuple):
    """One corpus in its three parts; every word id is below `n_words`."""

    n_words: int
    train: Minibatch
    tuning: Minibatch
    report: Minibatch


@functools.cache
def split(corpus: Corpus) -> Split:
    """A corpus in its parts, made at the first call on a machine and read from then on.

    Read once in a process: otherwise whoever asks for a part while a clock runs would measure the disk.
    """
    path = FOLDER / f"{corpus}.npz"
    if not path.exists():
        made = {"short": _short, "long": _long, "full": _full}[corpus]()
        FOLDER.mkdir(exist_ok=True)
        draft = path.with_suffix(".part.npz")
        arrays = {f"{part}_{name}": getattr(getattr(made, part), name) for part in PARTS for name in ARRAYS}
        np.savez_compressed(draft, n_words=made.n_words, **arrays)
        draft.replace(path)
    with np.load(path) as file:
        parts = [Minibatch(*(file[f"{part}_{name}"] for name in ARRAYS)) for part in PARTS]
        return Split(int(file["n_words"]), *parts)


def _short() -> Split:
    documents = _load("bow-stream-150k.npz")
    order = _by_hash([f"bow-stream-150k {row}" for row in range(documents.D)])
    report = np.sort(order[: REPORTED["short"]])
    train = np.sort(order[REPORTED["short"] :])
    return Split(
        len(vocabulary_of_2010()),
        in_order(documents, train),
        _load("bow-heldout-2k.npz"),
        in_order(documents, report),
    )


def _long() -> Split:
    vocabulary = Vocabulary.load("english")
    of_2010 = set(vocabulary_of_2010())
    ids: list[str] = []
    counted: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    scored: list[bool] = []
    met = 0
    for article in articles():
        text = article["text"]
        known = sum(word in of_2010 for word in re.findall("[a-z]+", text.lower()))
        before = known >= SCORED_BEFORE_LENGTH and met < SCORED_BEFORE
        met += known >= SCORED_BEFORE_LENGTH
        word_ids, counts = vocabulary.count(text)
        if counts.sum() >= LONG:
            ids.append(str(article["id"]))
            counted.append((word_ids, counts))
            scored.append(before)
    order = _by_hash(ids)
    fresh = [int(row) for row in order if not scored[row]]
    report = fresh[: REPORTED["long"]]
    rest = [*(row for row in range(len(ids)) if scored[row]), *fresh[REPORTED["long"] :]]
    tuning, train = rest[:TUNING_LONG], rest[TUNING_LONG:]
    parts = [batch_of([counted[row] for row in sorted(rows)]) for rows in (train, tuning, report)]
    return Split(len(vocabulary), *parts)


def _full() -> Split:
    documents = _load("bow-long-60k.npz")
    order = _by_hash([f"bow-long-60k {row}" for row in range(documents.D)])
    ends = np.cumsum([REPORTED["full"], TUNING_FULL])
    report, tuning, train = (in_order(documents, np.sort(rows)) for rows in np.split(order, ends))
    return Split(len(vocabulary_of_2010()), train, tuning, report)


def _by_hash(names: Sequence[str]) -> NDArray[np.int64]:
    """Places in `names`, ordered by the names' hashes."""
    digests = [hashlib.sha256(name.encode()).digest() for name in names]
    return np.array(sorted(range(len(names)), key=digests.__getitem__))


def in_order(batch: Minibatch, rows: NDArray[np.int64]) -> Minibatch:
    """Some documents, in the order given."""
    lengths = np.diff(batch.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.repeat(batch.indptr[:-1][rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
    return Minibatch(indptr, batch.word_ids[entries], batch.counts[entries])


def main() -> None:
    """Make all corpora and say what is in them."""
    for corpus in CORPORA:
        made = split(corpus)
        for part in PARTS:
            batch = getattr(made, part)
            print(f"{corpus:6} {part:7} {batch.D:8,} documents of {batch.n_tokens / batch.D:6.1f} words")


if __name__ == "__main__":
    main()
