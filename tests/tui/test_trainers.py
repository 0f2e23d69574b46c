"""What the screen has to do with trainers: the ones it started, the one it is told of, and closing
it."""

import contextlib
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.tui import canned, seeing
from tests.tui.standins import Launcher, Process
from wikitopics.session.control import NOBODY_ASKED
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.tui.questions import Question


@pytest.mark.parametrize(
    ("keys", "ending"),
    [
        (["q", "l"], "leave"),
        (["q", "enter"], "leave"),
        (["q", "s"], "stop"),
        (["ctrl+c", "ctrl+c"], "stop"),
        (["q", "escape", "q", "ctrl+c"], "stop"),
    ],
)
async def test_what_is_to_become_of_the_trainer(shown, live, told, keys, ending):
    async with shown(live, trainer=Process(), words="LIVE") as (app, pilot):
        await seeing.press(pilot, keys[0], shows="Leave it running")
        for before, key in pairwise(keys):
            asks = before != "escape"
            await seeing.until_true(lambda asks=asks: isinstance(app.screen, Question) == asks)
            await pilot.press(key)
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == ending
    assert told == []


async def test_a_trainer_is_asked_for_elsewhere_too(shown, live, tmp_path):
    other = canned.build(tmp_path / "other.db", canned.Recipe(state="stopped"))
    async with shown(live, trainer=Process(), words="LIVE") as (app, pilot):
        await app.follow(other)
        await seeing.until(pilot, "STOPPED")
        await seeing.press(pilot, "q", shows="Leave it running")
        await pilot.press("s")
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == "stop"


async def test_before_there_is_a_session_its_trainer_is_quoted(shown, home):
    home.mkdir()
    path = home / "night.db"
    trainer = Process()
    Path(f"{path}.log").write_text("no address found for en.wikipedia.org; trying until 10:23:45\n")
    async with shown(path, trainer=trainer) as (app, pilot):
        seen = await seeing.until(
            pilot, "no address found for en.wikipedia.org; trying until 10:23:45"
        )
        assert "Try the embedded sample instead" in seen
        trainer.code = 3
        Path(f"{path}.log").write_text("wikitopics: en.wikipedia.org cannot be reached\n")
        assert "embedded sample" in await seeing.until(pilot, "cannot be reached")
        await pilot.press("d")
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == "demo"


async def test_a_wiki_out_of_reach_can_be_tried_again(shown, home):
    home.mkdir()
    path = home / "night.db"
    launch = Launcher()
    Path(f"{path}.log").write_text("wikitopics: en.wikipedia.org cannot be reached\n")
    async with shown(path, trainer=Process(3), launch=launch) as (_, pilot):
        seen = await seeing.until(pilot, "Try again")
        assert "embedded sample" in seen
        assert "wikitopics: en" not in seen
        await seeing.press(pilot, "a", shows="STARTING")
    assert launch.started == [["train", "--session", "night"]]


QUESTION_SHOWN = {"size": (100, 30), "words": "Before it starts"}
QUESTION = "dewiki of 2026-11-01, 7.1 GB in 1 file, comes from dumps.wikimedia.org"


@pytest.fixture
def asking(home):
    """A session that is not there yet, since its trainer has asked a question."""
    home.mkdir()
    (home / "night.db.log").write_text(f"wikitopics: {QUESTION} {NOBODY_ASKED}\n")
    return home / "night.db"


@pytest.mark.parametrize("key", ["y", "n", "enter", "escape"])
async def test_what_the_first_trainer_asks_is_shown(shown, asking, key):
    launch = Launcher()
    async with shown(asking, trainer=Process(2), launch=launch, size=(100, 30)) as (app, pilot):
        seen = await seeing.until(pilot, "Before it starts")
        assert QUESTION in " ".join(seen.replace("│", " ").split())
        await pilot.press(key)
        if key == "y":
            await seeing.until(pilot, "STARTING")
        else:
            await seeing.until_true(lambda: app.return_value)
    if key == "y":
        assert launch.started == [["train", "--session", "night", "--yes"]]
        assert app.return_value is None
    else:
        assert launch.started == []
        assert app.return_value == "stop"


async def test_a_yes_holds_for_one_start(shown, asking):
    started = list[list[str]]()

    def launch(path, words):
        started.append(words)
        if "--yes" not in words:
            return Process(2)
        canned.build(path, canned.Recipe(state="stopped"))
        return Process(0)

    async with shown(asking, trainer=Process(2), launch=launch, **QUESTION_SHOWN) as (_, pilot):
        await seeing.press(pilot, "y", shows="STOPPED")
        await seeing.press(pilot, "R", shows="Before it starts")
    assert started == [["train", "--session", "night", "--yes"], ["train", "--session", "night"]]


async def test_an_agreed_start_that_fails_leaves_no_empty_screen(shown, asking):
    def launch(path, words):
        raise SessionError("cannot write night.db.log: no space left")

    async with shown(asking, trainer=Process(2), launch=launch, **QUESTION_SHOWN) as (app, pilot):
        await pilot.press("y")
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == "stop"


@pytest.mark.parametrize(
    ("key", "asks"), [("1", False), ("q", True), ("escape", True), ("ctrl+c", True)]
)
async def test_where_the_session_appears_it_is_shown(shown, home, monkeypatch, key, asks):
    """And a user who gives up just then, before the dialog has seen it, is asked what becomes of
    it."""
    monkeypatch.setattr("wikitopics.tui.questions.EVERY", 600.0 if asks else 0.2)
    path = home / "night.db"
    async with shown(path, trainer=Process(), words="starting the trainer") as (_, pilot):
        assert "no session" not in await seeing.until(pilot, "wikitopics  starting night …")
        canned.build(path, canned.Recipe(state="running"))
        await seeing.until(pilot, "STARTING")
        await seeing.press(pilot, key, shows="Leave it running" if asks else "Perplexity of")


@pytest.mark.parametrize("keys", [["q"], ["escape"], ["ctrl+c"], []])
async def test_a_start_that_is_given_up_or_fails(shown, home, keys):
    trainer = Process()
    async with shown(home / "night.db", trainer=trainer, words="starting the trainer") as (
        app,
        pilot,
    ):
        await pilot.press(*keys)
        if not keys:
            trainer.code = 2
        await seeing.until_true(lambda: app.return_value)
    assert app.return_value == "stop"


async def test_a_trainer_on_its_way_starts(shown, tmp_path, told):
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="stopped"))
    trainer = Process()
    async with shown(path, trainer=trainer, size=(120, 40)) as (_, pilot):
        assert "STOPPED" not in await seeing.until(pilot, "STARTING")
        await seeing.press(pilot, "q", shows="Leave it running")
        await pilot.press("escape")
        trainer.code = 1
        await seeing.until(pilot, "STOPPED")
        await pilot.press("q")
    assert told == []


async def test_pause_and_save_reach_a_trainer_and_q_detaches_a_viewer_at_once(shown, live, told):
    async with shown(live, words="LIVE") as (app, pilot):
        await pilot.press("P", "S")
        await seeing.until_true(lambda: len(told) == 2)
        await pilot.press("q")
        await seeing.until_true(lambda: app.return_code is not None)
    assert app.return_code == 0
    assert sorted(told, key=str) == [{"paused": True}, {"save": True}]


async def test_keys_with_nothing_to_do_say_so(shown, live, tmp_path, told):
    async with shown(live, words="LIVE") as (app, pilot):
        await pilot.press("R")
        assert seeing.notices(app) == ["nothing to start: the trainer is running"]
    path = canned.build(tmp_path / "over.db", canned.Recipe(state="stopped"))
    async with shown(path, words="STOPPED") as (app, pilot):
        await pilot.press("S", "P")
        assert [one.split(":")[0] for one in seeing.notices(app)] == [
            "nothing to save",
            "nothing to pause",
        ]
    assert told == []


async def test_the_bar_says_what_p_does(shown, tmp_path, told):
    path = canned.build(tmp_path / "s.db")
    async with shown(path, size=(300, 30)) as (_, pilot):
        with canned.live(path):
            assert "P Resume" not in await seeing.until(pilot, "P Pause")
        with canned.live(path, canned.Recipe(state="paused")):
            assert "P Pause" not in await seeing.until(pilot, "P Resume")
            await pilot.press("P")
            await seeing.until_true(lambda: told == [{"paused": False}])


async def test_a_key_ends_a_wait_of_our_own(shown, tmp_path, told):
    path = canned.build(tmp_path / "s.db")
    waits = {"waiting_for": "127.0.0.1 refuses connections", "failing": True, "bound_by": None}
    waits["waiting_until"] = time.time() + 90
    with canned.live(path, canned.Recipe(activity=waits)):
        async with shown(path, size=(120, 40)) as (_, pilot):
            assert "tries now" not in await seeing.press(pilot, "T", shows="next try in")
            with contextlib.closing(HeartbeatWriter(path)) as pulse:
                canned.beat(pulse, canned.Recipe(activity=waits | {"own_wait": True}), "running")
            assert "T Try now" in await seeing.until(pilot, "T tries now")
            await pilot.press("T")
            await seeing.until_true(lambda: told == [{"save": True}])
