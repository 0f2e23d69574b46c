"""Whether a session over as many texts as Wikipedia has articles takes minutes, and what can be
done with it then.

The texts are those of `python -m benchmarks.ready_texts`. One command trains on them once, with the
defaults and the shipped vocabulary: a LDA of 100 topics (`lda`), an HDP (`hdp`), SCVB0 with 300
topics (`scvb0`), and the LDA with two Dask workers on this machine that count (`dask2`), which must
learn the same bits. Then the session is asked what people ask. Seconds are wall clock, so run
nothing else; CPU seconds and memory are told by process.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import wikitopics
from benchmarks.harness import Experiment, Figures, Points, Unavailable, compared, table
from benchmarks.processes import PROGRAM, cpu_seconds, family, status_mb
from benchmarks.ready_texts import READY
from benchmarks.scaling.cluster import dask
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.reader import SessionReader

EXPERIMENT = Experiment(
    "ready_texts",
    "a session over 7.2 million texts, from the command to the report",
    data="texts of `benchmarks.ready_texts`",
)
MODELS: Mapping[str, Sequence[str]] = {
    "lda": ("--topics", "100"),
    "hdp": ("--model", "hdp"),
    "scvb0": ("--model", "scvb0:topics=300"),
}
LABELS = {"lda": "LDA, K = 100", "hdp": "HDP", "scvb0": "SCVB0, K = 300"}
LABELS["dask2"] = "LDA, K = 100, two Dask workers"
WATCHED_EVERY = 0.5
"""Seconds between two looks at the processes; the documents are counted every tenth time."""
SOUGHT = "river water"
PARTS = 10


@dataclass
class Watched:
    """What was seen of a trainer and its workers while they ran."""

    cpu: dict[int, float] = field(default_factory=dict)
    """CPU seconds so far by process."""
    peak_mb: dict[int, float] = field(default_factory=dict)
    """The largest resident set by process."""
    together_mb: float = 0.0
    """The largest sum of the resident sets of all."""
    documents: list[tuple[float, int]] = field(default_factory=list)
    """(seconds, documents learnt by then)"""

    def look(self, pids: Sequence[int]) -> None:
        """Note what these processes have taken so far; those that have ended keep what they had."""
        together = 0.0
        for pid in pids:
            with contextlib.suppress(OSError):
                peak = status_mb(pid, "VmHWM")
                together += status_mb(pid, "VmRSS")
                self.peak_mb[pid] = max(peak, self.peak_mb.get(pid, 0.0))
                self.cpu[pid] = max(cpu_seconds([pid]), self.cpu.get(pid, 0.0))
        self.together_mb = max(self.together_mb, together)

    @property
    def rates(self) -> list[float]:
        """Documents learnt a second in each tenth of the time until the last was learnt."""
        seconds, documents = np.array([(0.0, 0), *self.documents]).T
        learnt_at = seconds[np.argmax(documents)]
        ends = np.linspace(0.0, learnt_at, PARTS + 1)
        at_ends = np.interp(ends, seconds, documents)
        rates: list[float] = (np.diff(at_ends) / np.diff(ends)).tolist()
        return rates

    @property
    def learnt_seconds(self) -> float:
        """When the last document was learnt."""
        return max(self.documents, key=lambda seen: (seen[1], -seen[0]))[0]


def trained(session: Path, options: Sequence[str]) -> tuple[float, int, Watched]:
    """(wall-clock seconds, the trainer's process, what was seen) of a run over all texts.

    Raises `Unavailable` without texts, and CalledProcessError if the run fails.
    """
    files = sorted(READY.glob("*.parquet"))
    if not files:
        raise Unavailable(f"no texts in {READY}: run python -m benchmarks.ready_texts")
    command = [*PROGRAM, "train", "--session", str(session), *options]
    for file in files:
        command += ["--texts", str(file)]
    watched = Watched()
    begun = time.monotonic()
    looks = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as trainer:
        while trainer.poll() is None:
            # Dask workers are no children of the trainer, but of ours.
            watched.look([pid for pid in family(os.getpid()) if pid != os.getpid()])
            if looks % 10 == 0:
                with contextlib.suppress(SessionError), SessionReader(session) as reader:
                    watched.documents.append((time.monotonic() - begun, reader.progress().articles))
            looks += 1
            time.sleep(WATCHED_EVERY)
    seconds = time.monotonic() - begun
    if trainer.returncode:
        raise subprocess.CalledProcessError(trainer.returncode, command)
    return seconds, trainer.pid, watched


def asked(path: Path) -> dict[str, float]:
    """Seconds of what people ask of a session, each once."""
    session = wikitopics.open(path)
    with TemporaryDirectory() as folder:
        steps: dict[str, Callable[[], object]] = {
            "open": lambda: wikitopics.open(path),
            "topics": session.topics,
            "find": lambda: session.find(SOUGHT),
            "find_again": lambda: session.find(SOUGHT),
            "map": session.map,
            "report": lambda: session.report(Path(folder) / "report.html"),
        }
        seconds: dict[str, float] = {}
        for name, step in steps.items():
            begun = time.perf_counter()
            step()
            seconds[name] = time.perf_counter() - begun
            print(f"{name}: {seconds[name]:.1f} s", file=sys.stderr)
    return seconds


def measure(options: Sequence[str]) -> Figures:
    """Seconds, memory and disk of the run, its perplexity, and the seconds of what is asked."""
    with TemporaryDirectory() as folder:
        session = Path(folder) / "texts.db"
        seconds, trainer, watched = trained(session, options)
        megabytes = session.stat().st_size / 1e6
        with SessionReader(session) as reader:
            documents = reader.progress().articles
            (status,) = reader.model_statuses()
            digest = _digest(reader)
        answers = asked(session)
    others = [pid for pid in watched.cpu if pid != trainer]
    asking_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1.024e-3
    return {
        "documents": documents,
        "minutes": seconds / 60,
        "learnt_minutes": watched.learnt_seconds / 60,
        "documents_a_second": documents / seconds,
        "rates": watched.rates,
        "trainer_cpu_seconds": watched.cpu[trainer],
        "workers_cpu_seconds": sum(watched.cpu[pid] for pid in others),
        "trainer_mb": watched.peak_mb[trainer],
        "largest_worker_mb": max((watched.peak_mb[pid] for pid in others), default=0.0),
        "together_mb": watched.together_mb,
        "session_mb": megabytes,
        "perplexity": status.perplexity,
        "digest": digest,
        "seconds_of": answers,
        "asking_mb": asking_mb,
    }


def _digest(reader: SessionReader) -> str:
    """A hash of the bits of all models."""
    digest = hashlib.sha256()
    for name in reader.models():
        for key, value in sorted(reader.model_state(name).items()):
            digest.update(key.encode())
            digest.update(
                value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            )
    return digest.hexdigest()[:16]


def with_dask() -> Figures:
    """The same with two Dask workers that count."""
    with dask(workers=2) as address:
        return measure([*MODELS["lda"], "--cluster", address])


NEEDS = ("pyarrow", "pandas", "matplotlib", "jinja2")
for _name, _options in MODELS.items():
    EXPERIMENT.add(_name, partial(measure, _options), *NEEDS)
EXPERIMENT.add("dask2", with_dask, *NEEDS, "distributed")


def runs(points: Points) -> str:
    columns = {
        "minutes": "{minutes:.1f}",
        "until all is learnt": "{learnt_minutes:.1f}",
        "CPU minutes: trainer": "{trainer_cpu_minutes:.1f}",
        "workers": "{workers_cpu_minutes:.1f}",
        "MB of memory": "{together_mb:,.0f}",
        "MB on disk": "{session_mb:,.0f}",
        "perplexity": "{perplexity:,.0f}",
        "topics' bits": "{digest}",
    }
    in_minutes = {}
    for name, found in points.items():
        in_minutes[name] = {
            **found,
            "trainer_cpu_minutes": found["trainer_cpu_seconds"] / 60,
            "workers_cpu_minutes": found["workers_cpu_seconds"] / 60,
        }
    return compared(LABELS, columns, in_minutes, "once over all texts")


def rates(points: Points) -> str:
    """Documents a second in each tenth of the time."""
    head = ["documents learnt a second", *(f"{10 * part} %" for part in range(1, PARTS + 1))]
    rows = []
    for name, label in LABELS.items():
        if name in points:
            rows.append([label, *(f"{rate:,.0f}" for rate in points[name]["rates"])])
    return table(head, rows)


def answers(points: Points) -> str:
    """Seconds of what is asked; to open a session takes none."""
    heads = {
        "topics": "topics",
        "find": "find",
        "find_again": "find again",
        "map": "map",
        "report": "report",
    }
    rows = []
    for name, label in LABELS.items():
        if name in points:
            seconds = points[name]["seconds_of"]
            rows.append([label, *(f"{seconds[step]:.1f}" for step in heads)])
    return table(["seconds", *heads.values()], rows)


EXPERIMENT.tables |= {"runs": runs, "rates": rates, "answers": answers}
