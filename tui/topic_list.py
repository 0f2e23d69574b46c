"""The list of topics and of their areas, as several views show it."""

from collections.abc import Sequence

from rich.cells import cell_len

from wikitopics.session.analysis.areas import Area
from wikitopics.session.records import APART, TopicRow, word_separator
from wikitopics.tui.inks import NO_MARKS, Line, Part, marks_of, sorting
from wikitopics.tui.lists import RowList
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.text import count, cut, padded, plural, share, spark, visible
from wikitopics.tui.topic_order import AreaRow, Row, grouped, matching

FOLDS = ("▸▾", "+-")
"""The signs of a folded and of an unfolded area, and those in ASCII."""
PINNED, NEWCOMER = "*", "+"
"""The signs of a pinned topic, and of a word that is new among its first ten."""
NO_TOPICS = " no topics yet: they appear with the first minibatch"
TREND = 8
NOISE = 0.25
"""A share that has moved by less than a quarter of itself is drawn as steady."""
CHANGE, POINTS = 9, " pt"
"""Width of the change of a share, in cells, and its unit, which a narrow list leaves out."""
CHANGE_SHOWN = 0.0005
"""A change of share below this (0.05 points) is not shown."""
ROOMY = 60
"""Cells of a line from which the trend is shown."""
AREA = 44
"""Cells of an area's name and the number of its topics."""


class TopicList(RowList[Row]):
    """One line per topic. The number of a topic never changes, only its place."""

    empty = NO_TOPICS
    opens_at_once = True
    _of: tuple[str, str] | None = None
    _sought = ""
    _order = "share"
    _pinned: frozenset[int] = frozenset()
    _topics: Sequence[TopicRow] = ()
    _listed: tuple[object, ...] = ()
    """What the rows were last made from, besides the topics."""
    _areas: Sequence[Area] = ()
    _marks = NO_MARKS
    is_grouped = False
    """Whether topics are shown by area, except during a search."""
    _opened: frozenset[int] = frozenset()

    def show_topics(self, session: SessionView, choice: Choice, sought: str) -> None:
        """Draw the topics of the model in use in the selected order; with ``sought``, only those it
        finds."""
        model = choice.model_of(session)
        of = (session.status.session, model)
        if of != self._of or (sought and sought != self._sought):
            self.release()
        elif sought != self._sought:
            self.hold()  # the topic found stays under the cursor when all are listed again
        if of != self._of:
            self._opened = frozenset()
        self._of, self._sought = of, sought
        self._order, self._pinned = choice.order, choice.pinned_of(model)
        topics, listed = (
            session.topics_of(model),
            (self._order, self._pinned, sought, model, self.ascii_only),
        )
        if topics is self._topics and listed == self._listed:
            return
        if listed != self._listed:
            self.refresh()  # the header and the signs, even if the rows are the same
        self._topics, self._listed = topics, listed
        found = session.atlases.get(model)
        self._areas, self._marks = (
            () if found is None else found.areas,
            marks_of(self, session, model),
        )
        self.empty = (
            f" no topic has “{sought}” among its top words"
            if self._topics and sought
            else NO_TOPICS
        )
        self._list()

    def _list(self) -> None:
        if self.is_grouped and not self._sought:
            self.show(grouped(self._topics, self._areas, self._opened, self._order, self._pinned))
        else:
            self.show(matching(self._topics, self._sought, self._order, self._pinned))

    @property
    def topic(self) -> TopicRow | None:
        """The topic under the cursor; None if it is on an area."""
        return self.current if isinstance(self.current, TopicRow) else None

    def go_to_topic(self, topic: int) -> bool:
        """Select this topic, out of its area if need be; returns whether it is listed."""
        if area := self._marks.area_of.get(topic):
            self._opened |= {area.number}
        self._list()
        return self._select(("topic", topic))

    def _select(self, key: object) -> bool:
        """Select the row with this key; returns whether there is one."""
        index = next((i for i, row in enumerate(self.rows) if self.key(row) == key), None)
        if index is not None:
            self.go_to(index)
        return index is not None

    # Areas ----------------------------------------------------------------------------------------

    def group(self, by_area: bool) -> None:
        """Show the topics by area, all folded except that of the topic under the cursor, or one by
        one again. The cursor stays on its topic."""
        chosen = self.topic
        self.is_grouped, self._opened = by_area, frozenset()
        self._list()
        if chosen is not None:
            self.go_to_topic(chosen.topic)
        elif self.rows:
            self.go_to(0)

    def unfold(self, out: bool) -> None:
        """Unfold the area under the cursor or around it, or fold it again."""
        row = self.current
        around = self._marks.area_of.get(row.topic) if isinstance(row, TopicRow) else row
        if around is not None:
            number = around.number
            self._opened = self._opened | {number} if out else self._opened - {number}
            self._list()
            if around is row or not out:
                self._select(("area", number))

    def action_choose(self) -> None:
        if isinstance(self.current, AreaRow):
            self.unfold(not self.current.is_open)
        else:
            super().action_choose()

    # Drawing --------------------------------------------------------------------------------------

    def key(self, row: Row) -> object:
        return ("topic", row.topic) if isinstance(row, TopicRow) else ("area", row.number)

    def header(self, width: int) -> Line:
        def head(words: str, order: str, cells: int = 0) -> Part:
            sign = "▾" if order == self._order else " "
            return sorting((words + sign).ljust(cells), order), "header"

        change, cells = "change", CHANGE - 2
        if (
            width >= ROOMY
        ):  # the change stands above the trend, too: both cover this part of the stream
            cells = CHANGE + TREND + 2
            first = next(iter(self._topics), None)
            if first is not None and first.since != first.articles:
                change = f"since {count(first.since)}"
        number = (
            "   # " if self._marks.coloured else "   #"
        )  # the dots take the other cell from the share
        out = [head(number, "number"), head(" share", "share"), ("  ", "header")]
        out += [head(change, "change", cells), head("name", "name")]
        return [*out, (" and other words", "header")]

    def parts(self, row: Row, width: int) -> Line:
        if isinstance(row, AreaRow):
            topic, trend = row.largest, tuple[float, ...]()
            sign = FOLDS[self.ascii_only][row.is_open] + str(row.number)
        else:
            topic, trend = row.topic, row.trend
            sign = (PINNED if topic in self._pinned else "") + str(topic)
        out: Line = [(f"{sign:>4} ", "muted"), *self._marks.dot(topic)]
        out += [
            (f"{share(row.share):>{6 - self._marks.coloured}}  ", "strong"),
            self._change(row, width),
        ]
        if width >= ROOMY:
            bars = spark(trend, TREND, ascii_only=self.ascii_only, least=NOISE)
            out.append((f"{bars:<{TREND}}  ", self._marks.ink(topic)))
        room = width - sum(len(text) for text, _ in out)
        if not isinstance(row, TopicRow):
            many = f"{plural(row.many, 'topic'):>12}" if room >= AREA else f"{row.many:>4}"
            called = padded(visible(row.name), max(min(room, AREA) - len(many), 0))
            return [*out, (called, "accent"), (many, "muted")]
        inside = (
            "  " if self.is_grouped and not self._sought and row.topic not in self._pinned else ""
        )
        hit = next(
            (f"  +{word}" for word in hits_in(row, self._sought) if word not in row.name), ""
        )
        called = inside + cut(row.name, max(room - len(inside) - cell_len(hit), 0))
        words = words_of(row, room - cell_len(called) - 2, beside=row.name, sought=self._sought)
        return [*out, (called + "  ", ""), *words]

    def _change(self, row: Row, width: int) -> Part:
        unit, cells = (POINTS, CHANGE) if width >= ROOMY else ("", CHANGE - 2)
        unknown = isinstance(row, TopicRow) and row.since == row.articles
        if unknown or abs(row.change) < CHANGE_SHOWN:
            return " " * cells, ""
        points = f"{100 * row.change:+.2f}"[:5]
        return f"{points}{unit}".ljust(cells), "good" if row.change > 0 else "muted"


def hits_in(row: TopicRow, sought: str) -> list[str]:
    """The topic's top words that contain a part of what was sought."""
    parts = sought.casefold().split()
    return [word for word, _ in row.words if any(part in word.casefold() for part in parts)]


def words_of(row: TopicRow, room: int, *, beside: str | None = None, sought: str = "") -> Line:
    """As many whole top words as fit ``room``, new ones marked with + (and in colour). ``beside``:
    only words that are not in this name, which precedes them. ``sought``: what was found comes
    first, in colour.
    """
    out: Line = []
    name = beside or ""
    in_name = frozenset((*name.replace(",", " ").split(), *name.split(APART)))
    apart = word_separator(word for word, _ in row.words).lstrip()
    hits = hits_in(row, sought)
    for i, (word, _) in sorted(enumerate(row.words), key=lambda one: one[1][0] not in hits):
        if word in in_name:
            continue
        new = word in row.newcomers
        text = (apart if out else "") + (NEWCOMER if new else "") + word
        room -= cell_len(text) + 1
        if room < -1 and (out or beside is not None):
            break
        ink = "new" if new else ("" if i < 3 else "muted")
        out.append((text + " ", "accent" if word in hits else ink))
    return out


def topics_title(session: SessionView, choice: Choice, sought: str) -> tuple[str, str]:
    """The heading of a list of topics, and the text below it: "Topics by share · hdp", "50 topics
    after 12,480 articles"."""
    model = choice.model_of(session)
    which = f"Topics with “{sought}”" if sought else f"Topics by {choice.order}"
    rows = session.topics_of(model)
    many = len(matching(rows, sought))
    listed = f"{count(many)} of " if sought or many < len(rows) else ""
    below = f"{listed}{plural(len(rows), 'topic')} {session.topics_after(model)}" if rows else ""
    if any(row.newcomers for row in rows):
        below += " · + new"
    return which + session.of_model(model), below
