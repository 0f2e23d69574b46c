"""Our two themes, dark and light; Textual's own are in the palette as well.

Terminals without 24-bit colours use the nearest they have. The tones are chosen so that greys stay grey among
256 colours; for 16 colours there is a separate pair, made of exactly those.
"""

import os
from typing import Any

from textual.color import Color
from textual.theme import Theme

_BLACK, _RED, _GREEN, _BROWN, _BLUE, _MAGENTA, _CYAN, _SILVER = (
    "#000000", "#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa", "#aaaaaa",
)  # fmt: skip
_GREY, _PINK, _LIME, _YELLOW, _VIOLET, _AQUA, _WHITE = (
    "#555555", "#ff5555", "#55ff55", "#ffff55", "#ff55ff", "#55ffff", "#ffffff",
)  # fmt: skip

_COLOURS = {
    # dark, light, dark of 16 colours, light of 16 colours
    "primary": ("#7fb7d6", "#24688c", _AQUA, _BLUE),
    "secondary": ("#8fa5bd", "#52667a", _SILVER, _GREY),
    "accent": ("#7cc4b8", "#14776b", _AQUA, _BLUE),
    "warning": ("#e3b672", "#96620a", _YELLOW, _MAGENTA),
    "error": ("#e58f8a", "#b23a35", _PINK, _RED),
    "success": ("#9fcf8b", "#3d7a27", _LIME, _GREEN),
    "foreground": ("#d9dde3", "#23282e", _WHITE, _BLACK),
    "background": ("#15171b", "#fbfaf7", _BLACK, _WHITE),
    "surface": ("#1c1e22", "#f3f1ee", _BLACK, _WHITE),
    "panel": ("#22252b", "#eae7e2", _BLACK, _WHITE),
}
_INKS = {
    "text-muted-own": ("#8b95a3", "#5d666f", _SILVER, _GREY),
    "faint": ("#6f7884", "#7d848c", _SILVER, _GREY),
    "frame": ("#30353d", "#cfcdc7", _GREY, _SILVER),
    "focus": ("#5b7884", "#6f96a0", _CYAN, _BLUE),
    "spark": ("#4f8f86", "#5b9a90", _CYAN, _CYAN),
    "cursor": ("#313842", "#d9e6ea", _BLUE, _AQUA),
    "fresh": ("#1b2c2b", "#e3f0ec", _BLACK, _WHITE),
    "bar": ("#1d2026", "#eeece9", _BLACK, _WHITE),
    "series-0": ("#7cc4d8", "#1b6f94", _AQUA, _BLUE),
    "series-1": ("#e3b672", "#a4650a", _YELLOW, _RED),
    "series-2": ("#b8a2e3", "#6d4fa8", _VIOLET, _MAGENTA),
    "series-3": ("#9fcf8b", "#3d7a27", _LIME, _GREEN),
}


def _theme(column: int) -> Theme:
    dark = column % 2 == 0
    colours: dict[str, Any] = {name: row[column] for name, row in _COLOURS.items()}
    variables = {name: row[column] for name, row in _INKS.items()}
    return Theme(f"wikitopics-{'dark' if dark else 'light'}", dark=dark, variables=variables, **colours)


DARK, LIGHT, DARK_16, LIGHT_16 = map(_theme, range(4))


def house(colours: str | None) -> tuple[Theme, Theme]:
    """The dark and light themes for a terminal with this number of ``colours`` (Rich's name for it)."""
    return (DARK_16, LIGHT_16) if colours == "standard" else (DARK, LIGHT)


def inks(theme: Theme) -> dict[str, str]:
    """Our inks mixed from the colours of another theme."""
    if theme.ansi:
        return ANSI_INKS | {"cursor": "ansi_blue" if theme.dark else "ansi_bright_cyan"}
    made = theme.to_color_system().generate()
    text, ground = Color.parse(made["foreground"]), Color.parse(made["background"])

    def mixed(name: str, part: float) -> str:
        return ground.blend(Color.parse(made[name]), part).hex

    return {
        "text-muted-own": ground.blend(text, 0.8).hex,
        "faint": ground.blend(text, 0.5).hex,
        "frame": ground.blend(text, 0.2).hex,
        "focus": mixed("accent", 0.6),
        "spark": mixed("primary", 0.6),
        "cursor": mixed("primary", 0.15),
        "fresh": mixed("accent", 0.1),
        "bar": ground.blend(text, 0.05).hex,
        "series-0": mixed("primary", 0.9),
        "series-1": mixed("warning", 0.9),
        "series-2": mixed("accent", 0.9),
        "series-3": mixed("success", 0.9),
    }


ANSI_INKS = {
    "text-muted-own": "ansi_default",
    "faint": "ansi_bright_black",
    "frame": "ansi_bright_black",
    "focus": "ansi_cyan",
    "spark": "ansi_cyan",
    "fresh": "ansi_default",
    "bar": "ansi_default",
    "series-0": "ansi_cyan",
    "series-1": "ansi_yellow",
    "series-2": "ansi_magenta",
    "series-3": "ansi_green",
}
"""The inks of a theme that leaves all colours to the terminal."""


def suitable() -> str:
    """Light if the terminal says that its background is light, otherwise dark."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in {"7", "15"} else DARK.name
