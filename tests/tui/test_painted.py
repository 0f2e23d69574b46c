"""Painted texts: in the field of Ask, as somebody types, and on the card of an article."""

import json

import pytest
from rich.console import Console

from tests.tui import seeing
from wikitopics.session.analysis.painted import PaintedText, PaintedWord, TextTopic
from wikitopics.tui.painted import moved, painted_lines, topic_inks, word_at, word_ink
from wikitopics.tui.views.ask import AskView, Mix

TEXT = "the navy fleet sang"
PAINTED = PaintedText(
    TEXT,
    (
        PaintedWord(4, 8, "navy", 7, 0.9),
        PaintedWord(9, 14, "fleet", 7, 0.4),
        PaintedWord(15, 19, "sang", 2, 0.6),
    ),
    (TextTopic(7, 0.7, "navy war", 3), TextTopic(2, 0.3, "song", 5)),
)


def test_inks_follow_topic_and_probability():
    inks = topic_inks(PAINTED, coloured=True)
    assert inks == {7: "area3+brush0", 2: "area5+brush1"}
    assert [word_ink(word, inks) for word in PAINTED.words] == [
        "area3+brush0",
        "pale3",
        "area5+brush1",
    ]
    plain = topic_inks(PAINTED, coloured=False)
    assert [word_ink(word, plain) for word in PAINTED.words] == ["brush0", "", "brush1"]
    assert topic_inks(None, coloured=True) == {}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (TEXT, ["navy", "fleet", "sang"]),
        (TEXT + " aloud", ["navy", "fleet", "sang"]),
        ("and " + TEXT, ["navy", "fleet", "sang"]),
        ("the navy's fleet sang", ["navy", "fleet", "sang"]),
        ("the navy fl-eet sang", ["navy", "sang"]),
        ("the navy sang", ["navy", "sang"]),
        ("", []),
        ("navy navy navy", []),
    ],
)
def test_words_stay_painted_beside_what_is_typed(text, kept):
    found = moved(PAINTED, text)
    assert [text[word.start : word.end] for word in found] == [word.word for word in found]
    assert set(kept) <= {word.word for word in found}


def test_the_word_at_a_place_is_the_one_that_is_there_or_ends_there():
    assert [word_at(PAINTED, place) for place in (3, 19, 20)] == [None, PAINTED.words[2], None]
    assert word_at(PAINTED, 8) == PAINTED.words[0]
    assert word_at(None, 0) is None


def test_lines_are_folded_between_words_and_keep_inks():
    inks = topic_inks(PAINTED, coloured=True)
    lines = painted_lines(PAINTED, inks, 9)
    assert ["".join(text for text, _ in line) for line in lines] == ["the navy", "fleet", "sang"]
    assert lines[0] == [("the", ""), (" ", ""), ("navy", "area3+brush0")]
    narrow = painted_lines(PAINTED, inks, 3)
    assert ["".join(text for text, _ in line) for line in narrow] == [
        *("the", "nav", "y", "fle", "et", "san", "g")
    ]
    assert narrow[2] == [("y", "area3+brush0")]
    hostile = PaintedText("a\x1b[31m b", (), ())
    assert "\x1b" not in "".join(text for text, _ in painted_lines(hostile, {}, 40)[0])


def style_of(app, word):
    """The style in which the screen shows a word, the first time."""
    for strip in seeing.strips(app):
        place = strip.text.find(word)
        if place >= 0:
            for segment in strip:
                if place < len(segment.text):
                    return segment.style
                place -= len(segment.text)
    raise AssertionError(word)


@pytest.mark.parametrize("system", ["truecolor", "standard"])
async def test_the_text_is_painted_like_its_topics(shown, trained, corpus, monkeypatch, system):
    monkeypatch.setattr(Console, "color_system", system)
    word = corpus.words[0]
    async with shown(trained, size=(80, 24), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "i", shows="appear as you type")
        typed = f"qqq {word} {corpus.words[1]}"
        await pilot.press(*("space" if sign == " " else sign for sign in typed))
        seen = await seeing.until(pilot, "2 of 3 words known")
        view = app.main.view
        (topic, _, label, _), *_ = view.query_one(Mix).rows
        painted = style_of(app, word)
        plain = style_of(app, "qqq")
        assert painted.bold
        assert not plain.bold
        assert (painted.color != plain.color) == (system == "truecolor")
        mark = view.query_one(Mix).pen(label[-1][1])
        assert mark.bold
        if system == "truecolor":
            assert mark.color == painted.color
        probability = view._field._painted.words[1].probability
        assert f"{corpus.words[1]}: #{topic} " in seen
        assert f"{probability:.0%} · 2 of 3 words known" in seen
        await seeing.press(pilot, "home", "right", shows=" 2 of 3 words known")
        await seeing.until_true(lambda: view._field.word_at_cursor() is None)


@pytest.fixture
def of_texts(cli, corpus, home, tmp_path):
    """A session of titled texts, which keeps their snippets."""
    lines = []
    for number in range(80):
        words = corpus.words[12 * (number % 5) : 12 * (number % 5) + 12]
        text = f"Opening{number} " + " ".join(words)
        lines.append(json.dumps({"title": f"Title {number}", "text": text}))
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    options = ["--texts", tmp_path / "texts.jsonl", "--vocab", corpus.vocabulary]
    assert cli("train", "--source", "texts", *options, "--topics", 5, "--held-out", 5).code == 0
    return home / "default.db"


async def test_a_card_shows_the_snippet_painted(shown, of_texts, corpus):
    async with shown(of_texts, size=(80, 24), words="FINISHED") as (app, pilot):
        await seeing.press(pilot, "3", shows="Title ")
        await pilot.press("enter")
        seen = await seeing.until(pilot, "How it begins")
        assert isinstance(app.main.view, AskView)
        assert "Opening" in seen
        word = next(word for word in corpus.words if f" {word} " in seen)
        assert style_of(app, f" {word} ") is not None
