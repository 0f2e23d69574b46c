"""Film the replay of a session for the top of the README: topics as they take shape, then the map
of articles as it grows.

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
from wikitopics.tui.views.sky_map import SkyMap

SIZE = (110, 32)
"""Columns and lines: readable where a README is shown."""
POINTS = 52
"""How many points of the replay are shown on the dashboard, at the most."""
POINT_SECONDS = 0.15
"""How long each of them is shown."""
MAPS = 24
"""How many points of the replay are shown on the map of articles, at the most."""
MAP_SECONDS = 0.18
"""How long each of them is shown."""
FIRST_SECONDS = 1.2
"""How long the dashboard is shown before it moves."""
LAST_SECONDS = 1.4
"""How long it is shown when it has moved."""
END_SECONDS = 3.2
"""How long the whole map is shown at the end."""
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


async def played(app: Wikitopics, pilot: Pilot[Ending], most: int, seconds: float) -> list[Picture]:
    """The replay from beginning to end, in the view that is open.

    most: the maximum number of pictures; seconds: how long each is shown
    """
    replay = app.watched.replay
    if replay is None:
        sys.exit(f"{app.path}: no topics have been kept yet, so there is nothing to replay")
    pictures = []
    for place in places(len(replay.points), most):
        replay.index = place
        replay.playing = replay.articles < replay.points[-1]
        pictures.append(Picture(await drawn(app, pilot), seconds))
    return pictures


async def open_map(app: Wikitopics, pilot: Pilot[Ending]) -> None:
    """Open the map of articles; returns once it has been read."""
    await pilot.press("7")
    sky_map = app.main.view.query_one(SkyMap)
    while sky_map.sky is None:
        if sky_map.lack:
            sys.exit(f"{app.path}: {sky_map.lack}")
        await pilot.pause(DRAWN)


async def film(session: Path) -> str:
    """A session's replay as an SVG that moves."""
    app = opened(session)
    # no frame passes by itself while pictures are taken
    with mock.patch("wikitopics.tui.app.FRAME_SECONDS", 3600.0):
        async with app.run_test(size=SIZE) as pilot:
            while app.latest is None:
                await pilot.pause(0.1)
            await app.action_replay()
            dashboard = await played(app, pilot, POINTS, POINT_SECONDS)
            await open_map(app, pilot)
            maps = await played(app, pilot, MAPS, MAP_SECONDS)
    dashboard[0] = Picture(dashboard[0].svg, FIRST_SECONDS)
    dashboard[-1] = Picture(dashboard[-1].svg, LAST_SECONDS)
    maps[-1] = Picture(maps[-1].svg, END_SECONDS)
    pictures = [*dashboard, *maps]
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
