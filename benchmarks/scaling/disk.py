"""What the articles of a session take on disk: real ones with their titles, in three models."""

import bz2
import subprocess
import tempfile
from itertools import islice
from pathlib import Path

from benchmarks.data import articles, shared
from benchmarks.experiments.dump import write, xml
from benchmarks.harness import Figures
from benchmarks.processes import PROGRAM
from benchmarks.stops.files import by_table

ARTICLES = 16_384
IN_THE_DUMP = 20_000
"""Some of them are held out, or have too few words."""
KEPT = ("all", "top", "none")
MODELS = ("lda", "hdp", "scvb0")
TABLES = ("articles", "blocks", "proportions", "by_topic_of_model_")
"""How the names of those tables and indexes begin that have rows for every article that is
kept."""


def measured() -> Figures:
    """Megabytes of a session for each `--keep-articles`, and bytes an article by table where all
    are kept: of a dump, and of documents of one's own, whose proportions are kept more exactly."""
    figures: dict[str, object] = {"articles": ARTICLES, "models": len(MODELS)}
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump.xml.bz2"
        _write_dump(dump)
        for keep in KEPT:
            path = Path(folder) / f"{keep}.db"
            _train(path, "dump", dump, keep)
            figures[f"{keep}_mb"] = round(path.stat().st_size / 1e6, 1)
            if keep == "all":
                figures["bytes_an_article"] = _bytes_an_article(path)
        own = Path(folder) / "own.db"
        _train(own, "texts", shared("articles-60k.jsonl.xz"), "all")
        figures["bytes_a_document_of_ones_own"] = _bytes_an_article(own)
    return figures


def _write_dump(path: Path) -> None:
    real = list(islice(articles(), IN_THE_DUMP))
    pages = xml(
        IN_THE_DUMP,
        lambda number: real[number]["title"],
        lambda number: real[number]["text"],
    )
    write(path, pages, bz2.compress, each=True)


def _train(path: Path, source: str, read: Path, keep: str) -> None:
    command = ["train", "--session", str(path), "--source", source, f"--{source}", str(read)]
    command += ["--articles", str(ARTICLES), "--keep-articles", keep]
    for model in MODELS:
        command += ["--model", model]
    subprocess.run([*PROGRAM, *command], stderr=subprocess.DEVNULL, check=True)


def _bytes_an_article(path: Path) -> dict[str, float]:
    return {
        name: round(size / ARTICLES, 1)
        for name, size in by_table(path).items()
        if name.startswith(TABLES)
    }
