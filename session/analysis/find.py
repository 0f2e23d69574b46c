"""What words find: the topics that they speak for, and the documents that have them."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.extra import REPORT
from wikitopics.model.naming import first_forms
from wikitopics.model.online import IN_USE, OnlineModel
from wikitopics.session.analysis.inference import saved_model, theta_of, words_of
from wikitopics.session.analysis.similar import (
    Recorded,
    mixed,
    nearest_pages,
    rarities,
    saturated,
)
from wikitopics.session.errors import SessionError, errors_of
from wikitopics.session.records import SHOWN_WORDS, ArticleRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import in_line
from wikitopics.visible import visible
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import BY_DICTIONARY, Rule
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS

MOST_CHARACTERS = 1000
"""What is sought is cut to so many characters: `similar` is for texts."""
MOST_WORDS = 32
"""The most different words that are sought."""
TELLING = 1.5
"""A word speaks for a topic in which it is at least so many times as probable as on average. One
that speaks for no topic tells none apart, and is left out."""
AVERAGE = 0.3
"""The part of a topic that counts as if it had the words of the average topic, so that one word
that a topic never has does not rule it out."""
PART_OF_TOPICS = 0.2
"""The weight of the likeness of topics beside that of words, in the score of a document."""
SHORTEST_START = 3
"""The least letters of a part of a word that finds words of the vocabulary beginning with it."""
MOST_ALIKE = 50
"""The most words of the vocabulary that stand for one that it does not have."""
LONGEST_TITLE = 255
"""The characters of a title that are searched."""
MOST_TITLES = 2_000
"""The most titles that are found by a part of them, the newest."""
MOST_HELD = 2**26
"""The most words of titles and snippets that are held, at 4 bytes each: those of a million
documents with snippets of 300 characters are 50 million. Of any further documents, only the titles
are found, by parts of them."""
SUGGESTED = 3
"""The most words that are suggested where nothing is found."""
SHORT = frozenset(["a", "i", "s", "t"])
"""Stop words that are too short to be listed among those that vocabularies leave out."""
_EXACT = 2
"""How far a document goes before others whose title is exactly what is sought; one whose title has
all the words goes half as far, and one of whose title it is a part of a word, half as far again."""
_RUNS = re.compile(r"[^\s!-/:-@\[-`{-~\u00a0-\u00bf\u2000-\u207f\u3000-\u303f]+")
"""Words of a title or a snippet, as `TextWords` tells them apart."""

Span = tuple[int, int]
"""Where a part of a text begins and ends."""


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
        return f"<{self.title!r}, {self.score:.2f}: {words}>"


class Unit(NamedTuple):
    """A word that is sought, or a phrase of the vocabulary."""

    word: str
    id: int | None
    """Its number in the vocabulary; None: it has none."""
    keys: tuple[int, ...]
    """What follows each other in a title or a snippet with this word: see `TextWords.keys`."""


def is_short(text: str, n_words: int) -> bool:
    """Whether a text of so many words may be looked for in titles."""
    return len(text) <= MOST_CHARACTERS and n_words <= MOST_WORDS


class TextWords:
    """How the words of titles and snippets are told apart: runs of letters and digits, without
    capitals. For a million texts, the rules of vocabularies would take minutes.

    Where a dictionary separates the words of a vocabulary, each character is one. What is sought
    are then characters that follow each other.
    """

    def __init__(self, rule: Rule) -> None:
        self.of_characters = rule.number == BY_DICTIONARY
        is_english = rule.number == 1 or rule.language == "en"
        self.stop_words: Collection[str] = ENGLISH_STOP_WORDS | SHORT if is_english else ()

    def of(self, text: str) -> list[str]:
        """The words of a text, in order."""
        data = folded(text)
        starts, ends = self._edges(np.frombuffer(data, np.uint8))
        edges = zip(starts.tolist(), ends.tolist(), strict=True)
        return [data[start:end].decode("utf-8", "replace") for start, end in edges]

    def keys(self, text: str) -> tuple[int, ...]:
        """A number for each word of a text, in order."""
        keys, _ = self.keys_of_lines(folded(text))
        return tuple(keys.tolist())

    def keys_of_lines(self, lines: bytes) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        """(a number for each word, the number of words before the end of each line) of folded
        texts, one a line. Two different words hardly ever have the same number."""
        codes = np.frombuffer(lines, np.uint8)
        starts, ends = self._edges(codes)
        # The first and the last eight bytes of a word, and its length, make its number.
        padded = np.frombuffer(lines + bytes(_EIGHT), np.uint8)
        eights = np.ndarray(len(codes), "<u8", padded, strides=(1,))
        lengths = ends - starts
        numbers = eights[starts] & _MASKS[np.minimum(lengths, _EIGHT)]
        is_long = lengths > _EIGHT
        numbers[is_long] += eights[ends[is_long] - _EIGHT] * _FACTORS[0]
        numbers += lengths.astype(np.uint64) * _FACTORS[1]
        numbers ^= numbers >> np.uint64(29)
        numbers *= _FACTORS[2]
        keys = (numbers >> np.uint64(32)).astype(np.uint32)
        ends_of_lines = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
        return keys, np.searchsorted(starts, ends_of_lines)

    def _edges(self, codes: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where each word begins and ends in UTF-8."""
        in_word = np.zeros(len(codes) + 1, np.bool_)  # the last one ends the last word
        in_word[:-1] = _IN_WORDS[codes]
        for first, second in _SEPARATING:
            places = np.flatnonzero(codes[:-1] == first)
            places = places[np.isin(codes[places + 1], second)]
            in_word[places] = False
            in_word[places + 1] = False
            if first >= _OF_THREE:
                in_word[np.minimum(places + 2, len(codes))] = False
        after_word = np.zeros_like(in_word)
        after_word[1:] = in_word[:-1]
        begins = in_word & ~after_word
        if self.of_characters:
            begins[:-1] |= in_word[:-1] & (codes >= _LEADING)
        starts = np.flatnonzero(begins)
        ends = np.flatnonzero(after_word & (~in_word | begins))
        return starts, ends


_IN_WORDS = np.array([byte >= 0x80 or chr(byte).isalnum() for byte in range(256)])
"""Whether a byte of UTF-8 belongs to a word; of those beyond ASCII, `_SEPARATING` do not."""
_SEPARATING = (
    (0xC2, range(0xA0, 0xC0)),
    (0xE2, range(0x80, 0x82)),
    (0xE3, range(0x80, 0x81)),
)
"""The first two bytes of punctuation beyond ASCII: of U+00A0 to 00BF, U+2000 to 207F and U+3000 to
303F."""
_OF_THREE = 0xE0
"""The least first byte of a character of three bytes."""
_LEADING = 0xC0
"""The least first byte of a character beyond ASCII."""
_EIGHT = 8
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_EIGHT + 1)], np.uint64)
"""What leaves so many of eight bytes."""
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93], np.uint64)
"""Any large odd numbers."""


def in_one_line(title: str) -> str:
    """As much of a title as is searched, or of a part of one."""
    return " ".join(title[:LONGEST_TITLE].split())


def folded(text: str) -> bytes:
    """A text without capitals, composed; it has no more ends of lines than before."""
    text = text.casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text.encode("utf-8", "replace")


class Sought:
    """Words as somebody typed them: what is sought for them in topics, texts and titles.

    Raises `BadUsage` if nothing here separates the words of the vocabulary's language.
    """

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = " ".join(text.split())[:MOST_CHARACTERS]
        self._vocabulary = vocabulary
        self.text_words = TextWords(vocabulary.rule)
        (self.counted,) = words_of(vocabulary, [self.text])
        """Those words that the vocabulary has, and how often each is in the text."""

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The different words, in order: first those that the vocabulary has."""
        keys = self.text_words.keys
        ids, _ = self.counted
        id_of = {self._vocabulary.words[id]: id for id in ids.tolist()}
        known = [word for word in dict.fromkeys(self._vocabulary.split(self.text)) if word in id_of]
        units = [Unit(word, id_of[word], keys(word)) for word in known]
        covered = {key for unit in units for key in unit.keys}
        if self.text_words.of_characters:
            others = self.text.split()
        else:
            others = list(dict.fromkeys(self.text_words.of(self.text)))
        telling = [word for word in others if word not in self.text_words.stop_words]
        if not telling and not units:
            telling = others
        for word in telling:
            its_keys = keys(word)
            if not covered.issuperset(its_keys):
                units.append(Unit(word, None, its_keys))
        return tuple(units[:MOST_WORDS])

    def spans(self, text: str) -> list[Span]:
        """Where the words are in a title or a snippet, in order: to mark them."""
        found = [match.span() for match in self._whole.finditer(text)]
        if self.text_words.of_characters:
            for unit in self.units:
                pattern = re.compile(re.escape(unit.word), re.IGNORECASE)
                found += [match.span() for match in pattern.finditer(text)]
        else:
            words = {word for unit in self.units for word in self.text_words.of(unit.word)}
            for run in _RUNS.finditer(text):
                if folded(run[0]).decode() in words:
                    found.append(run.span())
        return _joined(found)

    def excerpt(self, text: str, most: int) -> str:
        """The part of a snippet around the first of the words, in at most so many characters."""
        spans = self.spans(text)
        start = 0
        if spans and spans[0][1] > most:
            first, _ = spans[0]
            start = text.rfind(" ", 0, max(first - most // 4, 1)) + 1
        before = "…" if start else ""
        after = "…" if len(text) - start > most else ""
        return f"{before}{text[start : start + most - len(before) - len(after)]}{after}"

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        """All that is sought, as a part of a title."""
        return re.compile(re.escape(self.text) if len(self.text) > 1 else "(?!)", re.IGNORECASE)

    @cached_property
    def groups(self) -> tuple[tuple[Unit, list[int]], ...]:
        """Each word with those of the vocabulary that stand for it: itself, or, if the vocabulary
        does not have it, its other forms and the words that begin with it. In a session of links,
        the titles that have it."""
        words = self._vocabulary.words
        if self._vocabulary.rule.of_titles:
            folded = [title.casefold() for title in words]
            whole = Unit(self.text, None, self.text_words.keys(self.text))
            sought = self.text.casefold()
            ids = [id for id, title in enumerate(folded) if sought in title] if sought else []
            return ((whole, ids[:MOST_ALIKE]),)
        groups = []
        for unit in self.units:
            if unit.id is not None:
                ids = [unit.id]
            else:
                alike = [id for id, word in enumerate(words) if _stands_for(word, unit.word)]
                ids = alike[:MOST_ALIKE]
            groups.append((unit, ids))
        return tuple(groups)

    def suggestion(self, titles: Sequence[str] = ()) -> str:
        """What may have been meant, for people: "did you mean 'engine'?"; "" for no idea."""
        of_titles = [title.casefold() for title in titles]
        known = [*self._vocabulary.words, *of_titles, *" ".join(of_titles).split()]
        for word in [self.text.casefold(), *(unit.word for unit in self.units)]:
            near = difflib.get_close_matches(word, known, n=SUGGESTED, cutoff=0.75)
            if near:
                return f"did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?"
        return ""


def _stands_for(word: str, sought: str) -> bool:
    """Whether a word of the vocabulary may be meant by one that it does not have."""
    if len(sought) < SHORTEST_START:
        return False
    return word.startswith(sought) or len(first_forms([word, sought])) == 1


def _joined(spans: Sequence[Span]) -> list[Span]:
    """The spans in order, those that overlap as one."""
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and start <= joined[-1][1]:
            before, end = joined.pop()
            joined.append((before, max(end, stop)))
        elif start < stop:
            joined.append((start, stop))
    return joined


class Texts:
    """The titles and snippets of all articles of a session, for repeated questions.

    Takes 4 bytes for each word of them, 21 for each article, and the titles once more: 60 MB for
    a million articles of which only titles are kept, and 250 MB with snippets.
    """

    def __init__(self, text_words: TextWords) -> None:
        self._words = text_words
        self.seqs = np.empty(0, np.int64)
        """(n,) the articles, in the order of the stream."""
        self.page_ids = np.empty(0, np.int64)
        self._titles = b""
        """The titles, without capitals, each with the end of its line."""
        self._title_starts = np.empty(0, np.int64)
        self._keys = np.empty(0, np.uint32)
        """A hash of each word of each article: those of its title before those of its snippet."""
        self._starts = np.zeros(1, np.int64)
        """(n + 1,) the place of each article's first word."""
        self._title_ends = np.empty(0, np.int64)
        """(n,) the place after the last word of each title."""

    def __len__(self) -> int:
        return len(self.seqs)

    def read(self, reader: SessionReader) -> None:
        """Read the articles that are new since the last call."""
        last = int(self.seqs[-1]) if len(self) else 0
        all_seqs = [self.seqs]
        all_page_ids = [self.page_ids]
        all_titles = [self._titles]
        title_starts = [self._title_starts]
        keys = [self._keys]
        starts = [self._starts]
        title_ends = [self._title_ends]
        n_bytes = len(self._titles)
        n_words = len(self._keys)
        for seqs, page_ids, titles in reader.titles_after(last):
            snippets = reader.snippets(seqs)
            lines: list[bytes] = []
            for seq, title in zip(seqs, titles, strict=True):
                lines.append(folded(in_one_line(title)))
                lines.append(folded(snippets[seq]) if seq in snippets else b"")
            of_batch, ends = self._words.keys_of_lines(b"\n".join(lines))
            if n_words + len(of_batch) > MOST_HELD:
                of_batch = of_batch[:0]
                ends = np.zeros_like(ends)
            keys.append(of_batch)
            title_ends.append(n_words + ends[::2])
            starts.append(n_words + ends[1::2])
            n_words += len(of_batch)
            lengths = np.fromiter(map(len, lines[::2]), np.int64, len(titles)) + 1
            title_starts.append(n_bytes + np.cumsum(lengths) - lengths)
            n_bytes += int(lengths.sum())
            all_titles.append(b"\n".join([*lines[::2], b""]))
            all_seqs.append(np.array(seqs, np.int64))
            all_page_ids.append(np.array(page_ids, np.int64))
        if len(all_seqs) > 1:
            self.seqs = np.concatenate(all_seqs)
            self.page_ids = np.concatenate(all_page_ids)
            self._titles = b"".join(all_titles)
            self._title_starts = np.concatenate(title_starts)
            self._keys = np.concatenate(keys)
            self._starts = np.concatenate(starts)
            self._title_ends = np.concatenate(title_ends)

    @cached_property
    def _no_rows(self) -> NDArray[np.intp]:
        return np.empty(0, np.intp)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) the number of words of each title and snippet together."""
        return np.diff(self._starts)

    def with_words(
        self, sought: Sequence[int]
    ) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.intp]]:
        """(the rows of the articles in which these words follow each other, by their keys; how
        often they do; the rows of those in whose title they do)."""
        last = len(self._keys) - len(sought) + 1
        if not sought or last < 1:
            return self._no_rows, np.empty(0, np.int64), self._no_rows
        places = np.flatnonzero(self._keys[:last] == sought[0])
        for by, key in enumerate(sought[1:], start=1):
            places = places[self._keys[places + by] == key]
        ends = places + len(sought)
        rows = np.searchsorted(self._starts, places, side="right") - 1
        is_inside = ends <= self._starts[rows + 1]
        in_title = ends <= self._title_ends[rows]
        found, counts = np.unique(rows[is_inside], return_counts=True)
        return found, counts, np.unique(rows[in_title])

    def titled(self, text: str) -> tuple[list[int], list[int], list[int]]:
        """The newest rows with this text in the title: (all of the title, whole words, a part)."""
        sought = folded(in_one_line(text))
        exact: list[int] = []
        whole: list[int] = []
        part: list[int] = []
        pattern = re.compile(rf"(?<!\w){re.escape(sought.decode())}(?!\w)")
        end = len(self._titles)
        for _ in range(MOST_TITLES):
            place = self._titles.rfind(sought, 0, end) if sought else -1
            if place < 0:
                break
            row = int(np.searchsorted(self._title_starts, place, side="right")) - 1
            start = int(self._title_starts[row])
            title = self._titles[start : self._titles.index(b"\n", start)]
            if title == sought:
                exact.append(row)
            elif pattern.search(title.decode("utf-8", "replace")):
                whole.append(row)
            else:
                part.append(row)
            end = start
        return exact, whole, part


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
        texts: Texts | None = None,
    ) -> None:
        """``recorded``: the articles with their topics and words; None if no proportions are
        recorded. ``saved``: the model at the last commit, if it is loaded. ``texts``: those of the
        same file, as far as they were read before."""
        progress = reader.progress()
        self.committed_at = progress.committed_at
        self.model_name = model
        self._recorded = recorded
        if saved is None and progress.articles:
            saved = saved_model(reader, model)
        self._model = saved
        """None before the first minibatch."""
        self._vocabulary = reader.counter()
        self.texts = Texts(TextWords(self._vocabulary.rule)) if texts is None else texts

    def sought(self, text: str) -> Sought:
        return Sought(text, self._vocabulary)

    def topics(self, reader: SessionReader, sought: Sought, limit: int) -> list[FoundTopic]:
        """The topics for which the words speak, the strongest first.

        A topic counts by the mean over the words of log(0.3 + 0.7 p(w|k) / p(w)), where p(w) is the
        mean over all topics by their shares. A word of its given name counts as if no other topic
        had it. Hidden topics, and those that are not in use, are left out.
        """
        rows = reader.topics(self.model_name)
        if self._model is None or not rows:
            return []
        groups = sought.groups
        names = reader.names_given(self.model_name)
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
        session has those of all articles, and in titles and snippets. A title which is exactly what
        is sought comes first, then those with all the words; one of which it is a part goes before
        documents that match by half.
        """
        if not sought.text:
            return []
        texts = self.texts
        texts.read(reader)
        n = len(texts)
        if not n:
            return []
        by_word, has_word, in_title = self._words(sought)
        likeness = self._likeness(sought)
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
        self, sought: Sought
    ) -> tuple[NDArray[np.float32], list[NDArray[np.bool_]], NDArray[np.bool_]]:
        """((n,) how well each document matches the words, from 0 to 1; for each word (n,) which
        documents have it; (n,) whether the title has all of them)."""
        texts = self.texts
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
        """The rows in `texts` of the recorded articles."""
        assert self._recorded is not None
        recorded = self._recorded
        seqs = recorded.articles.seqs(np.arange(len(recorded)))
        places = np.searchsorted(self.texts.seqs, seqs)
        return np.minimum(places, len(self.texts) - 1)

    def _likeness(self, sought: Sought) -> NDArray[np.float32] | None:
        """(n,) how much the topics of each document are those of the words; None if that cannot be
        said."""
        ids, _ = sought.counted
        if self._recorded is None or self._model is None or not len(ids):
            return None
        (theta,) = theta_of(self._model, [sought.counted])
        likeness = np.zeros(len(self.texts), np.float32)
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
        return f"{topics} and {documents} by {self.words!r}{hint}"

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


def finder_of(reader: SessionReader, model: str) -> Finder:
    """What answers to words about a session, newly read."""
    recorded = Recorded(reader, model) if has_proportions(reader) else None
    return Finder(reader, model, recorded)


def find(finder: Finder, reader: SessionReader, text: str, limit: int) -> Found:
    """The topics and the documents that words find, at most so many of each, and what may have
    been meant if there are none."""
    sought = finder.sought(text)
    topics = finder.topics(reader, sought, limit)
    matches = finder.documents(reader, sought, limit)
    snippets = reader.snippets([match.article.seq for match in matches])
    documents = []
    for article, score, words in matches:
        largest = {name: topic for name, topic, _ in article.topics}
        documents.append(
            FoundDocument(
                page_id=article.page_id,
                title=article.title,
                score=score,
                words=words,
                topic=largest.get(finder.model_name),
                id=article.id,
                snippet=snippets.get(article.seq),
            )
        )
    suggestion = ""
    if not topics and not documents:
        alike = reader.resembling(sought.text[:LONGEST_TITLE]) if sought.text else []
        suggestion = sought.suggestion([article.title for article in alike])
    return Found(sought, topics, documents, suggestion)
