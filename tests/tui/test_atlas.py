"""The atlas: topics have places, keep them, can be reached; what was read glows, what is sought is
lit."""

import re
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from scipy import ndimage
from textual.theme import BUILTIN_THEMES

from tests.colours import contrast
from tests.maps import distances
from tests.tui import canned, seeing
from wikitopics.model.areas import Areas
from wikitopics.session.analysis.areas import Area, Atlas
from wikitopics.session.analysis.cartography import COLOURS, arranged
from wikitopics.session.records import ShareHistory, TopicRow
from wikitopics.tui.atlas import ASPECT, borders, laid_out, middle, toward
from wikitopics.tui.inks import area_ink
from wikitopics.tui.lists import RowList
from wikitopics.tui.terminal import DARK, LIGHT
from wikitopics.tui.topic_list import NO_TOPICS
from wikitopics.tui.views.atlas import FRAMES, AtlasView, TopicAtlas, births
from wikitopics.tui.views.topics import Evolution

# Places.

LARGE = (198, 55)
MIDDLE = (118, 35)
SMALL = (78, 19)


def row(topic, share):
    """A topic with the words of its number."""
    words = canned.strays(topic)[:20]
    equal = tuple((word, 0.1) for word in words)
    return TopicRow(
        topic,
        ", ".join(words[:3]),
        share,
        words=equal,
        shown=equal,
        newcomers=frozenset(),
        trend=(share,),
        articles=1_000,
        since=500,
    )


def charted(of_topic):
    """Topics with these areas, those of one area near each other."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(len(of_topic), 2.0)).tolist()
    rows = [row(topic, share) for topic, share in enumerate(shares)]
    centres = rng.uniform(-40, 40, (max(of_topic) + 1, 2))
    places = centres[np.array(of_topic)] + rng.normal(0, 8, (len(of_topic), 2))
    return gathered(of_topic, shares, places), rows


def gathered(of_topic, shares, places):
    """The atlas of topics with these areas, shares and places."""
    areas = []
    for number in sorted(set(of_topic)):
        topics = [topic for topic, area in enumerate(of_topic) if area == number]
        share = sum(shares[topic] for topic in topics)
        areas.append(Area(number, f"area {number}, more", share, tuple(topics)))
    pairs = len(of_topic) * (len(of_topic) - 1) // 2
    grouping = Areas(
        np.array(of_topic, np.int16),
        np.zeros(pairs, np.float16),
        places.astype(np.float32),
        {},
    )
    return Atlas(areas, grouping, by_words=False)


@pytest.fixture(scope="module")
def hundred():
    return charted([topic % 13 for topic in range(100)])


def cells(label):
    """The rows and columns of a label's cells."""
    rows = range(label.row, label.row + len(label.lines))
    columns = range(label.column, label.column + label.width)
    return set(product(rows, columns))


def places_of(sheet):
    """Where the label of each topic is."""
    return {topic: (label.row, label.column) for topic, label in sheet.topics.items()}


@pytest.mark.parametrize(
    ("size", "least"), [(LARGE, 100), (MIDDLE, 100), (SMALL, 50), ((20, 6), 1)]
)
def test_labels_have_places_of_their_own_on_the_land_of_their_area(hundred, size, least):
    sheet = laid_out(*hundred, size)
    assert len(sheet.topics) >= least
    assert sheet.topic_count == 100
    for label, other in combinations(sheet.labels, 2):
        assert not cells(label) & cells(other)
    width, height = size
    for label in sheet.labels:
        starts, areas = sheet.ground[label.row]
        below = {areas[np.searchsorted(starts, x, "right") - 1] for _, x in cells(label)}
        assert below == {(label.area, label.area)}
        assert all(y < height and x < width for y, x in cells(label))
    if size != (20, 6):
        heads = {label.lines for label in sheet.labels if label.topic is None and label.area == 3}
        ((head,),) = heads
        assert re.fullmatch(r"AREA 3, MORE \d+%", head)


def test_topics_of_no_area_are_shown_without_a_name_for_them_all():
    atlas, rows = charted([18 if topic % 9 == 0 else topic % 13 for topic in range(100)])
    sheet = laid_out(atlas, rows, LARGE)
    assert {label.area for label in sheet.topics.values()} == {*range(13), 18}
    assert {label.area for label in sheet.labels if label.topic is None} == set(range(13))


def test_labels_whose_topics_stay_do_not_jump():
    """Over twenty snapshots."""
    areas = None
    sheet = None
    jumps = []
    for snapshot in range(20):
        far = distances(60, later=0.01 * snapshot)
        before = areas
        areas = Areas.by_distance(far, np.arange(60), 60, before).placed(before)
        shares = np.random.default_rng(snapshot).dirichlet(np.full(60, 20.0)).tolist()
        rows = [row(topic, share) for topic, share in enumerate(shares)]
        found = gathered(areas.of_topic.tolist(), shares, areas.places)
        earlier = sheet
        sheet = laid_out(found, rows, MIDDLE)
        if earlier is None:
            continue
        stays = np.abs(areas.places - before.places).max(axis=1) < 0.005
        for topic in np.flatnonzero(stays).tolist():
            old_row, old_column = places_of(earlier)[topic]
            new_row, new_column = places_of(sheet)[topic]
            away = np.hypot(ASPECT * (new_row - old_row), new_column - old_column)
            jumps.append(away > 2)
    assert np.mean(jumps) < 0.1


def test_maps_have_one_orientation(hundred):
    """x leads to the right, and y upwards."""
    found, rows = hundred
    sheet = laid_out(found, rows, LARGE)
    labels = [sheet.topics[topic] for topic in range(100)]
    columns = [label.column + label.width / 2 for label in labels]
    upwards = [-label.row for label in labels]
    x, y = found.places.T
    assert np.corrcoef(columns, x)[0, 1] > 0.95
    assert np.corrcoef(upwards, y)[0, 1] > 0.9


def test_names_of_areas_lie_on_their_largest_islands(hundred):
    found, rows = hundred
    for size in (LARGE, MIDDLE):
        sheet = laid_out(found, rows, size)
        width, height = size
        land = np.full((height, width), -1)
        for y, (starts, areas) in enumerate(sheet.ground):
            for start, (upper, _) in zip(starts, areas, strict=True):
                land[y, start:] = upper
        heads = [label for label in sheet.labels if label.topic is None]
        assert {label.area for label in heads} == set(range(13))
        on_largest = 0
        for area in range(13):
            numbered, _ = ndimage.label(land == area, np.ones((3, 3)))
            largest = np.bincount(numbered[numbered > 0]).argmax()
            own = [label for label in heads if label.area == area]
            on_largest += any(
                numbered[head.row, head.column + head.width // 2] == largest for head in own
            )
        assert on_largest >= 12


def test_what_is_sought_has_a_place_however_small(hundred):
    found, rows = hundred
    full = laid_out(found, rows, (60, 10))
    missing = set(range(100)) - full.topics.keys()
    assert missing
    sought = sorted(missing)[-3:]
    searched = laid_out(found, rows, (60, 9), first=sought, before=full)
    assert {*sought} <= searched.topics.keys()
    for label, other in combinations(searched.labels, 2):
        assert not cells(label) & cells(other)
    places = places_of(full)
    stay = [
        places[topic] == place for topic, place in places_of(searched).items() if topic in places
    ]
    assert all(stay)
    assert len(stay) > len(places) / 2


def test_an_area_alone_has_its_topics_with_more_words(hundred):
    found, rows = hundred
    sheet = laid_out(found, rows, MIDDLE, zoom=5)
    assert sheet.topics.keys() == {topic for topic in range(100) if topic % 13 == 5}
    for topic, label in sheet.topics.items():
        assert label.lines[0].startswith(rows[topic].name[:20])
        assert len(" ".join(label.lines).split()) > 6


def test_hidden_topics_have_no_place(hundred):
    found, rows = hundred
    sheet = laid_out(found, [replace(row, hidden=row.topic > 4) for row in rows], LARGE)
    assert sheet.topics.keys() == set(range(5))


def test_names_can_neither_control_the_terminal_nor_take_all_the_room(hundred):
    found, rows = hundred
    names = ["\x1b[31mred", "x" * 1_000, "日本の鉄道駅一覧" * 40, "", "two\nlines, and\ttab"]
    renamed = [replace(rows[topic], name=name) for topic, name in enumerate(names)]
    rows = renamed + rows[len(names) :]
    areas = [replace(area, name=names[area.number % len(names)]) for area in found.areas]
    for size in (MIDDLE, SMALL, (9, 3)):
        width, _ = size
        for label in laid_out(replace(found, areas=areas), rows, size).labels:
            assert label.column + label.width <= width
            assert all(line.isprintable() and cell_len(line) <= 48 for line in label.lines)
    assert laid_out(*charted([0]), MIDDLE).topics.keys() == {0}
    assert not laid_out(found, [], MIDDLE).labels


def test_boxes_stay_where_they_were_if_that_is_free():
    centres = np.array([[1.0, 5.0], [1.0, 5.0], [1.0, 5.0]])
    boxes = [(1, 4)] * 3
    kept, other, fresh = arranged(centres, boxes, (9, 20), 2.0, [(8, 0), (8, 2), None])
    assert kept == (8, 0)
    assert other in {(0, 3), (1, 3)}
    assert fresh != other != kept


def test_borders_run_between_lands():
    land = np.array([[-1, -1, -1, -1], [-1, 3, 3, -1], [-1, 3, 5, 5], [-1, -1, -1, -1]])
    assert borders(land) == ("    ", " ╭─╮", " │╭┴", " ╰┴─")


# From topic to topic.


@pytest.mark.parametrize("size", [LARGE, SMALL])
def test_arrows_reach_every_topic_and_go_where_they_point(hundred, size):
    labels = laid_out(*hundred, size).topics
    reached = set()
    left = [next(iter(labels))]
    while left:
        topic = left.pop()
        reached.add(topic)
        here = middle(labels[topic])
        for direction, axis, sign in (
            ("up", 0, -1),
            ("down", 0, 1),
            ("left", 1, -1),
            ("right", 1, 1),
        ):
            to = toward(labels.values(), here, direction)
            if to is not None:
                assert sign * (middle(to)[axis] - here[axis]) > 0
                left += {to.topic} - reached - {*left}
    assert reached == labels.keys()


def test_the_nearest_one_ahead_is_next(hundred):
    label = laid_out(*hundred, MIDDLE).labels[-1]
    ahead = replace(label, row=0, column=40)
    aside = replace(label, row=4, column=28)
    far = replace(label, row=0, column=90)
    here = (ASPECT * 0.5, 20 + label.width / 2)
    assert toward([far, aside, ahead], here, "right") is ahead
    assert toward([far, aside], here, "down") is aside
    assert toward([far, aside], here, "up") is None


def test_topics_are_born_in_the_order_of_the_stream():
    own = np.array(
        [[0.01, 0.0, 0.0], [0.3, 0.0, 0.0], [0.4, 0.2, 0.0], [0.4, 0.3, 0.1]], np.float32
    )
    frames = births(ShareHistory(np.array([64, 512, 4_096, 32_768]), own, own))
    assert frames.shape == (FRAMES, 3)
    first = [int(np.flatnonzero(sizes)[0]) for sizes in frames.T]
    assert first == sorted(first)
    assert first[0] < first[1] < first[2] == FRAMES - 1
    assert frames.max() == 3


# Colours.


async def test_labels_can_be_read_on_every_ground(shown, live):
    async with shown(live, size=(80, 24), words="LIVE") as (app, pilot):
        await pilot.press("7")
        drawn = app.main.view.query_one(TopicAtlas)
        await seeing.until_true(lambda: drawn.sheet)

        def rgb(colour):
            return colour.get_truecolor().hex

        for theme in (DARK, LIGHT, *BUILTIN_THEMES.values()):
            app.theme = theme.name
            await pilot.pause()
            for area in range(len(COLOURS)):
                where = (theme.name, area)
                own = drawn.pen(area_ink("area", area))
                glow = drawn.pen("", area_ink("glow", area))
                tint = drawn.pen("", area_ink("tint", area))
                faint = drawn.pen(area_ink("dim", area))
                if theme.ansi:  # the terminal's own colours, which areas do without
                    assert glow.underline, where
                    assert not tint.underline, where
                    continue
                ground = app.theme_variables["background"]
                in_full = contrast(rgb(own.color), ground)
                assert 1.5 <= contrast(rgb(faint.color), ground) < in_full, where
                assert glow.bgcolor != tint.bgcolor, where
                assert contrast(rgb(own.color), rgb(tint.bgcolor)) >= 2.5, where
                assert contrast(rgb(tint.color), rgb(tint.bgcolor)) >= 3.3, where
                assert contrast(rgb(glow.color), rgb(glow.bgcolor)) >= 3.9, where


@pytest.mark.parametrize("why", ["no colour", "ascii", "few colours"])
async def test_without_tints_borders_set_areas_apart(shown, live, monkeypatch, why):
    if why == "no colour":
        monkeypatch.setenv("NO_COLOR", "1")
    elif why == "few colours":
        monkeypatch.setattr(Console, "color_system", "standard")
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        if why == "ascii":
            app.action_ascii()
        await pilot.press("7")
        drawn = app.main.view.query_one(TopicAtlas)
        await seeing.until_true(lambda: drawn.sheet)
        await pilot.pause()
        assert "lit: just read" in seeing.text(app)
        inside = "\n".join(line[1:-1] for line in seeing.lines(app)[2:-3])
        corner, signs = ("--+", "oO") if why == "ascii" else ("──╮", "•●")
        assert corner in inside
        for sign in signs:
            assert f" {sign} " in inside


# On the screen.


def atlas_of(app):
    return app.main.view.query_one(TopicAtlas)


async def opened(pilot):
    await pilot.press("7")
    await seeing.until_true(
        lambda: isinstance(pilot.app.main.view, AtlasView) and atlas_of(pilot.app).sheet
    )
    await pilot.pause()
    return atlas_of(pilot.app)


async def test_arrows_travel_enter_opens_and_e_leads_to_emergence_and_back(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        drawn = await opened(pilot)
        largest_one = max(app.latest.topics["lda"], key=lambda row: row.share)
        assert drawn.chosen == largest_one.topic
        await seeing.press(pilot, "down", "right", "up", shows="Atlas · 49 topics · lda")
        assert drawn.chosen != largest_one.topic
        chosen = app.latest.topics["lda"][drawn.chosen]
        area = app.latest.areas_of("lda")[chosen.topic]
        (first_word, _), *_ = chosen.shown
        described = f"{chosen.label} · {100 * chosen.share:.1f}% · {area.name} · {first_word}"
        seen = await seeing.until(pilot, described)
        assert "E Emergence" in seen
        await seeing.press(pilot, "E", shows="50 topics over time")
        assert "7 Atlas" in await seeing.press(pilot, "E", shows="Atlas · 49 topics")
        assert atlas_of(app).chosen == chosen.topic
        await seeing.press(pilot, "enter", shows=f"{chosen.label} over time, by articles read")
        assert app.main.view.query_one(Evolution)


async def test_plus_zooms_into_an_area_and_minus_shows_all_again(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        drawn = await opened(pilot)
        area = app.latest.areas_of("lda")[drawn.chosen]
        places = places_of(drawn.sheet)
        await seeing.press(pilot, "plus", shows=f"{area.name} · {len(area.topics)} topic")
        assert drawn.sheet.topics.keys() == {*area.topics}
        await pilot.press("down", "up", "left", "right")
        assert drawn.chosen in area.topics
        for key in ("minus", "escape"):
            await seeing.press(pilot, key, shows="Atlas · 49 topics")
            assert places_of(drawn.sheet) == places
            await seeing.press(pilot, "plus", shows=f"{area.name} · ")


async def test_what_is_found_is_lit_and_keeps_its_place(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (_, pilot):
        drawn = await opened(pilot)
        places = places_of(drawn.sheet)
        await seeing.press(pilot, "slash", *"galax", "enter", shows="4 of 49 topics with “galax”")
        assert drawn.chosen in {7, 12, 36, 44}

        def lit():
            lit_labels = [one.label for one in drawn._drawn_labels(drawn.sheet) if one.under]
            return {label.topic for label in lit_labels if label.topic is not None}

        await seeing.until_true(lambda: lit() == {7, 12, 36, 44})
        await seeing.until_true(lambda: places_of(drawn.sheet) == places)
        await seeing.press(pilot, "escape", shows="Atlas · 49 topics")


async def test_a_screen_that_has_run_for_long_and_one_just_opened_show_the_same(shown, growing):
    """After searches, other sizes, an area alone and new snapshots."""
    async with shown(growing, size=(120, 42), words="lda 1,3") as (app, pilot):
        drawn = await opened(pilot)
        for articles in (4_000, 3_000):
            canned.grow(growing, canned.Recipe(), articles)
            await seeing.press(pilot, "slash", *"galax", "enter", shows="topics with “galax”")
            await pilot.resize_terminal(120, 41)
            await seeing.press(pilot, "escape", shows="near: alike")
            await seeing.press(pilot, "plus", "minus", shows="near: alike")
        await pilot.resize_terminal(120, 40)
        total = canned.Recipe().articles + 7_000
        await seeing.until_true(lambda: app.latest.status.articles == total)
        await seeing.until_true(lambda: drawn.sheet.size == drawn._room)
        await seeing.settled(pilot)
        of_long = drawn.sheet
    async with shown(growing, size=(120, 40), words="Topics by share") as (_, pilot):
        drawn = await opened(pilot)
        await seeing.until_true(lambda: drawn.sheet == of_long)


async def test_a_click_opens(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        drawn = await opened(pilot)
        label, *_ = (
            label for label in drawn.sheet.labels if label.topic not in (None, drawn.chosen)
        )
        frame = 1  # cells of the panel's frame, above and at the left
        await pilot.click(drawn, offset=(label.column + 2 + frame, label.row + frame))
        topic = app.latest.topics["lda"][label.topic]
        await seeing.until(pilot, f"{topic.label} over time, by articles")


async def test_births_are_replayed_until_any_key(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        drawn = await opened(pilot)

        def in_sight():
            labels = [one.label for one in drawn._drawn_labels(drawn.sheet)]
            return {label.topic for label in labels if label.topic is not None}

        assert "any key ends it" in await seeing.press(pilot, "r", shows="Births · ")
        await pilot.press("q")
        await seeing.until_true(lambda: drawn._births is None)
        assert app.is_running
        assert "Births · " not in seeing.text(app)
        own = np.stack([np.arange(50) == drawn.chosen, np.ones(50)]).astype(np.float32)
        drawn.play_births(ShareHistory(np.array([64, 128]), own, own))
        assert in_sight() == {drawn.chosen}
        drawn._frame = FRAMES - 2
        await seeing.until_true(lambda: drawn._births is None)
        assert len(in_sight()) == 49


async def test_topics_of_articles_just_read_glow_for_two_seconds(shown, growing, monkeypatch):
    monkeypatch.setattr("wikitopics.tui.views.atlas.GLOW_SECONDS", 0.5)
    async with shown(growing, size=(120, 40), words="lda 1,3") as (app, pilot):
        drawn = await opened(pilot)
        assert not drawn.glowing
        canned.grow(growing, canned.Recipe(), 1)
        await seeing.until_true(lambda: drawn.glowing)
        (_, topic, _), *_ = app.latest.recent[0].topics
        assert {*drawn.glowing} == {topic}
        await seeing.until_true(lambda: not drawn.glowing)


async def test_the_dashboard_s_atlas_follows_the_list(shown, live):
    async with shown(live, size=(200, 60), words="Atlas · ") as (app, pilot):
        drawn = app.main.view.query_one(TopicAtlas)
        await seeing.until_true(lambda: drawn.sheet)
        assert len(drawn.sheet.topics) == 49
        await pilot.press("down", "down")
        await seeing.until_true(
            lambda: drawn.chosen == app.screen.query_one("#topics", RowList).current.topic
        )
        drawn.focus()
        await pilot.pause()
        chosen = drawn.chosen
        await pilot.press("right", "up")
        await seeing.until_true(lambda: drawn.chosen != chosen)
        await pilot.press("enter")
        await seeing.until(pilot, f"Articles most about #{drawn.chosen} ")


async def test_before_there_are_topics_the_atlas_says_so_once(shown, tmp_path):
    new = canned.build(tmp_path / "new.db", canned.Recipe(state="new"))
    async with shown(new, size=(180, 50), words="no topics yet") as (app, pilot):
        for key in ("1", "7"):
            await pilot.press(key)
            await seeing.settled(pilot)
            atlas = atlas_of(app)
            assert NO_TOPICS.strip() in "".join(text for text, _ in atlas.lines(80, 20)[0])
            assert NO_TOPICS.strip() not in f"{atlas.border_title} {atlas.border_subtitle}"
