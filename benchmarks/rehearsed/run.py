"""The run: a trainer that is killed and started again, a screen beside it, and a journal of what
was seen."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

from benchmarks.processes import PROGRAM, Screen, family, memory_mb, status_mb
from wikitopics.session.signals import acting_later
from wikitopics.session.storage.reader import SessionReader

SAMPLE_SECONDS = 1.0
PATIENCE = 900.0
"""Seconds that a trainer may take to its first minibatch, compiling included."""
MEMORY = {"rss_mb": "VmRSS", "anon_mb": "RssAnon"}


class Journal:
    """What happened, one line each, so that a resumed run knows what came before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: list[dict[str, Any]] = []
        if path.exists():
            for line in path.read_text().splitlines():
                if line.endswith("}"):  # otherwise the run was killed while it wrote the line
                    self.entries.append(json.loads(line))
        self._before = max((entry["seconds"] for entry in self.entries), default=0.0)
        self._begun = time.monotonic()

    def note(self, what: str, **values: Any) -> None:
        """Add a line, with the seconds of running time so far, over all runs."""
        seconds = self._before + time.monotonic() - self._begun
        entry = {"what": what, "seconds": round(seconds, 2), **values}
        self.entries.append(entry)
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def number_of(self, what: str) -> int:
        return sum(entry["what"] == what for entry in self.entries)


class Trainer:
    """`wikitopics train`, which tells on standard error when it begins to train."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.begun = time.monotonic()
        self.ready: float | None = None
        """Seconds from the start until it began to train."""
        self.process = subprocess.Popen(
            [*PROGRAM, *command],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""
        """Its last line."""
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said = line.rstrip() or self.said
            if self.ready is None and ": training " in line:
                self.ready = round(time.monotonic() - self.begun, 2)

    @property
    def lives(self) -> bool:
        with acting_later():  # `Signals.wait` says why
            return self.process.poll() is None

    def end(self, number: signal.Signals | None = None) -> int:
        """Wait for the end, after a signal; returns the exit code."""
        with acting_later():
            if number is not None:
                self.process.send_signal(number)
            code = self.process.wait()
        self._listening.join()
        return code


class Rehearsal:
    """A session in a folder, trained to its end despite all interruptions."""

    def __init__(self, folder: Path, command: list[str], kills: list[int]) -> None:
        """kills: numbers of articles from which the trainer is killed, ascending."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "rehearsal.db"
        self.journal = Journal(folder / "journal.jsonl")
        self._environment = {**os.environ, "WIKITOPICS_HOME": str(folder)}
        self._rng = random.Random(0)
        self._kills = kills
        self._train = [*command, "--session", str(self.path)]
        self._screen: Screen | None = None
        self._reader: SessionReader | None = None
        self._next_sample = 0.0

    def __enter__(self) -> Self:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return self

    def __exit__(self, *_: object) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._screen is not None:
            self._screen.process.terminate()
            self._screen.process.wait()

    def until_the_end(self) -> None:
        """Train it; an interrupted run continues where it was."""
        if self._trained() > 0 and self._status().running:
            # By a trainer that is left of a rehearsal that was killed itself.
            subprocess.run([*PROGRAM, "stop", "--session", str(self.path)], check=True)
            while self._status().running:
                time.sleep(0.1)
        while not self.path.exists() or self._status().state != "finished":
            self._one_trainer()

    def _one_trainer(self) -> None:
        """Start a trainer, and kill it when that is due."""
        before = self._trained()
        trainer = Trainer(self._train, self._environment)
        try:
            self._until_first_minibatch(trainer, before)
            kills = self.journal.number_of("kill")
            due = self._kills[kills] if kills < len(self._kills) else None
            while trainer.lives:
                with acting_later():
                    articles = self._observe(trainer)
                if due is not None and articles >= due:
                    time.sleep(self._rng.uniform(0, 2))
                    if trainer.lives:
                        self.journal.note("kill", articles=self._trained())
                        trainer.end(signal.SIGKILL)
                        return
                time.sleep(0.1)
            assert trainer.end() == 0, f"the trainer ended: {trainer.said}"
        finally:
            if trainer.lives:
                trainer.end(signal.SIGTERM)

    def _until_first_minibatch(self, trainer: Trainer, before: int) -> None:
        """Wait until the trainer has saved a minibatch."""
        deadline = time.monotonic() + PATIENCE
        while trainer.lives and self._trained() <= before:
            assert time.monotonic() < deadline, f"no minibatch within {PATIENCE:.0f} s"
            time.sleep(0.02)
        took = round(time.monotonic() - trainer.begun, 2)
        self.journal.note("start", articles=before, ready=trainer.ready, first_minibatch=took)
        print(
            f"{before:,} articles: started again, first minibatch saved after {took:.1f} s",
            flush=True,
        )

    def _status(self) -> Any:
        if self._reader is None:
            self._reader = SessionReader(self.path)
        return self._reader.status()

    def _trained(self) -> int:
        """Articles in the file."""
        return self._status().articles if self.path.exists() else 0

    def _observe(self, trainer: Trainer) -> int:
        """Return the articles that it has trained; now and then measure everything."""
        if self._screen is None:
            self._screen = Screen(self.path, columns=120, rows=36)
            self._screen.drain()
        assert self._screen.process.poll() is None, (
            f"the screen ended with {self._screen.process.returncode}"
        )
        articles = self._trained()
        now = time.monotonic()
        if now >= self._next_sample:
            self._next_sample = now + SAMPLE_SECONDS
            self.journal.note(
                "sample",
                articles=articles,
                trainer=seen(trainer.process.pid),
                family_mb=family_mb(trainer.process.pid),
                screen=seen(self._screen.process.pid),
                file_mb=megabytes(self.path),
                log_mb=megabytes(self.path.with_name(self.path.name + "-wal")),
            )
        return articles


def seen(pid: int) -> dict[str, float] | None:
    """Memory in MB of a process; None where it has just ended."""
    try:
        sizes = {name: round(status_mb(pid, key), 1) for name, key in MEMORY.items()}
    except OSError:
        return None
    if not all(sizes.values()):  # a process that has ended, but was not waited for, has no memory
        return None
    return sizes


def family_mb(pid: int) -> float | None:
    """Memory of a process and of all that it has started; None where one has just ended."""
    try:
        return round(memory_mb(family(pid)), 1)
    except OSError:
        return None


def megabytes(path: Path) -> float:
    return round(path.stat().st_size / 1e6, 1) if path.exists() else 0.0
