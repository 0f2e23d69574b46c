"""The words in and below a chart, for any lines and sizes: each is whole, or it is not there."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wikitopics.tui.plot import EARLIER, Drawing, Frame, Pin, Series, plot, ticks_below, words_in

VALUES = st.floats(1e-3, 1e9)
CURVES = st.lists(st.lists(VALUES, min_size=1, max_size=30), min_size=1, max_size=3)


def drawn(curves, frame):
    """The plot of these values, and the best one."""
    series = []
    for number, values in enumerate(curves):
        x = np.geomspace(16, 16 * 2 ** len(values), len(values))
        series.append(Series(f"m{number}", x, np.array(values)))
    best = min(min(values) for values in curves)
    return plot(Drawing(series=tuple(series), best=best), frame), best


@settings(max_examples=300, deadline=None)
@given(
    CURVES,
    st.integers(1, 120),
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.lists(st.integers(0, 2**20), max_size=6),
)
def test_words_in_a_chart(curves, width, height, log_x, log_y, ascii_only, fit_y, pinned):
    frame = Frame(
        width,
        height,
        log_x=log_x,
        log_y=log_y,
        ascii_only=ascii_only,
        fit_y=fit_y,
    )
    chart, best = drawn(curves, frame)
    label = f"best {best:,.0f}"
    taken = chart.codes > 0
    pins = [Pin(float(x), "◇", f"area {x}") for x in pinned]
    of_pins = {text for pin in pins for text in ("◇", f"◇ {pin.text}", f"{pin.text} ◇")}
    for row, column, text, sign in words_in(chart, label, chart.row(best), pins):
        cells = slice(column, column + len(text))
        if sign is None:
            assert text in (label, EARLIER)
        else:
            assert text in of_pins
            assert text[sign - column] == "◇"
        assert 0 <= column <= width - len(text)
        assert not taken[row, cells].any(), "on a line, or on other words"
        taken[row, cells] = True


@settings(max_examples=300, deadline=None)
@given(CURVES, st.integers(1, 120), st.integers(0, 8), st.booleans())
def test_labels_below_a_chart(curves, width, left, log_x):
    chart, _ = drawn(curves, Frame(width, 10, log_x=log_x))
    line = ticks_below(chart.x_ticks, left, width)
    assert len(line) <= max(left + width, 0) or not chart.x_ticks
    labels = {label for _, label in chart.x_ticks}
    assert set(line.split()) <= labels


def test_words_move_out_of_the_way_of_a_line():
    """A curve whose best value is at its beginning: the words were written into the line."""
    chart, best = drawn([[1.0, 5.0, 4.0, 5.0, 4.5, 4.0, 4.0]], Frame(60, 12))
    (words,) = words_in(chart, "best 1", chart.row(best))
    assert words.text == "best 1"
    assert not chart.codes[words.row, words.column - 1 : words.column + 6].any()
