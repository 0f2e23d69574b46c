"""Names and values, one pair a line."""

from textual.strip import Strip
from textual.widget import Widget

from tui.inks import INKS, Part, strip

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
        if y >= len(self._facts):
            return strip(self, [], width)
        named = max(len(fact[0]) for fact in self._facts)
        title, value, ink = self._facts[y]
        parts: list[Part] = [(f" {title:<{named}}  ", "muted"), (value, ink)]
        return strip(self, parts, width)
