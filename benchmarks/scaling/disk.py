"""What the articles of a session take on disk: real ones with their titles, in three models."""

import subprocess
import tempfile
from pathlib import Path

from benchmarks.data import shared
from benchmarks.harness import Figures
from benchmarks.processes import PROGRAM
from benchmarks.stops.files import by_table

ARTICLES = 16_384
KEPT = ("all", "top", "none")
MODELS = ("lda", "hdp", "scvb0")
TABLES = ("articles", "blocks", "proportions", "by_topic_of_model_")
"""How the names of those tables and indexes begin that have rows for every article that is
kept."""


def measured() -> Figures:
    """Megabytes of a session for each `--keep-articles`, and bytes an article by table where all
    are kept."""
    texts = shared("articles-60k.jsonl.xz")
    figures: dict[str, object] = {"articles": ARTICLES, "models": len(MODELS)}
    with tempfile.TemporaryDirectory() as folder:
        for keep in KEPT:
            path = Path(folder) / f"{keep}.db"
            command = ["train", "--session", str(path), "--source", "texts", "--texts", str(texts)]
            command += ["--articles", str(ARTICLES), "--keep-articles", keep]
            for model in MODELS:
                command += ["--model", model]
            subprocess.run([*PROGRAM, *command], stderr=subprocess.DEVNULL, check=True)
            figures[f"{keep}_mb"] = round(path.stat().st_size / 1e6, 1)
            if keep == "all":
                figures["bytes_an_article"] = {
                    name: round(size / ARTICLES, 1)
                    for name, size in by_table(path).items()
                    if name.startswith(TABLES)
                }
    return figures
