"""The demo on the screen: its captions and its key, and what it offers at its end; the report; the
signs."""

import sqlite3
from types import SimpleNamespace

import pytest
from textual.command import CommandPalette
from textual.containers import VerticalScroll

from tests.tui import canned, seeing
from tests.tui.standins import Launcher, Process
from wikitopics.cli import screen
from wikitopics.extra import REPORT, Extra
from wikitopics.session.errors import BadUsage
from wikitopics.tui.bars import (
    AS_THEY_START_OVER,
    AS_TOPICS_FORM,
    AT_FIRST,
    OF_SIGNS,
    ONCE_SETTLED,
    STATES,
    caption,
)
from wikitopics.tui.views.log import MOMENTS


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("lap", [0.4, 1.0])
@pytest.mark.parametrize("wiki_size", [None, 9])
def test_a_trainer_is_started_only_if_it_finds_something_to_do(
    tmp_path, monkeypatch, finished, lap, wiki_size
):
    path = canned.build(tmp_path / "demo.db", canned.Recipe(source="demo"))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE progress SET finished = ?, lap = ?", [finished, lap])
    trainers = []

    def show(path, trainer=None, *more, **told):
        trainers.append(trainer)
        return 0

    monkeypatch.setattr(screen, "need_terminal", lambda _: None)
    monkeypatch.setattr(screen, "show", show)
    screen.open_demo(str(path), wiki_size=wiki_size)
    nothing_to_do = finished and lap == 1.0 and wiki_size is None
    assert [trainer is None for trainer in trainers] == [nothing_to_do]


@pytest.mark.parametrize("size", [(56, 14), (80, 24), (200, 60)])
async def test_a_demo_that_is_slowed_down_explains_itself_and_can_be_hurried(
    shown,
    tmp_path,
    told,
    size,
):
    path = canned.build(tmp_path / "demo.db", canned.Recipe(source="demo"))
    with canned.live(path, canned.Recipe(activity={"pace": 90.0, "seconds_left": None})):
        async with shown(path, size=size) as (_, pilot):
            seen = (await seeing.until(pilot, "f Faster")).splitlines()
            captions = (AT_FIRST, AS_TOPICS_FORM, OF_SIGNS, ONCE_SETTLED)
            assert seen[-2].strip()[:40] in [caption[:40] for caption in captions]
            assert " left" not in seen[0], "the pace of the first articles is not that of the rest"
            await pilot.press("f")
            await seeing.until_true(lambda: told == [{"hurry": True}])


@pytest.mark.parametrize(
    ("key", "shows"),
    [("a", "STARTING"), ("r", "wrote it"), ("w", "New session"), ("escape", "FINISHED"), ("q", "")],
)
async def test_the_end_of_a_demo_offers_what_to_do_next(shown, tmp_path, monkeypatch, key, shows):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wikitopics.tui.export.write_report", lambda *_: "wrote it")
    path = canned.build(tmp_path / "demo.db", canned.Recipe(source="demo", state="finished"))
    trainer = Process()
    launch = Launcher()
    async with shown(path, trainer=trainer, launch=launch, words="STARTING") as (app, pilot):
        trainer.code = 0
        await seeing.until(pilot, "The demo is over")
        await seeing.press(pilot, key, shows=shows)
        assert key == "q" or "The demo is over" not in seeing.text(app)
        if key == "r":  # the other answers are still wanted
            await seeing.press(pilot, "escape", shows="The demo is over")
            await seeing.press(pilot, "r", shows="wrote it")
        if key in "rq":
            await pilot.press(*"q" * (key == "r"))
            await seeing.until_true(lambda: not app.is_running)
    assert launch.started == [["train", "--session", "demo"]] * (key == "a")


@pytest.mark.parametrize(
    ("articles", "lap", "replicas", "expected"),
    [
        (0, None, 3, AT_FIRST),
        (4_000, 0.2, 3, AS_TOPICS_FORM),
        (8_900, 0.44, 3, OF_SIGNS),
        (8_900, 0.44, 0, AS_TOPICS_FORM),
        (9_100, 0.46, 3, AS_THEY_START_OVER),
        (2_500, 0.5, 3, OF_SIGNS),  # too small a wiki for that
        (50_000, 0.5, 0, AS_TOPICS_FORM),  # one so large that it was earlier
        (12_000, 0.6, 3, ONCE_SETTLED),
    ],
)
def test_captions_explain_signs_and_that_topics_start_over(articles, lap, replicas, expected):
    activity = SimpleNamespace(pace=90.0, starting_over=0)
    status = SimpleNamespace(activity=activity, articles=articles, lap=lap, replicas=replicas)
    assert caption(status) == expected
    activity.starting_over = 5_000  # then they do, whatever was to be expected
    assert caption(status) == (AS_THEY_START_OVER if articles else AT_FIRST)


async def test_whoever_lacks_the_reports_packages_reads_it_before_choosing(
    shown, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    def refuse(*_):
        raise BadUsage(REPORT.needed("the report"))

    monkeypatch.setattr(Extra, "missing", lambda _: ["matplotlib"])
    monkeypatch.setattr("wikitopics.tui.export.write_report", refuse)
    path = canned.build(tmp_path / "demo.db", canned.Recipe(source="demo", state="finished"))
    trainer = Process()
    async with shown(path, trainer=trainer, words="STARTING") as (_, pilot):
        trainer.code = 0
        await seeing.until(pilot, "Write the report, once matplotlib is installed (how?)")
        await seeing.press(pilot, "r", shows="needs matplotlib")


async def test_a_finished_demo_that_is_only_watched_offers_nothing(shown, tmp_path):
    path = canned.build(tmp_path / "demo.db", canned.Recipe(source="demo", state="finished"))
    async with shown(path, words="FINISHED") as (app, _):
        assert app.screen is app.main


async def test_the_report_is_the_first_choice_and_tells_where_it_is(
    shown,
    live,
    tmp_path,
    monkeypatch,
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "wikitopics.tui.export.write_report", lambda path, target, tell: f"wrote {target.name}"
    )
    monkeypatch.setattr("wikitopics.tui.export.open_page", lambda address: False)
    async with shown(live, size=(100, 30), words="LIVE") as (_, pilot):
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        await seeing.until(pilot, "Write the report")
        await seeing.press(pilot, "enter", shows="wrote two-report.html; no browser")


async def test_help_explains_all_signs(shown, live):
    async with shown(live, words="LIVE") as (app, pilot):
        await seeing.press(pilot, "question_mark", shows="Help")
        lines = []
        for page in range(1, 9):
            lines += seeing.lines(app)
            app.screen.query_one(VerticalScroll).scroll_to(y=10 * page, animate=False)
            await pilot.pause()
    for sign, *_ in (*STATES.values(), *MOMENTS.values()):
        assert any(f"{sign:>6}  " in line for line in lines), sign
