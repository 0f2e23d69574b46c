"""What a dump states of a page, and whether that is an article."""

from dataclasses import dataclass, field

from wikitopics.crawler.dumps.namespaces import has_namespace
from wikitopics.crawler.markup.disambiguation import is_disambiguation
from wikitopics.crawler.markup.wikitext import is_redirect
from wikitopics.crawler.page import (
    LARGEST_TEXT,
    LONGEST_TITLE,
    Page,
    Skip,
    SourceInfo,
    is_id,
    utf8_size,
)

ARTICLES = "0"
"""The key of the namespace of articles."""
OF_PAGES = ("title", "ns", "id")
"""The elements whose texts are read of a page; the next ones are those of a revision."""
OF_REVISIONS = ("id", "timestamp", "model")
_TEXT_MODELS = frozenset({"", "wikitext"})
_DIGITS_OF_TIME = 14
"""Year, month, day, hour, minute and second."""


@dataclass(frozen=True, slots=True)
class DumpEntry:
    """One page of the dump, of any kind."""

    page: Page | Skip | None
    """The article, or the reason to skip it; None: a page of another kind, or a redirect."""
    start: int
    """Bytes of this reader's input before the page."""
    end: int
    """Bytes of this reader's input up to the page's end, or up to where it breaks."""


@dataclass(slots=True)
class Revision:
    """What a dump has stated of a revision."""

    fields: dict[str, str] = field(default_factory=dict)
    has_text: bool = False
    too_large: bool = False

    @property
    def age(self) -> tuple[str, int]:
        """Larger for a newer one. A revision without a time counts as older than one with a
        time."""
        digits = "".join(filter(str.isdecimal, self.fields.get("timestamp", "")))
        return digits[:_DIGITS_OF_TIME], _number(self.fields.get("id", ""))


@dataclass(slots=True)
class DumpPage:
    """What a dump has stated of a page so far."""

    start: int
    """The byte of the input at which it begins."""
    fields: dict[str, str] = field(default_factory=lambda: dict.fromkeys(OF_PAGES, ""))
    is_redirect: bool = False
    revision: Revision | None = None
    """The revision that has begun and not ended yet, if any."""
    _newest: Revision | None = None

    def end_revision(self, revision: Revision) -> None:
        """Note that a revision has ended; the page is as in its newest one."""
        self.revision = None
        if self._newest is None or revision.age >= self._newest.age:
            self._newest = revision

    def is_article(self, info: SourceInfo) -> bool:
        """Whether the page is in the main namespace, and no redirect, as far as is known by now."""
        if self.is_redirect:
            return False
        namespace = self.fields["ns"].strip()
        if namespace:
            return namespace == ARTICLES
        return not has_namespace(self.fields["title"], info)

    def ended(self, info: SourceInfo) -> Page | Skip | None:
        """The article, now that the page has ended, or why it is skipped; None for one that is no
        article."""
        if not self.is_article(info):
            return None
        revision = self._newest or Revision()
        text = revision.fields.get("text", "")
        title = self.fields["title"].strip()
        try:
            page_id = int(self.fields["id"])
            revision_id = int(revision.fields.get("id") or 0)
        except ValueError:
            return "damaged"
        if not is_id(revision_id):
            revision_id = 0
        if revision.too_large or utf8_size(title) > LONGEST_TITLE or utf8_size(text) > LARGEST_TEXT:
            return "too large"
        if not is_id(page_id) or not title:
            return "damaged"
        if not revision.has_text:
            return "deleted or hidden"
        if revision.fields.get("model", "").strip() not in _TEXT_MODELS:
            return "no wikitext"
        if not text.strip():
            return "no text"
        if is_disambiguation(text, info.language):
            return "disambiguation"
        if is_redirect(text):
            return None
        return Page(page_id, title, revision_id, text, "wikitext")


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0
