"""The list of topics and of their areas, as several views show it."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from wikitopics.session import errors
from wikitopics.session.analysis.areas import Area
from wikitopics.session.records import TopicRow
from wikitopics.session.wording import APART, found_sign, word_separator
from wikitopics.tui.inks import NO_MARKS, Line, Part, line_cells, marks_of, sorting
from wikitopics.tui.lists import RowList
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.text import count, cut, fitting, padded, plural, share, spark, visible
from wikitopics.tui.topic_order import (
    NOTHING_SOUGHT,
    AreaRow,
    Row,
    Search,
    grouped,
    matching,
)

FOLDED = "▸"
"""The sign of an area whose topics are not listed."""
UNFOLDED = "▾"
"""The sign of an area whose topics are listed below it."""
ASCII_FOLDED = "+"
ASCII_UNFOLDED = "-"
PINNED = "*"
"""The sign of a topic that is pinned to the top."""
NEWCOMER = "+"
"""The sign of a word that is new among a topic's first ten."""
NO_TOPICS = f" {errors.NO_TOPICS}"
TREND = 8
"""Cells of the bars of a topic's share over time."""
NOISE = 0.25
"""A share that has moved by less than a quarter of itself is drawn as steady."""
POINTS = " pt"
"""The unit of the change of a share, which a narrow list leaves out."""
CHANGE = 9
"""Cells of the change of a share with its unit."""
NARROW_CHANGE = 7
"""Cells of the change of a share without its unit."""
CHANGE_SHOWN = 0.0005
"""A change of share below this (0.05 points) is not shown."""
ROOMY = 60
"""Cells of a line from which the trend is shown."""
AREA_WIDTH = 44
"""The maximum cells of an area's name and the number of its topics."""
TOPIC_COUNT = 12
"""Cells of the number of its topics."""
PROMINENT = 3
"""The number of a topic's words that are not muted."""
ROOM_FOR_TITLES = 114
"""Cells of a line from which there are titles beside the words."""


class TopicList(RowList[Row]):
    """One line per topic. The number of a topic never changes, only its place."""

    empty = NO_TOPICS
    opens_at_once = True
    _topics_of: tuple[str, str] | None = None
    """The session and the model whose topics are listed."""
    _search = NOTHING_SOUGHT
    _order = "share"
    _pinned: frozenset[int] = frozenset()
    _topics: Sequence[TopicRow] = ()
    _listed_by: tuple[object, ...] = ()
    """What the rows were last made from, besides the topics."""
    _areas: Sequence[Area] = ()
    _marks = NO_MARKS
    is_grouped = False
    """Whether topics are shown by area, except during a search."""
    _opened: frozenset[int] = frozenset()
    _titles: Mapping[int, Sequence[str]] = {}

    def show_topics(
        self, session: SessionView, choice: Choice, search: Search = NOTHING_SOUGHT
    ) -> None:
        """Draw the topics of the model in use in the selected order: all, or those that a search
        finds."""
        model = choice.model_of(session)
        topics_of = (session.status.session, model)
        are_others = topics_of != self._topics_of
        is_new_search = search.text != self._search.text
        if are_others or (search.text and is_new_search):
            self.release()  # other topics, or other hits, are shown from the top
        elif is_new_search:
            self.hold()  # the topic found stays under the cursor when all are listed again
        if are_others:
            self._opened = frozenset()
            self._titles = {}
        self._topics_of = topics_of
        self._search = search
        self._order = choice.order
        self._pinned = choice.pinned_of(model)

        topics = session.topics_of(model)
        listed_by = (self._order, self._pinned, search, model, self.ascii_only)
        is_listed_alike = listed_by == self._listed_by
        if topics is self._topics and is_listed_alike:
            return
        if not is_listed_alike:
            self.refresh()  # the header and the signs, even if the rows are the same
        self._topics = topics
        self._listed_by = listed_by
        atlas = session.atlases.get(model)
        self._areas = () if atlas is None else atlas.areas
        self._marks = marks_of(self, session, model)
        self.empty = nothing_listed(topics, search)
        self._list()

    def show_titles(self, titles: Mapping[int, Sequence[str]]) -> None:
        """Show, where there is room, the titles of each topic's most typical articles."""
        self._titles = titles
        self.refresh()

    def _list(self) -> None:
        search = self._search
        if self.is_grouped and not search.text:
            self.show(grouped(self._topics, self._areas, self._opened, self._order, self._pinned))
        else:
            self.show(matching(self._topics, search, self._order, self._pinned))

    @property
    def topic(self) -> TopicRow | None:
        """The topic under the cursor; None if it is on an area."""
        return self.current if isinstance(self.current, TopicRow) else None

    def go_to_topic(self, topic: int) -> bool:
        """Select this topic, out of its area if need be; returns whether it is listed."""
        area = self._marks.area_of.get(topic)
        if area is not None:
            self._opened |= {area.number}
        self._list()
        return self._select(("topic", topic))

    def _select(self, key: object) -> bool:
        """Select the row with this key; returns whether there is one."""
        for index, row in enumerate(self.rows):
            if self.key(row) == key:
                self.go_to(index)
                return True
        return False

    # Areas ----------------------------------------------------------------------------------------

    def group(self, by_area: bool) -> None:
        """Show the topics by area, all folded except that of the topic under the cursor, or one by
        one again. The cursor stays on its topic."""
        chosen = self.topic
        self.is_grouped = by_area
        self._opened = frozenset()
        self._list()
        if chosen is not None:
            self.go_to_topic(chosen.topic)
        elif self.rows:
            self.go_to(0)

    def fold(self) -> None:
        """Fold the area under the cursor, or the area of the topic under the cursor."""
        number = self._area_number()
        if number is not None:
            self._opened -= {number}
            self._list()
            self._select(("area", number))

    def unfold(self) -> None:
        """Unfold the area under the cursor, or the area of the topic under the cursor."""
        number = self._area_number()
        if number is not None:
            self._opened |= {number}
            is_on_area = isinstance(self.current, AreaRow)
            self._list()
            if is_on_area:
                self._select(("area", number))

    def _area_number(self) -> int | None:
        """The number of the area under the cursor, or of the area of the topic under the cursor;
        None for a topic without an area."""
        row = self.current
        if isinstance(row, AreaRow):
            return row.number
        area = None if row is None else self._marks.area_of.get(row.topic)
        return None if area is None else area.number

    def action_choose(self) -> None:
        row = self.current
        if isinstance(row, AreaRow):
            if row.is_open:
                self.fold()
            else:
                self.unfold()
        else:
            super().action_choose()

    # Drawing --------------------------------------------------------------------------------------

    def key(self, row: Row) -> object:
        return ("topic", row.topic) if isinstance(row, TopicRow) else ("area", row.number)

    def header(self, width: int) -> Line:
        def head(words: str, order: str, cells: int = 0) -> Part:
            sign = "▾" if order == self._order else " "
            return sorting((words + sign).ljust(cells), order), "header"

        change = "change"
        cells = NARROW_CHANGE
        if width >= ROOMY:
            # It stands above the trend, too: both cover this part of the stream.
            cells = CHANGE + TREND + 2
            first = next(iter(self._topics), None)
            if first is not None and first.since != first.articles:
                change = f"since {count(first.since)}"
        # A dot takes two cells, of which the column of shares gives up one (`_numbers`): only one
        # more comes before "share" here.
        number = "   # " if self._marks.coloured else "   #"
        signs = "  " if self._has_signs else ""
        line = [
            head(number, "number"),
            head(" share", "share"),
            ("  ", "header"),
            head(change, "change", cells),
            (signs, "header"),
            head("name", "name"),
            (" and other words", "header"),
        ]
        title_cells = self._title_cells(width)
        if title_cells:
            blank = " " * (width - title_cells - sum(len(text) for text, _ in line))
            line.append((f"{blank}titles", "header"))
        return line

    def parts(self, row: Row, width: int) -> Line:
        if isinstance(row, AreaRow):
            return self._area_parts(row, width)
        pin = PINNED if row.topic in self._pinned else ""
        start = self._numbers(f"{pin}{row.topic}", row, row.topic, row.trend, width)
        if self._has_signs:
            start.append((f"{found_sign(row.found):1} ", "muted"))
        room = width - sum(len(text) for text, _ in start)
        title_cells = self._title_cells(width)
        if title_cells:
            room -= title_cells + 1  # a blank, beside the one after each word

        is_in_area = self.is_grouped and not self._search.text and not pin
        indent = "  " if is_in_area else ""
        # The word for which the topic is listed, if its name does not have it, will be the first of
        # its words: the name leaves room for that, two blanks and the sign of a newcomer.
        hit_cells = 0
        hits = self._search.hits_in(row)
        for word in hits:
            if word not in row.name:
                hit_cells = cell_len(f"  {NEWCOMER}{word}")
                break
        name = indent + cut(row.name, max(room - len(indent) - hit_cells, 0)) + "  "
        words = words_of(row, room - cell_len(name), beside=row.name, hits=hits)
        line = [*start, (name, ""), *words]
        if title_cells:
            used = line_cells(line)
            blank = " " * (width - title_cells - used)
            titles = fitting(self._titles.get(row.topic, ()), title_cells, APART)
            line.append((blank + APART.join(titles), "muted"))
        return line

    @property
    def _has_signs(self) -> bool:
        """Whether signs say which topics come back."""
        return any(row.found is not None for row in self._topics)

    def _title_cells(self, width: int) -> int:
        """The cells of a line for titles; 0 where there is no room, or no title is known."""
        return width * 2 // 5 if self._titles and width >= ROOM_FOR_TITLES else 0

    def _area_parts(self, row: AreaRow, width: int) -> Line:
        if self.ascii_only:
            fold = ASCII_UNFOLDED if row.is_open else ASCII_FOLDED
        else:
            fold = UNFOLDED if row.is_open else FOLDED
        start = self._numbers(fold, row, row.largest_topic, (), width)
        if self._has_signs:
            start.append(("  ", ""))
        room = width - sum(len(text) for text, _ in start)
        topics = f"{plural(row.topic_count, 'topic'):>{TOPIC_COUNT}}"
        name = padded(visible(row.name), max(min(room, AREA_WIDTH) - len(topics), 0))
        return [*start, (name, "accent"), (topics, "muted")]

    def _numbers(
        self,
        number: str,
        row: Row,
        topic: int,
        trend: Sequence[float],
        width: int,
    ) -> Line:
        """The columns before a row's name; ``topic``: the one that gives them its colour."""
        dot = self._marks.dot(topic)
        share_width = 5 if dot else 6  # it gives up a cell to the dot
        start: Line = [
            (f"{number:>4} ", "muted"),
            *dot,
            (f"{share(row.share):>{share_width}}  ", "strong"),
            self._change(row, width),
        ]
        if width >= ROOMY:
            bars = spark(trend, TREND, ascii_only=self.ascii_only, least=NOISE)
            start.append((f"{bars:<{TREND}}  ", self._marks.ink(topic)))
        return start

    def _change(self, row: Row, width: int) -> Part:
        cells = CHANGE if width >= ROOMY else NARROW_CHANGE
        is_unknown = isinstance(row, TopicRow) and row.since == row.articles
        if is_unknown or abs(row.change) < CHANGE_SHOWN:
            return " " * cells, ""
        points = f"{100 * row.change:+.2f}"[:5]  # "+12.34" loses its last decimal
        if width >= ROOMY:
            points += POINTS
        ink = "good" if row.change > 0 else "muted"
        return points.ljust(cells), ink


def nothing_listed(topics: Sequence[TopicRow], search: Search) -> str:
    """What an empty list of these topics says."""
    if topics and search.text:
        return f" no topic has “{search.text}” among its top words"
    return NO_TOPICS


def words_of(
    row: TopicRow,
    room: int,
    *,
    beside: str | None = None,
    hits: Sequence[str] = (),
) -> Line:
    """As many whole top words as fit ``room``, new ones marked with + (and in colour). ``beside``:
    only words that are not in this name, which precedes them. ``hits``: what was found comes first,
    in colour.
    """
    out: Line = []
    name = beside or ""
    # A name made of words has commas between them; one made of titles has APART.
    in_name = {*name.replace(",", " ").split(), *name.split(APART)}
    words = [word for word, _ in row.shown]
    apart = word_separator(words).lstrip()
    prominent = words[:PROMINENT]
    others = [word for word in words if word not in hits]
    for word in [*hits, *others]:
        if word in in_name:
            continue
        is_new = word in row.newcomers
        text = word
        if is_new:
            text = NEWCOMER + text
        if out:
            text = apart + text
        cells = cell_len(text)
        # Without a name beside it, one word is shown even where it does not fit.
        may_be_left_out = bool(out) or beside is not None
        if cells > room and may_be_left_out:
            break
        room -= cells + 1  # the word, and the blank after it
        if word in hits:
            ink = "accent"
        elif is_new:
            ink = "new"
        else:
            ink = "" if word in prominent else "muted"
        out.append((text + " ", ink))
    return out


def topics_title(
    session: SessionView, choice: Choice, search: Search = NOTHING_SOUGHT
) -> tuple[str, str]:
    """The heading of a list of topics, and the text below it: "Topics by share · hdp", "50 topics
    after 12,480 articles"."""
    model = choice.model_of(session)
    which = f"Topics with “{search.text}”" if search.text else f"Topics by {choice.order}"
    rows = session.topics_of(model)
    if not rows:
        return which + session.of_model(model), ""
    listed = len(matching(rows, search))
    below = f"{plural(len(rows), 'topic')} {session.topics_after(model)}"
    if search.text or listed < len(rows):
        below = f"{count(listed)} of {below}"
    if any(row.newcomers for row in rows):
        below += f" · {NEWCOMER} new"
    return which + session.of_model(model), below
