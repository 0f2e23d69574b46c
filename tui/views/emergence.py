"""Emergence: all topics over the whole stream."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from textual import on
from textual.app import ComposeResult

from wikitopics.session.records import ShareHistory, TopicRow
from wikitopics.tui.axes import Axis, Floats, scaled, ticks
from wikitopics.tui.inks import Line, line_cells, name, sorting
from wikitopics.tui.lists import RowList
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import padded, plural, share, short
from wikitopics.tui.topic_list import NO_TOPICS, nothing_listed, words_of
from wikitopics.tui.topic_order import NOTHING_SOUGHT, matching
from wikitopics.tui.views.view import A_TOPIC, FAR, View

# All topics over the whole stream: one row per topic, one column per stretch of the stream. The
# shade shows how much of the text is the topic's own.
#
# Shares alone would show hardly anything for a model whose topics all begin alike: their shares
# stay much the same while their words develop.

SHADES = "·░░▒▒▓▓█"
SHADE_INKS = ("faint", "spark", "accent", "spark", "accent", "spark", "accent", "accent")
ASCII_SHADES = ".:-=+*#@"
"""Shades from nothing to the largest size in the newest snapshot, each as a sign and an ink."""
CURSOR = "◆"
ASCII_CURSOR = "X"
NOTHING = 0.01
"""The fraction of the largest size that counts as nothing."""
SMALL = 0.1
"""The fraction of the topics that have the lightest shade now."""
FLOOR = 0.7
"""A topic below this fraction of their size is drawn as nothing: unborn topics have a size too, all
alike."""
NUMBER = 5
"""Cells of a topic's number."""
SHORTEST_NAME = 14
"""The minimum width of a name, in cells."""
LONGEST_NAME = 32
"""The maximum width of a name, in cells."""
WORDS = 40
"""Cells of the words at the right, if there is room for them."""
WITH_WORDS = 110
"""The width, in cells, from which there is room."""


def stream(history: ShareHistory) -> Axis:
    """The axis of articles from the first snapshot to the newest."""
    low, high = scaled(history.articles[[0, -1]].astype(np.float64), log=True).tolist()
    return Axis(low, high, log=True)


def columns(history: ShareHistory, width: int) -> NDArray[np.int64]:
    """For each of ``width`` columns over a logarithmic axis, the snapshot it shows: the last one in
    it, or the one before if it has none."""
    axis = stream(history)
    edges = axis.low + (axis.high - axis.low) * np.arange(1, width + 1) / width
    snapshots = scaled(history.articles.astype(np.float64), log=True)
    return np.maximum(np.searchsorted(snapshots, edges + 1e-9, "right") - 1, 0).astype(np.int64)


def levels(sizes: Floats, newest: Floats) -> NDArray[np.int64]:
    """A shade for each size, on a log scale that follows the ``newest`` ones; 0 for nothing."""
    most = max(float(newest.max(initial=0.0)), 1e-12)
    nothing = most * NOTHING
    something = newest[newest > nothing]
    low = float(np.quantile(something, SMALL)) if something.size else nothing
    steps = len(SHADES) - 1
    position = np.log(np.maximum(sizes, nothing) / low) / max(np.log(most / low), 1e-9)
    shades = np.clip(1 + np.floor(position * (steps - 0.01)), 1, steps)
    return np.where(sizes > max(nothing, FLOOR * low), shades, 0).astype(np.int64)


class HeatmapPicture(NamedTuple):
    """The heatmap at one width."""

    snapshots: NDArray[np.int64]
    """The snapshot that each column shows."""
    shades: list[list[int]]
    """The shades, by topic and column."""
    axis: str
    """The axis above the columns."""


def _axis(history: ShareHistory, room: int) -> str:
    """Round numbers of articles, each over its column."""
    axis = stream(history)
    line = [" "] * room
    if axis.high > axis.low:
        end = 0
        for position, label in ticks(axis, max(room // 8, 1), short):
            start = round(position * (room - 1))
            if start >= end and start + len(label) <= room:
                line[start : start + len(label)] = label
                end = start + len(label) + 1
    return "".join(line)


class Heatmap(RowList[TopicRow]):
    """The cursor is a cell: up and down move between topics, left and right along the stream."""

    empty = NO_TOPICS
    opens_at_once = True
    _history: ShareHistory | None = None
    at: int | None = None
    """Articles of the snapshot under the cursor; None: the newest, as it changes."""
    _shown: object = None
    """The session and the model whose topics are drawn."""
    _made: HeatmapPicture | None = None
    """The heatmap as it was last made; None: it has to be made again."""
    _search = NOTHING_SOUGHT

    def show_history(self, view: View, session: SessionView) -> None:
        """Draw the topics of the model in use, in the selected order, as soon as their history is
        known."""
        choice = view.choice
        search = view.search
        model = choice.model_of(session)

        async def fill() -> None:
            history = await view.ask(lambda reader: reader.share_history(model), aside=True)
            shown = (session.status.session, model)
            if shown != self._shown:
                self.release()
                self._shown = shown
                self.at = None
            if session.as_of is not None:
                history = history.up_to(session.as_of)
            snapshots, topics = history.shares.shape
            self._search = search
            self._history = history if snapshots else None
            self._made = None
            rows = session.topics_of(model)
            self.empty = nothing_listed(rows, search)
            pinned = choice.pinned_of(model)
            listed = matching(rows, search, choice.order, pinned)
            self.show([row for row in listed if row.topic < topics], anew=True)
            self.post_message(self.Moved(self.current))  # to a newer snapshot

        values = (
            session.topics,
            model,
            search,
            choice.order,
            choice.pinned_of(model),
            choice.ascii_only,
        )
        view.fill("emergence", values, fill)

    def key(self, row: TopicRow) -> object:
        return row.topic

    # The cell -------------------------------------------------------------------------------------

    @property
    def pointed(self) -> tuple[TopicRow, int, float] | None:
        """The topic, the articles and its share under the cursor."""
        row = self.current
        history = self._history
        if row is None or history is None:
            return None
        index = self._snapshot()
        return row, int(history.articles[index]), float(history.shares[index, row.topic])

    def _snapshot(self) -> int:
        """The snapshot under the cursor."""
        assert self._history is not None
        if self.at is None:
            return len(self._history.articles) - 1
        return max(int(np.searchsorted(self._history.articles, self.at, "right")) - 1, 0)

    def action_along(self, by: int) -> None:
        """Move to the next column that shows another snapshot, ``by`` times."""
        if self._history is None:
            return
        drawn = np.unique(self._picture(self.width).snapshots)
        here = int(np.searchsorted(drawn, self._snapshot(), "right")) - 1
        goal = int(drawn[min(max(here + by, 0), len(drawn) - 1)])
        newest = len(self._history.articles) - 1
        self.at = None if goal == newest else int(self._history.articles[goal])
        self.hold()
        self.refresh()
        self.post_message(self.Moved(self.current))

    # Drawing --------------------------------------------------------------------------------------

    def _room(self, width: int) -> tuple[int, int, int]:
        """Cells of the name, the shades and the words."""
        words = WORDS if width >= WITH_WORDS else 0
        name = min(max(width // 3, SHORTEST_NAME), LONGEST_NAME)
        shades = max(width - NUMBER - name - words - 1, 1)
        return name, shades, words

    def _picture(self, width: int) -> HeatmapPicture:
        assert self._history is not None
        _, room, _ = self._room(width)
        if self._made is None or len(self._made.snapshots) != room:
            history = self._history
            snapshots = columns(history, room)
            sizes = history.own.astype(np.float64)
            shades = levels(sizes[snapshots], sizes[-1]).T.tolist()
            self._made = HeatmapPicture(snapshots, shades, _axis(history, room))
        return self._made

    def header(self, width: int) -> Line:
        name, room, words = self._room(width)
        axis = " " * room if self._history is None else self._picture(width).axis
        if words:
            axis += " words now"
        return [
            (sorting("#".rjust(NUMBER - 1) + " ", "number"), "header"),
            (sorting("name".ljust(name), "name"), "header"),
            (axis, "header"),
        ]

    def parts(self, row: TopicRow, width: int) -> Line:
        name, _, words = self._room(width)
        out: Line = [(f"{row.topic:>{NUMBER - 1}} ", "muted")]
        # If the words are not shown, the one for which the topic is listed stands beside its name.
        hit: Line = []
        if not words:
            first = words_of(row, name - 1, beside=row.name, hits=self._search.hits_in(row))[:1]
            hit = [(text, ink) for text, ink in first if ink == "accent"]
        hit_cells = line_cells(hit)
        out += [(padded(row.name, max(name - 1 - hit_cells, 0)) + " ", ""), *hit]
        if self._history is None:
            return out
        picture = self._picture(width)
        column = None
        if row is self.current and self.has_focus:
            # The last column that shows the snapshot under the cursor, which may have been thinned
            # out since.
            column = max(int(np.searchsorted(picture.snapshots, self._snapshot(), "right")) - 1, 0)
        out += self._cells(picture.shades[row.topic], column)
        if words:
            out += [(" ", ""), *words_of(row, words, hits=self._search.hits_in(row))]
        return out

    def _cells(self, shades: Sequence[int], column: int | None) -> Line:
        """The shades, with equal neighbours in one part; the cell under the cursor, in this
        ``column``, has its own part and ink."""
        if column is None:
            return self._shaded(shades)
        before = self._shaded(shades[:column])
        after = self._shaded(shades[column + 1 :])
        cursor = ASCII_CURSOR if self.ascii_only else CURSOR
        return [*before, (cursor, "strong"), *after]

    def _shaded(self, shades: Sequence[int]) -> Line:
        signs = ASCII_SHADES if self.ascii_only else SHADES
        return [(signs[shade] * len([*same]), SHADE_INKS[shade]) for shade, same in groupby(shades)]


class Emergence(View):
    """One row per topic, the stream from left to right; the line below describes the cell under the
    cursor."""

    TITLE = "Emergence"
    PART_OF = "Atlas"
    HOME = Heatmap
    FINDS = A_TOPIC
    FINDS_TOPICS = True
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        *bindings("emergence"),
        ("shift+left", f"list('along', -{FAR})"),
        ("shift+right", f"list('along', {FAR})"),
    ]

    def compose(self) -> ComposeResult:
        yield Heatmap(id="emergence")

    def draw(self, session: SessionView) -> None:
        self.query_one(Heatmap).show_history(self, session)

    @on(Heatmap.Moved)
    def _entitle(self) -> None:
        session = self.session
        drawn = self.query_one(Heatmap)
        if session is None:
            return
        which = f"with “{self.sought}”" if self.sought else "over time"
        topics = plural(len(drawn.rows), "topic")
        title = f"Emergence · {topics} {which}{session.of_model(self.model)}"
        all_shades = ASCII_SHADES if drawn.ascii_only else SHADES
        shades = all_shades[1::2]  # some of them, from light to full
        below = ""
        if drawn.pointed is not None:
            row, articles, part = drawn.pointed
            below = f"{row.label} · after {session.some(articles)} · {share(part)}"
        name(drawn, f"{title} · {shades} fuller: more text of its own", below)
        self.refresh_bindings()  # by now there is a topic to name and to pin

    def chosen_topic(self) -> TopicRow | None:
        return self.query_one(Heatmap).current

    def copied(self) -> str:
        pointed = self.query_one(Heatmap).pointed
        if pointed is None or self.session is None:
            return ""
        row, articles, part = pointed
        return f"{row.label}, {share(part)} after {self.session.some(articles)}"
