"""Names and values, one pair a line."""

from textual.strip import Strip
from textual.widget import Widget

from tui.inks import INKS, Part, strip
from tui.words import folded

Fact = tuple[str, str, str]
"""Name, value, ink of the value."""


class Facts(Widget):
    """As many lines as there is room for."""

    COMPONENT_CLASSES = set(INKS)  # noqa: RUF012 - Textual's own convention

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facts: list[Fact] = []

    def show(self, facts: list[Fact]) -> None:
        """Draw these; an empty name continues the line above."""
        self._facts = facts
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._lines(width)
        return strip(self, lines[y] if y < len(lines) else [], width)

    def _lines(self, width: int) -> list[list[Part]]:
        named = max((len(fact[0]) for fact in self._facts), default=0)
        lines: list[list[Part]] = []
        for title, value, ink in self._facts:
            for i, text in enumerate(folded(value, width - named - 4)):
                lines.append([(f" {title if i == 0 else '':<{named}}  ", "muted"), (text, ink)])
        return lines
