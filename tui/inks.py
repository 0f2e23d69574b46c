"""The colours that hand-drawn widgets use, by meaning; `room.tcss` gives each its colour."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

INKS = frozenset(
    f"ink--{name}"
    for name in (
        "muted",
        "faint",
        "strong",
        "good",
        "bad",
        "warn",
        "new",
        "accent",
        "spark",
        "cursor",
        "header",
        "series0",
        "series1",
        "series2",
        "series3",
    )
)
SERIES = 4

Part = tuple[str, str]
"""Text and the name of its ink; "" for the widget's own colour."""


IN_ASCII = str.maketrans({"…": "~", "·": ".", "‹": "<", "“": '"', "”": '"', "←": "<", "→": ">", "Δ": "+"})
"""Our own signs for a terminal that has no others; foreign text stays as it is."""


def ink(widget: Widget, name: str) -> Style:
    """The style of an ink on ``widget`` (which lists INKS in its COMPONENT_CLASSES)."""
    return widget.get_component_rich_style(f"ink--{name}", partial=True) if name else Style.null()


def strip(widget: Widget, parts: list[Part], width: int, under: str = "") -> Strip:
    """One line of exactly ``width`` cells; ``under`` is an ink that lies beneath all parts."""
    base = widget.rich_style + ink(widget, under)
    if widget.app.has_class("-ascii"):
        parts = [(text.translate(IN_ASCII), name) for text, name in parts]
    segments = [Segment(text, base + ink(widget, name)) for text, name in parts if text]
    return Strip(segments).adjust_cell_length(width, base)
