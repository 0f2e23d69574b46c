"""The map of topics over time, and what can be done with topics: name, pin, sort, fold and find them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from tests.tui import canned, seeing
from tests.tui.seeing import Opener
from tests.tui.standins import topic
from wikitopics.session.records import ShareHistory, TopWords
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.questions import Rename
from wikitopics.tui.views.map import SHADES, TopicMap, columns, levels
from wikitopics.tui.views.topics import Evolution
from wikitopics.tui.widgets.rowlist import GroupRow, featured, ordered
from wikitopics.tui.widgets.topiclist import TopicList


def history(articles: list[int], shares: list[list[float]]) -> ShareHistory:
    of = np.array(shares, np.float32)
    return ShareHistory(np.array(articles, np.int64), of, of)


def test_a_column_shows_the_last_snapshot_in_it_or_before() -> None:
    kept = history([64, 128, 1024, 65_536], [[1.0]] * 4)
    assert columns(kept, 10).tolist() == [1, 1, 1, 2, 2, 2, 2, 2, 2, 3]
    assert columns(history([64], [[1.0]]), 3).tolist() == [0, 0, 0]


def test_shades_go_from_nothing_to_the_largest() -> None:
    newest = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    shades = levels(newest, newest).tolist()
    assert shades == sorted(shades, reverse=True)
    assert (shades[0], shades[-1]) == (len(SHADES) - 1, 0)
    assert 1 <= shades[3] < shades[1]
    assert levels(np.zeros(3), np.zeros(3)).tolist() == [0, 0, 0]


def test_what_is_not_born_yet_is_drawn_as_nothing() -> None:
    newest = np.array([0.4, 0.3, 0.2, 0.1, 0.1])
    assert levels(np.array([0.05, 0.09, 0.1, 0.4]), newest).tolist() == [0, 1, 1, len(SHADES) - 1]


def test_shares_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = canned.Recipe()
    path = canned.build(tmp_path / "s.db", recipe)
    real, read = SessionReader.words_at, list[int]()

    def words_at(reader: SessionReader, model: str, points: Iterable[int]) -> Iterator[TopWords]:
        points = list(points)
        read.extend(points)
        return real(reader, model, points)

    monkeypatch.setattr(SessionReader, "words_at", words_at)
    with SessionReader(path) as reader:
        before = reader.share_history("lda")
        assert before.articles.tolist() == reader.snapshots("lda")
        canned.grow(path, recipe, 1024)
        after = reader.share_history("lda")
        assert after.articles.tolist() == [*before.articles.tolist(), 13_504]
        assert np.array_equal(after.shares[:-1], before.shares)
        assert read == after.articles.tolist()
        newest = [row.share for row in reader.topics("lda")]
        assert np.allclose(after.shares[-1], newest)


def test_orders() -> None:
    rows = topic(0, "b", 0.2, 0.19), topic(1, "A", 0.5, 0.5), topic(2, "c", 0.3, 0.4)
    orders = {"share": [1, 2, 0], "change": [2, 0, 1], "number": [0, 1, 2], "name": [1, 0, 2]}
    for order, expected in orders.items():
        assert [row.topic for row in ordered(rows, order)] == expected
    assert [row.topic for row in ordered(rows, "share", {0})] == [0, 1, 2]


async def test_the_map_tells_of_the_cell_under_the_cursor(shown: Opener, live: Path) -> None:
    async with shown(live, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "7", shows="50 topics over time")
        await seeing.until(pilot, "after 12,480 articles")
        drawn = app.screen.query_one(TopicMap)
        await pilot.press("down", "left", "left")
        await seeing.until_true(lambda: drawn.cursor == 1 and drawn.pointed[1] < 12_480)
        row, articles, share = drawn.pointed
        assert articles < 12_480
        await seeing.until(pilot, f"{row.label} · after {articles:,} articles · {100 * share:.1f}%")
        await seeing.press(pilot, "enter", shows=f"{row.label} over time, by articles read")
        evolution = app.main.view.query_one(Evolution)
        await seeing.until_true(lambda: evolution.selected == articles)


def test_the_card_tells_of_the_topic_that_matters_most() -> None:
    rows = [topic(0, "", 0.3, 0.31), topic(1, "", 0.2, 0.4), topic(2, "", 0.5, 0.5)]
    assert featured(rows, rows[0], {2}) == (rows[0], "chosen")
    assert featured(rows, None, {0, 2}) == (rows[2], "pinned")
    assert featured(rows, None, ()) == (rows[1], "moved most")
    assert featured([], None, ())[0] is None


async def test_a_vast_dashboard_has_the_map_and_a_card(shown: Opener, live: Path) -> None:
    async with shown(live, size=(200, 60), words="distinctiveness of its words") as (app, pilot):
        assert "most about it" in await seeing.until(pilot, "moved most")
        await pilot.press("down")
        await seeing.until_true(lambda: app.screen.query_one("#topics", TopicList).held)
        chosen = app.screen.query_one("#topics", TopicList).topic
        await seeing.until(pilot, f"{chosen.label} · lda · chosen")
        drawn = app.screen.query_one("#over-time", TopicMap)
        await seeing.until_true(lambda: drawn.current.topic == chosen.topic)
        await seeing.press(pilot, "r", "space", shows="REPLAY")
        first = app.watched.replay.points[0]
        app.watched.replay.step(-len(app.watched.replay.points))
        app.look_again()
        seen = await seeing.until(pilot, f"after {first} articles ─")
        assert "most about it" not in seen  # what articles were about then is not known
        await seeing.until_true(lambda: drawn.pointed[1] == first)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A finished session that the test may write to."""
    return canned.build(tmp_path / "own.db", canned.Recipe(state="finished"))


async def test_a_topic_is_named_and_loses_the_name_again(shown: Opener, own: Path) -> None:
    async with shown(own, size=(120, 40), words="film, actor") as (app, pilot):
        before = app.latest.topics["lda"][3].name
        await seeing.press(pilot, "2", "N", shows="Name of topic 3")
        name = app.screen.query_one(Input)
        name.value = "x" * 61
        await seeing.until(pilot, "1 to 60 printable characters")
        name.value = ""
        await pilot.press(*"the movies")
        await seeing.until_true(lambda: name.value == "the movies")
        await seeing.press(pilot, "enter", shows="#3 the movies over time, by articles read")
        assert app.latest.topics["lda"][3].name == "the movies"
        await seeing.in_front(pilot, Rename, "N")
        await seeing.press(pilot, "delete", "enter", shows=f"#3 {before} over time, by articles read")


async def test_topics_fold_into_groups_around_the_chosen_one(shown: Opener, live: Path) -> None:
    async with shown(live, size=(100, 30)) as (app, pilot):
        await seeing.press(pilot, "2", shows="50 topics after")
        listed = app.screen.query_one("#all-topics", TopicList)
        await pilot.press("down", "down")
        await seeing.until_true(lambda: listed.cursor == 2)
        chosen = listed.topic.topic
        await pilot.press("b")
        await seeing.until_true(lambda: listed.is_grouped)
        await seeing.until(pilot, "▸ ")
        assert listed.topic.topic == chosen
        groups = [row for row in listed.rows if isinstance(row, GroupRow)]
        assert sum(group.many for group in groups) == 50
        assert sum(group.share for group in groups) == pytest.approx(1, abs=1e-3)
        await pilot.press("left")
        assert isinstance(listed.current, GroupRow)
        assert all(isinstance(row, GroupRow) for row in listed.rows)
        for width in (100, 120):  # the numbers of topics stand in one column
            await pilot.resize_terminal(width, 30)
            lines = (await seeing.until(pilot, " topics")).splitlines()
            assert len({line.index(" topics") for line in lines if "▸" in line and " topics" in line}) == 1
        await pilot.press("enter")
        assert len(listed.rows) == len(groups) + listed.current.many
        await pilot.press("b")
        assert len(listed.rows) == 50


async def test_topics_are_pinned_and_sorted(shown: Opener, live: Path) -> None:
    async with shown(live, size=(100, 30), words="film, actor") as (app, pilot):
        listed = app.screen.query_one("#topics", TopicList)
        await pilot.press(*["down"] * 5)
        await seeing.until_true(lambda: listed.cursor == 5)
        pinned = listed.topic.topic
        await seeing.press(pilot, "asterisk", "o", "o", shows="Topics by number")
        numbers = [row.topic for row in listed.rows]
        assert numbers == [pinned, *sorted(set(range(50)) - {pinned})]
        assert listed.topic.topic == pinned
        assert f"*{pinned}" in seeing.text(app)


async def test_the_palette_finds_topics_and_titles(shown: Opener, live: Path) -> None:
    async with shown(live, size=(120, 40), words="film, actor") as (app, pilot):
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        await seeing.press(pilot, *"cephe", shows="Cepheid variable")
        await pilot.press("escape")
        await seeing.until_true(lambda: app.screen is app.main)
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        await seeing.press(pilot, *"galax", shows="planet, galaxy, sun")
