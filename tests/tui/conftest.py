"""Canned sessions, one of each kind a test run, and the app on them."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.css import stylesheet
from textual.css.model import RuleSet
from textual.css.tokenizer import Token
from textual.pilot import Pilot

from tests.tui import canned, seeing
from tests.tui.standins import start_nothing
from tests.tui.terminals import Terminal
from wikitopics.session.control import Trainers
from wikitopics.tui.app import Wikitopics
from wikitopics.tui.terminal import Preferences


@pytest.fixture(autouse=True)
def capable_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever terminal the tests run in, or none: the screen is drawn for a good one."""
    monkeypatch.setattr("wikitopics.tui.terminal.plain_terminal", lambda: False)
    monkeypatch.setattr("wikitopics.tui.terminal.speaks_utf8", lambda: True)
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in ("COLORFGBG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True, scope="session")
def sheets_read_once() -> Iterator[None]:
    """Parse the style sheets, ours and Textual's, once for all apps that look the same."""
    parse = stylesheet.parse
    tokenize = stylesheet.tokenize_values
    parsed: dict[tuple[object, ...], list[RuleSet]] = {}
    tokens: dict[tuple[tuple[str, str], ...], dict[str, list[Token]]] = {}

    def tokenized(values: dict[str, str]) -> dict[str, list[Token]]:
        key = tuple(values.items())
        if key not in tokens:
            tokens[key] = tokenize(values)
        return tokens[key]

    def rules(
        scope: str,
        css: str,
        read_from: object,
        *,
        variable_tokens: Any,
        **more: Any,
    ) -> list[RuleSet]:
        key = (scope, css, read_from, id(variable_tokens), *more.items())
        if key not in parsed:
            parsed[key] = list(
                parse(scope, css, read_from, variable_tokens=variable_tokens, **more)
            )
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stylesheet, "parse", rules)
        patch.setattr(stylesheet, "tokenize_values", tokenized)
        yield


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn animations off, and look soon at what a trainer has saved: but each look draws, and many
    in a second slow all tests down."""
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr("wikitopics.tui.app.POLL_SECONDS", 0.3)
    monkeypatch.setattr("wikitopics.tui.follow.FULL_EVERY", 0.3)


@pytest.fixture(autouse=True)
def ends_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and pauses end when all that they lead to at once has happened and is drawn.

    By itself a pilot waits for the process to be idle, and takes one for idle that others keep from
    its core. And it sends each widget a message to see it handled, several times for each key, which
    is most of what a screen of many widgets does: that is needed only where something goes on.
    """
    press = Pilot.press
    pause = Pilot.pause
    wait_for_screen = Pilot._wait_for_screen

    async def waited(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
        await asyncio.sleep(0)
        return seeing.at_rest(pilot.app) or await wait_for_screen(pilot, timeout)

    async def pressed(pilot: Pilot[Any], *keys: str) -> None:
        for key in keys:
            await press(pilot, key)
            await seeing.settled(pilot)

    async def paused(pilot: Pilot[Any], delay: float | None = None) -> None:
        await pause(pilot, delay)
        await seeing.settled(pilot)

    monkeypatch.setattr(Pilot, "_wait_for_screen", waited)
    monkeypatch.setattr(Pilot, "press", pressed)
    monkeypatch.setattr(Pilot, "pause", paused)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a test takes longer than a trainer that lives keeps silent, or a notice is
    shown."""
    monkeypatch.setattr("wikitopics.session.storage.reader.STALE_SECONDS", 600.0)
    monkeypatch.setattr("textual.app.App.NOTIFICATION_TIMEOUT", 600)


@pytest.fixture(scope="session")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with lda and hdp; nobody may write to it."""
    return canned.build(
        tmp_path_factory.mktemp("canned") / "two.db", canned.Recipe(models=("lda", "hdp"))
    )


@pytest.fixture
def live(two_models: Path) -> Iterator[Path]:
    """The same, held by a trainer (this process)."""
    with canned.live(two_models):
        yield two_models


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Path]:
    """A session that a trainer holds and the test may `canned.grow`."""
    path = canned.build(tmp_path / "growing.db")
    with canned.live(path):
        yield path


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, bool]]:
    """What trainers are asked, in place of their hearing it."""
    asked: list[dict[str, bool]] = []
    monkeypatch.setattr("wikitopics.session.control.ask", lambda _, **what: asked.append(what))
    return asked


@pytest.fixture
def open_app(told, monkeypatch):
    """Make the app on a session; in the end its file is closed.

    ``trainer``: one that was started for it already. ``launch`` stands for starting the processes
    of others.
    """
    made: list[Wikitopics] = []

    def make(path, *, trainer=None, launch=start_nothing, keys=None, notify_by=None):
        more = {"preferences": Preferences(keys=keys or {}), "notify_by": notify_by}
        trainers = Trainers()
        if trainer is not None:
            monkeypatch.setattr("wikitopics.session.control.start_trainer", lambda *_: trainer)
            trainers.start(path, ["train", "--session", path.stem])
        monkeypatch.setattr("wikitopics.session.control.start_trainer", launch)
        made.append(Wikitopics(path, trainers=trainers, trainer=trainer, **more))
        return made[-1]

    yield make
    for app in made:
        app.watched.close(wait=True)


@pytest.fixture
def shown(open_app: Callable[..., Wikitopics]) -> Callable[..., Any]:
    """Runs the app on a session, and returns once it shows ``words``:
    ``async with shown(path, size=(80, 24)) as (app, pilot)``."""

    @contextlib.asynccontextmanager
    async def running(path, *, size=(80, 24), words="", **more):
        app = open_app(path, **more)
        async with app.run_test(size=size) as pilot:
            if words:
                await seeing.until(pilot, words)
            yield app, pilot

    return running


@pytest.fixture
def opened() -> Iterator[Callable[[str], Terminal]]:
    """Runs a program in a terminal of its own."""
    made: list[Terminal] = []

    def start(code: str) -> Terminal:
        made.append(Terminal(code))
        return made[-1]

    yield start
    for terminal in made:
        terminal.close()
