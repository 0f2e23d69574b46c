"""Asking about a text while it is typed, and the cards of articles."""

import sqlite3

import pytest
from textual import events

from tests.tui import canned, seeing
from wikitopics.tui.field import LONGEST
from wikitopics.tui.topic_list import TopicList
from wikitopics.tui.views.articles import ArticleList, Articles, Reading
from wikitopics.tui.views.ask import AskView, Mix
from wikitopics.tui.views.topics import TopicView


def card(app):
    """The number of the article whose card is in sight; None: there is none."""
    article = app.main.view.trail[-1] if isinstance(app.main.view, AskView) else None
    return None if article is None else article.seq


async def test_a_text_is_asked_about_while_it_is_typed(shown, trained, corpus):
    async with shown(trained, size=(80, 24), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "i", shows="appear as you type")
        typed = f"{corpus.words[0]} {corpus.words[1]} q1"
        await pilot.press(*("space" if sign == " " else sign for sign in typed))
        seen = await seeing.until(pilot, "2 of 3 words known")
        assert typed in seen
        assert "Documents by its words and topics" in seen
        (topic, part, _, words), *_ = app.main.view.query_one(Mix).rows
        assert set(words.split()) == set(corpus.words[:2])
        assert part > 0.5
        await seeing.press(pilot, "tab", "enter", shows=f"#{topic} ")
        assert isinstance(app.main.view, TopicView)
        assert typed in await seeing.press(pilot, "i", shows="2 of 3 words known")
        await pilot.press("escape")
        assert isinstance(app.main.view, TopicView)
        await seeing.press(pilot, "i", *corpus.words[2], shows="1 of 1 words known")


async def test_the_field_is_as_high_as_its_text_and_leaves_room_for_the_lists(shown, trained):
    async with shown(trained, size=(80, 24), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "i", shows="appear as you type")
        field = app.main.focused
        listed = app.main.view.query_one(ArticleList)
        assert (field.outer_size.height, listed.outer_size.height) == (3, 10)
        heights = []
        for _ in range(6):
            app.post_message(events.Paste("a line\n"))
            await seeing.settled(pilot)
            heights.append(field.outer_size.height)
        assert heights == [4, 5, 6, 6, 6, 6]


async def test_a_short_question_finds_titles_in_which_its_words_are_marked(shown, trained):
    async with shown(trained, size=(120, 40), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "i", shows="appear as you type")
        await pilot.press(*"document", "space", *"77")
        await seeing.until(pilot, "Documents by its words and topics")
        listed = app.main.view.query_one(ArticleList)
        await seeing.until_true(lambda: listed.rows and listed.rows[0].title == "document 77")
        marked = [text for text, ink in listed.parts(listed.rows[0], 100) if ink == "accent"]
        assert marked[0] == "document 77"


async def test_articles_are_found_by_their_words(shown, trained, corpus):
    async with shown(trained, size=(120, 40), words="FINISHED") as (app, pilot):
        word = corpus.words[0]
        seen = await seeing.press(pilot, "3", "slash", *word, "enter", shows="by its words")
        assert f"0 documents with “{word}” in the title" in seen
        listed = app.main.view.query_one(ArticleList)
        assert len(listed.rows) > 10


async def test_topics_are_found_by_the_words_that_speak_for_them(shown, trained, corpus):
    async with shown(trained, size=(120, 40), words="FINISHED") as (app, pilot):
        one, other = corpus.words[:2]  # of one topic
        await pilot.press("2", "slash", *other, "space", *one, "enter")
        await seeing.until_true(lambda: app.main.view.found)
        listed = app.main.view.query_one(TopicList)
        await seeing.until_true(lambda: len(listed.rows) >= 1)
        topic = listed.rows[0].topic
        assert set(app.main.view.found[topic]) == {one, other}
        marked = [
            text.strip(" ,+") for text, ink in listed.parts(listed.rows[0], 200) if ink == "accent"
        ]
        assert {one, other} <= {*marked, *listed.rows[0].name.split(", ")}
        await seeing.press(pilot, "escape", shows="Topics by share")
        assert not app.main.view.found


async def test_findings_in_one_model_are_not_shown_with_another(shown, two_models, monkeypatch):
    async with shown(two_models, size=(120, 40), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "2", "slash", *"galax", "enter", shows="with “galax”")
        view = app.main.view
        view.found = {3: ["galaxy"]}
        view.query_one(TopicList).show_titles({3: ["A galaxy"]})
        monkeypatch.setattr(view, "fill", lambda *_: None)  # the other model does not answer yet
        await pilot.press("m", "m")
        await seeing.until_true(lambda: view.model == "hdp")
        assert not view.found
        assert not view.query_one(TopicList)._titles


async def test_what_is_pasted_is_bounded_and_obeyed_by_no_terminal(shown, trained):
    async with shown(trained, size=(80, 24), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "i", shows="appear as you type")
        field = app.main.focused
        app.post_message(events.Paste("one\r\ntwo\u202e\0\x1b[31m"))
        await seeing.until_true(lambda: "left out" in "".join(seeing.notices(app)))
        assert field.text == "one\ntwo[31m"
        app.post_message(events.Paste("x" * 10**6))
        await seeing.until_true(lambda: "cut: " in seeing.notices(app)[-1])
        assert len(field.text) == LONGEST


async def test_enter_on_an_article_anywhere_opens_its_card(shown, trained):
    async with shown(trained, size=(120, 40), words="FINISHED") as (app, pilot):
        for keys, kind in (("1", Reading), ("2", ArticleList), ("3", ArticleList)):
            await pilot.press(keys)
            await seeing.until_true(lambda kind=kind: app.main.view.query(kind))
            listed = app.main.view.query_one(kind)
            before = app.main.current
            await seeing.until_true(lambda listed=listed: len(listed.rows) > 1)
            listed.focus()
            await seeing.press(pilot, "down", "enter", shows="its topics, and their words")
            number = card(app)
            alike = app.main.view.query_one(ArticleList)
            await seeing.press(pilot, "down", "enter", shows="Documents most like it")
            await seeing.until_true(lambda number=number: card(app) != number)
            other = card(app)
            await pilot.press("escape")
            await seeing.until_true(lambda number=number: card(app) == number)
            await seeing.until_true(lambda other=other, alike=alike: alike.current.seq == other)
            await pilot.press("escape")
            await seeing.until_true(lambda before=before: app.main.current == before)


async def test_a_card_says_what_it_lacks_and_its_address_is_copied(shown, live):
    async with shown(live, size=(80, 24), words="LIVE") as (app, pilot):
        await seeing.press(pilot, "3", shows="Bauhaus")
        await seeing.press(
            pilot, "enter", shows="damaged (model lda:"
        )  # there is none in this file
        address = app.latest.address(app.main.view.trail[-1])
        await pilot.press("c", "escape")
        assert app.clipboard == address
        assert isinstance(app.main.view, Articles)


@pytest.mark.parametrize(
    "damage", ["UPDATE models SET arrays = x'00'", "DELETE FROM models", "new"]
)
async def test_what_cannot_be_answered_is_told(shown, trained, damage):
    if damage == "new":
        trained = canned.build(trained.with_name("new.db"), canned.Recipe(state="new"))
    else:
        with sqlite3.connect(trained) as db:
            db.execute(damage)
    async with shown(trained, size=(80, 24)) as (_, pilot):
        await seeing.press(pilot, "i", shows="no topics yet" if damage == "new" else "models")
