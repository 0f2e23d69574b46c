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

SIZE = 110, 32
"""Columns and lines: readable where a README is shown."""
POINTS = 52
BIRTHS = 20
"""How many points of the replay are shown on the dashboard, at the most; how many frames of the
births."""
SECONDS = 0.15, 0.16
"""How long each of them is shown."""
FIRST = 1.2
LAST = 1.4
END = 3.2
"""How long the dashboard is shown before it moves and after, and then the whole atlas."""
DRAWN = 0.4
"""Seconds without a change after which a screen has been drawn completely."""


def places(points: int, most: int) -> list[int]:
    """Which of a replay's points are shown: the first, the last, and others evenly spread between
    them."""
    shown = min(points, most)
    return [round(number * (points - 1) / max(shown - 1, 1)) for number in range(shown)]


async def drawn(app: Wikitopics, pilot: Pilot[Ending]) -> str:
    """The screen once it shows the replay's point and no longer changes."""
    app.watched.read_again()
    while (
        app.latest is None
        or app.watched.replay is None
        or app.latest.as_of != app.watched.replay.articles
    ):
        await pilot.pause(0.02)
    return await still(app, pilot)


async def still(app: Wikitopics, pilot: Pilot[Ending]) -> str:
    """The screen once it no longer changes."""
    before = ""
    now = picture(app)
    while before != now:
        await pilot.pause(DRAWN)
        before = now
        now = picture(app)
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
        pictures.append(Picture(await drawn(app, pilot), SECONDS[0]))
    return pictures


async def born(app: Wikitopics, pilot: Pilot[Ending]) -> list[Picture]:
    """The births of topics on the atlas, and then all of it."""
    atlas = app.screen.query_one("#atlas", TopicAtlas)
    while atlas.sheet is None:
        await pilot.pause(DRAWN)
    await pilot.press("r")
    await pilot.pause(1.0)
    pictures = []
    for _ in range(BIRTHS):
        pictures.append(Picture(await still(app, pilot), SECONDS[1]))
        for _ in range(FRAMES // BIRTHS):
            atlas.next_frame()
    return [*pictures, Picture(await still(app, pilot), END)]


async def film(session: Path) -> str:
    """A session's replay as an SVG that moves."""
    app = opened(session)
    by_hand = [  # nothing passes by while pictures are taken
        mock.patch(f"wikitopics.tui.{place}.FRAME_SECONDS", 3600.0)
        for place in ("app", "views.atlas")
    ]
    with by_hand[0], by_hand[1]:
        async with app.run_test(size=SIZE) as pilot:
            while app.latest is None:
                await pilot.pause(0.1)
            await app.action_replay()
            dashboard = await played(app, pilot)
            await app.action_replay()
            await pilot.press("7")
            topics = await born(app, pilot)
    dashboard[0] = Picture(dashboard[0].svg, FIRST)
    dashboard[-1] = Picture(dashboard[-1].svg, LAST)
    return flipbook([*dashboard, *topics], still=len(dashboard) + len(topics) - 1)


def main() -> None:
    given = [Path(argument) for argument in sys.argv[1:3]]
    out = given[1] if given[1:] else Path(__file__).with_name("replay.svg")
    os.environ["COLORTERM"] = "truecolor"
    if given:
        svg = asyncio.run(film(given[0]))
    else:
        with demo() as (session, trainer):
            trainer.wait()
            svg = asyncio.run(film(session))
    out.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
