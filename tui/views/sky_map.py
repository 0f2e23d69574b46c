"""The map of all articles: a sky of dots on which one travels, and where what is read appears."""

import asyncio
import math
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from textual import events
from textual.timer import Timer

from wikitopics.session.analysis.article_map import ArticleMap, why_no_map
from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.session.sources import singular
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.typical import typicality
from wikitopics.tui.atlas import Direction
from wikitopics.tui.background import Work, run_in_background
from wikitopics.tui.inks import Line, area_ink, marks_of
from wikitopics.tui.session_view import MIXED, Leading, SessionView
from wikitopics.tui.sky import Counts, Written
from wikitopics.tui.sky_index import UNITS, Articles, Window, nearest_to, toward
from wikitopics.tui.sky_motion import Drift, Flight, Sky, set_out
from wikitopics.tui.sky_texts import (
    are_titled,
    carried,
    clear_of,
    named,
    taken_by,
    titled,
    topic_names,
)
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import cut, nearness, plural, visible
from wikitopics.tui.topic_order import Search, matching
from wikitopics.tui.views.articles import FOUND, MANY, found_by, topic_parts, topics_of
from wikitopics.tui.views.sky_canvas import AREAS, SkyCanvas
from wikitopics.tui.views.view import View

OTHER = AREAS - 1
"""What the topics of no area are counted as."""
FEW_FOUND = 40
"""If no more have been found, their titles are written, however many articles are in sight."""
CELLS_FOR_TOPICS = 4_000
"""Topics' names appear once the whole map has so many cells at the window's zoom."""
GROWN = 1.2
"""Names may move once there are this many times as many articles."""
TITLES_KEPT = 20_000
"""The most titles that are kept in memory."""
TITLED_FLIGHTS = 2
"""The most articles just read whose titles are written."""
LINE_TITLE = 60
"""The maximum width of a title in the line that describes an article."""
WIDE = 110
"""The width of the map from which its title explains more."""
LIT_SECONDS = 10.0
"""How long the articles about a topic are lit that was selected in a list."""
TEXT = "your text"
"""What a text that was asked about is called."""
PAUSE = 0.2
"""Seconds between two looks at a map of which parts are still being computed."""


Wanted = tuple[object, float, int | None]
"""Which map is to be read: the session and its model, the commit, and the last article in a
replay."""


class SkyMap(SkyCanvas, can_focus=True):
    """The sky. Arrow keys lead from article to article; the line below describes the one under the
    cursor, or the newest."""

    DEFAULT_CLASSES = "panel"
    BINDINGS = bindings("map")

    lack = ""
    """Why there is no map of articles; "" if there is one, or if that is not known yet."""
    _wanted: Wanted = (None, 0.0, None)
    _read_as: Wanted | None = None
    """What was wanted when the map was read last."""
    _is_reading = False
    _is_complete = False
    """Whether all articles that have been read were on the map."""
    card: ArticleRow | None = None
    """The article under the cursor, once it has been read."""
    _view: View | None = None
    _session: SessionView | None = None
    _model = ""
    _shown: object = None
    """The session and the model of the sky."""
    _sought = ""
    _topic: int | None = None
    """The topic whose articles are lit."""
    _topic_timer: Timer | None = None
    _found_articles: Sequence[int] = ()
    """The articles found by their titles and words, by number (`seq`)."""
    _found_topics: frozenset[int] = frozenset()
    _found_for = ""
    """What was sought when these were found; empty: nothing has been found."""
    _written: Sequence[Written] = ()
    """The names and titles, at their places in the window ``_written_in``."""
    _written_in = (Window(), (0, 0))
    _written_for: object = None
    """What the names that are written, or being made, depend on."""
    _centres: tuple[object, NDArray[np.float64]] | None = None
    _leading: Leading = {}  # noqa: RUF012 - never changed

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._titled: dict[int, ArticleRow] = {}
        """Articles whose titles have been written, by number (`seq`)."""

    # What is shown --------------------------------------------------------------------------------

    def show_map(self, view: View, session: SessionView) -> None:
        """Draw the articles that the model in use has learnt; what has changed is read in the
        background."""
        model = view.choice.model_of(session)
        shown = (session.status.session, model)
        if shown != self._shown:
            self._shown = shown
            self._forget()
        self._view = view
        self._session = session
        self._model = model
        self._colour()
        last = None
        if session.as_of is not None and session.recent:
            last = session.recent[0].seq

        self._wanted = (shown, session.status.committed_at, last)
        if self._wanted != self._read_as and not self._is_reading:
            run_in_background(self, partial(self._follow, view), "sky")
        if view.FINDS and view.sought != self._sought:
            self._sought = view.sought
            self._aside(self._find, "sky-find")
        self._write()
        self.redraw()

    def _forget(self) -> None:
        """Begin again: the articles are those of another session, or of another model."""
        self.sky = None
        self.lack = ""
        self.window = Window()
        self.chosen = None
        self.card = None
        self._found = None
        self._found_articles = ()
        self._found_topics = frozenset()
        self._found_for = ""
        self._sought = ""
        self._topic = None
        self._way = None
        self._drift = None
        self._flights = ()
        self._text = None
        self._counts = None
        self._written = ()
        self._written_for = None
        self._titled.clear()

    def _colour(self) -> None:
        """Note the area of each topic."""
        assert self._session is not None
        areas = self._session.areas_of(self._model)
        topics = self._session.topics_of(self._model)
        K = max([len(topics), *(topic + 1 for topic in areas)])
        if self.sky is not None:
            K = max(K, self.sky.topic_count)
        area_of = np.full(K, OTHER)
        for topic, area in areas.items():
            area_of[topic] = area.number
        if not np.array_equal(area_of, self._area_of):
            self._area_of = area_of
            self._counts = None

    async def _follow(self, view: View) -> None:
        """Read the map until it is as wanted. If it cannot be read, the next drawing of the view
        tries again."""
        self._is_reading = True
        try:
            while self._wanted != self._read_as:
                wanted = self._wanted
                await self._read(view, self._model, wanted)
                self._read_as = wanted
        except SessionError:
            pass
        finally:
            self._is_reading = False

    async def _read(self, view: View, model: str, wanted: Wanted) -> None:
        """Read the map as it is now; parts of it may have to be computed, which takes a while."""
        watch = view.host.watched
        shown, _, last = wanted

        def read(reader: SessionReader) -> tuple[ArticleMap | None, bool, str]:
            follower = watch.map_of(reader, model)
            found = follower.read(reader)
            why = "" if found is not None else why_no_map(reader, model)
            return found, follower.is_complete, why

        while True:
            found, complete, why = await view.ask(read, aside=True)
            if shown != self._shown:
                return
            was_lacking = bool(self.lack)
            self.lack = why
            if was_lacking != bool(why):
                view.again()  # another map is shown in place of this one
            if found is None:
                self._take(None, None, complete=True)
                return
            before = self.sky
            # Where the map has drifted, all move together, once the new places of all are known.
            if complete or before is None or before.map.layout == found.layout:
                sky = await asyncio.to_thread(Sky.of, found, last, before)
                counts = await asyncio.to_thread(self._count, sky)
                if shown != self._shown:
                    return
                self._take(sky, counts, complete=complete)
            if complete:
                return
            await asyncio.sleep(PAUSE)

    def _take(self, sky: Sky | None, counts: Counts | None, *, complete: bool) -> None:
        """Show these articles from now on."""
        before = self.sky
        self.sky = sky
        self._colour()
        self._counts = counts
        was_complete = self._is_complete
        self._is_complete = complete
        is_live = self._session is not None and self._session.as_of is None
        if sky is not None and before is not None and is_live and self._animates:
            now = time.monotonic()
            if before.map.layout != sky.map.layout:
                self._drift = Drift.between(before, sky, now)
                self._flights = ()
                self._counts = None
            elif (
                was_complete
                and len(sky) > len(before) > 0
                and sky.seqs[len(before) - 1] == before.seqs[-1]
            ):
                self._flights = set_out(self._flights, sky, len(before), self.window, now)
        if sky is not None and sky is not before:
            self._light()
        self._write()
        self._keep_moving()
        self.redraw()

    def _aside(self, work: Work, group: str) -> None:
        """Do something in the background that reads the session; if it cannot be read now, the
        status line says so, and the next drawing tries again."""

        async def working() -> None:
            try:
                await work()
            except SessionError:
                self._written_for = None
                self._sought = ""

        run_in_background(self, working, group)

    # Names ----------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Have names and titles written for the window, if something has changed that they depend
        on."""
        session = self._session
        sky = self.sky
        if session is None or sky is None or min(self._room) < 1:
            return
        depends_on = (
            self._shown,
            self._target,
            self._room,
            _growth(sky),
            sky.map.layout,
            session.topics_of(self._model),
            session.atlases.get(self._model),
            self._sought,
            self._topic,
            len(self._found_articles),
            self.ascii_only,
        )
        if depends_on != self._written_for:
            self._written_for = depends_on
            self._aside(self._fill_names, "sky-names")

    async def _fill_names(self) -> None:
        session = self._session
        sky = self.sky
        view = self._view
        assert session is not None
        assert sky is not None
        assert view is not None
        window = self._target
        size = self._room
        area_of = self._area_of
        rows = session.topics_of(self._model)
        names = {
            area.number: area.name.upper()
            for area in session.areas_of(self._model).values()
            if not area.is_other
        }
        has_few_found = 0 < len(self._found_articles) <= FEW_FOUND
        is_searched = bool(self._sought)
        lit = sky.find(self._found_articles) if has_few_found else np.empty(0, np.int64)

        def heads() -> tuple[list[Written], NDArray[np.int64], Counts]:
            """The names of areas and topics, and the articles that have room for their titles."""
            counts = Counts.of(sky.articles, area_of, AREAS, window, size)
            centres = self._centred(sky, max(len(area_of), len(rows)))
            shown = [row.topic for row in rows if not row.hidden]
            placed = [topic for topic in shown if np.isfinite(centres[topic]).all()]
            places = np.rint(centres[placed] * (UNITS - 1)).astype(np.uint16)
            taken = np.zeros((size[1], size[0]), np.bool_)
            written = named(counts, names, places, area_of[placed], taken)
            if is_searched:
                written = [one._replace(ink="muted") for one in written]
            elif size[0] * size[1] * window.zoom**2 >= CELLS_FOR_TOPICS:
                rows_placed = [rows[topic] for topic in placed]
                written += topic_names(rows_placed, places, counts, written)
            numbers = lit
            if not len(lit) and are_titled(int(counts.dots.sum()), size):
                numbers = sky.articles.within(window).numbers.astype(np.int64)
            return written, numbers, counts

        written, numbers, counts = await asyncio.to_thread(heads)
        articles = await self._articles(view, sky.seqs[numbers].tolist())
        if len(numbers):
            if not len(lit):
                typical = [_typicality(row, self._model) for row in articles]
                typical_first = np.argsort(np.negative(typical), kind="stable")
                numbers = numbers[typical_first]
                articles = [articles[place] for place in typical_first.tolist()]
            taken = taken_by(written, counts)
            texts = ["" if row is None else row.called for row in articles]
            written += titled(sky.places[numbers], texts, window, size, taken, "")
        self._written = written
        self._written_in = (window, size)
        self.redraw()

    def _centred(self, sky: Sky, K: int) -> NDArray[np.float64]:
        """(K, 2) where most articles of each topic are, about; in the thread that writes names."""
        made_for = (self._shown, sky.map.layout, _growth(sky), K)
        if self._centres is None or self._centres[0] != made_for:
            self._centres = (made_for, sky.map.centres(K))
        _, centres = self._centres
        return centres

    async def _articles(self, view: View, seqs: Sequence[int]) -> Sequence[ArticleRow | None]:
        """The articles with these numbers, as far as they exist."""
        known = {seq: self._titled[seq] for seq in seqs if seq in self._titled}
        missing = [seq for seq in seqs if seq not in known]
        if missing:
            found = await view.ask(lambda reader: reader.numbered(missing), aside=True)
            if len(self._titled) > TITLES_KEPT:
                self._titled.clear()
            self._titled.update(found)
            known.update(found)
        return [known.get(seq) for seq in seqs]

    # The cursor -----------------------------------------------------------------------------------

    def choose(self, seq: int | None) -> None:
        """Put the cursor on this article."""
        if seq == self.chosen:
            return
        self.chosen = seq
        self.card = None
        if seq is not None:
            self._aside(self._fill_card, "sky-card")
        self.redraw()

    async def _fill_card(self) -> None:
        view = self._view
        seq = self.chosen
        if view is None or seq is None:
            return
        model = self._model

        def read(reader: SessionReader) -> tuple[ArticleRow | None, Leading]:
            return reader.numbered([seq]).get(seq), reader.leading_topics(model, [seq], MIXED)

        card, leading = await view.ask(read, aside=True)
        if seq == self.chosen:
            self.card = card
            self._leading = leading
            self.redraw()

    def action_travel(self, direction: Direction) -> None:
        sky = self.sky
        if sky is None or not len(sky):
            return
        articles = sky.articles
        if self._found is not None and len(self._found):
            articles = Articles(sky.places[self._found], sky.topics[self._found])
        here = self._here
        window = self._target
        if here is None:
            middle = (round(window.x * UNITS), round(window.y * UNITS))
            number = nearest_to(articles, middle, window, self._room)
        else:
            # At least to the next cell, or the cursor would seem to stand still.
            least = 1.0 if direction in ("left", "right") else 2.0
            number = toward(articles, here, direction, window, self._room, least)
        if number is None:
            return
        if articles is not sky.articles and self._found is not None:
            number = int(self._found[number])
        self._go_to(number)

    def _go_to(self, number: int) -> None:
        """Put the cursor on an article, and bring it into sight."""
        assert self.sky is not None
        x, y = self.sky.places[number].tolist()
        self._move_to(self._target.showing(x / UNITS, y / UNITS))
        self.choose(int(self.sky.seqs[number]))

    async def action_choose(self) -> None:
        if self.chosen is not None:
            self._aside(self._open_card, "sky-open")

    async def _open_card(self) -> None:
        if self.card is None:
            await self._fill_card()
        if self.card is not None and self._view is not None:
            self._view.open_row(self.card)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or self.sky is None or at.y >= self._room[1]:
            return
        x, y = self._place_at(at)
        here = (round(x * (UNITS - 1)), round(y * (UNITS - 1)))
        number = nearest_to(self.sky.articles, here, self.window, self._room)
        if number is not None:
            self.choose(int(self.sky.seqs[number]))
            if event.chain > 1:
                self.call_later(self.action_choose)

    # What is lit ----------------------------------------------------------------------------------

    async def _find(self) -> None:
        """Find what is sought: articles by their titles and words, topics by their words."""
        view = self._view
        session = self._session
        if view is None or session is None:
            return
        sought = self._sought
        rows = session.topics_of(self._model)
        if not sought:
            self._found_topics = frozenset()
            self._found_articles = ()
            self._found_for = ""
        else:
            by_title = await view.ask(
                lambda reader: reader.find_articles(sought, FOUND), aside=True
            )
            by_title.sort(key=lambda row: nearness(sought, row.title))
            in_use = [row.topic for row in matching(rows, Search(sought)) if not row.hidden]
            self._found_topics = frozenset(in_use)
            self._found_for = sought
            self._note(by_title)
            self._show_found()
            _, by_words = await found_by(view, session, self._model, MANY)
            there = {row.seq for row in by_title}
            self._note([*by_title, *(row for row in by_words if row.seq not in there)])
        self._show_found()

    def _note(self, found: Sequence[ArticleRow]) -> None:
        """Note the articles found, the best first."""
        self._found_articles = [row.seq for row in found]
        self._titled.update({row.seq: row for row in found[:FEW_FOUND]})

    def _show_found(self) -> None:
        """Light up what was found, with the cursor on it."""
        self._light()
        self._put_on_found()
        self._write()
        self.redraw()

    def _put_on_found(self) -> None:
        """Put the cursor on what was found, unless it is there already; show the whole map if some
        of that is out of sight."""
        sky = self.sky
        if sky is None or self._found is None or not len(self._found):
            return
        low, high = self._target.corners
        places = sky.places[self._found]
        if not ((places >= low) & (places < high)).all():
            self.action_reset()
        by_title = sky.find(self._found_articles).tolist()
        if self.chosen is None or not len(np.intersect1d(sky.find([self.chosen]), self._found)):
            best = by_title[0] if by_title else int(self._found[0])
            self._go_to(best)

    def show_topic(self, topic: int | None) -> None:
        """Light up the articles that are most about this topic for a while."""
        if self._topic_timer is not None:
            self._topic_timer.stop()
        if topic is not None:
            self._topic_timer = self.set_timer(LIT_SECONDS, partial(self.show_topic, None))
        if topic != self._topic:
            self._topic = topic
            self._light()
            self._write()
            self.redraw()

    def show_text(self, place: tuple[int, int] | None, alike: Sequence[int]) -> None:
        """Move the mark of a text to this place, and light up the articles most like it, by number
        (`seq`)."""
        now = time.monotonic()
        if place is None:
            self._text = None
        else:
            start = place
            if self._text is not None and self._animates:
                start = self._text.at(now)
            self._text = Flight(0, now, start, place)
        self._found_articles = alike
        self._light()
        self._write()
        self._keep_moving()
        self.redraw()

    def _light(self) -> None:
        """Note which of the articles are lit."""
        sky = self.sky
        topics = set(self._found_topics)
        if self._topic is not None:
            topics.add(self._topic)
        if sky is None or not (self._sought or topics or self._found_articles):
            self._found = None
            return
        is_lit = np.zeros(len(sky), np.bool_)
        if topics:
            of_topic = np.zeros(max(len(self._area_of), int(max(topics)) + 1), np.bool_)
            of_topic[list(topics)] = True
            is_lit |= of_topic[np.minimum(sky.topics, len(of_topic) - 1)]
        is_lit[sky.find(self._found_articles)] = True
        self._found = np.flatnonzero(is_lit)

    # In words -------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What the map shows."""
        session = self._session
        sky = self.sky
        if session is None or sky is None:
            return "Atlas"
        articles = session.some(len(sky)).replace(session.counted, session.noun)
        if self._found_for:
            topics = plural(len(self._found_topics), "topic")
            found = plural(len(self._found_articles), singular(session.noun))
            articles = f"{found} and {topics} with “{visible(self._found_for)}”"
        elif self._topic is not None and self._found is not None:
            articles = f"{session.some(len(self._found))} most about #{self._topic}"
        title = f"Atlas · {articles}{session.of_model(self._model)}"
        if self.is_enlarged:
            title += f" · {self._target.zoom:.0f}x"
        if session.as_of is not None:
            title += " · by then" if session.recent else session.of_now()
        elif self.size.width >= WIDE:
            title += " · near: alike"
            if session.status.running:
                title += " · bright: just read"
        return title

    @property
    def description(self) -> Line:
        """The article under the cursor, or the newest, in words."""
        session = self._session
        if session is None:
            return []
        card = self.card
        leading = self._leading
        if self.chosen is None and self._text is None:
            learnt = [row for row in session.recent if row.role == "trained"]
            card = learnt[0] if learnt else None
            leading = session.leading.get(self._model, {})
        if card is None:
            return []
        line: Line = [(f" {cut(visible(card.called), LINE_TITLE)}", "strong")]
        topics = topics_of(card, self._model, leading)
        areas = session.areas_of(self._model)
        if topics:
            main_topic, _ = topics[0]
            if main_topic in areas:
                area = areas[main_topic]
                line.append((f" · {area.name.upper()}", area_ink("head", area.number)))
        marks = marks_of(self, session, self._model)
        for topic in topics:
            line.append(("  ", ""))
            line += topic_parts(session, self._model, topic, marks, weighed=True)
        return line

    # Drawing --------------------------------------------------------------------------------------

    def _texts(self, now: float) -> list[Written]:
        """All that is written now: the titles of what is chosen and of what has just landed before
        the names."""
        width, _ = self._room
        above: list[Written] = []
        marked = self._marked(now)
        if marked is not None:
            if self._text is not None:
                above += self._beside(marked, TEXT, "strong")
            elif self.card is not None:
                above += self._beside(marked, self.card.called, "strong")
        titles = {}
        if self._session is not None:
            titles = {row.seq: row.called for row in self._session.recent}
        landed = [flight for flight in self._flights if flight.landed(now)]
        for flight in landed[-TITLED_FLIGHTS:]:
            beside = self._beside(flight.end, titles.get(flight.seq, ""), "")
            above += clear_of(beside, above, width)
        window, size = self._written_in
        names: Sequence[Written] = self._written
        if size != self._room:
            names = ()
        elif window != self.window:
            names = carried(names, window, self.window, size)
        if self._drift is not None:
            names = ()
        signs = [] if marked is None else self._signs([marked])
        return [*above, *clear_of(names, [*above, *signs], width)]


def _typicality(row: ArticleRow | None, model: str) -> float:
    """How typical an article is of its largest topic; 0 if that is not known."""
    largest = None if row is None else row.largest_of(model)
    if row is None or largest is None:
        return 0.0
    _, proportion = largest
    return typicality(proportion, row.words)


def _growth(sky: Sky) -> int:
    """A number that changes when there are `GROWN` times as many articles."""
    return round(math.log(max(len(sky), 1), GROWN))
