"""The contact: when it is asked for, what is done with the answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from tests.tui import seeing
from tests.tui.standins import Launcher
from wikitopics.session.signals import Signals
from wikitopics.tui.first_question import Contact

Opener = Callable[..., Any]
SIZES = [(20, 5), (40, 10), (80, 24)]


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


async def test_a_saved_contact_that_wikimedia_would_not_recognise_is_asked_for_again(
    dialog: Opener, home: Path
) -> None:
    launch = Launcher()
    async with dialog(launch) as (app, pilot):
        (home / "config.toml").write_text('contact = "me@yahoo.co.uk"\n')
        await pilot.press("enter")
        await seeing.until(pilot, "would not recognise")
        assert app.screen.query_one("#address", Input).value == "me@yahoo.co.uk"
        assert launch.started == []
        await pilot.press(*"User:Me", "enter")
        await seeing.until(pilot, "STARTING")
    assert 'contact = "[[User:Me]]"' in (home / "config.toml").read_text()


async def test_a_contact_of_an_older_kind_is_translated_without_a_question(
    dialog: Opener, home: Path
) -> None:
    launch = Launcher()
    async with dialog(launch) as (_, pilot):
        (home / "config.toml").write_text('contact = "w:User:Me"\n')
        await pilot.press("enter")
        await seeing.until(pilot, "STARTING")
    assert launch.started


async def test_no_answer_would_replace_the_environments_contact(
    dialog: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIKITOPICS_CONTACT", "name@163.com")
    launch = Launcher()
    async with dialog(launch) as (_, pilot):
        await pilot.press("enter")
        await seeing.until(pilot, "$WIKITOPICS_CONTACT: ")
    assert launch.started == []


async def test_instead_of_a_contact_the_sample(dialog: Opener) -> None:
    launch = Launcher(1)
    async with dialog(launch) as (_, pilot):
        await pilot.press("enter")
        await seeing.until(pilot, "for Wikimedia")
        await pilot.click("#demo")
        await seeing.until(pilot, "ended with code 1")
    assert launch.started == [["demo", "--headless", "--session", "night"]]


async def test_the_contact_is_checked_and_kept(home: Path) -> None:
    app = Contact(Signals())
    async with app.run_test(size=(80, 24)) as pilot:
        seen = await seeing.until(pilot, "What will be downloaded: ")
        assert "Wikipedia is run by a charity" in seen
        assert "Try the embedded sample" in seen
        await pilot.press(*"me", "enter")
        await seeing.until(pilot, "does not look like an e-mail")
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


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_contact_says_something_at_any_size(home: Path, size: tuple[int, int]) -> None:
    contact = Contact(Signals())
    async with contact.run_test(size=size) as pilot:
        await seeing.until(pilot, "you@host.org")
        await pilot.press("x", "enter")
        await seeing.until(pilot, "the contact")
