"""How time and memory grow: with documents, topics K, words W, minibatch size S, threads, and machines.

    python -m benchmarks.scale                  # every point that the results lack
    python -m benchmarks.scale topics cluster   # those of some parts
    python -m benchmarks.scale --again threads  # measured anew

Each point runs in a process of its own and is kept in benchmarks/results/scale.json as soon as it is there,
so that a run may be stopped and gone on with. Models learn short articles (103 words of 7,702). For a larger
W each word is parted at random into as many as that takes; for more documents articles are drawn with
replacement. `cluster` and `remote` start a Dask scheduler and workers on loopback, and need
`wikitopics[dask]`. docs/scaling.md tells what comes of it.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import _scale_cluster

RESULTS = Path(__file__).parent / "results" / "scale.json"
MODELS = ("lda", "scvb0", "hdp")
USUAL: Mapping[str, Any] = {"documents": 20_480, "topics": 100, "words": 7_702, "batch": 1_024, "threads": 1}
VARIED: Mapping[str, tuple[int, ...]] = {
    "documents": (10_240, 20_480, 102_400, 1_024_000),
    "topics": (25, 50, 100, 200, 500, 1_000, 2_000),
    "words": (7_702, 20_000, 50_000, 100_000),
    "batch": (64, 256, 1_024, 4_096, 16_384),
    "threads": (1, 2, 4),
}
"""What is varied, everything else as usual. For the HDP `topics` is the truncation."""

Point = dict[str, Any]


def points(part: str) -> Iterator[tuple[str, Point]]:
    """(name, what it takes) of all points of a part."""
    if part in _scale_cluster.PARTS:
        yield from _scale_cluster.points(part)
        return
    for model in MODELS:
        for value in VARIED[part]:
            yield f"{part}={value} {model}", {**USUAL, part: value, "model": model}


def learnt(documents: int, topics: int, words: int, batch: int, threads: int, model: str) -> Point:
    """One pass over so many documents: CPU and wall seconds, and memory."""
    import numpy as np

    from benchmarks._data import stream
    from benchmarks._measure import cpu_seconds, minibatches
    from model import Minibatch, kinds

    source, rng = stream(), np.random.default_rng(0)
    ids, counts = source.word_ids, source.counts
    if words > USUAL["words"]:
        ids = (ids + USUAL["words"] * rng.integers(0, words // USUAL["words"] + 1, len(ids))) % words
    kind = kinds.load(model)
    size = {"max_topics": topics} if model == "hdp" else {"n_topics": topics}
    trained = kind(n_words=words, n_documents=7_000_000, threads=threads, **size)

    def drawn(rows: Any) -> Minibatch:
        spans = [slice(source.indptr[row], source.indptr[row + 1]) for row in rows]
        indptr = np.cumsum([0, *(span.stop - span.start for span in spans)])
        cut = [_summed(ids[span], counts[span]) for span in spans] if words > USUAL["words"] else None
        if cut is not None:
            indptr = np.cumsum([0, *(len(each) for each, _ in cut)])
            return Minibatch(indptr, *(np.concatenate(part) for part in zip(*cut, strict=True)))
        return Minibatch(indptr, *(np.concatenate([of[span] for span in spans]) for of in (ids, counts)))

    first = drawn(rng.integers(0, source.D, batch))
    trained.learn(first)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu = seconds = 0.0
    steps = max(1, documents // batch)
    for batch_rows in (rng.integers(0, source.D, batch) for _ in range(steps)):
        documents_now = drawn(batch_rows)
        at, wall = cpu_seconds(), time.perf_counter()
        for each in minibatches(documents_now, batch):
            trained.learn(each)
        cpu, seconds = cpu + cpu_seconds() - at, seconds + time.perf_counter() - wall
    state = sum(value.nbytes for value in trained.state().values() if isinstance(value, np.ndarray))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "documents_learnt": steps * batch,
        "cpu_seconds": round(cpu, 3),
        "wall_seconds": round(seconds, 3),
        "documents_a_cpu_second": round(steps * batch / cpu),
        "state_mb": round(state / 1e6, 2),
        "peak_mb": round(peak / 1e3, 1),
        "grown_mb": round((peak - before) / 1e3, 1),
    }


def _summed(ids: Any, counts: Any) -> tuple[Any, Any]:
    """Sorted words, each once."""
    import numpy as np

    found, places = np.unique(ids, return_inverse=True)
    return found, np.bincount(places, counts).astype(counts.dtype)


def measured(name: str, point: Point) -> Point:
    """A point, in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--point", json.dumps(point)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"{name} failed")
    found: Point = json.loads(ended.stdout)
    return found


def kept() -> dict[str, Point]:
    found: dict[str, Point] = json.loads(RESULTS.read_text())["points"] if RESULTS.exists() else {}
    return found


def main() -> None:
    parts = (*VARIED, *_scale_cluster.PARTS)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(parts):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there is {', '.join(parts)}")
    if asked.point:
        point = json.loads(asked.point)
        part = point.pop("part", None)
        print(json.dumps(learnt(**point) if part is None else _scale_cluster.measured(part, point)))
        return
    for part in asked.parts or parts:
        for name, point in points(part):
            known = kept()
            if name in known and not asked.again:
                continue
            known[name] = measured(name, point)
            print(name, known[name])
            told = {"machine": platform.machine(), "python": platform.python_version(), "points": known}
            RESULTS.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
