"""The beginnings of documents on the screen: in lists, beside topics, on the map and on cards."""

import sqlite3
import zlib
from contextlib import closing

import pytest

from tests.tui import canned, seeing
from wikitopics.session.records import ArticleRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.typical import typicality
from wikitopics.tui.text import title_and_text
from wikitopics.tui.topic_list import TopicList
from wikitopics.tui.views.articles import ArticleList
from wikitopics.tui.views.ask import Beginning
from wikitopics.tui.views.sky_map import SkyMap

HOSTILE = "[/b] \x1b]0;owned\x07\u202e"
END = "and so it ends"


def beginning(seq):
    return f"Begun{seq:05} {HOSTILE} {'with words that go on ' * 9}{END}"


@pytest.fixture
def begun(tmp_path):
    """A session of documents with snippets, of which every second has no title."""
    recipe = canned.Recipe(state="finished")
    return with_beginnings(canned.lay_out(canned.build(tmp_path / "begun.db", recipe), recipe))


def with_beginnings(path):
    with closing(sqlite3.connect(path)) as db:
        for (seq,) in db.execute("SELECT seq FROM articles").fetchall():
            data = zlib.compress(beginning(seq).encode())
            db.execute("INSERT INTO snippets VALUES (?, 1, ?)", [seq, data])
        db.execute("UPDATE articles SET title = 'text ' || page_id WHERE seq % 2")
        db.commit()
    return path


def row_of(title, snippet):
    return ArticleRow(1, 1, title, 0, 100, "trained", (), None, snippet)


@pytest.mark.parametrize(
    ("title", "snippet", "shown"),
    [
        ("Danube", "The Danube is a river.", ("Danube  ", "  The Danub…")),
        ("text 7", "The Danube is a river.", ("The Danube is a riv…", "")),
        ("The Danube…", "The Danube is a river.", ("The Danube is a riv…", "")),
        ("Danube", None, ("Danube", "")),
        ("text 7", None, ("text 7", "")),
        ("\u202eDanube", "\x1b[31mred", ("\\u202eD…", "  \\x1b[31mr…")),
    ],
)
def test_a_title_and_a_text_share_their_cells(title, snippet, shown):
    assert title_and_text(row_of(title, snippet), 8, 12) == shown
    assert title_and_text(row_of("A title", "A text"), 4, 0) == ("A t…", "")


async def test_a_list_has_texts_where_there_is_room(shown, begun):
    async with shown(begun, size=(160, 40), words="FINISHED") as (app, pilot):
        seen = await seeing.press(pilot, "3", shows="Begun")
        listed = app.main.view.query_one(ArticleList)
        assert "  text  " in seen
        for row in listed.rows[:20]:
            (line,) = (line for line in seeing.lines(app) if f"Begun{row.seq:05}" in line)
            assert "\\x1b]0;owned\\x07\\u202e" in line
            assert ("text " in line) == (row.seq % 2 == 0 and "text " in row.title)
        assert not any(sign in seeing.text(app) for sign in "\x1b\x07\u202e")
    async with shown(begun, size=(80, 24), words="FINISHED") as (app, pilot):
        seen = await seeing.press(pilot, "3", shows="Begun")
        titled = next(row for row in listed.rows[:15] if row.seq % 2 == 0)
        assert titled.title[:10] in seen
        assert f"Begun{titled.seq:05}" not in seen


async def test_documents_about_a_topic_are_in_the_order_of_a_shown_figure(shown, begun):
    async with shown(begun, size=(160, 60), words="FINISHED") as (app, pilot):
        seen = await seeing.press(pilot, "2", shows="Begun")
        assert "typical   words" in seen
        listed = app.main.view.query_one("#topic-articles", ArticleList)
        await seeing.until_true(lambda: len(listed.rows) > 3)
        model = app.main.view.model
        figures = []
        for row in listed.rows[:5]:
            _, proportion = row.largest_of(model)
            figures.append(typicality(proportion, row.words))
            lines = [line for line in seeing.lines(app) if f"{row.words:>7,}  " in line]
            assert any(f" {figures[-1]:.2f} " in line for line in lines)
        assert figures == sorted(figures, reverse=True)


async def test_a_card_has_the_whole_beginning_and_an_article_without_one_has_none(shown, trained):
    begun = with_beginnings(trained)  # painting needs a model
    with closing(sqlite3.connect(begun)) as db:
        ((newest,),) = db.execute("SELECT max(seq) FROM articles")
        db.execute("DELETE FROM snippets WHERE first_seq = ?", [newest - 1])
        db.commit()
    async with shown(begun, size=(80, 24), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "3", shows="Begun")
        seen = await seeing.press(pilot, "enter", shows="How it begins")
        assert END in " ".join(seen.split())
        assert f"Begun{newest:05}" in seen
        assert not any(sign in seen for sign in "\x1b\x07\u202e")
        await pilot.press("escape", "down")
        await seeing.press(pilot, "enter", shows="its topics")
        assert not app.main.view.query_one(Beginning).region
        await seeing.press(pilot, "i", shows="type or paste a text")
        assert not app.main.view.query_one(Beginning).region


async def test_beside_a_topic_stands_how_documents_without_a_title_begin(shown, begun):
    async with shown(begun, size=(120, 40), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "2", shows="over time")
        await seeing.press(pilot, "z", shows=" titles")
        listed = app.screen.query_one("#all-topics", TopicList)
        await seeing.until_true(lambda: listed._titles)
        titles = [title for of_topic in listed._titles.values() for title in of_topic]
        assert any(title.startswith("Begun") for title in titles)
        assert not any(title.startswith("text ") for title in titles)


async def test_a_crowded_map_has_the_titles_of_the_most_typical(shown, begun, monkeypatch):
    offered = []

    def titled(places, titles, *more, **options):
        from wikitopics.tui.sky_texts import titled as original

        offered.append(list(titles))
        return original(places, titles, *more, **options)

    monkeypatch.setattr("wikitopics.tui.views.sky_names.titled", titled)
    async with shown(begun, size=(120, 40), words="FINISHED") as (app, pilot):
        await pilot.press("7")
        sky = app.main.view.query_one(SkyMap)
        await seeing.until_true(lambda: sky.sky is not None and sky._names.written)
        for _ in range(3):
            await pilot.press("plus")
        await seeing.until_true(lambda: offered and offered[-1] and sky._names.window == sky.window)
        found = sky.sky.articles.within(sky.window).numbers
        with SessionReader(begun) as reader:
            rows = reader.numbered(sky.sky.seqs[found].tolist()).values()
        model = app.main.view.model

        def typical(row):
            _, proportion = row.largest_of(model)
            return typicality(proportion, row.words)

        expected = sorted(rows, key=lambda row: (-typical(row), row.seq))
        assert len(expected) > 3
        assert offered[-1] == [row.called for row in expected]
        assert offered[-1] != [row.called for row in rows]
