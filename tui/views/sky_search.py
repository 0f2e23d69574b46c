"""Search on the map of articles: which articles and topics are found, and so lit."""

from collections.abc import AsyncIterator, Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.records import ArticleRow
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.sky_motion import Sky
from wikitopics.tui.text import nearness
from wikitopics.tui.topic_order import Search, matching
from wikitopics.tui.views.articles import FOUND, MANY, found_by
from wikitopics.tui.views.view import View


class SkySearch:
    """What is sought on the map, and what has been found."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin again: nothing is sought."""
        self.sought = ""
        self.found_for = ""
        """What was sought when these were found; empty: nothing has been found."""
        self.articles: Sequence[int] = ()
        """The articles found, by number (`seq`): by their titles and words, or those most like a
        text."""
        self.topics: frozenset[int] = frozenset()

    async def find(
        self, view: View, session: SessionView, model: str
    ) -> AsyncIterator[Sequence[ArticleRow]]:
        """Find what is sought: articles by their titles and words, topics by their words. Yields
        the articles, the best first: those found by their titles, and then all. Raises SessionError
        as `View.ask` does."""
        sought = self.sought
        if not sought:
            self.topics = frozenset()
            self.articles = ()
            self.found_for = ""
            yield ()
            return
        by_title = await view.ask(lambda reader: reader.find_articles(sought, FOUND), aside=True)
        by_title.sort(key=lambda row: nearness(sought, row.title))
        rows = matching(session.topics_of(model), Search(sought))
        self.topics = frozenset(row.topic for row in rows if not row.hidden)
        self.found_for = sought
        self.articles = [row.seq for row in by_title]
        yield by_title
        _, by_words = await found_by(view, session, model, MANY)
        there = {row.seq for row in by_title}
        found = [*by_title, *(row for row in by_words if row.seq not in there)]
        self.articles = [row.seq for row in found]
        yield found

    def lit(
        self, sky: Sky, topic_count: int, more_topics: Collection[int] = ()
    ) -> NDArray[np.int64] | None:
        """Where in the sky's arrays the articles are that were found, and those most about the
        topics found and these; None if nothing is sought."""
        topics = self.topics.union(more_topics)
        if not (self.sought or topics or self.articles):
            return None
        is_lit = np.zeros(len(sky), np.bool_)
        if topics:
            of_topic = np.zeros(max(topic_count, max(topics) + 1), np.bool_)
            of_topic[list(topics)] = True
            is_lit |= of_topic[np.minimum(sky.topics, len(of_topic) - 1)]
        is_lit[sky.find(self.articles)] = True
        return np.flatnonzero(is_lit)
