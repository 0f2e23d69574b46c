"""Small collections, as their owners have them: parts of the corpora, over words of their own."""

from __future__ import annotations

import ast
import functools
import gzip
import hashlib
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import CORPORA, batch_of, split
from benchmarks.harness import FOLDER, Unavailable
from wikitopics.model import Minibatch
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS

SOURCES = ("short", "full", "docstrings", "manuals")
"""Two corpora of `data`, and two kinds of text that are no articles, from the packages that are
installed on this machine."""
MANUALS = Path("/usr/share/man")
FORMATTING = re.compile(r'^[.\'].?\\".*|^\.\w+|\\f.|\\[-&e]', re.MULTILINE)
"""What a manual page is formatted by: comments, requests, changes of font, escaped characters."""
FEWEST_WORDS = 20
HELD_OUT = 1_000
REFERENCE = 20_000
LARGEST_SHARE = 0.2
"""Words in more than this share of a collection tell nothing apart, as in `vocab build`."""


@dataclass(frozen=True)
class Collection:
    """Documents, others that are held out, and many more, to tell which words occur together."""

    documents: Minibatch
    held_out: Minibatch
    reference: Minibatch
    n_words: int


def collection(source: str, size: int, seed: int, *, tuning: bool = False) -> Collection:
    """A random collection of this size over the words that it has in two documents or more.

    Those for tuning share no held-out documents with the others.
    """
    documents, for_tuning, for_report = _parts(source)
    rows = np.random.default_rng((seed, size, tuning)).permutation(documents.D)[:size]
    chosen = documents.take(rows)
    frequency = np.bincount(chosen.word_ids, minlength=documents.word_ids.max() + 1)
    most = max(2, LARGEST_SHARE * size)
    own_words = np.flatnonzero((frequency >= 2) & (frequency <= most))
    scored = for_tuning if tuning else for_report
    return Collection(
        documents=_over(own_words, chosen),
        held_out=_over(own_words, scored),
        reference=_over(own_words, documents[:REFERENCE]),
        n_words=len(own_words),
    )


def _over(words: NDArray[np.int64], batch: Minibatch) -> Minibatch:
    """The documents over these words only, which are numbered anew."""
    n_words = max(words.max(), batch.word_ids.max()) + 1
    new_id = np.full(n_words, -1)
    new_id[words] = np.arange(len(words))
    ids = new_id[batch.word_ids]
    kept = ids >= 0
    kept_before = np.concatenate([[0], np.cumsum(kept)])
    return Minibatch(kept_before[batch.indptr], ids[kept], batch.counts[kept])


@functools.cache
def _parts(source: str) -> tuple[Minibatch, Minibatch, Minibatch]:
    """Documents to learn from, those that choose settings and those that report figures."""
    for corpus in CORPORA:
        if corpus == source:
            parts = split(corpus)
            return parts.train, parts.tuning[:HELD_OUT], parts.report[:HELD_OUT]
    path = FOLDER / f"{source}.npz"
    if not path.exists():
        found = _docstrings() if source == "docstrings" else manuals()
        texts = set(found)
        if len(texts) < 3 * HELD_OUT:
            raise Unavailable(f"there are only {len(texts)} {source} on this machine")
        FOLDER.mkdir(exist_ok=True)
        made = _counted(sorted(texts, key=_hash))
        np.savez_compressed(path, made.indptr, made.word_ids, made.counts)
    with np.load(path) as file:
        documents = Minibatch(*file.values())
    tuning = documents[:HELD_OUT]
    report = documents[HELD_OUT : 2 * HELD_OUT]
    train = documents[2 * HELD_OUT :]
    return train, tuning, report


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _docstrings() -> Iterator[str]:
    """The docstrings of all functions and classes in the packages installed here."""
    for path in Path(sysconfig.get_path("purelib")).rglob("*.py"):
        try:
            tree = ast.parse(path.read_text("utf-8", errors="replace"))
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield ast.get_docstring(node) or ""


def manuals() -> Iterator[str]:
    """The pages of Debian's manuals, without their formatting, in an order of no meaning."""
    for path in sorted(MANUALS.glob("man*/*.gz"), key=lambda path: _hash(path.name)):
        if not path.is_symlink():
            page = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
            yield FORMATTING.sub(" ", page)


def _counted(texts: list[str]) -> Minibatch:
    """Texts of enough words, in order; words are numbered as they come."""
    numbers: dict[str, int] = {}
    documents = []
    for text in texts:
        words = Counter(re.findall("[a-z]{3,}", text.lower()))
        ids: list[int] = []
        counts: list[int] = []
        for word, count in words.items():
            if word not in ENGLISH_STOP_WORDS:
                ids.append(numbers.setdefault(word, len(numbers)))
                counts.append(count)
        if sum(counts) >= FEWEST_WORDS:
            documents.append((np.array(ids), np.array(counts)))
    return batch_of(documents)
