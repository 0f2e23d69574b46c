"""What the docs claim about the screen: how fast it draws and answers, and what CPU it takes.

Times of `keys`, `start` and `search` are wall clock, so they are valid on an idle machine only;
`draw` and `cost` count CPU seconds. Needs Linux (/proc) and the tests' canned sessions.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from textual._compositor import CompositorUpdate
from textual.screen import Screen as AppScreen

from benchmarks.harness import ROOT, Experiment, Figures
from benchmarks.measuring import timed
from benchmarks.processes import PROGRAM, Screen
from benchmarks.stops.trial import write_counts
from tests.tui import canned
from wikitopics.session.records import Curve, TopicEvent
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.app import Wikitopics
from wikitopics.tui.chart import Chart
from wikitopics.tui.follow import SessionView

EXPERIMENT = Experiment("screen", "how soon the screen draws and answers, and what it costs", data="none")
SIZE = 200, 60
TURNS = 25
MILLION = 1_000_000
Frame = Callable[[], object]


class Measured(Wikitopics):
    """The app without a terminal; it still produces what it would write there."""

    CSS_PATH = str(ROOT / "tui" / "app.tcss")

    def _display(self, screen: AppScreen[object], renderable: object) -> None:
        if isinstance(renderable, CompositorUpdate):
            renderable.render_segments(self.console)


def grown(look: SessionView, by: int) -> SessionView:
    """The session after one more measurement and one more snapshot of every model."""
    rng = np.random.default_rng(by)
    curves = dict(look.curves)
    for key, curve in look.curves.items():
        if not curve.values.size:
            continue
        last = [int(curve.articles[-1]) + 64, int(curve.tokens[-1]) + 8_768, float(curve.seconds[-1]) + 31]
        value = curve.values[-1] * rng.normal(1, 0.002)
        columns = (curve.articles, curve.tokens, curve.seconds, curve.values)
        curves[key] = Curve(*(np.append(old, new) for old, new in zip(columns, [*last, value], strict=True)))
    topics = {
        model: tuple(
            replace(row, share=row.share * factor, articles=row.articles + 64)
            for row, factor in zip(rows, rng.lognormal(0, 0.1, len(rows)).tolist(), strict=True)
        )
        for model, rows in look.topics.items()
    }
    born = [TopicEvent(model, look.status.articles + by, "born", 3, None, "film, actor") for model in topics]
    status = replace(look.status, articles=look.status.articles + 64 * by)
    recent = look.recent[1:] + look.recent[:1]
    return replace(
        look, curves=curves, topics=topics, changes=(*look.changes, *born), status=status, recent=recent
    )


def measured(look: SessionView, by: int) -> SessionView:
    """The session after one more measurement of every model, with the topics that it had."""
    return replace(grown(look, by), topics=look.topics, changes=look.changes)


def ticked(look: SessionView, by: int) -> SessionView:
    """The session a second later: articles were read and trained, nothing was measured."""
    status = replace(look.status, articles=look.status.articles + 64 * by)
    return replace(look, status=status, recent=look.recent[1:] + look.recent[:1])


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Measured]:
    """The screen on a session, once it has drawn it."""
    os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
    app = Measured(path)
    async with app.run_test(size=SIZE) as pilot:
        while app.latest is None or not app.main.query_one(Chart).drawing.series:
            await pilot.pause(0.05)
        await pilot.pause(1.0)
        yield app
    app.watched.close(wait=True)  # the session's folder is about to be deleted


async def milliseconds(frames: Mapping[str, Callable[[int], Frame]], pause: float) -> dict[str, float]:
    """CPU milliseconds of this thread for each frame and what follows in the pause, less those of the pause
    alone; medians of `TURNS`. Frames take turns; each is made, by its number, before the clock starts."""
    times: dict[str, list[float]] = {"nothing": [], **{kind: [] for kind in frames}}
    for turn, kind in enumerate([*times] * TURNS):
        frame = frames[kind](turn) if kind in frames else lambda: None
        gc.collect()
        began = time.thread_time()
        frame()
        await asyncio.sleep(pause)  # answers of other threads are drawn too
        times[kind].append(time.thread_time() - began)
    used = {f"{kind}_milliseconds": 1e3 * statistics.median(each) for kind, each in times.items()}
    rest = used.pop("nothing_milliseconds")
    return {kind: each - rest for kind, each in used.items()}


@EXPERIMENT.point()
def draw() -> Figures:
    """CPU milliseconds of the screen's thread for a redraw at 200x60, up to the bytes for the terminal.

    Four models of 1,000 topics and 100,000 rows a metric: a second later with nothing measured, after a new
    measurement of every model, and after a new snapshot of every model as well.
    """

    async def run(path: Path) -> dict[str, float]:
        async with opened(path) as app:
            app.workers.cancel_all()  # no refresh but ours
            look = app.latest

            def shown() -> None:
                app.watched.latest = look
                app.show()
                app.show_status()

            def after(change: Callable[[SessionView, int], SessionView], turn: int) -> Frame:
                nonlocal look
                assert look is not None
                look = change(look, turn)
                return shown

            changes = {"second": ticked, "numbers": measured, "snapshot": grown}
            frames = {kind: partial(after, change) for kind, change in changes.items()}
            return await milliseconds(frames, 0.4)

    models = ("lda", "hdp", "scvb0", "lda2")
    with tempfile.TemporaryDirectory() as folder:
        recipe = canned.Recipe(models=models, topics=1_000, metric_rows=100_000, state="stopped")
        return asyncio.run(run(canned.build(Path(folder) / "rows.db", recipe)))


@EXPERIMENT.point()
def search() -> Figures:
    """Milliseconds until a search among the titles of a million articles is answered; the screen does it in a
    thread beside the one that follows the trainer."""
    with tempfile.TemporaryDirectory() as folder:
        path = canned.build(Path(folder) / "million.db", canned.Recipe(state="stopped"))
        with sqlite3.connect(path) as db:
            ((first,),) = db.execute("SELECT max(seq) + 1 FROM articles")
            db.executemany(
                "INSERT INTO articles (seq, page_id, title, revision_id, words, role, topics)"
                " SELECT ?1, ?1, ?2, 1, 100, role, topics FROM articles WHERE seq = ?3",
                ((seq, f"{canned.TITLES[seq % 20]} {seq:,}", first - 1) for seq in range(first, MILLION)),
            )
        db.close()
        with SessionReader(path) as reader:
            search = partial(reader.find_articles, "903,21")
            times = [timed(search, time.perf_counter)[0] for _ in range(5)]
    return {"few_milliseconds": 1e3 * statistics.median(times)}


@EXPERIMENT.point()
def keys() -> Figures:
    """Milliseconds from a key to its paint beside a trainer that runs flat out (counts source): keys that
    repaint much, such as views, axes, crosshair."""
    folder = tempfile.TemporaryDirectory()
    process, path = trainer(Path(folder.name), "busy")
    try:
        while articles(path) < 3_000:
            time.sleep(0.2)
        screen = Screen(path)
        screen.wait_for(b"Freeze")
        screen.read(2.0)
        times = []
        script = (
            (b"5", b"Log \xc2\xb7"),
            (b"3", b"newest first"),
            (b"2", b"topics after"),
            (b"1", b"Perplexity"),
            (b"x", b"over documents"),
            (b"x", b"[log x"),
            (b"?", b"logarithmic"),
            (b"?", b"Perplexity"),
        )
        for _ in range(25):
            for key, shows in script:
                times.append(screen.answer_time(key, shows))
                screen.read(0.15)
        screen.close()
    finally:
        process.terminate()
        process.wait()
        folder.cleanup()
    median, p99 = (1e3 * np.percentile(times, [50, 99])).tolist()
    return {"wall_median": median, "wall_p99": p99}


@EXPERIMENT.point()
def cost() -> Figures:
    """What an attached screen costs a trainer: its CPU seconds for 60,000 articles without and with one.

    Medians of five turns, as the same work takes longer at one moment than at another.
    """
    used: dict[str, list[float]] = {"alone": [], "watched": []}
    with tempfile.TemporaryDirectory() as folder:
        _trained(Path(folder), "warm-up", 2_000, watched=False)  # compiles the kernels
        for turn in range(5):
            for what, seconds in used.items():
                seconds.append(_trained(Path(folder), f"{what}{turn}", 60_000, watched=what == "watched"))
    alone, watched = (statistics.median(used[what]) for what in ("alone", "watched"))
    return {"alone_seconds": alone, "more_percent": 100 * (watched / alone - 1), "turns": used}


def _trained(folder: Path, name: str, articles: int, *, watched: bool) -> float:
    """CPU seconds of a trainer over this many articles."""
    process, path = trainer(folder, name, "--articles", str(articles))
    screen = Screen(path) if watched else None
    while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        if screen is not None:
            screen.read(0.2)
        else:
            time.sleep(0.2)
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    if screen is not None:
        screen.close()
    return ended[2].ru_utime + ended[2].ru_stime


@EXPERIMENT.point()
def start() -> Figures:
    """Seconds from the command to the first frame of a small session, best of five, warm."""
    first = []
    with tempfile.TemporaryDirectory() as folder:
        path = canned.build(Path(folder) / "small.db", canned.Recipe(state="stopped"))
        for _ in range(5):
            screen = Screen(path)
            first.append(screen.wait_for(b"wikitopics"))
            screen.close()
    return {"small_first_frame": min(first)}


def trainer(folder: Path, name: str, *extra: str) -> tuple[subprocess.Popen[bytes], Path]:
    """A real trainer that runs flat out, once its session exists."""
    path = folder / f"{name}.db"
    train = [*PROGRAM, "train", "--session", str(path), "--topics", "100", "--threads", "2", *extra]
    process = subprocess.Popen(
        [*train, *write_counts(folder, 200_000, words=8_000, length=60)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    while not path.exists():
        if process.poll() is not None:
            raise RuntimeError(f"the trainer ended with code {process.returncode}")
        time.sleep(0.05)
    return process, path


def articles(path: Path) -> int:
    with SessionReader(path) as reader:
        return reader.status().articles
