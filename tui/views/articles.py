"""Articles: those read, newest first; those found by title; or those most about one topic."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult

from wikitopics.session.errors import SessionError
from wikitopics.session.records import NO_KNOWN_WORD, ArticleRow
from wikitopics.session.sources import singular
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.typical import typicality
from wikitopics.tui.inks import (
    MIX,
    NO_MARKS,
    Clickable,
    Line,
    Marks,
    linked,
    marked,
    marks_of,
    name,
    opening,
)
from wikitopics.tui.lists import RowList
from wikitopics.tui.session_view import MIXED, Leading, SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import (
    count,
    nearness,
    padded,
    plural,
    title_and_text,
    visible,
    weight,
)
from wikitopics.tui.views.view import View

if TYPE_CHECKING:
    from wikitopics.session.analysis.sought import Sought, Span

    Spans = Callable[[str], Sequence[Span]]
    """The parts of a text to mark."""

# Articles, one per line, with what a model made of each: a list, and the newest of those being
# read.

ROOMY = 52
"""The number of cells from which a title and a topic share a line."""
NUMBERS = 19
"""Cells of an article's numbers."""
ROOM_FOR_TWO = 90
"""The width, in cells, from which a line shows two topics."""
ROOM_FOR_THREE = 150
"""The width, in cells, from which a line shows three topics."""
ROOM_FOR_MIX = 50
"""The width from which it has a bar of topics."""
SHARE = 7
"""Cells of a share without a name."""
LEAST = 16
"""The minimum width of a topic, in cells."""


async def leading(
    view: View, model: str, rows: Sequence[ArticleRow], *, aside: bool = False
) -> Leading:
    """What is known of these articles' topics. ``aside`` and errors: as for `View.ask`."""
    seqs = [row.seq for row in rows]
    return await view.ask(lambda reader: reader.leading_topics(model, seqs, MIXED), aside=aside)


class Columns(NamedTuple):
    """The cells of a line's columns after its numbers, at one width."""

    title: int
    text: int
    """Of the beginnings of texts; 0 without them."""
    mix: int
    """Of the bar of topics; 0 without one."""
    topic: int
    """Of each topic."""
    topics: int
    """The number of topics; in a list about one topic, that one is not counted."""


class ArticleList(RowList[ArticleRow]):
    """Articles, one per line. Titles come from strangers, so they are printed literally."""

    stays_on_top = True
    empty = "none"
    _session: SessionView | None = None
    _model = ""
    _leading: Leading = {}  # noqa: RUF012 - never changed
    _topic: int | None = None
    _spans: "Spans | None" = None
    _marks = NO_MARKS
    _drawn_from: object = None
    _has_texts = False
    """Whether beginnings of texts are known."""
    common: object = None
    """The session of the articles, and what they have in common."""

    def show_articles(
        self,
        rows: Sequence[ArticleRow],
        leading: Leading,
        session: SessionView,
        model: str,
        *,
        sought: object = None,
        topic: int | None = None,
        spans: "Spans | None" = None,
    ) -> None:
        """Draw these, as ``model`` sees them; ``sought`` is what they have in common.

        ``leading``: what is known of all their topics. ``topic``: the one that all are most about,
        so that no line needs to name it. ``spans``: the parts of a title to mark.
        """
        common = (session.status.session, sought, topic)
        if common != self.common:
            self.release()
        self.common = common
        self._session = session
        self._model = model
        self._leading = leading
        self._topic = topic
        self._spans = spans
        self._has_texts = any(row.snippet for row in rows)
        self._marks = marks_of(self, session, model)
        drawn_from = (common, _depend_on(session, model, leading, self._marks))
        is_anew = drawn_from != self._drawn_from
        self._drawn_from = drawn_from
        self.show(rows, anew=is_anew)

    def key(self, row: ArticleRow) -> object:
        return row.seq

    def header(self, width: int) -> Line:
        columns = self._columns(width)
        first = "number" if self._topic is None else "typical"
        words = f"{first:>9} {'words':>7}  " + "title".ljust(columns.title)
        if columns.text:
            words += "  text".ljust(columns.text)
        if self._topic is not None:
            words += "share".ljust(SHARE)
        if columns.mix:
            words += "topics".ljust(columns.mix)
        others = columns.topics
        if self._topic is None:
            words += "most about".ljust(columns.topic)
            others -= 1
        if others > 0:
            words += "also about"
        return [(words, "header")]

    def parts(self, row: ArticleRow, width: int) -> Line:
        assert self._session is not None
        columns = self._columns(width)
        room = columns.title + columns.text
        title, text = title_and_text(row, columns.title - 2, columns.text)
        spans = () if self._spans is None else self._spans(title)
        address = self._session.address(row)
        first = count(row.seq)
        largest = row.largest_of(self._model)
        if self._topic is not None and largest is not None:
            _, proportion = largest
            first = f"{typicality(proportion, row.words):.2f}"
        return [
            (f"{first:>9} ", "faint"),
            (f"{count(row.words):>7}  ", "muted"),
            *((linked(part, address), ink) for part, ink in marked(title, spans)),
            (text, "muted"),
            (" " * (room - cell_len(title) - cell_len(text)), ""),
            *self._about(row, self._session, width),
        ]

    def _about(self, row: ArticleRow, session: SessionView, width: int) -> Line:
        """What it is about: as many topics as there is room for, the largest first."""
        columns = self._columns(width)
        parts = topics_of(row, self._model, self._leading)
        if not parts:
            return [("held out", "faint")] if row.role == "held_out" else without_topics(row)
        out: Line = []
        if self._topic is not None:
            _, proportion = parts[0]
            out.append((weight(proportion).ljust(SHARE), "accent"))
        if columns.mix:
            out += [*self._marks.mix(parts), (" ", "")]
        named = parts
        if self._topic is not None:  # the list's title names it
            named = parts[1:]
        for part in named[: columns.topics]:
            label = topic_parts(session, self._model, part, self._marks, weighed=not columns.mix)
            out += topic_cell(label, columns.topic)
        return out

    def _columns(self, width: int) -> Columns:
        room = max(width - NUMBERS, 0)
        topics = 1
        if room >= ROOM_FOR_THREE:
            topics = 3
        elif room >= ROOM_FOR_TWO:
            topics = 2
        share = SHARE if self._topic is not None else 0
        mix = 0
        if self._marks.mixes and room - share >= ROOM_FOR_MIX:
            mix = MIX + 1
        room_for_text = ROOM_FOR_TWO if self._topic is None else ROOM_FOR_MIX
        if self._has_texts and room >= room_for_text:
            return self._columns_with_text(room - mix - share, mix)
        room -= mix
        title = room // 2 if topics == 1 else room * 3 // 8
        title = max(min(title, 60), 12)
        rest = room - title - share
        topic = max(rest // topics, LEAST)
        if self._topic is not None and rest < LEAST:
            topics = 0
        return Columns(title, 0, mix, topic, topics)

    def _columns_with_text(self, room: int, mix: int) -> Columns:
        """The beginning of a text says more than a second topic."""
        title = min(room // 4, 40)
        if self._topic is not None:
            return Columns(title, room - title, mix, 0, 0)
        topic = min(room // 4, 40)
        return Columns(title, room - title - topic, mix, topic, 1)


class Reading(RowList[tuple[ArticleRow, bool]]):
    """The newest articles with their main topics, one per line; two lines each if there is no room.

    A row is an article, and whether this is its first line.
    """

    headed = False
    stays_on_top = True
    _session: SessionView | None = None
    _model = ""
    _marks = NO_MARKS
    _drawn_from: object = None

    def show_session(self, session: SessionView, model: str) -> None:
        """Draw the newest articles of this session as ``model`` sees them."""
        self._session = session
        self._model = model
        self._marks = marks_of(self, session, model)
        if session.as_of is not None:
            self.empty = f"the {session.noun} of that time are not kept"
        elif session.status.lively:
            self.empty = coming(session)
        else:
            self.empty = f"no {singular(session.noun)} has been read"
        rows = []
        for article in session.recent:
            rows.append((article, True))
            if self.width < ROOMY:
                rows.append((article, False))
        known = session.leading.get(model, {})
        drawn_from = (self.empty, _depend_on(session, model, known, self._marks))
        is_anew = drawn_from != self._drawn_from
        self._drawn_from = drawn_from
        self.show(rows, anew=is_anew)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        if self._session is not None:
            self.show_session(self._session, self._model)

    def on_blur(self) -> None:
        """Show the newest again: an article that somebody had chosen goes down the list and out of
        it."""
        self.release()

    def key(self, row: tuple[ArticleRow, bool]) -> object:
        article, is_first = row
        return article.seq, is_first

    def action_choose(self) -> None:
        if self.current is not None:
            article, _ = self.current
            self.post_message(self.Selection(article))

    def parts(self, row: tuple[ArticleRow, bool], width: int) -> Line:
        article, is_first = row
        session = self._session
        marks = self._marks
        assert session is not None
        parts = topics_of(article, self._model, session.leading.get(self._model, {}))
        bar: Line = []
        about = without_topics(article)
        if parts:
            if marks.mixes:
                bar = [*marks.mix(parts), (" ", "")]
            about = topic_parts(session, self._model, parts[0], marks, weighed=not bar)
        if not is_first:
            return [("   ", ""), *about]

        if width < ROOMY:
            room = width - 2
            if bar:
                room -= MIX + 1
            end = bar
        else:
            room = 2 * width // 5 if marks.mixes else width // 2
            room -= 2
            end = bar + about
        title, _ = title_and_text(article, room, 0)
        blank = " " * (room + 1 - cell_len(title))
        ink = "strong" if article == session.recent[0] else ""
        return [(" ", ""), (linked(title, session.address(article)), ink), (blank, ""), *end]


def _depend_on(session: SessionView, model: str, leading: Leading, marks: Marks) -> object:
    """What the lines of articles depend on, besides the articles."""
    return session.status.session, model, session.topics_of(model), leading, marks


def coming(session: SessionView) -> str:
    """What is shown before there is anything to list."""
    return f"the first {session.noun} are on their way"


def topics_of(article: ArticleRow, model: str, leading: Leading) -> list[tuple[int, float]]:
    """What is known of an article's (topic, proportion), the largest first; none if it was not
    trained on."""
    if article.role != "trained":
        return []
    largest = [(topic, part) for name, topic, part in article.topics if name == model]
    if not largest:
        return []
    (main_topic, _), *_ = largest
    others = leading.get(article.seq, ())
    return largest + [(topic, part) for topic, part in others if topic != main_topic]


def without_topics(article: ArticleRow) -> Line:
    """What is known of an article without topics: that it was skipped, or how long it is."""
    if article.role == "skipped":
        return [(f"skipped: {NO_KNOWN_WORD}", "faint")]
    return [(plural(article.words, "word"), "faint")]


def topic_parts(
    session: SessionView,
    model: str,
    part: tuple[int, float],
    marks: Marks,
    *,
    weighed: bool,
) -> Line:
    """A topic of an article, which is a ``part`` of it: "● navy, war, fleet"; ``weighed``: with its
    proportion, "41%" before it."""
    topic, proportion = part
    number, _, words = session.topic_label(model, topic).partition(" ")
    parts: Line = [*marks.dot(topic), (words or number, "muted")]
    if weighed:
        parts.insert(0, (f"{weight(proportion):>4} ", "accent"))
    return [(opening(text, topic), ink) for text, ink in parts]


def for_measuring(session: SessionView, rows: Sequence[ArticleRow]) -> str:
    """A note that some of these articles are never trained on; "" if none is held out."""
    if not any(row.role == "held_out" for row in rows):
        return ""
    first = "" if session.status.source == "dump" else "the first "
    return f"{first}{count(session.status.held_out_target)} held out"


def topic_cell(parts: Line, cells: int) -> Line:
    """A topic in its column."""
    *head, (label, ink) = parts
    assert isinstance(label, Clickable)
    room = cells - 1 - sum(len(text) for text, _ in head)
    text = padded(visible(label), room) + " "
    return [*head, (Clickable(text, action=label.action), ink)]


async def found_by(
    view: View,
    session: SessionView,
    model: str,
    most: int,
) -> "tuple[Sought | None, list[ArticleRow]]":
    """(what a view's search looks for, the articles that have its words, the best first); None and
    no article if the session has no model yet, or a damaged one. Raises SessionError as `View.ask`
    does."""
    text = view.sought
    watch = view.host.watched
    commit = session.status.committed_at

    def find(reader: SessionReader) -> "tuple[Sought | None, list[ArticleRow]]":
        try:
            finder = watch.answering(reader, model, commit).finder
            sought = finder.sought(text)
            matches = finder.documents(reader, sought, most)
        except SessionError:
            return None, []
        return sought, [match.article for match in matches if match.words]

    return await view.ask(find, aside=True)


def _topic_in(sought: str, n_topics: int) -> int | None:
    """The topic that "#12" names; None for other words, and for a number that no topic has."""
    number = sought.removeprefix("#")
    if number == sought or not number.isdecimal():
        return None
    topic = int(number)
    return topic if topic < n_topics else None


MANY = 200
"""The maximum number of articles listed without a search of titles."""
FOUND = 2_000
"""The maximum number of titles that a search finds, the newest; those with whole words are listed
first."""


class Articles(View):
    """One list that shows the stream, or the articles found."""

    TITLE = "Articles"
    HOME = ArticleList
    FINDS = "words, a title, or #12 for those about topic 12"
    BINDINGS = bindings("articles")

    def compose(self) -> ComposeResult:
        yield ArticleList(id="articles")

    def draw(self, session: SessionView) -> None:
        model = self.choice.model_of(session)
        listed = self.query_one(ArticleList)
        # The first article of the list while the user reads further down, so that newer ones do not
        # push the others away; None if the list begins with the newest.
        first = None
        is_newest = listed.common == (session.status.session, "", None)  # nothing is sought
        reads_on = bool(listed.held or listed.scroll_offset.y)
        if session.as_of is not None:
            first = session.recent[0].seq if session.recent else None
        elif listed.rows and is_newest and reads_on:
            first = listed.rows[0].seq
        values = (
            session.recent,
            session.as_of,
            model,
            self.sought,
            first,
            session.topics,
            self.choice.ascii_only,
        )
        self.fill("articles", values, partial(self._fill, session, model, first))

    async def _fill(self, session: SessionView, model: str, first: int | None) -> None:
        sought = self.sought
        spans: Spans | None = None
        topic = _topic_in(sought, len(session.topics_of(model)))
        if topic is not None:
            rows = await self.ask(lambda reader: reader.articles_about(model, topic, MANY))
            rows = [row for row in rows if session.seen_by_now(row)]
            title = f"{session.noun.capitalize()} most about {session.topic_label(model, topic)}"
        elif sought:
            rows = await self.ask(lambda reader: reader.find_articles(sought, FOUND), aside=True)
            which = "The newest " if len(rows) == FOUND else ""
            rows = [row for row in rows if session.seen_by_now(row)]
            rows.sort(key=lambda row: nearness(sought, row.title))
            found = plural(len(rows), singular(session.noun))
            title = f"{which}{found} with “{visible(sought)}” in the title"
            await self._show(rows, title, session, model, empty="looking for its words …")
            rows, spans, by_words = await self._with_words(rows, session, model)
            if by_words:
                title += f", {count(by_words)} by its words"
        else:
            rows = await self.ask(lambda reader: reader.recent_articles(MANY, first))
            title = f"{session.noun.capitalize()} read, newest first"
            if session.as_of is not None:
                title += " · by then" if session.recent else session.of_now()
            elif first is not None and session.recent:
                newer = session.recent[0].seq - first
                if newer:
                    title += f"; Home shows {count(newer)} newer"
        empty = "nothing found" if sought else coming(session)
        await self._show(rows, title, session, model, empty, topic=topic, spans=spans)

    async def _show(
        self,
        rows: Sequence[ArticleRow],
        title: str,
        session: SessionView,
        model: str,
        empty: str,
        *,
        topic: int | None = None,
        spans: "Spans | None" = None,
    ) -> None:
        """Show these articles under a title; ``empty``: what is said if there are none."""
        sought = self.sought
        topics = await leading(self, model, rows, aside=True)
        listed = self.query_one(ArticleList)
        listed.empty = empty
        listed.show_articles(rows, topics, session, model, sought=sought, topic=topic, spans=spans)
        listed.refresh()  # what is marked, and what is said, may have changed
        self.refresh_bindings()  # actions for an article
        name(listed, title, for_measuring(session, rows))

    async def _with_words(
        self,
        rows: Sequence[ArticleRow],
        session: SessionView,
        model: str,
    ) -> "tuple[list[ArticleRow], Spans | None, int]":
        """(these articles, and those that have the words sought, what to mark, the number of those
        that were added)."""
        sought, found = await found_by(self, session, model, MANY)
        there = {row.seq for row in rows}
        more = [row for row in found if row.seq not in there and session.seen_by_now(row)]
        spans = None if sought is None else sought.spans
        return [*rows, *more], spans, len(more)

    def chosen_article(self) -> ArticleRow | None:
        return self.query_one(ArticleList).current if self.is_mounted else None
