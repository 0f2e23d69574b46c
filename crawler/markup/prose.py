"""What both extractors need: which sections are not prose, and how the remaining text is tidied."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ITEM = -1
"""The level given to a list item; headings have their own level, and paragraphs 0."""

LINK = "\x03"
"""Encloses the number of a link, next to the words that the link shows."""
_NUMBERED = re.compile(f"{LINK}([0-9]{{1,9}}){LINK}")
APART = "\u2060"
"""Keeps apostrophes apart between which something was left out; `tidy` removes it."""


def words(text: str) -> frozenset[str]:
    """The words in a string of the source code."""
    return frozenset(text.split())


def read_data(name: str) -> str:
    """One of the files in `crawler/data`, without its first paragraph, which is for readers."""
    text = (Path(__file__).parents[1] / "data" / name).read_text(encoding="utf-8")
    _, _, content = text.strip().partition("\n\n")
    return content


def names_in(text: str) -> frozenset[str]:
    """The names that are separated by semicolons and ends of lines."""
    names = [name.strip() for name in text.replace("\n", ";").split(";")]
    return frozenset(name for name in names if name)


def lowered(text: str) -> str:
    """In small letters, İ as the i that others write."""
    return text.lower().replace("i\u0307", "i")


def _tables() -> Iterator[tuple[str, frozenset[str]]]:
    for table in read_data("names.txt").split("\n\n"):
        head, _, names = table.partition("\n")
        name, _, _ = head.partition(":")
        yield name, names_in(names)


NAMES = dict(_tables())
"""The names that wikis use: the tables of `crawler/data/names.txt`."""
_LEAST_WORDS = {
    **dict.fromkeys(NAMES["links"], None),
    **dict.fromkeys(NAMES["references"], 12),
    **dict.fromkeys(NAMES["subjects"], 5),
}
"""The fewest words with which a paragraph under such a heading counts as prose; None: none does."""

_CITATION = re.compile(r"\b(?:ISBN|ISSN|OCLC)\b|\bdoi:|\bpp?\.\s?\d|^\W*[^\W\d_]+, [^\W\d_]\.")
_WORD = re.compile(r"\w+")
_ENDS_OF_SENTENCES = (".", "!", "?", "…")
_CLOSING_MARKS = " \"'”’»)"
_LEAST_LOWER_CASE = 0.45
"""A share of lower-case words that 99 in 100 paragraphs of English articles reach, but most
citations do not."""

_URL = re.compile(r"(?:\b(?:https?|ftp)://|\bwww\.)[^\s\[\]{}<>\"|]*+", re.IGNORECASE)
_ENDLESS_REFERENCE = re.compile("&#[0-9]{100,}+;?")
"""Python refuses to read a number of more than 4300 digits; no character has more than seven."""
_RULES = re.compile("={2,}+|_{2,}+")
_MARKUP = r"{}\[\]|<>\x00-\x08\x0b-\x1f\x7f\ud800-\udfff"
"""Control characters, and lone surrogates, which UTF-8 cannot encode."""
_BLANKS = r"\t\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""The characters that match ``\\s``, except space and newline; listing them is three times as
fast."""
_SEVERAL_BLANKS = re.compile("  +")
_UNSEEN = r"\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
"""Characters that control line breaks or writing direction and are no part of a word: soft hyphen,
zero-width space, word joiner, byte order mark, direction marks. Joiners that scripts need are
kept."""
_INVISIBLE = re.compile(f"[{_UNSEEN}]")
TITLE_BLANKS = re.compile(r"[ _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""What MediaWiki reads as one space in titles and in the names of namespaces."""
EDGES = " \t\r\v\f\xa0\xad\u200b\u200e\u200f\u202a\u202b\u202c\u2060\ufeff"
"""Invisible characters that may surround a line, or the name of a namespace."""
_NO_TEXT = re.compile(f"[{_MARKUP}{_BLANKS}{_UNSEEN}]")
_SPACELESS = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
SEPARATES_WORDS = "\u200b"
_WORDS_END = re.compile(f"(?<={_SPACELESS}){SEPARATES_WORDS}|{SEPARATES_WORDS}(?={_SPACELESS})")
"""In the scripts of Thai, Lao, Burmese and Khmer, words are separated by zero-width spaces."""


def in_kept_sections(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """The texts of ``(level, text)`` pairs that are prose; level: of a heading, 0 for a paragraph,
    or ITEM.

    In sections of references and literature, only paragraphs that read like prose count; in those
    of links, none. The heading of a section without text is dropped too: its table, gallery or
    literature was left out.
    """
    reference_level = 0  # of the heading of the section of references that is read; 0: none is
    least_words: int | None = None
    pending_levels: list[int] = []
    pending_headings: list[str] = []
    for level, text in lines:
        if level > 0:
            if not reference_level or level <= reference_level:
                heading = tidy(_without_marks(text)).strip(" :.").lower()
                reference_level = level if heading in _LEAST_WORDS else 0
                least_words = _LEAST_WORDS.get(heading)
            while pending_levels and pending_levels[-1] >= level:
                pending_levels.pop()
                pending_headings.pop()
            if text:
                pending_levels.append(level)
                pending_headings.append(text)
            continue
        if not text:
            continue
        if reference_level:
            is_kept = level != ITEM and _is_prose(_without_marks(text), least_words)
            if not is_kept:
                continue
        yield from pending_headings
        pending_levels.clear()
        pending_headings.clear()
        yield text


def links_in(lines: Iterable[str], targets: Sequence[str]) -> Iterator[str]:
    """The targets of the links whose marks are in these texts, in order."""
    for text in lines:
        if LINK in text:
            for number in _NUMBERED.findall(text):
                yield targets[int(number)]


def _without_marks(text: str) -> str:
    return _NUMBERED.sub("", text) if LINK in text else text


def _is_prose(text: str, least_words: int | None) -> bool:
    """Whether this paragraph consists of sentences, not of names, titles and numbers like a
    citation."""
    if least_words is None or not text.rstrip(_CLOSING_MARKS).endswith(_ENDS_OF_SENTENCES):
        return False
    words: list[str] = _WORD.findall(text)
    if len(words) < least_words or _CITATION.search(text):
        return False
    in_lower_case = sum(1 for word in words if word[0].islower())
    return in_lower_case >= _LEAST_LOWER_CASE * len(words)


def without_invisible(text: str) -> str:
    """The text without invisible characters that would split a word."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", _between_words(text))


def _between_words(text: str) -> str:
    """The text with blanks in place of the zero-width spaces that separate words."""
    return _WORDS_END.sub(" ", text) if SEPARATES_WORDS in text else text


def tidy(text: str) -> str:
    """The text without addresses, character references and characters that are not text; one space
    between words."""
    if "&" in text:
        text = html.unescape(_ENDLESS_REFERENCE.sub(" ", text))
    text = _between_words(text)
    if "://" in text or "www." in text:
        text = _URL.sub(" ", text)
    # Searching for one character is many times as fast as for two.
    if ("=" in text and "==" in text) or ("_" in text and "__" in text):
        text = _RULES.sub(" ", text)
    return _SEVERAL_BLANKS.sub(" ", _NO_TEXT.sub(_blank_for, text))


def _blank_for(match: re.Match[str]) -> str:
    """What stands for a character that is not text."""
    return "" if _INVISIBLE.match(match[0]) else " "
