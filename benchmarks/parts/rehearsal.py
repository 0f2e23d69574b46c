"""A whole Wikipedia, rehearsed: 7,000,000 articles through one session, its trainer killed again and again.

Word counts are drawn from real articles; lda, hdp and scvb0 learn them in one session with two threads. At
random moments the trainer gets SIGKILL and is started again, and once more near the end. `wikitopics watch`
draws all the while on a terminal of 120x36, and `wikitopics status --json` asks every 30 s. Measured:
articles, memory (RssAnon beside RSS: pages of files are not the program's), the file and its log, the time of
every restart, perplexity, and at the end what it takes to ask such a session. Then the whole file is checked.

It may be stopped (Ctrl+C, kill) and resumed by the same command: everything it needs is in a temporary
folder, 4 GB for 7,000,000 articles. `small` is a trial of it. Linux only.
"""

import shutil
import tempfile
from pathlib import Path

from benchmarks.corpora import CORPUS
from benchmarks.frame import Figures, Part, Unavailable
from benchmarks.frame.results import commit
from benchmarks.rehearsed.figures import curves, told
from benchmarks.rehearsed.run import Rehearsal

PART = Part("rehearsal", "7,000,000 articles in one session, killed 20 times and watched")


def rehearsed(articles: int, kills: int) -> Figures:
    if not CORPUS.is_dir():
        raise Unavailable(f"{CORPUS} is not there")
    folder = Path(tempfile.gettempdir()) / "wikitopics-rehearsal" / f"{articles}-articles-{commit()}"
    with Rehearsal(folder, articles, kills) as rehearsal:
        rehearsal.until_the_end()
    figures = told(rehearsal.path, rehearsal.journal.entries, kills)
    shutil.rmtree(folder)
    return figures


@PART.point(minutes=4)
def small() -> Figures:
    return rehearsed(300_000, 5)


@PART.point(minutes=50)
def whole() -> Figures:
    return rehearsed(7_000_000, 20)


PART.pictures["curves"] = lambda points: curves(points["whole" if "whole" in points else "small"])
