"""A whole Wikipedia, rehearsed: 7,000,000 articles through one session, its trainer killed again
and again.

Word counts are drawn from real articles; lda, hdp and scvb0 learn them in one session with two
threads. At random moments the trainer gets SIGKILL and is started again, and once more near the
end. `wikitopics watch` draws all the while on a terminal of 120x36. Measured: memory (RssAnon
beside RSS: pages of files are not the program's), the file and its log, the time of every restart,
perplexity. Then the whole file is checked.

The experiment may be stopped (Ctrl+C, kill) and resumed by the same command: everything it needs is
in a temporary folder, 4 GB for 7,000,000 articles. Linux only.
"""

import random
import shutil
import tempfile
from pathlib import Path

from benchmarks.harness import Experiment, Figures, commit
from benchmarks.rehearsed.counts import resampled_command
from benchmarks.rehearsed.figures import curves, found
from benchmarks.rehearsed.run import Rehearsal

EXPERIMENT = Experiment(
    "rehearsal", "7,000,000 articles in one session, killed 20 times and watched"
)
ARTICLES = 7_000_000
KILLS = 20
LAST_KILL = 0.98
"""The share of the articles after which a restart has most to read."""


@EXPERIMENT.point()
def whole() -> Figures:
    folder = Path(tempfile.gettempdir()) / "wikitopics-rehearsal" / commit()
    rng = random.Random(0)
    shares = [rng.uniform(0, LAST_KILL) for _ in range(KILLS - 1)]
    kills = [int(ARTICLES * share) for share in [*sorted(shares), LAST_KILL]]
    with Rehearsal(folder, resampled_command(folder, ARTICLES), kills) as rehearsal:
        rehearsal.until_the_end()
    figures = found(rehearsal.path, rehearsal.journal.entries)
    shutil.rmtree(folder)
    return figures


EXPERIMENT.pictures["curves"] = lambda points: curves(points["whole"])
