"""The dashboard as a user sees and drives it."""

import contextlib
import math
import time

import pytest
from textual import events
from textual.binding import Binding
from textual.command import CommandPalette

from tests.session.rows import sql
from tests.tui import canned, seeing
from wikitopics.session.analysis.spotlight import Spot
from wikitopics.session.analysis.story import Moment
from wikitopics.session.records import ArticleRow
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.tui.bars import window_title
from wikitopics.tui.chart import Chart
from wikitopics.tui.main_screen import EVERYWHERE
from wikitopics.tui.topic_list import TopicList
from wikitopics.tui.views.dashboard import Dashboard, SmallChart
from wikitopics.tui.views.log import Spotlight, Story, ticker, when


async def test_any_size_at_any_moment(shown, live):
    async with shown(live, size=(80, 24), words="LIVE") as (app, pilot):
        seen = await seeing.until(pilot, "340 waiting")
        assert "1 retry" in seen
        assert "0.2%, 13 h left" in seen
        assert "saved" in seen
        for size in (
            (40, 12),
            (300, 100),
            (20, 5),
            (1, 1),
            (60, 16),
            (59, 15),
            (120, 20),
            (50, 14),
        ):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await seeing.until_true(lambda: app.screen.query_one(Chart).region.width == 50)
        assert "Topics by share" in seeing.text(app)
        await pilot.resize_terminal(60, 16)
        seen = await seeing.until(pilot, "Topics by share")
        assert "lda 1,3" in seen
        assert sum("%" in line for line in seen.splitlines()) >= 2, "topics with their shares"


async def test_the_chart_obeys_its_keys(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        chart = app.screen.query_one(Chart)
        assert "like guessing among 1,255 words; lower is better" in seeing.text(app)
        assert "at 12,480 articles: lda 1,322" in await seeing.press(
            pilot, "left", shows="at 12,480"
        )
        await pilot.press("left")
        assert chart.cross is not None
        assert chart.cross < 12_480
        await pilot.press("plus")
        assert chart.window is not None
        await pilot.press("minus", "minus", "minus")
        assert chart.window is None
        await pilot.press("plus", "plus", "0")
        assert chart.window is None
        assert chart.cross is None
        await pilot.press("left", *["plus"] * 6, *["left"] * 12)
        low, high = chart.window
        assert low - 1e-9 <= math.log10(chart.cross) <= high + 1e-9
        assert "⋯ earlier" in await seeing.press(pilot, "0", "x", shows="Y whole curve")
        assert "⋯ earlier" in await seeing.press(pilot, "y", shows="log y · Y whole curve")
        await pilot.press("Y")
        await seeing.until_true(lambda: "whole curve" not in seeing.text(app))
        await seeing.press(pilot, "a", shows="over words")
        await seeing.press(pilot, "a", shows="over time")
        await seeing.press(pilot, "v", "v", "v", shows="Coherence (NPMI)")
        await seeing.until(pilot, "lda 0.1")


async def test_small_charts_show_what_else_is_measured(shown, live):
    async with shown(live, size=(200, 60)) as (app, pilot):
        seen = await seeing.until(pilot, "Topics in use")
        assert "Coherence" in seen
        assert "Drift" not in seen, "this session has not measured it"
        small = [chart for chart in app.screen.query(SmallChart) if chart.display]
        assert [chart.metric for chart in small] == ["npmi", "topics_in_use"]
        assert all(len(chart.drawing.series) == 2 for chart in small)
        await pilot.click(small[0])
        await seeing.until(pilot, "Coherence (NPMI) ·")
        assert small[0].metric == "perplexity", "what is large is not small as well"
        await pilot.press("m")
        await seeing.until_true(lambda: all(len(chart.drawing.series) == 1 for chart in small))


def turned(wheel):
    """The wheel of the mouse, turned by one notch."""
    return wheel(None, 20, 5, 0, 0, 0, False, False, False)


async def test_the_mouse_points_and_zooms(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        await pilot.hover(Chart, offset=(30, 5))
        await seeing.until(pilot, " articles: lda ")
        await pilot.click(Chart, offset=(20, 5))
        chart = app.screen.query_one(Chart)
        assert chart.cross is not None
        assert chart.window is None
        chart.post_message(turned(events.MouseScrollUp))
        await seeing.until_true(lambda: chart.window is not None)
        for _ in range(2):
            chart.post_message(turned(events.MouseScrollDown))
        await seeing.until_true(lambda: chart.window is None)
        await pilot.click("#topics", offset=(20, 5))
        assert app.screen.query_one(TopicList).cursor == 3


async def test_space_freezes_the_view_and_only_the_view(shown, growing):
    async with shown(growing, size=(100, 30), words="lda 1,3") as (app, pilot):
        frozen = await seeing.press(pilot, "space", shows="VIEW FROZEN")
        canned.grow(growing, canned.Recipe(), 9_000)
        await seeing.until_true(lambda: app.latest.status.articles != 12_480)
        await pilot.pause()
        assert frozen.splitlines()[5:15] == seeing.lines(app)[5:15]
        assert "Unfreeze" in frozen
        seen = await seeing.press(pilot, "space", shows="21,480 articles")
        assert "FROZEN" not in seen
        assert "Unfreeze" not in seen


@pytest.mark.parametrize("view", ["1", "2", "4"])
async def test_z_gives_the_focused_panel_all_the_room(shown, live, view):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        await pilot.press(view)
        await seeing.until_true(lambda: app.focused is app.main.view.home())
        first = app.focused
        size = app.focused.outer_size
        for expected in ((120, 38), size, (120, 38)):
            await pilot.press("z")
            await seeing.until_true(lambda expected=expected: first.outer_size == expected)


async def test_g_and_a_letter_go_to_a_panel(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        assert "[t]" in await seeing.press(pilot, "g", shows="[p]")
        await pilot.press("p")
        await seeing.until_true(lambda: app.focused is app.main.query_one(Chart))
        await seeing.press(pilot, "g", shows="[t]")
        await pilot.press("t")
        await seeing.until_true(lambda: isinstance(app.focused, TopicList))
        await pilot.press("end", "g", "g")
        await seeing.until_true(lambda: app.focused.cursor == 0)


async def test_help_and_palette_know_every_key(shown, live):
    bindings = []
    for binding in (*EVERYWHERE, *Dashboard.BINDINGS):
        if isinstance(binding, Binding) and binding.id and binding.tooltip:
            bindings.append(binding)
    async with shown(live, size=(120, 80), words="film, actor") as (app, pilot):
        seen = await seeing.press(pilot, "question_mark", shows="to the next panel")
        missing = {binding.id for binding in bindings if binding.tooltip not in seen}
        # No article is chosen, no demo or replay is on, a trainer lives and works, nothing is
        # sought; lists have Enter.
        assert missing - {"replay.play", "replay.before", "replay.end"} == {
            "app.browse",
            "app.hurry",
            "app.restart",
            "app.retry",
            "dashboard.detail",
            "dashboard.all",
        }
        await pilot.press("escape")
        await seeing.until_true(lambda: app.screen is app.main)
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        await seeing.press(pilot, *"training", shows="Freeze the view; training continues")
        await pilot.press("escape", "escape")


COMPILES = {"compiling": True, "waiting_for": "the wiki's reply"}
STARTS_OVER = {"starting_over": 10_112, "waiting_for": "the wiki's reply", "pace": 90.0}
WAITS = {"waiting_for": "429", "waiting_until": time.time() + 3_625, "bound_by": None}


@pytest.mark.parametrize(
    ("built", "state", "activity", "says", "is_silent_on"),
    [
        (
            "starting",
            "starting",
            {"waiting_for": "the wiki"},
            ["asking for the", "for the wiki"],
            "LIVE",
        ),
        ("starting", "paused", {}, ["paused before the first measurement"], "starting"),
        ("running", "running", COMPILES, ["compiling the models, once"], "waiting for"),
        (
            "running",
            "running",
            STARTS_OVER,
            ["topics start over from 10,112", "Topics start over once, from what"],
            "slowed down",
        ),
        ("running", "running", WAITS, [" min for 429"], "sets the pace"),
    ],
)
async def test_what_a_trainer_does_is_told(
    shown,
    tmp_path,
    built,
    state,
    activity,
    says,
    is_silent_on,
):
    path = canned.build(tmp_path / "s.db", canned.Recipe(state=built))
    with canned.live(path, canned.Recipe(state=state, activity=activity)):
        async with shown(path, size=(120, 40)) as (_, pilot):
            seen = await seeing.until(pilot, says[0])
            assert [words for words in says if words not in seen] == []
            assert is_silent_on not in seen


@pytest.mark.parametrize("folder", ["", "/media/me/long names/of folders/"])
async def test_a_narrow_screen_says_first_what_is_wrong(shown, two_models, folder):
    wrong = "dump.xml: no such file"
    hindered = {
        "waiting_for": folder + wrong,
        "waiting_until": time.time() + 3_625,
        "failing": True,
        "bound_by": None,
    }
    with canned.live(two_models, canned.Recipe(activity=hindered)):
        async with shown(two_models, size=(80, 24)) as (app, pilot):
            below = f"{wrong}; next try in 60 min  150 articles/s in  "
            if folder:  # the panel shows the whole path, in several lines
                below = f"{folder}{wrong}"[:50]
            seen = await seeing.until(pilot, f"\n {below}")
            assert f"◐ WAITING  {wrong}; next try in 60 min  " in seen
            assert "LIVE" not in seen
            title = window_title(app.latest.status, two_models)
            assert title.startswith(f"waiting: {folder}{wrong} · ")


async def test_keys_can_be_bound_anew(shown, live):
    async with shown(live, keys={"app.freeze": "f9"}, words="LIVE") as (_, pilot):
        await seeing.press(pilot, "f9", shows="VIEW FROZEN")


KINDS = ["renamed", "died", "split", "born"]
"""What happened to topics of the canned session, newest first."""


async def test_shares_that_moved_because_topics_started_over_are_no_moves(shown, tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe())
    sql(path, "INSERT INTO topic_events VALUES (NULL, 0, 9216, 'started_over', 3, NULL, 'film')")
    async with shown(path, size=(120, 60)) as (app, pilot):
        assert "↺" in await seeing.until(pilot, "all topics started")
        panel = app.screen.query_one(Story)
        moments = [moment for moment, _ in panel.rows]
        moves = [moment.words for moment in moments if moment.kind in ("up", "down")]
        assert moves
        assert all(words.endswith("since 9,216") for words in moves)
        app.screen.set_focus(panel)
        panel.go_to([moment.kind for moment in moments].index("started_over"))
        await pilot.press("enter")  # it is about no topic, and opens none
        assert app.screen is app.main
        assert app.main.current == "Dashboard"


async def test_the_story_leads_to_what_it_tells_of(shown, two_models):
    async with shown(two_models, size=(120, 40)) as (app, pilot):
        assert {"▴", "▾"} <= set(await seeing.until(pilot, "lda #6 is now"))  # on the chart's axis
        panel = app.screen.query_one(Story)
        assert "hdp" in {moment.model for moment, _ in panel.rows}
        await pilot.press("m")  # lda alone
        await seeing.until_true(lambda: "hdp" not in {moment.model for moment, _ in panel.rows})
        kinds = [moment.kind for moment, _ in panel.rows]
        assert list(dict.fromkeys(kind for kind in kinds if kind in KINDS)) == KINDS
        app.screen.set_focus(panel)
        panel.go_to(kinds.index("died"))
        await seeing.press(pilot, "enter", shows="#17 ")
        await pilot.press("1")
        await pilot.resize_terminal(80, 24)
        assert " Story " not in await seeing.until(pilot, "─ at 12,480 ")


async def test_a_restart_leads_to_the_log_which_leaves_topics_to_the_story(shown, tmp_path):
    path = canned.build(tmp_path / "s.db")
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.event("info", "lda at 9,216 articles, renamed: #6 city")
    async with shown(path, size=(200, 60), words="#6 is now") as (app, pilot):
        panel = app.screen.query_one(Story)
        assert "renamed: #6" not in seeing.text(app)
        app.screen.set_focus(panel)
        panel.go_to([moment.kind for moment, _ in panel.rows].index("restart"))
        await seeing.press(pilot, "enter", shows="renamed: #6")


def test_times_are_ages_at_first_and_the_ticker_turns_only_in_the_present(monkeypatch):
    monkeypatch.setattr("time.localtime", time.gmtime)
    moments = tuple(Moment("count", n, f"{n} read", at=0.0) for n in range(9, 0, -1))
    times = [when(moments[0], now) for now in (-5.0, 59.0, 60.0, 7_300.0, 3e5, None)]
    assert times == ["<1 s ago", "59 s ago", "00:00", "00:00", "01 Jan", "at 9"]
    newest = {f"{number} read" for number in (9, 8, 7, 6, 5)}
    assert {ticker(moments, False, 90.0, turn)[-6:] for turn in range(20)} == newest
    assert ticker(moments, False, None, 7) == "at 9 ○ 9 read"
    assert ticker(moments, False, 40.0, 4)[:8] == "40 s ago"


def article(seq, title):
    return ArticleRow(seq, seq, title, 1, 300, "trained", (("lda", 0, 0.5),))


def test_the_spotlight_has_every_other_turn_of_the_ticker_unless_topics_have_started_over():
    spot = Spot("bridge", "a bridge", article(1, "\x1bWine"), "46% region; 39% books")
    count = Moment("count", 9, "9 read", at=0.0)
    shown = [ticker((count,), False, 90.0, turn, spot) for turn in range(4)]
    assert shown[0] == shown[2]
    assert shown[1] == shown[3] == "a bridge · \\x1bWine: 46% region; 39% books"
    assert ticker((count,), False, None, 1, spot) == shown[1]
    started_over = Moment("started_over", 5, "all topics started over", "lda", at=80.0)
    shown = [ticker((count, started_over), False, 90.0, turn, spot) for turn in range(4)]
    assert set(shown) == {"10 s ago ↺ all topics started over"}


def test_the_ticker_tells_a_start_over_at_once_and_no_value_that_is_not_the_best():
    started_over = Moment("started_over", 5, "all topics started over", "lda", at=100.0)
    moments = (
        Moment("best", 8, "1,782", "lda", at=99.0),
        Moment("up", 6, "rise", "lda", at=99.0),
        started_over,
        Moment("best", 4, "1,866", "lda", at=60.0),
        Moment("best", 4, "1,900", "hdp", at=60.0),
    )
    soon = {ticker(moments, False, 101.0 + turn, turn) for turn in range(4)}
    later = {ticker(moments, False, 161.0 + turn, turn).split()[-1] for turn in range(16)}
    assert {words.partition(" ago ")[2] for words in soon} == {"↺ all topics started over"}
    assert later == {"1,782", "rise", "over", "1,900"}


async def test_the_spotlight_opens_the_card_of_its_article(shown, two_models, monkeypatch):
    spots = [Spot("pure", f"turn {turn}", article(7, f"Title {turn}"), "x") for turn in range(2)]

    def found(reader, model, turn, atlas):
        assert atlas.grouping.topics.size
        return spots[turn % 2]

    monkeypatch.setattr("wikitopics.tui.views.dashboard.spotlight", found)
    monkeypatch.setattr("wikitopics.tui.views.dashboard.TURN", 0.5)
    async with shown(two_models, size=(120, 40)) as (app, pilot):
        for turn in range(2):
            await seeing.until(pilot, f"Spotlight · turn {turn}")
            await seeing.until(pilot, f"Title {turn}: x")
        panel = app.screen.query_one(Spotlight)
        app.screen.set_focus(panel)
        await pilot.pause()
        assert app.main.view.chosen_article().seq == 7
        await seeing.press(pilot, "enter", shows="Article")
        assert app.main.current == "Ask"
    async with shown(two_models, size=(80, 24)) as (_, pilot):
        for turn in range(2):
            await seeing.until(pilot, f"turn {turn} · Title {turn}: x")


async def test_new_areas_are_marked_beside_the_curve(shown, tmp_path):
    path = canned.build(tmp_path / "s.db")
    sql(path, "INSERT INTO topic_events VALUES (NULL, 0, 9216, 'area_born', 3, NULL, 'film')")
    async with shown(path, size=(120, 40)) as (_, pilot):
        lines = (await seeing.until(pilot, "area film")).splitlines()
        assert any("◇ area film" in line or "area film ◇" in line for line in lines)
        await pilot.resize_terminal(80, 24)
        seen = await seeing.until(pilot, "◇")
        assert "area film" not in seen.split("Topics by share")[0]
