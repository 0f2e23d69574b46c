"""Whether the other half of an article is found among others, by topics and by words.

12,000 articles that no model has learnt are cut into two random halves, and four in ten of the
second halves are cut to 5 to 24 words, as stubs are. First halves ask for their second halves, of
those that have over 24 words; then 5 to 24 words of these first halves ask. `SHRUNK_BY` and
`PART_OF_TOPICS` were chosen on short articles.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Corpus, batch_of_words
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import add_for_each, growing, learn_all, of_kinds, train, words
from wikitopics.model import Minibatch, OnlineModel, kinds
from wikitopics.session.analysis import similar
from wikitopics.session.analysis.similar import Recorded, Words
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.proportions import Proportions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wikitopics.vocab.counting import Counted

EXPERIMENT = Experiment("similar", "whether the other half of an article is found")
LEARNT = 30_000
HALVED = 12_000
STUBS = 0.4
SHORTEST = 5
LONGEST = 25
"""A stub has so many words, without the last."""
ASKED = 500
CORPORA_ASKED: tuple[Corpus, ...] = ("short", "full")
WAYS = {
    "hellinger": "Hellinger distance",
    "topics": "likeness of topics",
    "words": "cosine of tf-idf",
    "both": "likeness of topics and words",
}
Scores = Callable[[int], Any]
"""The scores of all documents, (n,), for the question of this number."""
SHRUNK = (10, 30, 60, 100)


def halves(documents: Minibatch, random: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """The words of the two halves of each document, one by one, in random order."""
    first = []
    second = []
    for start, stop in zip(documents.indptr[:-1], documents.indptr[1:], strict=True):
        counts = documents.counts[start:stop].astype(np.int64)
        tokens = np.repeat(documents.word_ids[start:stop], counts)
        random.shuffle(tokens)
        middle = len(tokens) // 2
        rest = tokens[middle:]
        if random.random() < STUBS:
            rest = rest[: random.integers(SHORTEST, LONGEST)]
        first.append(tokens[:middle])
        second.append(rest)
    return first, second


def as_session(documents: Minibatch, theta: NDArray[np.float32], n_words: int) -> Any:
    """What `Recorded` reads of a session, with these documents and their proportions."""
    n = documents.D
    numbers = np.arange(n, dtype=np.int64)
    counts = documents.counts.astype(np.int32)
    lengths = np.add.reduceat(documents.counts, documents.indptr[:-1])
    block = Block(
        numbers,
        numbers,
        ("",) * n,
        documents.indptr.astype(np.int64),
        documents.word_ids.astype(np.int32),
        counts,
    )

    def counts_of(_: object) -> Iterator[tuple[NDArray[np.int64], Block]]:
        yield numbers, block

    stored = Proportions.of(theta)

    def leading_topics(
        _: str, seqs: Sequence[int], most: int
    ) -> dict[int, list[tuple[int, float]]]:
        return {seq: stored.largest(seq)[:most] for seq in seqs}

    return SimpleNamespace(
        one_moment=nullcontext,
        check_proportions=lambda: None,
        progress=lambda: None,
        recorded_articles=lambda **_: SimpleNamespace(seqs=lambda rows: rows, page_ids=numbers),
        recorded_lengths=lambda: lengths.astype(np.int64),
        each_part=lambda *_, **__: [stored],
        leading_topics=leading_topics,
        spec=lambda _: SimpleNamespace(topics=theta.shape[1]),
        vocabulary=lambda: range(n_words),
        counts_of=counts_of,
    )


def scored(
    recorded: Recorded,
    words: Words,
    roots: NDArray[np.float32],
    asked: NDArray[np.float32],
    entries: Sequence[Counted],
) -> dict[str, Scores]:
    """The ways to score all documents for a question, given its number. ``roots``: the square
    roots of the documents' proportions; ``asked`` and ``entries``: the proportions and words of the
    questions."""
    return {
        "hellinger": lambda question: roots @ np.sqrt(asked[question]),
        "topics": lambda question: recorded.likeness(asked[question]),
        "words": lambda question: words.cosines(entries[question]),
        "both": lambda question: recorded.likeness(asked[question], entries[question]),
    }


def ranked(
    scores: Scores,
    twins: NDArray[np.int64],
    is_stub: NDArray[np.bool_],
) -> list[float]:
    """How often the twin is first, how often it is among the first ten, and how many of the first
    ten are stubs."""
    first = []
    among_ten = []
    stubs = []
    for question, twin in enumerate(twins.tolist()):
        score = scores(question)
        before = np.count_nonzero(score > score[twin])
        first.append(before == 0)
        among_ten.append(before < 10)
        stubs.append(is_stub[np.argpartition(-score, 10)[:10]].mean())
    return [float(np.mean(values)) for values in (first, among_ten, stubs)]


def measure(kind: str, corpus: Corpus) -> Figures:
    n_words = words(corpus)
    documents = train(corpus)
    cls = kinds.load(kind)
    model: OnlineModel = cls.create(cls.default_topics, n_words, LEARNT, seed=0)
    learn_all(model, growing(documents[:LEARNT], model.default_batch_size))
    random = np.random.default_rng(1)
    first, second = halves(documents[LEARNT : LEARNT + HALVED], random)
    lengths = np.array([len(tokens) for tokens in second])
    is_stub = lengths < LONGEST
    # An article of one word has an empty first half.
    there = batch_of_words([tokens if len(tokens) else np.zeros(1, np.int32) for tokens in second])
    theta = model.infer(there)
    session = as_session(there, theta, n_words)
    twins = random.permutation(np.flatnonzero(~is_stub))[:ASKED]
    stubs = [first[twin][: random.integers(SHORTEST, LONGEST)] for twin in twins]
    recorded = Recorded(session, kind)
    cosines = recorded.words
    assert cosines is not None
    roots = np.sqrt([recorded.theta(session, row) for row in range(there.D)]).astype(np.float32)
    found: dict[str, list[float]] = {}
    for asking, tokens in (("halves", [first[twin] for twin in twins]), ("stubs", stubs)):
        batch = batch_of_words(tokens)
        asked = model.infer(batch)
        entries = [
            (batch.word_ids[start:stop].astype(np.int32), batch.counts[start:stop].astype(np.int32))
            for start, stop in zip(batch.indptr[:-1], batch.indptr[1:], strict=True)
        ]
        compared = scored(recorded, cosines, roots, asked, entries)
        for words_added in SHRUNK:
            usual = similar.SHRUNK_BY
            similar.SHRUNK_BY = words_added
            try:
                shrunk = Recorded(session, kind)
            finally:
                similar.SHRUNK_BY = usual
            of_shrunk = scored(shrunk, cosines, roots, asked, entries)
            compared[f"shrunk{words_added}"] = of_shrunk["topics"]
        for way, scores in compared.items():
            found[f"{asking}_{way}"] = ranked(scores, twins, is_stub)
    return found


add_for_each(EXPERIMENT, CORPORA_ASKED, measure)


def _cells(points: Points, ways: dict[str, str]) -> str:
    rows = []
    for corpus in CORPORA_ASKED:
        for label, of_point in of_kinds(points, corpus):
            for way, name in ways.items():
                of_halves = of_point[f"halves_{way}"]
                of_stubs = of_point[f"stubs_{way}"]
                cells = [f"{value:.1%}" for value in (*of_halves, *of_stubs)]
                rows.append((f"{corpus} articles, {label}: {name}", *cells))
    head = ("", "twin first", "among ten", "stubs among ten")
    return table((*head, *(f"a stub asks: {name}" for name in head[1:])), rows)


def ways(points: Points) -> str:
    return _cells(points, WAYS)


def shrinking(points: Points) -> str:
    return _cells(points, {f"shrunk{number}": f"{number} words" for number in SHRUNK})


EXPERIMENT.tables["ways"] = ways
EXPERIMENT.tables["shrinking"] = shrinking
