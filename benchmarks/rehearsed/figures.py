"""The results of a rehearsal: figures from its journal and its session, and a plot of them."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.harness import Figures
from benchmarks.stops.files import inspect
from wikitopics.session.storage.reader import SessionReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SAMPLES = 300
CURVE_POINTS = 100
Entry = dict[str, Any]


def found(path: Path, entries: list[Entry]) -> Figures:
    """The figures of a run that has finished; reads the whole file."""
    starts = [entry for entry in entries if entry["what"] == "start"]
    samples = [entry for entry in entries if entry["what"] == "sample"]
    kills = [entry for entry in entries if entry["what"] == "kill"]
    restarts = [entry for entry in starts if entry["articles"] > 0]
    curves: list[tuple[str, int, float]] = []
    with SessionReader(path) as reader:
        status = reader.status()
        for model in status.models:
            curve = reader.curve(model.name, "perplexity")
            step = len(curve.values) // CURVE_POINTS + 1
            for articles, value in zip(curve.articles[::step], curve.values[::step], strict=True):
                curves.append((model.name, int(articles), round(float(value), 1)))
    alive = [entry for entry in samples if entry["trainer"] and entry["articles"] > 0]
    assert status.state == "finished", status.state
    inspect(path)  # every article once, the counters add up, and SQLite finds the file intact
    return {
        "articles": status.articles,
        "kills": len(kills),
        "minutes": round(max(entry["seconds"] for entry in entries) / 60, 1),
        "trainer_anon_mb": ends(alive, "trainer", "anon_mb"),
        "screen_anon_mb": ends(alive, "screen", "anon_mb"),
        "file_mb": round(path.stat().st_size / 1e6, 1),
        "restart_seconds": {
            "median": median(entry["first_minibatch"] for entry in restarts),
            "last": restarts[-1]["first_minibatch"],
        },
        "starts": starts,
        "killed_at": [entry["articles"] for entry in kills],
        "samples": samples[:: len(samples) // MOST_SAMPLES + 1],
        "curves": curves,
    }


def ends(samples: list[Entry], process: str, size: str) -> dict[str, float]:
    """The median size of a process in the second tenth of the samples and in the last one."""
    values = [entry[process][size] for entry in samples if entry[process]]
    tenth = max(1, len(values) // 10)
    return {"early": median(values[tenth : 2 * tenth]), "late": median(values[-tenth:])}


def curves(result: Figures) -> Figure:
    """Memory, file, restarts, articles and perplexity; kills as thin lines."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(3, 2, figsize=(10, 9))
    memory, disk, restart, way, perplexity, unused = panels.flat
    unused.set_visible(False)
    samples = [sample for sample in result["samples"] if sample["trainer"] and sample["screen"]]
    millions = [sample["articles"] / 1e6 for sample in samples]
    own = [sample["trainer"]["anon_mb"] for sample in samples]
    with_files = [sample["trainer"]["rss_mb"] for sample in samples]
    of_screen = [sample["screen"]["anon_mb"] for sample in samples]
    memory.plot(millions, own, linewidth=0.8, label="trainer")
    memory.plot(millions, with_files, linewidth=0.8, label="trainer, with files that are mapped")
    memory.plot(millions, of_screen, linewidth=0.8, label="screen")
    disk.plot(millions, [sample["file_mb"] for sample in samples], label="file")
    disk.plot(millions, [sample["log_mb"] for sample in samples], linewidth=0.8, label="its log")
    names = {
        "first_minibatch": "to the first minibatch that is saved",
        "ready": "to the source open",
    }
    for key, name in names.items():
        starts = [start for start in result["starts"] if start[key] is not None]
        started_at = [start["articles"] / 1e6 for start in starts]
        restart.plot(started_at, [start[key] for start in starts], ".", label=name)
    way.plot([sample["seconds"] / 60 for sample in samples], millions)
    by_model: dict[str, tuple[list[int], list[float]]] = {}
    for name, articles, value in result["curves"]:
        all_articles, values = by_model.setdefault(name, ([], []))
        all_articles.append(articles)
        values.append(value)
    for name, (all_articles, values) in by_model.items():
        perplexity.plot(all_articles, values, label=name)
    for axes in (memory, disk):
        for articles in result["killed_at"]:
            axes.axvline(articles / 1e6, color="0.7", linewidth=0.4)
    memory.set(title="memory", ylabel="MB", xlabel="million articles", ylim=(0, None))
    disk.set(title="disk", ylabel="MB", xlabel="million articles", ylim=(0, None))
    restart.set(title="restart", ylabel="seconds", xlabel="million articles", ylim=(0, None))
    way.set(title="the way", ylabel="million articles", xlabel="minutes")
    perplexity.set(title="perplexity", xscale="log", yscale="log", xlabel="articles")
    for axes in (memory, disk, restart, way, perplexity):
        axes.grid(alpha=0.3)
        if axes is not way:
            axes.legend(fontsize=8)
    figure.tight_layout()
    return figure
