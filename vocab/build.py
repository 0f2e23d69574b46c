"""Build a vocabulary from documents: the words that tell subjects apart."""

import heapq
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from vocab.errors import BadDocuments
from vocab.vocabulary import Vocabulary
from vocab.words import words

MIN_LETTERS = 3
MAX_LETTERS = 40
"""Longer runs of letters are no words of any language, but addresses and hostile input."""
_MAX_OCCURRENCES = 5


@dataclass(frozen=True, slots=True)
class Built:
    """A vocabulary and how it came about."""

    vocabulary: Vocabulary
    """In alphabetical order (by code point)."""
    documents: int
    """Documents read that hold at least one word."""
    distinct_words: int
    """Distinct words that were counted; the rarest may have been dropped on the way."""
    max_documents: int
    """A word in more documents than this was too frequent."""
    min_documents: int
    """A word in fewer documents than this was too rare to be considered."""
    rarest_kept: int
    """The smallest number of documents that a word of the vocabulary occurs in."""


def build_vocabulary(
    documents: Iterable[str],
    *,
    size: int = 8000,
    stop_words: Collection[str] = frozenset(),
    max_share: float = 0.2,
    max_candidates: int = 2_000_000,
) -> Built:
    """The ``size`` best words, without those that tell nothing.

    A word's score is its number of occurrences, of which the first in a document counts half and those
    behind the fifth nothing: a subject's own words come back within an article (theorem, reactor), words of
    style rarely do (abruptly, thoroughly), and no single article can lift a word. Ties go to the word that
    comes first in the alphabet, so the result does not depend on the order of the documents.

    Left out are words of fewer than three letters, ``stop_words``, words in more than ``max_share`` of the
    documents (without a list of stop words, 0.1 takes most of a language's grammar out), and words in
    fewer than two documents, or fewer than one in 2,500.

    Memory is bounded by ``max_candidates`` distinct words: whenever there are more, the rarest go, and a
    word that has gone starts again from nothing (lossy counting), which touches only words far
    below the ones that are kept.

    Raises BadDocuments where fewer than two words remain.
    """
    frequency: Counter[bytes] = Counter()
    repeats: Counter[bytes] = Counter()
    count = 0
    floor = 0
    for document in documents:
        found = Counter(words(document))
        if not found:
            continue
        count += 1
        frequency.update(found.keys())
        repeats.update({word: min(n, _MAX_OCCURRENCES) - 1 for word, n in found.items() if n > 1})
        while len(frequency) > max_candidates:
            floor += 1
            frequency = Counter({word: n for word, n in frequency.items() if n > floor})
            repeats = Counter({word: n for word, n in repeats.items() if word in frequency})
    min_documents = max(2, -(-count // 2500))
    max_documents = max(int(max_share * count), min_documents)
    stops = {word.encode("utf-8") for word in stop_words}
    scores = (
        (-(n / 2 + repeats[word]), word.decode("utf-8"))
        for word, n in frequency.items()
        if min_documents <= n <= max_documents and word not in stops
    )
    kept = heapq.nsmallest(
        size, ((score, word) for score, word in scores if MIN_LETTERS <= len(word) <= MAX_LETTERS)
    )
    if len(kept) < 2:
        raise BadDocuments(
            f"too little text: {count:,} {'document' if count == 1 else 'documents'}, "
            f"{'one usable word' if kept else 'no usable word'}, and at least two are needed. A usable word "
            "occurs in several documents, but not in most. About 10,000 documents give a good vocabulary "
            "(in plain text, blank lines separate documents)"
        )
    return Built(
        vocabulary=Vocabulary.from_words(sorted(word for _, word in kept)),
        documents=count,
        distinct_words=len(frequency),
        max_documents=max_documents,
        min_documents=min_documents,
        rarest_kept=min(frequency[word.encode("utf-8")] for _, word in kept),
    )
