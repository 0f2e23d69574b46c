"""What holds in every view: sizes, keys, the clipboard, colours."""

import re

from rich.console import Console

from tests.tui import seeing
from tests.tui.opening import KEYS, is_open
from wikitopics.tui.bars import Hint, KeyBar
from wikitopics.tui.main_screen import VIEWS
from wikitopics.tui.topic_list import TopicList


def test_keys_open_every_view():
    assert list(KEYS) == list(VIEWS)


async def test_every_view_at_every_size(shown, live):
    async with shown(live, size=(80, 24), words="LIVE") as (app, pilot):
        for size in ((40, 12), (300, 100), (120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            for title, keys in KEYS.items():
                await pilot.press(*keys)
                await seeing.until_true(lambda title=title: is_open(app, title))
                await seeing.until_true(lambda: fills_the_room(app))
                bar = seeing.lines(app)[-1]
                assert size[0] < 80 or keys == "i" or ("? Help " in bar and "q Quit " in bar), bar


def fills_the_room(app):
    """Whether the view has all that is above the bar of keys, at the present size, and the bar is
    there."""
    room = app.main.query_one("#views").size
    last = seeing.lines(app)[-1].split()
    return app.main.size == app.size and app.main.view.region.size == room and last[:1] == ["1"]


async def test_every_binding_in_the_bar_can_be_pressed(shown, live, tmp_path, monkeypatch):
    """Each hint of each view, run as a click on it would: no fault, and the app is still there."""
    monkeypatch.chdir(tmp_path)  # where a picture is saved
    real = KeyBar.show
    hints = list[Hint]()

    def show(bar, views, keys):
        hints[:] = keys
        real(bar, views, keys)

    monkeypatch.setattr(KeyBar, "show", show)
    async with shown(live, size=(120, 30), words="lda 1,3") as (app, pilot):
        done = set[str]()
        for title, keys in KEYS.items():
            await pilot.press(*keys)
            await seeing.until_true(lambda title=title: is_open(app, title))
            for hint in [
                hint for hint in hints if not re.search(r"leave|app\.view|ask|births", hint.action)
            ]:
                if hint.action in done:
                    continue
                done.add(hint.action)
                await app.run_action(hint.action)
                await pilot.pause()
                if len(app.screen_stack) > 1 or hint.label == "Find":
                    await pilot.press("escape")
            await pilot.press("0")
        assert len(done) > 25
        assert app.is_running


async def test_topics_can_be_grouped_where_they_are_in_sight(shown, live):
    async with shown(live, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "2", shows="50 topics after")
        await seeing.until(pilot, " b Group ")
        await pilot.resize_terminal(80, 24)
        await seeing.press(pilot, "enter", shows="Articles most about")
        assert "Group" not in seeing.lines(app)[-1]
        await seeing.press(pilot, "b", "escape", shows=" b Group ")
        assert not app.screen.query_one("#all-topics").is_grouped


async def test_copying_uses_the_terminal_s_clipboard_and_a_click_on_the_bar_is_its_key(shown, live):
    async with shown(live, size=(120, 30), words="film, actor") as (app, pilot):
        await pilot.press("c")
        await seeing.until_true(lambda: app.clipboard.startswith("film actor"))
        (told,) = seeing.notices(app)
        assert told.startswith("copied: film actor")
        assert told.endswith("…"), "cut where it is seen"
        await seeing.press(pilot, "5", shows="saved at")
        await pilot.press("c")
        await seeing.until_true(lambda: "saved at 12,288 articles" in app.clipboard)
        line = seeing.lines(app)[-1]
        await pilot.click("#keys", offset=(line.index("Articles"), 0))
        await seeing.until(pilot, "Articles read, newest first")


async def test_no_color_leaves_no_colour(shown, live, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with shown(live, size=(120, 30), words="lda 1,3") as (app, _):
        for strip in seeing.strips(app):
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    assert colour is None or len(set(colour.get_truecolor())) == 1, (
                        segment.text,
                        colour,
                    )


async def test_what_is_selected_is_visible_in_black_and_white(shown, live, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(Console, "color_system", "standard")
    async with shown(live, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "2", shows="film, actor, directed")
        await pilot.press("down")

        def reversed_text():
            segments = [
                segment for strip in seeing.strips(app) for segment in strip if segment.style
            ]
            return "".join(segment.text for segment in segments if segment.style.reverse)

        row = app.main.view.query_one(TopicList)
        await seeing.until_true(lambda: f"{row.current.topic:>4}" in reversed_text())
        assert "Topics by share" in reversed_text(), "the panel that has the focus"
        assert "2 Topics" in reversed_text(), "the view in sight"
        assert f"{row.rows[0].topic:>4} " not in reversed_text()


async def test_the_row_under_the_cursor_in_sixteen_colours(shown, live, monkeypatch):
    """Two of sixteen colours rarely go together: on the cursor's there is but one."""
    monkeypatch.setattr(Console, "color_system", "standard")
    async with shown(live, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "2", shows="film, actor, directed")
        row = app.main.view.query_one(TopicList)
        cursor = row.pen("", "cursor")
        assert {row.pen(ink, "cursor").color for ink in ("faint", "spark", "good", "new")} == {
            cursor.color
        }
        assert row.pen("spark").color != cursor.color


async def test_views_and_dialogs_in_plain_ascii(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        app.action_ascii()
        await seeing.until_true(lambda: not strange(app))
        assert "since 6,144" in seeing.text(app)
        await seeing.press(pilot, "7", "E", shows="fuller: more text")
        assert not strange(app)
        for keys in ("e", "ctrl+p", "question_mark", "6 n"):
            await pilot.press(*keys.split())
            await seeing.until_true(lambda: len(app.screen_stack) == 2)
            await pilot.pause(0.2)
            assert not strange(app), keys
            await pilot.press("escape")
            await seeing.until_true(lambda: app.screen is app.main)


def strange(app):
    """What is on screen beyond ASCII and is not in a title."""
    return {ch for ch in seeing.text(app) if not ch.isascii()} - set("āōä日本の鉄道駅一覧")
