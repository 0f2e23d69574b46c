"""What each view looks like, as text, at three sizes; that dark and light differ in colour only;
the README.

The pictures lie in `snapshots/`. After a wanted change of a view, `WIKITOPICS_DRAW=1 pytest
tests/tui/test_pictures.py` draws them anew; look at the difference before committing it.
"""

import difflib
import os
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tui import canned, seeing
from wikitopics.tui.text import EIGHTHS

FOLDER = Path(__file__).parent / "snapshots"
SIZES = {"small": (80, 24), "middle": (120, 40), "large": (200, 60)}
VIEWS = {
    "dashboard": ("1", "film, actor"),
    "topics": ("2", "50 topics after"),
    "articles": ("3", "Articles read"),
    "crawl": ("4", "latency"),
    "log": ("5", "saved at"),
    "sessions": ("6", "● still"),
    "map": ("7", "Atlas · 228 articles"),
    "atlas": ("7v", "Atlas · 49 topics"),
    "emergence": ("7vE", "over time"),
}


@pytest.fixture(autouse=True)
def first_turn(monkeypatch):
    """The spotlight stays on one article."""
    monkeypatch.setattr("wikitopics.tui.views.dashboard.TURN", float("inf"))


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """A finished session: nothing in it moves."""
    path = tmp_path_factory.mktemp("still") / "still.db"
    recipe = canned.Recipe(models=("lda", "hdp"), state="finished")
    return canned.lay_out(canned.build(path, recipe), recipe)


def settled(lines):
    """Without what depends on the clock: ages, times of day."""
    text = "\n".join(line.rstrip() for line in lines)
    text = re.sub(r"\d\d:\d\d:\d\d(?= (training|saved|warning|429))", "HH:MM:SS", text)
    text = re.sub(r"\d{4}-\d\d-\d\d (?=HH)", "YYYY-MM-DD ", text)
    text = re.sub(
        r"(?:<1 s|\d+ s|\d+ min) ago *", lambda age: "X s ago".ljust(len(age.group())), text
    )
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


async def drawn_like(pilot, kept):
    """The screen once it looks like the picture that is kept; else what it still looks like after
    long.

    On a busy machine panels may be finding their places for a while.
    """
    looks = 3 if os.environ.get("WIKITOPICS_DRAW") else 200
    for _ in range(looks):
        await pilot.pause(0.3)
        drawn = settled(seeing.lines(pilot.app))
        if not kept.exists() or drawn == kept.read_text(encoding="utf-8"):
            break
    return drawn


@pytest.mark.parametrize("size", SIZES)
async def test_views_look_as_they_did(shown, still, size, monkeypatch):
    monkeypatch.setenv("WIKITOPICS_HOME", str(still.parent))
    drawn: dict[str, str] = {}
    async with shown(still, size=SIZES[size], words="lda 1,3") as (_, pilot):
        for view, (key, words) in VIEWS.items():
            await seeing.press(pilot, *key, shows=words)
            drawn[view] = await drawn_like(pilot, FOLDER / f"{view}-{size}.txt")
    compare(drawn, size)


async def test_wide_letters_look_as_they_did_and_stay_within_the_screen(
    shown, tmp_path, monkeypatch
):
    monkeypatch.setenv("WIKITOPICS_HOME", str(tmp_path))
    recipe = canned.Recipe(state="finished", wide=True)
    path = canned.lay_out(canned.build(tmp_path / "still.db", recipe), recipe)
    drawn: dict[str, str] = {}
    async with shown(path, size=SIZES["small"], words="lda 1,") as (_, pilot):
        for view, (key, words) in VIEWS.items():
            if key in ("1", "2", "3", "7", "7v"):
                words = "film".translate(canned.WIDE) if key == "1" else words
                await seeing.press(pilot, *key, shows=words)
                drawn[view] = await drawn_like(pilot, FOLDER / f"{view}-wide.txt")
    assert {cell_len(line) <= 80 for text in drawn.values() for line in text.splitlines()} == {True}
    compare(drawn, "wide")


def compare(drawn, size):
    """Whether views look as in the pictures; with WIKITOPICS_DRAW, they are the pictures."""
    for view, text in drawn.items():
        path = FOLDER / f"{view}-{size}.txt"
        if os.environ.get("WIKITOPICS_DRAW"):
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        before = path.read_text(encoding="utf-8")
        if text != before:
            changes = difflib.unified_diff(
                before.splitlines(),
                text.splitlines(),
                "before",
                "now",
                n=0,
            )
            pytest.fail(f"{view} at {size} looks different:\n" + "\n".join(changes), pytrace=False)


async def test_light_and_dark_say_the_same_in_other_colours(shown, still, monkeypatch):
    monkeypatch.setenv("WIKITOPICS_HOME", str(still.parent))
    said: list[dict[str, str]] = []
    painted: list[set[int]] = []
    async with shown(still, size=(120, 40), words="lda 1,3") as (app, pilot):
        for _ in ("dark", "light"):
            said.append({})
            painted.append(set())
            for view, (key, words) in VIEWS.items():
                await seeing.press(pilot, *key, shows=words)
                said[-1][view] = await drawn_like(pilot, FOLDER / f"{view}-middle.txt")
                painted[-1] |= backgrounds(app)
            await pilot.press("t")
    assert said[0] == said[1]
    assert max(painted[0]) < 100 < 200 < min(painted[1])


def backgrounds(app):
    """How bright the cells' backgrounds are, 0 to 255; but for those in which two parts of a bar
    meet."""
    segments = [segment for strip in seeing.strips(app) for segment in strip if segment.style]
    colours = {one.style.bgcolor for one in segments if one.text not in EIGHTHS}
    return {sum(colour.get_truecolor()) // 3 for colour in colours if colour is not None}


def test_the_readme_begins_with_a_picture_that_moves_and_is_small():
    readme = (FOLDER.parents[2] / "README.md").read_text(encoding="utf-8")
    first = re.search(r"!\[([^\]]+)\]\(([^)]+)\)", readme)
    assert first is not None
    film = FOLDER.parents[2] / first[2]
    assert film.stat().st_size < 2_000_000
    drawn = film.read_text(encoding="utf-8")
    assert "@keyframes" in drawn
    assert not re.search(
        r"<script|@import|url\(['\"]?http", drawn
    )  # a README's picture may load nothing
