"""The articles of a session that are most like another one, or like any text."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.advance import Advance, unseen
from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.session.sources import kind_named, noun, singular
from wikitopics.session.storage.block import from_zero, gather
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.recorded import title_key
from wikitopics.vocab.counting import Counted

SHRUNK_BY = 30
"""The proportions of an article count as if it had so many more words, with topics as in the
average article: so those of a stub, which may be chance, say little."""
PART_OF_TOPICS = 0.3
"""The weight of topics beside words, where words are compared, too."""
SATURATION = 0.9
"""In BM25, k1: the more, the more a further occurrence of a word in an article counts."""
PENALTY = 0.4
"""In BM25, b: how much less a word counts in a longer article, from 0 to 1."""
LEAST_BEST = 1e-3
"""The least score that is taken for the best possible one: that of proportions which are nearly
those of the average article is close to 0."""
ROOTS = 8
"""The square root of a word's count is held in steps of 1 / `ROOTS`, in one byte."""
TOPICS_READ = "topics of articles read"
"""What is counted while proportions are read."""
_LONGEST = 10**6
"""The most words with which an article counts: in a damaged file, they may be any number."""
_LONGEST_TITLE = 255
"""The most characters of a mistyped title that are compared."""
_AT_ONCE = 2048
"""The number of articles compared at a time, so that their data fit the processor's cache."""
_ELEMENTS_AT_ONCE = 2**20
"""The number of words counted at a time, since numpy makes a wide copy of them."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An article, and how much it is like what was asked for."""

    page_id: int
    title: str
    likeness: float
    """From 0, no more alike than the average article, to 1, the same."""
    id: str | None = None
    """Its id in its own collection; None: the source has no ids."""
    snippet: str | None = None
    """The beginning of its text, at most 300 characters; None if it is not kept."""

    @property
    def distance(self) -> float:
        """1 - likeness, for programs that sort or compare by the distance of 1.2."""
        return 1 - self.likeness


@dataclass(frozen=True, slots=True)
class _Lifts:
    """The log lifts of some articles that follow each other: in parts, millions of articles need
    not be in memory twice."""

    starts: NDArray[np.int64]
    """(n + 1,) where the topics of each article begin, and where the last one's end."""
    topics: NDArray[np.integer[Any]]
    """The topics of one article after another that are compared."""
    above: NDArray[np.float32]
    """By how much the log lift of each of them exceeds that of a topic of the same article that is
    not compared."""
    log_rest: NDArray[np.float32]
    """(n,) the log lift of the topics that are not compared, shrunk: none has more of them than the
    average article."""

    @staticmethod
    def of(
        proportions: Proportions, shares: NDArray[np.float32], weight: NDArray[np.float32]
    ) -> "_Lifts":
        """``shares``: (K,) the mean proportions, ``weight``: (n,) how much those of each article
        say."""
        starts = proportions.indptr()
        lengths = np.diff(starts)
        firsts = starts[:-1]
        values = proportions.values()
        of_topics = shares.take(proportions.topics)
        lacking = np.maximum(1 - np.add.reduceat(values, firsts), 0)
        others = 1 - np.add.reduceat(of_topics, firsts)
        of_others = lacking / np.maximum(others, shares.min())
        rest = np.where(lengths < len(shares), np.minimum(of_others, 1), 0)
        log_rest = np.log1p(weight * (rest - 1))
        lifts = np.divide(values, of_topics, out=of_topics)
        lifts -= 1
        lifts *= np.repeat(weight, lengths)
        above = np.log1p(lifts, out=lifts)
        above -= np.repeat(log_rest, lengths)
        return _Lifts(starts, proportions.topics, above, log_rest)

    def scores(self, theta: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n,) the expected log lifts for these proportions, (K,)."""
        return _sums(self.starts, self.topics, self.above, theta) + self.log_rest


class Recorded:
    """All articles of a session whose proportions in one model are recorded, for repeated
    questions.

    Takes 22 bytes per article and 5 for each of its proportions (6 if the model has over 256
    topics), so 40 to 100 in all; `Words` says what words take. What is compared of an article are
    the proportions that `Proportions.usual` gives; the rest, which they lack to 1, counts as spread
    over its other topics in proportion to their shares. Raises `SessionError` if no proportions are
    recorded.

    The score of article d for proportions theta is the expected log lift

        sum_k theta_k log(theta'_dk / share_k)

    where the shares are the mean proportions of all articles, and theta'_d are the article's,
    shrunk towards the shares by `SHRUNK_BY` words. It is 0 for the average article, and at most
    sum_k theta_k log(theta_k / share_k), that of the same proportions in an endless text. The
    likeness of topics is the score as a part of this best possible one, at least 0.
    """

    def __init__(
        self,
        reader: SessionReader,
        model: str,
        advance: Advance = unseen,
    ) -> None:
        """``advance``: is told how many articles have been read."""
        with reader.one_moment():
            reader.check_proportions()
            self.as_of = reader.progress()
            self.articles = reader.recorded_articles(held_out=True)
            n_words = reader.recorded_lengths()
            parts = self._read(reader, model, advance)
            self.words = Words.held(reader, self.articles.seqs(np.arange(len(self))))
            """None if the session does not have the words of all these articles."""
        self.model = model
        n_words = np.minimum(n_words, _LONGEST).astype(np.float32)
        weight = n_words / (n_words + np.float32(SHRUNK_BY))
        shares = self._shares.astype(np.float32)
        self._lifts: list[_Lifts] = []
        first = 0
        for part in parts:
            stop = first + len(part)
            self._lifts.append(_Lifts.of(part, shares, weight[first:stop]))
            first = stop

    def _read(self, reader: SessionReader, model: str, advance: Advance) -> list[Proportions]:
        """The proportions, as far as they are compared, of some articles after the others."""
        K = reader.spec(model).topics
        self._n_topics = K
        n = len(self)
        parts: list[Proportions] = []
        # As if there were one more article, in which all topics are equally large: no share is 0.
        totals = np.full(K, 1 / K)
        read = 0
        for part in reader.each_part(model, held_out=True):
            totals += np.bincount(part.topics, part.values(), K)
            parts.append(part.usual(K))
            read += len(part)
            advance(TOPICS_READ, read, n)
        self._shares = totals / totals.sum()
        """(K,) the topics' mean proportions."""
        return parts

    def __len__(self) -> int:
        return len(self.articles.page_ids)

    def still_holds(self, reader: SessionReader, model: str) -> bool:
        """Whether this is of that model, and nothing has been committed since."""
        committed_at = reader.progress().committed_at
        return self.model == model and self.as_of.committed_at == committed_at

    def theta(self, reader: SessionReader, row: int) -> NDArray[np.float64]:
        """(K,) the proportions of one article, which sum to 1: all that are recorded, also those
        that are not compared."""
        (seq,) = self.articles.seqs(np.array([row])).tolist()
        recorded = reader.leading_topics(self.model, [seq], self._n_topics).get(seq, [])
        topics = [topic for topic, _ in recorded]
        values = [value for _, value in recorded]
        theta: NDArray[np.float64] = self._shares.copy()
        lacking = max(1 - sum(values), 0)
        others = max(1 - self._shares[topics].sum(), self._shares.min())
        theta *= min(lacking / others, 1)
        theta[topics] = values
        theta /= theta.sum()
        return theta

    def likeness(
        self,
        theta: NDArray[np.floating[Any]],
        counted: Counted | None = None,
        *,
        asked: bool = False,
    ) -> NDArray[np.float32]:
        """(n,) how much each article is like a text with the proportions ``theta``, (K,), and, if
        the session has the words of all articles, with the words ``counted``: from 0 to 1.

        Words have the rest of the weight of `PART_OF_TOPICS`; topics have all of it if words are
        not compared. ``asked``: whether somebody asks with these words, which may be few, for
        articles that have them; otherwise they are those of an article.
        """
        of_topics = theta.astype(np.float32)
        scores = np.concatenate(
            [np.empty(0, np.float32), *(part.scores(of_topics) for part in self._lifts)]
        )
        tiny = np.finfo(np.float64).tiny
        best = float(theta @ np.log(np.maximum(theta, tiny) / self._shares))
        scores /= np.float32(max(best, LEAST_BEST))
        likeness: NDArray[np.float32] = np.clip(scores, 0, 1, out=scores)
        if self.words is None or counted is None:
            return likeness
        compared = self.words.matches(counted) if asked else self.words.cosines(counted)
        return mixed(likeness, compared)

    def row(self, seq: int) -> int | None:
        """The row of the article with this number; None: its proportions are not recorded."""
        seqs = self.articles.seqs(np.arange(len(self)))
        rows = np.flatnonzero(seqs == seq).tolist()
        return rows[0] if rows else None

    def row_of(self, reader: SessionReader, title: str, *, exact: bool = False) -> int | None:
        """The row of the newest article with this title; without ``exact``, of one whose title
        differs only in capitals if there is no other, otherwise of the newest with this id."""
        rows = np.flatnonzero(self.articles.title_keys == title_key(title))
        row_of_seq = dict(zip(self.articles.seqs(rows).tolist(), rows.tolist(), strict=True))
        alike = reader.numbered(row_of_seq, with_snippets=False).values()
        named = [article for article in alike if article.title == title]
        if not named and not exact:
            folded = title.casefold()
            named = [article for article in alike if article.title.casefold() == folded]
        if named:
            newest = max(article.seq for article in named)
            return int(row_of_seq[newest])
        return None if exact else self._row_of_id(reader, title)

    def _row_of_id(self, reader: SessionReader, own_id: str) -> int | None:
        """The row of the newest article with this id of its own."""
        seqs = self.articles.seqs(np.arange(len(self)))
        rows = np.flatnonzero(np.isin(seqs, reader.seqs_of_id(own_id)))
        if not len(rows):
            return None
        return int(rows[seqs[rows].argmax()])

    def nearest(
        self,
        reader: SessionReader,
        to: NDArray[np.floating[Any]] | int,
        limit: int,
        counted: Counted | None = None,
    ) -> list[Neighbour]:
        """The articles most like a text with these proportions, (K,), and words; or most like the
        article in this row, which is left out. The most alike come first; of an article that was
        read several times, only one reading is given."""
        without = None
        if isinstance(to, int):
            theta: NDArray[np.floating[Any]] = self.theta(reader, to)
            without = int(self.articles.page_ids[to])
            if self.words is not None:
                counted = self.words.counted(to)
        else:
            theta = to
        asked = not isinstance(to, int)
        near = self.rows_near(reader, theta, limit, counted, without, asked=asked)
        return [
            Neighbour(row.page_id, row.title, likeness, row.id, row.snippet)
            for row, likeness, _ in near
        ]

    def rows_near(
        self,
        reader: SessionReader,
        theta: NDArray[np.floating[Any]],
        limit: int,
        counted: Counted | None,
        without: int | None,
        *,
        asked: bool,
    ) -> list[tuple[ArticleRow, float, list[tuple[int, float]]]]:
        """The articles most like a text with these proportions and words, without this page, with
        all that is stored of each: (article, likeness, its (topic, proportion), the largest
        first). ``asked``: as for `likeness`."""
        likeness = self.likeness(theta, counted, asked=asked)
        rows = nearest_pages(-likeness, self.articles.page_ids, limit, without)
        seqs = self.articles.seqs(rows).tolist()
        article_of = reader.numbered(seqs)
        topics_of = reader.leading_topics(self.model, seqs, self._n_topics)
        return [
            (article_of[seq], of_it, topics_of.get(seq, []))
            for seq, of_it in zip(seqs, likeness[rows].tolist(), strict=True)
            if seq in article_of
        ]


class Words:
    """The words of all articles of a session.

    Those of another article are compared by the cosine of tf-idf: the square root of a word's
    count, times log((n + 1) / (articles with the word + 1)). For those of a question, `matches` is
    BM25.

    Takes 3 bytes for each different word of each article (5 if the vocabulary has over 65,536
    words): 20 to 30 MB for 100,000 articles of 100 words. `CountsReader.counts_of` says which
    sessions have them.
    """

    def __init__(
        self,
        indptr: NDArray[np.int64],
        ids: NDArray[np.unsignedinteger[Any]],
        roots: NDArray[np.uint8],
        n_words: int,
    ) -> None:
        """``ids`` and ``roots``: those of each article; see `ROOTS`. No article may be empty."""
        self._indptr = indptr
        self._ids = ids
        self._roots = roots
        articles = len(indptr) - 1
        occurrences = np.zeros(n_words, np.int64)
        for start in range(0, len(ids), _ELEMENTS_AT_ONCE):
            some = ids[start : start + _ELEMENTS_AT_ONCE]
            occurrences += np.bincount(some, minlength=n_words)
        # A file of word counts may list a word of an article twice.
        self._occurrences = np.minimum(occurrences, articles)
        self._idf = np.maximum(np.log((articles + 1) / (occurrences + 1)), 0).astype(np.float32)
        """(W,)"""
        squares = _sums(indptr, ids, roots, self._idf**2, power=2)
        lengths = np.sqrt(squares)
        self._scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        """(n,) 1 / the length of an article's vector; 0 for one without length."""
        once = np.full(n_words, 1 / ROOTS**2, np.float32)
        self._lengths = _sums(indptr, ids, roots, once, power=2)
        """(n,) the number of an article's words."""
        self.mean_length = float(self._lengths.mean())

    def __len__(self) -> int:
        return len(self._lengths)

    @staticmethod
    def held(reader: SessionReader, seqs: NDArray[np.int64]) -> "Words | None":
        """The words of the articles with these numbers, which ascend; None if the session does not
        have all of them, or they are too many to be held."""
        n_words = len(reader.vocabulary())
        type_of_id = np.uint16 if n_words <= 2**16 else np.uint32
        numbers = [np.empty(0, np.int64)]
        lengths = [np.empty(0, np.int64)]
        ids: list[NDArray[Any]] = [np.empty(0, type_of_id)]
        roots = [np.empty(0, np.uint8)]
        for of_block, block in reader.counts_of(seqs):
            numbers.append(of_block)
            lengths.append(np.diff(block.indptr))
            ids.append(block.word_ids.astype(type_of_id))
            roots.append(_roots(block.counts))
        stored = np.concatenate(numbers)
        if not len(stored):
            return None
        order = np.argsort(stored, kind="stable")
        places = np.minimum(np.searchsorted(stored, seqs, sorter=order), len(stored) - 1)
        rows = order[places]
        indptr = from_zero(np.concatenate(lengths))
        if (stored[rows] != seqs).any() or not np.diff(indptr)[rows].all():
            return None
        all_ids = np.concatenate(ids)
        all_roots = np.concatenate(roots)
        if not np.array_equal(rows, np.arange(len(stored))):
            indptr, elements = gather(indptr, rows)
            all_ids = all_ids[elements]
            all_roots = all_roots[elements]
        return Words(indptr, all_ids, all_roots, n_words)

    def counted(self, row: int) -> Counted:
        """The words of one article; counts above 16 are not exact."""
        elements = slice(self._indptr[row], self._indptr[row + 1])
        counts = np.rint((self._roots[elements] / ROOTS) ** 2)
        return self._ids[elements].astype(np.int32), counts.astype(np.int32)

    def cosines(self, counted: Counted) -> NDArray[np.float32] | None:
        """(n,) the cosine of each article and these words, from 0 to 1; None if the words say
        nothing, since every article has them."""
        ids, counts = counted
        weights = np.bincount(ids, _roots(counts), len(self._idf)) * self._idf
        length = float(np.sqrt(weights @ weights))
        if not length:
            return None
        of_word = (weights * self._idf / length).astype(np.float32)
        cosines = _sums(self._indptr, self._ids, self._roots, of_word)
        cosines *= self._scale
        return np.minimum(cosines, 1, out=cosines)

    def matches(self, counted: Counted) -> NDArray[np.float32] | None:
        """(n,) how well each article matches these words, from 0 to 1: its score by BM25, as a part
        of that of an article which is just these words, or of the best one, if that has them more
        often. None if there are no words.

        A word that is repeated in the question counts by the square root of how often.
        """
        ids, counts = counted
        n = len(self)
        mean = self.mean_length
        rarity = rarities(self._occurrences[ids], n)
        weights = rarity * np.sqrt(counts)
        best = float(weights @ saturated(counts, float(counts.sum()), mean))
        if not best > 0:
            return None
        weight_of = np.zeros(len(self._idf), np.float32)
        weight_of[ids] = weights / best
        matches = np.zeros(n, np.float32)
        for start in range(0, n, _AT_ONCE):
            stop = min(start + _AT_ONCE, n)
            low = self._indptr[start]
            high = self._indptr[stop]
            of_word = weight_of.take(self._ids[low:high], mode="clip")
            found = np.flatnonzero(of_word)
            rows = np.searchsorted(self._indptr[start : stop + 1] - low, found, side="right") - 1
            counts_there = np.square(self._roots[low + found] / np.float32(ROOTS))
            parts = of_word[found] * saturated(counts_there, self._lengths[start + rows], mean)
            matches[start:stop] = np.bincount(rows, parts, stop - start)
        return matches / max(float(matches.max()), 1)

    def with_words(self, ids: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """(the rows of the articles with any of these words, (their number,) how much they count in
        each)."""
        if len(ids) == 1:
            places = np.flatnonzero(self._ids == ids[0])
        else:
            places = np.flatnonzero(np.isin(self._ids, np.array(ids, self._ids.dtype)))
        all_rows = np.searchsorted(self._indptr, places, side="right") - 1
        counts = np.square(self._roots[places] / np.float32(ROOTS))
        rows, which = np.unique(all_rows, return_inverse=True)
        counted = saturated(np.bincount(which, counts), self._lengths[rows], self.mean_length)
        return rows, counted.astype(np.float32)


def mixed(
    topics: NDArray[np.float32],
    words: NDArray[np.float32] | None,
    part_of_topics: float = PART_OF_TOPICS,
) -> NDArray[np.float32]:
    """(n,) the likeness of topics and that of words together; words None: only that of topics."""
    if words is None:
        return topics
    part = np.float32(part_of_topics)
    together: NDArray[np.float32] = part * topics + (1 - part) * words
    return together


def rarities(documents: NDArray[np.integer[Any]], n: int) -> NDArray[np.float64]:
    """How much words count in BM25 that are in so many of ``n`` documents: above 0."""
    rarities: NDArray[np.float64] = np.log1p((n - documents + 0.5) / (documents + 0.5))
    return rarities


def saturated(counts: NDArray[Any], lengths: Any, mean: float) -> NDArray[Any]:
    """What so many occurrences of a word in documents of these lengths count in BM25, from 0 to 1;
    ``mean``: the mean length of all documents."""
    relative = np.asarray(lengths) / max(mean, 1)
    saturated: NDArray[Any] = counts / (counts + SATURATION * (1 - PENALTY + PENALTY * relative))
    return saturated


def _roots(counts: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """The square roots of counts in steps of 1 / `ROOTS`, at most 255."""
    roots: NDArray[np.float64] = np.rint(np.sqrt(counts) * ROOTS)
    return np.minimum(roots, 255).astype(np.uint8)


def _sums(
    starts: NDArray[np.int64],
    columns: NDArray[np.integer[Any]],
    weights: NDArray[Any],
    of_column: NDArray[np.float32],
    power: int = 1,
) -> NDArray[np.float32]:
    """(n,) for each sparse row the sum over its elements of weight ** power times what
    ``of_column`` has for their columns. No row may be empty."""
    n = len(starts) - 1
    sums = np.empty(n, np.float32)
    for start in range(0, n, _AT_ONCE):
        stop = min(start + _AT_ONCE, n)
        low = starts[start]
        high = starts[stop]
        # Indices are in range, as was checked when they were read; "clip" is numpy's quickest mode.
        products = of_column.take(columns[low:high], mode="clip")
        for _ in range(power):
            products *= weights[low:high]
        np.add.reduceat(products, starts[start:stop] - low, out=sums[start:stop])
    return sums


def not_found(reader: SessionReader, title: str, *, or_file: bool = False) -> SessionError:
    """The error for a title or an id that `row_of` does not find, with the nearest titles.

    ``or_file``: whether the name of a file was allowed too; then there is no such file.
    """
    source = reader.settings().source
    title = title[:_LONGEST_TITLE]
    alike = reader.resembling(title)
    for article in alike:
        if article.title.casefold() != title.casefold():
            continue
        if article.role == "skipped":
            why = "was skipped: its topic proportions are not recorded"
        elif article.role == "held_out" and kind_named(source).own:
            why = "is held out: it gets topic proportions when training ends"
        else:
            why = "was held out, not trained on: its topic proportions are not recorded"
        return SessionError(f"{article.title!r} {why}")
    message = f"no trained {singular(noun(source))} is called {title!r}"
    if or_file:
        message += ", and there is no such file"
    titles = {article.title.casefold(): article.title for article in alike if article.topics}
    near = difflib.get_close_matches(title.casefold(), titles, n=3)
    if near:
        message += f"; did you mean {' or '.join(repr(titles[folded]) for folded in near)}?"
    return SessionError(message)


def nearest_pages(
    distances: NDArray[np.float32],
    page_ids: NDArray[np.int64],
    limit: int,
    without: int | None,
) -> NDArray[np.intp]:
    """The rows of the ``limit`` nearest pages, each page once, the nearest first."""
    n_tried = limit + 1
    while True:
        n_tried = min(2 * n_tried, len(distances))
        rows = np.argpartition(distances, n_tried - 1)[:n_tried]
        nearest_first = np.lexsort((-rows, distances[rows]))  # of equally near ones, the newest
        rows = rows[nearest_first]
        _, first_of_page = np.unique(page_ids[rows], return_index=True)
        rows = rows[np.sort(first_of_page)]
        if without is not None:
            rows = rows[page_ids[rows] != without]
        if len(rows) >= limit or n_tried == len(distances):
            return rows[:limit]
