"""Keys and commands that come before there is anything to see: they wait for it, or do nothing."""

import asyncio
import functools

import pytest
from textual import events
from textual.command import CommandPalette
from textual.widgets import Input

from tests.tui import canned, seeing
from tests.tui.opening import KEYS, is_open
from tests.tui.standins import Process
from wikitopics.tui.app import Wikitopics
from wikitopics.tui.follow import Watch
from wikitopics.tui.lists import RowList
from wikitopics.tui.main_screen import Main
from wikitopics.tui.questions import EVERY, Starting
from wikitopics.tui.terminal import keymap
from wikitopics.tui.views.dashboard import Dashboard

PLACES = [place for place in keymap() if place not in ("bar", "stay", "always")]
EVERY_KEY = sorted(
    {key for place in PLACES for one in keymap()[place].values() for key in one["keys"].split(",")}
)
"""All keys of the screen, under Textual's names."""
ENDS = ("q", "ctrl+c", "ctrl+q")
STEPS = [
    (Main, "compose"),
    (Main, "on_mount"),
    (Main, "open_view"),
    (Dashboard, "compose"),
    (Dashboard, "on_mount"),
]
"""What happens until the first view can be seen, in order."""


def type_keys(app: Wikitopics, *keys: str) -> None:
    """Type these keys, whatever the app is doing."""
    for key in keys:
        character = key if len(key) == 1 else None
        app.post_message(events.Key(key, character))


def at_step(monkeypatch, owner, step, act):
    """Call ``act`` with the app when this step of a widget begins for the first time."""
    whole = getattr(owner, step)
    begun = []

    @functools.wraps(whole)
    def first(widget, *given):
        if not begun:
            begun.append(step)
            act(widget.app)
        return whole(widget, *given)

    monkeypatch.setattr(owner, step, first)
    return begun


@pytest.mark.parametrize(("owner", "step"), STEPS)
async def test_every_key_typed_ahead(open_app, live, tmp_path, monkeypatch, owner, step):
    """One after the other, with Esc to close what it may have opened."""
    monkeypatch.chdir(tmp_path)
    keys = [key for key in (*EVERY_KEY, "ctrl+p", "enter") if key not in (*ENDS, "ctrl+z")]
    assert len(keys) > 40
    begun = at_step(
        monkeypatch,
        owner,
        step,
        lambda app: type_keys(app, *(one for key in keys for one in (key, "escape"))),
    )
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        while len(app.screen_stack) > 1:
            await pilot.press("escape")
        # What the keys have chosen there depends on which view was open when each was read.
        await seeing.press(pilot, "escape", "1", shows="after 12,480 articles")
        assert is_open(app, "Dashboard")
    assert begun


@pytest.mark.parametrize(("owner", "step"), STEPS)
async def test_what_is_typed_ahead_is_not_lost(open_app, live, monkeypatch, owner, step):
    at_step(monkeypatch, owner, step, lambda app: type_keys(app, "3", "7"))
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until(pilot, "Atlas · ")
        assert is_open(app, "Atlas")


@pytest.mark.parametrize(("owner", "step"), STEPS)
async def test_the_palette_opens_over_the_first_view(open_app, live, monkeypatch, owner, step):
    at_step(monkeypatch, owner, step, lambda app: type_keys(app, "ctrl+p"))
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until_true(lambda: CommandPalette.is_open(app))
        await seeing.until(pilot, "Close this screen")
        await seeing.press(pilot, "escape", shows="lda 1,3")


def palette_holds(app, words):
    return CommandPalette.is_open(app) and [field.value for field in app.screen.query(Input)] == [
        words
    ]


@pytest.mark.parametrize(("owner", "step"), STEPS)
async def test_words_typed_ahead_for_the_palette_reach_it_in_order(
    open_app,
    live,
    monkeypatch,
    owner,
    step,
):
    at_step(monkeypatch, owner, step, lambda app: type_keys(app, "ctrl+p", *"atlas"))
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until_true(lambda: palette_holds(app, "atlas"))
        await seeing.press(pilot, "escape", shows="lda 1,3")


async def test_words_typed_at_once_after_the_palettes_key_reach_it(shown, live):
    async with shown(live, size=(120, 40)) as (app, _):
        type_keys(app, "ctrl+p", *"atlas")
        await seeing.until_true(lambda: palette_holds(app, "atlas"))


async def test_the_palette_stays_open_while_the_session_begins(open_app, tmp_path, monkeypatch):
    """Typed ahead while the dialog of the start is in front."""
    at_step(monkeypatch, Main, "compose", lambda app: type_keys(app, "ctrl+p", *"atlas"))
    path = tmp_path / "new.db"
    app = open_app(path, trainer=Process())
    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until_true(lambda: palette_holds(app, "atlas"))
        assert isinstance(app.screen_stack[1], Starting)
        canned.build(path)
        await asyncio.sleep(3 * EVERY)
        assert palette_holds(app, "atlas")
        await pilot.press("escape", "escape")
        await seeing.until_true(lambda: app.screen is app.main)


@pytest.mark.parametrize("key", ENDS)
async def test_a_key_that_closes_the_screen_does_not_wait_for_a_view(
    open_app,
    live,
    monkeypatch,
    key,
):
    async def hangs(dashboard):
        type_keys(dashboard.app, "7", key)
        # Until it ends, not for ever: Textual waits for it before it closes.
        await seeing.until_true(lambda: dashboard.app.return_code is not None)

    monkeypatch.setattr(Dashboard, "on_mount", hangs)
    app = open_app(live)
    async with asyncio.timeout(60):
        await app.run_async(headless=True)
    assert app.return_code == 0


async def every_command(app, pilot, done):
    """Run everything that the palette lists but for what is ``done``, and close what it opens."""
    for command in list(app.get_system_commands(app.screen)):
        if (
            command.title.startswith(("Close this screen", "Suspend the screen"))
            or command.title in done
        ):
            continue
        work = command.callback()
        if work is not None:
            await work
        await pilot.pause()
        done.add(command.title)
        while len(app.screen_stack) > 1 or app.main.finding:
            await pilot.press("escape")


@pytest.fixture
def unread(monkeypatch):
    """No reading of a session comes to its end."""
    never = asyncio.Event()

    async def never_ends(watch, wanted, *, by_probability):
        await never.wait()

    monkeypatch.setattr(Watch, "update", never_ends)


@pytest.mark.usefixtures("unread")
async def test_every_key_and_command_before_the_first_look(shown, live, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = set()
    commands = set()
    async with shown(live, size=(120, 40)) as (app, pilot):
        for title, opens in KEYS.items():
            await pilot.press(*opens)
            await seeing.until_true(lambda title=title: is_open(app, title))
            for key in EVERY_KEY:
                active = app.screen.active_bindings.get(key)
                means = (key, active and (active.binding.action, type(active.node)))
                if key in (*ENDS, "ctrl+z") or key.isdigit() or means in done:
                    continue
                done.add(means)
                await pilot.press(key)
                while len(app.screen_stack) > 1 or app.main.finding:
                    await pilot.press("escape")
            await pilot.press("escape", *opens)
            await seeing.until_true(lambda title=title: is_open(app, title))
            await every_command(app, pilot, commands)
        assert {key for key, _ in done} == {
            key for key in EVERY_KEY if key not in (*ENDS, "ctrl+z") and not key.isdigit()
        }
        assert len(commands) > 20
        assert "opening" in seeing.text(app)


async def test_every_key_and_command_while_there_is_no_session_yet(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with shown(tmp_path / "new.db", trainer=Process(), size=(120, 40)) as (app, pilot):
        await seeing.until_true(lambda: isinstance(app.screen, Starting))
        for key in (*EVERY_KEY, "ctrl+p"):
            if key in (*ENDS, "ctrl+z", "escape", "enter"):
                continue
            await pilot.press(key)
            if not isinstance(app.screen, Starting):
                await pilot.press("escape")
            assert isinstance(app.screen, Starting), key
        for command in list(app.get_system_commands(app.screen)):
            if not command.title.startswith(("Close this screen", "Suspend the screen")):
                work = command.callback()
                if work is not None:
                    await work
                await pilot.pause()
                while len(app.screen_stack) > 1 and not isinstance(app.screen, Starting):
                    await pilot.press("escape")
                assert isinstance(app.screen, Starting), command.title


async def test_keys_typed_while_a_view_or_the_line_to_find_opens_are_not_lost(shown, live):
    async with shown(live, size=(100, 30), words="film, actor") as (app, pilot):
        for view, rows in (("2", "#all-topics"), ("1", "#topics")):
            for key in (view, "down", "down"):  # at once, as a terminal sends what was typed ahead
                app.post_message(events.Key(key, None))
            async with asyncio.timeout(60):
                while not any(
                    listed.cursor >= 2 for listed in app.screen.query(rows).results(RowList)
                ):
                    await pilot.pause(0.05)
        theme = app.theme
        app.post_message(events.Key("slash", "/"))
        for letter in "talk":  # at once, as when it is pasted
            app.post_message(events.Key(letter, letter))
        await seeing.until(pilot, "Topics with “talk”")
        assert app.theme == theme, "t is a key of its own elsewhere"
