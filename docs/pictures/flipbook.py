"""Many pictures of one terminal in a single SVG, which shows them in turn without any script.

Whatever is on the screen in several pictures is stored once. All that comes and goes at the same
times is a group, and a CSS animation of its own shows the group while its pictures last. Whoever
asks for less motion gets one picture that stands still.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SVG = "http://www.w3.org/2000/svg"
GROUP = f"{{{SVG}}}g"
RECT = f"{{{SVG}}}rect"
STYLE = f"{{{SVG}}}style"
TEXT = f"{{{SVG}}}text"
LINE = "24.65"
"""The height of every box: Rich's, a little more than a line's so that no gap is seen."""

ET.register_namespace("", SVG)


@dataclass(frozen=True, slots=True)
class Picture:
    """What Textual exports of a screen, and for how long it is shown."""

    svg: str
    seconds: float


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A coloured box or a run of text. Marks that are equal look the same, whatever picture they
    are in."""

    text: str
    """Empty in a box."""
    style: str
    """A box's colour, or the CSS of a text."""
    x: str
    y: str
    width: str

    def element(self, classes: dict[str, str]) -> ET.Element:
        """classes: by a text's CSS"""
        if not self.text:
            box = {
                "fill": self.style,
                "x": self.x,
                "y": self.y,
                "width": self.width,
                "height": LINE,
            }
            return ET.Element(RECT, box)
        attributes = {
            "class": classes[self.style],
            "x": self.x,
            "y": self.y,
            "textLength": self.width,
        }
        element = ET.Element(TEXT, attributes)
        element.text = self.text
        return element


Span = tuple[int, int]
"""The first picture of several that follow each other, and the one behind the last."""


def flipbook(pictures: Sequence[Picture], still: int) -> str:
    """All pictures in one SVG, in an endless loop; ``still`` is the one for whoever wants no
    motion.

    The window around the screen is the first picture's.
    """
    root, css = _parsed(pictures[0].svg)
    marks_by_picture = [_marks(picture.svg) for picture in pictures]
    ground = _commonest_box(marks_by_picture[0])
    spans = _spans(
        {mark for mark in marks if mark.text or mark.style != ground} for marks in marks_by_picture
    )
    styles = sorted({mark.style for mark in spans if mark.text})
    classes = {style: f"s{number}" for number, style in enumerate(styles)}

    screen = _emptied(root, ground)
    groups: dict[tuple[bool, Span], list[Mark]] = {}
    for mark, spans_of_mark in spans.items():
        for span in spans_of_mark:
            groups.setdefault((bool(mark.text), span), []).append(mark)
    for (_, span), marks in sorted(groups.items()):  # boxes first: text stands on them
        begin, end = span
        group = ET.SubElement(screen, GROUP)
        if span != (0, len(pictures)):
            names = f"f f{begin}-{end}"
            if begin <= still < end:
                names += " still"
            group.set("class", names)
        group.extend(mark.element(classes) for mark in sorted(marks))

    starts = [0.0]
    for picture in pictures:
        starts.append(starts[-1] + picture.seconds)
    whole = starts[-1]
    rules = [re.sub(r"\s*\.r\d+ \{[^}]*\}", "", css).strip()]
    rules += [f".{name} {{{style}}}" for style, name in classes.items()]
    rules += [".f {visibility: hidden}", ".still {visibility: visible}"]
    moving = f".f {{animation: {whole:g}s step-end infinite}}"
    rules.append(f"@media (prefers-reduced-motion: no-preference) {{{moving}}}")
    rules += [_shown(span, starts) for span in sorted({span for _, span in groups})]
    style = root.find(STYLE)
    assert style is not None
    style.text = "\n".join(rules)
    ET.indent(root, "")
    return ET.tostring(root, encoding="unicode") + "\n"


def _commonest_box(marks: list[Mark]) -> str:
    """The colour of most boxes."""
    colours = Counter(mark.style for mark in marks if not mark.text)
    ((commonest, _),) = colours.most_common(1)
    return commonest


def _parsed(svg: str) -> tuple[ET.Element, str]:
    """An exported screen, and its CSS. The names in both no longer begin with a number of the
    picture's own."""
    root = ET.fromstring(re.sub(r"terminal-\d+-", "", svg))
    return root, root.findtext(STYLE) or ""


def _marks(svg: str) -> list[Mark]:
    """Everything on an exported screen, without the window around it."""
    root, css = _parsed(svg)
    styles = dict(re.findall(r"\.(r\d+) \{\s*([^}]*?)\s*\}", css))
    marks = []
    for element in root.iter():
        x = _short(element.get("x", "0"))
        y = _short(element.get("y", "0"))
        if "textLength" in element.attrib:
            style = styles[element.attrib["class"]]
            width = _short(element.attrib["textLength"])
            marks.append(Mark(element.text or "", style, x, y, width))
        elif "shape-rendering" in element.attrib:
            colour = element.attrib["fill"]
            width = _short(element.attrib["width"])
            marks.append(Mark("", colour, x, y, width))
    return marks


def _short(number: str) -> str:
    return f"{float(number):g}"


def _spans(pictures: Iterable[set[Mark]]) -> dict[Mark, list[Span]]:
    """When each mark is on the screen."""
    spans: dict[Mark, list[Span]] = {}
    for number, marks in enumerate(pictures):
        for mark in marks:
            spans_of_mark = spans.setdefault(mark, [])
            begin = number
            if spans_of_mark:
                last_begin, last_end = spans_of_mark[-1]
                if last_end == number:  # it was in the picture before, too
                    begin = last_begin
                    spans_of_mark.pop()
            spans_of_mark.append((begin, number + 1))
    return spans


def _emptied(root: ET.Element, ground: str) -> ET.Element:
    """The group that all marks of a screen are in, with nothing left in it but the ground's
    colour."""
    clips = root.find(f"{{{SVG}}}defs")
    screen = root.find(f".//{GROUP}[@class='matrix']")
    assert clips is not None
    assert screen is not None
    for clip_of_line in clips[1:]:  # the first is the whole screen's, which is enough
        clips.remove(clip_of_line)
    for element in list(screen):
        screen.remove(element)
    screen.set("shape-rendering", "crispEdges")
    ET.SubElement(screen, RECT, {"fill": ground, "width": "100%", "height": "100%"})
    return screen


def _shown(span: Span, starts: list[float]) -> str:
    """The CSS that shows what is in these pictures while they last.

    starts: seconds at which each picture begins, and at which the last one ends
    """
    begin, end = span
    steps = f"{_percent(starts[begin], starts[-1])} {{visibility: visible}}"
    if begin > 0:
        steps = "0% {visibility: hidden} " + steps
    if end < len(starts) - 1:
        steps += f" {_percent(starts[end], starts[-1])} {{visibility: hidden}}"
    name = f"f{begin}-{end}"
    return f".{name} {{animation-name: {name}}} @keyframes {name} {{{steps}}}"


def _percent(seconds: float, whole: float) -> str:
    return f"{100 * seconds / whole:.3f}".rstrip("0").rstrip(".") + "%"
