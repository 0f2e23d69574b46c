"""One topic in short: its words with bars, its share over time, and articles about it."""

from collections.abc import Sequence

from wikitopics.session.records import ArticleRow, TopicRow
from wikitopics.tui.chart.spark import bar, spark
from wikitopics.tui.inks import Line, Lines, linked, name
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.widgets.articles import weight
from wikitopics.tui.widgets.topiclist import NOISE
from wikitopics.tui.words import cut, padded, share, visible

WORD = 18
"""The most cells of a word."""
BESIDE = 13
"""Cells beside a word: two for signs, seven for its probability, four for the shortest bar."""
COLUMN = 28
"""The least cells of a column of words."""


class TopicCard(Lines):
    """The most probable words first, in two columns if one is not tall enough."""

    _row: TopicRow | None = None
    _model: str | None = None
    _look: Look | None = None
    _articles: Sequence[ArticleRow] | None = None

    def show(self, row: TopicRow | None, look: Look, choice: Choice, why: str = "") -> None:
        """``why``: the reason for showing this topic."""
        self._row, self._look, self._model = row, look, choice.model_of(look)
        if row is None:
            name(self, "Topic")
        else:
            reason = f" · {why}" if why else ""
            name(self, row.label + look.of_model(self._model) + reason, look.topics_after(self._model))
        self.redraw()

    def show_articles(self, articles: Sequence[ArticleRow] | None) -> None:
        """The articles most about the topic; None: no room for them."""
        self._articles = articles
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        row = self._row
        if row is None:
            return [[(" no topic selected", "muted")]]
        trend = spark(row.trend, max(width - 30, 0), ascii_only=self.ascii_only, least=NOISE)
        top: Line = [(" share ", "muted"), (f"{share(row.share)}  ", "strong"), (trend, "spark")]
        return [top, *self._words(row, width, height - 1), *self._about(width)]

    def _words(self, row: TopicRow, width: int, height: int) -> list[Line]:
        plain = self.ascii_only
        if len(row.words) <= height or width < 2 * COLUMN:
            return [word_line(row, i, width, plain) for i in range(len(row.words))]
        half, column = (len(row.words) + 1) // 2, width // 2
        left = [word_line(row, i, column, plain, fill=True) for i in range(half)]
        return [[*line, *word_line(row, half + i, column, plain)] for i, line in enumerate(left)]

    def _about(self, width: int) -> list[Line]:
        if self._articles is None or self._look is None:
            return []
        out: list[Line] = [[(" most about it", "muted")]]
        for article in self._articles:
            part = next((weight(part) for name, _, part in article.topics if name == self._model), "")
            title = linked(cut(visible(article.title), width - 6), self._look.address(article))
            out.append([(f" {part:>4} ", "accent"), (title, "")])
        return out


def word_line(row: TopicRow, index: int, width: int, ascii_only: bool, *, fill: bool = False) -> Line:
    """The index-th word with its probability and a bar that compares it to the most probable.

    ``fill``: use all ``width`` cells.
    """
    if index >= len(row.words):
        return []
    word, probability = row.words[index]
    new = word in row.newcomers
    most = max(share for _, share in row.words) or 1.0
    cells = min(WORD, width - BESIDE)
    room = max(width - cells - BESIDE, 4)
    shown = f" {'+' if new else ' '}{padded(word, cells)}"
    drawn = bar(probability / most, room, ascii_only=ascii_only)
    return [
        (shown, "new" if new else ("strong" if index < 3 else "")),
        (f"{100 * probability:5.1f}% ", "muted"),
        (f"{drawn:<{width - cells - 9}}" if fill else drawn, "spark"),
    ]
