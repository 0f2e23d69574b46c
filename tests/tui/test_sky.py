"""The sky: each article is a dot, counts stay right as articles come, texts never overlap, and
arrows lead to the article that a look at all of them would find."""

from itertools import combinations

import numpy as np
import pytest
from rich.cells import cell_len
from rich.style import Style

from wikitopics.tui.sky import (
    ASCII_SIGN,
    SIGN,
    Counts,
    Overlay,
    Written,
    cells_of,
    drawn,
    framed,
    levels_of,
)
from wikitopics.tui.sky_index import FEW, MOST_ZOOM, Articles, Window, nearest_to, toward
from wikitopics.tui.sky_motion import flown
from wikitopics.tui.sky_texts import (
    TITLE,
    WRITTEN,
    are_titled,
    carried,
    clear_of,
    named,
    taken_by,
    titled,
)

SIZE = (40, 12)
AREA_OF = np.array([0, 1, 2, 0, 1])
AREAS = 3
WINDOWS = [Window(), Window.around(0.5, 0.5, 1.3), Window.around(0.2, 0.7, 5)]


def some(n):
    """Places and largest topics; each topic has a part of the map."""
    rng = np.random.default_rng(0)
    topics = rng.integers(0, len(AREA_OF), n)
    centres = rng.uniform(0.2, 0.8, (len(AREA_OF), 2))
    at = np.clip(centres[topics] + rng.normal(0, 0.1, (n, 2)), 0, 1)
    return np.rint(at * 65_535).astype(np.uint16), topics


def counted(places, topics, window=WINDOWS[0], size=SIZE, **more):
    return Counts.of(Articles(places, topics), AREA_OF, AREAS, window, size, **more)


def place(x, y):
    return np.array([[x * 65_535, y * 65_535]]).astype(np.uint16)


def lines(picture, written=()):
    """The picture line by line: the texts, each with the name of its ink."""
    strips = framed(picture, lambda ink: Style(link=ink), written).strips
    return [[(segment.text, segment.style.link) for segment in strip] for strip in strips]


def texts(drawn_lines):
    return ["".join(text for text, _ in line) for line in drawn_lines]


def ink_at(drawn_lines, row, column):
    at = 0
    for text, ink in drawn_lines[row]:
        at += cell_len(text)
        if column < at:
            return ink
    raise AssertionError("no such column")


# Counting.


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("n", [0, 1, 5_000, 40_000])
def test_a_window_counts_each_article_in_it_once(n, window):
    places, topics = some(n)
    counts = counted(places, topics, window)
    cells, is_in = cells_of(places, window, SIZE)
    expected = np.zeros((SIZE[1] * SIZE[0], AREAS), int)
    np.add.at(expected, (cells[:, 0] * SIZE[0] + cells[:, 1], AREA_OF[topics[is_in]]), 1)
    assert (counts.areas == expected).all()
    assert counts.dots.sum() == is_in.sum()
    if window.zoom == 1:
        assert is_in.all()


@pytest.mark.parametrize("window", WINDOWS)
def test_added_articles_are_counted_as_if_they_had_always_been_there(window):
    places, topics = some(3 * FEW)
    articles = Articles(places[:100], topics[:100])
    counts = Counts.of(articles, AREA_OF, AREAS, window, SIZE)
    for start in range(100, len(places), 700):  # some stay unsorted, others are sorted
        new = slice(start, start + 700)
        articles = articles.with_more(places[new], topics[new])
        counts.add(places[new], AREA_OF[topics[new]])
    again = Counts.of(articles, AREA_OF, AREAS, window, SIZE)
    at_once = counted(places, topics, window)
    for other in (again, at_once):
        assert (counts.dots == other.dots).all()
        assert (counts.areas == other.areas).all()
    assert len(articles) == len(places)
    found = articles.within(window)
    assert (np.diff(found.numbers) > 0).all()
    assert (found.places == places[found.numbers]).all()
    assert (found.topics == topics[found.numbers]).all()


def test_a_frame_of_a_movement_counts_fewer_articles_as_many():
    places, topics = some(40_000)
    counts = counted(places, topics, most=5_000)
    exact = counted(places, topics)
    assert counts.dots.sum() == 40_000
    shown = counts.areas.sum(axis=1)
    assert np.corrcoef(shown, exact.areas.sum(axis=1))[0, 1] > 0.9


# The picture.


def test_an_article_is_a_dot_where_it_lies_in_the_colour_of_its_area():
    counts = counted(np.concatenate([place(0, 1), place(0.999, 0)]), np.array([1, 2]))
    picture = lines(drawn(counts))
    shown = texts(picture)
    assert shown[0][0] == "⠁"
    assert shown[-1][-1] == "⢀"
    assert sum(sign != " " for line in shown for sign in line) == 2
    assert ink_at(picture, 0, 0) == "dim1"
    assert ink_at(picture, 11, 39) == "dim2"
    without = lines(drawn(counts, coloured=False))
    assert ink_at(without, 0, 0) == "faint"


def test_denser_cells_have_more_dots_and_a_lone_article_is_never_lost():
    counts = np.array([0, 1, 3, 10, 100, 1_000, 50_000])
    levels = levels_of(np.repeat(counts, 20))[::20]
    assert levels[0] == 0
    assert levels[1] >= 1
    assert (np.diff(levels) >= 0).all()
    assert levels[-1] == 8
    assert len(set(levels.tolist())) >= 4

    crowd, topics = some(40_000)
    lone = place(0.002, 0.998)
    picture = lines(
        drawn(counted(np.concatenate([crowd, lone]), np.append(topics, 2)), ascii_only=True)
    )
    assert texts(picture)[0][0] == "."
    assert all(line.isascii() for line in texts(picture))
    assert "#" in "".join(texts(picture))
    assert "area" in {ink.rstrip("0123456789") for line in picture for _, ink in line}


def test_few_articles_are_all_drawn():
    rng = np.random.default_rng(3)
    places = rng.integers(0, 65_536, (200, 2)).astype(np.uint16)
    counts = counted(places, rng.integers(0, 5, 200), size=(120, 40))
    picture = drawn(counts)
    dots = sum(int(code - 0x2800).bit_count() for code in picture.codes.ravel().tolist() if code)
    assert dots == (counts.dots > 0).sum()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_what_is_found_read_and_chosen_stands_out(ascii_only):
    places, topics = some(3_000)
    counts = counted(places, topics)
    lit = place(0.1, 0.9)
    bright = place(0.5, 0.05)
    chosen = place(0.9, 0.5)
    overlay = Overlay(lit, bright, tuple(chosen[0].tolist()))
    picture = lines(drawn(counts, overlay, ascii_only=ascii_only))
    (found,), _ = cells_of(lit, counts.window, SIZE)
    (read,), _ = cells_of(bright, counts.window, SIZE)
    (under,), _ = cells_of(chosen, counts.window, SIZE)
    assert ink_at(picture, *found) == "accent"
    assert ink_at(picture, *read) == "strong"
    assert ink_at(picture, *under) == "strong"
    row, column = under
    sign = ASCII_SIGN if ascii_only else SIGN
    assert texts(picture)[row][column] == sign
    others = {ink for line in picture for _, ink in line} - {"accent", "strong"}
    assert others == {"faint"}  # a search darkens all else
    unsought = lines(drawn(counts, Overlay(bright=bright), ascii_only=ascii_only))
    assert "dim0" in {ink for line in unsought for _, ink in line}
    # What is outside the window is drawn nowhere.
    away = Overlay(lit, bright, tuple(chosen[0].tolist()))
    corner = counted(places, topics, Window.around(0.99, 0.01, 20))
    assert {ink for line in lines(drawn(corner, away)) for _, ink in line} <= {"faint"}


def test_a_flight_ends_at_the_place():
    start = place(0.1, 0.9)
    end = place(0.8, 0.2)
    assert (flown(start, end, 0.0) == start).all()
    assert (flown(start, end, 1.0) == end).all()
    halfway = flown(start, end, 0.5).astype(float)
    assert np.linalg.norm(halfway - end) < np.linalg.norm(halfway - start)


# Texts.

TITLES = ["Plain title", "東京都", "\x1b[2Jhostile\nlines", "Ünïcödé", "x" * 200, ""]


def cells(words):
    return {(words.row, words.column + cell) for cell in range(cell_len(words.text))}


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("size", [(80, 24), (200, 60), (9, 3)])
def test_titles_never_overlap_and_cannot_control_the_terminal(size, centred, ascii_only):
    places, topics = some(300)
    counts = counted(places, topics, size=size)
    names = [TITLES[number % len(TITLES)] for number in range(300)]
    taken = taken_by([Written(0, 0, "taken", "")], counts)
    written = titled(places, names, counts.window, size, taken, centred=centred)
    width, height = size
    for words in written:
        assert words.text.isprintable()
        assert 0 < cell_len(words.text) <= TITLE
        assert not any(taken[cell] for cell in cells(words))
    for words, other in combinations(written, 2):
        assert not cells(words) & cells(other)
    assert sum(len(cells(words)) for words in written) <= WRITTEN * width * height
    assert bool(written) == (width > 9)
    picture = drawn(counts, ascii_only=ascii_only)
    drawn_lines = lines(picture, written)
    assert {sum(cell_len(text) for text, _ in line) for line in drawn_lines} == {width}
    for words in written:
        assert words.text in texts(drawn_lines)[words.row]
    made = framed(picture, lambda ink: Style(), written).strips
    assert {strip.cell_length for strip in made} == {width}


def test_a_title_is_beside_its_article_and_the_first_comes_first():
    places = np.concatenate([place(0.5, 0.5), place(0.5, 0.5), place(0.98, 0.2)])
    written = titled(places, ["first", "second", "at the edge"], Window(), SIZE)
    (row, column), _, (_, edge) = cells_of(places, Window(), SIZE)[0].tolist()
    at = {words.text: (words.row, words.column) for words in written}
    assert at["first"] == (row, column + 2)
    assert at["second"] == (row, column - 1 - len("second"))
    assert at["at the edge"][1] + len("at the edge") == edge - 1


def test_titles_appear_when_few_articles_are_in_sight():
    assert not are_titled(0, (200, 60))
    assert are_titled(300, (200, 60))
    assert not are_titled(100_000, (200, 60))


def test_names_of_areas_lie_on_their_land():
    rng = np.random.default_rng(5)
    centres = np.array([[0.2, 0.7], [0.7, 0.7], [0.5, 0.2]])
    areas = rng.integers(0, 3, 4_000)
    at = np.clip(centres[areas] + rng.normal(0, 0.06, (4_000, 2)), 0, 1)
    places = np.rint(at * 65_535).astype(np.uint16)
    width, height = size = (80, 24)
    counts = Counts.of(Articles(places, areas), np.arange(3), 3, Window(), size)
    topic_places = np.rint(centres * 65_535).astype(np.uint16)
    free = np.zeros((height, width), np.bool_)
    names = {0: "HISTORY", 1: "\x1b]0;SPORT", 2: "日本"}
    written = named(counts, names, topic_places, np.arange(3), free)
    assert {words.ink for words in written} == {"head0", "head1", "head2"}
    by_cells = counts.areas.reshape(height, width, 3)
    for words in written:
        assert words.text.isprintable()
        area = int(words.ink.removeprefix("head"))
        rows, columns = np.array(sorted(cells(words))).T
        below = by_cells[rows, columns].sum(axis=0)
        assert below[area] > 0.9 * below.sum()
    assert named(counts, names, topic_places, np.arange(3), ~free) == []
    # Hardly any of an area is in sight.
    near = Counts.of(Articles(places, areas), np.arange(3), 3, Window.around(0.2, 0.7, 6), size)
    assert {words.ink for words in named(near, names, topic_places, np.arange(3), free)} == {
        "head0"
    }


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("UNIVERSITY, STUDENTS", "UNIVERSITY, STUDENTS"),
        ("APPLICATIONS, SPECIFICATIONS", "APPLICATIONS"),
        ("WORLD WAR II · BERLIN · MUNICH", "WORLD WAR II · BERLIN"),
        ("A NAME THAT SOMEBODY HAS GIVEN", "A NAME THAT SOMEBODY HAS…"),
    ],
)
def test_a_name_that_is_too_long_loses_whole_words(name, shown):
    places = np.full((20, 2), 2**15, np.uint16)
    areas = np.zeros(20, int)
    counts = Counts.of(Articles(places, areas), np.arange(1), 1, Window(), (78, 20))
    free = np.zeros((20, 78), np.bool_)
    (written,) = named(counts, {0: name}, places[:1], areas[:1], free)
    assert written.text == shown


def test_no_dot_touches_a_text_unless_it_was_found():
    width, height = SIZE
    columns, rows = np.meshgrid(np.arange(2 * width), np.arange(4 * height))
    x = (columns.ravel() + 0.5) / (2 * width)
    y = 1 - (rows.ravel() + 0.5) / (4 * height)
    full = np.rint(np.stack([x, y], axis=1) * 65_535).astype(np.uint16)
    counts = counted(full, np.zeros(len(full), int))
    words = [Written(3, 10, "HISTORY", ""), Written(5, 0, "日本", ""), Written(7, 37, "end", "")]
    shown = texts(lines(drawn(counts), words))
    assert shown[3][9:18] == " HISTORY "
    assert shown[5].startswith("日本 ⣿")
    assert shown[7].endswith("⣿ end")
    assert "".join(shown).count(" ") == 4
    found = place(9.5 / width, 1 - 3.5 / height)
    beside = texts(lines(drawn(counts, Overlay(lit=found)), words))
    assert beside[3][9:18] == "•HISTORY "


# Travelling.


def expected_next(places, here, direction, window, size, least):
    width, height = size
    offsets = places.astype(float) - here
    right = offsets[:, 0] * width / window.side
    up = offsets[:, 1] * 2 * height / window.side
    ahead = {"right": right, "left": -right, "up": up, "down": -up}[direction]
    across = up if direction in ("left", "right") else right
    aside = np.abs(across)
    allowed = (ahead > 0) & (ahead >= least)
    if not allowed.any():
        return None
    if (allowed & (aside <= ahead)).any():
        allowed &= aside <= ahead
    return int(np.where(allowed, ahead + 2 * aside, np.inf).argmin())


@pytest.mark.parametrize("least", [0.0, 1.0])
@pytest.mark.parametrize("window", WINDOWS)
def test_an_arrow_leads_to_the_next_article_in_its_direction(window, least):
    places, topics = some(4_000)
    articles = Articles(places[:3_000], topics[:3_000])
    articles = articles.with_more(places[3_000:], topics[3_000:])
    extremes = [places[:, 0].argmax(), places[:, 1].argmin()]
    for number in [*range(0, 4_000, 97), *extremes]:
        here = tuple(places[number].tolist())
        for direction in ("up", "down", "left", "right"):
            found = toward(articles, here, direction, window, SIZE, least)
            wanted = expected_next(places, here, direction, window, SIZE, least)
            assert found == wanted
    assert toward(articles, tuple(places[extremes[0]].tolist()), "right", window, SIZE) is None
    assert toward(Articles(places[:0], topics[:0]), (0, 0), "up", window, SIZE) is None


@pytest.mark.parametrize("window", WINDOWS)
def test_the_article_nearest_to_a_place_is_found(window):
    places, topics = some(4_000)
    articles = Articles(places, topics)
    scale = np.array([SIZE[0], 2 * SIZE[1]]) / window.side
    for here in np.random.default_rng(1).integers(0, 65_536, (50, 2)).tolist():
        far = np.hypot(*((places - np.array(here, float)) * scale).T)
        assert nearest_to(articles, tuple(here), window, SIZE) == far.argmin()
    assert nearest_to(Articles(places[:0], topics[:0]), (0, 0), window, SIZE) is None


def edges(window):
    half = 0.5 / window.zoom
    return window.x - half, window.x + half, window.y - half, window.y + half


def test_windows_stay_on_the_map_and_keep_what_is_looked_at():
    rng = np.random.default_rng(2)
    for _ in range(200):
        x, y = rng.uniform(0, 1, 2).tolist()
        window = Window.around(*rng.uniform(0, 1, 2).tolist(), float(2 ** rng.uniform(0, 6)))
        shown = window.showing(x, y)
        nearer = shown.enlarged(2, (x, y))
        assert nearer.zoom == min(2 * shown.zoom, MOST_ZOOM)
        on_screen = (x - edges(shown)[0]) * shown.zoom
        assert (x - edges(nearer)[0]) * nearer.zoom == pytest.approx(on_screen)
        halfway = window.towards(nearer, 0.5)
        for one in (window, shown, nearer, halfway, nearer.enlarged(0.001, (x, y))):
            left, right, bottom, top = edges(one)
            assert min(left, bottom) >= -1e-9
            assert max(right, top) <= 1 + 1e-9
        left, right, bottom, top = edges(shown)
        assert left <= x <= right
        assert bottom <= y <= top
        assert window.towards(nearer, 0.0) == pytest.approx(window)
        assert window.towards(nearer, 1.0) == pytest.approx(nearer)
    assert Window.around(0.5, 0.5, 1e9).zoom == MOST_ZOOM
    assert Window.around(0.5, 0.5, 0.1) == Window()


# From frame to frame.


def test_texts_move_with_the_map_and_those_that_would_overlap_are_left_out():
    written = [Written(6, 18, "middle", "a"), Written(1, 2, "corner", "b"), Written(6, 26, "x", "")]
    same = carried(written, WINDOWS[0], WINDOWS[0], SIZE)
    assert same == written[:2] + written[2:]
    (middle,) = carried(written[:2], WINDOWS[0], Window.around(0.5, 0.5, 4), SIZE)
    assert middle.text == "middle"
    assert abs(middle.row - 6) <= 2
    assert 10 <= middle.column <= 22
    back = carried(
        [Written(6, 2, "one", ""), Written(6, 30, "two", "")], WINDOWS[2], Window(), SIZE
    )
    for one, other in combinations(back, 2):
        assert one.row != other.row or one.column + 3 < other.column


def test_texts_keep_clear_of_others():
    others = [Written(3, 10, "four", "")]
    written = [Written(row, column, "abc", "") for row in (2, 3) for column in (0, 6, 9, 12, 20)]
    kept = clear_of(written, others, 40)
    assert kept == [one for one in written if one.row == 2 or one.column in (0, 20)]
    assert clear_of(written, [], 40) == written


def test_a_frame_takes_lines_that_are_the_same_from_the_one_before():
    places, topics = some(3_000)
    counts = counted(places, topics)

    def pen(ink):
        return Style()

    before = framed(drawn(counts), pen, [Written(2, 3, "old", ""), Written(5, 3, "kept", "")])
    chosen = (32_768, 32_768)
    texts_now = [Written(5, 3, "kept", ""), Written(9, 3, "new", "")]
    after = framed(drawn(counts, Overlay(chosen=chosen)), pen, texts_now, before)
    alone = framed(drawn(counts, Overlay(chosen=chosen)), pen, texts_now)
    assert after.strips == alone.strips
    cells, _ = cells_of(np.array([chosen], np.uint16), counts.window, SIZE)
    changed = {
        row
        for row, (old, new) in enumerate(zip(before.strips, after.strips, strict=True))
        if old is not new
    }
    assert changed == {2, 9, int(cells[0, 0])}
    smaller = framed(drawn(counted(places, topics, size=(20, 6))), pen, (), before)
    assert len(smaller.strips) == 6
