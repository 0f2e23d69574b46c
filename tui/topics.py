"""Topics, as several views show them: their order and their areas, the list of them, and one in
short."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from wikitopics.session.analysis.areas import Area
from wikitopics.session.records import APART, ArticleRow, TopicRow, word_separator
from wikitopics.tui.follow import Choice, SessionView
from wikitopics.tui.inks import NO_MARKS, Line, Lines, Marks, Part, linked, marks_of, name, sorting
from wikitopics.tui.lists import RowList
from wikitopics.tui.text import (
    MISMATCH,
    bar,
    count,
    cut,
    nearness,
    padded,
    plural,
    share,
    spark,
    visible,
    weight,
)

# How topics are listed: their order, their selection and their areas. Pure.


@dataclass(frozen=True, slots=True)
class AreaRow:
    """An area, in one row."""

    number: int
    name: str
    share: float
    change: float
    many: int
    """The number of its topics that are not hidden."""
    largest: int
    """The largest of them."""
    is_open: bool
    """Whether its topics are listed below it."""


Row = TopicRow | AreaRow

ORDERS: Mapping[str, Callable[[Row], tuple[object, ...]]] = {
    "share": lambda row: (-row.share,),
    "change": lambda row: (-abs(row.change),),
    "number": lambda row: (),
    "name": lambda row: (row.name.casefold(),),
}
"""The orders of topics; equal ones are ordered by number."""


def ordered(rows: Collection[TopicRow], order: str, pinned: Collection[int] = ()) -> list[TopicRow]:
    """The topics in this order, without hidden ones, and with pinned ones before all others."""
    key, listed = ORDERS[order], (row for row in rows if not row.hidden)
    return sorted(listed, key=lambda row: (row.topic not in pinned, *key(row), row.topic))


def matching(
    rows: Collection[TopicRow],
    text: str,
    order: str = "share",
    pinned: Collection[int] = (),
) -> list[TopicRow]:
    """The topics with ``text`` in their name or among their words, or with that number ("#12"),
    whole words first; "" finds all."""
    sought = text.strip().removeprefix("#")
    if not sought:
        return ordered(rows, order, pinned)
    near = {
        row.topic: sought != str(row.topic)
        and nearness(sought, " ".join([row.name, *(word for word, _ in row.words)]))
        for row in rows
    }
    matches = [row for row in ordered(rows, order, pinned) if near[row.topic] < MISMATCH]
    return sorted(matches, key=lambda row: near[row.topic])


def featured(
    rows: Sequence[TopicRow], chosen: TopicRow | None, pinned: Collection[int]
) -> tuple[TopicRow | None, str]:
    """The topic to show in more detail, and why that one: the selected one, else the largest pinned
    one, else the one whose share has moved most."""
    if chosen is not None:
        return chosen, "chosen"
    listed = [row for row in rows if not row.hidden]
    if on_top := [row for row in listed if row.topic in pinned]:
        return max(on_top, key=lambda row: row.share), "pinned"
    return max(listed, key=lambda row: abs(row.change), default=None), "moved most"


def grouped(
    rows: Sequence[TopicRow],
    areas: Sequence[Area],
    opened: Collection[int],
    order: str,
    pinned: Collection[int] = (),
) -> list[Row]:
    """The areas in this order, each of those in ``opened`` followed by its topics; pinned topics
    come before
    all areas, and topics of no area after them. ``rows``: topic k at index k."""
    heads: list[tuple[AreaRow, list[TopicRow]]] = []
    for area in areas:
        inside = [rows[topic] for topic in area.topics]
        shown = [row.topic for row in inside if not row.hidden]
        if not shown:
            continue
        share, change = sum(row.share for row in inside), sum(row.change for row in inside)
        is_open = area.number in opened
        row = AreaRow(area.number, area.name, share, change, len(shown), shown[0], is_open)
        heads.append((row, inside))
    listed: list[Row] = [*ordered([row for row in rows if row.topic in pinned], order)]
    for head, inside in sorted(heads, key=lambda one: (*ORDERS[order](one[0]), one[0].number)):
        listed.append(head)
        if head.is_open:
            listed += ordered([row for row in inside if row.topic not in pinned], order)
    placed = {topic for area in areas for topic in area.topics}.union(pinned)
    return [*listed, *ordered([row for row in rows if row.topic not in placed], order)]


# The list of topics, and of their areas.

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

    def show_topics(self, look: SessionView, choice: Choice, sought: str) -> None:
        """Draw the topics of the model in use in the selected order; with ``sought``, only those it
        finds."""
        model = choice.model_of(look)
        of = (look.status.session, model)
        if of != self._of or (sought and sought != self._sought):
            self.release()
        elif sought != self._sought:
            self.hold()  # the topic found stays under the cursor when all are listed again
        if of != self._of:
            self._opened = frozenset()
        self._of, self._sought = of, sought
        self._order, self._pinned = choice.order, choice.pinned_of(model)
        topics, listed = (
            look.topics_of(model),
            (self._order, self._pinned, sought, model, self.ascii_only),
        )
        if topics is self._topics and listed == self._listed:
            return
        if listed != self._listed:
            self.refresh()  # the header and the signs, even if the rows are the same
        self._topics, self._listed = topics, listed
        found = look.atlases.get(model)
        self._areas, self._marks = () if found is None else found.areas, marks_of(self, look, model)
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


def topics_title(look: SessionView, choice: Choice, sought: str) -> tuple[str, str]:
    """The heading of a list of topics, and the text below it: "Topics by share · hdp", "50 topics
    after 12,480 articles"."""
    model = choice.model_of(look)
    which = f"Topics with “{sought}”" if sought else f"Topics by {choice.order}"
    rows = look.topics_of(model)
    many = len(matching(rows, sought))
    listed = f"{count(many)} of " if sought or many < len(rows) else ""
    below = f"{listed}{plural(len(rows), 'topic')} {look.topics_after(model)}" if rows else ""
    if any(row.newcomers for row in rows):
        below += " · + new"
    return which + look.of_model(model), below


# One topic in short: its words with bars, its share over time, and articles about it.

WORD = 18
"""The maximum width of a word, in cells."""
BESIDE = 13
"""Cells beside a word: two for signs, seven for its probability, four for the shortest bar."""
COLUMN = 28
"""The minimum width of a column of words, in cells."""
LEAST = 16
"""The minimum width of an area's name, in cells."""


class TopicCard(Lines):
    """A topic's share and area, then its top words, in two columns if one is not tall enough."""

    DEFAULT_CLASSES = "panel"

    _row: TopicRow | None = None
    _model = ""
    _look: SessionView | None = None
    _articles: Sequence[ArticleRow] | None = None

    def show(self, row: TopicRow | None, look: SessionView, choice: Choice, why: str = "") -> None:
        """``why``: the reason for showing this topic."""
        self._row, self._look, self._model = row, look, choice.model_of(look)
        if row is None:
            name(self, "Topic")
        else:
            reason = f" · {why}" if why else ""
            order = "words by relevance" if choice.relevant else "words by probability"
            title = row.label + look.of_model(self._model) + reason
            name(self, title, f"{order} {look.topics_after(self._model)}")
        self.redraw()

    async def on_click(self) -> None:
        if self._row is not None:
            await self.run_action(f"app.open_topic({self._row.topic})")

    def show_articles(self, articles: Sequence[ArticleRow] | None) -> None:
        """Show the articles most about the topic; None: show none."""
        self._articles = articles
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        row = self._row
        if row is None:
            return [[(" no topic selected", "muted")]]
        lines = [self._summary(row, width), *self._words(row, width, height - 1)]
        if self._articles is not None and self._look is not None:
            lines.append([(" most about it", "muted")])
            for article in self._articles:
                part = next(
                    (weight(part) for name, _, part in article.topics if name == self._model), ""
                )
                title = linked(cut(visible(article.title), width - 6), self._look.address(article))
                lines.append([(f" {part:>4} ", "accent"), (title, "")])
        return lines

    @property
    def _marks(self) -> Marks:
        assert self._look is not None
        return marks_of(self, self._look, self._model)

    def _summary(self, row: TopicRow, width: int) -> Line:
        """Its share, its area, and as much of the course of its share as there is room for."""
        out: Line = [
            (" share ", "muted"),
            (f"{share(row.share)}  ", "strong"),
            *self._marks.dot(row.topic),
        ]
        if area := self._marks.area_of.get(row.topic):
            number = f"area {area.number} "
            used = sum(len(text) for text, _ in out) + len(number)
            name = cut(visible(area.name), max(width - used - TREND - 3, LEAST))
            out += [(number, "muted"), (f"{name}  ", "")]
        room = width - 1 - sum(cell_len(text) for text, _ in out)
        trend = spark(row.trend, max(room, 0), ascii_only=self.ascii_only, least=NOISE)
        return [*out, (trend, self._marks.ink(row.topic))]

    def _words(self, row: TopicRow, width: int, height: int) -> list[Line]:
        plain, ink = self.ascii_only, self._marks.ink(row.topic)
        if len(row.words) <= height or width < 2 * COLUMN:
            return [word_line(row, i, width, plain, ink) for i in range(len(row.words))]
        half, column = (len(row.words) + 1) // 2, width // 2
        left = [word_line(row, i, column, plain, ink) for i in range(half)]
        return [
            [*line, *word_line(row, half + i, column, plain, ink)] for i, line in enumerate(left)
        ]


def word_line(row: TopicRow, index: int, width: int, ascii_only: bool, ink: str) -> Line:
    """The index-th word with its probability and a bar, in this ink, that compares it to the most
    probable; all ``width`` cells are used."""
    if index >= len(row.words):
        return []
    word, probability = row.words[index]
    new = word in row.newcomers
    most = max(share for _, share in row.words) or 1.0
    cells = min(WORD, width - BESIDE)
    room = max(width - cells - BESIDE, 4)
    text = f" {NEWCOMER if new else ' '}{padded(word, cells)}"
    drawn = bar(probability / most, room, ascii_only=ascii_only)
    return [
        (text, "new" if new else ("strong" if index < 3 else "")),
        (f"{100 * probability:5.1f}% ", "muted"),
        (f"{drawn:<{width - cells - 9}}", ink),
    ]
