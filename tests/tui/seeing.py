"""What a person would see: the screen as lines of text, and waiting until it shows something."""

import asyncio
import time
from typing import Any

from textual.pilot import Pilot
from textual.strip import Strip


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


async def until(pilot: Pilot[Any], words: str, patience: float = 60.0) -> str:
    """The screen once it shows ``words``."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        await asyncio.sleep(0.03)
        if words in text(pilot.app):
            await pilot.pause()  # let what has just begun come to its end
            return text(pilot.app)
    raise AssertionError(f"{words!r} never came on screen:\n{text(pilot.app)}")
