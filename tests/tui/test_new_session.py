"""A new session: its form, what is said of wrong fields, and the contact that it asks for."""

import contextlib
import re
from pathlib import Path

import pytest
from textual.widgets import Checkbox, Input, Select

from tests.tui import canned, seeing
from tests.tui.standins import Launcher, Process
from wikitopics.session import sources
from wikitopics.session.control import NOBODY_ASKED
from wikitopics.session.errors import SessionError
from wikitopics.session.options import TOPICS
from wikitopics.session.signals import Signals
from wikitopics.tui.new_session import OWN_FIELDS, NewSession, arguments
from wikitopics.tui.questions import Contact

# A new session: what its form makes of the fields, and what it says when they are wrong.


LDA = (("lda", "100"),)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        (
            (
                "night",
                "api",
                {"lang": "en", "dump": "", "vocab": "english", "held_out": "1000"},
                LDA,
            ),
            "train --session night --source api --held-out 1000 --model lda:topics=100",
        ),
        (
            ("de", "recent", {"lang": "de", "vocab": "de.txt"}, (("lda", "50"), ("hdp", ""))),
            "train --session de --source recent --lang de --vocab de.txt --model lda:topics=50 "
            "--model hdp",
        ),
        (
            (
                "d",
                "dump",
                {"lang": "en", "dump": "x.xml.bz2", "vocab": "english"},
                (("scvb0", "20"),),
            ),
            "train --session d --source dump --dump x.xml.bz2 --model scvb0:topics=20",
        ),
        (
            ("n", "api", {}, (("lda", "5, 10"), ("hdp", "7"))),
            "train --session n --source api --model lda:name=lda-5,topics=5 "
            "--model lda:name=lda-10,topics=10 --model hdp:topics=7",
        ),
        (("toy", "demo", {"lang": "en"}, ()), "demo --headless --pace 90 --session toy"),
        (
            ("b", "api", {"lang": "ja", "tokens": "links"}, LDA),
            "train --session b --source api --lang ja --tokens links --model lda:topics=100",
        ),
    ],
)
def test_entries_become_words_of_the_command_line(entries, words):
    assert arguments(*entries)[0] == words.split()


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (("", "api", {}, LDA), "needs a name"),
        (("a", "api", {"tokens": "letters"}, LDA), "Tokens must be"),
        *(((name, "api", {}, LDA), "not a session name") for name in ("a b", "../evil")),
        *(
            ((name, "demo", {}, ()), "not a session name")
            for name in ("/tmp/evil", "evil.db", "~root/evil", f"/{'x' * 300}.db")
        ),
        (("n", "texts", {}, LDA), "needs a file, folder or url"),
        (("n", "api", {}, ()), "at least one model"),
        (("n", "api", {}, (("lda", "0"),)), "topics must be a whole number from 1"),
        (("n", "api", {}, (("lda", "5,,7"),)), "topics must be a number, or several"),
        (
            ("n", "api", {"held_out": "many"}, LDA),
            "Held out must be a whole number from 0 .* not 'many'",
        ),
    ],
)
def test_wishes_that_make_no_sense_are_refused_in_one_line(entries, why):
    with pytest.raises(SessionError, match=why):
        arguments(*entries)


def test_a_form_says_nothing_of_the_command_line():
    described = (option for name in sources.BUILT_IN for option in sources.kind_named(name).options)
    for option in (*described, *OWN_FIELDS, TOPICS):
        if option.label:
            assert not re.search("--|`|several times", option.help), option.name


@pytest.fixture
def dialog(shown, live, home):
    """Opens the app at the form: ``async with dialog(launch) as (app, pilot)``."""
    home.mkdir()

    @contextlib.asynccontextmanager
    async def opened(launch, size=(80, 24)):
        async with shown(live, launch=launch, size=size, words="LIVE") as (app, pilot):
            await seeing.in_front(pilot, NewSession, "6", "n")
            yield app, pilot

    return opened


@pytest.mark.parametrize("source", ["api", "texts"])
async def test_a_new_session_can_be_started_from_any_part_of_the_form(dialog, source):
    """The buttons are in sight while the first field has the focus, and while the last one has."""
    async with dialog(Launcher(), (80, 18)) as (app, pilot):
        app.screen.query_one("#source", Select).value = source
        for field in ("#name", "#topics-hdp"):
            app.screen.query_one(field, Input).focus()
            await seeing.until_true(lambda: seeing.in_sight(app))
            assert " Cancel " in await seeing.until(pilot, " Start ")


NOTES = """
from wikitopics.crawler import Option, PageKind
class Notes(PageKind):
    name, label = "notes", "My notes"
    options = (Option(str, "notes", "A folder of notes.", path=True, needed=True, label="Folder"),)
    identity = open = lambda self, *_: None
    model_defaults = {"topics": 7}
"""


async def test_a_plug_in_source_has_its_own_fields(dialog, install):
    install(NOTES, "wikitopics.sources", notes="notes_package:Notes")
    launch = Launcher(1)
    async with dialog(launch, (80, 30)) as (app, pilot):
        await seeing.until(pilot, "Language")
        app.screen.query_one("#source", Select).value = "notes"
        assert "Language" not in await seeing.until(pilot, "Folder ")
        assert app.screen.query_one("#topics-lda", Input).placeholder == "7"
        app.screen.query_one("#source", Select).value = "api"
        await seeing.until_true(
            lambda: app.screen.query_one("#topics-lda", Input).placeholder == "100"
        )
        app.screen.query_one("#source", Select).value = "notes"
        await seeing.until(pilot, "Folder ")
        app.screen.query_one("#option-notes", Input).focus()
        await seeing.until(pilot, "A folder of notes.")
        await seeing.press(pilot, "enter", shows="the source notes needs a folder")
        await seeing.type_into(pilot, "#option-notes", "/here", shows="ended with code 1")
    given = "train --session night --source notes --notes /here --model lda"
    assert launch.started == [given.split()]


async def test_a_plug_in_model_is_offered_and_its_topics_are_named(dialog, install):
    head = "from wikitopics.model import OnlineLDA\nclass Mine(OnlineLDA):\n"
    install(
        f"{head}    kind, default_topics = 'mine', 42\n",
        "wikitopics.models",
        mine="notes_package:Mine",
    )
    launch = Launcher(1)
    async with dialog(launch, (100, 50)) as (app, pilot):
        topics = app.screen.query_one("#topics-mine", Input)
        assert topics.placeholder == ""
        app.screen.query_one("#use-mine", Checkbox).value = True
        await seeing.until_true(lambda: topics.placeholder == "42")
        assert topics.value == ""
        topics.focus()
        await seeing.until(pilot, "Topics of each model")
        app.screen.query_one("#use-lda", Checkbox).value = False
        topics.value = "7"
        await seeing.choose_source(pilot, "counts")
        await seeing.type_into(pilot, "#option-counts", "/here.npz", shows="ended with code 1")
    given = "train --session night --source counts --counts /here.npz --model mine:topics=7"
    assert launch.started == [given.split()]


async def test_another_wikis_address_can_be_given(dialog):
    launch = Launcher(1)
    address = "http://127.0.0.1:9/w/api.php"
    async with dialog(launch, (100, 40)) as (_, pilot):
        await seeing.until(pilot, "Other wiki ")
        await seeing.type_into(pilot, "#option-api_url", address, shows="ended with code 1")
    assert launch.started[0][5:7] == ["--api-url", address]


async def test_a_new_session_is_started_and_opened(dialog, home, monkeypatch):
    monkeypatch.setenv("WIKITOPICS_CONTACT", "me@host.org")
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        await seeing.type_into(pilot, "#name", "evening")
        await seeing.until_true(lambda: app.path == home / "evening.db")
        await seeing.until(pilot, "Perplexity of")
    assert launch.started[0][:3] == ["train", "--session", "evening"]


async def test_a_trainer_that_fails_at_once_says_why(dialog, home, monkeypatch):
    monkeypatch.setenv("WIKITOPICS_CONTACT", "me@host.org")

    def launch(path, words):
        Path(f"{path}.log").write_text("wikitopics: the wiki is no wiki [/x]\n")
        return Process(2)

    async with dialog(launch, (100, 30)) as (app, pilot):
        await pilot.click("#go")
        assert "wikitopics: the" not in await seeing.until(pilot, "the wiki is no wiki [/x]")
        assert isinstance(app.screen, NewSession)
    assert not [*home.glob("*.log")]


async def test_a_dump_that_was_found_is_asked_about(dialog):
    started: list[list[str]] = []

    def launch(path, words):
        started.append(words)
        if len(started) % 2:
            Path(f"{path}.log").write_text(
                f"wikitopics: dewiki of 2026-11-01, 7.1 GB {NOBODY_ASKED}\n"
            )
            return Process(2)
        canned.build(path, canned.Recipe(state="starting", restarts=()))
        return Process()

    async with dialog(launch, (100, 30)) as (app, pilot):
        await seeing.choose_source(pilot, "counts")
        await seeing.until(pilot, "Word counts")
        app.screen.query_one("#option-counts", Input).value = "/words.npz"
        await pilot.click("#go")
        await seeing.until(pilot, "Before it starts")
        await seeing.press(pilot, "n", shows="nothing was started")
        started.clear()
        await pilot.click("#go")
        await seeing.until(pilot, "Before it starts")
        await seeing.press(pilot, "y", shows="STARTING")
    assert started[1] == [*started[0], "--yes"]


async def test_fields_are_checked_first(dialog, home):
    """Before anything is asked or written."""
    launch = Launcher()
    async with dialog(launch, (120, 40)) as (app, pilot):
        before = sorted(home.parent.rglob("*"))
        for field, value, why in (
            ("name", "../evil", "not a session name"),
            ("option-vocab", "klingon", "no vocabulary is called 'klingon'"),
            ("option-lang", "lo", "Lao is written without spaces"),
            ("option-lang", "n o", "give a language code"),
        ):
            entry = app.screen.query_one(f"#{field}", Input)
            valid = entry.value
            entry.value = value
            await seeing.press(pilot, "enter", shows=why)
            entry.value = valid
        assert isinstance(app.screen, NewSession)
        assert sorted(home.parent.rglob("*")) == before
    assert launch.started == []


async def test_a_dump_on_wikimedias_server_asks_for_the_contact(dialog):
    launch = Launcher()
    async with dialog(launch) as (_, pilot):
        await seeing.choose_source(pilot, "dump")
        address = "https://dumps.wikimedia.org/x.xml.bz2"
        await seeing.type_into(pilot, "#option-dump", address, shows="for Wikimedia")
    assert launch.started == []


# The contact: when it is asked for, what is done with the answer.


async def test_a_first_crawl_of_wikipedia_asks_for_the_contact(dialog, home):
    launch = Launcher()
    async with dialog(launch) as (_, pilot):
        await seeing.type_into(pilot, "#name", "", shows="the session needs a name")
        await seeing.type_into(pilot, "#name", "night", shows="for Wikimedia")
        await pilot.press("escape")
        assert "needs a name" not in await seeing.until(pilot, "Held out"), "that was wrong before"
        assert launch.started == []
        await seeing.press(pilot, "enter", shows="for Wikimedia")
        await seeing.press(pilot, *"me@host.org", "enter", shows="STARTING")
    assert 'contact = "me@host.org"' in (home / "config.toml").read_text()
    assert [words[:3] for words in launch.started] == [["train", "--session", "night"]]
    assert "me@host.org" not in launch.started[0]


async def test_a_contact_that_wikimedia_would_not_recognise_is_asked_for_again(
    dialog, home, monkeypatch
):
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        monkeypatch.setenv("WIKITOPICS_CONTACT", "name@163.com")
        await seeing.press(
            pilot, "enter", shows="$WIKITOPICS_CONTACT: "
        )  # no answer would replace it
        monkeypatch.delenv("WIKITOPICS_CONTACT")
        (home / "config.toml").write_text('contact = "me@yahoo.co.uk"\n')
        await seeing.press(pilot, "enter", shows="servers read only")
        assert app.screen.query_one("#address", Input).value == "me@yahoo.co.uk"
        assert launch.started == []
        await seeing.press(pilot, *"User:Me", "enter", shows="STARTING")
    assert 'contact = "[[User:Me]]"' in (home / "config.toml").read_text()


async def test_instead_of_a_contact_the_sample(dialog):
    launch = Launcher(1)
    async with dialog(launch) as (_, pilot):
        await seeing.press(pilot, "enter", shows="for Wikimedia")
        await pilot.click("#demo")
        await seeing.until(pilot, "ended with code 1")
    assert launch.started == [["demo", "--headless", "--pace", "90", "--session", "night"]]


async def test_the_contact_is_checked_and_kept(home):
    app = Contact(Signals())
    async with app.run_test(size=(80, 24)) as pilot:
        seen = await seeing.until(pilot, "What will be downloaded: ")
        assert "Wikipedia is run by a charity" in seen
        assert "Try the embedded sample" in seen
        assert "you@host.org, User:You or https://" in seen
        for size in ((40, 10), (20, 5), (80, 24)):
            await pilot.resize_terminal(*size)
            await seeing.until(pilot, "you@host.org")
            await seeing.press(pilot, "x", "enter", shows="the contact")
            await pilot.press("backspace")
        await seeing.press(pilot, *"me", "enter", shows="does not look like an e-mail")
        seen = await seeing.press(pilot, "@", "enter", shows="not a complete e-mail address ")
        assert "Save and start" in seen
        await pilot.press(*"x.org", "enter")
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == "saved"
    assert 'contact = "me@x.org"' in (home / "config.toml").read_text()


@pytest.mark.parametrize(("button", "answer"), [("#demo", "demo"), ("#quit", "quit")])
async def test_ways_around_the_contact(home, button, answer):
    app = Contact(Signals())
    async with app.run_test(size=(80, 24)) as pilot:
        await seeing.until(pilot, "Try the embedded sample")
        await pilot.click(button)
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == answer
    assert not (home / "config.toml").exists()
