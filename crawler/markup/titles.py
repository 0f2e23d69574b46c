"""The titles of the articles to which links lead: the targets of links, as MediaWiki reads them.

Modelled on `MediaWikiTitleCodec::splitTitleString`, for the main namespace. On a wiki where
articles have subpages, ``[[/part]]`` names one of them; here it is the article "/part", as on
Wikipedia.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from wikitopics.crawler.markup.prose import NAMES, TITLE_BLANKS, words
from wikitopics.crawler.page import LONGEST_TITLE, SourceInfo

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9,.()'!$*-]*+(?: [A-Za-z0-9,.()'!$*-]++)*+")
"""The common case: already a title, except for its first capital."""
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z0-9]{1,31});")
_DIRECTION = re.compile(r"[\u200e\u200f\u202a-\u202e]+")
_ILLEGAL = re.compile(
    r"[\[\]{}|<>\x00-\x1f\x7f-\x9f\ufffd]|%[0-9A-Fa-f]{2}|&#?\w+;|~~~|^:|(?:^|/)\.{1,2}(?:/|$)|''"
)
_DOTTED = words("tr az kaa")
"""Languages in which MediaWiki makes İ the capital of i."""
_NO_CAPITALS = re.compile("[\u10d0-\u10ff]")
"""Georgian has capitals, but no text uses them at the beginning of a sentence."""


def titles(targets: Iterable[str], info: SourceInfo, own: str = "") -> Iterator[str]:
    """The titles of the articles to which these targets lead, without ``own``, the article that
    contains them."""
    foreign = _foreign(info.namespaces)
    main_language, _, _ = info.language.partition("-")
    has_dotted_capital = main_language in _DOTTED
    for target in targets:
        is_plain = _PLAIN.fullmatch(target) and "''" not in target and len(target) <= LONGEST_TITLE
        title = target if is_plain else _title(target, foreign)
        if title and not info.keeps_case and not title[0].isupper():
            title = _capitalised(title, has_dotted_capital)
        if title and title != own:
            yield title


def _capitalised(title: str, has_dotted_capital: bool) -> str:
    """The title with a capital as its first letter, if that has one.

    ``has_dotted_capital``: whether İ is the capital of i in the wiki's language.
    """
    first = title[0]
    if first == "i" and has_dotted_capital:
        return "İ" + title[1:]
    capital = first.upper()
    if len(capital) != 1 or _NO_CAPITALS.match(first):  # the capital of ß is two letters
        return title
    title = capital + title[1:]
    if not title.isascii():
        title = unicodedata.normalize("NFC", title)  # a capital may be one letter with its mark
    return title


@lru_cache(maxsize=8)
def _foreign(namespaces: tuple[str, ...]) -> frozenset[str]:
    """The prefixes of everything that is not an article, in lower case with underscores."""
    own = {TITLE_BLANKS.sub("_", name).lower() for name in namespaces}
    return NAMES["namespaces"] | NAMES["elsewhere"] | own


def _title(target: str, foreign: frozenset[str]) -> str:
    """The title of the article that the target names, its first letter unchanged; "" if it names
    none."""
    text = target.lstrip("[")  # a bracket before a link, as in "[[[Paris]]]"
    if "%" in text:
        text = unquote(text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    text = TITLE_BLANKS.sub(" ", _DIRECTION.sub("", text)).strip(" ")
    text, _, _ = text.removeprefix(":").lstrip(" ").partition("#")
    text = text.rstrip(" ")
    if not text or _ILLEGAL.search(text):
        return ""
    prefix, colon, _ = text.partition(":")
    if colon and prefix.strip().replace(" ", "_").lower() in foreign:
        return ""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text if len(text.encode("utf-8", "replace")) <= LONGEST_TITLE else ""
