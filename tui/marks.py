"""Marks in the colours of areas: a dot before a topic, and a bar of the topics of an article."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.widget import Widget

from wikitopics.session.analysis.areas import Area
from wikitopics.tui.follow import SessionView
from wikitopics.tui.inks import Line, area_ink
from wikitopics.tui.text import EIGHTHS

DOTS = "●o"
"""The dot before a topic, and in ASCII."""
MIX = 8
"""Cells of the bar of an article's topics."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one model's topics."""

    area_of: Mapping[int, Area]
    """The area of each topic in use."""
    coloured: bool
    """Whether there are colours. Without them, a dot would say nothing."""
    ascii_only: bool

    @property
    def mixes(self) -> bool:
        """Whether the topics of articles are drawn as bars; otherwise their proportions are written."""
        return self.coloured and not self.ascii_only

    def ink(self, topic: int, otherwise: str = "spark") -> str:
        """The ink of a topic's area; ``otherwise``: that of a topic without one."""
        area = self.area_of.get(topic)
        return otherwise if area is None or not self.coloured else area_ink("area", area.number)

    def dot(self, topic: int) -> Line:
        """The dot before a topic, and a space; two spaces for a topic that is not in use."""
        if not self.coloured:
            return []
        sign = DOTS[self.ascii_only] if topic in self.area_of else " "
        return [(f"{sign} ", self.ink(topic, ""))]

    def mix(self, parts: Sequence[tuple[int, float]]) -> Line:
        """A bar of an article's (topic, proportion), the largest first."""
        return stacked([(self.ink(topic, "faint"), part) for topic, part in parts], MIX)


NO_MARKS = Marks({}, coloured=False, ascii_only=True)


def marks_of(widget: Widget, look: SessionView, model: str) -> Marks:
    """The marks of a model's topics as this widget's screen can show them."""
    app = widget.app
    return Marks(look.areas_of(model), not app.no_color, app.has_class("-ascii"))


def stacked(parts: Sequence[tuple[str, float]], width: int) -> Line:
    """A bar of ``width`` cells: (ink, fraction of the bar) one after the other, to an eighth of a cell.

    Two neighbours in one ink are set apart by a gap. The part of a fraction too small to be seen is blank.
    """
    eighths: list[str] = []
    total = 0.0
    for ink, fraction in parts:
        total += fraction
        end = min(round(total * 8 * width), 8 * width)
        if eighths and eighths[-1] == ink:  # a gap can only be the last eighth of a cell
            edge = max(round(len(eighths) / 8), 1) * 8
            eighths = [*eighths, *[ink] * 8][: edge - 1]
            eighths.append("")
        eighths += [ink] * (end - len(eighths))
    eighths += [""] * (8 * width - len(eighths))
    return [_cell(eighths[start : start + 8]) for start in range(0, 8 * width, 8)]


def _cell(eighths: Sequence[str]) -> tuple[str, str]:
    """The sign and the ink that show these eighths best: the first part, and the largest of the others."""
    first = eighths[0]
    own = next((i for i, ink in enumerate(eighths) if ink != first), len(eighths))
    if not first:
        return " ", ""
    others = Counter(eighths[own:]).most_common(1)
    ground = others[0][0] if others else ""
    return EIGHTHS[own], f"{first}/{ground}" if ground else first
