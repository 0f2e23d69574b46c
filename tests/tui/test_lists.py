"""Lists whose rows move, the map of topics over time, and what can be done with topics."""

import asyncio
import re
import threading
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from textual.widgets import Input

from tests.tui import canned, seeing
from tests.tui.standins import topic
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.follow import Watch
from wikitopics.tui.lists import RowList
from wikitopics.tui.questions import Rename
from wikitopics.tui.text import nearness, visible
from wikitopics.tui.topic_list import ROOM_FOR_TITLES, TopicList
from wikitopics.tui.topic_order import NOTHING_SOUGHT, AreaRow, Search, featured, matching, ordered
from wikitopics.tui.views.articles import ArticleList
from wikitopics.tui.views.atlas import TopicAtlas
from wikitopics.tui.views.emergence import Heatmap

# Lists whose rows move: the chosen row stays chosen, and what is found stands in a sensible order.


RECIPE = canned.Recipe()


async def grow(pilot, path, titles=()):
    """Commit once more, and wait until the screen has read the new topics and articles."""
    before = pilot.app.latest
    canned.grow(path, RECIPE, 1024, titles)

    def is_new():
        now = pilot.app.latest
        return now.topics["lda"] is not before.topics["lda"] and now.recent is not before.recent

    async with asyncio.timeout(60):
        while not is_new():
            await pilot.pause(0.05)
    await pilot.pause()


def place_on_screen(rows):
    return rows.cursor - rows.scroll_offset.y


@pytest.mark.parametrize(
    ("keys", "list_id", "cursor"),
    [
        (["2", *["down"] * 5, "enter"], "#all-topics", 5),
        (["2", "enter"], "#all-topics", 0),
        ([*["down"] * 5], "#topics", 5),
    ],
)
async def test_a_chosen_topic_stays_chosen(shown, growing, keys, list_id, cursor):
    async with shown(growing, size=(100, 30), words="film, actor") as (app, pilot):
        await pilot.press(*keys)
        await seeing.until_true(lambda: app.screen.query(list_id))
        topics = app.screen.query_one(list_id, TopicList)
        await seeing.until_true(lambda: topics.held and topics.cursor == cursor)
        chosen = topics.current.topic
        order = [row.topic for row in topics.rows]
        for _ in range(6):
            await grow(pilot, growing)
            assert topics.current.topic == chosen
            if "enter" in keys:
                await seeing.until(pilot, f"#{chosen} ")
        assert [row.topic for row in topics.rows] != order
        await pilot.press("escape")
        await seeing.until_true(lambda: 0 <= place_on_screen(topics) < topics.size.height - 1)


async def test_before_anybody_has_chosen_the_largest_topic_is_on_top(shown, growing):
    async with shown(growing, size=(100, 30), words="film, actor") as (app, pilot):
        topics = app.screen.query_one(TopicList)
        for _ in range(6):
            await grow(pilot, growing)
            assert (topics.cursor, topics.scroll_offset.y) == (0, 0)
            assert topics.current.share == max(row.share for row in topics.rows)


async def test_another_model_is_listed_from_its_top_pinned_and_sorted(shown, live):
    async with shown(live, size=(100, 30), words="film, actor") as (app, pilot):
        # The first m shows only LDA, the second only HDP.
        await seeing.press(pilot, *["down"] * 5, "m", "m", shows="Topics by share · hdp")
        assert app.screen.query_one(TopicList).cursor == 0
        listed = app.screen.query_one("#topics", TopicList)
        await pilot.press(*["down"] * 5)
        await seeing.until_true(lambda: listed.cursor == 5)
        pinned = listed.topic.topic
        await seeing.press(pilot, "asterisk", "o", "o", shows="Topics by number")
        others = [number for number in range(50) if number != pinned]
        assert [row.topic for row in listed.rows] == [pinned, *others]
        assert listed.topic.topic == pinned
        assert f"*{pinned}" in seeing.text(app)


async def test_a_chosen_article_stays_where_it_is_while_others_come(shown, growing):
    async with shown(growing, size=(100, 30), words="film, actor") as (app, pilot):
        await seeing.press(pilot, "3", shows="Bauhaus")
        listed = app.screen.query_one("#articles", ArticleList)
        await grow(pilot, growing, ("First of the newest",))
        await seeing.until(pilot, "First of the newest")
        assert listed.cursor == 0
        await pilot.press("down", "down", "down")
        await seeing.until_true(lambda: listed.cursor == 3)
        chosen = listed.current
        place = place_on_screen(listed)
        for batch in range(3):  # more than are listed at a time
            await grow(pilot, growing, tuple(f"Another {batch} {i}" for i in range(150)))
            assert (listed.current.seq, place_on_screen(listed)) == (chosen.seq, place)
        assert "Another" not in await seeing.until(pilot, "450 newer")
        await seeing.press(pilot, "home", shows="Another 2 149")  # the newest


async def test_a_row_that_moves_out_of_sight_takes_the_list_along(shown, growing):
    async with shown(growing, size=(100, 30), words="film, actor") as (app, pilot):
        await seeing.press(pilot, "3", "slash", *"things", "enter", shows="200 articles with")
        await pilot.press("down", "down")
        listed = app.screen.query_one("#articles", ArticleList)
        await seeing.until_true(lambda: listed.cursor == 2)
        chosen = listed.current
        place = place_on_screen(listed)
        await grow(pilot, growing, tuple(f"More things {i}" for i in range(60)))
        await seeing.until(pilot, "260 articles with")
        assert (listed.current.seq, place_on_screen(listed)) == (chosen.seq, place)


def test_topics_and_titles_with_the_whole_word_come_first():
    rows = [
        topic(0, "", 0.40, words=("software", "computer")),
        topic(1, "", 0.35, words=("award", "film")),
        topic(2, "", 0.30, words=("battle", "warfare")),
        topic(3, "", 0.25, words=("army", "war")),
        topic(4, "", 0.20, words=("war", "navy")),
        topic(5, "", 0.15, words=("river", "lake")),
    ]
    # Whole words, then the start of a word, then a part of one; each by share.
    assert [row.topic for row in matching(rows, Search("War"))] == [3, 4, 2, 0, 1]
    assert [row.topic for row in matching(rows, Search("#3"))] == [3]
    # Those that the words find follow, in their order, if they are not listed yet.
    search = Search("#3", dict.fromkeys([5, 3, 99, 0], ("lake",)))
    assert [row.topic for row in matching(rows, search)] == [3, 5, 0]
    assert [row.topic for row in matching(rows, Search(" "))] == [0, 1, 2, 3, 4, 5]
    for title in ("War and Peace", "Trojan War", "war", "The War's end", "(war)"):
        assert nearness("war", title) == 0
    assert nearness("war", "Warsaw") == 1
    assert nearness("war", "Software") == 2
    assert nearness("war", "Peace") == 3
    assert nearness("[/x", "a [/x] b") == 0


async def test_titles_with_the_whole_word_come_first(shown, growing):
    canned.grow(growing, RECIPE, 64, ("Siege War", *(f"Software {i}" for i in range(300))))
    async with shown(growing, size=(100, 30)) as (app, pilot):
        await seeing.press(pilot, "3", "slash", *"war", "enter", shows="with “war” in the title")
        await seeing.until(pilot, "Siege War")
        titles = [row.title for row in app.screen.query_one("#articles", ArticleList).rows]
        assert titles[:2] == ["Siege War", "HMS Warrior"]


async def test_a_topic_that_was_found_stays_chosen(shown, live):
    async with shown(live, size=(100, 30)) as (app, pilot):
        seen = await seeing.press(pilot, "2", "slash", *"galaxy", "enter", shows="with “galaxy”")
        assert " of 50 topics after" in seen
        topics = app.screen.query_one("#all-topics", TopicList)
        chosen = topics.current.topic
        await seeing.press(pilot, "escape", shows="50 topics after")
        assert topics.current.topic == chosen


async def test_a_session_s_name_has_the_room_there_is(shown, live, home):
    home.mkdir()
    long = "a-night-with-three-models-and-a-dump"
    canned.build(home / f"{long}.db", canned.Recipe(state="finished"))
    canned.build(home / "日本語の記事.db", canned.Recipe(state="finished"))
    async with shown(live, size=(160, 30)) as (_, pilot):
        await pilot.press("6")
        seen = (await seeing.until(pilot, long)).splitlines()
        (head,) = (line for line in seen if "perplexity" in line)
        rows = [line for line in seen if "finished" in line]
        assert len(rows) == 2
        for line in rows:
            before_state = line[: line.index("finished")]
            assert cell_len(before_state) == head.index("state")
            assert line.count("ago") == 1
        await pilot.resize_terminal(40, 24)
        await seeing.until(pilot, "a-night-wi…-and-a-dump")


async def test_a_topic_is_shown_while_a_search_still_reads(shown, live, monkeypatch):
    may_answer = threading.Event()
    answering = Watch.answering

    def slowly(watch, reader, model, committed_at):
        assert may_answer.wait(60)
        return answering(watch, reader, model, committed_at)

    monkeypatch.setattr(Watch, "answering", slowly)
    async with shown(live, size=(160, 50)) as (app, pilot):
        await seeing.press(pilot, "2", shows="over time, by articles read")
        await pilot.press("slash", *"galax")
        await seeing.until_true(lambda: app.main.view.sought == "galax")
        found = app.main.view.query_one(TopicList).topic
        await seeing.until(pilot, f"{found.label} over time, by articles read")
        await seeing.until(pilot, f"Articles most about {found.label}")
        may_answer.set()


async def test_a_search_without_a_hit_and_the_cell_under_the_cursor_are_told(shown, live):
    async with shown(live, size=(120, 40)) as (app, pilot):
        await pilot.press("2")
        first = app.screen.query_one("#all-topics", TopicList)
        await seeing.until(pilot, "over time, by articles read")
        label = first.topic.label
        seen = await seeing.press(pilot, "slash", *"zzzz", shows="no topic selected")
        assert label not in seen
        assert "no topics yet" not in seen
        assert "no topic has “zzzz” among its top words" in seen
        await seeing.press(pilot, "escape", shows=f"{label} over time")
        await seeing.press(pilot, "7", "E", shows="50 topics over time")
        await seeing.until(pilot, "after 12,480 articles")
        drawn = app.main.view.query_one(Heatmap)
        await pilot.press("down", "left", "left")

        def is_left_of_the_newest():
            _, articles, _ = drawn.pointed
            return drawn.cursor == 1 and articles < 12_480

        await seeing.until_true(is_left_of_the_newest)
        row, articles, share = drawn.pointed
        await seeing.until(pilot, f"{row.label} · after {articles:,} articles · {100 * share:.1f}%")
        await seeing.press(pilot, "enter", shows=f"{row.label} over time, by articles read")


DASHBOARD = ["1"]
TOPICS = ["2"]
EMERGENCE = ["7", "E"]
"""The keys that open views with a list of topics."""


@pytest.mark.parametrize(
    ("size", "views"),
    [((80, 24), [DASHBOARD, TOPICS, EMERGENCE]), ((46, 16), [TOPICS, EMERGENCE])],
    ids=["usual", "small"],
)
async def test_what_was_found_is_in_sight_until_escape(shown, live, size, views):
    """However far down among a topic's words it stands, and where its name alone fills the row."""
    async with shown(live, size=size, words="film, actor") as (app, pilot):
        topic = app.latest.topics["lda"][2]
        word, _ = topic.words[-1]
        beginning_of_name = re.escape(topic.name[:5])  # the rest may be cut off
        for keys in views:
            await pilot.press(*keys, "slash", *word, "enter")
            row = re.compile(f" {beginning_of_name}.*{word}")
            await seeing.until_true(
                lambda row=row: any(row.search(line) for line in seeing.lines(app))
            )
            rows = app.main.view.query(RowList).first(RowList)
            assert len(rows.rows) < 50
            await pilot.press("escape")
            await seeing.until_true(lambda rows=rows: len(rows.rows) == 50)


async def test_a_click_on_a_column_s_head_sorts(shown, live):
    async with shown(live, size=(120, 40), words="film, actor") as (app, pilot):
        for keys, head, order in (
            (DASHBOARD, "name", "name"),
            (TOPICS, "#", "number"),
            (EMERGENCE, "name", "name"),
        ):
            await pilot.press(*keys)
            await seeing.until_true(lambda: app.main.view.query(RowList).first(RowList).rows)
            rows = app.main.view.query(RowList).first(RowList)
            header = "".join(text for text, _ in rows.header(rows.width))
            frame = 1  # cells of the panel's frame, above and at the left
            await pilot.click(rows, offset=(header.index(head) + frame, frame))
            assert app.choice.order == order
            if order == "name":
                sorted_by = [row.name.casefold() for row in rows.rows]
            else:
                sorted_by = [row.topic for row in rows.rows]
            assert sorted_by == sorted(sorted_by)


def first_words(snapshot, topic):
    """Those by probability and those shown."""
    ids, _ = snapshot.leading
    shown_ids, _ = snapshot.shown
    return {*ids[topic, :10].tolist(), *shown_ids[topic, :10].tolist()}


def test_changes_are_counted_from_half_of_the_articles(tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe())
    with SessionReader(path) as reader:
        snapshots = reader.words_at("lda", reader.snapshots("lda"))
        snapshot_at = {snapshot.articles: snapshot for snapshot in snapshots}
        newest = 12_480
        for as_of, since in ((newest, 6_144), (4_096, 2_048), (16, 16)):
            rows = reader.topics("lda", 20, None if as_of == newest else as_of)
            assert {(row.articles, row.since) for row in rows} == {(as_of, since)}
            now = snapshot_at[as_of]
            then = snapshot_at[since]
            for row in rows:
                assert row.trend[0] == then.shares[row.topic]
                assert row.trend[-1] == row.share == now.shares[row.topic]
                assert row.change == row.share - row.trend[0]
                new = first_words(now, row.topic) - first_words(then, row.topic)
                assert row.newcomers == {reader.vocabulary()[word] for word in new}


async def test_words_that_tell_topics_apart_come_first_until_asked_otherwise(shown, growing):
    def words_on_screen(app):
        return [row.shown for row in app.latest.topics["lda"]]

    with SessionReader(growing) as reader:
        rows = reader.topics("lda", 20)
    telling = [row.shown for row in rows]
    by_probability = [row.words for row in rows]
    assert telling != by_probability

    async with shown(growing, words="film, actor") as (app, pilot):
        await pilot.press("2")
        await seeing.until(pilot, "topics after")
        assert words_on_screen(app) == telling
        await pilot.press("W")
        await seeing.until_true(lambda: words_on_screen(app) == by_probability)
        await pilot.press("W")
        await seeing.until_true(lambda: words_on_screen(app) == telling)


# The map of topics over time, and what can be done with topics: name, pin, sort, fold and find
# them.


def test_shares_are_read_once(tmp_path, monkeypatch):
    recipe = canned.Recipe()
    path = canned.build(tmp_path / "s.db", recipe)
    words_at = SessionReader.words_at
    read = list[int]()

    def noted(reader, model, points):
        points = list(points)
        read.extend(points)
        return words_at(reader, model, points)

    monkeypatch.setattr(SessionReader, "words_at", noted)
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


def test_orders_and_the_topic_that_matters_most():
    rows = [
        topic(0, "b", share=0.2, before=0.19),
        topic(1, "A", share=0.5, before=0.5),
        topic(2, "c", share=0.3, before=0.4),
    ]
    orders = {"share": [1, 2, 0], "change": [2, 0, 1], "number": [0, 1, 2], "name": [1, 0, 2]}
    for order, expected in orders.items():
        assert [row.topic for row in ordered(rows, order)] == expected
    assert [row.topic for row in ordered(rows, "share", {0})] == [0, 1, 2]
    rows = [
        topic(0, share=0.3, before=0.31),
        topic(1, share=0.2, before=0.4),
        topic(2, share=0.5, before=0.5),
    ]
    assert featured(rows, rows[0], {2}) == (rows[0], "chosen")
    assert featured(rows, None, {0, 2}) == (rows[2], "pinned")
    assert featured(rows, None, ()) == (rows[1], "moved most")
    assert featured([], None, ())[0] is None
    rows[1] = replace(rows[1], hidden=True)
    assert featured(rows, None, ()) == (rows[0], "moved most")
    listed = matching(rows, NOTHING_SOUGHT, pinned={1})  # which is hidden
    assert [row.topic for row in listed] == [2, 0]


async def test_a_vast_dashboard_has_the_atlas_and_a_card(shown, live):
    async with shown(live, size=(200, 60), words="Atlas · 49 topics") as (app, pilot):
        assert "most about it" in await seeing.until(pilot, "moved most")
        await pilot.press("down")
        await seeing.until_true(lambda: app.screen.query_one("#topics", TopicList).held)
        chosen = app.screen.query_one("#topics", TopicList).topic
        await seeing.until(pilot, f"{chosen.label} · lda · chosen")
        drawn = app.screen.query_one(TopicAtlas)
        await seeing.until_true(lambda: drawn.chosen == chosen.topic)
        await seeing.press(pilot, "r", "space", shows="REPLAY")
        first = app.watched.replay.points[0]
        app.watched.replay.step(-len(app.watched.replay.points))  # back to the first point
        app.watched.read_again()
        seen = await seeing.until(pilot, f"after {first} articles ─")
        assert "most about it" in seen  # of the articles that had been read by then
        await seeing.until_true(lambda: drawn.row.articles == first)


async def test_a_wide_list_of_topics_has_titles_except_in_a_replay(shown, live):
    async with shown(live, size=(120, 40), words="film, actor") as (app, pilot):
        seen = await seeing.press(pilot, "2", shows="over time")
        listed = app.screen.query_one("#all-topics", TopicList)
        assert "titles" not in seen  # there is no room
        await seeing.press(pilot, "z", shows=" titles")
        await seeing.until_true(lambda: listed.width >= ROOM_FOR_TITLES)
        titles = await app.watched.ask(lambda reader: reader.titles_about("lda", [3]))
        first, *_ = titles[3]
        head, row = (
            line for line in seeing.lines(app) if " titles" in line or "film, actor" in line
        )
        assert head.index(" titles") == row.index(f" {visible(first)}")
        await seeing.press(pilot, "r", "space", shows="REPLAY")
        await seeing.until_true(lambda: "titles" not in "".join(seeing.lines(app)))


async def test_a_topic_is_named_and_loses_the_name_again(shown, tmp_path):
    own = canned.build(tmp_path / "own.db", canned.Recipe(state="finished"))
    async with shown(own, size=(120, 40), words="film, actor") as (app, pilot):
        before = app.latest.topics["lda"][3].name
        await seeing.press(pilot, "2", "N", shows="Name of topic 3")
        name = app.screen.query_one(Input)
        name.value = "x" * 61
        await seeing.press(pilot, "enter", shows="1 to 60 printable characters")
        name.value = ""
        await pilot.press(*"the movies")
        await seeing.until_true(lambda: name.value == "the movies")
        await seeing.press(pilot, "enter", shows="#3 the movies over time, by articles read")
        assert app.latest.topics["lda"][3].name == "the movies"
        await seeing.in_front(pilot, Rename, "N")
        await seeing.press(
            pilot,
            "delete",
            "enter",
            shows=f"#3 {before} over time, by articles read",
        )


async def test_topics_fold_into_areas_around_the_chosen_one(shown, live):
    async with shown(live, size=(100, 30)) as (app, pilot):
        await seeing.press(pilot, "2", shows="50 topics after")
        listed = app.screen.query_one("#all-topics", TopicList)
        await pilot.press("down", "down")
        await seeing.until_true(lambda: listed.cursor == 2)
        chosen = listed.topic.topic
        await pilot.press("b")
        await seeing.until_true(lambda: listed.is_grouped)
        await seeing.until(pilot, "▸")
        assert listed.topic.topic == chosen
        groups = [row for row in listed.rows if isinstance(row, AreaRow)]
        unused = [
            row for row in app.latest.topics["lda"] if row.topic not in app.latest.areas_of("lda")
        ]
        assert sum(group.topic_count for group in groups) + len(unused) == 50
        assert sum(row.share for row in (*groups, *unused)) == pytest.approx(1, abs=1e-3)
        await pilot.press("left")
        assert isinstance(listed.current, AreaRow)
        folded = [row for row in listed.rows if isinstance(row, AreaRow)]
        assert listed.rows == [*folded, *unused]
        for width in (100, 40):  # the numbers of topics stand in one column
            rows = [listed.parts(group, width) for group in groups]
            widths = {sum(cell_len(text) for text, _ in parts) for parts in rows}
            assert len(widths) == 1, "all rows are equally wide"
            for group in groups:
                text = "".join(text for text, _ in listed.parts(group, width))
                assert text.split()[0] in "▸▾", "an area has no number that looks like a topic's"
                assert text.endswith((" topic", " topics"))
        await pilot.press("enter")
        assert len(listed.rows) == len(groups) + listed.current.topic_count + len(unused)
        await pilot.press("b")
        assert len(listed.rows) == 50
