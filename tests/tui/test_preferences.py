"""What the config file can say about the screen, and what it cannot; every theme can be read."""

from itertools import product
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from textual.theme import BUILTIN_THEMES

from tests.colours import contrast
from wikitopics.session.errors import BadUsage
from wikitopics.tui.app import names
from wikitopics.tui.terminal import (
    DARK,
    DARK_16,
    LIGHT,
    LIGHT_16,
    Preferences,
    house,
    inks,
    preferences,
)

# What the config file can say about the screen, and what it cannot.


def write(home, text):
    home.mkdir()
    (home / "config.toml").write_text(text, encoding="utf-8")


def test_theme_and_keys_or_nothing_said(home):
    assert preferences(names()) == Preferences()
    write(home, 'contact = "me@x.org"\ntheme = "light"\n[keys]\n"app.freeze" = "f9"\n')
    assert preferences(names()) == Preferences(theme="wikitopics-light", keys={"app.freeze": "f9"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('theme = "pink"', "theme 'pink' is not one of dark, light"),
        ("theme = 3", "theme 3"),
        ("keys = 1", "must hold lines like"),
        ('[keys]\n"app.freeze" = 1', "must hold lines like"),
        ('[keys]\n"app.fly" = "f"', "names 'app.fly'. Available: app.ask, app.browse"),
    ],
)
def test_what_makes_no_sense_is_named(home, text, why):
    write(home, text)
    with pytest.raises(BadUsage, match=why):
        preferences(names())


def test_every_binding_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "screen.md").read_text(encoding="utf-8")
    assert {name for name in names() if f"`{name}`" not in page} == set()


# Every theme can be read, in as many colours as the terminal has.


TEXT = ("foreground", "text-muted-own", "success", "error", "warning", "accent")
LINES = ("faint", "spark", "series-0", "series-1", "series-2", "series-3")
HOUSE = [*product((DARK, LIGHT), (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT))]
HOUSE += product((DARK_16, LIGHT_16), (ColorSystem.STANDARD,))


def rgb(colour, system):
    """What a terminal with these colours makes of one."""
    return Color.parse(colour).downgrade(system).get_truecolor().hex


@pytest.mark.parametrize(("theme", "system"), HOUSE)
def test_what_is_written_stands_out(theme, system):
    named = ("foreground", "background", "success", "error", "warning", "accent")
    colours = theme.variables | {name: getattr(theme, name) for name in named}
    ground = rgb(colours["background"], system)
    for name in TEXT:
        assert contrast(rgb(colours[name], system), ground) >= 3.9, name
    for name in LINES:
        assert contrast(rgb(colours[name], system), ground) >= 3.0, name
    cursor = rgb(colours["cursor"], system)
    assert cursor != ground
    for name in ("foreground", "text-muted-own"):
        assert contrast(rgb(colours[name], system), cursor) >= 2.9, name


@pytest.mark.parametrize(
    "theme", [t for t in BUILTIN_THEMES.values() if not t.ansi], ids=lambda t: t.name
)
def test_under_a_theme_that_is_not_ours_the_inks_suit_it(theme):
    made = theme.to_color_system().generate()
    mixed = inks(theme)
    assert mixed.keys() == DARK.variables.keys()
    for ground in (made["background"], mixed["bar"], mixed["cursor"]):
        for ink in (made["foreground"], mixed["text-muted-own"]):
            assert (
                contrast(rgb(ink, ColorSystem.TRUECOLOR), rgb(ground, ColorSystem.TRUECOLOR)) >= 2.5
            )
    ground = rgb(made["background"], ColorSystem.TRUECOLOR)
    for ink in ("faint", "spark", "accent-own", "series-0", "series-1", "series-2", "series-3"):
        assert contrast(rgb(mixed[ink], ColorSystem.TRUECOLOR), ground) >= 2.95, ink


def test_sixteen_colours_have_a_pair_of_their_own():
    assert house("standard") == (DARK_16, LIGHT_16)
    assert house("256") == house("truecolor") == house(None) == (DARK, LIGHT)
