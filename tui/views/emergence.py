"""Emergence: all topics over the whole stream."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult

from wikitopics.session.records import ShareHistory, TopicRow
from wikitopics.tui.axes import Axis, Floats, own_space, ticks
from wikitopics.tui.inks import Line, name, sorting
from wikitopics.tui.lists import RowList
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import padded, plural, share, short
from wikitopics.tui.topic_list import NO_TOPICS, words_of
from wikitopics.tui.topic_order import matching
from wikitopics.tui.views.view import A_TOPIC, FAR, View

# All topics over the whole stream: one row per topic, one column per stretch of the stream. The
# shade shows how much of the text is the topic's own.
#
# Shares alone would show hardly anything for a model whose topics all begin alike: their shares
# stay much the same while their words develop.

SHADES = "·░░▒▒▓▓█"
INKS = ("faint", "spark", "accent", "spark", "accent", "spark", "accent", "accent")
ASCII_SHADES = ".:-=+*#@"
"""Shades from nothing to the largest size in the newest snapshot, each as a sign and an ink."""
NOTHING = 0.01
"""The fraction of the largest size that counts as nothing."""
SMALL = 0.1
"""The fraction of the topics that have the lightest shade now."""
FLOOR = 0.7
"""A topic below this fraction of their size is drawn as nothing: unborn topics have a size too, all
alike."""
NUMBER = 5
NAMES = (14, 32)
"""The minimum and maximum width of a name, in cells."""
WORDS = 40
"""Cells of the words at the right, if there is room for them."""
WITH_WORDS = 110
"""The width, in cells, from which there is room."""


def stream(history: ShareHistory) -> Axis:
    """The axis of articles from the first snapshot to the newest."""
    low, high = own_space(history.articles[[0, -1]].astype(np.float64), log=True).tolist()
    return Axis(low, high, log=True)


def columns(history: ShareHistory, width: int) -> NDArray[np.int64]:
    """For each of ``width`` columns over a logarithmic axis, the snapshot it shows: the last one in
    it, or the one before if it has none."""
    axis = stream(history)
    edges = axis.low + (axis.high - axis.low) * np.arange(1, width + 1) / width
    snapshots = own_space(history.articles.astype(np.float64), log=True)
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
    _of: object = None
    _made: HeatmapPicture | None = None
    _sought = ""

    def show_history(self, view: View, session: SessionView) -> None:
        """Draw the topics of the model in use, in the selected order, as soon as their history is
        known."""
        choice, sought, model = view.choice, view.sought, view.choice.model_of(session)

        async def fill() -> None:
            history = await view.ask(lambda reader: reader.share_history(model), aside=True)
            if (of := (session.status.session, model)) != self._of:
                self.release()
                self._of, self.at = of, None
            rows, shown = (
                session.topics_of(model),
                history if session.as_of is None else history.up_to(session.as_of),
            )
            self._sought = sought
            self._history, self._made = (shown if len(shown.articles) else None), None
            self.empty = (
                f" no topic has “{sought}” among its top words" if rows and sought else NO_TOPICS
            )
            listed = matching(rows, sought, choice.order, choice.pinned_of(model))
            self.show([row for row in listed if row.topic < shown.shares.shape[1]], anew=True)
            self.post_message(self.Moved(self.current))  # to a newer snapshot

        values = (
            session.topics,
            model,
            sought,
            choice.order,
            choice.pinned_of(model),
            choice.ascii_only,
        )
        view.fill("emergence", values, fill)

    def key(self, row: TopicRow) -> object:
        return row.topic

    # The cell
    # ---------------------------------------------------------------------------------------

    @property
    def pointed(self) -> tuple[TopicRow, int, float] | None:
        """The topic, the articles and its share under the cursor."""
        row, history = self.current, self._history
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

    # Drawing
    # ----------------------------------------------------------------------------------------

    def _room(self, width: int) -> tuple[int, int, int]:
        """Cells of the name, the shades and the words."""
        words = WORDS if width >= WITH_WORDS else 0
        name = min(max(width // 3, NAMES[0]), NAMES[1])
        return name, max(width - NUMBER - name - words - 1, 1), words

    def _picture(self, width: int) -> HeatmapPicture:
        assert self._history is not None
        _, room, _ = self._room(width)
        if self._made is None or len(self._made.snapshots) != room:
            history = self._history
            snapshots, own = columns(history, room), history.own.astype(np.float64)
            shades = levels(own[snapshots], own[-1]).T.tolist()
            self._made = HeatmapPicture(snapshots, shades, _axis(history, room))
        return self._made

    def header(self, width: int) -> Line:
        name, room, words = self._room(width)
        axis = self._picture(width).axis if self._history is not None else " " * room
        return [
            (sorting(f"{'#':>{NUMBER - 1}} ", "number"), "header"),
            (sorting(f"{'name':<{name}}", "name"), "header"),
            (axis + (" words now" if words else ""), "header"),
        ]

    def parts(self, row: TopicRow, width: int) -> Line:
        name, _, words = self._room(width)
        out: Line = [(f"{row.topic:>{NUMBER - 1}} ", "muted")]
        hits = words_of(row, name - 1, beside=row.name, sought=self._sought)[:1]
        if words or not hits or hits[0][1] != "accent":
            out.append((padded(row.name, name - 1) + " ", ""))
        else:  # the word for which the topic is listed
            cells = cell_len(hits[0][0])
            out += [(padded(row.name, max(name - 1 - cells, 0)) + " ", ""), *hits]
        if self._history is None:
            return out
        picture, column = self._picture(width), -1
        if row is self.current and self.has_focus:
            # The last column that shows the snapshot under the cursor, which may have been thinned
            # out since.
            column = max(int(np.searchsorted(picture.snapshots, self._snapshot(), "right")) - 1, 0)
        out += self._cells(picture.shades[row.topic], column)
        return [*out, (" ", ""), *words_of(row, words, sought=self._sought)] if words else out

    def _cells(self, shades: Sequence[int], column: int) -> Line:
        """The shades, with equal neighbours in one part; the cell under the cursor has its own part
        and ink."""
        signs = ASCII_SHADES if self.ascii_only else SHADES
        out: Line = []
        for (here, shade), cells in groupby(
            enumerate(shades), lambda cell: (cell[0] == column, cell[1])
        ):
            out.append(("◆", "strong") if here else (signs[shade] * len([*cells]), INKS[shade]))
        return out


class Emergence(View):
    """One row per topic, the stream from left to right; the line below describes the cell under the
    cursor."""

    TITLE = "Emergence"
    PART_OF = "Atlas"
    HOME = Heatmap
    FINDS = A_TOPIC
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
        session, drawn = self.session, self.query_one(Heatmap)
        if session is None:
            return
        which = f"with “{self.sought}”" if self.sought else "over time"
        title = (
            f"Emergence · {plural(len(drawn.rows), 'topic')} {which}{session.of_model(self.model)}"
        )
        shades = (SHADES, ASCII_SHADES)[drawn.ascii_only][1::2]
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
