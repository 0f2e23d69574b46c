"""Many pictures of one terminal in a single SVG, which shows them in turn without any script.

Whatever is on the screen in several pictures is stored once. All that comes and goes at the same
times is a group, and a CSS animation of its own shows the group while its pictures last. Who asks
for less motion gets one picture that stands still.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SVG = "http://www.w3.org/2000/svg"
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
        if not self.text:
            box = {
                "fill": self.style,
                "x": self.x,
                "y": self.y,
                "width": self.width,
                "height": LINE,
            }
            return ET.Element(f"{{{SVG}}}rect", box)
        where = {"class": classes[self.style], "x": self.x, "y": self.y, "textLength": self.width}
        element = ET.Element(f"{{{SVG}}}text", where)
        element.text = self.text
        return element


Span = tuple[int, int]
"""The pictures from one up to another, without the other."""


def flipbook(pictures: Sequence[Picture], still: int) -> str:
    """All pictures in one SVG, in an endless loop; ``still`` is the one for whoever wants no
    motion.

    The window around the screen is the first picture's.
    """
    root, css = _parsed(pictures[0].svg)
    seen = [_marks(picture.svg) for picture in pictures]
    ground = Counter(mark.style for mark in seen[0] if not mark.text).most_common(1)[0][0]
    spans = _spans({mark for mark in marks if mark.text or mark.style != ground} for marks in seen)
    styles = sorted({mark.style for mark in spans if mark.text})
    classes = {style: f"s{number}" for number, style in enumerate(styles)}

    screen = _emptied(root, ground)
    groups: dict[tuple[bool, Span], list[Mark]] = {}
    for mark, when in spans.items():
        for span in when:
            groups.setdefault((bool(mark.text), span), []).append(mark)
    for (_, (begin, end)), marks in sorted(groups.items()):  # boxes first: text stands on them
        group = ET.SubElement(screen, f"{{{SVG}}}g")
        if (begin, end) != (0, len(pictures)):
            classes_of_group = f"f f{begin}-{end}"
            if begin <= still < end:
                classes_of_group += " still"
            group.set("class", classes_of_group)
        group.extend(mark.element(classes) for mark in sorted(marks))

    starts = [0.0]
    for picture in pictures:
        starts.append(starts[-1] + picture.seconds)
    rules = [re.sub(r"\s*\.r\d+ \{[^}]*\}", "", css).strip()]
    rules += [f".{name} {{{style}}}" for style, name in classes.items()]
    rules += [".f {visibility: hidden}", ".still {visibility: visible}"]
    moving = f".f {{animation: {starts[-1]:g}s step-end infinite}}"
    rules += [f"@media (prefers-reduced-motion: no-preference) {{{moving}}}"]
    rules += [_shown(span, starts) for span in sorted({span for _, span in groups})]
    style = root.find(f"{{{SVG}}}style")
    assert style is not None
    style.text = "\n".join(rules)
    ET.indent(root, "")
    return ET.tostring(root, encoding="unicode") + "\n"


def _parsed(svg: str) -> tuple[ET.Element, str]:
    """An exported screen, and its CSS. The names in it no longer begin with a number of the
    picture's own."""
    root = ET.fromstring(re.sub(r"terminal-\d+-", "", svg))
    return root, root.findtext(f"{{{SVG}}}style") or ""


def _marks(svg: str) -> list[Mark]:
    """Everything on an exported screen, without the window around it."""
    root, css = _parsed(svg)
    styles = dict(re.findall(r"\.(r\d+) \{\s*([^}]*?)\s*\}", css))
    marks = []
    for element in root.iter():
        place = _short(element.get("x", "0")), _short(element.get("y", "0"))
        if "textLength" in element.attrib:
            style = styles[element.attrib["class"]]
            marks.append(
                Mark(element.text or "", style, *place, _short(element.attrib["textLength"]))
            )
        elif "shape-rendering" in element.attrib:
            marks.append(Mark("", element.attrib["fill"], *place, _short(element.attrib["width"])))
    return marks


def _short(number: str) -> str:
    return f"{float(number):g}"


def _spans(pictures: Iterable[set[Mark]]) -> dict[Mark, list[Span]]:
    """When each mark is on the screen."""
    spans: dict[Mark, list[Span]] = {}
    for now, marks in enumerate(pictures):
        for mark in marks:
            when = spans.setdefault(mark, [])
            begin = when.pop()[0] if when and when[-1][1] == now else now
            when.append((begin, now + 1))
    return spans


def _emptied(root: ET.Element, ground: str) -> ET.Element:
    """The group that all marks of a screen are in, with nothing left in it but the ground's
    colour."""
    lines = root.find(f"{{{SVG}}}defs")
    screen = root.find(f".//{{{SVG}}}g[@class='matrix']")
    assert lines is not None
    assert screen is not None
    for clip in lines[1:]:  # each line's: the whole screen's is enough
        lines.remove(clip)
    for element in list(screen):
        screen.remove(element)
    screen.set("shape-rendering", "crispEdges")
    ET.SubElement(screen, f"{{{SVG}}}rect", {"fill": ground, "width": "100%", "height": "100%"})
    return screen


def _shown(span: Span, starts: list[float]) -> str:
    """The CSS that shows what is in these pictures while they last."""
    begin, end = (f"{100 * starts[at] / starts[-1]:.3f}".rstrip("0").rstrip(".") for at in span)
    steps = f"{begin}% {{visibility: visible}}"
    if span[0] > 0:
        steps = "0% {visibility: hidden} " + steps
    if span[1] < len(starts) - 1:
        steps += f" {end}% {{visibility: hidden}}"
    name = f"f{span[0]}-{span[1]}"
    return f".{name} {{animation-name: {name}}} @keyframes {name} {{{steps}}}"
