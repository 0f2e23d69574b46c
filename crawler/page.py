"""Pages: articles as a source delivered them, and what is known of the wiki that they are from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeGuard

LARGEST_TEXT = 2 << 20
"""Bytes of UTF-8: MediaWiki's own limit on a page; a larger page is not an article."""
LONGEST_TITLE = 255
"""In bytes, as in MediaWiki."""
LARGEST_ID = (1 << 63) - 1
ARTICLE_PATH = "/wiki/$1"
"""The usual path of a wiki's pages."""
SURROGATE = re.compile("[\ud800-\udfff]")
"""JSON can contain lone surrogates, which UTF-8 cannot encode."""
Markup = Literal["wikitext", "html", "text"]
Skip = Literal[
    "disambiguation",
    "redirect",
    "deleted or hidden",
    "no text",
    "no wikitext",
    "not UTF-8",
    "not JSON",
    "too large",
    "repeated",
    "damaged",
    "forbidden by robots.txt",
]
"""Why a page listed by the source gives no article; "no text": the wiki never delivers the text."""
Skips = Mapping[Skip, int] | Mapping[str, int]
"""The number of pages for each reason; sources of other packages may have their own reasons."""


def is_id(value: object) -> TypeGuard[int]:
    """Whether ``value`` can be the id of a page or revision."""
    return type(value) is int and 0 < value <= LARGEST_ID


def utf8_size(text: str) -> int:
    """Bytes of ``text`` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def sound_text(text: str) -> str:
    """``text`` with replacement characters for lone surrogates."""
    return text if text.isascii() else SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True, slots=True)
class Page:
    """One article as the source delivered it, with its markup.

    Characters of the title that UTF-8 cannot encode, as in some file names, are replaced, and the
    title is cut off after 255 bytes.
    """

    page_id: int
    title: str
    revision_id: int
    text: str
    markup: Markup
    id: str | None = None
    """Its id in the user's collection, "" if it has none; None: the source has no ids."""

    def __post_init__(self) -> None:
        assert isinstance(self.title, str), f"expected title to be text, found {self.title!r:.60}"
        title = sound_text(self.title)
        if utf8_size(title) > LONGEST_TITLE:
            title = title.encode()[:LONGEST_TITLE].decode("utf-8", "ignore")
        object.__setattr__(self, "title", title)


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What a source reports about itself once it is open."""

    name: str
    """For people: "en.wikipedia.org", "demo", "pages-articles.xml.bz2"."""
    articles: int | None
    """The number of its articles, if it can be known."""
    file_names: tuple[str, ...] = ()
    """The names of its File namespace, for removing files from wikitext."""
    category_names: tuple[str, ...] = ()
    language: str = ""
    """The code of its language, if it states one."""
    namespaces: tuple[str, ...] = ()
    """The names of all its namespaces that hold no articles, as far as they are known."""
    keeps_case: bool = False
    """Whether titles may begin with a small letter, as in Wiktionary."""
    article_path: str = ARTICLE_PATH
    """The path of rendered pages, with ``$1`` for the title."""
    identity: Mapping[str, Any] = field(default_factory=dict)
    """Further identification of its content, such as a checksum, which a new session stores."""
    start: Mapping[str, Any] | None = None
    """The position before its first article, if a source resumed from there recognises whether it
    has changed."""
    files: int | None = None
    """The number of files in which its articles are, if it is known."""
