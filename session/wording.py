"""What stands in a line for people: numbers, spans of time, words, titles, and signs."""

import math
import re
from collections.abc import Iterable, Mapping


def skips_told(skips: Mapping[str, int]) -> str:
    """The reasons for skipped articles, the most frequent first: "disambiguation 12, no known word
    3"."""
    most_frequent_first = sorted(skips, key=lambda reason: -skips[reason])
    return ", ".join(f"{reason} {skips[reason]:,}" for reason in most_frequent_first)


def so_far(done: int, total: int) -> str:
    """How far long work is: "1,200 of 4,800 (25%)"; only the first number if the total is 0, which
    stands for an unknown one."""
    return f"{done:,} of {total:,} ({done / total:.0%})" if total else f"{done:,}"


APART = " · "
"""Between titles of articles in a line, most of which have several words."""


def word_separator(words: Iterable[str], otherwise: str = " ") -> str:
    """The separator of a topic's words: `APART` if any is a title or a phrase, or begins with a
    digit, since a space would not separate these clearly."""
    for word in words:
        is_title = " " in word or word != word.lower()
        if is_title or word[:1].isdigit():
            return APART
    return otherwise


def in_line(words: Iterable[str]) -> str:
    """A topic's words, or titles, in one line."""
    shown = tuple(words)
    return word_separator(shown).join(shown)


def age(seconds: float) -> str:
    """A span of time in one unit: "38 s", "4 min", "2.5 h", "3 d"."""
    if seconds < 1:
        return "<1 s"
    unit, size = _unit_for(seconds)
    decimals = 1 if unit == "h" else 0
    return f"{seconds / size:.{decimals}f} {unit}"


def _unit_for(seconds: float) -> tuple[str, int]:
    """The unit in which a span of time is told, and its length in seconds."""
    if seconds < 120:
        return "s", 1
    if seconds < 7_200:
        return "min", 60
    if seconds < 172_800:
        return "h", 3_600
    return "d", 86_400


SURE = 1.3
"""The bounds of a time are told only if the upper one is more than this many times the lower
one."""


def left_in_words(seconds: float, low: float, high: float) -> str:
    """The time until a run ends, which is about ``seconds`` and between ``low`` and ``high``:
    "12 h left", or "10–14 h left" while the bounds are far apart."""
    if seconds < 1:
        return "<1 s left"
    unit, size = _unit_for(seconds)
    decimals = 1 if unit in ("h", "d") else 0
    first = _rounded(low / size, decimals)
    last = _rounded(high / size, decimals)
    if high > SURE * low and first != last:
        return f"{first}–{last} {unit} left"
    return f"{_rounded(seconds / size, decimals)} {unit} left"


def _rounded(value: float, decimals: int) -> str:
    """A number in steps of a twentieth to a tenth of it, but with no more decimals: 12.3 -> "12",
    4.31 -> "4.4"."""
    step = 10.0**-decimals
    if value > 10 * step:
        place = 10.0 ** math.floor(math.log10(value / 10))
        step = max(factor * place for factor in (1, 2, 5) if factor * place <= value / 10)
    rounded = round(value / step) * step
    return f"{rounded:,.1f}".removesuffix(".0")


def starting_over(documents: int, noun: str) -> str:
    """What is done while topics start over: "topics start over from 10,112 articles"."""
    return f"topics start over from {documents:,} {noun}"


LARGEST_IN_FULL = 1e15
"""From this size on, numbers are written with an exponent: in full they have more digits than a
float."""


def measured(value: float) -> str:
    """A metric's value with its significant digits: 1187.3 -> "1,187", -7.0812 -> "-7.081"."""
    size = abs(value)
    if size >= LARGEST_IN_FULL:
        return f"{value:.3g}"
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.3f}"


TITLES = 3
"""The most titles that stand beside a topic's words."""


def titles_shown(titles: Iterable[str]) -> tuple[str, ...]:
    """Of the titles of a topic's articles, the most typical first, those that stand beside its
    words: the first ones, each once."""
    return tuple(dict.fromkeys(titles))[:TITLES]


_ONLY_A_NUMBER = re.compile(r"text [1-9]\d*|\S.*\.\w+:[1-9]\d*", re.ASCII)
"""The titles of documents that have none: "text 727", or "reviews.csv:727"."""
LONGEST_CALLED = 60
"""The most characters of what a document without a title is called."""


def called(title: str, snippet: str | None) -> str:
    """What a document is called in a list: its title or, if that is only a number, the beginning of
    its text, where that is kept."""
    if snippet is None or not snippet.strip() or not _ONLY_A_NUMBER.fullmatch(title):
        return title
    line = " ".join(snippet.split())
    if len(line) <= LONGEST_CALLED:
        return line
    # There are no whole words if the first is longer, as in a language without blanks.
    whole_words, _, _ = line[:LONGEST_CALLED].rpartition(" ")
    return f"{whole_words or line[: LONGEST_CALLED - 1]}…"


LONGEST_SNIPPET = 300
"""The most characters that are kept of a text."""


def snippet_shown(snippet: str | None) -> str:
    """A snippet as people read it: if the text goes on, it ends after its last whole word, with
    "…"."""
    snippet = snippet or ""
    if len(snippet) < LONGEST_SNIPPET - 1:  # a blank at its end is not kept
        return snippet
    whole, _, _ = snippet.rpartition(" ")
    has_words = len(whole) >= LONGEST_SNIPPET // 2  # unlike languages without blanks
    return f"{whole if has_words else snippet[:-1]}…"


FOUND_SIGNS = (
    (0.8, "=", "at least four in five"),
    (0.4, "~", "some"),
    (0.0, "?", "few or none"),
)
"""How it is shown whether a topic comes back: (the least part of the replicas that have it, sign,
that part in words)."""


def found_sign(found: float | None) -> str:
    """The sign of a topic that this part of the replicas have; "" without replicas."""
    if found is None:
        return ""
    return next(sign for least, sign, _ in FOUND_SIGNS if found >= least)


def found_legend(found: Iterable[float | None]) -> str:
    """What the signs of topics with these parts mean, in one line; "" for topics without signs."""
    if all(part is None for part in found):
        return ""
    meanings = [f"{sign} {how_many}" for _, sign, how_many in FOUND_SIGNS]
    return f"Replicas (models with other seeds) that have the topic, too: {', '.join(meanings)}"
