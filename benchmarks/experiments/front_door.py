"""From wiki to saved minibatch, with a screen attached: articles a second, and memory.

The embedded wiki serves articles of 8 kB of wikitext on loopback; a trainer crawls them through the client
that crawls Wikipedia; `wikitopics watch` draws on a terminal of 120x36. The first minute is left out.
Articles in committed minibatches are counted, and the memory of the trainer and its workers (proportional
set size). Goals for two cores: 120 articles a second, 500 MB, flat.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import Experiment, Figures
from benchmarks.processes import PROGRAM, Screen, cpu_seconds, family, memory_mb
from wikitopics.crawler.embedded.launch import EmbeddedWiki
from wikitopics.session.storage.reader import SessionReader

EXPERIMENT = Experiment("front_door", "from wiki to saved minibatch with a screen attached")
WARM = 60.0
SECONDS = 60.0
COLUMNS, ROWS = 120, 36


@EXPERIMENT.point(minutes=2.2)
def watched() -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        return measure(WARM, SECONDS, 8000, Path(folder))


def measure(warm: float, seconds: float, article_bytes: int, folder: Path) -> Figures:
    """One run: ``warm`` seconds left out, then ``seconds`` counted."""
    session = folder / "front.db"
    wiki = EmbeddedWiki(["--size", "10000000", "--article-bytes", str(article_bytes)])
    running: list[subprocess.Popen[bytes]] = []
    try:
        train = ["train", "--api-url", wiki.url, "--held-out", "1000", "--session", str(session)]
        trainer = subprocess.Popen([*PROGRAM, *train], stderr=subprocess.DEVNULL)
        running.append(trainer)
        while not session.exists():
            if trainer.poll() is not None:
                sys.exit("the trainer ended")
            time.sleep(0.1)
        screen = Screen(session, COLUMNS, ROWS)
        running.append(screen.process)
        screen.drain()
        time.sleep(warm)
        parts = {"trainer": family(trainer.pid), "screen": [screen.process.pid], "wiki": family(wiki.pid)}
        with SessionReader(session) as reader:
            before, cpu_before, begun = (
                reader.status().articles,
                {name: cpu_seconds(pids) for name, pids in parts.items()},
                time.monotonic(),
            )
            memory = []
            while time.monotonic() - begun < seconds:
                time.sleep(5.0)
                memory.append(memory_mb(parts["trainer"]))
            articles, spent = reader.status().articles - before, time.monotonic() - begun
            alive = screen.process.poll() is None and trainer.poll() is None
        cpu = {name: round((cpu_seconds(pids) - cpu_before[name]) / spent, 2) for name, pids in parts.items()}
        return {
            "articles_per_second": round(articles / spent, 1),
            "memory_mb": {"first": round(memory[0]), "last": round(memory[-1]), "most": round(max(memory))},
            "cores_used": cpu,
            "alive_at_the_end": alive,
            "seconds": round(spent),
        }
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait()
        wiki.stop()
