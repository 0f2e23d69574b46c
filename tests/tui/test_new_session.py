"""A new session: what its form makes of the fields, and what it says when they are wrong."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Checkbox, Input, Select

from tests.tui import canned, seeing
from tests.tui.seeing import Opener
from tests.tui.standins import Launcher, Process
from wikitopics.session import sources
from wikitopics.session.control import NOBODY_ASKED
from wikitopics.session.errors import SessionError
from wikitopics.tui.questions import OWN_FIELDS, TOPICS, NewSession, arguments

LDA = (("lda", "100"),)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (
            ("night", "api", {"lang": "en", "dump": "", "vocab": "english", "held_out": "1000"}, LDA),
            "train --session night --source api --held-out 1000 --model lda:topics=100",
        ),
        (
            ("de", "recent", {"lang": "de", "vocab": "de.txt"}, (("lda", "50"), ("hdp", ""))),
            "train --session de --source recent --lang de --vocab de.txt --model lda:topics=50 --model hdp",
        ),
        (
            ("d", "dump", {"lang": "en", "dump": "x.xml.bz2", "vocab": "english"}, (("scvb0", "20"),)),
            "train --session d --source dump --dump x.xml.bz2 --model scvb0:topics=20",
        ),
        (("toy", "demo", {"lang": "en"}, ()), "demo --headless --session toy"),
        (
            ("b", "api", {"lang": "ja", "tokens": "links"}, LDA),
            "train --session b --source api --lang ja --tokens links --model lda:topics=100",
        ),
    ],
)
def test_entries_become_words_of_the_command_line(entries: tuple[Any, ...], words: str) -> None:
    assert arguments(*entries)[0] == words.split()


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (("", "api", {}, LDA), "needs a name"),
        (("a", "api", {"tokens": "letters"}, LDA), "Tokens must be"),
        (("a b", "api", {}, LDA), "not a session name"),
        (("../evil", "api", {}, LDA), "not a session name"),
        (("/tmp/evil", "demo", {}, ()), "not a session name"),
        (("evil.db", "demo", {}, ()), "not a session name"),
        (("~root/evil", "demo", {}, ()), "not a session name"),
        ((f"/{'x' * 300}.db", "demo", {}, ()), "not a session name"),
        (("n", "texts", {}, LDA), "needs a file or folder"),
        (("n", "api", {}, ()), "at least one model"),
        (("n", "api", {}, (("lda", "0"),)), "topics must be a whole number from 1"),
        (("n", "api", {"held_out": "many"}, LDA), "Held out must be a whole number from 0 .* not 'many'"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_in_one_line(entries: tuple[Any, ...], why: str) -> None:
    with pytest.raises(SessionError, match=why):
        arguments(*entries)


def test_a_form_says_nothing_of_the_command_line() -> None:
    described = (option for name in sources.BUILT_IN for option in sources.described(name).options)
    for option in (*described, *OWN_FIELDS, TOPICS):
        if option.label:
            assert not re.search("--|`|several times", option.help), option.name


@pytest.mark.parametrize("source", ["api", "texts"])
async def test_a_new_session_can_be_started_from_any_part_of_the_form(dialog: Opener, source: str) -> None:
    """The buttons are in sight while the first field has the focus, and while the last one has."""
    async with dialog(Launcher(), (80, 18)) as (app, pilot):
        app.screen.query_one("#source", Select).value = source
        for field in ("#name", "#topics-hdp"):
            app.screen.query_one(field, Input).focus()
            await seeing.until_true(lambda: seeing.in_sight(app))
            seen = await seeing.until(pilot, " Start ")
            assert " Cancel " in seen


NOTES = """
from wikitopics.crawler import Option, PageKind
class Notes(PageKind):
    name, label = "notes", "My notes"
    options = (Option(str, "notes", "A folder of notes.", path=True, needed=True, label="Folder"),)
    identity = open = lambda self, *_: None
    model_defaults = {"topics": 7}
"""


async def test_a_plug_in_source_has_its_own_fields(dialog: Opener, install: Callable[..., None]) -> None:
    install(NOTES, "wikitopics.sources", notes="notes_package:Notes")
    launch = Launcher(1)
    async with dialog(launch, (80, 30)) as (app, pilot):
        await seeing.until(pilot, "Language")
        app.screen.query_one("#source", Select).value = "notes"
        seen = await seeing.until(pilot, "Folder ")
        assert "Language" not in seen
        assert app.screen.query_one("#topics-lda", Input).placeholder == "7"
        app.screen.query_one("#source", Select).value = "api"
        await seeing.until_true(lambda: app.screen.query_one("#topics-lda", Input).placeholder == "100")
        app.screen.query_one("#source", Select).value = "notes"
        await seeing.until(pilot, "Folder ")
        app.screen.query_one("#option-notes", Input).focus()
        await seeing.until(pilot, "A folder of notes.")
        await seeing.press(pilot, "enter", shows="the source notes needs a folder")
        app.screen.query_one("#option-notes", Input).value = "/here"
        await seeing.press(pilot, "enter", shows="ended with code 1")
    given = "train --session night --source notes --notes /here --model lda"
    assert launch.started == [given.split()]


async def test_a_plug_in_models_topics_are_named(dialog: Opener, install: Callable[..., None]) -> None:
    head = "from wikitopics.model import OnlineLDA\nclass Mine(OnlineLDA):\n"
    install(f"{head}    kind, default_topics = 'mine', 42\n", "wikitopics.models", mine="notes_package:Mine")
    async with dialog(Launcher(1), (100, 40)) as (app, pilot):
        topics = app.screen.query_one("#topics-mine", Input)
        assert topics.placeholder == ""
        app.screen.query_one("#use-mine", Checkbox).value = True
        await seeing.until_true(lambda: topics.placeholder == "42")
        assert topics.value == ""
        topics.focus()
        await seeing.until(pilot, "Topics of each model")


async def test_another_wikis_address_can_be_given(dialog: Opener) -> None:
    launch = Launcher(1)
    async with dialog(launch, (100, 40)) as (app, pilot):
        await seeing.until(pilot, "Other wiki ")
        app.screen.query_one("#option-api_url", Input).value = "http://127.0.0.1:9/w/api.php"
        await seeing.press(pilot, "enter", shows="ended with code 1")
    assert launch.started[0][5:7] == ["--api-url", "http://127.0.0.1:9/w/api.php"]


async def test_a_new_session_is_started_and_opened(dialog: Opener, home: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("WIKITOPICS_CONTACT", "me@host.org")
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        app.screen.query_one("#name", Input).value = "evening"
        await pilot.press("enter")
        await seeing.until_true(lambda: app.path == home / "evening.db")
        await seeing.until(pilot, "Perplexity of")
    assert launch.started[0][:3] == ["train", "--session", "evening"]


async def test_a_trainer_that_fails_at_once_says_why(dialog: Opener, home: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("WIKITOPICS_CONTACT", "me@host.org")

    def launch(path: Path, words: list[str]) -> Process:
        Path(f"{path}.log").write_text("wikitopics: the wiki is no wiki [/x]\n")
        return Process(2)

    async with dialog(launch, (100, 30)) as (app, pilot):
        await pilot.click("#go")
        assert "wikitopics: the" not in await seeing.until(pilot, "the wiki is no wiki [/x]")
        assert isinstance(app.screen, NewSession)
    assert not [*home.glob("*.log")]


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
        await seeing.press(pilot, "n", shows="nothing was started")
        started.clear()
        await pilot.click("#go")
        await seeing.until(pilot, "Before it starts")
        await seeing.press(pilot, "y", shows="STARTING")
    assert started[1] == [*started[0], "--yes"]


async def test_fields_are_checked_first(dialog: Opener, home: Path) -> None:
    """Before anything is asked or written."""
    launch = Launcher()
    async with dialog(launch, (120, 40)) as (app, pilot):
        before = sorted(home.parent.rglob("*"))
        for field, value, why in (
            ("name", "../evil", "not a session name"),
            ("option-vocab", "klingon", "no vocabulary is called 'klingon'"),
            ("option-lang", "zh", "Chinese is written without spaces"),
            ("option-lang", "n o", "give a language code"),
        ):
            entry = app.screen.query_one(f"#{field}", Input)
            valid, entry.value = entry.value, value
            await seeing.press(pilot, "enter", shows=why)
            entry.value = valid
        assert isinstance(app.screen, NewSession)
        assert sorted(home.parent.rglob("*")) == before
    assert launch.started == []


async def test_a_dump_on_wikimedias_server_asks_for_the_contact(dialog: Opener) -> None:
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        app.screen.query_one("#source", Select).value = "dump"
        await seeing.until_true(lambda: app.screen.query_one("#option-dump").region)
        app.screen.query_one("#option-dump", Input).value = "https://dumps.wikimedia.org/x.xml.bz2"
        await seeing.press(pilot, "enter", shows="for Wikimedia")
    assert launch.started == []
