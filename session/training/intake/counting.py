"""Pages to word counts: the one step where the crawl meets the vocabulary. Runs in worker processes."""

import signal
from collections.abc import Sequence

import numpy as np

from crawler import extract_html, extract_wikitext
from crawler.source import Page, SourceInfo
from session.storage.documents import Documents
from vocab import Vocabulary

CALL_SECONDS = 60
"""A worker that computes longer over one call dies; usual are milliseconds a page.

Of its own time: a page is not to blame for a busy machine, or for a trainer that was stopped a while.
"""

_worker: tuple[Vocabulary, SourceInfo] | None = None


def start_worker(words: Sequence[str], info: SourceInfo) -> None:
    """Prepare a worker process."""
    global _worker
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    _worker = Vocabulary.from_words(tuple(words)), info


def count_in_worker(pages: Sequence[Page]) -> Documents:
    """:func:`count_pages` in a worker that :func:`start_worker` has prepared."""
    assert _worker is not None
    signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS)
    try:
        return count_pages(pages, *_worker)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def count_pages(pages: Sequence[Page], vocabulary: Vocabulary, info: SourceInfo) -> Documents:
    """The word counts of ``pages``, in their order; one without a known word stays, as an empty row."""
    has_ids = bool(pages) and pages[0].id is not None
    counted = [vocabulary.count(prose(page, info)) for page in pages]
    empty = [np.empty(0, np.int32)]
    return Documents(
        np.array([page.page_id for page in pages], np.int64),
        np.array([page.revision_id for page in pages], np.int64),
        tuple(page.title for page in pages),
        np.cumsum([0, *(len(ids) for ids, _ in counted)], dtype=np.int64),
        np.concatenate([ids for ids, _ in counted] or empty),
        np.concatenate([counts for _, counts in counted] or empty),
        tuple(page.id or "" for page in pages) if has_ids else None,
    )


def skipped(page: Page, reason: str) -> str:
    """The line that tells people of a page that could not be read."""
    # As `repr` writes it, nothing in the title acts on a terminal.
    return f"page {page.page_id} ({page.title[:100]!r}) is skipped: {reason}"


def prose(page: Page, info: SourceInfo) -> str:
    """The page's text without its markup; ``info`` knows what its wiki calls files and categories."""
    if page.markup == "wikitext":
        return extract_wikitext(page.text, file_names=info.file_names, category_names=info.category_names)
    return extract_html(page.text) if page.markup == "html" else page.text
