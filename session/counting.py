"""Pages to word counts: the one step where the crawl meets the vocabulary. Runs in worker processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence

import numpy as np

from crawler.page import Page
from session.documents import Documents
from vocab import Vocabulary

_vocabulary: Vocabulary | None = None


def start_worker(words: Sequence[str]) -> None:
    """Prepare a worker process: it leaves signals to its parent and dies with it."""
    global _vocabulary
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    _vocabulary = Vocabulary.from_words(tuple(words))


def _follow(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


def count_in_worker(pages: Sequence[Page]) -> Documents:
    """:func:`count_pages` with the worker's own vocabulary."""
    assert _vocabulary is not None
    return count_pages(pages, _vocabulary)


def count_pages(pages: Sequence[Page], vocabulary: Vocabulary) -> Documents:
    """The word counts of ``pages``, in their order; articles without a known word stay, as empty rows."""
    counted = [vocabulary.count(prose(page)) for page in pages]
    lengths = [len(ids) for ids, _ in counted]
    empty = [np.empty(0, np.int32)]
    return Documents(
        np.array([page.page_id for page in pages], np.int64),
        np.array([page.revision_id for page in pages], np.int64),
        tuple(page.title for page in pages),
        np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64),
        np.concatenate([ids for ids, _ in counted] or empty),
        np.concatenate([counts for _, counts in counted] or empty),
    )


def prose(page: Page) -> str:
    """The page's text without its markup."""
    return page.text
