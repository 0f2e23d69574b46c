"""The map of all articles: a sky of dots on which one travels, and where what is read appears."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from textual import events
from textual.timer import Timer

from wikitopics.session.analysis.article_map import ArticleMap, why_no_map
from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow
from wikitopics.session.sources import singular
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.atlas import Direction
from wikitopics.tui.background import Work, run_in_background
from wikitopics.tui.inks import Line, area_ink, marks_of
from wikitopics.tui.session_view import MIXED, Leading, SessionView
from wikitopics.tui.sky import Counts, Written
from wikitopics.tui.sky_index import UNITS, Articles, Window, nearest_to, toward
from wikitopics.tui.sky_motion import Drift, Flight, Sky, set_out
from wikitopics.tui.sky_texts import clear_of
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import cut, plural, visible
from wikitopics.tui.views.articles import topic_parts, topics_of
from wikitopics.tui.views.sky_canvas import AREAS, SkyCanvas
from wikitopics.tui.views.sky_names import FEW_FOUND, Scene, SkyNames
from wikitopics.tui.views.sky_search import SkySearch
from wikitopics.tui.views.view import View

OTHER = AREAS - 1
"""What the topics of no area are counted as."""
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
    _has_been_complete = False
    """Whether that was so at any time since the session and the model were chosen."""
    card: ArticleRow | None = None
    """The article under the cursor, once it has been read."""
    _view: View | None = None
    _session: SessionView | None = None
    _model = ""
    _shown: object = None
    """The session and the model of the sky."""
    _topic: int | None = None
    """The topic whose articles are lit."""
    _topic_timer: Timer | None = None
    _leading: Leading = {}  # noqa: RUF012 - never changed

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = SkyNames()
        self._search = SkySearch()

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
        if view.FINDS and view.sought != self._search.sought:
            self._search.sought = view.sought
            self._aside(self._find, "sky-find")
        self._write()
        self.redraw()

    def _forget(self) -> None:
        """Begin again: the articles are those of another session, or of another model."""
        self.sky = None
        self.lack = ""
        self._has_been_complete = False
        self.window = Window()
        self.chosen = None
        self.card = None
        self._found = None
        self._search.forget()
        self._topic = None
        self._way = None
        self._drift = None
        self._flights = ()
        self._text = None
        self._counts = None
        self._names.forget()

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
        self._has_been_complete |= complete
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
                self._names.written_for = None
                self._search.sought = ""

        run_in_background(self, working, group)

    # Names ----------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Have names and titles written for the window, if something has changed that they depend
        on."""
        scene = self._scene
        if scene is not None and scene.depends_on != self._names.written_for:
            self._names.written_for = scene.depends_on
            self._aside(self._fill_names, "sky-names")

    @property
    def _scene(self) -> Scene | None:
        """What names are to be written for; None: there is nothing yet, or no room."""
        session = self._session
        sky = self.sky
        if session is None or sky is None or min(self._room) < 1:
            return None
        return Scene(
            session,
            self._model,
            sky,
            self._area_of,
            self._target,
            self._room,
            self._search.sought,
            self._search.articles,
        )

    async def _fill_names(self) -> None:
        scene = self._scene
        view = self._view
        if scene is not None and view is not None:
            await self._names.write(scene, view)
            self.redraw()

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
        """Find what is sought, and light it up, with the cursor on it."""
        view = self._view
        session = self._session
        if view is None or session is None:
            return
        async for found in self._search.find(view, session, self._model):
            self._names.note(found[:FEW_FOUND])
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
        by_title = sky.find(self._search.articles).tolist()
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
        self._search.articles = alike
        self._light()
        self._write()
        self._keep_moving()
        self.redraw()

    def _light(self) -> None:
        """Note which of the articles are lit."""
        sky = self.sky
        selected = () if self._topic is None else (self._topic,)
        self._found = None if sky is None else self._search.lit(sky, len(self._area_of), selected)

    # In words -------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What the map shows."""
        session = self._session
        sky = self.sky
        if session is None or sky is None:
            return "Atlas"
        articles = plural(len(sky), singular(session.noun))
        if not self._has_been_complete:
            articles = f"reading: {articles} so far"
        search = self._search
        if search.found_for:
            topics = plural(len(search.topics), "topic")
            found = plural(len(search.articles), singular(session.noun))
            articles = f"{found} and {topics} with “{visible(search.found_for)}”"
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
    def waiting(self) -> Line:
        """What is shown until the map has been read."""
        if self._session is None or self.lack:
            return []
        return [(" reading the map …", "muted")]

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
        names: Sequence[Written] = ()
        if self._drift is None:
            names = self._names.in_window(self.window, self._room)
        signs = [] if marked is None else self._signs([marked])
        return [*above, *clear_of(names, [*above, *signs], width)]
