"""Turns a rendered MediaWiki page into prose."""

import re
from collections.abc import Iterator

from wikitopics.crawler.markup.prose import in_kept_sections, links_in, tidy

_HOST = re.compile("^(?:https?:)?//[^/]*+")
_RELATIVE = "./"
"""The beginning of links in Parsoid's pages."""
_CONTENT = re.compile(r"""<[a-zA-Z]+\s[^<>]*?\bid=["']mw-content-text["']""")
_PARSER_OUTPUT = re.compile(r"""<div\s[^<>]*?\bclass=["'][^"'<>]*?\bmw-parser-output\b""")
_END_OF_CONTENT = re.compile(
    r"<!--\s*+NewPP limit report|<div\s[^<>]*?\b(?:class=[\"']printfooter|id=[\"']catlinks)"
)
_ANY_TAG = re.compile(r"<[^<>]*+>")
_OF_XML = re.compile(r"(?<!<)<+\?+")
"""The beginning of an XML declaration or processing instruction."""


def extract_html(page: bytes | str) -> str:
    """The prose of a rendered wiki page: paragraphs, headings and list items as plain text, one per
    line.

    Left out are navigation, data tables, infoboxes, references, edit links, figures with their
    captions, formulas, code and style sheets. In sections such as See also, References, Notes,
    Further reading, External links and Bibliography, everything that does not read like prose is
    left out too. Bytes are UTF-8. A page that was not made by MediaWiki is used as a whole.

    Any input gives a string, in time linear in its length.
    """
    text = _article(page)
    if "<" not in text:
        return tidy(text).strip()
    kept = _kept(text)
    if kept is None:
        return tidy(_ANY_TAG.sub(" ", text)).strip()
    return tidy("\n".join(kept))


def html_links(page: bytes | str, article_path: str) -> list[str]:
    """The targets of the links in the prose of a rendered page to other pages of its wiki, in
    order.

    ``article_path``: the path of pages, with ``$1`` for the title. Links to pages that do not exist
    are left out. Prose is what `extract_html` returns.
    """
    hrefs: list[str] = []
    text = _article(page)
    if "<" not in text:
        return []
    kept = _kept(text, hrefs)
    if kept is None:
        return []
    before, _, after = article_path.partition("$1")
    targets = [_target(href, before, after) for href in links_in(kept, hrefs)]
    return [target for target in targets if target]


def _target(href: str, before: str, after: str) -> str:
    """The target in a link's address, which may be absolute in a saved page; "" if it leads
    elsewhere."""
    path = href if href.startswith(before) else _HOST.sub("", href)
    start = before if path.startswith(before) else _RELATIVE
    if not path.startswith(start):
        return ""
    title, _, _ = path.removeprefix(start).partition("#")
    title, _, _ = title.partition("?")
    return title.removesuffix(after).replace("_", " ")


def _article(page: bytes | str) -> str:
    """The markup of the article."""
    data = page.encode("utf-8", "replace") if isinstance(page, str) else page
    text = data.decode("utf-8", "replace")
    begin = _CONTENT.search(text) or _PARSER_OUTPUT.search(text)
    if begin:  # the rest need not be parsed
        end = _END_OF_CONTENT.search(text, begin.end())
        stop = end.start() if end else len(text)
        text = text[begin.start() : stop]
    # MediaWiki writes no XML declarations, and BeautifulSoup would warn about them.
    return _OF_XML.sub("", text)


def _kept(text: str, hrefs: list[str] | None = None) -> Iterator[str] | None:
    """The lines of prose; None: the page nests deeper than any article.

    ``hrefs`` collects the addresses of links, whose numbers are marked in the lines.
    """
    from wikitopics.crawler.markup.html_lines import TooDeep, lines_with_levels

    try:
        lines = lines_with_levels(text, hrefs)
    except TooDeep:
        return None
    return in_kept_sections(lines)
