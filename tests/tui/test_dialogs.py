"""Export, new session, contact: what they ask, what they do with the answers."""

import contextlib
import csv
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Select

from session import sources
from session.doors.launch import NOBODY_ASKED
from session.errors import SessionError
from session.signals import Signals
from tests.tui import canned, seeing
from tests.tui.standins import Launcher, Process
from tui.dialogs.ask import Ask
from tui.dialogs.contact import ContactBook
from tui.dialogs.export import Export
from tui.dialogs.newsession import OWN_FIELDS, NewSession, Wish, arguments
from tui.first_question import Contact

Opener = Callable[..., Any]
LDA = (("lda", "100"),)


@pytest.fixture
def dialog(open_app: Opener, live: Path, home: Path) -> Opener:
    """Opens the app at the dialog for a new session: ``async with dialog(launch) as (app, pilot)``."""
    home.mkdir()

    @contextlib.asynccontextmanager
    async def opened(launch: Any, size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Any, Any]]:
        app = open_app(live, launch=launch)
        async with app.run_test(size=size) as pilot:
            await seeing.until(pilot, "LIVE")
            await pilot.press("6", "n")
            await seeing.in_front(pilot, NewSession)
            yield app, pilot

    return opened


async def test_a_dialog_ends_once_and_ends_nothing_else(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    answers: list[str | None] = []
    below, above = (Ask(title, "text", [("yes", "y", "Yes")]) for title in ("Below", "Above"))
    async with app.run_test(size=(80, 24)) as pilot:
        await seeing.until(pilot, "LIVE")
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


async def test_an_export_goes_to_the_named_file(open_app: Opener, live: Path, tmp_path: Path) -> None:
    app = open_app(live)
    target = tmp_path / "out.csv"
    async with app.run_test(size=(100, 30)) as pilot:
        await seeing.until(pilot, "lda 1,3")
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


async def test_an_export_that_cannot_be_written_says_why(
    open_app: Opener, live: Path, tmp_path: Path
) -> None:
    app = open_app(live)
    async with app.run_test(size=(100, 30)) as pilot:
        await seeing.until(pilot, "lda 1,3")
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


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (
            Wish("night", "api", {"lang": "en", "dump": "", "vocab": "english", "held_out": "1000"}, LDA),
            "train --session night --source api --held-out 1000 --model lda:topics=100",
        ),
        (
            Wish("de", "recent", {"lang": "de", "vocab": "de.txt"}, (("lda", "50"), ("hdp", ""))),
            "train --session de --source recent --lang de --vocab de.txt --model lda:topics=50 --model hdp",
        ),
        (
            Wish("d", "dump", {"lang": "en", "dump": "x.xml.bz2", "vocab": "english"}, (("scvb0", "20"),)),
            "train --session d --source dump --dump x.xml.bz2 --model scvb0:topics=20",
        ),
        (Wish("toy", "demo", {"lang": "en"}, ()), "demo --headless --session toy"),
    ],
)
def test_wishes_become_words_of_the_command_line(wish: Wish, words: str) -> None:
    assert arguments(wish) == words.split()


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (Wish("", "api", {}, LDA), "needs a name"),
        (Wish("a b", "api", {}, LDA), "not a session name"),
        (Wish("n", "texts", {}, LDA), "needs a file or folder"),
        (Wish("n", "api", {}, ()), "at least one model"),
        (Wish("n", "api", {}, (("lda", "0"),)), "topics must be a whole number from 1"),
        (Wish("n", "api", {"held_out": "many"}, LDA), "Held out must be a whole number from 0 .* not 'many'"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_in_one_line(wish: Wish, why: str) -> None:
    with pytest.raises(SessionError, match=why):
        arguments(wish)


def test_a_form_says_nothing_of_the_command_line() -> None:
    described = (option for name in sources.BUILT_IN for option in sources.described(name).options)
    for option in (*described, *OWN_FIELDS):
        if option.label:
            assert not re.search("--|`|several times", option.help), option.name


@pytest.mark.parametrize("source", ["api", "texts"])
async def test_a_new_session_can_be_started_from_any_part_of_the_form(dialog: Opener, source: str) -> None:
    """The buttons are in sight while the first field has the focus, and while the last one has."""
    async with dialog(Launcher(), (80, 18)) as (app, pilot):
        app.screen.query_one("#source", Select).value = source
        for field in ("#name", "#topics-hdp"):
            app.screen.query_one(field, Input).focus()
            await seeing.until_true(lambda: in_sight(app))
            seen = await seeing.until(pilot, " Start ")
            assert " Cancel " in seen


NOTES = """
from crawler import Option, PageKind
class Notes(PageKind):
    name, label = "notes", "My notes"
    options = (Option(str, "notes", "A folder of notes.", path=True, needed=True, label="Folder"),)
    identity = open = lambda self, *_: None
"""


async def test_a_source_of_another_package_has_its_own_fields(
    dialog: Opener, install: Callable[..., None]
) -> None:
    install(NOTES, "wikitopics.sources", notes="notes_package:Notes")
    launch = Launcher(1)
    async with dialog(launch, (80, 30)) as (app, pilot):
        await seeing.until(pilot, "Language")
        app.screen.query_one("#source", Select).value = "notes"
        seen = await seeing.until(pilot, "Folder ")
        assert "Language" not in seen
        app.screen.query_one("#option-notes", Input).focus()
        await seeing.until(pilot, "A folder of notes.")
        await pilot.press("enter")
        await seeing.until(pilot, "the source notes needs a folder")
        app.screen.query_one("#option-notes", Input).value = "/here"
        await pilot.press("enter")
        await seeing.until(pilot, "ended with code 1")
    given = "train --session night --source notes --notes /here --model lda:topics=100"
    assert launch.started == [given.split()]


async def test_a_new_session_is_started_and_opened(dialog: Opener, home: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("WIKITOPICS_CONTACT", "me@host.org")
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        app.screen.query_one("#name", Input).value = "evening"
        await pilot.press("enter")
        await seeing.until_true(lambda: app.path == home / "evening.db")
        await seeing.until(pilot, "Perplexity of")
    assert launch.started[0][:3] == ["train", "--session", "evening"]


def test_a_name_that_no_file_can_have_is_left_to_the_trainer() -> None:
    name = f"/{'x' * 300}.db"
    assert arguments(Wish(name, "demo", {}, ())) == ["demo", "--headless", "--session", name]


async def test_a_trainer_that_fails_at_once_says_why(dialog: Opener, monkeypatch: Any) -> None:
    monkeypatch.setenv("WIKITOPICS_CONTACT", "me@host.org")

    def launch(path: Path, words: list[str]) -> Process:
        Path(f"{path}.log").write_text("wikitopics: the wiki is no wiki [/x]\n")
        return Process(2)

    async with dialog(launch, (100, 30)) as (app, pilot):
        await pilot.click("#go")
        await seeing.until(pilot, "the wiki is no wiki [/x]")
        assert isinstance(app.screen, NewSession)


async def test_a_dump_that_was_found_is_asked_about(dialog: Opener) -> None:
    started: list[list[str]] = []

    def launch(path: Path, words: list[str]) -> Process:
        started.append(words)
        if len(started) % 2:
            Path(f"{path}.log").write_text(f"wikitopics: dewiki of 2026-11-01, 7.1 GB {NOBODY_ASKED}\n")
            return Process(2)
        canned.build(path, canned.Recipe(state="starting", restarts=()))
        return Process()

    async with dialog(launch, (100, 30)) as (app, pilot):
        app.screen.query_one("#source", Select).value = "counts"
        await seeing.until(pilot, "Word counts")
        await seeing.until_true(lambda: app.screen.query_one("#option-counts").region)
        app.screen.query_one("#option-counts", Input).value = "/words.npz"
        await pilot.click("#go")
        await seeing.until(pilot, "Before it starts")
        await pilot.press("n")
        await seeing.until(pilot, "nothing was started")
        started.clear()
        await pilot.click("#go")
        await seeing.until(pilot, "Before it starts")
        await pilot.press("y")
        await seeing.until(pilot, "STARTING")
    assert started[1] == [*started[0], "--yes"]


async def test_a_first_crawl_of_wikipedia_asks_for_the_contact(dialog: Opener, home: Path) -> None:
    launch = Launcher()
    async with dialog(launch) as (_, pilot):
        await pilot.press("enter")
        await seeing.until(pilot, "for Wikimedia")
        await pilot.press("escape")
        await seeing.until(pilot, "Held out")
        assert launch.started == []
        await pilot.press("enter")
        await seeing.until(pilot, "for Wikimedia")
        await pilot.press(*"me@host.org", "enter")
        await seeing.until(pilot, "STARTING")
    assert 'contact = "me@host.org"' in (home / "config.toml").read_text()
    assert [words[:3] for words in launch.started] == [["train", "--session", "night"]]
    assert "me@host.org" not in launch.started[0]


async def test_what_was_wrong_before_is_not_told_of_the_form_as_it_is_now(dialog: Opener) -> None:
    async with dialog(Launcher()) as (app, pilot):
        app.screen.query_one("#name", Input).value = ""
        await pilot.press("enter")
        await seeing.until(pilot, "the session needs a name")
        app.screen.query_one("#name", Input).value = "night"
        await pilot.press("enter")
        await seeing.until(pilot, "for Wikimedia")
        await pilot.press("escape")
        assert "needs a name" not in await seeing.until(pilot, "Held out")


async def test_instead_of_a_contact_the_sample(dialog: Opener) -> None:
    launch = Launcher(1)
    async with dialog(launch) as (_, pilot):
        await pilot.press("enter")
        await seeing.until(pilot, "for Wikimedia")
        await pilot.click("#demo")
        await seeing.until(pilot, "ended with code 1")
    assert launch.started == [["demo", "--headless", "--session", "night"]]


def contact_app(kept: list[str]) -> Contact:
    wrong: Callable[[str], str | None] = lambda text: None if "@" in text else "no address in it"  # noqa: E731
    return Contact(ContactBook(wrong, kept.append, "not much"), Signals())


async def test_the_contact_is_checked_and_kept() -> None:
    kept: list[str] = []
    app = contact_app(kept)
    async with app.run_test(size=(80, 24)) as pilot:
        seen = await seeing.until(pilot, "What will be downloaded: not much.")
        assert "Wikipedia is run by a charity" in seen
        assert "Try the embedded sample" in seen
        await pilot.press(*"me", "enter")
        await seeing.until(pilot, "no address in it")
        await pilot.press(*"@x.org", "enter")
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == "saved"
    assert kept == ["me@x.org"]


@pytest.mark.parametrize(("button", "answer"), [("#demo", "demo"), ("#quit", "quit")])
async def test_ways_around_the_contact(button: str, answer: str) -> None:
    kept: list[str] = []
    app = contact_app(kept)
    async with app.run_test(size=(80, 24)) as pilot:
        await seeing.until(pilot, "Try the embedded sample")
        await pilot.click(button)
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == answer
    assert kept == []


SIZES = [(20, 5), (40, 10), (80, 24)]


async def test_every_answer_is_in_sight_when_leaving(open_app: Opener, live: Path) -> None:
    app = open_app(live, trainer=Process())
    async with app.run_test(size=SIZES[-1]) as pilot:
        await seeing.until(pilot, "LIVE")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.press("q")
            seen = await seeing.until(pilot, "Leave it running")
            assert "Save and stop" in seen
            assert "Cancel" in seen
            await pilot.press("escape")
            await seeing.until_true(lambda: app.screen is app.main)


def in_sight(app: Any) -> bool:
    """Whether what has the focus can be seen."""
    return bool(app.screen.find_widget(app.screen.focused).visible_region.area)


@pytest.mark.parametrize("size", [SIZES[0], SIZES[-1]], ids=str)
async def test_forms_can_be_walked_through_at_any_size(
    open_app: Opener, live: Path, home: Path, size: tuple[int, int]
) -> None:
    home.mkdir()
    app = open_app(live)
    async with app.run_test(size=size) as pilot:
        await seeing.until(pilot, "LIVE")
        for keys, form, last in ((["e"], Export, "#close"), (["6", "n"], NewSession, "#close")):
            await pilot.press(*keys)
            await seeing.in_front(pilot, form)
            for _ in range(30):
                focused = app.screen.focused
                assert focused is not None
                await seeing.until_true(lambda: in_sight(app))
                if focused.id == last.removeprefix("#"):
                    break
                await pilot.press("tab")
                await pilot.pause()
            assert app.screen.focused is app.screen.query_one(last)
            await pilot.press("enter")
            await seeing.until_true(lambda: app.screen is app.main)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_help_and_palette_say_something_at_any_size(
    open_app: Opener, live: Path, size: tuple[int, int]
) -> None:
    app = open_app(live)
    async with app.run_test(size=size) as pilot:
        await seeing.until(pilot, "LIVE")
        await pilot.press("question_mark")
        await seeing.until(pilot, "logarithmic")
        await pilot.press("escape")
        await seeing.until_true(lambda: app.screen is app.main)
        await pilot.press("ctrl+p")
        await seeing.until(pilot, "All keys")


async def test_help_that_is_folded_stays_beside_its_key(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(50, 30)) as pilot:
        await seeing.until(pilot, "LIVE")
        await pilot.press("question_mark")
        lines = (await seeing.until(pilot, "crosshair from")).splitlines()
        at = next(i for i, line in enumerate(lines) if "crosshair from" in line)
        assert lines[at + 1].index("measurement") == lines[at].index("move")


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_contact_says_something_at_any_size(size: tuple[int, int]) -> None:
    contact = contact_app([])
    async with contact.run_test(size=size) as pilot:
        await seeing.until(pilot, "you@host.org")
        await pilot.press("x", "enter")
        await seeing.until(pilot, "no address")
