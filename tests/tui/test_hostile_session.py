"""Sessions of strangers: whatever numbers they hold, every view draws them, and every key is
obeyed."""

import contextlib
import itertools
import math
import sqlite3

import numpy as np
import pytest

from tests.tui import canned, seeing
from tests.tui.opening import KEYS, is_open
from wikitopics.session.wording import measured
from wikitopics.tui import text
from wikitopics.tui.axes import ago, duration, plain
from wikitopics.tui.plot import Drawing, Frame, Series, plot

EXTREMES = (
    1.7e308,
    -1.7e308,
    1e-320,
    -1e-320,
    0.0,
    math.inf,
    -math.inf,
    math.nan,
    1e16,
    -1e250,
    5.0,
)


@pytest.mark.parametrize("number", EXTREMES)
def test_every_format_takes_every_number(number):
    formats = text.count, text.short, text.share, text.weight, measured, plain, duration, ago
    for each in formats:
        assert 0 < len(each(number)) < 24, each
    assert len(text.bar(number, 10)) <= 10
    assert len(text.spark([number, 1.0, number, 2.0], 4)) == 4


@pytest.mark.parametrize("one", EXTREMES)
def test_every_chart_takes_every_number(one):
    with np.errstate(over="raise", divide="raise"):
        for other, log_x, log_y, fit_y, ascii_only in itertools.product(
            EXTREMES, *([(False, True)] * 4)
        ):
            ys = np.array([one, other, 3.0, one, 4.0])
            for xs in (np.arange(5.0), np.sort(np.array([one, other, 1.0, 2.0, 3.0]))):
                frame = Frame(40, 12, log_x, log_y, None, ascii_only, fit_y)
                drawn = plot(Drawing(series=(Series("a", xs, ys),), time_x=log_y), frame)
                assert all(len(label) < 24 for _, label in (*drawn.x_ticks, *drawn.y_ticks))


LARGE = (1e15, 1e-320, 0.0, 3.0)
LATE = (4e10, 1e-320, 0.0, 3.0)


def strange(part, path):
    """Put extreme numbers into one part of a session: those that are not refused as damage."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.create_function("extreme", 1, lambda i: EXTREMES[int(i) % 6])
        db.create_function("large", 1, lambda i: LARGE[int(i) % 4])
        db.create_function("late", 1, lambda i: LATE[int(i) % 4])
        if part == "metrics":
            db.execute(
                "UPDATE metrics SET value = extreme(articles / 16) WHERE metric != 'log_likelihood'"
            )
            sample = db.execute(
                "SELECT model, articles, tokens, seconds FROM metrics LIMIT 1"
            ).fetchone()
            rows = ((*sample, f"metric {i}\x1b[31m", EXTREMES[i % 3]) for i in range(3_000))
            db.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
        if part == "times":
            for table, column in (
                ("metrics", "seconds"),
                ("flow", "at"),
                ("events", "at"),
                ("runs", "started_at"),
            ):
                db.execute(f"UPDATE {table} SET {column} = late(rowid)")
        if part == "rates":
            for column in ("crawl_rate", "train_rate"):
                db.execute(f"UPDATE flow SET {column} = large(rowid)")
        if part == "progress":
            db.execute(
                "UPDATE progress SET elapsed_seconds = 4e10, lap = 1e-320, committed_at = 4e10"
            )
            db.execute("UPDATE progress SET bytes_read = 1e15, tokens = 1e15")


CHART_KEYS = (
    "x",
    "y",
    "left",
    "plus",
    "plus",
    "right",
    "Y",
    "v",
    "a",
    "v",
    "minus",
    "0",
    "o",
    "b",
    "W",
    "z",
    "z",
)


@pytest.mark.parametrize("part", ["metrics", "times", "rates", "progress"])
async def test_every_view_of_a_strange_session(shown, tmp_path, monkeypatch, part):
    monkeypatch.chdir(tmp_path)
    activity = (
        {"crawl_rate": 1e15, "train_rate": 1e-320, "latency_seconds": 1e15}
        if part == "rates"
        else {}
    )
    recipe = canned.Recipe(activity=activity)
    path = canned.build(tmp_path / "odd.db", recipe)
    with canned.live(path, recipe):
        strange(part, path)
        async with shown(path, size=(200, 60)) as (app, pilot):
            await seeing.until_true(lambda: app.latest is not None or app.watched.trouble)
            assert not app.watched.trouble
            for index, (title, opens) in enumerate(KEYS.items()):
                await pilot.press("escape", *opens)
                await seeing.until_true(lambda title=title: is_open(app, title))
                for key in CHART_KEYS if opens != "i" else ():
                    if key in app.screen.active_bindings:
                        await pilot.press(key)
                width, height = (80, 24) if index % 2 == 0 else (200, 60)
                await pilot.resize_terminal(width, height)
                await pilot.pause()
            await seeing.press(pilot, "escape", "1", shows="Topics by")


def test_three_thousand_metrics_are_read(tmp_path):
    from wikitopics.session.analysis.quality import metrics_of
    from wikitopics.session.storage.reader import SessionReader

    path = canned.build(tmp_path / "strange.db")
    strange("metrics", path)
    with SessionReader(path) as reader:
        assert len(metrics_of(reader)) > 3_000
