"""What the history of topics costs: CPU time beside training, and bytes of the session file.

Articles are drawn from the short corpus with replacement, and the session takes them for part of 7,000,000.
The CPU time of the training thread is counted: all of it, and its part for the topics, from reading lambda to
names, changes and the rows of the file. The goal is for the first 1,000,000 articles; fewer show a larger
share, since later snapshots are 10,000 articles apart instead of a twentieth.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import words
from benchmarks.frame import Figures, Part
from benchmarks.splits import in_order, split
from wikitopics.cli import run
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.curves import Curves
from wikitopics.session.training.stream import Stream

PART = Part("snapshots", "what the history of topics costs")
ARTICLES = 250_000


class Meter:
    """CPU seconds of methods, by what they are for."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def watch(self, cls: type, method: str, purpose: str) -> None:
        """Count every call of the method from now on."""
        work: Callable[..., Any] = getattr(cls, method)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.thread_time()
            try:
                return work(*args, **kwargs)
            finally:
                self.seconds[purpose] = self.seconds.get(purpose, 0) + time.thread_time() - start

        setattr(cls, method, timed)


def counts(path: Path, articles: int) -> None:
    """So many articles as a file of counts."""
    train = split("short").train
    drawn = in_order(train, np.random.default_rng(0).integers(train.D, size=articles))
    np.savez(
        path,
        indptr=drawn.indptr,
        word_ids=drawn.word_ids,
        counts=drawn.counts,
        n_words=split("short").n_words,
    )


def history(session: Path) -> tuple[int, float]:
    """Snapshots in the file, and their megabytes."""
    with contextlib.closing(sqlite3.connect(session)) as connection:
        size = "sum(length(word_ids) + length(probabilities) + length(shares))"
        number, size = connection.execute(f"SELECT count(*), {size} FROM snapshots").fetchone()
    return number, size / 2**20


def cost(model: str) -> Figures:
    """What a model's history costs; `model` as for `train --model`."""
    meter = Meter()
    for purpose, cls, method in (
        ("all", Stream, "step"),
        ("all", Stream, "commit"),
        ("taken", Curves, "keep_topics"),
        ("written", SessionWriter, "_write_topics"),
    ):
        meter.watch(cls, method, purpose)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        counts(place / "counts.npz", ARTICLES)
        (place / "words.txt").write_text("\n".join(words()), encoding="utf-8")
        session = place / "history.db"
        counted = f"--source counts --counts {place}/counts.npz --vocab {place}/words.txt"
        settings = f"--documents 7000000 --keep-articles none --threads 1 --model {model}"
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(f"train --session {session} {counted} {settings}".split())
        kept, megabytes = history(session)
    spent = meter.seconds
    return {
        "cpu_seconds": spent["all"],
        "percent": 100 * (spent["taken"] + spent["written"]) / spent["all"],
        "taking_seconds": spent["taken"],
        "writing_seconds": spent["written"],
        "snapshots": kept,
        "megabytes": megabytes,
    }


for _kind in ("lda", "scvb0", "hdp"):
    PART.add(_kind, functools.partial(cost, _kind), minutes=2)
    PART.add(f"{_kind}_1000", functools.partial(cost, f"{_kind}:topics=1000"), minutes=10)
