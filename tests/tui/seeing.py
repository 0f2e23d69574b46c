"""What a person would see: the screen as lines of text, and waiting until it shows something."""

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Any

from textual.pilot import Pilot, WaitForScreenTimeout
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Input, Select

from tests import waiting


def strips(app: Any) -> list[Strip]:
    """The whole screen, line by line, in its colours; Textual has no public way to ask for it."""
    return list(app.screen._compositor.render_strips(app.screen.size))


def lines(app: Any) -> list[str]:
    """The whole screen as text."""
    width, height = app.size
    return ["".join(segment.text for segment in strip)[:width] for strip in strips(app)][:height]


def notices(app: Any) -> list[str]:
    """The app's notifications, the newest last."""
    return [notice.message for notice in app._notifications]


def text(app: Any) -> str:
    return "\n".join(lines(app))


until_true = partial(waiting.until_true, seconds=60.0)


def at_rest(app: Any) -> bool:
    """Whether the app, the screen in front and its widgets all wait for a message: none is being
    handled."""
    if not app.is_running or app._exit:
        return False
    screen = app.screen
    queues = [one._message_queue for one in (app, *screen.walk_children(with_self=True))]
    return not screen._callbacks and all(
        queue.empty() and queue.ready_event._waiters for queue in queues
    )


async def settled(pilot: Pilot[Any]) -> None:
    """Return once nothing is left to be handled or drawn, but for what threads and timers will
    bring."""
    app = pilot.app
    quiet = 0
    for _ in range(100):  # timers that are late may always have brought something more
        if quiet == 2 or not app.is_running or app._exit:
            return
        screen = app.screen
        is_drawn = not (screen._layout_required or screen._dirty_widgets)
        quiet = quiet + 1 if is_drawn and at_rest(app) else 0
        try:
            await pilot._wait_for_screen()
        except WaitForScreenTimeout:
            if not app._exit:
                raise
        screen._on_timer_update()


def in_sight(app: Any) -> bool:
    """Whether what has the focus can be seen."""
    return bool(app.screen.find_widget(app.screen.focused).visible_region.area)


async def type_into(pilot: Pilot[Any], field: str, text: str, *, shows: str = "") -> None:
    """Write this in a field of the dialog in front, press Enter in it; returns once it shows these
    words."""
    line = pilot.app.screen.query_one(field, Input)
    line.value = text
    pilot.app.screen.set_focus(line)
    await press(pilot, "enter", shows=shows)


async def choose_source(pilot: Pilot[Any], source: str) -> None:
    """Choose it in the dialog for a new session; return once the field with its files is there."""
    pilot.app.screen.query_one("#source", Select).value = source
    await until_true(lambda: pilot.app.screen.query_one(f"#option-{source}").region)


async def choose(pilot: Pilot[Any], what: str) -> None:
    """Choose what the dialog for exports writes, as CSV; return once it names the file."""
    pilot.app.screen.query_one("#what", Select).value = what
    await until(pilot, f"-{what}.csv")


async def export(pilot: Pilot[Any], target: Path) -> None:
    """Have the dialog for exports write this file."""
    pilot.app.screen.query_one("#file", Input).value = str(target)
    await pilot.click("#go")


async def in_front(pilot: Pilot[Any], kind: type[Screen[Any]], *keys: str) -> None:
    """Press these keys; return once a dialog of this kind is in front and takes what is typed."""
    app = pilot.app
    await pilot.press(*keys)
    await until_true(lambda: isinstance(app.screen, kind) and app.screen.focused is not None)
    await pilot.pause()


async def until(pilot: Pilot[Any], words: str) -> str:
    """The screen once it shows ``words``."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        await asyncio.sleep(0.03)
        if words in text(pilot.app):
            await pilot.pause()  # let what has just begun come to its end
            return text(pilot.app)
    raise AssertionError(f"{words!r} never came on screen:\n{text(pilot.app)}")


async def press(pilot: Pilot[Any], *keys: str, shows: str) -> str:
    """Press these keys; returns the screen once it shows these words."""
    await pilot.press(*keys)
    return await until(pilot, shows)
