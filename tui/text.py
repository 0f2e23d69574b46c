"""Numbers and foreign text as people read them, and charts of one line; pure functions."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, nan

from rich.cells import cell_len, chop_cells, set_cell_size

from wikitopics.session.escapes import visible as visible
from wikitopics.session.records import ArticleRow
from wikitopics.session.wording import LARGEST_IN_FULL as LARGEST_IN_FULL
from wikitopics.session.wording import age as age
from wikitopics.session.wording import measured as measured
from wikitopics.session.wording import snippet_shown


def in_ascii(text: str) -> str:
    """``text`` without accents, "?" for characters without an ASCII form; it keeps its width in
    cells."""

    if text.isascii():
        return text

    def base(character: str) -> str:
        width = cell_len(character)
        letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
        return letters if letters and len(letters) == width else "?" * width

    return "".join(base(character) for character in unicodedata.normalize("NFC", text))


def count(number: float) -> str:
    """12480 -> "12,480", 1.7e308 -> "1.7e+308"."""
    return f"{number:,.0f}" if abs(number) < LARGEST_IN_FULL else f"{float(number):.4g}"


def limited(limit: int | None, number: int) -> str:
    """What follows a number that has a limit: " of 1,000"; nothing without a limit or beyond it,
    since a session may be continued with a lower one."""
    return f" of {count(limit)}" if limit and number <= limit else ""


def short(number: float) -> str:
    """About four characters: 9210 -> "9.2k", 1500000 -> "1.5M"."""
    size = abs(number)
    if not size < LARGEST_IN_FULL:  # NaN, too
        return f"{float(number):.0e}"
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            scaled = number / limit
            if abs(scaled) >= 99.5:
                return f"{scaled:.0f}{unit}"
            return f"{scaled:.1f}".removesuffix(".0") + unit
    if size >= 10 or number == int(number):
        return f"{number:.0f}"
    return f"{number:.1f}"


def share(fraction: float) -> str:
    """0.0613 -> "6.1%"."""
    percent = 100 * _part(fraction)
    return f"{percent:.1f}%" if percent < 99.95 else "100%"


def weight(proportion: float) -> str:
    """A topic's share of an article: 0.413 -> "41%"."""
    return f"{100 * _part(proportion):.0f}%"


def _part(fraction: float) -> float:
    """The fraction, from 0 to 1 whatever a damaged session says; 0 for NaN."""
    return min(fraction, 1.0) if fraction > 0 else 0.0


def clock(seconds: float) -> str:
    """6130 -> "01:42:10"; from one day on "2d 03:10"."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    if days:
        return f"{days}d {hours:02d}:{minutes:02d}"
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}"


def plural(number: int, noun: str) -> str:
    """1 -> "1 article", 2 -> "2 articles", "2 retries"."""
    if number != 1:
        noun = noun.removesuffix("y") + "ies" if noun.endswith("ry") else noun + "s"
    return f"{count(number)} {noun}"


MISMATCH = 3
"""The `nearness` of a text that is not found."""


def nearness(sought: str, text: str) -> int:
    """How well ``text`` matches ``sought``, ignoring case: 0 for whole words, 1 at the start of a
    word, 2 elsewhere, else MISMATCH."""
    text = text.casefold()
    anywhere = re.escape(sought.casefold())
    at_a_start = rf"(?<!\w){anywhere}"
    whole_words = rf"{at_a_start}(?!\w)"
    for distance, pattern in enumerate((whole_words, at_a_start, anywhere)):
        if re.search(pattern, text):
            return distance
    return MISMATCH


def cut(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` terminal cells (a wide character takes two), ending in "…" if
    it was cut."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, max(cells - 1, 0)).rstrip() + "…"[:cells]


def fitting(texts: Sequence[str], cells: int, apart: str) -> list[str]:
    """The first of some texts from strangers, cut to these cells, and as many more as fit whole
    into a line with it, with ``apart`` between them."""
    shown: list[str] = []
    for text in map(visible, texts):
        line = apart.join([*shown, text])
        if not shown:
            shown.append(cut(text, cells))
        elif cell_len(line) <= cells:
            shown.append(text)
        else:
            break
    return shown


def title_and_text(article: ArticleRow, title_cells: int, text_cells: int) -> tuple[str, str]:
    """What an article is called, and behind it the beginning of its text, in these cells:
    ("Danube", "  The Danube is …"). A title that is only a number, or that begins the text, leaves
    its cells to the text."""
    title = visible(article.title)
    text = visible(snippet_shown(article.snippet))
    says_more = article.called == article.title and not text.startswith(title.rstrip("…"))
    if text and not says_more:
        return cut(text, title_cells + text_cells), ""
    if not text or not text_cells:
        return cut(title, title_cells), ""
    return padded(title, title_cells), cut(f"  {text}", text_cells)


def padded(text: str, cells: int) -> str:
    """``text`` in exactly ``cells`` terminal cells, cut or padded with spaces."""
    return set_cell_size(cut(text, cells), cells)


def squeezed(text: str, cells: int) -> str:
    """``text`` in at most ``cells`` terminal cells, shortened by "…" in the middle: names often
    differ at their ends."""
    if cell_len(text) <= cells:
        return text
    head = cut(text, (cells + 1) // 2)
    room = max(cells - cell_len(head), 0)
    return head + set_cell_size(text[::-1], room)[::-1]


def folded(text: str, width: int) -> list[str]:
    """Words broken into lines of at most ``width`` cells; a longer word takes several."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += " " + word
        else:
            lines += chop_cells(word, max(width, 2))
    return lines


TINY = 1e-100
"""Values smaller than this, and larger than its inverse, are scaled before they are drawn."""

BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = ".:-=+*#"


def spark(
    values: Sequence[float],
    width: int,
    *,
    ascii_only: bool = False,
    least: float = 0.0,
) -> str:
    """The newest of ``values`` (oldest first) as at most ``width`` bars.

    Longer series are averaged into ``width`` equal parts. Bars reach from the smallest to the
    largest value. A range smaller than the share ``least`` of the largest value is not magnified. A
    range of nothing, or of less than a quarter of that share, is a flat line. A missing value (NaN)
    is a space.
    """
    data = [float(value) for value in values]
    if len(data) > width:
        data = _averaged(data, width)
    size = max((abs(value) for value in data if isfinite(value)), default=0.0)
    if size and not TINY < size < 1 / TINY:
        # Differences and quotients would leave the range of floats.
        data = [value / size for value in data]
    finite = [value for value in data if isfinite(value)]
    if width < 1 or not finite:
        return " " * min(len(data), max(width, 0))
    low = min(finite)
    high = max(finite)
    if high - low <= max(least / 4, 1e-12) * abs(high):
        flat = "-" if ascii_only else "─"
        return "".join(flat if isfinite(value) else " " for value in data)
    smallest_range = least * abs(high)
    if high - low < smallest_range:
        middle = (low + high) / 2
        low = middle - smallest_range / 2
        high = middle + smallest_range / 2
    bars = ASCII_BARS if ascii_only else BARS
    scale = (len(bars) - 0.001) / (high - low)
    drawn = ""
    for value in data:
        drawn += bars[int((value - low) * scale)] if isfinite(value) else " "
    return drawn


def _averaged(values: Sequence[float], width: int) -> list[float]:
    """``width`` means over equal parts of the known values; NaN if none is known."""
    if width < 1:
        return []
    edges = [part * len(values) // width for part in range(width + 1)]
    means = []
    for start, end in pairwise(edges):
        known = [value for value in values[start:end] if isfinite(value)]
        mean = sum(known) / len(known) if known else nan
        means.append(mean)
    return means


EIGHTHS = " ▏▎▍▌▋▊▉█"
"""A cell filled from the left, from none to eight of its eighths."""


def bar(fraction: float, width: int, *, ascii_only: bool = False) -> str:
    """A horizontal bar of at most ``width`` cells, in eighths of a cell."""
    fraction = _part(fraction)
    if ascii_only:
        return "#" * round(fraction * width)
    eighths = round(fraction * width * 8)
    full, rest = divmod(eighths, 8)
    end = EIGHTHS[rest] if rest else ""
    return "█" * full + end
