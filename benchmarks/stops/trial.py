"""Real trainers, started and stopped at random instants."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.harness import ROOT, Figures
from benchmarks.processes import PROGRAM, birth, family
from benchmarks.stops.files import Broken, Locked, check, is_finished, look_in, works

KINDS = ("SIGKILL", "SIGTERM", "SIGINT_twice", "SIGSTOP_SIGCONT")
MODELS = (
    "lda:topics=10,batch_size=256",
    "scvb0:topics=10,batch_size=128",
    "hdp:topics=20,batch_size=256",
)
LONGEST_STOP = 15.0
"""Seconds that a trainer may take to commit and exit, on a busy machine."""


@dataclass
class Tally:
    """Stops tried by kind, those that the session survived, and what was wrong with the others."""

    tried: Counter[str] = field(default_factory=Counter)
    survived: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    finished: int = 0
    """Sessions that were trained to their end."""
    bad_replies: int = 0
    """Replies with which the wiki misbehaved meanwhile."""
    bad_pages: int = 0

    @property
    def stops(self) -> int:
        return sum(self.tried.values())

    def figures(self) -> Figures:
        """For the results."""
        return {
            "stops": self.stops,
            "survivors": sum(self.survived.values()),
            "tried": dict(self.tried),
            "sessions": self.finished,
            "bad_replies": self.bad_replies,
            "bad_pages": self.bad_pages,
            "broken": self.broken,
        }


def write_counts(folder: Path, documents: int, words: int, length: int) -> list[str]:
    """Write documents of word counts drawn at random, and a vocabulary; return the options that
    name them."""
    rng = np.random.default_rng(0)
    # One word from each stretch of the vocabulary, so that no word comes twice in a document.
    stretch = words // length
    stretch_starts = np.arange(length) * stretch
    ids = np.sort(stretch_starts + rng.integers(0, stretch, (documents, length)))
    counts = folder / "counts.npz"
    np.savez(
        counts,
        indptr=np.arange(documents + 1, dtype=np.int64) * length,
        word_ids=ids.astype(np.int32).ravel(),
        counts=rng.integers(1, 4, documents * length).astype(np.int32),
        n_words=words,
    )
    vocabulary = folder / "words.txt"
    names = [_made_up_word(number) for number in range(words)]
    vocabulary.write_text("\n".join(names) + "\n")
    options = ["--source", "counts", "--counts", str(counts), "--vocab", str(vocabulary)]
    return [*options, "--passes", "1"]


def _made_up_word(number: int) -> str:
    """A word of the letter w and four others: the digits of the number to the base of 20, the last
    one first."""
    letters = "abcdefghijklmnopqrst"
    word = "w"
    for _ in range(4):
        number, digit = divmod(number, len(letters))
        word += letters[digit]
    return word


def counts_command(folder: Path, documents: int) -> list[str]:
    """The command that trains three kinds of models on word counts, which this writes."""
    counts = write_counts(folder, documents, words=2_000, length=40)
    command = ["train", *counts, "--held-out", "200", "--seed", "1"]
    for model in MODELS:
        command += ["--model", model]
    return command


class Trial:
    """One way to train, repeated from the start whenever it has finished."""

    def __init__(
        self,
        folder: Path,
        command: list[str],
        rng: random.Random,
        *,
        threads: bool,
    ) -> None:
        """threads: train with one thread or two, at random."""
        self.command = command
        self.rng = rng
        self.threads = threads
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), "WIKITOPICS_HOME": str(folder)}
        self.tally = Tally()
        self.trainer: subprocess.Popen[bytes] | None = None

    def start(self, path: Path) -> subprocess.Popen[bytes]:
        command = [*PROGRAM, *self.command]
        if self.threads:
            command += ["--threads", str(self.rng.choice((1, 2)))]
        command += ["--session", str(path)]
        self.trainer = subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        return self.trainer

    def undisturbed(self, path: Path) -> None:
        """Train to the end without a stop."""
        trainer = self.start(path)
        assert trainer.stderr is not None
        text = trainer.stderr.read().decode()
        if trainer.wait() != 0:
            raise Broken(f"the undisturbed run ended with {trainer.returncode}: {text[-500:]}")
        trainer.stderr.close()

    def interrupted(self, path: Path, most: int) -> bool:
        """Start and stop trainers until one reaches the end; False if ``most`` stops come first."""
        while self.tally.stops < most:
            trainer = self.start(path)
            try:
                if self.at_a_random_instant(trainer, path):
                    self.stop(trainer, path)
                if trainer.returncode == 0 and is_finished(path):
                    self.tally.finished += 1
                    return True
            finally:
                trainer.kill()
                trainer.communicate()
        return False

    def at_a_random_instant(self, trainer: subprocess.Popen[bytes], path: Path) -> bool:
        """Wait for a random instant; return whether the trainer still runs then."""
        if self.rng.random() < 0.75:
            # Most of a short run is its start: let it get to work first, and stop it there.
            until_it_works(trainer, path)
            delay = self.rng.uniform(0, 1.2)
        else:
            delay = self.rng.uniform(0, 3)
        for _ in range(2):
            with contextlib.suppress(subprocess.TimeoutExpired):
                trainer.wait(delay / 2)
            if trainer.poll() is None and self.rng.random() < 0.5:
                look_in(path)
        return trainer.poll() is None

    def stop(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        """Stop a trainer in one of the ways and check the file."""
        kind = self.rng.choice(KINDS)
        self.tally.tried[kind] += 1
        _, *descendants = family(trainer.pid)
        births = {pid: birth(pid) for pid in descendants}
        try:
            getattr(self, f"by_{kind.lower()}")(trainer, path)
            if trainer.poll() is not None:
                wait_until_gone(births)
            check(path)
            self.tally.survived[kind] += 1
        except Broken as error:
            self.tally.broken.append(f"{kind}: {error}")

    def by_sigkill(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        trainer.kill()
        trainer.wait()

    def by_sigterm(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        settled = works(path, trainer.pid)
        trainer.terminate()
        ends(trainer)
        # Before it handles signals, a trainer has nothing to save.
        codes = {0} if settled else {0, -signal.SIGTERM}
        expect(trainer, codes)

    def by_sigint_twice(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        trainer.send_signal(signal.SIGINT)
        time.sleep(self.rng.uniform(0, 0.05))
        trainer.send_signal(signal.SIGINT)
        ends(trainer)
        expect(trainer, {0, 130, -signal.SIGINT})

    def by_sigstop_sigcont(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        trainer.send_signal(signal.SIGSTOP)
        try:
            time.sleep(self.rng.uniform(0, 0.7))
            check(path)
        except Locked:
            # The trainer was stopped just while it opened or closed the file, when SQLite lets
            # nobody else in. The file is checked later, when the trainer has gone on.
            pass
        finally:
            trainer.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            trainer.wait(self.rng.uniform(0.1, 0.7))
        if trainer.poll() is None:
            trainer.kill()
            trainer.wait()
        else:
            expect(trainer, {0})


def until_it_works(trainer: subprocess.Popen[bytes], path: Path) -> None:
    """Wait until a trainer has started its work or has ended, at most a minute."""
    deadline = time.monotonic() + 60
    while not works(path, trainer.pid):
        if trainer.poll() is not None or time.monotonic() >= deadline:
            return
        time.sleep(0.02)


def ends(trainer: subprocess.Popen[bytes]) -> None:
    """Raises `Broken` unless a trainer that was asked to stop does so in time."""
    try:
        trainer.wait(LONGEST_STOP)
    except subprocess.TimeoutExpired:
        raise Broken(f"the trainer lived on for {LONGEST_STOP:.0f} s") from None


def expect(trainer: subprocess.Popen[bytes], codes: set[int]) -> None:
    """Raises `Broken` unless a trainer has ended with one of these codes, and without a
    traceback."""
    assert trainer.stderr is not None
    text = trainer.stderr.read().decode(errors="replace")
    # A signal ends a trainer that has saved all, while the interpreter is leaving.
    saved_all = trainer.returncode < 0 and text.rstrip().endswith("everything is saved")
    expected = trainer.returncode in codes or saved_all
    # Python itself writes a traceback where a signal comes while it is loading, or while it leaves.
    while_loading = trainer.returncode == -signal.SIGINT
    while_leaving = "Exception ignored" in text
    traceback_of_ours = "Traceback" in text and not while_loading and not while_leaving
    if not expected or traceback_of_ours:
        raise Broken(f"exit code {trainer.returncode}: {text[-800:]}")


def wait_until_gone(births: Mapping[int, str | None]) -> None:
    """Raises `Broken` where processes that a trainer has started outlive it.

    births: when each was started, by its id; None: it has ended
    """
    deadline = time.monotonic() + 10
    while True:
        left = [pid for pid, born in births.items() if born and birth(pid) == born]
        if not left:
            return
        if time.monotonic() > deadline:
            raise Broken(f"processes {left} outlive their trainer")
        time.sleep(0.05)
