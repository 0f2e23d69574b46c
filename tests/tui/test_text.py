"""Numbers and foreign text; what there is no room for is shortened, folded, or scrolled to, never
cut off."""

import unicodedata
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui import canned, seeing
from tests.tui.standins import topic
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.tui import text
from wikitopics.tui.bars import KeyBar, fitted
from wikitopics.tui.chart import Chart
from wikitopics.tui.curves import difference
from wikitopics.tui.inks import Clickable, Drawn
from wikitopics.tui.plot import Drawing, Series
from wikitopics.tui.text import fitting, folded, measured, padded, squeezed
from wikitopics.tui.topic_card import word_line

# What there is no room for is shortened where that does no harm, folded, or scrolled to; never cut
# off.


X = np.array([100.0, 1_000.0, 10_000.0])


def test_nothing_is_wider_than_its_cells_and_nothing_is_lost():
    """What is drawn of wide letters: snapshots/*-wide.txt."""
    assert cell_len(padded("e\u0301tude", 9)) == 9
    kept = fitted([(0, [("駅" * 10, "")]), (1, [("second", "")])], 25)
    assert "".join(text for text, _ in kept) == " " + "駅" * 10
    text = f"cannot read {'x' * 50}/dump.xml: 鉄道駅鉄道駅鉄道駅 is no dump"
    lines = folded(text, 20)
    assert all(cell_len(line) <= 20 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert fitting(["first", "second", "third"], 14, " · ") == ["first", "second"]
    assert fitting(["first", "second"], 13, " · ") == ["first"]
    assert fitting(["first", "second"], 4, " · ") == ["fir…"]
    assert fitting([], 4, " · ") == []
    assert squeezed("lda", 10) == "lda"
    assert squeezed("lda-fifty-topics", 11) == "lda-f…opics"
    assert cell_len(squeezed("鉄道駅鉄道駅鉄道駅", 8)) <= 8


@pytest.mark.parametrize("width", [28, 29, 30, 31, 40, 60])
def test_the_second_column_of_words_begins_in_one_place(width):
    row = replace(topic(), shown=(("a", 0.1), ("b", 0.01)))
    for i in range(2):
        assert sum(cell_len(text) for text, _ in word_line(row, i, width, False, "spark")) == width


@pytest.mark.parametrize(
    ("text", "shown"), [("a雪", "a雪 "), ("a雪雪", "a雪…"), ("abc雪", "abc…"), ("abcd ", "abcd")]
)
async def test_what_a_line_cannot_hold_is_marked(open_app, live, text, shown):
    app = open_app(live)
    async with app.run_test():
        assert app.screen.query_one(KeyBar).strip([(text, "")], 4).text == shown


async def test_the_mark_of_a_cut_line_looks_like_what_it_stands_for(shown, live):
    async with shown(live, size=(100, 30)) as (app, _):
        app.add_class("-links")
        drawn = app.screen.query(Drawn).first()
        first = Clickable("first", address="http://host.org/first")
        second = Clickable("second", address="http://host.org/second")
        parts = [(first, "strong"), (second, "accent"), ("last", "faint")]
        for width, cut_part, ink in (
            (4, first, "strong"),  # "fir…"
            (5, first, "strong"),  # "firs…": the mark takes the place of the last letter
            (6, second, "accent"),  # "first…"
        ):
            *_, mark = drawn.strip(parts, width)
            assert mark.text == "…"
            assert mark.style.link == cut_part.address
            assert mark.style.color == drawn.pen(ink).color


async def test_end_labels(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        chart = app.screen.query_one(Chart)

        def draw(at=X, **lines):
            chart.draw(
                Drawing(
                    series=tuple(Series(name, at, np.array(y)) for name, y in lines.items()),
                    value=measured,
                    change=partial(difference, whole=False),
                    better="lower",
                    best=600.0,
                )
            )

        app.action_freeze()  # so that no newer one takes its place
        # The name is shortened and never the value.
        draw(**{"lda-with-a-long-name-1": [9_000.0, 5_000.0, 3_216.4]})
        await seeing.until(pilot, "name-1 3,216 -35.7%")
        # They stand in the order of their values.
        ends = {"second": 1_320.0, "third": 1_319.0, "first": 1_321.0}
        draw(**{name: [9_000.0, 3_000.0, end] for name, end in ends.items()})
        await seeing.until(pilot, "first 1,321")
        seen = seeing.text(app)
        assert seen.index("first 1,3") < seen.index("second 1,3") < seen.index("third 1,3")
        # Zoomed in, a label has the value where its line leaves the picture.
        draw(a=[900.0, 500.0, 300.0])
        chart.window = (2.0, 3.2)
        chart.redraw()
        assert "a 300" not in await seeing.until(pilot, "a 500")
        # Colour does not say alone that a value is worse.
        draw(a=[650.0, 600.0, 630.0])
        chart.reset()
        assert "best 600 · ·" in await seeing.until(pilot, "a 630 +5.0% worse since 1,000")
        # The change is since the measurement that is nearest to half of the articles.
        draw(at=np.array([510.0, 590.0, 1_000.0]), a=[1_260.0, 900.0, 630.0])
        await seeing.until(pilot, "a 630 -50.0% since 510")


def test_a_change_that_rounds_to_nothing_is_none():
    assert difference(200.0, 190.0, whole=False) == "-5.0%"
    assert difference(200.0, 200.01, whole=False) == ""
    assert difference(-7.1, -7.08, whole=False) == "+0.020"
    assert difference(250, 227, whole=True) == "-23"


@pytest.mark.parametrize(
    ("presses", "title", "value"), [(1, "Log-likelihood", "-7."), (3, "Coherence", "0.")]
)
async def test_what_has_no_logarithm_stays_on_a_linear_axis(shown, live, presses, title, value):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "y", shows="log y · Y whole curve")
        seen = await seeing.press(pilot, *["v"] * presses, shows=f"lda {value}")
        assert title in seen
        assert "log y" not in seen
        await pilot.press("y", "y")
        await seeing.until_true(
            lambda: any("have no logarithm" in one for one in seeing.notices(app))
        )


async def test_a_long_line_of_the_log_is_folded(shown, tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="finished"))
    pulse = HeartbeatWriter(path)
    pulse.event("warning", f"the wiki refuses {'again and ' * 20}for the very last time")
    pulse.close()
    async with shown(path, size=(80, 24)) as (app, pilot):
        await seeing.press(pilot, "5", shows="for the very last")
        await pilot.press("c")
        await seeing.until_true(
            lambda: "again and again and for the very last time" in app.clipboard
        )


async def test_what_does_not_fit_can_be_opened_or_scrolled_to(shown, live):
    async with shown(live, size=(60, 16)) as (_, pilot):
        await seeing.press(pilot, "2", "enter", shows="Articles most about #")
        assert "typical" in await seeing.until(pilot, "12,480")
        await pilot.resize_terminal(80, 24)
        assert "last save" not in await seeing.press(pilot, "escape", "4", shows="latency")
        await seeing.press(pilot, "end", shows="last save")


# Numbers as people read them; foreign text as it is, never obeyed.


OBEYED: Final = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co")
"""Categories of what a terminal may obey, or show in the place of something else."""


@given(st.text() | st.text(st.characters(categories=OBEYED)))
def test_nothing_that_a_terminal_obeys_is_left(title):
    left = {ch for ch in text.visible(title) if unicodedata.category(ch) in OBEYED}
    assert left <= {"\u200c", "\u200d"}, "joiners, which belong to words"


def test_where_a_word_may_be_broken_is_not_shown():
    assert text.visible("co\u00adoperate \u202e") == r"cooperate \u202e"


def test_numbers():
    assert text.short(9210) == "9.2k"
    assert text.short(168) == "168"
    assert text.short(1.5e6) == "1.5M"
    assert text.measured(-7.0812) == "-7.081"
    assert text.clock(6130) == "01:42:10"
    assert text.clock(2 * 86400 + 3 * 3600 + 600) == "2d 03:10"
    assert text.age(600) == "10 min"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("plain", "plain"),
        ("Zwoleń, Hespérides", "Zwolen, Hesperides"),
        ("e\u0301", "e"),
        ("日本 ł", "???? ?"),
    ],
)
def test_without_utf8_accents_go_and_widths_stay(title, shown):
    assert text.in_ascii(title) == shown
