"""The steps of an afternoon with the texts of docs/afternoon.ipynb, in three programs.

Each runs in an environment and a process of its own, on one processor. What a program loads or
compiles when it is first used counts, but not importing it, nor our kernels, which are compiled
once for each installation.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import afternoon
from benchmarks.experiments.today import BERTOPIC
from benchmarks.harness import ROOT, Experiment, Figures, Points, table
from benchmarks.peers import environment

EXPERIMENT = Experiment(
    "afternoon",
    "the steps from 8,000 docstrings to a report, beside BERTopic and scikit-learn",
    data="docstrings of installed packages",
    programs="BERTopic, installed by the first measurement",
)
NOTEBOOK = ROOT / "docs" / "afternoon.ipynb"
STEPS: Mapping[str, tuple[str, str, str]] = {
    "topics": ("`train(texts)`, `topics()`", "`fit_transform(texts)`", "`fit_transform(counts)`"),
    "how many": (
        "`vary_topics(texts, [10, 20, 40, 80])`",
        "a loop over `min_topic_size`",
        "a loop over `n_components`",
    ),
    "by class": ("`by(classes)`", "`topics_per_class`", "`groupby`"),
    "over time": ("`over_time(years)`", "`topics_over_time`", "`groupby`"),
    "map": ("`map()`", "`visualize_documents`", "`TSNE`"),
    "find": ("`find(words)`: topics and texts", "`find_topics(words)`: topics", "-"),
    "100 new texts": ("`infer(texts)`", "`transform(texts)`", "`transform(counts)`"),
    "report": ("`report(path)`", "-", "-"),
}
"""How each step is done in each program."""


def texts() -> dict[str, list[str]]:
    """The texts of the notebook, with their classes and years, by its own code."""
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    found: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if "data" in cell["metadata"].get("tags", ()):
            exec("".join(cell["source"]), found)
    docs = found["docs"]
    years = ["" if year is None else str(year) for year in docs["year"].astype(object)]
    return {
        "texts": docs["text"].tolist(),
        "classes": docs["package"].tolist(),
        "years": [year if re.fullmatch(r"\d{4}", year) else "" for year in years],
    }


def measure(program: str) -> Figures:
    """The seconds of each step."""
    python: str | Path = sys.executable
    if program == "bertopic":
        python = environment("bertopic", *BERTOPIC)
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    one_thread = dict.fromkeys(threads, "1")
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        (folder / "texts.json").write_text(json.dumps(texts()))
        subprocess.run(
            (python, "-P", afternoon.__file__, program, folder),
            cwd=folder,
            env={**os.environ, **one_thread, "PYTHONPATH": str(ROOT), "TQDM_DISABLE": "1"},
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}),
            check=True,
        )
        seconds: dict[str, float] = json.loads((folder / "seconds.json").read_text("utf-8"))
    return seconds


for _program in afternoon.PROGRAMS:
    EXPERIMENT.add(_program, partial(measure, _program), "pandas", "sklearn")


def steps(points: Points) -> str:
    """How each step is done, and the seconds that it takes."""
    programs = {"ours": "wikitopics", "bertopic": "BERTopic", "sklearn": "scikit-learn"}
    rows = []
    for step, ways in STEPS.items():
        row = [step]
        for program, way in zip(programs, ways, strict=True):
            seconds = points[program].get(step)
            row.append(way if seconds is None else f"{way}: {_told(seconds)}")
        rows.append(row)
    return table(["", *programs.values()], rows)


def _told(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.1 else "< 0.1 s"


EXPERIMENT.tables["steps"] = steps
