"""Matplotlib's SVG simplified for a page that has its own colours and fonts, and forbids style attributes.

A drawing uses inks, colours that stand for a meaning. Here each ink becomes a class, to which the page's
style sheet gives a colour for light and for dark. Only paths, texts and links remain of the SVG.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SERIES = 6
"""Colours for models; with more models, they are used again."""
INKS = {
    name: f"#0000{place:02x}"
    for place, name in enumerate(
        ("ink", "muted", "grid", "paper", *(f"series{place}" for place in range(SERIES))), start=1
    )
}
"""The colour drawn for each ink; none of these colours is ever seen."""
CLASS = "as-"
"""The prefix of an artist's id whose remainder becomes a class of its paths and texts."""

_NAMES = {colour: name for name, colour in INKS.items()}
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_KEPT = {"path": ("d",), "text": ("x", "y", "transform")}
_ATTRIBUTES = ("stroke-width", "stroke-dasharray", "fill-opacity", "stroke-opacity", "opacity", "text-anchor")
_SAYS_NOTHING = re.compile(r"start$|rotate\(-?0 ")
_NUMBER = re.compile(r"-?\d+\.\d+")


def series(place: int) -> str:
    """The ink of the model at this place."""
    return INKS[f"series{place % SERIES}"]


def cut(text: str, most: int = 90) -> str:
    """The text in at most ``most`` letters."""
    return text if len(text) <= most else text[: most - 1].rstrip(" ,") + "…"


@contextlib.contextmanager
def figure(width: float, height: float) -> "Iterator[Figure]":
    """An empty drawing, in units in which a letter is about 11 high; the user's own settings do not affect
    it."""
    import matplotlib.style
    from matplotlib.figure import Figure

    ours: dict[str, object] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "wikitopics",
        "figure.dpi": 72,
        "font.size": 11,
        "text.color": INKS["ink"],
        "text.parse_math": False,
        "axes.labelcolor": INKS["muted"],
        "axes.edgecolor": INKS["grid"],
        "axes.facecolor": "none",
        "grid.color": INKS["grid"],
        **{f"axes.spines.{side}": False for side in ("left", "right", "top")},
    }
    for axis in ("xtick", "ytick"):
        ours |= {f"{axis}.major.size": 0, f"{axis}.major.pad": 5, f"{axis}.color": INKS["muted"]}
    with matplotlib.style.context(["default", ours]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about letters that its own font lacks; the page has other fonts
        yield Figure(figsize=(width / 72, height / 72), dpi=72, frameon=False)


def plain(drawn: "Figure", name: str, titles: Mapping[str, str] | None = None) -> Markup:
    """The drawing for the page. ``name``: a description for those who cannot see it; ``titles``: those of
    links."""
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    inside = "".join(_plain(root, "", titles or {}))
    return Markup('<svg viewBox="{}" role="img" aria-label="{}">{}</svg>').format(
        root.get("viewBox"), name, Markup(inside)
    )


def _plain(parent: ElementTree.Element, role: str, titles: Mapping[str, str]) -> Iterator[str]:
    for element in parent:
        tag = element.tag.removeprefix(_SVG) if isinstance(element.tag, str) else ""
        if tag == "g":
            name = element.get("id", "")
            yield from _plain(element, name.removeprefix(CLASS) if name.startswith(CLASS) else role, titles)
        elif tag == "a":
            target = element.get(_LINK, "")
            yield f'<a href="{escape(target)}" tabindex="-1">'
            if target in titles:
                yield f"<title>{escape(titles[target])}</title>"
            yield from _plain(element, role, titles)
            yield "</a>"
        elif tag in _KEPT:
            inside = f">{escape(element.text or '')}</text>" if tag == "text" else "/>"
            yield f"<{tag}{_attributes(element, tag, role)}{inside}"


def _attributes(element: ElementTree.Element, tag: str, role: str) -> str:
    style = dict(part.strip().split(": ", 1) for part in element.get("style", "").split(";") if ":" in part)
    inks = {paint: _NAMES.get(style.get(paint, "")) for paint in ("fill", "stroke")}
    classes = " ".join(filter(None, (role, *(f"{paint[0]}-{ink}" for paint, ink in inks.items() if ink))))
    found = {"class": classes} if classes else {}
    if not inks["fill"]:
        found["fill"] = "none"
    kept = {key: style.get(key, "") for key in _ATTRIBUTES}
    kept |= {key: element.get(key, "") for key in _KEPT[tag]}
    found |= {key: _short(value) for key, value in kept.items() if value and not _SAYS_NOTHING.match(value)}
    return "".join(f' {key}="{escape(value)}"' for key, value in found.items())


def _short(value: str) -> str:
    """The value to a tenth of a unit, without unnecessary spaces."""
    rounded = _NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), value)
    return re.sub(r"\s*([MLCzZ])\s*", r"\1", rounded).replace("\n", " ")
