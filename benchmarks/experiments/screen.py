"""What the docs claim about the screen: how fast it answers, and what CPU it takes.

Times of `keys`, `start` and `search` are wall clock, so they are valid on an idle machine only;
`cost` counts CPU seconds. Needs Linux (/proc) and the tests' canned sessions.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import ROOT, Experiment, Figures
from benchmarks.processes import PROGRAM, Screen
from benchmarks.stops.trial import write_counts
from tests.tui import canned
from wikitopics.session.storage.reader import SessionReader

EXPERIMENT = Experiment("screen", "how soon the screen answers, and what it costs", data="none")
MILLION = 1_000_000


@EXPERIMENT.point()
def search() -> Figures:
    """Milliseconds until a search among the titles of a million articles is answered; the screen
    does it in a thread beside the one that follows the trainer."""
    with tempfile.TemporaryDirectory() as folder:
        path = canned.build(Path(folder) / "million.db", canned.Recipe(state="stopped"))
        with sqlite3.connect(path) as db:
            ((last,),) = db.execute("SELECT max(seq) FROM articles")
            more = (
                (seq, f"{canned.TITLES[seq % 20]} {seq:,}", last)
                for seq in range(last + 1, MILLION)
            )
            db.executemany(
                "INSERT INTO articles (seq, page_id, title, revision_id, words, role, topics)"
                " SELECT ?1, ?1, ?2, 1, 100, role, topics FROM articles WHERE seq = ?3",
                more,
            )
        db.close()
        seconds = []
        with SessionReader(path) as reader:
            for _ in range(5):
                begun = time.perf_counter()
                reader.find_articles("903,21")
                seconds.append(time.perf_counter() - begun)
    return {"few_milliseconds": 1e3 * statistics.median(seconds)}


@EXPERIMENT.point()
def keys() -> Figures:
    """Milliseconds from a key to its paint beside a trainer that runs flat out (counts source):
    keys that repaint much, such as views, axes, crosshair."""
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
            (b"a", b"over words"),
            (b"a", b"over time"),
            (b"a", b"Perplexity"),
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
    """What an attached screen costs a trainer: its CPU seconds for 60,000 articles without and with
    one.

    Medians of five turns, as the same work takes longer at one moment than at another.
    """
    used: dict[str, list[float]] = {"alone": [], "watched": []}
    with tempfile.TemporaryDirectory() as folder:
        _trained(Path(folder), "warm-up", 2_000, watched=False)  # compiles the kernels
        for turn in range(5):
            for way, seconds in used.items():
                watched = way == "watched"
                seconds.append(_trained(Path(folder), f"{way}{turn}", 60_000, watched=watched))
    seconds_alone = statistics.median(used["alone"])
    seconds_watched = statistics.median(used["watched"])
    return {
        "alone_seconds": seconds_alone,
        "more_percent": 100 * (seconds_watched / seconds_alone - 1),
        "turns": used,
    }


def _trained(folder: Path, name: str, articles: int, *, watched: bool) -> float:
    """CPU seconds of a trainer over this many articles."""
    process, path = trainer(folder, name, "--articles", str(articles))
    screen = Screen(path) if watched else None
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        has_ended = pid != 0
        if has_ended:
            break
        if screen is not None:
            screen.read(0.2)
        else:
            time.sleep(0.2)
    process.returncode = os.waitstatus_to_exitcode(status)
    if screen is not None:
        screen.close()
    return usage.ru_utime + usage.ru_stime


@EXPERIMENT.point()
def start() -> Figures:
    """Seconds from the command to the first frame of a small session, best of five, warm."""
    first_frames = []
    with tempfile.TemporaryDirectory() as folder:
        path = canned.build(Path(folder) / "small.db", canned.Recipe(state="stopped"))
        for _ in range(5):
            screen = Screen(path)
            first_frames.append(screen.wait_for(b"wikitopics"))
            screen.close()
    return {"small_first_frame": min(first_frames)}


def trainer(folder: Path, name: str, *extra: str) -> tuple[subprocess.Popen[bytes], Path]:
    """A real trainer that runs flat out, once its session exists."""
    path = folder / f"{name}.db"
    command = [*PROGRAM, "train", "--session", str(path), "--topics", "100", "--threads", "2"]
    command += extra
    command += write_counts(folder, 200_000, words=8_000, length=60)
    process = subprocess.Popen(
        command,
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
