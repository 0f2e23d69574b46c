"""Painted texts on the screen: in the field that somebody types into, and as lines.

The more likely a word comes from a topic, the stronger its colour. Each topic of a text has a line
or a weight of type besides, by which its words are known without colours, too.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby, takewhile

from rich.cells import chop_cells

from wikitopics.session.analysis.painted import PaintedText, PaintedWord
from wikitopics.tui.inks import Line, line_cells
from wikitopics.tui.text import visible

LIKELY = 0.5
"""The probability from which a word is painted in full."""


def topic_inks(painted: PaintedText | None, *, coloured: bool) -> dict[int, str]:
    """The ink of each of the text's topics that has a colour of its own."""
    if painted is None:
        return {}
    inks = {}
    for rank, topic in enumerate(painted.key):
        brush = f"brush{rank}"
        inks[topic.topic] = f"area{topic.colour}+{brush}" if coloured else brush
    return inks


def word_ink(word: PaintedWord, inks: Mapping[int, str]) -> str:
    """The ink of a word: of one that may be of its topic, but is not likely to, a pale one; "" for
    none."""
    ink = inks.get(word.topic, "")
    if word.probability >= LIKELY or not ink:
        return ink
    area, separator, _ = ink.partition("+")
    return area.replace("area", "pale") if separator else ""


def word_at(painted: PaintedText | None, place: int) -> PaintedWord | None:
    """The word at this place of the text, or just before it."""
    if painted is None:
        return None
    for word in painted.words:
        if word.start <= place <= word.end:
            return word
    return None


def moved(painted: PaintedText, text: str) -> tuple[PaintedWord, ...]:
    """The words that a text still has after a change in one place, where they are now."""
    before = painted.text
    if before == text:
        return painted.words
    same_start = _n_alike(before, text)
    same_end = _n_alike(before[same_start:][::-1], text[same_start:][::-1])
    by = len(text) - len(before)
    kept = []
    for word in painted.words:
        if word.end <= same_start:
            kept.append(word)
        elif word.start >= len(before) - same_end:
            kept.append(word._replace(start=word.start + by, end=word.end + by))
    return tuple(kept)


def _n_alike(one: str, other: str) -> int:
    """The number of characters after which two texts differ."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def painted_lines(painted: PaintedText, inks: Mapping[int, str], width: int) -> list[Line]:
    """The text in lines of at most ``width`` cells, folded between words; a longer word takes
    several."""
    ink_at = [""] * len(painted.text)
    for word in painted.words:
        ink_at[word.start : word.end] = [word_ink(word, inks)] * (word.end - word.start)
    lines: list[Line] = []
    room = 0  # in the last line
    for run in re.finditer(r"\S+", painted.text):
        for line in _chopped(run[0], ink_at[run.start() : run.end()], width):
            cells = line_cells(line)
            if lines and cells < room:
                lines[-1] += [(" ", ""), *line]
                room -= 1 + cells
            else:
                lines.append(line)
                room = width - cells
    return lines


def _chopped(text: str, inks: Sequence[str], width: int) -> list[Line]:
    """Text without blanks, each character in its ink, in as many lines as it takes."""
    signs = [(shown, ink) for char, ink in zip(text, inks, strict=True) for shown in visible(char)]
    pieces = chop_cells("".join(sign for sign, _ in signs), max(width, 2))
    lines = []
    place = 0
    for piece in pieces:
        line: Line = []
        of_piece = signs[place : place + len(piece)]
        for ink, run in groupby(of_piece, key=lambda sign: sign[1]):
            line.append(("".join(shown for shown, _ in run), ink))
        lines.append(line)
        place += len(piece)
    return lines
