"""`wikitopics watch` as a person uses it, on a terminal that is read, and a trainer for it to watch."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.frame.results import ROOT
from wikitopics.session.storage.reader import SessionReader


class Screen:
    """`wikitopics watch` in a terminal of its own."""

    def __init__(self, path: Path, columns: int = 120, rows: int = 40) -> None:
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(
                TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows), PYTHONPATH=str(ROOT)
            )
            os.execv(sys.executable, [sys.executable, "-m", "wikitopics", "watch", "--session", str(path)])
        self.written = b""

    def read(self, seconds: float) -> bytes:
        """What it writes within this many seconds, at least until it stops writing."""
        got = b""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                try:
                    got += os.read(self.fd, 65536)
                except OSError:  # how Linux says that the other side has closed
                    break
        self.written += got
        return got

    def wait_for(self, words: bytes, patience: float = 30.0) -> float:
        """Seconds from the start until it has written ``words``."""
        end = time.perf_counter() + patience
        while words not in self.written:
            if time.perf_counter() > end:
                raise TimeoutError(words)
            if select.select([self.fd], [], [], 0.05)[0]:
                self.written += os.read(self.fd, 65536)
        return time.perf_counter() - self.began

    def answer_time(self, key: bytes, shows: bytes) -> float:
        """Seconds from a key to the arrival of what it makes appear."""
        got = b""
        began = time.perf_counter()
        os.write(self.fd, key)
        while shows not in got:
            if time.perf_counter() - began > 10:
                raise TimeoutError(shows)
            if select.select([self.fd], [], [], 0.5)[0]:
                got += os.read(self.fd, 65536)
        return time.perf_counter() - began

    def cpu_seconds(self) -> float:
        """User and system time so far, by its CPU clock (Linux: clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def close(self) -> None:
        os.write(self.fd, b"q")
        self.read(1.0)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, by its CPU clock (Linux: clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


def counts_file(folder: Path) -> tuple[Path, Path]:
    """A stream of word counts that trains for minutes, and its vocabulary."""
    rng = np.random.default_rng(0)
    documents, words, length = 200_000, 8_000, 60
    stretch = words // length
    ids = np.sort(rng.integers(0, stretch, (documents, length)) + np.arange(length) * stretch)
    np.savez(
        folder / "counts.npz",
        indptr=np.arange(documents + 1, dtype=np.int64) * length,
        word_ids=ids.astype(np.int32).ravel(),
        counts=rng.integers(1, 4, documents * length).astype(np.int32),
        n_words=words,
    )
    letters = "abcdefghijklmnopqrst"
    vocabulary = folder / "words.txt"
    digits = [[letters[i // 20**place % 20] for place in range(4)] for i in range(words)]
    vocabulary.write_text("".join(f"w{''.join(word)}\n" for word in digits))
    return folder / "counts.npz", vocabulary


def trainer(folder: Path, name: str, *extra: str) -> tuple["subprocess.Popen[bytes]", Path]:
    """A real trainer that runs flat out, once its session exists."""
    counts, vocabulary = counts_file(folder)
    path = folder / f"{name}.db"
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "wikitopics",
            "train",
            "--session",
            str(path),
            "--source",
            "counts",
            "--counts",
            str(counts),
            "--vocab",
            str(vocabulary),
            "--topics",
            "100",
            "--threads",
            "2",
            *extra,
        ],
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
