"""Our two themes, dark and light; Textual's own are in the palette as well.

Terminals without 24-bit colours use the nearest they have. The tones are chosen so that greys stay grey among
256 colours; for 16 colours there is a separate pair, made of exactly those.
"""

import os

from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="wikitopics-dark",
    primary="#7fb7d6",
    secondary="#8fa5bd",
    accent="#7cc4b8",
    warning="#e3b672",
    error="#e58f8a",
    success="#9fcf8b",
    foreground="#d9dde3",
    background="#15171b",
    surface="#1c1e22",
    panel="#22252b",
    dark=True,
    variables={
        "text-muted-own": "#8b95a3",
        "faint": "#6f7884",
        "frame": "#30353d",
        "focus": "#5b7884",
        "spark": "#4f8f86",
        "cursor": "#313842",
        "bar": "#1d2026",
        "series-0": "#7cc4d8",
        "series-1": "#e3b672",
        "series-2": "#b8a2e3",
        "series-3": "#9fcf8b",
    },
)

LIGHT = Theme(
    name="wikitopics-light",
    primary="#24688c",
    secondary="#52667a",
    accent="#14776b",
    warning="#96620a",
    error="#b23a35",
    success="#3d7a27",
    foreground="#23282e",
    background="#fbfaf7",
    surface="#f3f1ee",
    panel="#eae7e2",
    dark=False,
    variables={
        "text-muted-own": "#5d666f",
        "faint": "#7d848c",
        "frame": "#cfcdc7",
        "focus": "#6f96a0",
        "spark": "#5b9a90",
        "cursor": "#d9e6ea",
        "bar": "#eeece9",
        "series-0": "#1b6f94",
        "series-1": "#a4650a",
        "series-2": "#6d4fa8",
        "series-3": "#3d7a27",
    },
)

_BLACK, _RED, _GREEN, _BROWN, _BLUE, _MAGENTA, _CYAN, _SILVER = (
    "#000000", "#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa", "#aaaaaa",
)  # fmt: skip
_GREY, _PINK, _LIME, _YELLOW, _VIOLET, _AQUA, _WHITE = (
    "#555555", "#ff5555", "#55ff55", "#ffff55", "#ff55ff", "#55ffff", "#ffffff",
)  # fmt: skip

DARK_16 = Theme(
    name=DARK.name,
    primary=_AQUA,
    secondary=_SILVER,
    accent=_AQUA,
    warning=_YELLOW,
    error=_PINK,
    success=_LIME,
    foreground=_WHITE,
    background=_BLACK,
    surface=_BLACK,
    panel=_BLACK,
    dark=True,
    variables={
        "text-muted-own": _SILVER,
        "faint": _SILVER,
        "frame": _GREY,
        "focus": _CYAN,
        "spark": _CYAN,
        "cursor": _BLUE,
        "bar": _BLACK,
        "series-0": _AQUA,
        "series-1": _YELLOW,
        "series-2": _VIOLET,
        "series-3": _LIME,
    },
)

LIGHT_16 = Theme(
    name=LIGHT.name,
    primary=_BLUE,
    secondary=_GREY,
    accent=_BLUE,
    warning=_MAGENTA,
    error=_RED,
    success=_GREEN,
    foreground=_BLACK,
    background=_WHITE,
    surface=_WHITE,
    panel=_WHITE,
    dark=False,
    variables={
        "text-muted-own": _GREY,
        "faint": _GREY,
        "frame": _SILVER,
        "focus": _BLUE,
        "spark": _CYAN,
        "cursor": _AQUA,
        "bar": _WHITE,
        "series-0": _BLUE,
        "series-1": _RED,
        "series-2": _MAGENTA,
        "series-3": _GREEN,
    },
)


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
