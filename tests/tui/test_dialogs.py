"""Dialogs: how they end, and what they show at any size; exports."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Select

from tests.tui import seeing
from tests.tui.standins import Process
from wikitopics.tui.dialogs.ask import Ask
from wikitopics.tui.dialogs.export import Export
from wikitopics.tui.dialogs.newsession import NewSession

Opener = Callable[..., Any]


async def test_a_dialog_ends_once_and_ends_nothing_else(shown: Opener, live: Path) -> None:
    answers: list[str | None] = []
    below, above = (Ask(title, "text", [("yes", "y", "Yes")]) for title in ("Below", "Above"))
    async with shown(live, words="LIVE") as (app, pilot):
        main = app.screen
        await app.push_screen(below, answers.append)
        await app.push_screen(above, answers.append)
        below.dismiss("under another dialog")
        below.dismiss("too late")
        assert app.screen is above
        above.dismiss("first")
        above.dismiss("with nothing left to end")
        await seeing.until_true(lambda: app.screen is main)
        below.dismiss("after its end")
        await seeing.until_true(lambda: len(answers) == 2)
        await pilot.pause()
        assert app.screen is main
    assert answers == ["first", "under another dialog"]


async def test_an_export_goes_to_the_named_file(shown: Opener, live: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    async with shown(live, size=(100, 30), words="lda 1,3") as (app, pilot):
        await pilot.press("e")
        await seeing.until(pilot, "two-topics.csv")
        app.screen.query_one("#what", Select).value = "articles"
        await seeing.until(pilot, "two-articles.csv")
        app.screen.query_one("#file", Input).value = str(target)
        await pilot.click("#go")
        await seeing.until(pilot, "rows in")
        await pilot.press("escape")
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 228
    assert any(row["title"] == "[/x] [bold red]not bold[/]" for row in rows)


async def test_an_export_that_cannot_be_written_says_why(shown: Opener, live: Path, tmp_path: Path) -> None:
    async with shown(live, size=(100, 30), words="lda 1,3") as (app, pilot):
        await pilot.press("e")
        await seeing.until(pilot, "two-topics.csv")
        app.screen.query_one("#file", Input).value = str(tmp_path / "no" / "such" / "folder.csv")
        await pilot.click("#go")
        await seeing.until(pilot, "cannot write")
        await seeing.type_into(pilot, "#file", str(tmp_path))
        await seeing.until(pilot, "name a file in the folder")
        await seeing.type_into(pilot, "#file", "~nobody-of-that-name/x")
        await seeing.until(pilot, "no such user")
        await seeing.type_into(pilot, "#file", "x" * 300)
        told = app.screen.query_one("#export-progress")
        await seeing.until_true(lambda: str(told.render()).endswith("File name too long"))


SIZES = [(20, 5), (40, 10), (80, 24)]


async def test_every_answer_is_in_sight_when_leaving(shown: Opener, live: Path) -> None:
    async with shown(live, trainer=Process(), size=SIZES[-1], words="LIVE") as (app, pilot):
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.press("q")
            seen = await seeing.until(pilot, "Leave it running")
            assert "Save and stop" in seen
            assert "Cancel" in seen
            await pilot.press("escape")
            await seeing.until_true(lambda: app.screen is app.main)


@pytest.mark.parametrize("size", [SIZES[0], SIZES[-1]], ids=str)
async def test_forms_can_be_walked_through_at_any_size(
    shown: Opener, live: Path, home: Path, size: tuple[int, int]
) -> None:
    home.mkdir()
    async with shown(live, size=size, words="LIVE") as (app, pilot):
        for keys, form, last in ((["e"], Export, "#close"), (["6", "n"], NewSession, "#close")):
            await pilot.press(*keys)
            await seeing.in_front(pilot, form)
            for _ in range(30):
                focused = app.screen.focused
                assert focused is not None
                await seeing.until_true(lambda: seeing.in_sight(app))
                if focused.id == last.removeprefix("#"):
                    break
                await pilot.press("tab")
                await pilot.pause()
            assert app.screen.focused is app.screen.query_one(last)
            await pilot.press("enter")
            await seeing.until_true(lambda: app.screen is app.main)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_help_and_palette_say_something_at_any_size(
    shown: Opener, live: Path, size: tuple[int, int]
) -> None:
    async with shown(live, size=size, words="LIVE") as (app, pilot):
        await pilot.press("question_mark")
        await seeing.until(pilot, "logarithmic")
        await pilot.press("escape")
        await seeing.until_true(lambda: app.screen is app.main)
        await pilot.press("ctrl+p")
        await seeing.until(pilot, "All keys")


async def test_help_that_is_folded_stays_beside_its_key(shown: Opener, live: Path) -> None:
    async with shown(live, size=(50, 30), words="LIVE") as (_, pilot):
        await pilot.press("question_mark")
        lines = (await seeing.until(pilot, "crosshair from")).splitlines()
        at = next(i for i, line in enumerate(lines) if "crosshair from" in line)
        assert lines[at + 1].index("measurement") == lines[at].index("move")
