"""Export, new session, contact: what they ask, what they do with the answers."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import canned
import pytest
import seeing
from textual.widgets import Input, Select

from session.errors import SessionError
from tui.contact import Contact
from tui.dialogs.newsession import NewSession, Wish, arguments

Opener = Callable[..., Any]
LDA = (("lda", "100"),)


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
        app.screen.query_one("#file", Input).value = str(tmp_path)
        await pilot.click("#go")
        await seeing.until(pilot, "name a file in the folder")


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (
            Wish("night", "api", "en", "", "english", "1000", LDA),
            "train --session night --source api --model lda:topics=100 --held-out 1000",
        ),
        (
            Wish("de", "recent", "de", "", "de.txt", "", (("lda", "50"), ("hdp", "300"))),
            "train --session de --source recent --lang de --vocab de.txt"
            " --model lda:topics=50 --model hdp:topics=300",
        ),
        (
            Wish("d", "dump", "en", "x.xml.bz2", "english", "", (("scvb0", "20"),)),
            "train --session d --source dump --dump x.xml.bz2 --model scvb0:topics=20",
        ),
        (Wish("toy", "demo", "en", "", "", "", ()), "demo --headless --session toy"),
    ],
)
def test_wishes_become_words_of_the_command_line(wish: Wish, words: str) -> None:
    assert arguments(wish) == words.split()


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (Wish("", "api", "en", "", "", "", LDA), "needs a name"),
        (Wish("a b", "api", "en", "", "", "", LDA), "no session name"),
        (Wish("n", "dump", "en", "", "", "", LDA), "needs a file"),
        (Wish("n", "api", "en", "", "", "", ()), "at least one model"),
        (Wish("n", "api", "en", "", "", "", (("lda", "0"),)), "topics must be from 1"),
        (Wish("n", "api", "en", "", "", "many", LDA), "whole number"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_in_one_line(wish: Wish, why: str) -> None:
    with pytest.raises(SessionError, match=why):
        arguments(wish)


class Process:
    """A trainer that ends at once, or not."""

    def __init__(self, code: int | None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code


async def test_a_new_session_is_started_and_opened(
    open_app: Opener, live: Path, home: Path, monkeypatch: Any
) -> None:
    home.mkdir()
    started: list[list[str]] = []

    def launch(path: Path, words: list[str]) -> Process:
        started.append(words)
        canned.build(path, canned.Recipe(state="starting", restarts=()))
        return Process(None)

    monkeypatch.setattr("tui.app.start_trainer", launch)
    app = open_app(live)
    async with app.run_test(size=(80, 24)) as pilot:
        await seeing.until(pilot, "LIVE")
        await pilot.press("6", "n")
        await seeing.until(pilot, "New session")
        await pilot.pause()
        app.screen.query_one("#name", Input).value = "evening"
        await pilot.press("enter")
        for _ in range(100):
            if app.path == home / "evening.db":
                break
            await pilot.pause(0.05)
        assert app.path == home / "evening.db"
        await seeing.until(pilot, "Perplexity of")
    assert started[0][:3] == ["train", "--session", "evening"]


async def test_a_trainer_that_fails_at_once_says_why(
    open_app: Opener, live: Path, home: Path, monkeypatch: Any
) -> None:
    home.mkdir()

    def launch(path: Path, words: list[str]) -> Process:
        Path(f"{path}.log").write_text("wikitopics: no contact is known [/x]\n")
        return Process(2)

    monkeypatch.setattr("tui.app.start_trainer", launch)
    app = open_app(live)
    async with app.run_test(size=(100, 30)) as pilot:
        await seeing.until(pilot, "LIVE")
        await pilot.press("6", "n")
        await seeing.until(pilot, "New session")
        await pilot.click("#go")
        await seeing.until(pilot, "no contact is known [/x]")
        assert isinstance(app.screen, NewSession)


def contact_app(kept: list[str]) -> Contact:
    return Contact(lambda text: None if "@" in text else "no address in it", kept.append, "not much")


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
    assert app.return_value == "saved"
    assert kept == ["me@x.org"]


@pytest.mark.parametrize(("button", "answer"), [("#demo", "demo"), ("#quit", "quit")])
async def test_ways_around_the_contact(button: str, answer: str) -> None:
    kept: list[str] = []
    app = contact_app(kept)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(button)
    assert app.return_value == answer
    assert kept == []
