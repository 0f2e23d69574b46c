"""The other five views: what they show, where their keys lead."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import canned
import numpy as np
import pytest
import seeing

from tui.views.topics import Topics
from tui.widgets.articlelist import ArticleList
from tui.widgets.evolution import Evolution, doublings
from tui.widgets.topiclist import TopicList

Opener = Callable[..., Any]


def test_columns_are_doublings_and_the_newest() -> None:
    at = [16, 32, 64, *range(1024, 13_000, 1024), 12_480]
    history = [(n, 0.1, (("w", 0.1),)) for n in at]
    assert [at[i] for i in doublings(history)] == [16, 32, 64, 1024, 2048, 4096, 8192, 12_480]
    assert doublings([]) == []


async def test_topics_open_with_words_history_and_articles(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(80, 24)) as pilot:
        await seeing.until(pilot, "LIVE")
        await pilot.press("2")
        seen = await seeing.until(pilot, "50 topics · lda")
        assert "film actor" in seen
        await pilot.press("down", "enter")
        number = app.screen.query_one("#all-topics", TopicList).current.topic
        seen = await seeing.until(pilot, f"Articles most about topic {number}")
        for articles in ("2,048", "4,096", "8,192", "12,480"):
            assert articles in seen
        await pilot.press("escape")
        await seeing.until(pilot, "50 topics · lda")


async def test_newcomers_are_marked_column_by_column(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.press("2")
        await seeing.until(pilot, "after so many articles")
        seen = await seeing.until(pilot, "12,480         ")
        table = next(line for line in seen.splitlines() if "2,048" in line)
        assert table.index("2,048") < table.index("4,096") < table.index("8,192")
        evolution = app.screen.query_one(Evolution)
        newest = evolution.words
        await pilot.press("tab", *["left_square_bracket"] * 12)
        assert evolution.words != newest
        seen = await seeing.until(pilot, "+")
        await pilot.press(*["right_square_bracket"] * 12)
        assert evolution.words == newest


async def test_the_dashboard_leads_to_a_topic_and_an_article_to_its_topic(
    open_app: Opener, live: Path
) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until(pilot, "film actor")
        await pilot.press("down", "down", "enter")
        await seeing.until(pilot, "after so many articles")
        assert isinstance(app.screen.view, Topics)
        await pilot.press("3")
        await seeing.until(pilot, "Bauhaus")
        topic = app.screen.query_one("#articles", ArticleList).current.topics[0][1]
        await pilot.press("enter")
        await seeing.until(pilot, f"Topic {topic} after so many articles")


async def test_articles_are_found_by_title_and_by_topic(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("3")
        await seeing.until(pilot, "Articles read, newest first")
        await pilot.press("slash", *"things (1")
        await seeing.until(pilot, "with “things (1” in the title")
        await pilot.press("enter")
        assert "List of things (1" in await seeing.until(pilot, "esc All articles")
        await pilot.press("escape")
        await seeing.until(pilot, "Articles read, newest first")
        await pilot.press("slash", *"#12", "enter")
        await seeing.until(pilot, "Articles most about topic 12")
        await pilot.press("slash", "escape")
        await seeing.until(pilot, "Articles read, newest first")


async def test_hostile_titles_in_lists_and_searches(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("3")
        seen = await seeing.until(pilot, "[/x] [bold red]not bold[/]")
        assert "two\\x0alines" in seen
        assert "日本の鉄道駅一覧" in seen
        assert all(len(line) <= 120 for line in seen.splitlines())
        await pilot.press("slash", *"[/x] %_")
        await seeing.until(pilot, "nothing found")


async def test_topics_are_found_by_word(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until(pilot, "film actor")
        await pilot.press("slash", *"galax", "enter")
        await seeing.until(pilot, "with “galax”")
        assert {row.topic % 26 for row in app.screen.query_one("#topics", TopicList).rows} <= {10, 12}
        await pilot.press("2", "slash", *"navy", "enter")
        await seeing.until(pilot, "with “navy”")
        await pilot.press("escape")
        await seeing.until(pilot, "50 topics")


async def test_crawl_tells_rates_limits_and_errors(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("4")
        seen = await seeing.until(pilot, "41/200 a minute")
        for words in (
            "0.31 s",
            "2 times",
            "reply cut after 8,192 bytes",
            "Articles a second",
            "0.2% of en.wikipedia.org",
            "25: disambiguation 14, no known word 8,",
            "never trained on",
            "the network sets the pace",
        ):
            assert words in seen, words
        await pilot.press("left", "left", "plus", "y", "0", "minus")
        await pilot.resize_terminal(80, 24)
        assert "reply cut" in await seeing.until(pilot, "latency")


async def test_errors_have_the_time_at_which_they_happened(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("4")
        seen = await seeing.until(pilot, "reply cut after 8,192 bytes")
        assert "16:02:30 warning 429: told to wait 30 s" in seen
        assert "16:03:31 warning reply cut after 8,192 bytes" in seen


async def test_the_demo_says_what_it_is(open_app: Opener, tmp_path: Path) -> None:
    recipe = canned.Recipe(state="stopped", source="demo", source_name="demo")
    app = open_app(canned.build(tmp_path / "demo.db", recipe))
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("4")
        await seeing.until(pilot, "embedded sample (demo)")
        await seeing.until(pilot, "this machine to itself")


UNASKED: dict[str, object] = {
    "requests": 0,
    "requests_last_minute": 0,
    "allowed_per_minute": None,
    "latency_seconds": None,
    "batch_pages": None,
    "retries": 0,
    "throttled": 0,
    "errors": [],
}
"""What a source says that asks nobody."""


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
async def test_a_session_over_files_says_nothing_of_servers(
    open_app: Opener, tmp_path: Path, width: int, height: int
) -> None:
    recipe = canned.Recipe(source="counts", source_name="words.npz", activity=UNASKED)
    path = canned.build(tmp_path / "s.db", recipe)
    canned.grow(path, recipe, 1, ("",))
    with canned.live(path, recipe):
        app = open_app(path)
        async with app.run_test(size=(width, height)) as pilot:
            dashboard = await seeing.until(pilot, "reading the files sets the pace")
            await pilot.press("3")
            assert "document " in await seeing.until(pilot, "newest first")
            await pilot.press("4")
            crawl = await seeing.until(pilot, "words.npz read")
    for seen in (dashboard, crawl):
        for words in ("told to wait", "a minute", "429", "retries", "latency", "of the wiki", "network"):
            assert words not in seen, words


@pytest.mark.parametrize(
    ("limit", "words"),
    [(None, "every article has been read once"), (12_480, "--articles 12,480 is reached")],
)
async def test_a_finished_session_says_why(
    open_app: Opener, tmp_path: Path, limit: int | None, words: str
) -> None:
    recipe = canned.Recipe(state="finished", activity={"article_limit": limit})
    app = open_app(canned.build(tmp_path / "s.db", recipe))
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("4")
        await seeing.until(pilot, words)


async def test_a_dead_trainer_s_last_words(open_app: Opener, tmp_path: Path) -> None:
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="dead"))
    path.with_name("s.db.log").write_text("first\nwikitopics: the wiki cannot be reached: [/x]\x1b[31m\n\n")
    app = open_app(path)
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("4")
        await seeing.until(pilot, "reached: [/x]\\x1b[31m")


async def test_the_log_shows_and_finds(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("5")
        await seeing.until(pilot, "saved at 12,288 articles")
        await pilot.press("slash", *"429", "enter")
        seen = await seeing.until(pilot, "1 line with")
        assert "saved at" not in seen
        await pilot.press("escape")
        await seeing.until(pilot, "saved at 12,288 articles")


async def test_sessions_are_listed_and_opened(open_app: Opener, live: Path, home: Path) -> None:
    home.mkdir()
    canned.build(home / "other.db", canned.Recipe(state="finished", articles=5_000, restarts=()))
    (home / "broken.db").write_bytes(b"no database at all")
    app = open_app(live)
    async with app.run_test(size=(250, 30)) as pilot:
        await pilot.press("6")
        seen = await seeing.until(pilot, "finished")
        assert "not an SQLite file" in seen
        await pilot.press("enter")
        assert app.path == live, "a broken file is not opened"
        await pilot.press("down", "enter")
        seen = await seeing.until(pilot, "FINISHED")
        assert app.path == home / "other.db"
        assert "5,000" in seen


async def test_every_view_at_every_size(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(80, 24)) as pilot:
        await seeing.until(pilot, "LIVE")
        for key in "123456":
            await pilot.press(key)
            for size in ((40, 12), (300, 100), (80, 24)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
            assert len(seeing.lines(app)) == 24


async def test_every_binding_in_the_bar_can_be_pressed(open_app: Opener, live: Path, tmp_path: Path) -> None:
    """Each hint of each view, run as a click on it would: no fault, and the app is still there."""
    app = open_app(live)
    async with app.run_test(size=(120, 30)) as pilot:
        await seeing.until(pilot, "lda 1,3")
        seen_keys, done = set(), set()
        for view in "123456":
            await pilot.press(view)
            await pilot.pause()
            bar = app.screen_stack[0].query_one("#keys")
            hints = [hint for hint in bar._keys if "leave" not in hint.action]
            for hint in hints:
                if hint.action in done:
                    continue
                done.add(hint.action)
                seen_keys.add(hint.label)
                await app.run_action(hint.action)
                await pilot.pause()
                if len(app.screen_stack) > 1 or hint.label == "Find":
                    await pilot.press("escape")
            await pilot.press("0")
        assert {
            "Freeze",
            "Crosshair",
            "Log x",
            "Axis",
            "Max",
            "Find",
            "Help",
            "Zoom",
            "Metric",
            "Export",
            "Copy",
            "New session",
            "History",
            "Reset",
            "Log y",
            "Model",
            "Pause",
        } <= seen_keys


async def test_a_click_on_the_bar_is_its_key(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 30)) as pilot:
        await seeing.until(pilot, "2 Topics")
        line = seeing.lines(app)[-1]
        await pilot.click("#keys", offset=(line.index("Articles"), 0))
        await seeing.until(pilot, "Articles read, newest first")


async def test_copying_uses_the_terminal_s_clipboard(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 30)) as pilot:
        await seeing.until(pilot, "film actor")
        await pilot.press("c")
        assert app.clipboard.startswith("film actor")
        await pilot.press("5")
        await seeing.until(pilot, "saved at")
        await pilot.press("c")
        assert "saved at 12,288 articles" in app.clipboard


@pytest.mark.parametrize(
    "theme", ["wikitopics-dark", "wikitopics-light", "textual-dark", "nord", "ansi-dark"]
)
async def test_themes(open_app: Opener, live: Path, theme: str) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 30)) as pilot:
        await seeing.until(pilot, "LIVE")
        app.theme = theme
        await pilot.pause()
        assert "lda 1,3" in await seeing.until(pilot, "film actor")


async def test_no_color_leaves_no_colour(
    open_app: Opener, live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = open_app(live)
    async with app.run_test(size=(120, 30)) as pilot:
        await seeing.until(pilot, "lda 1,3")
        for strip in app.screen._compositor.render_strips(app.screen.size):
            for segment in strip:
                colour = segment.style.color if segment.style else None
                if colour is not None and colour.triplet is not None:
                    assert len(set(colour.triplet)) == 1, (segment.text, colour)


async def test_plain_ascii(open_app: Opener, live: Path) -> None:
    app = open_app(live)
    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until(pilot, "lda 1,3")
        app.action_ascii()
        await pilot.pause(0.2)
        for line in seeing.lines(app):
            strange = {ch for ch in line if not ch.isascii()} - set("āōä日本の鉄道駅一覧")
            assert not strange, line


async def test_the_screen_answers_while_the_file_is_slow(
    open_app: Opener, live: Path, monkeypatch: Any
) -> None:
    from session.storage.reader import SessionReader

    app = open_app(live)
    async with app.run_test(size=(100, 30)) as pilot:
        await seeing.until(pilot, "lda 1,3")

        def slow(self: SessionReader, *_: object) -> Any:
            time.sleep(2.0)
            return fast(self)

        fast = SessionReader.status
        monkeypatch.setattr(SessionReader, "status", slow)
        await pilot.pause(0.6)
        began = time.monotonic()
        await pilot.press("5", "1", "x")
        assert "? Help" in seeing.text(app)
        assert time.monotonic() - began < 1.5, "keys do not wait for the file"
    assert np.isfinite(began)


async def test_a_list_that_could_not_be_read_once_is_read_the_next_time(
    open_app: Opener, live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from session.errors import SessionError
    from session.storage.reader import SessionReader

    asked = 0
    real = SessionReader.find_articles

    def locked_once(self: SessionReader, text: str, limit: int = 50) -> Any:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise SessionError("the session is locked")
        return real(self, text, limit)

    monkeypatch.setattr(SessionReader, "find_articles", locked_once)
    app = open_app(live)
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("3")
        await seeing.until(pilot, "Bauhaus")
        app.screen.view.find("Unix")
        await seeing.until(pilot, "1 article with “Unix” in the title")


async def test_a_file_that_cannot_be_read_any_more_is_named(
    open_app: Opener, live: Path, monkeypatch: Any
) -> None:
    from session.errors import SessionError
    from session.storage.reader import SessionReader

    def gone(self: SessionReader) -> Any:
        raise SessionError("disk I/O error [/x]")

    app = open_app(live)
    async with app.run_test(size=(160, 30)) as pilot:
        await seeing.until(pilot, "lda 1,3")
        monkeypatch.setattr(SessionReader, "status", gone)
        await seeing.until(pilot, "cannot read the session: disk I/O error [/x]")


async def test_a_file_that_is_removed_is_no_session_any_more(open_app: Opener, tmp_path: Path) -> None:
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="finished"))
    app = open_app(path)
    async with app.run_test(size=(160, 30)) as pilot:
        await seeing.until(pilot, "FINISHED")
        path.unlink()
        seen = await seeing.until(pilot, "cannot read the session: its file was removed or replaced")
        assert "FINISHED" not in seen
        canned.build(path, canned.Recipe(state="stopped", articles=5_000, restarts=()))
        seen = await seeing.until(pilot, "STOPPED")
        assert "5,000 articles" in seen
        assert "cannot read" not in seen
