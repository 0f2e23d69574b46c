"""Noticing that plain texts contain markup, which then would be counted as words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from wikitopics.crawler.markup.prose import NAMES
from wikitopics.crawler.page import Markup

SAMPLE = 200
"""The number of texts examined."""
LEAST_SHARE = 0.2
"""The share of texts with markup from which a warning is due: a collection about HTML has some tags
too."""
_MOST_CHARACTERS = 20_000
"""The number of characters examined at the beginning of a text."""

_SIGNS = {
    "[[links]]": re.compile(r"\[\[[:\w][^\[\]{}<>|\n]*(?:\|[^\[\]\n]*)?\]\]"),
    "{{templates}}": re.compile(r"\{\{[^{}]+\}\}"),
    "'''bold'''": re.compile(r"(?<!')'''(?=[^\s'])[^'\n]+'''"),
    "== headings ==": re.compile(r"^(==+)[^=\n]+\1[ \t]*$", re.MULTILINE),
    "<ref>": re.compile(r"<ref[ >/]"),
}
"""The signs of wikitext. Each occurs elsewhere too: links in notebooks, templates in Jinja,
headings in AsciiDoc."""
_TAG = re.compile(r"</?([a-z][a-z0-9]*)(?=[ \t\n/>])[^<>]{0,1000}>", re.IGNORECASE)
_TAGS = NAMES["html"]

T = TypeVar("T")


def markup_of(text: str) -> tuple[Markup, str]:
    """The markup in which a text seems to be written, and a sign of it; ("text", "") for none.

    Wikitext needs two kinds of signs, HTML two tags: a `<`, a `[1]` or a single tag may be prose.
    """
    text = text[:_MOST_CHARACTERS]
    signs = [sign for sign, pattern in _SIGNS.items() if pattern.search(text)]
    if len(signs) > 1:
        return "wikitext", signs[0]
    names = [tag[1].lower() for tag in _TAG.finditer(text)]
    tags = [name for name in names if name in _TAGS]
    if len(tags) > 1:
        return "html", f"<{min(tags, key=len)}>"
    return "text", ""


def noticing(
    items: Iterable[T], text_of: Callable[[T], str], tell: Callable[[str], None]
) -> Iterator[T]:
    """Pass everything on; after a sample of the texts, call `tell` if many of them contain
    markup."""
    seen: list[tuple[Markup, str]] = []
    for item in items:
        text = text_of(item) if len(seen) < SAMPLE else ""
        if text:
            seen.append(markup_of(text))
            if len(seen) == SAMPLE:
                _tell_of(seen, tell)
        yield item
    if 0 < len(seen) < SAMPLE:
        _tell_of(seen, tell)


def _tell_of(seen: Sequence[tuple[Markup, str]], tell: Callable[[str], None]) -> None:
    """Tell of the markup that many of these texts contain; each was found with a sign."""
    for markup, name in (("wikitext", "wikitext"), ("html", "HTML")):
        signs = Counter(sign for found, sign in seen if found == markup)
        if signs.total() >= LEAST_SHARE * len(seen):
            most_common = signs.most_common(1)
            sign, _ = most_common[0]
            tell(
                f"{signs.total():,} of the first {len(seen):,} texts contain {name} ({sign}), "
                f"whose markup is counted as words: --markup {markup} keeps only the prose"
            )
            return
