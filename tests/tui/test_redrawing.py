"""What is drawn again: nothing that stays the same, and all that has changed out of sight."""

import time

import pytest
from textual.widget import Widget

from tests.tui import canned, seeing
from wikitopics.tui.help import Help


@pytest.fixture
def drawn(monkeypatch):
    """The widgets drawn since this was last cleared, by their names."""
    names: list[str] = []
    real = Widget.render_lines

    def render_lines(widget, crop):
        names.append(widget.id or type(widget).__name__)
        return real(widget, crop)

    monkeypatch.setattr(Widget, "render_lines", render_lines)
    return names


async def looks(app, monkeypatch, number):
    """Return once the app has looked at its session more often than this."""
    seen = 0
    real = app.show_status

    def show_status():
        nonlocal seen
        seen += 1
        real()

    with monkeypatch.context() as patch:
        patch.setattr(app, "show_status", show_status)
        await seeing.until_true(lambda: seen > number)


@pytest.fixture
def no_time_passes(monkeypatch):
    """Ages on the screen stay the same."""
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now)


AT_EACH_SIZE = pytest.mark.parametrize("size", [(80, 24), (200, 60)])


@pytest.mark.usefixtures("no_time_passes")
@AT_EACH_SIZE
@pytest.mark.parametrize("view", ["1", "3"])
async def test_what_stays_the_same_is_not_drawn_again(
    shown, growing, drawn, monkeypatch, view, size
):
    async with shown(growing, size=size, words="LIVE") as (app, pilot):
        await pilot.press(view)
        for has_grown in (False, True):
            if has_grown:
                await seeing.in_front(pilot, Help, "question_mark")
                canned.grow(growing, canned.Recipe(), 9_000)
                await seeing.until_true(lambda: app.latest.status.articles > 20_000)
            await looks(app, monkeypatch, 1)
            await pilot.pause()
            drawn.clear()
            await looks(app, monkeypatch, 2)
            await pilot.pause()
            assert drawn == []


@pytest.mark.usefixtures("no_time_passes")
@AT_EACH_SIZE
@pytest.mark.parametrize(("view", "back"), [("1", []), ("3", ["escape", "1"])])
async def test_what_has_changed_under_a_dialog_or_another_view_is_drawn_in_time(
    shown, growing, monkeypatch, size, view, back
):
    async with shown(growing, size=size, words="LIVE") as (app, pilot):
        await pilot.press(view)
        await seeing.in_front(pilot, Help, "question_mark")
        canned.grow(growing, canned.Recipe(), 9_000)
        await seeing.until_true(lambda: app.latest.status.articles > 20_000)
        await looks(app, monkeypatch, 2)
        await pilot.pause()
        behind = seeing.lines(app)
        app.main.query("*").refresh()
        app.screen.refresh()
        await pilot.pause()
        assert behind == seeing.lines(app)

        await pilot.press("escape", *back)
        await seeing.until_true(lambda: app.screen is app.main)
        await looks(app, monkeypatch, 2)
        await pilot.pause()
        in_front = seeing.text(app)
        app.main.query("*").refresh()
        await pilot.pause()
        assert in_front == seeing.text(app)
        assert "21,4" in in_front
