"""The other views: what they show, where their keys lead."""

import asyncio
import gc
import warnings

import pytest
from rich.cells import cell_len

from tests.tui import canned, seeing
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.tui.follow import Watch
from wikitopics.tui.questions import Question
from wikitopics.tui.topic_list import TopicList
from wikitopics.tui.views import articles
from wikitopics.tui.views.log import EventList
from wikitopics.tui.views.topics import Evolution


async def test_topics_open_with_words_history_and_articles(shown, live):
    async with shown(live, size=(80, 24), words="LIVE") as (app, pilot):
        seen = await seeing.press(pilot, "2", shows="50 topics after 12,480 articles")
        assert "film, actor" in seen
        await seeing.press(pilot, "down", "enter", shows="Articles most about #")
        number = app.screen.query_one("#all-topics", TopicList).current.topic
        seen = await seeing.until(pilot, f"Articles most about #{number} ")
        table = next(line for line in seen.splitlines() if "2,048" in line)
        assert (
            table.index("2,048")
            < table.index("4,096")
            < table.index("8,192")
            < table.index("12,480")
        )
        evolution = app.screen.query_one(Evolution)
        newest = evolution.words
        await pilot.press(*["left_square_bracket"] * 12)
        await seeing.until_true(lambda: evolution.words != newest)
        await pilot.press(*["right_square_bracket"] * 12)
        await seeing.until_true(lambda: evolution.words == newest)
        await seeing.press(pilot, "escape", shows="50 topics after 12,480 articles")


async def test_what_is_out_of_date_is_not_shown_when_the_view_comes_back(shown, live, monkeypatch):
    monkeypatch.setattr("wikitopics.tui.views.topics.OUTDATED", 0.0)
    async with shown(live, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "2", shows=" over time, by articles read")
        await seeing.press(pilot, "1", shows="lda 1,3")
        may_answer = asyncio.Event()
        ask = Watch.ask

        async def slow(*arguments, **options):
            await may_answer.wait()
            return await ask(*arguments, **options)

        monkeypatch.setattr(Watch, "ask", slow)
        await seeing.press(pilot, "2", shows="reading …")
        assert " over time, by articles read" not in seeing.text(app)
        may_answer.set()
        await seeing.until(pilot, " over time, by articles read")


async def test_signs_tell_which_topics_come_back(shown, tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe(replicas=5))
    async with shown(path, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "2", shows="50 topics after 12,480 articles")
        for number, sign in ((5, "="), (2, "~"), (1, "?")):
            app.screen.view.open(number)
            seen = await seeing.until(pilot, f"{sign} {number}/5")
            line = next(line for line in seen.splitlines() if f"│ {number:3} ●" in line)
            row = app.screen.query_one("#all-topics", TopicList).current
            assert f"{sign} {row.name[:5]}" in line


async def test_topics_can_be_grouped_before_any_is_known(shown, tmp_path):
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0" + bytes(5_000))
    async with shown(tmp_path / "broken.db", size=(120, 40)) as (app, pilot):
        await pilot.press("2", "b")
        await seeing.until_true(lambda: app.screen.query_one("#all-topics", TopicList).is_grouped)


async def test_a_topic_opened_at_once_after_another_takes_its_place(shown, live):
    """And what was begun for the first one is left without a word."""
    async with shown(live, size=(200, 60)) as (app, pilot):
        await seeing.press(pilot, "2", shows="over time, by articles read")
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            app.screen.view.open(7)
            app.screen.view.open(11)
            await seeing.until(pilot, "Articles most about #11 ")
            gc.collect()
        assert not [
            one for one in warned if one.category is RuntimeWarning
        ]  # a coroutine never awaited


async def test_articles_are_found_by_title_and_by_topic(shown, live):
    async with shown(live, size=(120, 30)) as (_, pilot):
        await seeing.press(pilot, "3", shows="Articles read, newest first")
        await seeing.press(pilot, "slash", *"things (1", shows="with “things (1” in the title")
        assert "List of things (1" in await seeing.press(pilot, "enter", shows="esc All")
        await seeing.press(pilot, "escape", shows="Articles read, newest first")
        await seeing.press(pilot, "slash", *"#12", "enter", shows="Articles most about #12 ")
        await seeing.press(pilot, "slash", "escape", shows="Articles read, newest first")
        await seeing.press(pilot, "slash", *"#70000", shows="0 articles with “#70000” in the title")


async def test_a_search_that_finds_too_many_says_so(shown, live, monkeypatch):
    monkeypatch.setattr(articles, "FOUND", 3)
    async with shown(live, size=(120, 30)) as (_, pilot):
        await seeing.press(pilot, "3", shows="Articles read, newest first")
        await pilot.press("slash", *"things")
        await seeing.until(pilot, "The newest 3 articles with “things” in the title")


async def test_a_click_on_a_topic_opens_it(shown, live):
    async with shown(live, size=(200, 60), words="most about it") as (app, pilot):
        for where in ("reading", "topics", "card"):
            await pilot.press("1")
            await seeing.until(pilot, "Now reading")
            panel = app.main.view.query_one(f"#{where}")
            label = app.latest.topics_of("lda")[40].name if where == "reading" else ""
            line = next(y for y in range(40) if label in panel.render_line(y).text)
            await pilot.click(panel, offset=(panel.size.width - 8, line + 2))
            await seeing.until(pilot, "over time, by articles")


async def test_topics_are_found_by_word_and_hostile_titles_are_text(shown, live):
    async with shown(live, size=(120, 40), words="film, actor") as (app, pilot):
        await seeing.press(pilot, "slash", *"galax", "enter", shows="with “galax”")
        # Two are about stars, and two have the word by chance among the twenty that are kept.
        assert {row.topic for row in app.screen.query_one("#topics", TopicList).rows} == {
            7,
            12,
            36,
            44,
        }
        await seeing.press(pilot, "2", "slash", *"navy", "enter", shows="with “navy”")
        await seeing.press(pilot, "escape", shows="50 topics")
        seen = await seeing.press(pilot, "3", shows="[/x] [bold red]not bold[/]")
        assert "two\\x0alines" in seen
        head, *rows = (
            line for line in seen.splitlines()[1:] if "most about" in line or " ● " in line
        )
        assert any("日本の鉄道駅一覧" in row for row in rows)
        columns = {head.index("most about"), head.index("also about")}
        assert {cell_len(row[: row.index("● ")]) for row in rows} <= columns
        await seeing.press(pilot, "slash", *"[/x] %_", shows="nothing found")


async def test_crawl_tells_rates_limits_and_errors(shown, live):
    async with shown(live, size=(160, 40)) as (_, pilot):
        seen = await seeing.press(pilot, "4", shows="41 of 200 a minute")
        for words in (
            "0.31 s",
            "the wiki asked us to wait 2 times",
            "16:02:30 warning 429: told to wait 30 s",
            "16:03:31 warning reply cut after 8,192 bytes",
            "Articles a second",
            "0.2% of en.wikipedia.org",
            "25: disambiguation 14, no known word 8,",
            "never trained on",
            "the network sets the pace",
            "7.3k articles an hour",
        ):
            assert words in seen, words
        await pilot.press("left", "left", "plus", "y", "0", "minus")
        await pilot.resize_terminal(80, 24)
        assert "reply cut" in await seeing.until(pilot, "latency")


async def test_errors_of_before_a_restart_stay_in_sight(shown, tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe(activity={"errors": ()}))
    pulse = HeartbeatWriter(path)
    pulse.begin(12_480)
    pulse.close()
    async with shown(path, size=(160, 40)) as (_, pilot):
        await seeing.press(pilot, "4", shows="warning 429: told to wait 30 s")


async def test_the_demo_says_what_it_is(shown, tmp_path):
    recipe = canned.Recipe(state="stopped", source="demo", source_name="demo")
    async with shown(canned.build(tmp_path / "demo.db", recipe), size=(160, 40)) as (_, pilot):
        await seeing.press(pilot, "4", shows="embedded sample (demo)")
        await seeing.until(pilot, "this machine to itself")


UNASKED = dict.fromkeys(("requests", "requests_last_minute", "retries", "throttled"), 0) | {
    "errors": []
}
UNASKED |= dict.fromkeys(("allowed_per_minute", "latency_seconds", "batch_pages"))
"""What a source says that asks nobody."""


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_files_have_no_servers(shown, tmp_path, size):
    recipe = canned.Recipe(source="counts", source_name="words.npz", activity=UNASKED)
    path = canned.build(tmp_path / "s.db", recipe)
    canned.grow(path, recipe, 1, ("",))
    with canned.live(path, recipe):
        async with shown(path, size=size) as (_, pilot):
            dashboard = await seeing.until(pilot, "nothing wrong")
            assert "document " in await seeing.press(pilot, "3", shows="newest first")
            crawl = await seeing.press(pilot, "4", shows="sets the pace")
            end_of_crawl = await seeing.press(pilot, "end", shows="% done")
    for seen in (dashboard, crawl, end_of_crawl):
        for words in (
            "asked us",
            "a minute",
            "429",
            "retries",
            "latency",
            "of the wiki",
            "network",
        ):
            assert words not in seen, words


async def test_a_dead_trainer_s_last_words(shown, tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="dead"))
    path.with_name("s.db.log").write_text(
        "first\nwikitopics: the wiki cannot be reached: [/x]\x1b[31m\n\n"
    )
    async with shown(path, size=(160, 40)) as (_, pilot):
        await seeing.press(pilot, "4", shows="[/x]\\x1b[31m")


async def test_the_log_shows_finds_and_follows_its_end_into_another_size(shown, live):
    async with shown(live, size=(100, 30)) as (app, pilot):
        await seeing.press(pilot, "5", shows="saved at 12,288 articles")
        assert "saved at" not in await seeing.press(
            pilot,
            "slash",
            *"429",
            "enter",
            shows="1 line with",
        )
        await seeing.press(pilot, "slash", *"zzz", shows="no line contains these words")
        await seeing.press(pilot, "escape", shows="saved at 12,288 articles")
        await seeing.press(pilot, "5", shows="Log")
        newest = app.latest.events[-1].message[:20]
        for size in ((60, 6), (50, 7)):
            await pilot.resize_terminal(*size)
            await seeing.until(pilot, newest)
            log = app.main.view.query_one(EventList)
            assert log.scroll_offset.y == log.max_scroll_y > 0


async def test_sessions_are_listed_and_opened(shown, live, home):
    home.mkdir()
    canned.build(home / "other.db", canned.Recipe(state="finished", articles=5_000, restarts=()))
    (home / "broken.db").write_bytes(b"no database at all")
    async with shown(live, size=(250, 30)) as (app, pilot):
        seen = await seeing.press(pilot, "6", shows="finished")
        assert "not an SQLite file" in seen
        await pilot.press("down", "enter")
        await seeing.until_true(
            lambda: any("not an SQLite file" in one for one in seeing.notices(app))
        )
        assert app.path == live, "a broken file is not opened"
        seen = await seeing.press(pilot, "up", "enter", shows="FINISHED")
        assert app.path == home / "other.db"
        assert "5,000" in seen


async def test_sessions_are_found_sorted_and_deleted(shown, live, home):
    home.mkdir()
    long = "a-session-whose-name-is-as-long-as-forty"
    canned.build(home / f"{long}.db", canned.Recipe(state="finished", articles=5_000, restarts=()))
    canned.build(home / "big.db", canned.Recipe(state="stopped", articles=9_000, restarts=()))
    canned.build(home / "runs.db")
    with canned.live(home / "runs.db"):
        async with shown(live) as (app, pilot):
            seen = await seeing.press(pilot, "6", shows="3 sessions by name, 1 running")
            assert long in seen
            assert seen.index("runs ") < seen.index(long) < seen.index("big ")
            await pilot.press("D")
            await seeing.until_true(
                lambda: any("runs was not deleted" in one for one in seeing.notices(app))
            )
            seen = await seeing.press(pilot, "o", shows="3 sessions by articles")
            assert seen.index("runs ") < seen.index("big ") < seen.index(long)
            await seeing.press(pilot, "slash", *"big", "enter", shows="1 session by")
            await seeing.press(pilot, "D", shows="Delete it for good")
            await pilot.press("enter")
            await seeing.until_true(lambda: app.screen is app.main)
            await pilot.pause()
            assert (home / "big.db").exists(), "Enter alone deletes nothing"
            await seeing.in_front(pilot, Question, "D")
            await seeing.press(pilot, "d", shows="no session has “big”")
            assert not (home / "big.db").exists()
