"""Film the replay of a session for the top of the README: topics as they take shape, then when each
emerged.

    python docs/pictures/film.py [SESSION.db [OUT.svg]]     (default: replay.svg beside this file)

Without a session it trains one from the embedded sample first, which takes a minute or two. The
same session always gives the same film.
"""

import asyncio
import os
import sys
from pathlib import Path
from unittest import mock

from flipbook import Picture, flipbook
from make import demo, opened, picture
from textual.pilot import Pilot

from wikitopics.tui.app import Wikitopics
from wikitopics.tui.host import Ending
from wikitopics.tui.views.atlas import FRAMES, TopicAtlas

SIZE = (110, 32)
"""Columns and lines: readable where a README is shown."""
POINTS = 52
"""How many points of the replay are shown on the dashboard, at the most."""
POINT_SECONDS = 0.15
"""How long each of them is shown."""
BIRTHS = 20
"""How many pictures show the births of topics on the atlas."""
BIRTH_SECONDS = 0.16
"""How long each of them is shown."""
FIRST_SECONDS = 1.2
"""How long the dashboard is shown before it moves."""
LAST_SECONDS = 1.4
"""How long it is shown when it has moved."""
END_SECONDS = 3.2
"""How long the whole atlas is shown at the end."""
DRAWN = 0.4
"""Seconds without a change after which a screen has been drawn completely."""


def places(points: int, most: int) -> list[int]:
    """Which of a replay's points are shown: the first, the last, and others evenly spread between
    them."""
    shown = min(points, most)
    if shown == 1:
        return [0]
    return [round(number * (points - 1) / (shown - 1)) for number in range(shown)]


async def drawn(app: Wikitopics, pilot: Pilot[Ending]) -> str:
    """The screen once it shows the replay's point and no longer changes."""
    app.watched.read_again()
    while not shows_the_point(app):
        await pilot.pause(0.02)
    return await still(app, pilot)


def shows_the_point(app: Wikitopics) -> bool:
    """Whether the screen has what it is to show of the replay."""
    if app.latest is None or app.watched.replay is None:
        return False
    return app.latest.as_of == app.watched.replay.articles


async def still(app: Wikitopics, pilot: Pilot[Ending]) -> str:
    """The screen once it no longer changes."""
    now = picture(app)
    while True:
        await pilot.pause(DRAWN)
        before = now
        now = picture(app)
        if now == before:
            return now


async def played(app: Wikitopics, pilot: Pilot[Ending]) -> list[Picture]:
    """The replay from beginning to end, on the dashboard."""
    replay = app.watched.replay
    if replay is None:
        sys.exit(f"{app.path}: no topics have been kept yet, so there is nothing to replay")
    pictures = []
    for place in places(len(replay.points), POINTS):
        replay.index = place
        replay.playing = replay.articles < replay.points[-1]
        pictures.append(Picture(await drawn(app, pilot), POINT_SECONDS))
    return pictures


async def born(app: Wikitopics, pilot: Pilot[Ending]) -> list[Picture]:
    """The births of topics on the atlas, and then the whole atlas."""
    atlas = app.main.view.query_one(TopicAtlas)
    if not atlas.display:
        await pilot.press("v")
    while atlas.sheet is None:
        await pilot.pause(DRAWN)
    await pilot.press("r")
    await pilot.pause(1.0)
    pictures = []
    for _ in range(BIRTHS):
        pictures.append(Picture(await still(app, pilot), BIRTH_SECONDS))
        for _ in range(FRAMES // BIRTHS):
            atlas.next_frame()
    pictures.append(Picture(await still(app, pilot), END_SECONDS))
    return pictures


async def film(session: Path) -> str:
    """A session's replay as an SVG that moves."""
    app = opened(session)
    # no frame passes by itself while pictures are taken
    with (
        mock.patch("wikitopics.tui.app.FRAME_SECONDS", 3600.0),
        mock.patch("wikitopics.tui.views.atlas.FRAME_SECONDS", 3600.0),
    ):
        async with app.run_test(size=SIZE) as pilot:
            while app.latest is None:
                await pilot.pause(0.1)
            await app.action_replay()
            dashboard = await played(app, pilot)
            await app.action_replay()
            await pilot.press("7")
            topics = await born(app, pilot)
    dashboard[0] = Picture(dashboard[0].svg, FIRST_SECONDS)
    dashboard[-1] = Picture(dashboard[-1].svg, LAST_SECONDS)
    pictures = [*dashboard, *topics]
    return flipbook(pictures, still=len(pictures) - 1)


def main() -> None:
    arguments = [Path(argument) for argument in sys.argv[1:]]
    out = arguments[1] if len(arguments) > 1 else Path(__file__).with_name("replay.svg")
    os.environ["COLORTERM"] = "truecolor"
    if arguments:
        svg = asyncio.run(film(arguments[0]))
    else:
        with demo() as (session, trainer):
            trainer.wait()
            svg = asyncio.run(film(session))
    out.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
