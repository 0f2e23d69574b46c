"""Examining a page's text: undeclared markup, links to other articles, disambiguation."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TypeVar
from urllib.parse import unquote

from wikitopics.crawler.markup.html import extract_html, html_links
from wikitopics.crawler.markup.prose import NAMES, SEPARATES_WORDS, without_invisible, words
from wikitopics.crawler.markup.wikitext import extract_wikitext, remove_tags, wikitext_links
from wikitopics.crawler.page import LONGEST_TITLE, Markup, Page, SourceInfo

# The articles that a text links to: targets of links to titles, as MediaWiki reads them.
#
# Modelled on `MediaWikiTitleCodec::splitTitleString`, for the main namespace. On a wiki where
# articles have subpages, ``[[/part]]`` names one of them; here it is the article "/part", as on
# Wikipedia.


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9,.()'!$*-]*+(?: [A-Za-z0-9,.()'!$*-]++)*+")
"""The common case: already a title, except for its first capital."""
_BLANKS = re.compile(r"[ _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
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
    own = {_BLANKS.sub("_", name).lower() for name in namespaces}
    return NAMES["namespaces"] | NAMES["elsewhere"] | own


def _title(target: str, foreign: frozenset[str]) -> str:
    """The title of the article that the target names, its first letter unchanged; "" if it names
    none."""
    text = target.lstrip("[")  # a bracket before a link, as in "[[[Paris]]]"
    if "%" in text:
        text = unquote(text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    text = _BLANKS.sub(" ", _DIRECTION.sub("", text)).strip(" ")
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


def page_links(page: Page, info: SourceInfo) -> list[str]:
    """The titles of the articles to which the page's prose links, each as often as it does."""
    if page.markup == "wikitext":
        targets = wikitext_links(
            page.text,
            file_names=info.file_names,
            category_names=info.category_names,
            language=info.language,
        )
    elif page.markup == "html":
        targets = html_links(page.text, info.article_path)
    else:
        targets = []
    return list(titles(targets, info, page.title))


# Recognising disambiguation pages in a dump. The API marks them; in a dump, only their templates
# do.

_NAMES = r"""
disambig(?:uation)?(?:[ _](?:page|cleanup))?|disambi?|disam|[\w ]{1,60}[ _]disambig(?:uation)?
hndis|geodis
begriffsklärung|homonymie|paronymie|patronymie|disambigua|desambigua\w*|desambig|doorverwijspagina
ujednoznacznienie|неоднозначность|förgrening|rozcestník|flertydig|täsmennyssivu|egyért|aimai
\w*曖昧さ回避|消歧[义義][页頁]?
"""
"""Templates that mark a disambiguation page in any language."""

_ABBREVIATIONS = {"en": "dab", "simple": "dab", "es": "des", "nl": "dp", "sv": "gren"}
"""Short names with other meanings on other wikis: English ``{{dp|Ceres}}`` names a dwarf planet."""


def is_disambiguation(text: str, language: str) -> bool:
    """Whether this wikitext is a disambiguation page of a wiki in ``language`` (a code, "" if
    unknown).

    The template must begin a line, or follow only other templates on it: within a sentence or a
    comment, it does not describe the page.
    """
    main_language, _, _ = language.lower().partition("-")
    template, marking = _patterns(_ABBREVIATIONS.get(main_language))
    return template.search(text) is not None and marking.search(remove_tags(text)) is not None


@cache
def _patterns(abbreviation: str | None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of the template anywhere, which is quick to rule out, and of one that marks the
    page."""
    names = "|".join(filter(None, (*_NAMES.split("\n"), abbreviation)))
    template = rf"\{{\{{\s*+(?:{names})\s*+[|}}]"
    blank = r"[^\S\n]*+"
    line = rf"^{blank}(?:\{{\{{[^{{}}\n]*+\}}\}}{blank})*{template}"
    return re.compile(template, re.IGNORECASE), re.compile(line, re.IGNORECASE | re.MULTILINE)


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
UNKNOWN = SourceInfo("", None)


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


def text_to_count(page: Page, info: SourceInfo) -> str:
    """`prose`, but plain text may keep invisible characters: those that the rules of words leave
    out, too."""
    if page.markup == "text" and SEPARATES_WORDS not in page.text:
        return page.text
    return prose(page, info)


def prose(page: Page, info: SourceInfo = UNKNOWN) -> str:
    """The page's text without its markup; ``info`` has the language of its wiki, and its names for
    files and categories."""
    if page.markup == "wikitext":
        return extract_wikitext(
            page.text,
            file_names=info.file_names,
            category_names=info.category_names,
            language=info.language,
        )
    if page.markup == "html":
        return extract_html(page.text)
    return without_invisible(page.text)
