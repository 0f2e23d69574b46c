"""Days of training in minutes: many articles through a real trainer, its memory and its file watched.

    python benchmarks/soak.py counts --articles 2000000     word counts resampled from a corpus, three models
    python benchmarks/soak.py wiki --articles 100000        over HTTP from the embedded wiki

A watcher that never sleeps reads the session meanwhile. Prints a table; writes results/soak-*.json and .svg.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from front_door import family, memory_mb

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("WIKITOPICS_SHARED", ROOT.parent / "shared"))
RESULTS = ROOT / "benchmarks" / "results"
MODELS = ["lda", "scvb0", "hdp"]


def resampled(articles: int, target: Path) -> None:
    """A stream of ``articles`` documents, each as long as a real one and with words drawn from it."""
    with np.load(SHARED / "corpus" / "bow-stream-150k.npz") as real:
        indptr, word_ids, counts, n_words = (real[k] for k in ("indptr", "word_ids", "counts", "n_words"))
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, len(indptr) - 1, articles)
    lengths = np.diff(indptr)[chosen]
    out = np.concatenate(([0], np.cumsum(lengths)))
    rows = np.repeat(indptr[:-1][chosen] - out[:-1], lengths) + np.arange(out[-1])
    again = np.maximum(1, rng.poisson(counts[rows])).astype(np.uint16)
    np.savez(target, indptr=out, word_ids=word_ids[rows].astype(np.uint16), counts=again, n_words=n_words)


def watch(path: Path) -> None:
    """Read the session over and over, as a screen does, until the parent ends."""
    from session.storage.reader import SessionReader

    while not path.exists():
        time.sleep(0.05)
    with SessionReader(path) as reader:
        while os.getppid() != 1:
            reader.status()
            for model in reader.models():
                reader.curve(model, "perplexity")
                reader.topics(model)
            reader.recent_articles(50)
            time.sleep(0.05)


def run(kind: str, articles: int) -> dict[str, object]:
    """One soak; returns its figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.db"
        environment = dict(os.environ, WIKITOPICS_HOME=folder, PYTHONPATH=str(ROOT))
        command = [sys.executable, "-m", "wikitopics"]
        if kind == "counts":
            resampled(articles + 1000, Path(folder) / "soak.npz")
            command += [
                "train",
                "--source",
                "counts",
                "--counts",
                f"{folder}/soak.npz",
                "--session",
                str(path),
            ]
            command += ["--vocab", str(SHARED / "corpus" / "dictnostops.txt")]
            command += [word for model in MODELS for word in ("--model", model)]
        else:
            command += ["demo", "--headless", "--session", str(path), "--articles", str(articles)]
        begun = time.monotonic()
        trainer = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        watcher = subprocess.Popen([sys.executable, __file__, "watch", str(path)], env=environment)
        memory: list[tuple[float, int, float]] = []
        wal = 0
        try:
            while trainer.poll() is None:
                time.sleep(1.0)
                wal = max(wal, _size(path.with_name("soak.db-wal")))
                if path.exists() and trainer.poll() is None:
                    with contextlib.suppress(OSError):  # one of its processes has just ended
                        used = memory_mb(family(trainer.pid))
                        memory.append((time.monotonic() - begun, _articles(path), used))
        finally:
            watcher.send_signal(signal.SIGKILL)
            watcher.wait()
        seconds = time.monotonic() - begun
        done = _articles(path)
        restarts = [_timed(command, environment) for _ in range(5)]
        return {
            "kind": kind,
            "exit_code": trainer.returncode,
            "articles": done,
            "seconds": round(seconds, 1),
            "memory": [(round(t, 1), n, round(mb, 1)) for t, n, mb in memory],
            "growth": _growth(memory),
            "largest_wal_mb": round(wal / 1e6, 1),
            "file_mb": round(_size(path) / 1e6, 1),
            "bytes_an_article": _bytes_an_article(path, done),
            "restart_seconds": round(float(np.median(restarts)), 2),
        }


def _timed(command: list[str], environment: dict[str, str]) -> float:
    """Seconds that the finished session's trainer takes to load all, to find nothing to do, and to leave."""
    begun = time.monotonic()
    subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun


def _growth(memory: list[tuple[float, int, float]]) -> float | None:
    """Median memory of the last fifth over that of the second tenth, minus 1."""
    if len(memory) < 20:
        return None
    tenth = len(memory) // 10
    early = float(np.median([mb for _, _, mb in memory[tenth : 2 * tenth + 1]]))
    late = float(np.median([mb for _, _, mb in memory[-2 * tenth :]]))
    return round(late / early - 1, 4)


def _articles(path: Path) -> int:
    from session.storage.reader import SessionReader

    with SessionReader(path) as reader:
        return reader.status().articles


def _bytes_an_article(path: Path, articles: int) -> float:
    """What `articles` and `article_topics` take in the file."""
    import sqlite3

    connection = sqlite3.connect(path)
    try:
        (used,) = connection.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name IN ('articles', 'article_topics')"
        ).fetchone()
    finally:
        connection.close()
    return round(used / max(1, articles), 1)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def plot(result: dict[str, object], target: Path) -> None:
    """The memory curve as a small SVG."""
    memory = result["memory"]
    assert isinstance(memory, list)
    most = max(mb for _, _, mb in memory) * 1.1
    last = max(n for _, n, _ in memory) or 1
    points = " ".join(f"{60 + 520 * n / last:.1f},{220 - 190 * mb / most:.1f}" for _, n, mb in memory)
    target.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="620" height="260"'
        ' font-family="sans-serif" font-size="12">'
        '<rect width="620" height="260" fill="white"/>'
        f'<polyline points="{points}" fill="none" stroke="#1a6fb5" stroke-width="1.5"/>'
        '<path d="M60 30V220H590" fill="none" stroke="#666"/>'
        f'<text x="8" y="36">{most:,.0f} MB</text><text x="30" y="224">0</text>'
        f'<text x="520" y="240">{last:,} articles</text>'
        f'<text x="60" y="20">Memory of the trainer and its processes ({result["kind"]})</text></svg>\n'
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["counts", "wiki", "watch"])
    parser.add_argument("path", nargs="?")
    parser.add_argument("--articles", type=int, default=100_000)
    options = parser.parse_args()
    if options.kind == "watch":
        watch(Path(options.path))
        return
    result = run(options.kind, options.articles)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"soak-{options.kind}.json").write_text(json.dumps(result) + "\n")
    plot(result, RESULTS / f"soak-{options.kind}.svg")
    for key, value in result.items():
        if key != "memory":
            print(f"{key:20} {value}")


if __name__ == "__main__":
    main()
