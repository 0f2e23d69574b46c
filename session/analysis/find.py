"""What words find: the topics that they speak for, and the documents that have them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.extra import REPORT
from wikitopics.model.online import IN_USE, OnlineModel
from wikitopics.session.advance import Advance, unseen
from wikitopics.session.analysis.inference import saved_model, theta_of
from wikitopics.session.analysis.similar import (
    Recorded,
    mixed,
    nearest_pages,
    rarities,
    saturated,
)
from wikitopics.session.analysis.sought import Sought, Unit
from wikitopics.session.analysis.text_words import LONGEST_TITLE, ReadTexts, TextIndex, TextWords
from wikitopics.session.errors import SessionError, errors_of
from wikitopics.session.records import SHOWN_WORDS, ArticleRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import called, in_line
from wikitopics.visible import visible

TELLING = 1.5
"""A word speaks for a topic in which it is at least so many times as probable as on average. One
that speaks for no topic tells none apart, and is left out."""
AVERAGE = 0.3
"""The part of a topic that counts as if it had the words of the average topic, so that one word
that a topic never has does not rule it out."""
PART_OF_TOPICS = 0.2
"""The weight of the likeness of topics beside that of words, in the score of a document."""
_EXACT = 2
"""What is added to the score, for the order, of a document whose title is exactly what is sought;
half of it if the title has all the words, and a quarter if it has the text within a word."""


@dataclass(frozen=True, slots=True, repr=False)
class FoundTopic:
    """A topic for which words speak."""

    number: int
    name: str
    times: float
    """How many times as probable the words are in it as on average: their geometric mean, where
    one that the topic lacks counts as 0.3."""
    words: tuple[str, ...]
    """Those that speak for it, the strongest first, as the vocabulary has them."""
    share: float
    """Its share of the words of the corpus."""
    shown: tuple[str, ...]
    """Ten words of the topic, in the order in which they are shown."""

    def __repr__(self) -> str:
        words = in_line(self.words)
        return f"<Topic {self.number} {self.name!r}, {self.times:.1f} times as probable: {words}>"


@dataclass(frozen=True, slots=True, repr=False)
class FoundDocument:
    """A document found by words."""

    page_id: int
    title: str
    score: float
    """From 0 to 1: how well it matches the words, and their topics. Documents with all words in
    their titles come first, whatever their score."""
    words: tuple[str, ...]
    """The words sought that it has; none if only its topics match."""
    topic: int | None
    """Its largest topic; None if it has none."""
    id: str | None = None
    """Its id in its own collection; None: the source has no ids."""
    snippet: str | None = None
    """Its beginning; None if that is not kept."""

    def __repr__(self) -> str:
        words = in_line(self.words) or "its topics alone"
        return f"<{called(self.title, self.snippet)!r}, {self.score:.2f}: {words}>"


class Match(NamedTuple):
    """A document found."""

    article: ArticleRow
    score: float
    words: tuple[str, ...]
    """Those that it has."""


class Finder:
    """Answers to words about a session at one commit, as one of its models sees it."""

    def __init__(
        self,
        reader: SessionReader,
        model: str,
        recorded: Recorded | None,
        saved: OnlineModel | None = None,
        index: TextIndex | None = None,
        advance: Advance = unseen,
    ) -> None:
        """``recorded``: the articles with their topics and words; None if no proportions are
        recorded. ``saved``: the model at the last commit, if it is loaded. ``index``: that of
        the same file's texts, as far as they were read before. ``advance``: is told how many are
        read."""
        progress = reader.progress()
        self._committed_at = progress.committed_at
        self.model = model
        self._recorded = recorded
        self._advance = advance
        if saved is None and progress.articles:
            saved = saved_model(reader, model)
        self._model = saved
        """None before the first minibatch."""
        self._vocabulary = reader.counter()
        self.index = TextIndex(TextWords(self._vocabulary.rule)) if index is None else index

    def still_holds(self, reader: SessionReader, model: str) -> bool:
        """Whether this is of that model, and nothing has been committed since."""
        return self.model == model and self._committed_at == reader.progress().committed_at

    def lack(self, reader: SessionReader) -> str:
        """What is not searched, since the documents have too many words, for people; "" if all
        that the session has is searched."""
        texts = self.index.texts
        n = len(texts)
        if texts.n_searched < n:
            return f"only the first {texts.n_searched:,} of {n:,} beginnings are searched"
        has_counts = reader.settings().keeps_counts
        if has_counts and self._recorded is not None and self._recorded.words is None:
            return "only titles and beginnings are searched: the texts have too many words"
        return ""

    def sought(self, text: str) -> Sought:
        return Sought(text, self._vocabulary)

    def topics(self, reader: SessionReader, sought: Sought, limit: int) -> list[FoundTopic]:
        """The topics for which the words speak, the strongest first.

        A topic counts by the mean over the words of log(0.3 + 0.7 p(w|k) / p(w)), where p(w) is the
        mean over all topics by their shares. A word of its given name counts as if no other topic
        had it. Hidden topics, and those that are not in use, are left out.
        """
        rows = reader.topics(self.model)
        if self._model is None or not rows:
            return []
        groups = sought.groups
        names = reader.names_given(self.model)
        words_in = {topic: set(sought.text_words.keys(given)) for topic, given in names.items()}
        with errors_of(f"the model of kind {self._model.kind}", ""):
            shares = self._model.topic_shares()
            lifts = _lifts(self._model, shares, groups)  # (words, K)
        for number, (unit, _) in enumerate(groups):
            for topic, in_name in words_in.items():
                if unit.keys and in_name.issuperset(unit.keys):
                    lifts[number, topic] = 1 / max(shares[topic], IN_USE)
        listed = [row for row in rows if row.share > IN_USE and not row.hidden]
        numbers = [row.topic for row in listed]
        telling = lifts[:, numbers].max(axis=1, initial=0) >= TELLING
        if not telling.any():
            return []
        means = np.log(AVERAGE + (1 - AVERAGE) * lifts[telling]).mean(axis=0)
        found = []
        for row in listed:
            strongest_first = np.argsort(-lifts[:, row.topic], kind="stable").tolist()
            words = [groups[g][0].word for g in strongest_first if lifts[g, row.topic] >= TELLING]
            if words and means[row.topic] > 0:
                found.append(
                    FoundTopic(
                        number=row.topic,
                        name=row.name,
                        times=float(np.exp(means[row.topic])),
                        words=tuple(words),
                        share=row.share,
                        shown=tuple(word for word, _ in row.shown[:SHOWN_WORDS]),
                    )
                )
        found.sort(key=lambda topic: -topic.times)
        return found[:limit]

    def documents(self, reader: SessionReader, sought: Sought, limit: int) -> list[Match]:
        """The documents that the words find, the best first, each page once.

        The score is `PART_OF_TOPICS` times the likeness of topics, and for the rest that of words
        by BM25, as a part of the most that it can be. Words are looked up in word counts, if the
        session has those of all articles, and in titles and snippets; one in the title counts as
        if the document had no other. A title which is exactly what is sought comes first, then
        those with all the words; one of which it is a part goes before documents that match by
        half.
        """
        if not sought.text:
            return []
        texts = self.index.read(reader, self._advance)
        n = len(texts)
        if not n:
            return []
        by_word, has_word, in_title = self._words(texts, sought)
        likeness = self._likeness(n, sought)
        scores = by_word if likeness is None else mixed(likeness, by_word, PART_OF_TOPICS)
        exact, whole, part = texts.titled(sought.text)
        order = scores.copy()
        all_in_title = in_title.copy()
        all_in_title[whole] = True
        order[part] += _EXACT / 4
        order[all_in_title] += _EXACT / 2
        order[exact] += _EXACT
        rows = nearest_pages(-order, texts.page_ids, min(limit, n), None)
        rows = rows[order[rows] > 0]
        seqs = texts.seqs[rows].tolist()
        article_of = reader.numbered(seqs)
        found = []
        for row, seq in zip(rows.tolist(), seqs, strict=True):
            if seq in article_of:  # it may have been dropped since
                words = [
                    unit.word
                    for (unit, _), has in zip(sought.groups, has_word, strict=True)
                    if has[row]
                ]
                score = min(float(scores[row]), 1.0)
                found.append(Match(article_of[seq], score, tuple(words)))
        return found

    def _words(
        self, texts: ReadTexts, sought: Sought
    ) -> tuple[NDArray[np.float32], list[NDArray[np.bool_]], NDArray[np.bool_]]:
        """((n,) how well each document matches the words, from 0 to 1; for each word (n,) which
        documents have it; (n,) whether the title has all of them)."""
        n = len(texts)
        held = None if self._recorded is None else self._recorded.words
        lengths = texts.lengths
        mean = float(lengths.mean())
        scores = np.zeros(n, np.float32)
        has_word = []
        in_title = np.full(n, bool(sought.groups))
        best = 0.0
        for unit, ids in sought.groups:
            counted = np.zeros(n, np.float32)
            rows, counts, titled = texts.with_words(unit.keys)
            counted[rows] = saturated(counts, lengths[rows], mean)
            if held is not None and ids:
                held_rows, held_counted = held.with_words(ids)
                rows = self._rows_of_recorded[held_rows]
                counted[rows] = np.maximum(counted[rows], held_counted)
            counted[titled] = 1  # as if the document had no other word
            has = counted > 0
            title_has = np.zeros(n, np.bool_)
            title_has[titled] = True
            in_title &= title_has
            (rarity,) = rarities(np.array([np.count_nonzero(has)]), n)
            scores += np.float32(rarity) * counted
            best += rarity
            has_word.append(has)
        if best > 0:
            scores /= np.float32(best)
        return scores, has_word, in_title

    @cached_property
    def _rows_of_recorded(self) -> NDArray[np.intp]:
        """The rows of the recorded articles, which are the same in all texts read after them."""
        assert self._recorded is not None
        recorded = self._recorded
        seqs = recorded.articles.seqs(np.arange(len(recorded)))
        texts = self.index.texts
        places = np.searchsorted(texts.seqs, seqs)
        return np.minimum(places, len(texts) - 1)

    def _likeness(self, n: int, sought: Sought) -> NDArray[np.float32] | None:
        """(n,) how much the topics of each document are those of the words; None if that cannot be
        said."""
        ids, _ = sought.counted
        if self._recorded is None or self._model is None or not len(ids):
            return None
        (theta,) = theta_of(self._model, [sought.counted])
        likeness = np.zeros(n, np.float32)
        likeness[self._rows_of_recorded] = self._recorded.likeness(theta)
        return likeness


def _lifts(
    model: OnlineModel,
    shares: NDArray[np.float64],
    groups: Sequence[tuple[Unit, Sequence[int]]],
) -> NDArray[np.float64]:
    """(words, K) how many times as probable each group of words is in each topic as on average; 1
    for a group without words."""
    ids = [id for _, of_group in groups for id in of_group]
    lifts = np.ones((len(groups), len(shares)))
    if not ids:
        return lifts
    rows = model.topic_rows(np.array(ids, np.int32)).astype(np.float64)
    start = 0
    for number, (_, of_group) in enumerate(groups):
        stop = start + len(of_group)
        if of_group:
            probabilities = rows[start:stop].sum(axis=0)
            average = max(float(probabilities @ shares), np.finfo(np.float64).tiny)
            lifts[number] = probabilities / average
        start = stop
    return np.nan_to_num(lifts, nan=1.0, posinf=1.0)


def has_proportions(reader: SessionReader) -> bool:
    """Whether proportions are recorded of any article."""
    try:
        reader.check_proportions()
    except SessionError:
        return False
    return True


@dataclass(frozen=True, repr=False)
class Found:
    """What some words find in a session."""

    sought: Sought = field(repr=False)
    topics: list[FoundTopic]
    documents: list[FoundDocument]
    suggestion: str = ""
    """What may have been meant, if nothing was found."""
    lack: str = ""
    """What was not searched, since the documents have too many words; "" for nothing."""

    @property
    def words(self) -> str:
        """What was sought."""
        return self.sought.text

    def counted(self) -> str:
        """How many were found, for people."""
        n_topics = len(self.topics)
        n_documents = len(self.documents)
        topics = "1 topic" if n_topics == 1 else f"{n_topics:,} topics"
        documents = "1 document" if n_documents == 1 else f"{n_documents:,} documents"
        hint = f"; {self.suggestion}" if self.suggestion else ""
        lack = f"; {self.lack}" if self.lack else ""
        return f"{topics} and {documents} for {self.words!r}{hint}{lack}"

    def __repr__(self) -> str:
        found: list[FoundTopic | FoundDocument] = [*self.topics, *self.documents]
        lines = [f"<{self.counted()}>", *(f"  {one!r}" for one in found)]
        return "\n".join(map(visible, lines))

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report import page

        topics = [(one.number, one.name, one.times, one.shown) for one in self.topics]
        documents = [(one.score, one.title, one.snippet or "") for one in self.documents]
        return page.framed(page.found(self.counted(), topics, documents, self.sought.spans))


def found_once(reader: SessionReader, model: str, text: str, limit: int, advance: Advance) -> Found:
    """What `find` returns, where nothing else will be sought: no other words are held.

    ``advance``: is told how many articles and texts have been read.
    """
    recorded = Recorded(reader, model, advance) if has_proportions(reader) else None
    vocabulary = reader.counter()
    keys = [unit.keys for unit, _ in Sought(text, vocabulary).groups]
    index = TextIndex(TextWords(vocabulary.rule), only=keys)
    index.read(reader, advance)
    return find(Finder(reader, model, recorded, index=index), reader, text, limit)


def find(finder: Finder, reader: SessionReader, text: str, limit: int) -> Found:
    """The topics and the documents that words find, at most so many of each, and what may have
    been meant if there are none."""
    sought = finder.sought(text)
    topics = finder.topics(reader, sought, limit)
    documents = []
    for article, score, words in finder.documents(reader, sought, limit):
        topic, _ = article.largest_of(finder.model) or (None, None)
        documents.append(
            FoundDocument(
                page_id=article.page_id,
                title=article.title,
                score=score,
                words=words,
                topic=topic,
                id=article.id,
                snippet=article.snippet,
            )
        )
    suggestion = ""
    if not topics and not documents:
        alike = reader.resembling(sought.text[:LONGEST_TITLE]) if sought.text else []
        suggestion = sought.suggestion([article.title for article in alike])
    return Found(sought, topics, documents, suggestion, finder.lack(reader))
