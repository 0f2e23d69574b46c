"""The atlas: all topics on a map, similar ones near one another, in the lands of their areas."""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.timer import Timer

from wikitopics.session.analysis.areas import Atlas
from wikitopics.session.records import ArticleRow, ShareHistory, TopicRow, in_line
from wikitopics.tui.atlas import ASPECT, Direction, Label, Sheet, laid_out, middle, toward
from wikitopics.tui.background import run_in_background
from wikitopics.tui.inks import Line, Lines, area_ink, name, tinted
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import plural, share
from wikitopics.tui.topic_list import NO_TOPICS, hits_in
from wikitopics.tui.topic_order import matching
from wikitopics.tui.views.emergence import columns, levels
from wikitopics.tui.views.view import A_TOPIC, View

SIGNS, ASCII_SIGNS = "·•●", ".oO"
"""The signs of small, middling and large topics."""
GLOW_SECONDS = 2.0
"""Seconds for which a topic glows after an article about it was read."""
FRAMES, FRAME_SECONDS = 100, 0.1
"""The frames of the replay of births, and how long each is shown."""
NEWBORN = 5
"""Frames for which a topic glows after its birth."""
GLOWING = 8
"""The maximum number of topics that begin to glow at once."""
WIDE = 100
"""The width of the map from which the title says what the signs mean."""


def births(history: ShareHistory) -> NDArray[np.int64]:
    """(FRAMES, K) how large each topic was over the stream, on a logarithmic axis: 0 before its
    birth, then 1 to 3."""
    own = history.own.astype(np.float64)
    return -(-levels(own[columns(history, FRAMES)], own[-1]) * 3 // 7)


class Drawing(NamedTuple):
    """How a label is drawn."""

    label: Label
    ink: str
    under: str
    size: int = 0


class TopicAtlas(Lines, can_focus=True):
    """The map. Arrow keys move from topic to topic; the line below describes the topic under the
    cursor."""

    DEFAULT_CLASSES = "panel"
    BINDINGS = bindings("map")

    chosen: int | None = None
    """The topic under the cursor."""
    held = False
    """Whether the user put the cursor there; otherwise it is on the largest topic."""
    zoom: int | None = None
    """The area that fills the map; None: it shows all."""
    sheet: Sheet | None = None
    _session: SessionView | None = None
    _model = ""
    _of: object = None
    _view: View | None = None
    _found: frozenset[int] = frozenset()
    _sought = ""
    _read: frozenset[int] = frozenset()
    """The articles that have been seen, by number."""
    glowing: Mapping[int, float] = {}
    """When each topic that glows stops, by the monotonic clock."""
    _births: NDArray[np.int64] | None = None
    """The sizes of topics in each frame of the replay of births, if there is one."""
    _articles: Sequence[int] = ()
    """The articles at each frame."""
    _frame = 0
    _player: Timer | None = None

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._sheets: dict[tuple[tuple[int, int], int | None], Sheet] = {}

    # What is shown
    # ----------------------------------------------------------------------------------

    def show_atlas(self, view: View, session: SessionView) -> None:
        """Draw the topics of the model in use where they are now; they are laid out in the
        background."""
        model = view.choice.model_of(session)
        if (of := (session.status.session, model)) != self._of:
            self._of, self.sheet, self.zoom, self.held, self._read = (
                of,
                None,
                None,
                False,
                frozenset(),
            )
            self._sheets.clear()
            self.end_births()
        self._session, self._model, self._sought = session, model, view.sought
        self._view = view
        self._light(session.recent)
        found, rows, size = session.atlases.get(model), session.topics_of(model), self._room
        if found is None or min(size) < 1:
            self.redraw()
            return
        self._point(found, rows)
        zoom, of = self.zoom, self._of
        before = self._sheets.get((size, zoom), self.sheet)
        must = self._found | ({self.chosen} if self.held and self.chosen is not None else set())

        async def fill() -> None:
            sheet = await asyncio.to_thread(laid_out, found, rows, size, zoom, must, before)
            if (of, zoom, size) == (self._of, self.zoom, self._room):
                self.sheet = self._sheets[size, zoom] = sheet
                self.redraw()

        placed = before.topics.keys() if before is not None and before.zoom == zoom else set()
        view.fill("atlas", (session.topics, model, size, zoom, must - placed), fill)
        self.redraw()

    def _point(self, found: Atlas, rows: Sequence[TopicRow]) -> None:
        """Note what the search found, and keep the cursor and the zoom on topics that are shown."""
        in_use = [row.topic for row in rows if not row.hidden and row.topic in found.area_of]
        matches = [row.topic for row in matching(rows, self._sought)] if self._sought else []
        before, self._found = self._found, frozenset(matches) & frozenset(in_use)
        if self._found and self._found != before and self.chosen not in self._found:
            self.chosen, self.held = next(topic for topic in matches if topic in self._found), True
        if not self.held or self.chosen not in in_use:
            self.chosen = max(in_use, key=lambda topic: rows[topic].share, default=None)
        inside = next((area.topics for area in found.areas if area.number == self.zoom), ())
        if self.chosen not in inside:
            self.zoom = None

    def choose(self, topic: int) -> None:
        """Put the cursor on this topic."""
        if topic != self.chosen:
            self.chosen, self.held = topic, True
            self.redraw()

    def _light(self, recent: Collection[ArticleRow]) -> None:
        """Make the topics of articles that were not there before glow."""
        seen, until = frozenset(article.seq for article in recent), time.monotonic() + GLOW_SECONDS
        topics = [
            topic
            for article in recent
            if self._read and article.seq not in self._read
            for model, topic, _ in article.topics
            if model == self._model
        ]
        self._read = seen
        if topics:
            self.glowing = {**self.glowing, **dict.fromkeys(topics[:GLOWING], until)}
            self.set_timer(GLOW_SECONDS, self._fade)

    def _fade(self) -> None:
        soon = time.monotonic() + 0.1  # a timer may be early
        self.glowing = {topic: until for topic, until in self.glowing.items() if until > soon}
        self.redraw()

    def _again(self) -> None:
        if self._view is not None and self._session is not None:
            self.show_atlas(self._view, self._session)

    on_resize = _again

    # In words
    # ---------------------------------------------------------------------------------------

    @property
    def row(self) -> TopicRow | None:
        """The topic under the cursor."""
        rows = () if self._session is None else self._session.topics_of(self._model)
        return rows[self.chosen] if self.chosen is not None and self.chosen < len(rows) else None

    @property
    def title(self) -> str:
        """What the map shows."""
        session, sheet = self._session, self.sheet
        if session is None or sheet is None:
            return "Atlas"
        shown, many = len(sheet.topics), plural(sheet.many, "topic")
        of = f"{shown} of {many}" if shown < sheet.many else many
        if self._sought:
            of = f"{len(self._found)} of {many} with “{self._sought}”"
        found = session.atlases.get(self._model)
        area = (
            next((one for one in found.areas if one.number == sheet.zoom), None) if found else None
        )
        title = f"{'Atlas' if area is None else area.name} · {of}{session.of_model(self._model)}"
        if found is not None and found.by_words:
            title += " · by leading words"
        if self.size.width >= WIDE:
            title += " · near: alike · larger sign: larger share"
            title += " · lit: just read" * session.status.running
        return title

    @property
    def description(self) -> str:
        """The topic under the cursor in words, or how far the replay is."""
        row, session = self.row, self._session
        if row is None or session is None:
            return ""
        if self._births is not None:
            return f"Births · {session.some(self._articles[self._frame])} · any key ends it"
        area = session.areas_of(self._model).get(row.topic)
        where = f" · {area.name}" if area is not None else ""
        if self.sheet is not None and row.topic not in self.sheet.topics:
            where += " · no room on the map"
        words = [word for word, _ in row.words]
        hits = hits_in(row, self._sought)
        found = f" · {in_line(hits)}" if hits else ""
        return f"{row.label}{found} · {share(row.share)}{where} · {in_line(words)}"

    # Moving
    # -----------------------------------------------------------------------------------------

    def action_travel(self, direction: Direction) -> None:
        if self.sheet is None:
            return
        topics = self.sheet.topics
        here = topics.get(self.chosen) if self.chosen is not None else None
        width, height = self.sheet.size
        place = (ASPECT * height / 2, width / 2) if here is None else middle(here)
        if (to := toward(topics.values(), place, direction)) is not None and to.topic is not None:
            self.choose(to.topic)

    async def action_choose(self) -> None:
        if self.chosen is not None:
            self.held = True
            await self.run_action(f"app.open_topic({self.chosen})")

    def action_zoom(self, into: bool) -> None:
        if self._session is None:
            return
        area = self._session.areas_of(self._model).get(-1 if self.chosen is None else self.chosen)
        self.zoom = area.number if into and area is not None else None
        self.held = True
        self._again()

    async def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        labels = () if at is None or self.sheet is None else self.sheet.labels
        hit = next((label for label in labels if at is not None and label.covers(at.y, at.x)), None)
        if self._births is not None:
            self.end_births()
        elif hit is not None and hit.topic is not None:
            self.choose(hit.topic)
            await self.action_choose()

    # The replay of births
    # ---------------------------------------------------------------------------

    def play_births(self, history: ShareHistory) -> None:
        """Let the topics appear as they were born."""
        self.end_births()
        self._births, self._frame = births(history), 0
        self._articles = history.articles[columns(history, FRAMES)].tolist()
        self._player = self.set_interval(FRAME_SECONDS, self.next_frame)
        self.redraw()

    def next_frame(self) -> None:
        """Show the next frame of the births; the present, after the last one."""
        self._frame += 1
        if self._births is None or self._frame >= len(self._births):
            self.end_births()
        else:
            self.redraw()

    def end_births(self) -> None:
        """Show the present again."""
        if self._player is not None:
            self._player.stop()
        if self._births is not None:
            self._births = self._player = None
            self.redraw()

    def on_key(self, event: events.Key) -> None:
        """Any key ends the replay, and does nothing else."""
        if self._births is not None:
            event.stop()
            event.prevent_default()
            self.end_births()

    # Drawing
    # ----------------------------------------------------------------------------------------

    @property
    def _room(self) -> tuple[int, int]:
        """Columns and rows of the map, above the line that describes a topic."""
        return self.size.width, self.size.height - 1

    def redraw(self) -> None:
        name(self, self.title)
        self.refresh_bindings()
        super().redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        """The map, and below it the line that describes a topic; no map while it is being laid
        out."""
        rows = list[Line]([[]] * (height - 1))
        if self._session is not None and not self._session.topics_of(self._model):
            rows[:1] = [[(NO_TOPICS, "muted")]]
        elif self.sheet is not None and self.sheet.size == self._room:
            drawings = list[list[Drawing]]([[] for _ in rows])
            for drawing in self._drawings(self.sheet):
                for y in range(drawing.label.row, drawing.label.row + len(drawing.label.lines)):
                    drawings[y].append(drawing)
            rows = [self._row(self.sheet, y, drawn) for y, drawn in enumerate(drawings)]
        return [*rows, [(f" {self.description}", "")]]

    def _drawings(self, sheet: Sheet) -> list[Drawing]:
        """How the labels are drawn now, from left to right; without those that are not born."""
        born = None
        if self._births is not None:
            sizes = self._births[self._frame]
            born = {label.area for topic, label in sheet.topics.items() if sizes[topic]}
        labels = sorted(sheet.labels, key=lambda label: label.column)
        return [drawing for label in labels if (drawing := self._drawing(label, born)) is not None]

    def _drawing(self, label: Label, born: Collection[int] | None) -> Drawing | None:
        """How a label is drawn; None for a topic not born yet. ``born``: the areas of which a topic
        has been born; None: all of them."""
        topic, area = label.topic, label.area
        if topic is None:
            return Drawing(label, "", "") if born is None or area in born else None
        under, ink, size = "", "muted" if label.size == 0 else "", label.size
        if self._births is not None:
            size = int(self._births[self._frame, topic]) - 1
            if size < 0:
                return None
            if not self._births[max(self._frame - NEWBORN, 0), topic]:
                under = area_ink("glow", area)
        elif self._sought:
            under, ink = (area_ink("glow", area), "") if topic in self._found else ("", "faint")
        elif topic in self.glowing:
            under = area_ink("glow", area)
        if topic == self.chosen and self._births is None:
            under, ink = "chosen" if self.has_focus else "cursor", "strong"
        elif under:
            ink = ""
        return Drawing(label, ink, under, size)

    def _row(self, sheet: Sheet, y: int, drawings: Iterable[Drawing]) -> Line:
        at, out = 0, Line()
        for label, ink, under, size in drawings:
            out += self._ground(sheet, y, at, label.column)
            below, own = (under or area_ink("tint", label.area)) + "+", area_ink("area", label.area)
            text = label.lines[y - label.row]
            at = label.column + cell_len(text)
            if label.topic is None:
                out.append((text, below + area_ink("head", label.area)))
                continue
            at += 2
            sign = (ASCII_SIGNS if self.ascii_only else SIGNS)[size] if y == label.row else " "
            out += [(f"{sign} ", below + (ink if under else own)), (text, below + ink)]
        return out + self._ground(sheet, y, at, sheet.size[0])

    def _ground(self, sheet: Sheet, y: int, start: int, end: int) -> Line:
        """What is drawn between labels: tinted land, or its borders."""
        if not tinted(self.app):
            return [(sheet.borders[y][start:end], "faint")]
        (starts, areas), out = sheet.ground[y], Line()
        run = bisect_right(starts, start) - 1
        while start < end:
            until = min(starts[run + 1] if run + 1 < len(starts) else end, end)
            out.append(
                (" " * (until - start), area_ink("tint", areas[run]) if areas[run] >= 0 else "")
            )
            start, run = until, run + 1
        return out


class AtlasView(View):
    """The map of the model's topics, as large as there is room."""

    TITLE = "Atlas"
    HOME = TopicAtlas
    FINDS = A_TOPIC
    BINDINGS = bindings("atlas")

    def compose(self) -> ComposeResult:
        yield TopicAtlas(id="atlas")

    def draw(self, session: SessionView) -> None:
        self.query_one(TopicAtlas).show_atlas(self, session)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "all" and self.is_mounted:
            return bool(self.sought) or self.query_one(TopicAtlas).zoom is not None
        if action == "births":
            return self.host.watched.replay is None
        if action == "order_topics":
            return False
        return super().check_action(action, parameters)

    def action_all(self) -> None:
        self.query_one(TopicAtlas).action_zoom(False)
        super().action_all()

    def action_births(self) -> None:
        run_in_background(self, self._play_births, "births")

    async def _play_births(self) -> None:
        if self.session is None:
            return
        model = self.model
        with self.host.warning():
            history = await self.ask(lambda reader: reader.share_history(model), aside=True)
            if self.model != model:
                return  # another one is shown by now
            if len(history.articles) > 1:
                self.query_one(TopicAtlas).play_births(history)
            else:
                self.app.notify("no births to replay yet: they begin with the second snapshot")

    def chosen_topic(self) -> TopicRow | None:
        return self.query_one(TopicAtlas).row

    def copied(self) -> str:
        row = self.chosen_topic()
        return (
            ""
            if row is None
            else f"{row.label} ({share(row.share)}): " + in_line(w for w, _ in row.words)
        )
