"""Dialogs: how they end, what they show at any size; what the screen writes to files."""

import csv
import os
import re
import time
import xml.etree.ElementTree as ET

import pytest
from textual.command import CommandPalette
from textual.events import Paste
from textual.widget import Widget
from textual.widgets import Input

from tests.tui import canned, seeing
from tests.tui.standins import Process
from wikitopics.tui.export import Export
from wikitopics.tui.help import Help
from wikitopics.tui.new_session import NewSession
from wikitopics.tui.questions import Question

# Dialogs: how they end, and what they show at any size; exports.


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


# What is drawn behind them.


@pytest.fixture
def drawn(monkeypatch):
    """The widgets drawn since this was last cleared, by their names."""
    names: list[str] = []
    real = Widget.render_lines

    def render_lines(widget, crop):
        names.append(widget.id or type(widget).__name__)
        return real(widget, crop)

    monkeypatch.setattr(Widget, "render_lines", render_lines)
    return names


async def looks(app, monkeypatch, number):
    """Return once the app has looked at its session more often than this."""
    seen = 0
    real = app.show_status

    def show_status():
        nonlocal seen
        seen += 1
        real()

    with monkeypatch.context() as patch:
        patch.setattr(app, "show_status", show_status)
        await seeing.until_true(lambda: seen > number)


@pytest.fixture
def no_time_passes(monkeypatch):
    """Ages on the screen stay the same."""
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)


AT_EACH_SIZE = pytest.mark.parametrize("size", [(80, 24), (200, 60)])


@pytest.mark.usefixtures("no_time_passes")
@AT_EACH_SIZE
@pytest.mark.parametrize("view", ["1", "3"])
async def test_what_stays_the_same_is_not_drawn_again(
    shown, growing, drawn, monkeypatch, view, size
):
    async with shown(growing, size=size, words="LIVE") as (app, pilot):
        await pilot.press(view)
        for has_grown in (False, True):
            if has_grown:
                await seeing.in_front(pilot, Help, "question_mark")
                canned.grow(growing, canned.Recipe(), 9_000)
                await seeing.until_true(lambda: app.latest.status.articles > 20_000)
            await looks(app, monkeypatch, 1)
            await pilot.pause()
            drawn.clear()
            await looks(app, monkeypatch, 2)
            await pilot.pause()
            assert drawn == []


@pytest.mark.usefixtures("no_time_passes")
@AT_EACH_SIZE
@pytest.mark.parametrize(("view", "back"), [("1", []), ("3", ["escape", "1"])])
async def test_what_has_changed_under_a_dialog_or_another_view_is_drawn_in_time(
    shown, growing, monkeypatch, size, view, back
):
    async with shown(growing, size=size, words="LIVE") as (app, pilot):
        await pilot.press(view)
        await seeing.in_front(pilot, Help, "question_mark")
        canned.grow(growing, canned.Recipe(), 9_000)
        await seeing.until_true(lambda: app.latest.status.articles > 20_000)
        await looks(app, monkeypatch, 2)
        await pilot.pause()
        behind = seeing.lines(app)
        app.main.query("*").refresh()
        app.screen.refresh()
        await pilot.pause()
        assert behind == seeing.lines(app)

        await pilot.press("escape", *back)
        await seeing.until_true(lambda: app.screen is app.main)
        await looks(app, monkeypatch, 2)
        await pilot.pause()
        in_front = seeing.text(app)
        app.main.query("*").refresh()
        await pilot.pause()
        assert in_front == seeing.text(app)
        assert "21,4" in in_front


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


# What the screen writes to files: pictures of itself, and exports over files that exist.


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
