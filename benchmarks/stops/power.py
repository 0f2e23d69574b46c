"""Power cuts: what a disk holds at any instant, mounted again, and training that resumes from
there.

A killed trainer loses nothing that it has written, since the kernel keeps it. A power cut takes the
kernel's memory too. So the session lies in an ext4 file system (default options) on a disk that
remembers every write and flush in its order (see `benchmarks.stops.disk`); a trainer works on it
until a random instant. From the log follow the states that a cut could have left, exactly, whatever
else the kernel was doing:

- at that instant, all that the disk was given is on it, or only what was flushed;
- the same at other instants of the same run, drawn from all its writes, so in the middle of an
  fsync too;
- of what was not flushed a random part of the sectors, as from a disk with a cache.

Each state is mounted, which replays ext4's journal. The session must be whole and an exact prefix
of the undisturbed stream; the newest commits may be missing, and how much is measured. The next
trainer goes on from one of the states, until the end, where the models must be those of an
undisturbed run, bit for bit.
"""

import contextlib
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import Figures, Unavailable
from benchmarks.stops.disk import Log, blank, copy, mounted, prepare, remembering
from benchmarks.stops.files import Broken, expect_same, inspect, is_finished, read_only, stream
from benchmarks.stops.trial import Trial, counts_command, until_it_works

DISK_BYTES = 600 << 20
STATES = 10
"""States checked for each cut."""
KEPT_AT_THE_END = (1.0, 0.0, 0.5)
"""In the first of them, which are of the cut's own instant: the share of what was not flushed that
is on the disk. The other states are of random instants and shares."""
SESSION = "night.db"


@dataclass
class Cuts:
    """What was found."""

    cuts: int = 0
    states: int = 0
    lost: list[float] = field(default_factory=list)
    """Seconds of learning missing in each state that has not learnt everything yet. What follows,
    such as the layout of the map, is done again as a whole."""
    sessions: int = 0
    broken: list[str] = field(default_factory=list)

    def figures(self) -> Figures:
        """For the results."""
        return {
            "cuts": self.cuts,
            "states": self.states,
            "whole": self.states - len(self.broken),
            "lost_seconds_most": round(max(self.lost), 1),
            "sessions": self.sessions,
            "broken": self.broken,
        }


def power(folder: Path, times: int, documents: int) -> Cuts:
    """Cut the power ``times`` times. Raises `Unavailable` where disks cannot be made."""
    prepare()
    rng = random.Random(0)
    trial = Trial(folder, counts_command(folder, documents), rng, threads=True)
    calm = folder / "calm.db"
    trial.undisturbed(calm)
    with contextlib.closing(read_only(calm)) as connection:
        undisturbed = stream(connection)
    cuts = Cuts()
    before = folder / "before.img"
    while cuts.cuts < times:
        blank(before, DISK_BYTES)
        finished = False
        while not finished and cuts.cuts < times:
            finished = cut(trial, cuts, before, folder, undisturbed)
        train_to_the_end(trial, cuts, before, folder, calm)
    return cuts


def cut(trial: Trial, cuts: Cuts, before: Path, folder: Path, undisturbed: list[int]) -> bool:
    """One run that ends with a power cut. Whether the session is finished in the state that
    ``before`` becomes, one of those checked."""
    rng = trial.rng
    image = folder / "work.img"
    log = folder / "writes.log"
    copy(before, image)
    with remembering(image, log, folder / "disk") as disk:
        begun = time.time()
        trainer = trial.start(disk / SESSION)
        try:
            wait(trial, disk / SESSION)
            size = log.stat().st_size
            cut_at = time.time()
        finally:
            trainer.kill()
            trainer.communicate()
    history = Log(log, size)
    cuts.cuts += 1
    goes_on_from = rng.randrange(STATES)
    finished = False
    state = folder / "state.img"
    chosen = folder / "chosen.img"
    for number in range(STATES):
        last = len(history.writes)
        if number < len(KEPT_AT_THE_END):
            position = last
            kept = KEPT_AT_THE_END[number]
        else:
            position = rng.randrange(last + 1)
            kept = rng.choice((0.0, rng.random(), 1.0))
        instant = cut_at if position == last else history.writes[position].time
        history.state(before, state, position, kept, rng)
        cuts.states += 1
        try:
            with mounted(state, folder / "again") as disk:
                found = inspected(disk / SESSION, undisturbed)
        except (Broken, Unavailable) as error:
            cuts.broken.append(f"cut {cuts.cuts}, state {number}: {error}")
            continue
        if found.articles < len(undisturbed):
            lost = instant - max(found.saved_at, begun)
            cuts.lost.append(max(0.0, lost))
        if number == goes_on_from:
            finished = found.finished
            copy(state, chosen)
    if chosen.exists():
        chosen.replace(before)
    return finished


def wait(trial: Trial, path: Path) -> None:
    """Wait for a random instant, during the start or some time into the work."""
    trainer = trial.trainer
    assert trainer is not None
    if trial.rng.random() < 0.7:
        until_it_works(trainer, path)
    deadline = time.monotonic() + trial.rng.uniform(0, 12)
    while trainer.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


class Found(NamedTuple):
    """A session in one of the states."""

    finished: bool = False
    articles: int = 0
    saved_at: float = 0.0


def inspected(path: Path, undisturbed: list[int]) -> Found:
    """What there is of the session. Raises `Broken`."""
    if not path.exists():
        return Found()
    articles = inspect(path)
    if articles != undisturbed[: len(articles)]:
        raise Broken("the articles are no prefix of the stream")
    with contextlib.closing(read_only(path)) as connection:
        (saved_at,) = connection.execute("SELECT committed_at FROM progress").fetchone()
    return Found(is_finished(path), len(articles), saved_at)


def train_to_the_end(trial: Trial, cuts: Cuts, image: Path, folder: Path, calm: Path) -> None:
    """Train what the last cut has left to the end, and compare it with the undisturbed session."""
    with mounted(image, folder / "again") as disk:
        try:
            trial.undisturbed(disk / SESSION)
            expect_same(disk / SESSION, calm)
            left = sorted(path.name for path in disk.iterdir() if path.name.endswith(".new"))
            if left:
                raise Broken(f"left behind: {left}")
            cuts.sessions += 1
        except Broken as error:
            cuts.broken.append(f"after {cuts.cuts} cuts, at its end: {error}")
