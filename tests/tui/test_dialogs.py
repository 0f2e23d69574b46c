"""Dialogs: how they end, and what they show at any size; exports."""

import csv

import pytest
from textual.events import Paste
from textual.widgets import Input

from tests.tui import seeing
from tests.tui.standins import Process
from wikitopics.tui.export import Export
from wikitopics.tui.help import legend
from wikitopics.tui.inks import Lines
from wikitopics.tui.new_session import NewSession
from wikitopics.tui.questions import Question
from wikitopics.tui.views.emergence import ASCII_CURSOR, ASCII_SHADES, CURSOR


async def test_a_dialog_ends_once_and_ends_nothing_else(shown, live):
    answers: list[str | None] = []
    below, above = (Question(title, "text", [("yes", "y", "Yes")]) for title in ("Below", "Above"))
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


async def test_an_export_goes_to_the_named_file(shown, live, tmp_path):
    target = tmp_path / "out.csv"
    async with shown(live, size=(100, 30), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "e", shows="two-report.html")
        await seeing.choose(pilot, "articles")
        for file, why in (
            (tmp_path / "no" / "such" / "folder.csv", "cannot write"),
            (tmp_path, "name a file in the folder"),
            ("~nobody-of-that-name/x", "no such user"),
            ("x" * 300, "File name too long"),
        ):
            await seeing.type_into(pilot, "#file", str(file))
            told = app.screen.query_one("#export-progress")
            await seeing.until_true(lambda why=why, told=told: why in str(told.render()))
        await seeing.export(pilot, target)
        await seeing.until(pilot, "rows in")
        await pilot.press("escape")
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 228
    assert any(row["title"] == "[/x] [bold red]not bold[/]" for row in rows)


SIZES = [(20, 5), (40, 10), (80, 24)]


async def test_leaving_help_and_palette_at_any_size(shown, live):
    async with shown(live, trainer=Process(), size=SIZES[-1], words="LIVE") as (app, pilot):
        for size in SIZES:
            await pilot.resize_terminal(*size)
            for key, all_in_sight in (
                ("q", ("Leave it running", "Save and stop", "Cancel")),
                ("question_mark", ("logarithmic",)),
                ("ctrl+p", ("Write the",)),
            ):
                seen = await seeing.press(pilot, key, shows=all_in_sight[0])
                assert [words for words in all_in_sight if words not in seen] == []
                await pilot.press("escape")
                await seeing.until_true(lambda: app.screen is app.main)


async def test_forms_can_be_walked_through_at_any_size(shown, live, home):
    home.mkdir()
    async with shown(live, words="LIVE") as (app, pilot):
        for size, keys, form in (
            (SIZES[-1], ["e"], Export),
            (SIZES[-1], ["6", "n"], NewSession),
            (SIZES[0], ["n"], NewSession),
            (SIZES[0], ["e"], Export),
        ):
            await pilot.resize_terminal(*size)
            await seeing.in_front(pilot, form, *keys)
            for _ in range(30):
                focused = app.screen.focused
                assert focused is not None
                await seeing.until_true(lambda: seeing.in_sight(app))
                if focused.id == "close":
                    break
                await pilot.press("tab")
                await pilot.pause()
            assert app.screen.focused is app.screen.query_one("#close")
            await pilot.press("enter")
            await seeing.until_true(lambda: app.screen is app.main)


async def test_help_that_is_folded_stays_beside_its_key(shown, live):
    async with shown(live, size=(50, 30), words="LIVE") as (_, pilot):
        lines = (await seeing.press(pilot, "question_mark", shows="crosshair from")).splitlines()
        at = next(i for i, line in enumerate(lines) if "crosshair from" in line)
        assert lines[at + 1].index("measurement") == lines[at].index("move")


def test_the_help_tells_the_cursor_of_emergence_from_a_split_and_from_shades():
    signs = [row for _, rows in legend(ascii_only=False) for row in rows]
    meanings = [words for sign, words in signs if sign == CURSOR]
    assert meanings == ["a topic splits", "Emergence: where the cursor is"]
    signs = [row for _, rows in legend(ascii_only=True) for row in rows]
    assert (ASCII_CURSOR, "Emergence: where the cursor is") in signs
    assert ASCII_CURSOR not in ASCII_SHADES


async def test_the_first_line_goes_on_behind_dialogs(shown, live):
    async with shown(live, words="LIVE") as (app, pilot):
        status = app.main.query_one("#status", Lines)
        show_lines = status.show_lines
        status.show_lines = lambda *_: None  # what the session says comes at any moment
        for dialogs in (1, 2, 3):
            await app.push_screen(Question("Why", "text", [("yes", "y", "Yes")]))
            await seeing.settled(pilot)
            show_lines(lambda *_, dialogs=dialogs: [[(f"second {dialogs}", "")]])
            await seeing.until(pilot, f"second {dialogs}")


async def test_a_field_takes_no_megabyte_and_nothing_that_turns_the_terminal(shown, live):
    async with shown(live, size=(100, 30), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "e", shows="two-report.html")
        line = app.screen.query_one("#file", Input)
        line.focus()
        line.value = ""
        for pasted in ("x" * 1_000_000, "txt\u202egpj"):
            line.post_message(Paste(pasted))
        line.post_message(Paste("out.csv"))
        await seeing.until_true(lambda: line.value == "out.csv")


async def test_an_export_under_the_ending_of_another_format_is_refused(shown, live, tmp_path):
    async with shown(live, size=(100, 30), words="LIVE") as (_, pilot):
        await seeing.in_front(pilot, Export, "e")
        await seeing.choose(pilot, "topics")
        await seeing.export(pilot, tmp_path / "topics.json")
        await seeing.until(pilot, "is not the ending of csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["file", "link"])
async def test_an_export_asks_before_replacing(shown, live, tmp_path, kind):
    target = tmp_path / "script.sh"
    if kind == "file":
        target.write_text("#!/bin/sh\n")
    else:
        target.symlink_to("nowhere")
    async with shown(live, size=(100, 30), words="LIVE") as (_, pilot):
        await seeing.in_front(pilot, Export, "e")
        await seeing.choose(pilot, "topics")
        for answer in ("escape", "c", "r"):
            await seeing.export(pilot, target)
            await seeing.in_front(pilot, Question)
            await seeing.until(pilot, "already exists")
            assert target.is_symlink() or target.read_text() == "#!/bin/sh\n"
            await pilot.press(answer)
        await seeing.until(pilot, "rows in")
    assert target.read_text().startswith("model,topic,rank")
