"""The colours that hand-drawn widgets use, by meaning, and the widgets' common way to draw lines.

`app.tcss` gives each ink its colour. The inks belong to the app, because Textual styles each of a widget's
component classes as a separate node whenever it styles the widget.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest
from math import isfinite, nan
from typing import Self

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from wikitopics.session.escapes import visible as visible
from wikitopics.session.records import age as age

# Numbers and foreign text as people read them; pure functions.


def in_ascii(text: str) -> str:
    """``text`` without accents, "?" for characters without an ASCII form; it keeps its width in cells."""
    if text.isascii():
        return text
    return "".join(ch if ch.isascii() else _base(ch) for ch in unicodedata.normalize("NFC", text))


def _base(ch: str) -> str:
    base = unicodedata.normalize("NFKD", ch).encode("ascii", "ignore").decode()
    cells = cell_len(ch)
    return base if base and len(base) == cells else "?" * cells


def count(number: float) -> str:
    """12480 -> "12,480"."""
    return f"{number:,.0f}"


def limited(limit: int | None, number: int) -> str:
    """What follows a number that has a limit: " of 1,000"; nothing without a limit or beyond it, since a
    session may be continued with a lower one."""
    return f" of {count(limit)}" if limit and number <= limit else ""


def short(number: float) -> str:
    """About four characters: 9210 -> "9.2k", 1500000 -> "1.5M"."""
    size = abs(number)
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            scaled = number / limit
            return f"{scaled:.0f}{unit}" if abs(scaled) >= 99.5 else f"{scaled:.1f}".removesuffix(".0") + unit
    if size >= 10 or number == int(number):
        return f"{number:.0f}"
    return f"{number:.1f}"


def measured(value: float) -> str:
    """A metric's value with its significant digits: 1187.3 -> "1,187", -7.0812 -> "-7.081"."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.3f}"


def share(fraction: float) -> str:
    """0.0613 -> "6.1%"."""
    percent = 100 * fraction
    return f"{percent:.1f}%" if percent < 99.95 else "100%"


def clock(seconds: float) -> str:
    """6130 -> "01:42:10"; from one day on "2d 03:10"."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, left = divmod(rest, 60)
    return f"{days}d {hours:02d}:{minutes:02d}" if days else f"{hours:02d}:{minutes:02d}:{left:02d}"


def size(n_bytes: float) -> str:
    """1234567 -> "1.2 MB" (powers of ten)."""
    if n_bytes < 1_000:
        return f"{n_bytes:.0f} B"
    for limit, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= limit:
            return f"{n_bytes / limit:.1f} {unit}"
    return ""


def plural(number: int, noun: str) -> str:
    """1 -> "1 article", 2 -> "2 articles"."""
    return f"{count(number)} {noun}" + ("" if number == 1 else "s")


APART = 3
"""The `nearness` of a text that is not found."""


def nearness(sought: str, text: str) -> int:
    """How well ``text`` matches ``sought``, ignoring case: 0 for whole words, 1 at the start of a word, 2
    elsewhere, else APART."""
    here = re.escape(sought.casefold())
    patterns = rf"(?<!\w){here}(?!\w)", rf"(?<!\w){here}", here
    return next((i for i, each in enumerate(patterns) if re.search(each, text.casefold())), APART)


def cut(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` terminal cells (a wide character takes two), ending in "…" if it was
    cut."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, max(cells - 1, 0)).rstrip() + "…"[:cells]


def padded(text: str, cells: int) -> str:
    """``text`` in exactly ``cells`` terminal cells, cut or padded with spaces."""
    return set_cell_size(cut(text, cells), cells)


def squeezed(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` terminal cells, shortened by "…" in the middle: names often differ at
    their ends."""
    if cell_len(text) <= cells:
        return text
    head = cut(text, (cells + 1) // 2)
    room = max(cells - cell_len(head), 0)
    tail = text[len(text) - room :]
    while cell_len(tail) > room:
        tail = tail[1:]
    return head + tail


def folded(text: str, width: int) -> list[str]:
    """Words broken into lines of at most ``width`` cells; a longer word takes several."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += " " + word
        else:
            lines += chop_cells(word, max(width, 2))
    return lines


# One-line charts.

BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = "_.-=+*#@"


def spark(
    values: Sequence[float],
    width: int,
    *,
    ascii_only: bool = False,
    zero: bool = False,
    least: float = 0.0,
    full: float = 0.0,
) -> str:
    """The newest of ``values`` (oldest first) as at most ``width`` bars.

    Longer series are averaged into ``width`` equal parts. Bars reach from the smallest to the
    largest value, or from 0 with ``zero``, then to ``full`` if that is larger. A range smaller than the
    share ``least`` of the largest value is not magnified, so noise looks flat. A missing value (NaN) is a
    space.
    """
    data = _averaged(values, width) if len(values) > width else [float(value) for value in values]
    finite = [value for value in data if isfinite(value)]
    if width < 1 or not finite:
        return " " * min(len(data), max(width, 0))
    low, high = 0.0 if zero else min(finite), max(*finite, full) if zero else max(finite)
    if not zero and high - low < least * abs(high):
        middle = (low + high) / 2
        low, high = middle - least * abs(high) / 2, middle + least * abs(high) / 2
    bars = ASCII_BARS if ascii_only else BARS
    if high - low <= 1e-12 * max(1.0, abs(high)):
        flat = bars[0 if high == 0 else 2]
        return "".join(flat if isfinite(value) else " " for value in data)
    steps = 7.999 / (high - low)
    return "".join(
        bars[min(max(int((value - low) * steps), 0), 7)] if isfinite(value) else " " for value in data
    )


def _averaged(values: Sequence[float], width: int) -> list[float]:
    """``width`` means over equal parts of the known values; NaN if none is known."""
    edges = [part * len(values) // width for part in range(width + 1)] if width > 0 else [0]
    means = []
    for start, end in pairwise(edges):
        known = [float(value) for value in values[start:end] if isfinite(value)]
        means.append(sum(known) / len(known) if known else nan)
    return means


def bar(fraction: float, width: int, *, ascii_only: bool = False) -> str:
    """A horizontal bar of at most ``width`` cells, in eighths of a cell."""
    fraction = min(max(fraction, 0.0), 1.0)
    if ascii_only:
        return "#" * round(fraction * width)
    eighths = round(fraction * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")


SERIES = 4
INKS = {
    *(f"ink--{name}" for name in ("muted", "faint", "strong", "header", "cursor", "fresh")),
    *(f"ink--{name}" for name in ("good", "bad", "warn", "new", "accent", "spark")),
    *(f"ink--series{number}" for number in range(SERIES)),
}


class Clickable(str):
    """Text of a `Part` that a click does something with."""

    address: str
    """What a terminal opens as a link; "" for none."""
    order: str
    """The order into which a column's head brings the rows; "" for none."""

    def __new__(cls, text: str, *, address: str = "", order: str = "") -> Self:
        made = super().__new__(cls, text)
        made.address, made.order = address, order
        return made


def linked(text: str, address: str | None) -> str:
    """``text``, as a link if it has an address."""
    return text if address is None else Clickable(text, address=address)


Part = tuple[str, str]
"""Text and the name of its ink; "" for the widget's own colour."""


class Drawn(Widget):
    """Draws with inks. The style of an ink on this widget is computed once, not once per line."""

    _pens: dict[tuple[str, str], Style] | None = None

    @property
    def ascii_only(self) -> bool:
        """Whether braille, blocks and shades are drawn in ASCII. All other signs are replaced later, by
        `PlainSigns`."""
        return self.app.has_class("-ascii")

    def redraw(self) -> None:
        """Draw again: something that is shown has changed."""
        self.refresh()

    def notify_style_update(self) -> None:
        self._pens = None
        super().notify_style_update()

    def pen(self, name: str = "", under: str = "") -> Style:
        """The style of an ink over the widget's own, with the ink ``under`` in between."""
        if under == "cursor" and name and self.app.has_class("-few-colours"):
            name = "strong" if name in ("strong", "new") else ""  # no other two of 16 colours go together
        elif name == "faint" and under == "cursor":
            name = "muted"  # faint text would be invisible on the cursor's row
        if self._pens is None:
            self._pens = {}
        style = self._pens.get((name, under))
        if style is None:
            style = self.rich_style
            for each in (under, name):
                if each:
                    style += self.app.get_component_styles(f"ink--{each}").partial_rich_style
            self._pens[name, under] = style
        return style

    def strip(self, parts: list[Part], width: int, under: str = "") -> Strip:
        """One line of exactly ``width`` cells, ending in "…" if more than spaces did not fit; ``under`` is an
        ink beneath all parts.

        Nothing in foreign text can control the terminal, whatever the parts were made of.
        """
        opens = self.app.has_class("-links")
        runs: list[tuple[str, Style]] = []
        for text, name in parts:
            pen = self.pen(name, under)
            if opens and isinstance(text, Clickable) and text.address:
                pen = pen.update_link(text.address)
            if runs and runs[-1][1] is pen:  # every segment costs time on its way to the terminal
                text = runs.pop()[0] + text
            runs.append((text, pen))
        segments = []
        for text, pen in runs:
            shown = visible(text)
            if shown:
                segments.append(Segment(shown, pen))
        line = Strip(segments)
        if line.cell_length > width > 0 and cell_len(line.text.rstrip()) > width:
            cut, *_ = line.crop(width - 1)
            line = Strip([*line.crop(0, width - 1), Segment("…", cut.style)])
        return line.adjust_cell_length(width, self.pen("", under))


Line = list[Part]


class Lines(Drawn):
    """A widget of a few lines of text, made once for each change and repainted only then."""

    _lines: list[Line] | None = None
    _lines_for: tuple[int, int] = (0, 0)
    _make: Callable[[int, int], list[Line]] | None = None

    def show_lines(self, make: Callable[[int, int], list[Line]]) -> None:
        """Show these lines from now on: ``make`` gets width and height, and returns the top line first."""
        self._make = make
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        """The lines to draw now."""
        return [] if self._make is None else self._make(width, height)

    def redraw(self) -> None:
        before, self._lines = self._lines, None
        width, height = self.size
        if before is None or self._lines_for != (width, height) or not self.is_on_screen:
            self.refresh()
            return
        pairs = zip_longest(before[:height], self._made()[:height])
        if changed := [Region(0, y, width, 1) for y, (old, new) in enumerate(pairs) if old != new]:
            self.refresh(*changed)

    def _made(self) -> list[Line]:
        size = self.size
        if self._lines is None or self._lines_for != size:
            self._lines, self._lines_for = self.lines(*size), size
        return self._lines

    def render_line(self, y: int) -> Strip:
        lines = self._made()
        return self.strip(lines[y] if y < len(lines) else [], self._lines_for[0])


def name(widget: Widget, title: str, below: str = "") -> None:
    """Give a panel a title from possibly foreign text, which is neither parsed as markup nor obeyed by the
    terminal."""
    title, below = visible(title), visible(below)
    # Textual redraws the widget whenever these are set, even to the same value.
    if widget.border_title != Content(title).markup:
        widget.border_title = Content(title)
    if widget.border_subtitle != (Content(below).markup if below else None):
        widget.border_subtitle = Content(below) if below else None
