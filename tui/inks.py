"""The colours that hand-drawn widgets use, by meaning, and the widgets' common way to draw lines.

`app.tcss` gives each ink its colour. The inks belong to the app, because Textual styles each of a
widget's component classes as a separate node whenever it styles the widget. The inks of areas are
computed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Self

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from wikitopics.session.analysis.areas import Area
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import READABLE, contrast
from wikitopics.tui.text import EIGHTHS, visible

SERIES = 4
INKS = {
    *(f"ink--{name}" for name in ("muted", "faint", "strong", "header", "cursor", "chosen")),
    *(f"ink--{name}" for name in ("good", "bad", "warn", "new", "accent", "spark")),
    *(f"ink--series{number}" for number in range(SERIES)),
}


# The inks of areas: "area3" is for a dot or a word of area 3, "head3" for its name, "tint3" as the
# background of its land, "coast3" for the same colour in half a cell, "glow3" for a topic of it
# that has just been read, "dim3" for a faint dot.

# "pale3" is between that of text and that of area 3.
# "brush0" to "brush7" are weights and lines of type, in any colour: those of a text's topics.

BRUSHES = (
    Style(bold=True),
    Style(underline=True),
    Style(bold=True, underline=True),
    Style(italic=True),
    Style(italic=True, underline=True),
    Style(bold=True, italic=True),
    Style(bold=True, italic=True, underline=True),
    Style(underline2=True),
)

# How much of an area's colour is mixed into the background of its land, and of a glowing topic.
TINT = 0.15
GLOW = 0.5
# How much of an area's colour is left in a dot that is to be faint.
DIM = 0.6
# How much of it is in a word that may be of its topic.
PALE = 0.5


def area_ink(kind: str, area: int) -> str:
    """The name of an area's ink: its "area", "dim", "pale", "head", "tint", "coast" or "glow"."""
    return f"{kind}{area % len(COLOURS)}"


def coloured(app: App[object]) -> bool:
    """Whether areas have colours: 16 are too few to tell them apart, and a theme that leaves
    colours to the terminal has no more."""
    has_many = app.console.color_system in ("256", "truecolor")
    return has_many and not app.no_color and not app.current_theme.ansi


def tinted(app: App[object]) -> bool:
    """Whether areas have a background of their own; otherwise borders set them apart.

    Among 256 colours the only dark ones are greys and bright red, green, blue and their mixtures.
    """
    return coloured(app) and app.console.color_system == "truecolor" and not app.has_class("-ascii")


def made_style(app: App[object], ink: str) -> Style | None:
    """The style of an ink that is not in `app.tcss`, under the present theme and in the terminal's
    colours: of an area or a brush; None for other inks."""
    kind = ink.rstrip("0123456789")
    if kind == "brush":
        return BRUSHES[int(ink.removeprefix(kind))]
    if kind not in ("area", "dim", "pale", "head", "tint", "coast", "glow"):
        return None
    if kind in ("tint", "coast") and not tinted(app):
        return Style()
    # In a style, None leaves an attribute as it is beneath.
    if not coloured(app):
        return Style(
            bold=True if kind in ("head", "glow") else None,
            underline=True if kind == "glow" else None,
        )
    area = int(ink.removeprefix(kind))
    is_dark = app.current_theme.dark
    background = app.theme_variables["background"]
    if kind == "coast":
        return Style(color=_area_ground("tint", area, background, is_dark).bgcolor)
    if kind in ("tint", "glow"):
        return _area_ground(kind, area, background, is_dark)
    grounds = (background, app.theme_variables["cursor"])
    full = app.console.color_system == "truecolor"
    colour = _area_colour(area, grounds, is_dark, full)
    if kind == "pale":
        text = Color.parse(app.theme_variables["foreground"])
        colour = text.blend(Color.from_rich_color(colour), PALE).rich_color
    elif kind == "dim" and full:  # the dark ones of 256 colours are all grey
        below = Color.parse(background)
        colour = below.blend(Color.from_rich_color(colour), DIM).rich_color
    return Style(color=colour, bold=True if kind == "head" else None)


@lru_cache(512)
def _area_colour(area: int, grounds: tuple[str, ...], dark: bool, full: bool) -> RichColor:
    """The colour of an area's dots: mixed with white or black until it stands out from these
    grounds.

    Without 24-bit colours (``full``) only the first ground counts: few hues can be told from all of
    them.
    """
    if not full:
        grounds = grounds[:1]
    shown_grounds = [_as_shown(Color.parse(ground), full) for ground in grounds]
    # Not the colour of text: grey would dull the hue.
    end = Color(255, 255, 255) if dark else Color(0, 0, 0)
    for part in range(21):
        mixed = Color.parse(COLOURS[area]).blend(end, part / 20)
        shown = _as_shown(mixed, full)
        if all(contrast(shown, ground) >= READABLE for ground in shown_grounds):
            return mixed.rich_color
    return end.rich_color


@lru_cache(512)
def _area_ground(kind: str, area: int, ground: str, dark: bool) -> Style:
    """The background of an area's land, or the background and text colour of a topic that glows."""
    colour = Color.parse(COLOURS[area])
    below = Color.parse(ground)
    if kind == "tint":
        return Style(bgcolor=below.blend(colour, TINT).rich_color)
    text = Color(255, 255, 255) if dark else Color(0, 0, 0)
    glow = below.blend(colour, GLOW)
    return Style(color=text.rich_color, bgcolor=glow.rich_color, bold=True)


def _as_shown(colour: Color, full: bool) -> Color:
    """The nearest colour that a terminal with 24-bit or with 256 colours has."""
    if full:
        return colour
    return Color.from_rich_color(colour.rich_color.downgrade(ColorSystem.EIGHT_BIT))


class Clickable(str):
    """Text of a `Part` that responds to a click."""

    address: str
    """What a terminal opens as a link; "" for none."""
    action: str
    """The action that a click runs; "" for none."""

    def __new__(cls, text: str, *, address: str = "", action: str = "") -> Self:
        made = super().__new__(cls, text)
        made.address = address
        made.action = action
        return made


def linked(text: str, address: str | None) -> str:
    """``text``, as a link if it has an address."""
    return text if address is None else Clickable(text, address=address)


def sorting(text: str, order: str) -> str:
    """``text``, as the head of a column: a click brings the rows into this order."""
    return Clickable(text, action=f"""app.in_view("sort('{order}')")""")


def opening(text: str, topic: int) -> str:
    """``text``, on which a click opens this topic of the model in use."""
    return Clickable(text, action=f"app.open_topic({topic})")


Part = tuple[str, str]
"""Text and the name of its ink; "" for the widget's own colour."""


class Drawn(Widget):
    """Draws with inks. The style of an ink on this widget is computed once, not once per line."""

    _pens: dict[tuple[str, str], Style] | None = None

    @property
    def ascii_only(self) -> bool:
        """Whether braille, blocks and shades are drawn in ASCII. All other signs are replaced
        later, by `PlainSigns`."""
        return self.app.has_class("-ascii")

    def redraw(self) -> None:
        """Draw again: something that is shown has changed."""
        self.refresh()

    def notify_style_update(self) -> None:
        self._pens = None
        super().notify_style_update()

    def pen(self, name: str = "", under: str = "") -> Style:
        """The style of an ink over the widget's own, with the ink ``under`` in between. "a/b" is
        ink a on the colour of ink b, "a+b" is ink b over ink a."""
        if "+" in name:
            under, _, name = name.partition("+")
        if under in ("cursor", "chosen") and name and self.app.has_class("-few-colours"):
            # Of 16 colours, no two others go together.
            name = "strong" if name in ("strong", "new") else ""
        elif name == "faint" and under == "cursor":
            name = "muted"  # faint text would be invisible on the cursor's row
        if self._pens is None:
            self._pens = {}
        style = self._pens.get((name, under))
        if style is None:
            ink, _, ground = name.partition("/")
            style = self.rich_style
            if under:
                style += self._ink_style(under)
            if ink:
                style += self._ink_style(ink)
            if ground:
                style += Style(bgcolor=self._ink_style(ground).color)
            self._pens[name, under] = style
        return style

    def _ink_style(self, ink: str) -> Style:
        area_style = made_style(self.app, ink)
        if area_style is not None:
            return area_style
        return self.app.get_component_styles(f"ink--{ink}").partial_rich_style

    def strip(self, parts: list[Part], width: int, under: str = "") -> Strip:
        """One line of exactly ``width`` cells, ending in "…" if more than spaces did not fit;
        ``under`` is an ink beneath all parts.

        Nothing in foreign text can control the terminal, whatever the parts were made of.
        """
        opens = self.app.has_class("-links")
        segments = []
        for text, name in parts:
            pen = self.pen(name, under)
            if isinstance(text, Clickable):
                if opens and text.address:
                    pen = pen.update_link(text.address)
                if text.action:
                    pen += Style.from_meta({"@click": text.action})
            segments.append(Segment(visible(text), pen))
        line = Strip(segments).simplify()
        if line.cell_length > width > 0 and cell_len(line.text.rstrip()) > width:
            first_cut, *_ = line.crop(width - 1)
            line = Strip([*line.crop(0, width - 1), Segment("…", first_cut.style)])
        return line.adjust_cell_length(width, self.pen("", under))


Line = list[Part]


def line_cells(line: Line) -> int:
    """The number of terminal cells that a line takes."""
    return sum(cell_len(text) for text, _ in line)


def marked(text: str, spans: Sequence[tuple[int, int]]) -> Line:
    """``text``, with these parts of it in colour."""
    line: Line = []
    end = 0
    for start, stop in spans:
        line += [(text[end:start], ""), (text[start:stop], "accent")]
        end = stop
    line.append((text[end:], ""))
    return [(part, ink) for part, ink in line if part]


class Lines(Drawn):
    """A widget of a few lines of text, made once for each change and repainted only then."""

    _lines: list[Line] | None = None
    _lines_for: tuple[int, int] = (0, 0)
    _make: Callable[[int, int], list[Line]] | None = None

    def show_lines(self, make: Callable[[int, int], list[Line]]) -> None:
        """Show these lines from now on: ``make`` gets width and height, and returns the top line
        first."""
        self._make = make
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        """The lines to draw now."""
        return [] if self._make is None else self._make(width, height)

    def notify_style_update(self) -> None:
        self._lines = None  # they may depend on the theme and on the focus
        super().notify_style_update()

    def redraw(self) -> None:
        old_lines = self._lines
        self._lines = None
        width, height = self.size
        if old_lines is None or self._lines_for != (width, height) or not self.is_on_screen:
            self.refresh()
            return
        pairs = zip_longest(old_lines[:height], self._made()[:height])
        changed = [Region(0, y, width, 1) for y, (old, new) in enumerate(pairs) if old != new]
        if changed:  # without a region, all would be drawn again
            self.refresh(*changed)

    def _made(self) -> list[Line]:
        size = self.size
        if self._lines is None or self._lines_for != size:
            self._lines = self.lines(*size)
            self._lines_for = size
        return self._lines

    def render_line(self, y: int) -> Strip:
        lines = self._made()
        line = lines[y] if y < len(lines) else []
        width, _ = self._lines_for
        return self.strip(line, width)


def name(widget: Widget, title: str, below: str = "") -> None:
    """Give a panel a title from possibly foreign text, which is neither parsed as markup nor obeyed
    by the terminal."""
    # Textual redraws the widget whenever these are set, even to the same value.
    border_title = Content(visible(title))
    if widget.border_title != border_title.markup:
        widget.border_title = border_title
    if not below:
        if widget.border_subtitle is not None:
            widget.border_subtitle = None
        return
    border_subtitle = Content(visible(below))
    if widget.border_subtitle != border_subtitle.markup:
        widget.border_subtitle = border_subtitle


# Marks in the colours of areas: a dot before a topic, and a bar of the topics of an article.

DOT = "●"
"""The sign before a topic."""
ASCII_DOT = "o"
MIX = 8
"""Cells of the bar of an article's topics."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one model's topics."""

    area_of: Mapping[int, Area]
    """The area of each topic in use."""
    coloured: bool
    """Whether areas have colours. Without them, a dot would say nothing."""
    ascii_only: bool

    @property
    def mixes(self) -> bool:
        """Whether the topics of articles are drawn as bars; otherwise their proportions are
        written."""
        return self.coloured and not self.ascii_only

    def ink(self, topic: int, otherwise: str = "spark") -> str:
        """The ink of a topic's area; ``otherwise``: that of a topic without one."""
        area = self.area_of.get(topic)
        if area is None or not self.coloured:
            return otherwise
        return area_ink("area", area.number)

    def dot(self, topic: int) -> Line:
        """The dot before a topic, and a space; two spaces for a topic that is not in use."""
        if not self.coloured:
            return []
        if topic not in self.area_of:
            return [("  ", "")]
        sign = ASCII_DOT if self.ascii_only else DOT
        return [(f"{sign} ", self.ink(topic, ""))]

    def mix(self, parts: Sequence[tuple[int, float]]) -> Line:
        """A bar of an article's (topic, proportion), the largest first."""
        return stacked([(self.ink(topic, "faint"), part) for topic, part in parts], MIX)


NO_MARKS = Marks({}, coloured=False, ascii_only=True)


def marks_of(widget: Widget, session: SessionView, model: str) -> Marks:
    """The marks of a model's topics as this widget's screen can show them."""
    app = widget.app
    return Marks(session.areas_of(model), coloured(app), app.has_class("-ascii"))


def stacked(parts: Sequence[tuple[str, float]], width: int) -> Line:
    """A bar of ``width`` cells: (ink, fraction of the bar) one after the other, to an eighth of a
    cell.

    What the fractions leave over is blank.
    """
    eighths: list[str] = []
    total = 0.0
    for ink, fraction in parts:
        if fraction > 0:
            total += fraction
        end = round(min(total, 1.0) * 8 * width)
        eighths += [ink] * (end - len(eighths))
    eighths += [""] * (8 * width - len(eighths))
    return [_cell(eighths[start : start + 8]) for start in range(0, 8 * width, 8)]


def _cell(eighths: Sequence[str]) -> tuple[str, str]:
    """The sign and the ink that show these eighths best: the first part, and the largest of the
    others."""
    first = eighths[0]
    if not first:
        return " ", ""
    filled = 0
    while filled < len(eighths) and eighths[filled] == first:
        filled += 1
    ink = first
    others = Counter(eighths[filled:]).most_common(1)
    if others:
        ((ground, _),) = others
        if ground:
            ink = f"{first}/{ground}"
    return EIGHTHS[filled], ink
