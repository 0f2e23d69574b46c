"""A whole Wikipedia, rehearsed: 7,000,000 articles through one session, its trainer killed again and again.

Word counts are drawn from real articles; lda, hdp and scvb0 learn them in one session with two threads. At
random moments the trainer gets SIGKILL and is started again, and once more near the end. `wikitopics watch`
draws all the while on a terminal of 120x36, and `wikitopics status --json` asks every 30 s. Measured:
articles, memory (RssAnon beside RSS: pages of files are not the program's), the file and its log, the time of
every restart, perplexity, and at the end what it takes to ask such a session. Then the whole file is checked.

It may be stopped (Ctrl+C, kill) and resumed by the same command: everything it needs is in a temporary
folder, 4 GB for 7,000,000 articles. `small` is a trial of it. Linux only.
"""

import random
import shutil
import tempfile
from pathlib import Path

from benchmarks.harness import Experiment, Figures, commit
from benchmarks.rehearsed.counts import counts_command
from benchmarks.rehearsed.figures import curves, found
from benchmarks.rehearsed.run import Rehearsal

EXPERIMENT = Experiment("rehearsal", "7,000,000 articles in one session, killed 20 times and watched")
LAST_KILL = 0.98
"""The share of the articles after which a restart has most to read."""


def rehearsed(articles: int, kills: int) -> Figures:
    folder = Path(tempfile.gettempdir()) / "wikitopics-rehearsal" / f"{articles}-articles-{commit()}"
    rng = random.Random(0)
    shares = sorted(rng.uniform(0, LAST_KILL) for _ in range(kills - 1))
    points = [int(articles * share) for share in (*shares, LAST_KILL)]
    with Rehearsal(folder, counts_command(folder, articles), points) as rehearsal:
        rehearsal.until_the_end()
    figures = found(rehearsal.path, rehearsal.journal.entries, kills)
    shutil.rmtree(folder)
    return figures


@EXPERIMENT.point(minutes=4)
def small() -> Figures:
    return rehearsed(300_000, 5)


@EXPERIMENT.point(minutes=50)
def whole() -> Figures:
    return rehearsed(7_000_000, 20)


EXPERIMENT.pictures["curves"] = lambda points: curves(points["whole" if "whole" in points else "small"])
