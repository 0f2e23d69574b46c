"""What the config file can say about the screen, and what it cannot."""

from pathlib import Path

import pytest

from wikitopics.session.errors import BadUsage
from wikitopics.tui.app import names
from wikitopics.tui.terminal import Preferences, preferences


def write(home: Path, text: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(text, encoding="utf-8")


def test_nothing_said() -> None:
    assert preferences(names()) == Preferences()


def test_theme_and_keys(home: Path) -> None:
    write(home, 'contact = "me@x.org"\ntheme = "light"\n[keys]\n"app.freeze" = "f9"\n')
    assert preferences(names()) == Preferences(theme="wikitopics-light", keys={"app.freeze": "f9"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('theme = "pink"', "theme 'pink' is not one of dark, light"),
        ("theme = 3", "theme 3"),
        ("keys = 1", "must hold lines like"),
        ('[keys]\n"app.freeze" = 1', "must hold lines like"),
        ('[keys]\n"app.fly" = "f"', "names 'app.fly'; available: app.browse"),
    ],
)
def test_what_makes_no_sense_is_named(home: Path, text: str, why: str) -> None:
    write(home, text)
    with pytest.raises(BadUsage, match=why):
        preferences(names())


def test_every_binding_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "screen.md").read_text(encoding="utf-8")
    assert {name for name in names() if f"`{name}`" not in page} == set()
