"""The map of articles of each model, as training goes on: layouts of landmarks, and the places of
all articles among them.

A layout follows from what is stored when its landmarks are chosen, and an article's place from the
layout and from its stored proportions. So what a session ends with does not depend on when it was
interrupted, nor on when a layout was ready.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.article_map import (
    MOST_LANDMARKS,
    Landmarks,
    chosen_landmarks,
    laid_out,
    moved,
    packed,
    started,
    unpacked,
)
from wikitopics.model.threads import Threads
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.records import Progress
from wikitopics.session.storage.counts import MOST_BLOCKS
from wikitopics.session.storage.places import Layout, rows_of
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.schedule import last_doubling

FIRST = 512
"""The number of articles from which there is a map of them."""
LEAST_LANDMARKS = 1_024
"""With fewer articles, all are landmarks."""
ARTICLES_OF_LANDMARK = 8
"""How many articles there are for each landmark while training goes on, so that a layout takes a
small part of the time that learning takes."""
PLACING = 0.02
"""The part of the time in which articles are placed while training goes on."""
LONGEST = 0.2
"""The most seconds of it at a time."""
MOST_PLACED = 256
"""The most blocks of articles that are placed at a time."""
TOGETHER_AT_END = 16
"""How many of them are read before threads place them."""

TopicPlaces = NDArray[np.float32]
"""(K, 2) NaN for topics that are not in use."""


class Charting:
    """Keeps the maps of a session's models."""

    def __init__(
        self,
        store: SessionWriter,
        topic_places: Callable[[int], TopicPlaces | None],
        threads: int = 1,
    ) -> None:
        """``topic_places``: those of the model of this number as of now, None before its first
        snapshot. ``threads``: how many place articles when all is learnt."""
        self._store = store
        self._topic_places = topic_places
        settings = store.settings()
        keeps_proportions = settings[KEEP_ARTICLES] == "all"
        self._models = settings.models if keeps_proportions else ()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="map")
        """Where landmarks are laid out."""
        self._layouts: list[Layout | None] = []
        """The newest layout of each model."""
        self._begun: dict[int, Future[Layout]] = {}
        """Of the models whose newest layout is still without places, its future."""
        self._landmarks: dict[int, tuple[int, Landmarks]] = {}
        """Of each model, the landmarks of its newest layout with places, and its `articles`."""
        self._restarted = [store.started_over_at(spec.name) for spec in self._models]
        """The articles after which each model's topics started over; 0: they have not."""
        self._asked = False
        """Whether somebody has asked for a new layout."""
        self._rests_until = 0.0
        """When articles may be placed again while others are learnt, by the monotonic clock."""
        self._one_thread = Threads(1)
        self._all_threads = Threads(threads)
        for number, spec in enumerate(self._models):
            stored = store.layouts(spec.name)
            newest = stored[0] if stored else None
            before = stored[1] if len(stored) > 1 else None
            self._layouts.append(newest)
            if newest is not None and newest.places is None:
                self._begin(number, newest, before)

    def ask(self) -> None:
        """Have landmarks chosen anew as soon as possible."""
        self._asked = True

    def forget(self, number: int, articles: int, changes: Changes) -> None:
        """Forget the map of a model whose topics have started over after this many articles."""
        if number >= len(self._layouts):
            return
        self._layouts[number] = None
        self._begun.pop(number, None)
        self._restarted[number] = articles
        changes.drops_maps.add(number)
        changes.layouts = [(model, one) for model, one in changes.layouts if model != number]
        changes.places = [row for row in changes.places if row[0] != number]

    def due(self, progress: Progress, *, all_learnt: bool) -> bool:
        """Whether landmarks are to be chosen, for which everything must have been committed.

        ``all_learnt``: whether nothing more is learnt or inferred again
        """
        return len(self._due(progress, all_learnt)) > 0

    def _due(self, progress: Progress, all_learnt: bool) -> list[int]:
        """The numbers of the models for which landmarks are to be chosen."""
        articles = progress.articles
        if articles < FIRST and not all_learnt:
            return []
        if not articles:
            return []
        due = []
        for number, layout in enumerate(self._layouts):
            newest = 0 if layout is None else layout.articles
            if all_learnt:
                is_due = newest != articles
            else:
                # In a later pass, most stored proportions are of the topics before they started
                # over until the documents have been read again.
                restarted = self._restarted[number] if progress.again else 0
                since = max(newest, restarted)
                wanted_from = articles if self._asked else last_doubling(articles)
                is_due = since < wanted_from
            if is_due and self._topic_places(number) is not None:
                due.append(number)
        return due

    def choose(self, progress: Progress, changes: Changes, *, all_learnt: bool) -> None:
        """Choose landmarks for the models for which they are due, and begin to lay them out."""
        due = self._due(progress, all_learnt)
        self._asked = False
        # With a connection of its own, since millions of articles take long to read: a stop during
        # this leaves the store to others.
        with closing(SessionReader(self._store.path)) as reader:
            n = reader.n_recorded()
            wanted = n if all_learnt else max(LEAST_LANDMARKS, n // ARTICLES_OF_LANDMARK)
            chosen = chosen_landmarks(n, min(wanted, MOST_LANDMARKS))
            stored = [reader.proportions_at(self._models[number].name, chosen) for number in due]
        for number, landmarks in zip(due, stored, strict=True):
            self._wait(number, changes)
            topics = self._topic_places(number)
            assert topics is not None
            before = self._layouts[number]
            layout = Layout(progress.articles, landmarks, topics)
            changes.layouts.append((number, layout))
            self._layouts[number] = layout
            self._begin(number, layout, before)

    def _begin(self, number: int, layout: Layout, before: Layout | None) -> None:
        self._begun[number] = self._thread.submit(with_places, layout, before)

    def collect(self, changes: Changes, *, wait: bool = False) -> None:
        """Store the layouts that are ready; ``wait``: all that have been begun."""
        for number in list(self._begun):
            if wait or self._begun[number].done():
                self._wait(number, changes)

    def _wait(self, number: int, changes: Changes) -> None:
        begun = self._begun.pop(number, None)
        if begun is not None:
            layout = begun.result()
            self._layouts[number] = layout
            changes.layouts.append((number, layout))

    def place_beside(self, since_last: float, changes: Changes) -> None:
        """Place some articles beside those that are learnt, now that so many seconds have passed
        since the last commit: a block of them may take longer than `PLACING` allows, and then none
        is placed until it does. Nor is any while others that were placed wait to be committed: the
        same ones would be placed again, each time that a commit is tried on a full disk."""
        began = time.monotonic()
        if changes.places or began < self._rests_until:
            return
        self.place(min(PLACING * since_last, LONGEST), changes)
        taken = time.monotonic() - began
        self._rests_until = began + taken / PLACING

    def place(self, seconds: float, changes: Changes, *, all_learnt: bool = False) -> bool:
        """Place articles that have been committed without a place among the newest landmarks, the
        newest first, for about this long, and at least one block of them; returns whether all have
        one then."""
        threads = self._all_threads if all_learnt else self._one_thread
        together = TOGETHER_AT_END if all_learnt else 1
        end = time.monotonic() + seconds

        def is_over() -> bool:
            """Finding them may take longer than placing them should. After that, the store is not
            read: a stop may have left it to others."""
            return len(changes.places) > 0 and time.monotonic() >= end

        all_placed = True
        for number, spec in enumerate(self._models):
            layout = self._in_force(number)
            if layout is None:
                continue
            if is_over():
                return False
            blocks = self._store.unplaced(spec.name, layout.articles, MOST_PLACED)
            if not blocks:
                continue
            landmarks = self._opened(number, layout)
            for first in range(0, len(blocks), together):
                if is_over():
                    return False
                some = blocks[first : first + together]
                stored = [self._store.stored(spec.name, [block]) for block in some]
                places_of_each = placed(landmarks, [each.proportions for each in stored], threads)
                for (first_seq, _), places in zip(some, places_of_each, strict=True):
                    changes.places.append((number, first_seq, layout.articles, places))
            all_placed &= len(blocks) < MOST_PLACED
        return all_placed

    def _in_force(self, number: int) -> Layout | None:
        """The newest layout of a model, once it has places."""
        layout = self._layouts[number]
        if layout is None or layout.places is None:
            return None
        return layout

    def _opened(self, number: int, layout: Layout) -> Landmarks:
        known = self._landmarks.get(number)
        if known is None or known[0] != layout.articles:
            known = (layout.articles, layout.opened())
            self._landmarks[number] = known
        return known[1]

    @property
    def is_laying_out(self) -> bool:
        """Whether landmarks are being laid out."""
        return len(self._begun) > 0

    def n_unplaced(self) -> int:
        """How many articles as of the last commit have no place among the newest landmarks."""
        unplaced = 0
        for number, spec in enumerate(self._models):
            layout = self._in_force(number)
            if layout is not None:
                blocks = self._store.unplaced(spec.name, layout.articles, MOST_BLOCKS)
                unplaced += sum(articles for _, articles in blocks)
        return unplaced


def placed(
    landmarks: Landmarks, blocks: Sequence[Proportions], threads: Threads
) -> list[NDArray[np.uint16]]:
    """The places of the articles of each block, by `packed`."""

    def of_block(number: int, _: int) -> NDArray[np.uint16]:
        return landmarks.placed(rows_of(blocks[number]))

    return threads.map(of_block, len(blocks), 1)


def with_places(layout: Layout, before: Layout | None) -> Layout:
    """A layout with the places of its landmarks.

    They begin where they would be among the landmarks of the layout before, if there is one, moved
    with the topics.
    """
    K = len(layout.topics)
    rows = rows_of(layout.landmarks)
    topics = layout.topics.astype(np.float64)
    if before is None:
        places = laid_out(rows, K, started(rows, topics))
    else:
        here = unpacked(before.opened().placed(rows))
        begin = moved(rows, here, before.topics.astype(np.float64), topics)
        places = laid_out(rows, K, begin, is_later=True)
    return replace(layout, places=packed(places))
