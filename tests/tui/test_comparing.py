"""Marked sessions: their curves lie over those of the session on screen."""

import shutil
from dataclasses import replace

import pytest

from tests.tui import canned, seeing
from wikitopics.session.given_names import rename
from wikitopics.tui.chart import Chart
from wikitopics.tui.curves import warning
from wikitopics.tui.follow import Watch
from wikitopics.tui.session_view import Beside, SessionView
from wikitopics.tui.views.dashboard import SmallChart


def test_other_words_are_not_compared():
    session = SessionView(status=None, at=0.0, settings={"fingerprint": "a", "rule": "1"})  # type: ignore[arg-type]
    others = Beside("night", ("a", "1"), (), {}), Beside("day", ("a", "2"), (), {})
    assert warning(replace(session, others=others)) == "different vocabularies, not comparable: day"
    assert warning(session) == ""


@pytest.fixture
def sessions(two_models, home):
    """Four sessions in the folder, of which the first is to be on screen."""
    home.mkdir()
    for name in ("alpha", "beta", "gamma"):
        shutil.copy(two_models, home / f"{name}.db")
    canned.build(
        home / "delta.db", canned.Recipe(models=("scvb0",), articles=6_000, state="stopped")
    )
    return home / "alpha.db"


def lines(app):
    return [series.name for series in app.screen.query_one(Chart).drawing.series]


async def test_marked_sessions_lie_over_this_one(shown, sessions):
    async with shown(sessions, size=(160, 50), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "6", shows="● alpha")
        assert "+ beta" in await seeing.press(pilot, "down", "x", "down", "x", shows="+ delta")
        seen = await seeing.press(pilot, "1", shows="delta/scvb0")
        assert "Perplexity of held-out articles" in seen, "each session has held out others"
        assert lines(app) == ["lda", "hdp", "beta/lda", "beta/hdp", "delta/scvb0"]
        await pilot.resize_terminal(200, 60)
        await seeing.until_true(
            lambda: len(app.screen.query(SmallChart).first().drawing.series) == 5
        )
        await pilot.press("m")
        await seeing.until_true(lambda: lines(app) == ["lda", "beta/lda", "delta/scvb0"])
        await seeing.press(pilot, "m", "m", "v", shows="Log-likelihood")
        await seeing.until(pilot, "delta/scvb0 -7")
        (sessions.parent / "beta.db").unlink()
        await seeing.until_true(lambda: lines(app) == ["lda", "hdp", "delta/scvb0"])
        assert app.choice.compared == [sessions.parent / "delta.db"]
        (told,) = seeing.notices(app)
        assert told.startswith("beta is no longer compared: ")


async def test_more_is_shown_of_the_session_under_the_cursor(shown, sessions):
    async with shown(sessions, size=(160, 50), words="lda 1,3") as (_, pilot):
        await seeing.press(pilot, "6", shows="alpha · Perplexity of 1,000 held-out articles")
        seen = await seeing.press(
            pilot, "down", shows="beta · Perplexity of 1,000 held-out articles"
        )
        assert "50 topics after" in seen
        await pilot.resize_terminal(80, 24)
        await seeing.until_true(lambda: "beta · Perplexity" not in seeing.text(pilot.app))


async def test_a_topic_named_in_another_terminal_is_so_named_there(shown, sessions):
    async with shown(sessions, size=(160, 50), words="lda 1,3") as (_, pilot):
        await seeing.press(pilot, "6", "down", shows="beta · Perplexity")
        rename(sessions.parent / "beta.db", "lda", 0, "Rivers and lakes")
        await seeing.until(pilot, "Rivers and lakes")


async def test_the_cursor_begins_on_this_session_and_stays_on_its_own(shown, sessions):
    async with shown(sessions.parent / "beta.db", size=(100, 30)) as (app, pilot):
        await seeing.press(pilot, "6", shows=">● beta")
        seen = await seeing.press(pilot, "down", shows=" ● beta")
        assert ">  delta" in seen
        assert seen.index("delta") < seen.index("gamma")
        seen = await seeing.press(pilot, "o", shows="by articles")
        assert ">  delta" in seen
        assert seen.index("delta") > seen.index("gamma")
        app.action_ascii()
        await seeing.until(pilot, " * beta")


async def test_one_unmarked_while_it_is_read_is_not_told_of(open_app, sessions, monkeypatch):
    app = open_app(sessions)
    beta = sessions.parent / "beta.db"

    async def compare(self, compared, metrics):
        failed = dict.fromkeys(compared, "gone")
        compared.clear()
        return failed

    monkeypatch.setattr(Watch, "compare", compare)
    async with app.run_test(size=(160, 50)) as pilot:
        await seeing.until(pilot, "lda 1,3")
        app.choice.compared.append(beta)
        app.watched.read_again()
        await seeing.until_true(lambda: not app.choice.compared)
        await pilot.pause()
        assert not seeing.notices(app)


async def test_what_cannot_be_marked_says_so(shown, sessions):
    (sessions.parent / "broken.db").write_bytes(b"SQLite format 3\0" + bytes(5_000))
    async with shown(sessions, size=(160, 50), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "6", shows="broken")
        await pilot.press("x")
        await seeing.until_true(
            lambda: any("is on screen" in notice for notice in seeing.notices(app))
        )
        await pilot.press("end", "x")
        await seeing.until_true(lambda: "broken.db is damaged" in seeing.notices(app)[-1])
        assert app.choice.compared == []
        await pilot.press("home", "down", "x")
        await seeing.until_true(lambda: app.choice.compared == [sessions.parent / "beta.db"])
        await pilot.press("x")
        await seeing.until_true(lambda: not app.choice.compared)
        told = len(seeing.notices(app))
        app.choice.compared.append(sessions)  # marked before it was opened
        await pilot.press("home", "x")
        await seeing.until_true(lambda: len(seeing.notices(app)) == told + 1)
        assert "is on screen" in seeing.notices(app)[-1]
