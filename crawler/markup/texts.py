"""Markup in texts: noticed in a sample where nobody has named any, and removed where it is named."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from wikitopics.crawler.markup.html import extract_html
from wikitopics.crawler.markup.prose import without_invisible, words
from wikitopics.crawler.markup.wikitext import extract_wikitext
from wikitopics.crawler.source import Markup, Page, SourceInfo

SAMPLE = 200
"""The texts that are looked at."""
LEAST_SHARE = 0.2
"""The share of them with markup that is worth a word: a collection about HTML shows some tags, too."""
_MOST_CHARACTERS = 20_000
"""The beginning of a text that is looked at."""

_SIGNS = {
    "[[links]]": re.compile(r"\[\[[:\w][^\[\]{}<>|\n]*(?:\|[^\[\]\n]*)?\]\]"),
    "{{templates}}": re.compile(r"\{\{[^{}]+\}\}"),
    "'''bold'''": re.compile(r"(?<!')'''(?=[^\s'])[^'\n]+'''"),
    "== headings ==": re.compile(r"^(==+)[^=\n]+\1[ \t]*$", re.MULTILINE),
    "<ref>": re.compile(r"<ref[ >/]"),
}
"""The signs of wikitext. Each occurs elsewhere too: links in notebooks, templates in Jinja, headings in
AsciiDoc."""
_TAG = re.compile(r"</?([a-z][a-z0-9]*)(?=[ \t\n/>])[^<>]{0,1000}>", re.IGNORECASE)
_TAGS = words("""
a b br blockquote body code div em figure font h1 h2 h3 h4 h5 h6 head hr html i img li ol p pre script section
small span strong style sub sup table tbody td th title tr tt u ul
""")

T = TypeVar("T")
UNKNOWN = SourceInfo("", None)


def markup_of(text: str) -> tuple[Markup, str]:
    """The markup that a text seems to be written in, and a sign of it; ("text", "") for none.

    Wikitext needs two kinds of signs, HTML two tags: a `<`, a `[1]` or a lone tag is prose.
    """
    text = text[:_MOST_CHARACTERS]
    if len(signs := [sign for sign, found in _SIGNS.items() if found.search(text)]) > 1:
        return "wikitext", signs[0]
    tags = [name for tag in _TAG.finditer(text) if (name := tag[1].lower()) in _TAGS]
    return ("html", f"<{min(tags, key=len)}>") if len(tags) > 1 else ("text", "")


def noticing(found: Iterable[T], text_of: Callable[[T], str], tell: Callable[[str], None]) -> Iterator[T]:
    """Pass everything on; once a sample of the texts has gone by, `tell` of markup if many hold some."""
    seen: list[tuple[Markup, str]] = []
    for one in found:
        if len(seen) < SAMPLE and (text := text_of(one)):
            seen.append(markup_of(text))
            if len(seen) == SAMPLE:
                _tell_of(seen, tell)
        yield one
    if 0 < len(seen) < SAMPLE:
        _tell_of(seen, tell)


def _tell_of(seen: Sequence[tuple[Markup, str]], tell: Callable[[str], None]) -> None:
    for markup, called in (("wikitext", "wikitext"), ("html", "HTML")):
        signs = Counter(sign for kind, sign in seen if kind == markup)
        if signs.total() >= LEAST_SHARE * len(seen):
            tell(
                f"{signs.total():,} of the first {len(seen):,} texts contain {called} "
                f"({signs.most_common(1)[0][0]}), whose markup is counted as words: --markup {markup} "
                "keeps only the prose"
            )
            return


def prose(page: Page, info: SourceInfo = UNKNOWN) -> str:
    """The page's text without its markup; ``info`` knows what its wiki calls files and categories."""
    if page.markup == "wikitext":
        return extract_wikitext(page.text, file_names=info.file_names, category_names=info.category_names)
    return extract_html(page.text) if page.markup == "html" else without_invisible(page.text)
