"""What the screen writes to files: pictures of itself, and exports over files that exist."""

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from tests.tui import seeing
from tests.tui.seeing import Opener
from wikitopics.tui.export import Export
from wikitopics.tui.questions import Ask


async def picture(pilot: Any) -> str:
    """What the screen says once it was asked for a picture in the command palette."""
    before = len(seeing.notices(pilot.app))
    await seeing.in_front(pilot, CommandPalette, "ctrl+p")
    await seeing.press(pilot, *"picture of", shows="Save it as an SVG")
    await pilot.press("enter")
    await seeing.until_true(lambda: len(seeing.notices(pilot.app)) > before)
    return seeing.notices(pilot.app)[-1]


async def test_a_picture_of_the_screen_loads_nothing_and_is_written_here(
    shown: Opener, live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with shown(live, size=(120, 40), words="LIVE") as (_, pilot):
        await seeing.press(pilot, "3", shows="[/x] [bold red]not bold[/]")
        told = await picture(pilot)
    (made,) = tmp_path.iterdir()
    assert told == f"saved: {made}"
    assert re.fullmatch(r"two-articles-\d{8}-\d{6}\.svg", made.name)
    drawn = made.read_text(encoding="utf-8")
    text = "".join(ET.fromstring(drawn).itertext()).replace("\xa0", " ")
    assert "[/x] [bold red]not bold[/]" in text
    assert "Save it as an SVG" not in text, "the palette is gone"
    head = drawn.replace('xmlns="http://www.w3.org/2000/svg"', "").partition("</style>")[0]
    assert not re.search(r"//|url\(|@|Fira", head)
    assert set(re.findall(r"""(?:href|src)\s*=|url\([^)]{,5}""", drawn)) <= {"url(#term"}
    assert "monospace" in head


async def test_textuals_own_pictures_load_nothing_either(shown: Opener, live: Path, tmp_path: Path) -> None:
    async with shown(live, size=(80, 24), words="LIVE") as (app, _):
        app.action_screenshot("first.svg", str(tmp_path))
        app.save_screenshot("second.svg", str(tmp_path))
        for made in (tmp_path / "first.svg", tmp_path / "second.svg"):
            await seeing.until_true(made.exists)
            assert "https://" not in made.read_text()


@pytest.mark.parametrize("gone", [True, False])
async def test_a_picture_that_cannot_be_written_says_why(
    shown: Opener, live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    async with shown(live, size=(120, 40), words="LIVE") as (app, pilot):
        if gone:
            here.rmdir()
            await seeing.in_front(pilot, Export, "e")
            assert app.screen.query_one("#file", Input).value == "two-topics.csv"
            await pilot.press("escape")
        else:
            monkeypatch.setattr("wikitopics.session.storage.files.sync", full)
        told = await picture(pilot)
    assert re.fullmatch(
        r"cannot write two-dashboard-\S+\.svg: No (such file or directory|space left on device)", told
    )
    os.chdir("/")


def full(draft: Path) -> None:
    raise OSError(28, os.strerror(28))


async def test_an_export_under_the_ending_of_another_format_is_refused(
    shown: Opener, live: Path, tmp_path: Path
) -> None:
    async with shown(live, size=(100, 30), words="LIVE") as (app, pilot):
        await seeing.in_front(pilot, Export, "e")
        app.screen.query_one("#file", Input).value = str(tmp_path / "topics.json")
        await pilot.click("#go")
        await seeing.until(pilot, "is not the ending of csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["file", "link"])
async def test_an_export_asks_before_replacing(shown: Opener, live: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "script.sh"
    if kind == "file":
        target.write_text("#!/bin/sh\n")
    else:
        target.symlink_to("nowhere")
    async with shown(live, size=(100, 30), words="LIVE") as (app, pilot):
        await seeing.in_front(pilot, Export, "e")
        for answer in ("escape", "c", "r"):
            app.screen.query_one("#file", Input).value = str(target)
            await pilot.click("#go")
            await seeing.in_front(pilot, Ask)
            await seeing.until(pilot, "exists already")
            assert target.is_symlink() or target.read_text() == "#!/bin/sh\n"
            await pilot.press(answer)
        await seeing.until(pilot, "rows in")
    assert target.read_text().startswith("model,topic,rank")
