"""The account of a stream's documents: which are held out, skipped, or waiting to be trained on."""

from collections import deque
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.texts.seen_ids import SeenIds
from wikitopics.session.errors import Damaged
from wikitopics.session.options import HELD_OUT, SEED
from wikitopics.session.records import HELD_OUT_ALREADY, KNOWN_ID, NO_KNOWN_WORD, UNREAD, Progress
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.held_out import HeldOut


class Account:
    """Takes what is fed, hands out what is trained on, and keeps count in ``progress``.

    ``last_page_before``: the last page id of a session to which documents have been added; None if
    none have. No more are held out then, and those whose ids it has are skipped.
    """

    def __init__(
        self, store: SessionWriter, progress: Progress, last_page_before: int | None
    ) -> None:
        """Raises `Damaged` if the stored articles do not match the counts of ``progress``."""
        settings = store.settings()
        self._progress = progress
        self._seed: int = settings[SEED]
        self._pending = deque(store.pending())
        """Stretches of the stream waiting to be trained on, each with its number in the session."""
        self._next_pending = self._pending[-1][0] + 1 if self._pending else 1
        self._held_out = [store.held_out()]
        """The articles held out, in stretches until `held_out` joins these: to join each at once
        would copy all before it."""
        self._held_out_pages = set[int](self.held_out.page_ids.tolist())
        self.wanted: int = settings[HELD_OUT]
        """The number of articles to hold out."""
        self._known_ids: SeenIds | None = None
        """The ids of documents that the session had before others were added; None if none were."""
        if last_page_before is not None:
            self.wanted = len(self.held_out)
            self._known_ids = SeenIds.of(store.own_ids(last_page_before))
        self._measured_on: HeldOut | None = None
        """The held-out articles as they are measured on, once they are."""
        self._check()

    def _check(self) -> None:
        """Raise `Damaged` unless as many articles are stored as the progress counts."""
        progress = self._progress
        if len(self.held_out) != progress.held_out:
            raise Damaged("held_out holds another number of articles than progress.held_out")
        first = len(self._pending[0][1]) if self._pending else 0
        total = sum(len(documents) for _, documents in self._pending)
        trained = progress.pending_offset  # articles at the beginning of the first stretch
        if trained > first or total != trained + progress.pending:
            raise Damaged("pending holds another number of articles than progress.pending")

    @property
    def held_out(self) -> Block:
        """The articles held out so far."""
        if len(self._held_out) > 1:
            self._held_out = [Block.concatenate(self._held_out)]
        return self._held_out[0]

    @property
    def missing(self) -> int:
        """How many articles are still to be held out."""
        return max(0, self.wanted - self._progress.held_out)

    @property
    def first_pending(self) -> int:
        """The number of the first stretch that is waiting, or of the next one."""
        return self._pending[0][0] if self._pending else self._next_pending

    def measured_on(self) -> HeldOut | None:
        """The held-out articles as models are measured on them; None if there are none."""
        if self._measured_on is None and self._progress.held_out:
            self._measured_on = HeldOut(self.held_out.minibatch(), self._seed)
        return self._measured_on

    def add(self, block: Block, changes: Changes) -> None:
        """Take a stretch of the stream: first into the held-out set, then for training."""
        documents, known = block.split(self._is_new(block))
        unread = documents.n_unread
        documents, empty = documents.split(documents.has_words)
        documents, again = documents.split(self._may_be_trained(documents.page_ids))
        progress = self._progress
        for reason, number in block.skips.items():
            progress.skip(reason, number)
        progress.skip(UNREAD, unread)
        progress.skip(NO_KNOWN_WORD, len(empty) - unread)
        progress.skip(HELD_OUT_ALREADY, len(again))
        progress.skip(KNOWN_ID, len(known))
        progress.crawled += len(block) + sum(block.skips.values())
        if len(empty):
            changes.articles.append((empty, "skipped", None))
        missing = self.missing
        if missing and len(documents):
            self._hold_out(documents[:missing], changes)
            documents = documents[missing:]
        if len(documents):
            stretch = (self._next_pending, documents)
            self._pending.append(stretch)
            changes.pending.append(stretch)
            self._next_pending += 1
            progress.pending += len(documents)

    def _hold_out(self, documents: Block, changes: Changes) -> None:
        """Add documents to those that only serve to measure."""
        without_texts = replace(documents, snippets=None)
        self._held_out.append(without_texts)
        self._held_out_pages.update(documents.page_ids.tolist())
        self._measured_on = None
        changes.articles.append((documents, "held_out", None))
        self._progress.held_out += len(documents)

    def _is_new(self, block: Block) -> NDArray[np.bool_]:
        """(n,) false for added documents whose ids the session already had."""
        known = self._known_ids
        if known is None or block.ids is None:
            return np.ones(len(block), np.bool_)
        return np.array([own_id not in known for own_id in block.ids], np.bool_)

    def _may_be_trained(self, page_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) false for held-out articles: a source such as `recent` may return one again."""
        are_new = [page_id not in self._held_out_pages for page_id in page_ids.tolist()]
        allowed = np.array(are_new, np.bool_)
        if self.missing:
            # Some of these are now held out; each page may be among them only once.
            _, first_places = np.unique(page_ids, return_index=True)
            is_first = np.zeros(len(page_ids), np.bool_)
            is_first[first_places] = True
            allowed &= is_first
        return allowed

    def take(self, size: int) -> Block:
        """Take the next ``size`` articles from those waiting."""
        progress = self._progress
        progress.pending -= size
        parts: list[Block] = []
        while size:
            _, documents = self._pending[0]
            part = documents[progress.pending_offset : progress.pending_offset + size]
            parts.append(part)
            size -= len(part)
            progress.pending_offset += len(part)
            if progress.pending_offset >= len(documents):
                self._pending.popleft()
                progress.pending_offset = 0
        return Block.concatenate(parts)
