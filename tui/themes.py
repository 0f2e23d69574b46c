"""The two themes of the house, calm on dark and on light; Textual's own are in the palette as well."""

import os

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
    background="#14171c",
    surface="#1a1e25",
    panel="#20252d",
    dark=True,
    variables={
        "text-muted-own": "#8b95a3",
        "faint": "#56606e",
        "frame": "#2c333d",
        "focus": "#56707f",
        "spark": "#4f8f86",
        "cursor": "#263442",
        "bar": "#1b2027",
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
    surface="#f3f1ec",
    panel="#eae7e0",
    dark=False,
    variables={
        "text-muted-own": "#646d77",
        "faint": "#a2a8ae",
        "frame": "#d5d3cc",
        "focus": "#7f9aa8",
        "spark": "#7db5ab",
        "cursor": "#dce8ee",
        "bar": "#efede7",
        "series-0": "#1b6f94",
        "series-1": "#a4650a",
        "series-2": "#6d4fa8",
        "series-3": "#3d7a27",
    },
)

ANSI_INKS = {
    "text-muted-own": "#808080",
    "faint": "#606060",
    "frame": "#585858",
    "focus": "#a0a0a0",
    "spark": "#5f8787",
    "cursor": "#3a3a3a",
    "bar": "#202020",
    "series-0": "#5fafd7",
    "series-1": "#d7af5f",
    "series-2": "#af87d7",
    "series-3": "#87af5f",
}
"""The inks under a theme that is not ours."""


def suitable() -> str:
    """Light where the terminal says that its background is light, else dark."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in {"7", "15"} else DARK.name
