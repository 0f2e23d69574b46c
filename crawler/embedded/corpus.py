"""The articles of the embedded wiki, made from word counts: any number, none kept in memory."""

import json
import lzma
import random
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

MOST_SPARED = 1000
_DATA = resources.files("wikitopics.crawler") / "data"


@dataclass(frozen=True)
class Corpus:
    """Word counts of D articles over W words, in compressed rows."""

    titles: Sequence[str]
    """(D,), all different."""
    words: Sequence[str]
    """(W,)"""
    indptr: NDArray[np.int64]
    """(D + 1,): article d has the entries ``indptr[d]`` to ``indptr[d + 1]``."""
    word_ids: NDArray[np.int32]
    """(N,), ascending within each article."""
    counts: NDArray[np.int32]
    """(N,)"""


@dataclass(frozen=True)
class SampleArticle:
    """One article before it is written out: every occurrence of every word, in shuffled order."""

    index: int
    title: str
    word_ids: NDArray[np.int64]


class SampleArticles:
    """``size`` articles: the corpus in its order, then articles resampled from all but its first
    tenth (its first 1,000 at most).

    Every article is generated from ``seed`` and its index whenever it is needed, always the same.
    """

    def __init__(self, corpus: Corpus, size: int, seed: int = 0) -> None:
        if size < 0 or (size > 0 and not len(corpus.titles)):
            raise ValueError("size must not be negative, and must be 0 without a corpus")
        self.corpus = corpus
        self.size = size
        self._seed = seed
        # A trainer holds the first articles out and must not be given copies of them later.
        self.spared = min(MOST_SPARED, len(corpus.titles) // 10)

    def title(self, index: int) -> str:
        """The title of article ``index``, 0 to size - 1."""
        base, lap = self._place(index)
        title = self.corpus.titles[base]
        return f"{title} (copy {lap})" if lap else title

    def article(self, index: int) -> SampleArticle:
        """Article ``index`` with its words in the order in which they are written."""
        corpus = self.corpus
        base, lap = self._place(index)
        rng = np.random.default_rng((self._seed, index))
        span = slice(corpus.indptr[base], corpus.indptr[base + 1])
        ids = corpus.word_ids[span]
        counts = corpus.counts[span]
        total = int(counts.sum())
        if lap == 0:
            words = rng.permutation(np.repeat(ids, counts))
        elif total == 0:
            words = ids[:0]
        else:
            # As many occurrences as the original has, each drawn from those of the original.
            drawn = rng.random(total) * total
            words = ids[np.searchsorted(np.cumsum(counts), drawn, side="right")]
        return SampleArticle(index, self.title(index), words.astype(np.int64))

    def _place(self, index: int) -> tuple[int, int]:
        """(article of the corpus, lap): lap 0 is the corpus itself; later laps leave out its
        beginning."""
        originals = len(self.corpus.titles)
        if index < originals:
            return index, 0
        laps_before, place = divmod(index - originals, originals - self.spared)
        return self.spared + place, laps_before + 1


# The shipped sample: titles and word counts of 20,000 real articles.
#
# Layout of ``crawler/data/sample.xz``, decompressed, little-endian:
#
# =============  ================  =========================================================
# column         type              meaning
# =============  ================  =========================================================
# sizes          3 uint32          bytes of ``text``, articles D, entries N
# text           UTF-8 JSON        ``words``, most widespread first; ``titles``, in stored order
# places         D uint16          where article 0, 1, … of the sample is stored
# lengths        D uint8           distinct words of each stored article
# gap low, high  N uint8, N uint8  word id minus the one before it in its article, minus 1
# counts         N uint8           occurrences minus 1
# =============  ================  =========================================================

SAMPLE_ARTICLES = 20_000
"""D of the shipped sample."""


def load_sample() -> Corpus:
    """Read the sample, which takes about 0.2 seconds and 20 MB of memory.

    Its words are all in the shipped English vocabulary; counts above 255 are clipped.
    """
    data = lzma.decompress((_DATA / "sample.xz").read_bytes())
    sizes = np.frombuffer(data, dtype="<u4", count=3)
    text_bytes, n_articles, n_entries = sizes.tolist()
    offset = sizes.nbytes + text_bytes
    text = json.loads(data[sizes.nbytes : offset])

    def column(count: int, dtype: str) -> NDArray[np.int64]:
        nonlocal offset
        values = np.frombuffer(data, dtype=dtype, count=count, offset=offset)
        offset += values.nbytes
        return values.astype(np.int64)

    places = column(n_articles, "<u2")
    stored_lengths = column(n_articles, "u1")
    gaps_low = column(n_entries, "u1")
    gaps_high = column(n_entries, "u1")
    gaps = gaps_low + 256 * gaps_high
    counts = column(n_entries, "u1") + 1

    # Ids are the running sum of the gaps, restarted with each article.
    running = np.cumsum(gaps + 1)
    ends = np.cumsum(stored_lengths)
    begins = ends - stored_lengths
    before = np.where(begins > 0, running[begins - 1], 0)
    ids = running - np.repeat(before, stored_lengths) - 1

    # The entries of each article are moved as a whole from where it is stored to its place here.
    lengths = stored_lengths[places]
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    moved_by = np.repeat(begins[places] - indptr[:-1], lengths)
    entries = np.arange(n_entries) + moved_by
    titles = text["titles"]
    return Corpus(
        titles=tuple(titles[place] for place in places.tolist()),
        words=tuple(text["words"]),
        indptr=indptr,
        word_ids=ids[entries].astype(np.int32),
        counts=counts[entries].astype(np.int32),
    )


# Word counts written out as an article.
#
# The prose contains the article's words exactly as often as its counts say; the words between them
# are not in the corpus. Words outside the prose (references, infobox, table, captions, links to
# categories) must be left out by an extractor.

_PATTERN = 389
_FILLER_TEXT = "the of and in to was is for on as with by at from its it an or that were"
_FILLERS = tuple(_FILLER_TEXT.split())
_HEADINGS = (
    "About",
    "Before and after",
    "Then and now",
    "Where and when",
    "Which and why",
    "From here on",
)
REFERENCES = (
    ("A Reader of Archives", "Annals", "1987"),
    ("Proceedings", "Quarterly Letters", "2004"),
    ("Notes from a Journey", "Morning Post", "1931"),
)


@dataclass(frozen=True)
class Slot:
    """The surroundings of one word."""

    before: str
    dress: int
    """Which of `DRESSES` surrounds the word."""
    end: str
    """What follows the word; "": the paragraph ends."""
    heading: str | None
    """The heading after the paragraph."""
    reference: int | None
    """Which of `REFERENCES` follows the word."""


DRESSES = (("", ""), ("[[", "]]"), ("[[Portal (hub)|", "]]"), ("''", "''"), ("{{lang|fr|", "}}"))
"""Markup around a word."""


class Writer:
    """Writes articles of a corpus whose words are ``words``.

    A fixed pattern of markup before and after each word is laid over the shuffled words, with a
    different start for each article.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._capital = [_capitalised(word) for word in words]
        known = set(words)
        fillers = [word for word in _FILLERS if word not in known] or [""]
        headings = [heading for heading in _HEADINGS if known.isdisjoint(heading.lower().split())]
        self.slots, starts = _drawn_slots(random.Random(389), fillers, headings)
        # Doubled, so that a pattern beginning anywhere is one slice.
        self._starts_sentence = starts * 2
        around = [_in_wikitext(number, slot) for number, slot in enumerate(self.slots)]
        self._wiki = around * 2
        self._frame = (_DATA / "article.wikitext").read_text(encoding="utf-8")

    def wikitext(self, article: SampleArticle) -> str:
        """The article as its authors see it in the editor."""
        frame = self._frame.replace("$title", article.title).replace("$index", str(article.index))
        return frame.replace("$words", self.prose(article, self._wiki))

    def prose(self, article: SampleArticle, around: Sequence[tuple[str, str]]) -> str:
        """The words, each with what is ``around`` it; that pattern is given twice in a row."""
        begin = article.index * 31 % _PATTERN
        ids = article.word_ids.tolist()
        words = self._words
        capital = self._capital
        parts: list[str] = []
        for at in range(0, len(ids), _PATTERN):
            piece = ids[at : at + _PATTERN]
            span = slice(begin, begin + len(piece))
            starts_sentence = self._starts_sentence[span]
            in_turn = zip(piece, around[span], starts_sentence, strict=True)
            for word_id, (before, behind), starts in in_turn:
                word = capital[word_id] if starts else words[word_id]
                parts.append(f"{before}{word}{behind}")
        return "".join(parts)


def _capitalised(word: str) -> str:
    return word[0].upper() + word[1:] if word.isascii() else word


def _drawn_slots(
    rng: random.Random, fillers: Sequence[str], headings: Sequence[str]
) -> tuple[list[Slot], list[bool]]:
    """The pattern of slots, and whether the word of each one starts a sentence."""
    slots: list[Slot] = []
    starts_sentence: list[bool] = []
    is_start = True
    left = rng.randint(60, 100)  # the words of the paragraph from here on
    for _ in range(_PATTERN):
        starts_sentence.append(is_start)
        before = ""
        if not is_start and rng.random() < 0.4:
            before = rng.choice(fillers) + " "
        dress = _dress(rng.random())
        left -= 1
        end = ""
        heading = None
        if left <= 0:
            if headings and rng.random() < 0.4:
                heading = rng.choice(headings)
            is_start = True
            left = rng.randint(60, 100)
        else:
            is_start = rng.random() < 0.08
            if is_start:
                end = ". "
            elif rng.random() < 0.08:
                end = ", "
            else:
                end = " "
        reference = None
        if rng.random() < 0.02:
            reference = rng.randrange(len(REFERENCES))
        slots.append(Slot(before, dress, end, heading, reference))
    return slots, starts_sentence


def _dress(drawn: float) -> int:
    """Which of `DRESSES` to take, from a random number below 1."""
    for dress, below in enumerate((0.07, 0.11, 0.13, 0.135), start=1):
        if drawn < below:
            return dress
    return 0


def _in_wikitext(number: int, slot: Slot) -> tuple[str, str]:
    """The text before and after the word of a slot."""
    begin, close = DRESSES[slot.dress]
    end = slot.end
    if not end:
        end = ".\n\n"
        if slot.heading:
            end += f"== {slot.heading} ==\n\n"
    if slot.reference is not None:
        author, work, year = REFERENCES[slot.reference]
        close += (
            f"<ref>{{{{cite journal |author={author} |journal={work} |year={year} "
            f"|page={number}}}}}</ref>"
        )
    return slot.before + begin, close + end
