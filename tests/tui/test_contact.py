"""The contact: when it is asked for, what is done with the answer."""

from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui import seeing
from tests.tui.seeing import Opener
from tests.tui.standins import Launcher
from wikitopics.session.system import Signals
from wikitopics.tui.questions import Contact


async def test_a_first_crawl_of_wikipedia_asks_for_the_contact(dialog: Opener, home: Path) -> None:
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        app.screen.query_one("#name", Input).value = ""
        await seeing.press(pilot, "enter", shows="the session needs a name")
        app.screen.query_one("#name", Input).value = "night"
        await seeing.press(pilot, "enter", shows="for Wikimedia")
        await pilot.press("escape")
        assert "needs a name" not in await seeing.until(pilot, "Held out"), "that was wrong before"
        assert launch.started == []
        await seeing.press(pilot, "enter", shows="for Wikimedia")
        await seeing.press(pilot, *"me@host.org", "enter", shows="STARTING")
    assert 'contact = "me@host.org"' in (home / "config.toml").read_text()
    assert [words[:3] for words in launch.started] == [["train", "--session", "night"]]
    assert "me@host.org" not in launch.started[0]


async def test_a_contact_that_wikimedia_would_not_recognise_is_asked_for_again(
    dialog: Opener, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        monkeypatch.setenv("WIKITOPICS_CONTACT", "name@163.com")
        await seeing.press(pilot, "enter", shows="$WIKITOPICS_CONTACT: ")  # no answer would replace it
        monkeypatch.delenv("WIKITOPICS_CONTACT")
        (home / "config.toml").write_text('contact = "me@yahoo.co.uk"\n')
        await seeing.press(pilot, "enter", shows="would not recognise")
        assert app.screen.query_one("#address", Input).value == "me@yahoo.co.uk"
        assert launch.started == []
        await seeing.press(pilot, *"User:Me", "enter", shows="STARTING")
    assert 'contact = "[[User:Me]]"' in (home / "config.toml").read_text()


async def test_an_older_contact_is_translated(dialog: Opener, home: Path) -> None:
    async with dialog(Launcher()) as (_, pilot):
        (home / "config.toml").write_text('contact = "w:User:Me"\n')
        await seeing.press(pilot, "enter", shows="STARTING")


async def test_instead_of_a_contact_the_sample(dialog: Opener) -> None:
    launch = Launcher(1)
    async with dialog(launch) as (_, pilot):
        await seeing.press(pilot, "enter", shows="for Wikimedia")
        await pilot.click("#demo")
        await seeing.until(pilot, "ended with code 1")
    assert launch.started == [["demo", "--headless", "--session", "night"]]


async def test_the_contact_is_checked_and_kept(home: Path) -> None:
    app = Contact(Signals())
    async with app.run_test(size=(80, 24)) as pilot:
        seen = await seeing.until(pilot, "What will be downloaded: ")
        assert "Wikipedia is run by a charity" in seen
        assert "Try the embedded sample" in seen
        await seeing.press(pilot, *"me", "enter", shows="does not look like an e-mail")
        await pilot.press(*"@x.org", "enter")
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == "saved"
    assert 'contact = "me@x.org"' in (home / "config.toml").read_text()


@pytest.mark.parametrize(("button", "answer"), [("#demo", "demo"), ("#quit", "quit")])
async def test_ways_around_the_contact(home: Path, button: str, answer: str) -> None:
    app = Contact(Signals())
    async with app.run_test(size=(80, 24)) as pilot:
        await seeing.until(pilot, "Try the embedded sample")
        await pilot.click(button)
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == answer
    assert not (home / "config.toml").exists()


async def test_the_contact_says_something_at_any_size() -> None:
    contact = Contact(Signals())
    async with contact.run_test(size=(80, 24)) as pilot:
        for size in ((80, 24), (40, 10), (20, 5)):
            await pilot.resize_terminal(*size)
            await seeing.until(pilot, "you@host.org")
            await seeing.press(pilot, "x", "enter", shows="the contact")
            await pilot.press("backspace")
