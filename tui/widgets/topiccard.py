"""One topic in short: its words with bars and its share over time."""

from session.records import TopicRow
from tui.chart.spark import bar, spark
from tui.inks import Lines, Part, name
from tui.look import Choice, Look
from tui.widgets.topiclist import NOISE
from tui.words import padded, share


class TopicCard(Lines):
    """As many words as fit, the most probable first."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._row: TopicRow | None = None
        self._ascii = False

    def show(self, row: TopicRow | None, look: Look, choice: Choice) -> None:
        self._row, self._ascii = row, choice.ascii_only
        model = choice.model_of(look)
        if row is None:
            name(self, "Topic")
        else:
            name(self, row.label + look.of_model(model), look.topics_after(model))
        self.redraw()

    def lines(self, width: int, height: int) -> list[list[Part]]:
        row = self._row
        if row is None:
            return [[(" no topic chosen", "muted")]]
        trend = spark(row.trend, max(width - 30, 0), ascii_only=self._ascii, least=NOISE)
        top: list[Part] = [(" share ", "muted"), (f"{share(row.share)}  ", "strong"), (trend, "spark")]
        return [top, *(word_line(row, i, width, self._ascii) for i in range(len(row.words)))]


def word_line(row: TopicRow, index: int, width: int, ascii_only: bool) -> list[Part]:
    """The index-th word with its probability and a bar that compares it to the first."""
    if index >= len(row.words):
        return []
    word, probability = row.words[index]
    new = word in row.newcomers
    most = row.words[0][1] or 1.0
    room = max(width - 30, 4)
    shown = f" {'+' if new else ' '}{padded(word, 18, ascii_only=ascii_only)}"
    return [
        (shown, "new" if new else ("strong" if index < 3 else "")),
        (f"{100 * probability:5.1f}% ", "muted"),
        (bar(probability / most, room, ascii_only=ascii_only), "spark"),
    ]
