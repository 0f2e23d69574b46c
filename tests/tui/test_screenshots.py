"""Pictures of the screen, which the user has it write into files."""

import os
import re
import xml.etree.ElementTree as ET

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from tests.tui import seeing
from wikitopics.tui.export import Export


async def picture(pilot):
    """What the screen says once it was asked for a picture."""
    before = len(seeing.notices(pilot.app))
    await pilot.press("C")
    await seeing.until_true(lambda: len(seeing.notices(pilot.app)) > before)
    return seeing.notices(pilot.app)[-1]


async def test_a_picture_of_the_screen_loads_nothing_and_is_written_here(
    shown,
    live,
    tmp_path,
    monkeypatch,
):
    monkeypatch.chdir(tmp_path)
    async with shown(live, size=(120, 40), words="LIVE") as (_, pilot):
        await seeing.press(pilot, "3", shows="[/x] [bold red]not bold[/]")
        told = await picture(pilot)
    made = tmp_path / "two-articles.svg"
    assert told == f"saved: {made}"
    drawn = made.read_text(encoding="utf-8")
    text = "".join(ET.fromstring(drawn).itertext()).replace("\xa0", " ")
    assert "[/x] [bold red]not bold[/]" in text
    head = drawn.replace('xmlns="http://www.w3.org/2000/svg"', "").partition("</style>")[0]
    assert not re.search(r"//|url\(|@|Fira", head)
    assert set(re.findall(r"""(?:href|src)\s*=|url\([^)]{,5}""", drawn)) <= {"url(#term"}
    assert "monospace" in head
    lengths = re.findall(r'<text [^>]*textLength="([\d.]+)"[^>]*>([^<]+)</text>', drawn)
    assert len(lengths) > 40, "each text is as wide as its cells in any font"


async def test_pictures_replace_nothing(shown, live, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two-dashboard-2.svg").symlink_to("nowhere")
    async with shown(live, size=(120, 40), words="LIVE") as (_, pilot):
        first = await picture(pilot)
        kept = (tmp_path / "two-dashboard.svg").read_bytes()
        second = await picture(pilot)
    assert first == f"saved: {tmp_path / 'two-dashboard.svg'}"
    assert second == f"saved: {tmp_path / 'two-dashboard-3.svg'}"
    assert (tmp_path / "two-dashboard.svg").read_bytes() == kept


async def test_the_palette_saves_a_picture_without_itself(shown, live, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with shown(live, size=(120, 40), words="LIVE") as (app, pilot):
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        await seeing.press(pilot, *"picture of", shows="as an SVG file")
        await pilot.press("enter")
        await seeing.until_true(lambda: seeing.notices(app))
    drawn = (tmp_path / "two-dashboard.svg").read_text(encoding="utf-8")
    text = "".join(ET.fromstring(drawn).itertext()).replace("\xa0", " ")
    assert "as an SVG file" not in text


async def test_textuals_own_pictures_load_nothing_either(shown, live, tmp_path):
    async with shown(live, size=(80, 24), words="LIVE") as (app, _):
        app.action_screenshot("first.svg", str(tmp_path))
        app.save_screenshot("second.svg", str(tmp_path))
        for made in (tmp_path / "first.svg", tmp_path / "second.svg"):
            await seeing.until_true(made.exists)
            assert "https://" not in made.read_text()


@pytest.mark.parametrize("gone", [True, False])
async def test_a_picture_that_cannot_be_written_says_why(shown, live, tmp_path, monkeypatch, gone):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    async with shown(live, size=(120, 40), words="LIVE") as (app, pilot):
        if gone:
            here.rmdir()
            await seeing.in_front(pilot, Export, "e")
            assert app.screen.query_one("#file", Input).value == "two-report.html"
            await pilot.press("escape")
        else:
            monkeypatch.setattr("wikitopics.session.storage.files.sync", full)
        told = await picture(pilot)
    why = "(no such file or folder|No space left on device)"
    assert re.fullmatch(rf"cannot write two-dashboard\.svg: {why}", told)
    os.chdir("/")


def full(draft):
    raise OSError(28, os.strerror(28))
