"""The words of titles and snippets: how they are told apart, and which articles have them."""

import re
import threading
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.advance import Advance, unseen
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab.rules import BY_DICTIONARY, Rule
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS

LONGEST_TITLE = 255
"""The characters of a title that are searched."""
MOST_TITLES = 2_000
"""The most titles that are found by a part of them, the newest."""
MOST_HELD = 2**29
"""The most words of titles and snippets that are held, at 4 bytes each: those of a million
documents with snippets of 300 characters are 50 million. Of any further documents, only the titles
are found, by parts of them."""
TEXTS_READ = "titles and beginnings of texts read"
"""What is counted while texts are read."""
SHORT = frozenset(["a", "i", "s", "t"])
"""Stop words that are too short to be listed among those that vocabularies leave out."""
_NO_PUNCTUATION = r"[^\x00-/:-@\[-`{-\x7f\s\u00a0-\u00bf\u2000-\u207f\u3000-\u303f]"
WORD = re.compile(f"{_NO_PUNCTUATION}+")
"""A word of a title or a snippet: a run of letters and digits, and of whatever else is no
punctuation."""
_CHARACTER = re.compile(f"{_NO_PUNCTUATION}[0-9a-z]*")
"""A word where each character beyond ASCII is one."""
_PUNCTUATION_ENDS = 0x3040
"""No character from here on separates words."""
_IN_WORDS = np.array([bool(WORD.fullmatch(chr(code))) for code in range(_PUNCTUATION_ENDS + 1)])
"""For each character whether it belongs to a word; the last one stands for all that follow."""


class TextWords:
    """How the words of titles and snippets are told apart: by `WORD`, without capitals. For a
    million texts, the rules of vocabularies would take minutes.

    Where a dictionary separates the words of a vocabulary, each character is one. What is sought
    are then characters that follow each other.
    """

    def __init__(self, rule: Rule) -> None:
        self.of_characters = rule.number == BY_DICTIONARY
        self._word = _CHARACTER if self.of_characters else WORD
        is_english = rule.number == 1 or rule.language == "en"
        self.stop_words: Collection[str] = ENGLISH_STOP_WORDS | SHORT if is_english else ()

    def of(self, text: str) -> list[str]:
        """The words of a text, in order."""
        return self._word.findall(folded(text))

    def keys(self, text: str) -> tuple[int, ...]:
        """A number for each word of a text, in order."""
        keys, _ = self.keys_of_lines(folded(text))
        return tuple(keys.tolist())

    def keys_of_lines(self, lines: str) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """(a number for each word, the number of words before the end of each line) of folded
        texts, one a line. Two different words hardly ever have the same number.

        Numbers are made of all texts at once: to find each word and take its hash in Python took
        ten times as long, 15 s for a million snippets.
        """
        from wikitopics.session.analysis.word_kernels import number_words

        codes = np.frombuffer(lines.encode("utf-32-le"), "<u4")
        keys = np.empty(len(codes), np.uint32)
        words_before = np.empty(lines.count("\n") + 1, np.int64)
        n = number_words(codes, _IN_WORDS, self.of_characters, keys, words_before)
        return keys[:n].copy(), words_before


def in_one_line(title: str) -> str:
    """As much of a title as is searched, or of a part of one."""
    return " ".join(title[:LONGEST_TITLE].split())


def folded(text: str) -> str:
    """A text without capitals, composed, and without lone surrogates; it has as many ends of lines
    as before."""
    text = text.casefold()
    if text.isascii():
        return text
    # Line by line, since a whole text of which only some characters can be composed takes longer.
    lines = [
        line if line.isascii() else unicodedata.normalize("NFC", line) for line in text.split("\n")
    ]
    return "\n".join(lines).encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of some articles that follow each other."""

    keys: NDArray[np.uint32]
    """A hash of each word of each article: those of its title before those of its snippet."""
    starts: NDArray[np.int32]
    """(n + 1,) the place of each article's first word."""
    title_ends: NDArray[np.int32]
    """(n,) the place after the last word of each title."""

    @staticmethod
    def of_lines(text: str, text_words: TextWords) -> "_Words":
        """The words of `_folded_lines`."""
        keys, ends = text_words.keys_of_lines(text)
        starts = np.append(0, ends[1::2]).astype(np.int32)
        return _Words(keys, starts, ends[::2].astype(np.int32))

    def with_words(self, sought: Sequence[int]) -> "_Rows":
        """See `ReadTexts.with_words`."""
        last = len(self.keys) - len(sought) + 1
        if not sought or last < 1:
            return _NO_ROWS
        places = np.flatnonzero(self.keys[:last] == sought[0])
        for by, key in enumerate(sought[1:], start=1):
            places = places[self.keys[places + by] == key]
        if not len(places):
            return _NO_ROWS
        ends = places + len(sought)
        rows = np.searchsorted(self.starts, places, side="right") - 1
        is_inside = ends <= self.starts[rows + 1]
        in_title = ends <= self.title_ends[rows]
        found, counts = np.unique(rows[is_inside], return_counts=True)
        return found, counts, np.unique(rows[in_title])


def _folded_lines(titles: Sequence[str], snippets: Sequence[str]) -> str:
    """For each article a line with its title and one with its snippet, folded."""
    lines: list[str] = []
    for title, snippet in zip(titles, snippets, strict=True):
        lines += [in_one_line(title), snippet]
    return folded("\n".join(lines))


def _title_lines(text: str) -> tuple[bytes, NDArray[np.int64]]:
    """(of `_folded_lines` those with titles, each with its end; where each of them begins)"""
    every_second = text.split("\n")[::2]
    titles = ("\n".join(every_second) + "\n").encode()
    line_ends = np.flatnonzero(np.frombuffer(titles, np.uint8) == ord("\n"))
    return titles, np.append(0, line_ends[:-1] + 1)


_Rows = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
_NO_ROWS: _Rows = (np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.intp))


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """The titles and snippets of the first n articles of a session.

    Takes 4 bytes for each word of them, 36 for each article, and the titles once more: 80 MB for
    a million articles of which only titles are kept, and 270 MB with snippets.
    """

    seqs: NDArray[np.int64]
    """(n,) the articles, in the order of the stream."""
    page_ids: NDArray[np.int64]
    lengths: NDArray[np.int32]
    """(n,) the number of words of each title and snippet together."""
    titles: bytes
    """The titles, without capitals, each with the end of its line."""
    title_starts: NDArray[np.int64]
    words: Sequence[tuple[int, _Words]]
    """(the row of their first article, the words of some articles)"""
    rows_by_keys: Mapping[tuple[int, ...], Sequence[_Rows]]
    """Where words are that alone will be sought, by their keys."""
    n_searched: int
    """Of how many articles all words can be found; of further ones, only their titles."""

    def __len__(self) -> int:
        return len(self.seqs)

    def with_words(self, sought: Sequence[int]) -> _Rows:
        """(the rows of the articles in which these words follow each other, by their keys; how
        often they do; the rows of those in whose title they do)."""
        found = list(self.rows_by_keys.get(tuple(sought), []))
        for first, words in self.words:
            rows, counts, titled = words.with_words(sought)
            found.append((rows + first, counts, titled + first))
        if not found:
            return _NO_ROWS
        rows, counts, titled = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return rows, counts, titled

    def titled(self, text: str) -> tuple[list[int], list[int], list[int]]:
        """The newest rows with this text in the title: (all of the title, whole words, a part)."""
        sought = folded(in_one_line(text)).encode()
        exact: list[int] = []
        whole: list[int] = []
        part: list[int] = []
        pattern = re.compile(rf"(?<!\w){re.escape(sought.decode())}(?!\w)")
        end = len(self.titles)
        for _ in range(MOST_TITLES):
            place = self.titles.rfind(sought, 0, end) if sought else -1
            if place < 0:
                break
            row = int(np.searchsorted(self.title_starts, place, side="right")) - 1
            start = int(self.title_starts[row])
            title = self.titles[start : self.titles.index(b"\n", start)]
            if title == sought:
                exact.append(row)
            elif pattern.search(title.decode()):
                whole.append(row)
            else:
                part.append(row)
            end = start
        return exact, whole, part


_NOTHING_READ = ReadTexts(
    seqs=np.empty(0, np.int64),
    page_ids=np.empty(0, np.int64),
    lengths=np.empty(0, np.int32),
    titles=b"",
    title_starts=np.empty(0, np.int64),
    words=(),
    rows_by_keys={},
    n_searched=0,
)


class TextIndex:
    """The titles and snippets of all articles of a session, for repeated questions."""

    def __init__(self, text_words: TextWords, only: Sequence[Sequence[int]] | None = None) -> None:
        """``only``: the words that will be sought, by their keys; no other ones are held then.
        None: any may be."""
        self._text_words = text_words
        self._reading = threading.Lock()
        self._only = None if only is None else [tuple(keys) for keys in only]
        self.texts = _NOTHING_READ
        """Those read so far."""

    def read(self, reader: SessionReader, advance: Advance = unseen) -> ReadTexts:
        """All texts, after reading those that are new since the last call; ``advance``: is told how
        far. Of several threads, one reads at a time."""
        with self._reading:
            self.texts = self._read_on(self.texts, reader, advance)
            return self.texts

    def _read_on(self, texts: ReadTexts, reader: SessionReader, advance: Advance) -> ReadTexts:
        """These texts and all that come after them in the session."""
        n = len(texts)
        last = int(texts.seqs[-1]) if n else 0
        end = reader.last_seq()
        if end == last:
            return texts
        n_searched = texts.n_searched
        n_words = sum(len(of_some.keys) for _, of_some in texts.words)
        n_bytes = len(texts.titles)
        all_seqs = [texts.seqs]
        all_page_ids = [texts.page_ids]
        all_lengths = [texts.lengths]
        all_titles = [texts.titles]
        title_starts = [texts.title_starts]
        words = list(texts.words)
        found = {keys: list(rows) for keys, rows in texts.rows_by_keys.items()}
        for seqs, page_ids, titles, snippets in reader.texts_after(last):
            text = _folded_lines(titles, snippets)
            of_batch = _Words.of_lines(text, self._text_words)
            lengths = np.diff(of_batch.starts)
            n_of_batch = len(of_batch.keys)
            have_room = n_searched == n and n_words + n_of_batch <= MOST_HELD
            is_held = self._only is not None or have_room
            if is_held:
                n_searched = n + len(seqs)
            if self._only is not None:
                for sought in self._only:
                    rows, counts, titled = of_batch.with_words(sought)
                    found.setdefault(sought, []).append((rows + n, counts, titled + n))
            elif is_held:
                words.append((n, of_batch))
                n_words += n_of_batch
            else:
                lengths = np.zeros_like(lengths)  # as if they had no words
            all_lengths.append(lengths)
            of_titles, starts_of_titles = _title_lines(text)
            title_starts.append(n_bytes + starts_of_titles)
            n_bytes += len(of_titles)
            all_titles.append(of_titles)
            all_seqs.append(np.array(seqs, np.int64))
            all_page_ids.append(np.array(page_ids, np.int64))
            n += len(seqs)
            advance(TEXTS_READ, seqs[-1], end)
        return ReadTexts(
            seqs=np.concatenate(all_seqs),
            page_ids=np.concatenate(all_page_ids),
            lengths=np.concatenate(all_lengths),
            titles=b"".join(all_titles),
            title_starts=np.concatenate(title_starts),
            words=words,
            rows_by_keys=found,
            n_searched=n_searched,
        )
