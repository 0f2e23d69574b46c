"""One colour an area: dots, sparks and bars, on every ground; without colours, words say the
same."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from textual.theme import BUILTIN_THEMES

from tests.colours import contrast
from tests.tui import canned, seeing
from tests.tui.standins import topic
from wikitopics.session.analysis.areas import Area
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.tui.inks import MIX, Marks, area_ink, stacked
from wikitopics.tui.terminal import DARK, LIGHT
from wikitopics.tui.topic_card import TopicCard
from wikitopics.tui.topic_list import TopicList
from wikitopics.tui.topic_order import ORDERS, AreaRow, grouped
from wikitopics.tui.views.articles import ArticleList

# Bars of several parts.


def painted(line, width):
    """Eighths of a cell in each ink, by the signs that are drawn."""
    eighths = Counter[str]()
    for sign, ink in line:
        front, _, ground = ink.partition("/")
        filled = " ▏▎▍▌▋▊▉█".index(sign)
        eighths[front] += filled
        eighths[ground] += 8 - filled
    assert eighths.total() == 8 * width
    del eighths[""]
    return eighths


@given(st.lists(st.floats(0, 1), max_size=6), st.integers(1, 20))
def test_a_bar_is_as_wide_as_it_should_be(parts, width):
    whole = max(sum(parts), 1)
    shares = sorted((part / whole for part in parts), reverse=True)
    inks = [f"ink{i}" for i in range(len(shares))]
    bar = stacked(list(zip(inks, shares, strict=True)), width)
    drawn = painted(bar, width)
    for ink, share in zip(inks, shares, strict=True):
        assert abs(drawn[ink] - 8 * width * share) < 8
    assert len(stacked([("a", part / whole) for part in parts], width)) == width


# Every area can be told from the ground, in every theme and with few colours.


SYSTEMS = {"256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}


def rgb(colour, system):
    """The colour as a terminal of this kind shows it."""
    return colour.downgrade(SYSTEMS[system]).get_truecolor().hex


@pytest.mark.parametrize("system", ["truecolor", "256"])
async def test_areas_can_be_told_from_the_ground(shown, live, system, monkeypatch):
    monkeypatch.setattr(Console, "color_system", system)
    themes = [
        DARK.name,
        LIGHT.name,
        *(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi),
    ]
    async with shown(live, size=(100, 30), words="film, actor") as (app, pilot):
        listed = app.main.view.query_one(TopicList)
        for theme in themes:
            app.theme = theme
            await pilot.pause()
            colours = [listed.pen(area_ink("area", area)).color for area in range(len(COLOURS))]
            inks_below = ["", "cursor"] if system == "truecolor" else [""]
            for under in inks_below:
                ground = rgb(listed.pen("", under).bgcolor, system)
                worst = min(contrast(rgb(colour, system), ground) for colour in colours)
                assert worst >= 3, (theme, ground, worst)
            if system == "truecolor":
                assert len(set(colours)) == len(COLOURS)


# On the screen.


def coloured(app, pattern):
    """The colours of the signs that a pattern's first group finds on the screen, by its second
    group."""
    found = dict[str, set[str]]()
    for strip in seeing.strips(app):
        styles = []
        for segment in strip:
            styles += [segment.style] * len(segment.text)
        for match in re.finditer(pattern, strip.text):
            style = styles[match.start(1)]
            found.setdefault(match[2], set()).add(style.color.get_truecolor().hex)
    return found


async def test_a_topic_has_one_colour_everywhere(shown, live):
    async with shown(live, size=(200, 60), words="lda 1,3") as (app, pilot):
        await seeing.until(pilot, "most about it")
        areas = app.latest.areas_of("lda")
        listed = app.main.view.query_one("#topics", TopicList)
        expected = {
            str(number): {listed.pen(area_ink("area", area.number)).color.get_truecolor().hex}
            for number, area in areas.items()
        }
        in_list = coloured(app, r"│ +\d+ ?(●) +\d+\.\d% +(?:\S+ pt)? +[▁-█─]+ +(\w+)")
        named = dict[str, set[str]]()
        for row in app.latest.topics_of("lda"):
            named.setdefault(row.name.split(",")[0], set()).update(expected.get(str(row.topic), ()))
        assert len(in_list) > 15
        read = coloured(app, r"[█-▏] *(●) (\w+), ")
        assert len(read) > 4
        happened = coloured(app, r"(●) lda #(\d+) ")
        assert happened
        assert all(colours == expected[number] for number, colours in happened.items())
        await seeing.press(pilot, "3", shows="Articles read")
        await seeing.until(pilot, "also about")
        shown_there = coloured(app, r"[█-▏] *(●) (\w+), ")
        assert len(shown_there) > 20
        for found in (in_list, read, shown_there):
            assert all(colours <= named[name] for name, colours in found.items())


async def test_the_bar_of_an_article_begins_with_its_largest_topic(shown, live):
    async with shown(live, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "3", shows="Bauhaus")
        listed = app.main.view.query_one(ArticleList)
        article = listed.rows[0]
        line = listed.parts(article, listed.width)
        ((topic, part),) = ((k, part) for model, k, part in article.topics if model == "lda")
        bar = [(sign, ink) for sign, ink in line if sign and sign in "▏▎▍▌▋▊▉█"]
        whole_cells = int(part * MIX)
        ink = area_ink("area", app.latest.areas_of("lda")[topic].number)
        assert bar[:whole_cells] == [("█", ink)] * whole_cells
        assert whole_cells < len(bar) <= MIX
        text = "".join(text for text, _ in line)
        assert app.latest.topics_of("lda")[topic].name in text
        assert f"{part:.0%}" not in text


@pytest.mark.parametrize("without", ["colour", "many colours", "signs"])
async def test_without_colours_or_signs_words_say_the_same(shown, live, monkeypatch, without):
    if without == "colour":
        monkeypatch.setenv("NO_COLOR", "1")
    if without == "many colours":
        monkeypatch.setattr(Console, "color_system", "standard")
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        if without == "signs":
            app.action_ascii()
        has_dots = without == "signs"
        assert re.search(r" 37% (o )?gene, patients", await seeing.until(pilot, "37%"))
        seen = await seeing.press(pilot, "2", shows="over time, by articles read")
        row = app.main.view.query_one(TopicList).topic
        area = app.latest.areas_of("lda")[row.topic]
        assert f"area {area.number} {area.name}" in seen
        _, below_status = seen.split("\n", 1)
        assert "●" not in below_status
        assert bool(re.search(r"\d o +\d+\.\d%", seen)) is has_dots
        seen = await seeing.press(pilot, "b", shows=" topics")
        sign = "+" if without == "signs" else "▸"
        for other in app.latest.atlases["lda"].areas:
            if other.number != area.number:
                folded = rf"{re.escape(sign)} .*{other.name[:8]}"
                assert re.search(folded, seen), other


async def test_the_card_names_the_area_whatever_its_name(shown, live):
    async with shown(live, size=(200, 60), words="lda 1,3") as (app, _):
        card = app.main.view.query_one(TopicCard)
        session = app.latest
        row = session.topics_of("lda")[3]
        atlas = session.atlases["lda"]
        for name in ("x" * 1_000, "鉄道駅" * 300, "red\x1b[31m"):
            areas = [replace(area, name=name) for area in atlas.areas]
            renamed = replace(session, atlases={"lda": replace(atlas, areas=areas)})
            card.show(row, renamed, app.choice)
            summary, *_ = card.lines(60, 20)
            line = "".join(text for text, _ in summary)
            assert f"● area {session.areas_of('lda')[3].number} " in line
            assert cell_len(line) < 60
            assert "\x1b" not in line
            assert line.rstrip()[-1] in "▁▂▃▄▅▆▇█", "the course of its share has room, too"


async def test_the_card_has_titles_in_a_line_or_articles_one_per_line(shown, live):
    async with shown(live, size=(200, 60), words="lda 1,3") as (app, _):
        card = app.main.view.query_one(TopicCard)
        session = app.latest
        articles = [replace(session.recent[0], title=title) for title in canned.HOSTILE]
        card.show(session.topics_of("lda")[3], session, app.choice)
        card.show_articles(articles)
        card.show_coherence(0.264)

        def lines(height):
            return ["".join(text for text, _ in line) for line in card.lines(70, height)]

        assert " npmi 0.26  " in lines(12)[0]
        first = "[/x] [bold red]not bold[/]"
        second = "bell\\x07 escape\\x1b[31m red"
        assert lines(12)[1] == f" articles {first} · {second}"
        assert len(lines(12)) == 12
        heading, *listed = lines(19)[11:14]
        assert heading == " most about it (typical, share)"
        assert [re.sub(r"^ 0\.\d\d +\d+% ", "", line) for line in listed] == [first, second]
        assert all(cell_len(line) <= 70 for height in (12, 19) for line in lines(height))
        card.show_articles(articles[2:3] * 2)
        assert lines(12)[1] == " articles two\\x0alines\\x09tab"
        card.show_articles([replace(articles[0], title="鉄道駅" * 30)])
        assert lines(12)[1].endswith("…")
        assert cell_len(lines(12)[1]) < 70
        card.show(session.topics_of("lda")[2], session, app.choice)
        assert lines(12)[1] == "", "those of another topic are not shown"
        assert "npmi" not in lines(12)[0]
        assert len(lines(12)) == 12, "the words stay where they are"
        card.show_articles([])
        assert len(lines(12)) == 11


# Topics by area.


async def test_heads_are_those_of_the_newest_areas(shown, growing):
    async with shown(growing, size=(120, 40), words="film, actor") as (app, pilot):
        await seeing.press(pilot, "2", "b", shows="▸")
        listed = app.main.view.query_one(TopicList)
        for _ in range(3):
            before = app.latest.topics["lda"]
            canned.grow(growing, canned.Recipe(), 4_096)
            await seeing.until_true(lambda before=before: app.latest.topics["lda"] is not before)
            await pilot.pause()
            heads = {row.number: row for row in listed.rows if isinstance(row, AreaRow)}
            areas = {area.number: area for area in app.latest.atlases["lda"].areas}
            assert heads.keys() == areas.keys()
            for number, area in areas.items():
                head = heads[number]
                assert (head.name, head.topic_count) == (area.name, len(area.topics))
                assert head.share == pytest.approx(area.share, abs=1e-6)
                (ink,) = (ink for text, ink in listed.parts(head, 60) if text == "● ")
                assert ink == area_ink("area", number)


def test_topics_without_an_area_follow_all_areas():
    rows = [topic(0, "0", 0.5), topic(1, "1", 0.2), topic(2, "2", 0.0), topic(3, "3", 0.3)]
    areas = [Area(4, "first", 0.7, (0, 1)), Area(2, "second", 0.3, (3,))]
    listed = grouped(rows, areas, {2}, "share")
    shown = [f"area {row.number}" if isinstance(row, AreaRow) else row.topic for row in listed]
    assert shown == ["area 4", "area 2", 3, 2]
    folded = grouped(rows, areas, (), "share", pinned={2})
    assert [row.topic for row in folded if not isinstance(row, AreaRow)] == [2]
    some_hidden = [replace(row, hidden=row.topic in (0, 3)) for row in rows]
    listed = grouped(some_hidden, areas, {4}, "share")
    (head,) = (row for row in listed if isinstance(row, AreaRow))
    assert (head.topic_count, head.largest_topic) == (1, 1)


def test_topics_of_no_area_are_the_last_group_in_every_order():
    rows = [topic(0, "0", 0.5), topic(1, "1", 0.2), topic(2, "2", 0.1), topic(3, "3", 0.3)]
    areas = [
        Area(4, "zoo", 0.1, (2,)),
        Area(2, "second", 0.3, (3,)),
        Area(18, "other", 0.7, (0, 1)),
    ]
    for order in ORDERS:
        *_, last = grouped(rows, areas, (), order)
        assert last.name == "other"


async def test_columns_line_up_whatever_is_marked(shown, live):
    """A topic without an area, wide characters, many digits."""
    async with shown(live, size=(100, 30), words="film, actor") as (app, _):
        listed = app.main.view.query_one("#topics", TopicList)
        area = Area(17, "鉄道駅", 0.5, (3,))
        listed._marks = Marks({3: area, 999: area}, coloured=True, ascii_only=False)
        rows = [topic(3, "鉄道駅"), topic(7, "war"), topic(999, "navy", 1.0)]
        rows.append(AreaRow(17, "鉄道駅", 0.9996, -0.2, 4, 3, is_open=False))
        starts = set()
        for row in rows:
            texts = [text for text, _ in listed.parts(row, 90)]
            name_at = [text.strip() for text in texts].index(row.name)
            starts.add(sum(cell_len(text) for text in texts[:name_at]))
        assert len(starts) == 1
