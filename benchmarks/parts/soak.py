"""Days of training in minutes: many articles through a real trainer, its memory and its file watched.

`counts`: 2,000,000 articles, word counts resampled from a corpus, three models. `wiki`: 100,000 over HTTP
from the embedded wiki. A watcher that never sleeps reads the session meanwhile.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.corpora import CORPUS
from benchmarks.frame import WATCHED_ROOMS, Figures, Part, Unavailable
from benchmarks.frame.results import ROOT
from benchmarks.processes import family, memory_mb
from benchmarks.rehearsed.counts import write_resampled
from wikitopics.session.storage.reader import SessionReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PART = Part("soak", "days of training in minutes: memory, the file, restarts", WATCHED_ROOMS)
MODELS = ["lda", "scvb0", "hdp"]
SECONDS = 0.5
"""Between two looks at the memory."""


def watch(path: Path) -> None:
    """Read the session over and over, as a screen does, until the parent ends."""
    while not path.exists():
        time.sleep(0.05)
    with SessionReader(path) as reader:
        while os.getppid() != 1:
            reader.status()
            for model in reader.models():
                reader.curve(model, "perplexity")
                reader.topics(model)
            reader.recent_articles(50)
            time.sleep(0.05)


def run(source: list[str], articles: int) -> Figures:
    """One soak over what these words of the command line name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.db"
        environment = dict(os.environ, WIKITOPICS_HOME=folder, PYTHONPATH=str(ROOT))
        command = [sys.executable, "-m", "wikitopics", *source, "--session", str(path)]
        begun = time.monotonic()
        trainer = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        watcher = multiprocessing.get_context("spawn").Process(target=watch, args=(path,))
        watcher.start()
        memory: list[tuple[float, int, float]] = []
        log = 0
        try:
            while trainer.poll() is None:
                time.sleep(SECONDS)
                log = max(log, _size(path.with_name("soak.db-wal")))
                # A trainer that has read all is closing down.
                if path.exists() and trainer.poll() is None and (read := _articles(path)) < articles:
                    with contextlib.suppress(OSError):  # one of its processes has just ended
                        memory.append((time.monotonic() - begun, read, memory_mb(family(trainer.pid))))
        finally:
            watcher.kill()
            watcher.join()
        seconds = time.monotonic() - begun
        assert trainer.returncode == 0, f"the trainer ended with {trainer.returncode}"
        assert _articles(path) == articles
        restarts = [_timed(command, environment) for _ in range(5)]
        return {
            "articles": articles,
            "seconds": round(seconds, 1),
            "growth_percent": 100 * _growth(memory),
            "most_mb": max(mb for _, _, mb in memory),
            "largest_log_mb": round(log / 1e6, 1),
            "file_mb": round(_size(path) / 1e6, 1),
            "bytes_an_article": _bytes_an_article(path, articles),
            "restart_seconds": round(float(np.median(restarts)), 2),
            "memory": [(round(t, 1), n, round(mb, 1)) for t, n, mb in memory],
        }


@PART.point(minutes=15)
def counts() -> Figures:
    if not CORPUS.is_dir():
        raise Unavailable(f"{CORPUS} is not there")
    articles = 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        write_resampled(articles, Path(folder) / "soak.npz")
        source = ["train", "--source", "counts", "--counts", f"{folder}/soak.npz"]
        source += ["--vocab", str(CORPUS / "dictnostops.txt")]
        return run([*source, *(word for model in MODELS for word in ("--model", model))], articles)


@PART.point(minutes=6)
def wiki() -> Figures:
    articles = 500_000
    return run(["demo", "--headless", "--articles", str(articles)], articles)


def _timed(command: list[str], environment: dict[str, str]) -> float:
    """Seconds that the finished session's trainer takes to load all, to find nothing to do, and to leave."""
    begun = time.monotonic()
    subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun


def _growth(memory: list[tuple[float, int, float]]) -> float:
    """Median memory of the last fifth over that of the second tenth, minus 1."""
    tenth = max(1, len(memory) // 10)
    early = float(np.median([mb for _, _, mb in memory[tenth : 2 * tenth + 1]]))
    late = float(np.median([mb for _, _, mb in memory[-2 * tenth :]]))
    return round(late / early - 1, 4)


def _articles(path: Path) -> int:
    with SessionReader(path) as reader:
        return reader.status().articles


def _bytes_an_article(path: Path, articles: int) -> float:
    """What `articles` and its orders by topic take in the file."""
    connection = sqlite3.connect(path)
    try:
        (used,) = connection.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name = 'articles' OR name LIKE 'by_topic_of_model_%'"
        ).fetchone()
    finally:
        connection.close()
    return round(float(used) / max(1, articles), 1)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def memory(points: Mapping[str, Figures]) -> Figure:
    """Memory of the trainer and its processes, one panel for each soak."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(points), figsize=(5 * len(points), 3.2), squeeze=False)
    for axes, (name, found) in zip(panels[0], points.items(), strict=True):
        figures: Any = found
        axes.plot(
            *zip(*((articles, mb) for _, articles, mb in figures["memory"]), strict=True), linewidth=0.8
        )
        axes.set(title=name, xlabel="articles", ylabel="MB", ylim=(0, None))
        axes.grid(alpha=0.3)
    figure.tight_layout()
    return figure


PART.pictures["memory"] = memory
