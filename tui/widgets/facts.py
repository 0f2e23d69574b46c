"""Names and values, one pair per line."""

from wikitopics.tui.inks import Part
from wikitopics.tui.rowlist import Folded
from wikitopics.tui.words import folded

Fact = tuple[str, str, str]
"""Name, value, ink of the value."""


class Facts(Folded):
    """A list that scrolls if there is not room for everything."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facts: list[Fact] = []

    def show_facts(self, facts: list[Fact]) -> None:
        """Draw these; an empty name continues the line above."""
        if self._facts != facts:
            self._facts = facts
            self.refold()

    def fold(self, width: int) -> list[list[Part]]:
        named = max((len(fact[0]) for fact in self._facts), default=0)
        lines: list[list[Part]] = []
        for title, value, ink in self._facts:
            for i, text in enumerate(folded(value, width - named - 3)):
                lines.append([(f" {title if i == 0 else '':<{named}}  ", "muted"), (text, ink)])
        return lines
