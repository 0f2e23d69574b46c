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
from textual.containers import Container
from textual.timer import Timer
from textual.widget import Widget

from wikitopics.session.analysis.areas import Atlas
from wikitopics.session.records import ArticleRow, ShareHistory, TopicRow
from wikitopics.session.wording import in_line
from wikitopics.tui.atlas import (
    ASPECT,
    SIGN_CELLS,
    Direction,
    Label,
    Sheet,
    laid_out,
    middle,
    toward,
)
from wikitopics.tui.background import run_in_background
from wikitopics.tui.inks import Line, Lines, area_ink, name, tinted
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import plural, share
from wikitopics.tui.topic_list import NO_TOPICS
from wikitopics.tui.topic_order import NOTHING_SOUGHT, matching
from wikitopics.tui.views.emergence import SHADES, columns, levels
from wikitopics.tui.views.sky_map import SkyMap
from wikitopics.tui.views.view import View

SIGNS = "·•●"
"""The signs of small, middling and large topics."""
ASCII_SIGNS = ".oO"
GLOW_SECONDS = 2.0
"""Seconds for which a topic glows after an article about it was read."""
FRAMES = 100
"""The frames of the replay of births."""
FRAME_SECONDS = 0.1
"""How long each is shown."""
NEWBORN = 5
"""Frames for which a topic glows after its birth."""
GLOWING = 8
"""The maximum number of topics that begin to glow at once."""
WIDE = 100
"""The width of the map from which the title says what the signs mean."""


def births(history: ShareHistory) -> NDArray[np.int64]:
    """(FRAMES, K) how large each topic was over the stream, on a logarithmic axis: 0 before its
    birth, then 1 to 3."""
    sizes = history.own.astype(np.float64)
    shades = levels(sizes[columns(history, FRAMES)], sizes[-1])
    most_shades = len(SHADES) - 1
    return np.ceil(shades * len(SIGNS) / most_shades).astype(np.int64)


class DrawnLabel(NamedTuple):
    """How a label is drawn."""

    label: Label
    ink: str
    under: str
    """The ink below that one; "" for the land's."""
    size: int = 0
    """The size of its sign: 0 (small), 1 or 2 (large)."""


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
    why = ""
    """Why there are only topics, and no articles; "" for no reason."""
    _session: SessionView | None = None
    _model = ""
    _shown: object = None
    """The session and the model whose topics are drawn."""
    _view: View | None = None
    _search = NOTHING_SOUGHT
    _found: frozenset[int] = frozenset()
    """The topics that the search finds, as far as they are shown."""
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

    # What is shown --------------------------------------------------------------------------------

    def show_atlas(self, view: View, session: SessionView) -> None:
        """Draw the topics of the model in use where they are now; they are laid out in the
        background."""
        model = view.choice.model_of(session)
        shown = (session.status.session, model)
        if shown != self._shown:
            self._shown = shown
            self.sheet = None
            self.zoom = None
            self.held = False
            self._read = frozenset()
            self.end_births()
        self._session = session
        self._model = model
        self._search = view.search
        self._view = view
        self._light(session.recent)
        atlas = session.atlases.get(model)
        rows = session.topics_of(model)
        size = self._room
        if atlas is None or min(size) < 1:
            self.redraw()
            return
        self._point(atlas, rows)
        zoom = self.zoom
        # While one searches, labels stay where they were.
        before = self.sheet if self._is_searching else None
        must_be_placed = set(self._found)
        if self.held and self.chosen is not None:
            must_be_placed.add(self.chosen)

        async def fill() -> None:
            sheet = await asyncio.to_thread(
                laid_out,
                atlas,
                rows,
                size,
                zoom,
                must_be_placed,
                before,
            )
            is_still_wanted = (shown, zoom, size) == (self._shown, self.zoom, self._room)
            if is_still_wanted:
                self.sheet = sheet
                self.redraw()

        missing = must_be_placed
        if self.sheet is not None and self.sheet.zoom == zoom:
            missing = must_be_placed - self.sheet.topics.keys()
        view.fill("atlas", (session.topics, model, size, zoom, missing), fill)
        self.redraw()

    def _point(self, atlas: Atlas, rows: Sequence[TopicRow]) -> None:
        """Note what the search found, and keep the cursor and the zoom on topics that are shown."""
        in_use = [row.topic for row in rows if not row.hidden and row.topic in atlas.area_of]
        found = []
        if self._search.text:
            listed = matching(rows, self._search)
            found = [row.topic for row in listed if row.topic in in_use]
        found_before = self._found
        self._found = frozenset(found)
        if found and self._found != found_before and self.chosen not in found:
            self.chosen = found[0]
            self.held = True
        if not self.held or self.chosen not in in_use:
            self.chosen = max(in_use, key=lambda topic: rows[topic].share, default=None)
        area = None if self.chosen is None else atlas.area_of.get(self.chosen)
        if area is None or area.number != self.zoom:
            self.zoom = None

    def choose(self, topic: int) -> None:
        """Put the cursor on this topic."""
        if topic != self.chosen:
            self.chosen = topic
            self.held = True
            self.redraw()

    def _light(self, recent: Collection[ArticleRow]) -> None:
        """Make the topics of articles that were not there before glow."""
        topics: list[int] = []
        if self._read:  # at first, all would be new
            for article in recent:
                if article.seq not in self._read:
                    topics += [topic for model, topic, _ in article.topics if model == self._model]
        self._read = frozenset(article.seq for article in recent)
        if topics:
            until = time.monotonic() + GLOW_SECONDS
            self.glowing = {**self.glowing, **dict.fromkeys(topics[:GLOWING], until)}
            self.set_timer(GLOW_SECONDS, self._fade)

    def _fade(self) -> None:
        soon = time.monotonic() + 0.1  # a timer may be early
        self.glowing = {topic: until for topic, until in self.glowing.items() if until > soon}
        self.redraw()

    @property
    def _is_searching(self) -> bool:
        """Whether a search may have taken rows from the map."""
        return bool(self._search.text) or any(find.display for find in self.screen.query("#find"))

    def _again(self) -> None:
        if self._view is not None and self._session is not None:
            self.show_atlas(self._view, self._session)

    on_resize = _again

    # In words -------------------------------------------------------------------------------------

    @property
    def row(self) -> TopicRow | None:
        """The topic under the cursor."""
        if self._session is None or self.chosen is None:
            return None
        rows = self._session.topics_of(self._model)
        return rows[self.chosen] if self.chosen < len(rows) else None

    @property
    def title(self) -> str:
        """What the map shows."""
        session = self._session
        sheet = self.sheet
        if session is None or sheet is None:
            return "Atlas"
        atlas = session.atlases.get(self._model)
        areas = () if atlas is None else atlas.areas
        title = "Atlas"
        for area in areas:
            if area.number == sheet.zoom:
                title = area.name
        topics = plural(sheet.topic_count, "topic")
        if self._search.text:
            topics = f"{len(self._found)} of {topics} with “{self._search.text}”"
        elif len(sheet.topics) < sheet.topic_count:
            topics = f"{len(sheet.topics)} of {topics}"
        title += f" · {topics}{session.of_model(self._model)}"
        if atlas is not None and atlas.by_words:
            title += " · by leading words"
        if self.size.width >= WIDE:
            title += " · near: alike · larger sign: larger share"
            if session.status.running:
                title += " · lit: just read"
        return title

    @property
    def description(self) -> str:
        """The topic under the cursor in words, or how far the replay is."""
        row = self.row
        session = self._session
        if row is None or session is None:
            return ""
        if self._births is not None:
            return f"Births · {session.some(self._articles[self._frame])} · any key ends it"
        area = session.areas_of(self._model).get(row.topic)
        where = f" · {area.name}" if area is not None else ""
        if self.sheet is not None and row.topic not in self.sheet.topics:
            where += " · no room on the map"
        words = [word for word, _ in row.shown]
        hits = self._search.hits_in(row)
        found = f" · {in_line(hits)}" if hits else ""
        return f"{row.label}{found} · {share(row.share)}{where} · {in_line(words)}"

    # Moving ---------------------------------------------------------------------------------------

    def action_travel(self, direction: Direction) -> None:
        if self.sheet is None:
            return
        topics = self.sheet.topics
        here = topics.get(self.chosen) if self.chosen is not None else None
        if here is None:
            width, height = self.sheet.size
            place = (ASPECT * height / 2, width / 2)
        else:
            place = middle(here)
        target = toward(topics.values(), place, direction)
        if target is not None and target.topic is not None:
            self.choose(target.topic)

    async def action_choose(self) -> None:
        if self.chosen is not None:
            self.held = True
            await self.run_action(f"app.open_topic({self.chosen})")

    def action_zoom(self, into: bool) -> None:
        if self._session is None:
            return
        self.zoom = None
        if into and self.chosen is not None:
            area = self._session.areas_of(self._model).get(self.chosen)
            self.zoom = None if area is None else area.number
        self.held = True
        self._again()

    def action_reset(self) -> None:
        self.action_zoom(False)

    @property
    def is_enlarged(self) -> bool:
        return self.zoom is not None

    async def on_click(self, event: events.Click) -> None:
        if self._births is not None:
            self.end_births()
            return
        at = event.get_content_offset(self)
        if at is None or self.sheet is None:
            return
        for label in self.sheet.labels:
            if label.covers(at.y, at.x):
                if label.topic is not None:
                    self.choose(label.topic)
                    await self.action_choose()
                return

    # The replay of births -------------------------------------------------------------------------

    def play_births(self, history: ShareHistory) -> None:
        """Let the topics appear as they were born."""
        self.end_births()
        self._births = births(history)
        self._frame = 0
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
            self._births = None
            self._player = None
            self.redraw()

    def on_key(self, event: events.Key) -> None:
        """Any key ends the replay, and does nothing else."""
        if self._births is not None:
            event.stop()
            event.prevent_default()
            self.end_births()

    # Drawing --------------------------------------------------------------------------------------

    @property
    def _room(self) -> tuple[int, int]:
        """Columns and rows of the map, above the line that describes a topic."""
        return self.size.width, self.size.height - 1

    def redraw(self) -> None:
        name(self, self.title, self.why)
        self.refresh_bindings()
        super().redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        """The map, and below it the line that describes a topic; no map while it is being laid
        out."""
        if self._session is not None and not self._session.topics_of(self._model):
            rows: list[Line] = [[(NO_TOPICS, "muted")], *([] for _ in range(height - 2))]
        elif self.sheet is not None and self.sheet.size == self._room:
            in_row: list[list[DrawnLabel]] = [[] for _ in range(height - 1)]
            for drawing in self._drawn_labels(self.sheet):
                label = drawing.label
                for y in range(label.row, label.row + len(label.lines)):
                    in_row[y].append(drawing)
            rows = [self._row(self.sheet, y, drawings) for y, drawings in enumerate(in_row)]
        else:
            rows = [[] for _ in range(height - 1)]
        return [*rows, [(f" {self.description}", "")]]

    def _drawn_labels(self, sheet: Sheet) -> list[DrawnLabel]:
        """How the labels are drawn now, from left to right; without those that are not born."""
        born = None
        if self._births is not None:
            sizes = self._births[self._frame]
            born = {label.area for topic, label in sheet.topics.items() if sizes[topic]}
        labels = sorted(sheet.labels, key=lambda label: label.column)
        drawings = [self._drawn_label(label, born) for label in labels]
        return [drawing for drawing in drawings if drawing is not None]

    def _drawn_label(self, label: Label, born: Collection[int] | None) -> DrawnLabel | None:
        """How a label is drawn; None for a topic not born yet. ``born``: the areas of which a topic
        has been born; None: all of them."""
        topic = label.topic
        if topic is None:
            is_shown = born is None or label.area in born
            return DrawnLabel(label, ink="", under="") if is_shown else None
        size = label.size
        ink = "muted" if size == 0 else ""
        glow = area_ink("glow", label.area)
        if self._births is not None:
            size = int(self._births[self._frame, topic]) - 1
            if size < 0:
                return None
            was_born = self._births[max(self._frame - NEWBORN, 0), topic] > 0
            if not was_born:
                return DrawnLabel(label, ink="", under=glow, size=size)
            return DrawnLabel(label, ink, under="", size=size)
        if topic == self.chosen:
            under = "chosen" if self.has_focus else "cursor"
            return DrawnLabel(label, ink="strong", under=under, size=size)
        if self._search.text:
            if topic in self._found:
                return DrawnLabel(label, ink="", under=glow, size=size)
            return DrawnLabel(label, ink="faint", under="", size=size)
        if topic in self.glowing:
            return DrawnLabel(label, ink="", under=glow, size=size)
        return DrawnLabel(label, ink, under="", size=size)

    def _row(self, sheet: Sheet, y: int, drawings: Iterable[DrawnLabel]) -> Line:
        signs = ASCII_SIGNS if self.ascii_only else SIGNS
        out: Line = []
        end = 0  # of what is drawn so far
        for label, ink, under, size in drawings:
            out += self._ground(sheet, y, end, label.column)
            ground = under or area_ink("tint", label.area)
            text = label.lines[y - label.row]
            end = label.column + cell_len(text)
            if label.topic is None:
                head = area_ink("head", label.area)
                out.append((text, f"{ground}+{head}"))
                continue
            end += SIGN_CELLS
            sign = signs[size] if y == label.row else " "
            sign_ink = ink if under else area_ink("area", label.area)
            out.append((f"{sign} ", f"{ground}+{sign_ink}"))
            out.append((text, f"{ground}+{ink}"))
        width, _ = sheet.size
        return out + self._ground(sheet, y, end, width)

    def _ground(self, sheet: Sheet, y: int, start: int, end: int) -> Line:
        """What is drawn between labels: tinted land, or its borders."""
        if not tinted(self.app):
            return [(sheet.borders[y][start:end], "faint")]
        starts, areas = sheet.ground[y]
        ends = [*starts[1:], end]
        out: Line = []
        stretch = bisect_right(starts, start) - 1
        while start < end:
            stretch_end = min(ends[stretch], end)
            upper, lower = areas[stretch]
            out.append(_stretch(upper, lower, stretch_end - start))
            start = stretch_end
            stretch += 1
        return out


def _stretch(upper: int, lower: int, width: int) -> tuple[str, str]:
    """Ground without a label, and its ink: land of these areas in the upper and the lower half of
    the row, -1 for none."""
    if upper == lower:
        land = area_ink("tint", upper) if upper >= 0 else ""
        return " " * width, land
    if upper < 0:
        return "▄" * width, area_ink("coast", lower)
    over = area_ink("coast", upper)
    if lower >= 0:
        below = area_ink("tint", lower)
        over = f"{below}+{over}"
    return "▀" * width, over


class Maps(Container):
    """The map of articles, or the atlas of topics: where there is no map of articles, or if it is
    wanted."""

    by_topics = False
    """Whether the atlas of topics is wanted."""

    def compose(self) -> ComposeResult:
        yield SkyMap()
        yield TopicAtlas()

    @property
    def articles(self) -> SkyMap:
        return self.query_one(SkyMap)

    @property
    def topics(self) -> TopicAtlas:
        return self.query_one(TopicAtlas)

    @property
    def shown(self) -> SkyMap | TopicAtlas:
        """The one in sight."""
        return self.topics if self.by_topics or self.articles.lack else self.articles

    def choose(self, topic: int) -> None:
        """Show where this topic is."""
        self.topics.choose(topic)
        self.articles.show_topic(topic)

    def show_map(self, view: View, session: SessionView) -> None:
        self.articles.show_map(view, session)
        shown = self.shown
        hidden = self.articles if shown is self.topics else self.topics
        had_focus = hidden.has_focus
        shown.display = True
        hidden.display = False
        if had_focus:
            shown.focus()
        if shown is self.topics:
            has_topics = bool(session.topics_of(view.choice.model_of(session)))
            self.topics.why = self.articles.lack if has_topics else ""  # it says so itself
            self.topics.show_atlas(view, session)


class AtlasView(View):
    """The map, as large as there is room."""

    TITLE = "Atlas"
    HOME = SkyMap
    FINDS = "words, a title, or a topic's name or number"
    FINDS_TOPICS = True
    BINDINGS = bindings("atlas")

    def compose(self) -> ComposeResult:
        yield Maps(id="atlas")

    @property
    def maps(self) -> Maps:
        return self.query_one(Maps)

    def home(self) -> Widget:
        return self.maps.shown

    def draw(self, session: SessionView) -> None:
        self.maps.show_map(self, session)

    def action_turn(self) -> None:
        """Show the topics alone, or the articles again."""
        self.maps.by_topics = not self.maps.by_topics
        self.again()
        self.host.settle()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted:
            return super().check_action(action, parameters)
        shown = self.maps.shown
        if action == "all":
            return bool(self.sought) or shown.is_enlarged
        if action == "turn":
            return not self.maps.articles.lack
        if action == "births":
            return self.host.watched.replay is None and isinstance(shown, TopicAtlas)
        if action == "order_topics":
            return False
        return super().check_action(action, parameters)

    def action_all(self) -> None:
        self.maps.shown.action_reset()
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
                self.maps.topics.play_births(history)
            else:
                self.app.notify("no births to replay yet: they begin with the second snapshot")

    def chosen_topic(self) -> TopicRow | None:
        shown = self.maps.shown
        return shown.row if isinstance(shown, TopicAtlas) else None

    def chosen_article(self) -> ArticleRow | None:
        if not self.is_mounted:
            return None
        shown = self.maps.shown
        return shown.card if isinstance(shown, SkyMap) else None

    def copied(self) -> str:
        row = self.chosen_topic()
        if row is None:
            return super().copied()
        words = in_line(word for word, _ in row.shown)
        return f"{row.label} ({share(row.share)}): {words}"
