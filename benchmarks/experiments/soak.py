"""Days of training in minutes: many articles through a real trainer, its memory and its file
watched.

Word counts resampled from a corpus, three models, as in a rehearsal but without the kills: a screen
draws meanwhile. Memory's growth is that from the second quarter of the articles to the last.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.harness import Experiment, Figures, Points
from benchmarks.rehearsed.counts import resampled_command
from benchmarks.rehearsed.run import Rehearsal
from benchmarks.stops.files import by_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment("soak", "days of training in minutes: memory and the file")
ARTICLES = 2_000_000


@EXPERIMENT.point()
def counts() -> Figures:
    with tempfile.TemporaryDirectory() as name:
        with Rehearsal(Path(name), resampled_command(Path(name), ARTICLES), []) as rehearsal:
            rehearsal.until_the_end()
        tables = by_table(rehearsal.path)
    samples = [entry for entry in rehearsal.journal.entries if entry["what"] == "sample"]
    # A trainer that has read all articles is closing down.
    alive = [
        sample
        for sample in samples
        if sample["family_mb"] is not None and sample["articles"] < ARTICLES
    ]

    def typical_mb(start: float, stop: float) -> float:
        """The median memory between two shares of the articles."""
        sizes: list[float] = [
            sample["family_mb"]
            for sample in alive
            if start * ARTICLES <= sample["articles"] <= stop * ARTICLES
        ]
        return median(sizes)

    early = typical_mb(0.25, 0.5)
    late = typical_mb(0.75, 1)
    of_articles = 0
    for name, size in tables.items():
        if name.startswith(("articles", "by_topic_of_model_")):
            of_articles += size
    return {
        "articles": ARTICLES,
        "growth_percent": 100 * (late / early - 1),
        "largest_log_mb": max(sample["log_mb"] for sample in samples),
        "bytes_an_article": round(of_articles / ARTICLES, 1),
        "memory": [
            (sample["seconds"], sample["articles"], sample["family_mb"]) for sample in alive
        ],
    }


def memory(points: Points) -> Figure:
    """Memory of the trainer and its processes, one panel for each soak."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(points), figsize=(5 * len(points), 3.2), squeeze=False)
    for axes, (name, found) in zip(panels[0], points.items(), strict=True):
        _, articles, megabytes = zip(*found["memory"], strict=True)
        axes.plot(articles, megabytes, linewidth=0.8)
        axes.set(title=name, xlabel="articles", ylabel="MB", ylim=(0, None))
        axes.grid(alpha=0.3)
    figure.tight_layout()
    return figure


EXPERIMENT.pictures["memory"] = memory
