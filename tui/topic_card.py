"""One topic in short: its words with bars, its share over time, and articles about it."""

from collections.abc import Sequence

from rich.cells import cell_len

from wikitopics.session.records import ArticleRow, TopicRow
from wikitopics.session.storage.typical import typicality
from wikitopics.session.wording import APART, TITLES, found_sign, titles_shown
from wikitopics.tui.inks import Line, Lines, Marks, line_cells, linked, marks_of, name
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.text import (
    bar,
    cut,
    fitting,
    padded,
    share,
    spark,
    title_and_text,
    visible,
    weight,
)
from wikitopics.tui.topic_list import NEWCOMER, NOISE, PROMINENT, TREND

WORD = 18
"""The maximum width of a word, in cells."""
SHORTEST_BAR = 4
BESIDE = 2 + 7 + SHORTEST_BAR
"""Cells beside a word: for signs, for its probability, and for the shortest bar."""
COLUMN = 28
"""The minimum width of a column of words, in cells."""
FIGURES = 11
"""Cells of the figures of an article."""
ROOM_FOR_TEXT = 60
"""Cells of a line from which the beginning of an article's text stands beside its title."""
LEAST = 16
"""The minimum width of an area's name, in cells."""


class TopicCard(Lines):
    """A topic's share and area, then its top words, in two columns if one is not tall enough."""

    DEFAULT_CLASSES = "panel"

    _row: TopicRow | None = None
    _model = ""
    _session: SessionView | None = None
    _articles: Sequence[ArticleRow] | None = None
    """The articles most about the topic; None until they are known."""
    _npmi: float | None = None
    """Its coherence; None until it is known, and at earlier moments."""

    def show(
        self, row: TopicRow | None, session: SessionView, choice: Choice, why: str = ""
    ) -> None:
        """``why``: the reason for showing this topic."""
        model = choice.model_of(session)
        before = None if self._row is None else self._row.topic
        if row is None or row.topic != before or model != self._model:
            self._articles = None
            self._npmi = None
        self._row = row
        self._session = session
        self._model = model
        if row is None:
            name(self, "Topic")
        else:
            reason = f" · {why}" if why else ""
            order = "words by probability" if choice.by_probability else "words"
            title = row.label + session.of_model(self._model) + reason
            name(self, title, f"{order} {session.topics_after(self._model)}")
        self.redraw()

    async def on_click(self) -> None:
        if self._row is not None:
            await self.run_action(f"app.open_topic({self._row.topic})")

    def show_articles(self, articles: Sequence[ArticleRow]) -> None:
        """Show the articles most about the topic: their titles in one line, or, where there is room
        below the words, one per line."""
        self._articles = articles
        self.redraw()

    def show_coherence(self, npmi: float | None) -> None:
        """Show the topic's coherence, as `topics` prints it; None: it is not known."""
        self._npmi = npmi
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        row = self._row
        if row is None:
            return [[(" no topic selected", "muted")]]
        summary = self._summary(row, width)
        words = self._words(row, width, height - 1)
        articles = self._articles
        if articles is not None and not articles:
            return [summary, *words]
        if height - 1 - len(words) > TITLES:
            return [summary, *words, *self._listed(articles or (), width)]
        return [summary, self._titles(width), *self._words(row, width, height - 2)]

    def _listed(self, articles: Sequence[ArticleRow], width: int) -> list[Line]:
        """The articles most about the topic, one per line under a heading."""
        assert self._session is not None
        lines: list[Line] = [[(" most about it (typical, share)", "muted")]]
        for article in articles:
            figures = ""
            largest = article.largest_of(self._model)
            if largest is not None:
                _, proportion = largest
                typical = typicality(proportion, article.words)
                figures = f"{typical:.2f} {weight(proportion):>4}"
            room = max(width - FIGURES - 1, 0)
            title_room = room if room < ROOM_FOR_TEXT else room // 3
            title, text = title_and_text(article, title_room, room - title_room)
            link = linked(title, self._session.address(article))
            lines.append([(f" {figures:9} ", "accent"), (link, ""), (text, "muted")])
        return lines

    def _titles(self, width: int) -> Line:
        """The titles of the most typical articles, as many as fit a line; empty until known."""
        assert self._session is not None
        label = f" {self._session.noun} "
        titles = titles_shown(article.called for article in self._articles or ())
        line: Line = [(label, "muted")]
        for title in fitting(titles, width - cell_len(label) - 1, APART):
            line += [(title, ""), (APART, "muted")]
        return line[:-1]

    @property
    def _marks(self) -> Marks:
        assert self._session is not None
        return marks_of(self, self._session, self._model)

    def _summary(self, row: TopicRow, width: int) -> Line:
        """Its share, its area, where there is room its coherence, and as much of the course of its
        share as there is room for."""
        out: Line = [
            (" share ", "muted"),
            (f"{share(row.share)}  ", "strong"),
            *self._marks.dot(row.topic),
        ]
        if row.found is not None:
            assert self._session is not None
            replicas = self._session.status.replicas
            times = round(row.found * replicas)
            out += [(f"{found_sign(row.found)} {times}/{replicas}  ", "muted")]
        area = self._marks.area_of.get(row.topic)
        if area is not None:
            number = f"area {area.number} "
            used = sum(len(text) for text, _ in out) + len(number)
            # Two blanks and the trend come after the name, and a blank at the end.
            name = cut(visible(area.name), max(width - used - TREND - 3, LEAST))
            out += [(number, "muted"), (f"{name}  ", "")]
        room = width - 1 - line_cells(out)
        if self._npmi is not None:
            coherence = f"npmi {self._npmi:.2f}  "
            if len(coherence) + TREND <= room:
                out.append((coherence, "muted"))
                room -= len(coherence)
        trend = spark(row.trend, max(room, 0), ascii_only=self.ascii_only, least=NOISE)
        return [*out, (trend, self._marks.ink(row.topic))]

    def _words(self, row: TopicRow, width: int, height: int) -> list[Line]:
        def line(index: int, cells: int) -> Line:
            return word_line(row, index, cells, self.ascii_only, self._marks.ink(row.topic))

        if len(row.shown) <= height or width < 2 * COLUMN:
            return [line(i, width) for i in range(len(row.shown))]
        half = (len(row.shown) + 1) // 2
        return [line(i, width // 2) + line(half + i, width // 2) for i in range(half)]


def word_line(row: TopicRow, index: int, width: int, ascii_only: bool, ink: str) -> Line:
    """The index-th word with its probability and a bar, in this ink, that compares it to the most
    probable; all ``width`` cells are used. No parts after the last word."""
    if index >= len(row.shown):
        return []
    word, probability = row.shown[index]
    if word in row.newcomers:
        sign = NEWCOMER
        word_ink = "new"
    else:
        sign = " "
        word_ink = "strong" if index < PROMINENT else ""
    word_cells = min(WORD, width - BESIDE)
    start: Line = [
        (f" {sign}{padded(word, word_cells)}", word_ink),
        (f"{100 * probability:5.1f}% ", "muted"),
    ]
    largest = max(probability for _, probability in row.shown) or 1.0
    bar_cells = max(width - word_cells - BESIDE, SHORTEST_BAR)
    drawn = bar(probability / largest, bar_cells, ascii_only=ascii_only)
    # Blanks after the bar fill what the word, the signs and the probability leave.
    room = width - word_cells - (BESIDE - SHORTEST_BAR)
    return [*start, (drawn.ljust(room), ink)]
