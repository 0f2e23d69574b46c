"""The chart's arithmetic: nothing lost, nothing invented, on the axis's scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikitopics.tui.axes import Axis, ago, duration, plain, ticks
from wikitopics.tui.cuts import fit
from wikitopics.tui.dots import PATTERNS, dashed, sample, spans
from wikitopics.tui.plot import (
    BESIDE,
    MOST_PINS,
    Drawing,
    Frame,
    Pin,
    Series,
    plot,
    ticks_below,
    words_in,
)
from wikitopics.tui.text import bar, spark

UNIT = Axis(0.0, 1.0)


def drawn(frame, *series):
    picture = plot(Drawing(series), frame)
    return ["".join(chr(code) if code else " " for code in row) for row in picture.codes]


def test_each_column_holds_minimum_and_maximum_of_its_points_and_a_gap_stays():
    y = np.zeros(100_000)
    y[54_321] = 1.0
    covered = spans([(np.linspace(0, 1, y.size), y)], UNIT, 80)
    assert covered.high.max() == 1.0
    assert np.argmax(covered.high[0]) == int(54_321 / y.size * 80)
    x = np.array([0.01, 0.02, 0.03, 0.9])
    covered = spans([(x, np.array([0.5, 0.2, 0.7, 0.4]))], UNIT, 10)
    assert (covered.low[0, 0], covered.high[0, 0]) == (0.2, 0.7)
    assert np.isfinite(covered.low[0, :9]).all(), "the line between two points is whole"
    x = np.linspace(0, 1, 5)
    low = spans([(x, np.array([0.1, 0.1, np.nan, 0.9, 0.9]))], UNIT, 100).low[0]
    assert np.isnan(low[26:74]).all()
    assert np.isfinite(low[5:24]).all()
    assert np.isfinite(low[76:95]).all()


@given(
    st.lists(st.floats(-1e12, 1e12) | st.just(float("nan")), max_size=60),
    st.integers(1, 70),
    st.integers(1, 30),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_any_numbers_draw_without_fault(values, width, height, log_x, log_y, plain_ascii):
    x = np.arange(len(values), dtype=np.float64)
    frame = Frame(width, height, log_x=log_x, log_y=log_y, ascii_only=plain_ascii)
    picture = plot(Drawing((Series("a", x, np.array(values, dtype=np.float64)),)), frame)
    assert picture.codes.shape == (height, width)
    assert all(0 <= column < width for column, _ in picture.x_ticks)
    assert all(0 <= row < height for row, _ in picture.y_ticks)
    assert ((picture.codes > 0) == (picture.owners >= 0)).all()


def test_a_zoomed_window_fits_y_to_what_is_in_sight():
    x = np.arange(1.0, 1000.0)
    series = Series("a", x, 1000 / x)
    zoomed = plot(Drawing((series,)), Frame(40, 10, log_x=False, window=(500.0, 600.0)))
    assert zoomed.y_axis.high < 3


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(1, 20))
def test_ticks_lie_on_the_axis_and_are_few(low, span, most):
    axis = Axis(low, low + span)
    placed = ticks(axis, most, plain)
    assert len(placed) <= most + 1
    assert all(-1e-6 <= position <= 1 + 1e-6 for position, _ in placed)


@pytest.mark.parametrize(
    ("axis", "most", "labels"),
    [
        (Axis(-180.0, 0.0), 4, "3m 2m 1m now"),
        (Axis(-1_800.0, 0.0), 4, "30m 20m 10m now"),
        (Axis(-70.0, 0.0), 5, "1m 45s 30s 15s now"),
        (Axis(-20_000.0, 0.0), 6, "5h 4h 3h 2h 1h now"),
        (Axis(0.0, 5.0, log=True), 8, "1s 10s 1m 10m 1h 10h 1d"),
        (Axis(0.9, 2.6, log=True), 8, "10s 20s 30s 1m 2m 5m"),
        (Axis(4.2, 4.5, log=True), 4, "6h 8h"),
    ],
)
def test_ticks_of_time_are_what_people_count_in(axis, most, labels):
    label = duration if axis.log else ago
    assert [text for _, text in ticks(axis, most, label, time=True)] == labels.split()


def test_log_ticks_are_round():
    labels = [text for _, text in ticks(Axis(1.0, 4.3, log=True), 10, plain)]
    assert labels[:4] == ["10", "20", "50", "100"]
    (_, first), *_ = ticks(Axis(3.0, 3.2, log=True), 4, plain)
    assert first.startswith("1,")
    words = " ".join(duration(seconds) for seconds in (1.5, 75, 3600, 5400, 129_600))
    assert words == "1.5s 1m15 1h 1h30 1d12h"


def test_sparklines():
    assert spark([1, 2, 3, 4, 5, 6, 7, 8], 8) == "▁▂▃▄▅▆▇█"
    assert len(spark(range(1000), 20)) == 20
    assert spark([0, 0], 5) == spark([3, 3], 5) == "──"
    assert spark([1, float("nan"), 2], 3)[1] == " "
    assert spark([1, 2], 8, ascii_only=True).isascii()
    assert spark([], 5) == ""
    assert spark([1.00, 1.05, 1.01], 8, least=0.25) == "───", "noise is a line"
    assert spark([1.00, 1.05, 1.01], 8, least=0.25, ascii_only=True) == "---"
    assert spark([1, 2, 8], 8, least=0.25) == spark([1, 2, 8], 8)
    assert bar(1.0, 4) == "████"
    assert bar(0.5, 4, ascii_only=True) == "##"


def fitted_of(*values):
    """The range that is shown of lines whose points are evenly spread."""
    lines = []
    for line in values:
        lines.append((np.linspace(0, 1, len(line)), np.array(line, np.float64)))
    return fit(spans(lines, UNIT, 60), UNIT)


FALL = [16_000.0, 4_000.0, 2_500.0, 2_000.0, 1_800.0, 1_700.0, 1_650.0, 1_600.0, 1_580.0, 1_570.0]


def test_an_early_fall_is_cut_but_nothing_later_and_nothing_that_became_worse():
    shown = fitted_of(FALL)
    assert shown is not None
    bottom, top, _ = shown
    assert bottom <= 1_570
    assert FALL[4] <= top < 2_600
    for at in range(4, len(FALL)):
        worse = [*FALL[:at], 9_000.0, *FALL[at:]]
        shown = fitted_of(FALL, worse)
        if shown is not None:
            _, top, _ = shown
            assert top >= 9_000, at
    wave = [16_000.0, 1_600.0, 3_000.0, *FALL[3:]]
    shown = fitted_of(wave)
    assert shown is not None
    _, top, _ = shown
    assert top >= 3_000, "it had come into the range before"


def test_what_would_gain_little_or_has_nothing_later_is_shown_whole():
    assert fitted_of([10.0, 9.0, 8.0, 7.0, 6.0]) is None
    assert fitted_of([5.0] * 9) is None
    assert fitted_of([float("nan")] * 9) is None
    assert fitted_of() is None
    low, high, _ = fitted_of([0.0, *[50.0] * 30])
    smallest_range = 50 / 150
    assert low == pytest.approx(50 - smallest_range), "a line at rest is not blown up any further"
    assert high == 50.0


@pytest.mark.parametrize("sign", [1, -1])
def test_where_a_line_leaves_the_picture_is_known(sign):
    line = Series("a", np.linspace(1, 10, 10), sign * np.array(FALL))
    picture = plot(Drawing((line,)), Frame(30, 8, log_x=False, fit_y=True))
    column, above = picture.cut
    assert above == (sign > 0)
    edge = 0 if above else 7
    assert picture.codes[edge, column]
    assert not picture.codes[:, : column - 1].any()
    assert plot(Drawing((line,)), Frame(30, 8, log_x=False)).cut is None
    assert plot(Drawing((line,)), Frame(30, 8, log_x=False, fit_y=True, window=(1, 9))).cut is None


def test_on_a_log_axis_the_last_decade_fills_the_picture():
    x = np.geomspace(64, 200_000, 60)
    falling = Series("a", x, 1_550 + 5_000 * x**-0.36)
    picture = plot(Drawing((falling,)), Frame(60, 12, fit_y=True))
    assert 5_000 < picture.x_axis.value(0) < 20_000, "nothing of the last decade is cut off"
    assert (picture.codes[:, 0] > 0).any(), "nothing is empty before the line"
    flat = np.flatnonzero((picture.codes[:, -20:] > 0).any(axis=1))
    assert flat.size >= 3, "what happens now is in sight"
    assert picture.cut == (0, True)
    short = Series("b", x[:30], falling.y[:30] + 20)
    both = plot(Drawing((falling, short)), Frame(60, 12, fit_y=True))
    assert both.x_axis.value(0) < short.x[-1], "the end of a shorter line is in sight, too"
    assert both.y_axis.low < short.y[-1] < both.y_axis.high
    whole = plot(Drawing((falling,)), Frame(60, 12))
    assert whole.x_axis.value(0) == pytest.approx(64)


def along(row):
    """Which columns of dots, two a sign, a row of braille has lit, at whatever height."""
    lit = []
    for sign in row.replace(" ", "⠀"):
        dots = ord(sign) - ord("⠀")
        lit.append(bool(dots & 0x47))  # the four dots at the left
        lit.append(bool(dots & 0xB8))  # and at the right
    return tuple(lit)


@pytest.mark.parametrize("plain_ascii", [False, True])
def test_lines_are_told_apart_without_colour(plain_ascii):
    x = np.arange(40.0)
    frame = Frame(60, 12, log_x=False, ascii_only=plain_ascii, patterns=(0, 1, 2, 3))
    lines = [Series(str(i), x, np.full(40, float(i))) for i in range(1, 5)]
    rows = {row.strip() for row in drawn(frame, *lines) if row.strip()}
    legend = [sample(i, ascii_only=plain_ascii) for i in range(4)]
    assert len(rows) == len(set(legend)) == 4
    if plain_ascii:
        assert {row[0] for row in rows} == {"-", "o", "x", "+"} == {one[0] for one in legend}
    else:
        assert len(set(map(along, rows))) == 4


def test_a_pattern_has_gaps_however_steep_the_line_is():
    upright = np.zeros((40, 10), np.bool_)
    upright[:, 4] = True
    for pattern in range(1, len(PATTERNS)):
        left = dashed(upright, pattern)
        assert 0 < left.sum() < 40
        assert left.sum() == dashed(upright.T, pattern).sum()


def test_labels_of_the_time_of_day_have_one_format_and_are_evenly_far_apart():
    def label(seconds):
        return f"01:{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"

    def labels(start, end, width):
        series = Series("a", np.array([start, end]), np.array([1.0, 2.0]))
        drawing = Drawing((series,), label_x=label, time_x=True, needless=":00")
        return plot(drawing, Frame(width, 10, log_x=False)).x_ticks

    for width in range(20, 90):
        placed = labels(1_437.0, 1_518.0, width)
        assert {len(text) for _, text in placed} <= {5, 8}
        assert len({len(text) for _, text in placed}) == 1
        gaps = np.diff([column for column, _ in placed])
        assert not gaps.size or gaps.max() - gaps.min() <= 1
        line = ticks_below(placed, 5, width)
        assert all(text in line for _, text in placed)
    assert [text for _, text in labels(600.0, 1_200.0, 30)] == ["01:10", "01:15", "01:20"]


def pinned(picture, *pins):
    """The words of these pins, the newest first, by row and column."""
    return {(row, column): text for row, column, text, _ in words_in(picture, "", None, pins)}


def test_pins_stand_in_their_column_beside_the_line_and_cover_nothing():
    line = Series("lda", np.linspace(0, 100, 101), np.linspace(100, 0, 101))
    picture = plot(Drawing((line,)), Frame(60, 20, log_x=False))
    pins = [Pin(85.0, "◇", "area film"), Pin(50.0, "»", "a overtakes b"), Pin(500.0, "◇", "later")]
    placed = words_in(picture, "", None, pins)
    assert {words.text for words in placed} == {"area film ◇", "» a overtakes b"}
    for row, column, text, sign in placed:
        assert text[sign - column] in "◇»"
        assert not picture.codes[row, column : column + len(text)].any()
        lit = np.flatnonzero(picture.codes[:, sign])
        assert np.abs(lit - row).min() <= BESIDE
    at = {words.sign for words in placed}
    assert at == {picture.column(85.0), picture.column(50.0)}


def test_pins_are_few_and_only_signs_without_room_for_words():
    line = Series("lda", np.linspace(0, 100, 101), np.linspace(100, 0, 101))
    drawing = Drawing((line,))
    pins = [Pin(float(x), "◇", f"area {x}") for x in range(98, 20, -7)]
    picture = plot(drawing, Frame(60, 20, log_x=False))
    newest = {f"area {x}" for x in (98, 91, 84, 77)}
    placed = [words.strip("◇ ") for words in pinned(picture, *pins).values()]
    assert len(placed) == MOST_PINS
    assert {*placed} <= newest | {""}
    low = plot(drawing, Frame(60, 8, log_x=False))
    assert {*pinned(low, *pins).values()} == {"◇"}
    assert len(pinned(low, *pins)) == MOST_PINS
    assert len(pinned(low, pins[0], pins[0])) == 1, "one over the other says nothing more"
    assert pinned(picture, Pin(50.0, "◇", "日本")).popitem()[1] == "◇"


def test_words_that_would_be_far_from_the_line_are_left_out():
    line = Series("lda", np.linspace(0, 100, 101), np.linspace(100, 0, 101))
    picture = plot(Drawing((line,)), Frame(60, 20, log_x=False))
    assert pinned(picture, Pin(95.0, "◇", "area film")).popitem()[1] == "◇"
    assert pinned(picture, Pin(90.0, "◇", "area film")).popitem()[1] == "area film ◇"
