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
    killed = [entry for entry in entries if entry["what"] == "kill"]
    restarts = [entry for entry in starts if entry["articles"]]
    with SessionReader(path) as reader:
        status = reader.status()
        curves = {model.name: reader.curve(model.name, "perplexity") for model in status.models}
    alive = [entry for entry in samples if entry["trainer"] and entry["articles"]]
    assert status.state == "finished", status.state
    inspect(path)  # every article once, the counters add up, and SQLite finds the file intact
    points = []
    for name, curve in curves.items():
        step = len(curve.values) // CURVE_POINTS + 1
        values = zip(curve.articles[::step], curve.values[::step], strict=True)
        points += [[name, int(at), round(float(value), 1)] for at, value in values]
    return {
        "articles": status.articles,
        "kills": len(killed),
        "minutes": round(max(entry["seconds"] for entry in entries) / 60, 1),
        "trainer_anon_mb": ends(alive, "trainer", "anon_mb"),
        "screen_anon_mb": ends(alive, "screen", "anon_mb"),
        "file_mb": round(path.stat().st_size / 1e6, 1),
        "restart_seconds": {
            "median": median(entry["first_minibatch"] for entry in restarts),
            "last": restarts[-1]["first_minibatch"],
        },
        "starts": starts,
        "killed_at": [entry["articles"] for entry in killed],
        "samples": samples[:: len(samples) // MOST_SAMPLES + 1],
        "curves": points,
    }


def ends(samples: list[Entry], whose: str, key: str) -> dict[str, float]:
    """The middle of an early tenth and of the last one."""
    values = [entry[whose][key] for entry in samples if entry[whose]]
    tenth = max(1, len(values) // 10)
    return {"early": median(values[tenth : 2 * tenth]), "late": median(values[-tenth:])}


def curves(result: Any) -> Figure:
    """Memory, file, restarts, articles and perplexity; kills as thin lines."""
    from matplotlib import pyplot

    figure, ((memory, file), (restart, way), (perplexity, rest)) = pyplot.subplots(
        3, 2, figsize=(10, 9)
    )
    rest.set_visible(False)
    samples = [one for one in result["samples"] if one["trainer"] and one["screen"]]
    articles = [one["articles"] / 1e6 for one in samples]
    mapped = [one["trainer"]["rss_mb"] for one in samples]
    memory.plot(
        articles,
        [one["trainer"]["anon_mb"] for one in samples],
        linewidth=0.8,
        label="trainer",
    )
    memory.plot(articles, mapped, linewidth=0.8, label="trainer, with files that are mapped")
    memory.plot(
        articles,
        [one["screen"]["anon_mb"] for one in samples],
        linewidth=0.8,
        label="screen",
    )
    file.plot(articles, [one["file_mb"] for one in samples], label="file")
    file.plot(articles, [one["log_mb"] for one in samples], linewidth=0.8, label="its log")
    starts = result["starts"]
    names = {
        "first_minibatch": "to the first minibatch that is saved",
        "ready": "to the source open",
    }
    for key, name in names.items():
        found = [(one["articles"] / 1e6, one[key]) for one in starts if one[key] is not None]
        restart.plot(*zip(*found, strict=True), ".", label=name)
    way.plot([one["seconds"] / 60 for one in samples], articles)
    for name in dict.fromkeys(name for name, _, _ in result["curves"]):
        points = [(at, value) for each, at, value in result["curves"] if each == name]
        perplexity.plot(*zip(*points, strict=True), label=name)
    for axes in (memory, file):
        for at in result["killed_at"]:
            axes.axvline(at / 1e6, color="0.7", linewidth=0.4)
    memory.set(title="memory", ylabel="MB", xlabel="million articles", ylim=(0, None))
    file.set(title="disk", ylabel="MB", xlabel="million articles", ylim=(0, None))
    restart.set(title="restart", ylabel="seconds", xlabel="million articles", ylim=(0, None))
    way.set(title="the way", ylabel="million articles", xlabel="minutes")
    perplexity.set(title="perplexity", xscale="log", yscale="log", xlabel="articles")
    for axes in (memory, file, restart, way, perplexity):
        axes.grid(alpha=0.3)
        if axes is not way:
            axes.legend(fontsize=8)
    figure.tight_layout()
    return figure
