"""The words of titles and snippets: how they are told apart, and which articles have them."""

import re
import unicodedata
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab.rules import BY_DICTIONARY, Rule
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS

LONGEST_TITLE = 255
"""The characters of a title that are searched."""
MOST_TITLES = 2_000
"""The most titles that are found by a part of them, the newest."""
MOST_HELD = 2**26
"""The most words of titles and snippets that are held, at 4 bytes each: those of a million
documents with snippets of 300 characters are 50 million. Of any further documents, only the titles
are found, by parts of them."""
SHORT = frozenset(["a", "i", "s", "t"])
"""Stop words that are too short to be listed among those that vocabularies leave out."""
WORD = re.compile(r"[^\x00-/:-@\[-`{-\x7f\s\u00a0-\u00bf\u2000-\u207f\u3000-\u303f]+")
"""A word of a title or a snippet: a run of letters and digits, and of whatever else is no
punctuation."""
_PUNCTUATION_ENDS = 0x3040
"""No character from here on separates words."""
_IN_WORDS = np.array([bool(WORD.fullmatch(chr(code))) for code in range(_PUNCTUATION_ENDS + 1)])
"""For each character whether it belongs to a word; the last one stands for all that follow."""
_BEYOND_ASCII = 0x80
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Any large odd number."""


class TextWords:
    """How the words of titles and snippets are told apart: by `WORD`, without capitals. For a
    million texts, the rules of vocabularies would take minutes.

    Where a dictionary separates the words of a vocabulary, each character is one. What is sought
    are then characters that follow each other.
    """

    def __init__(self, rule: Rule) -> None:
        self.of_characters = rule.number == BY_DICTIONARY
        is_english = rule.number == 1 or rule.language == "en"
        self.stop_words: Collection[str] = ENGLISH_STOP_WORDS | SHORT if is_english else ()

    def of(self, text: str) -> list[str]:
        """The words of a text, in order."""
        text = folded(text)
        starts, ends = self._edges(_codes(text))
        edges = zip(starts.tolist(), ends.tolist(), strict=True)
        return [text[start:end] for start, end in edges]

    def keys(self, text: str) -> tuple[int, ...]:
        """A number for each word of a text, in order."""
        keys, _ = self.keys_of_lines(folded(text))
        return tuple(keys.tolist())

    def keys_of_lines(self, lines: str) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        """(a number for each word, the number of words before the end of each line) of folded
        texts, one a line. Two different words hardly ever have the same number.

        Numbers are made of all texts at once: to find each word and take its hash in Python took
        four times as long, 15 s for a million snippets.
        """
        codes = _codes(lines)
        starts, ends = self._edges(codes)
        ends_of_lines = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
        words_before = np.searchsorted(starts, ends_of_lines)
        if not len(starts):
            return np.empty(0, np.uint32), words_before
        # A word's number is the sum of its characters, each times a power of the factor.
        lengths = ends - starts
        firsts = np.cumsum(lengths) - lengths
        letters = codes[_IN_WORDS.take(codes, mode="clip")].astype(np.uint64)
        place_in_word = np.arange(len(letters)) - np.repeat(firsts, lengths)
        powers = _FACTOR ** np.arange(1, lengths.max() + 1, dtype=np.uint64)
        numbers = np.add.reduceat(letters * powers[place_in_word], firsts)
        return (numbers >> np.uint64(32)).astype(np.uint32), words_before

    def _edges(self, codes: NDArray[np.uint32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where each word begins and ends among the characters of a text."""
        # A separator before the text, and one after it.
        in_word = np.zeros(len(codes) + 2, np.bool_)
        in_word[1:-1] = _IN_WORDS.take(codes, mode="clip")
        begins = in_word[1:] & ~in_word[:-1]
        if self.of_characters:
            begins[:-1] |= in_word[1:-1] & (codes >= _BEYOND_ASCII)
        ends = in_word[:-1] & (begins | ~in_word[1:])
        return np.flatnonzero(begins), np.flatnonzero(ends)


def _codes(text: str) -> NDArray[np.uint32]:
    """The characters of a folded text as numbers."""
    return np.frombuffer(text.encode("utf-32-le"), "<u4")


def in_one_line(title: str) -> str:
    """As much of a title as is searched, or of a part of one."""
    return " ".join(title[:LONGEST_TITLE].split())


def folded(text: str) -> str:
    """A text without capitals, composed, and without lone surrogates; it has no more ends of lines
    than before."""
    text = text.casefold()
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).encode("utf-8", "replace").decode()


class TextIndex:
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
            lines: list[str] = []
            for seq, title in zip(seqs, titles, strict=True):
                lines += [folded(in_one_line(title)), folded(snippets.get(seq, ""))]
            of_batch, ends = self._words.keys_of_lines("\n".join(lines))
            if n_words + len(of_batch) > MOST_HELD:
                of_batch = of_batch[:0]
                ends = np.zeros_like(ends)
            keys.append(of_batch)
            title_ends.append(n_words + ends[::2])
            starts.append(n_words + ends[1::2])
            n_words += len(of_batch)
            of_titles = [f"{title}\n".encode() for title in lines[::2]]
            lengths = np.fromiter(map(len, of_titles), np.int64, len(titles))
            title_starts.append(n_bytes + np.cumsum(lengths) - lengths)
            n_bytes += int(lengths.sum())
            all_titles += of_titles
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
            nothing = np.empty(0, np.intp)
            return nothing, nothing, nothing
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
        sought = folded(in_one_line(text)).encode()
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
            elif pattern.search(title.decode()):
                whole.append(row)
            else:
                part.append(row)
            end = start
        return exact, whole, part
