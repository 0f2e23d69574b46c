"""From wiki to saved minibatch, with a screen attached: articles a second, and memory.

The embedded wiki serves articles of 8 kB of wikitext on loopback; a trainer crawls them through the client
that crawls Wikipedia; `wikitopics watch` draws on a terminal of 120x36. The first minute is left out.
Articles in committed minibatches are counted, and the memory of the trainer and its workers (proportional
set size). Goals for two cores: 120 articles a second, 500 MB, flat.
"""

import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.harness import Experiment, Figures
from benchmarks.processes import PROGRAM, Screen, family, memory_mb
from tests.wiki import PagesWiki
from wikitopics.session.storage.reader import SessionReader

EXPERIMENT = Experiment("front_door", "from wiki to saved minibatch with a screen attached")
WARM = 60.0
SECONDS = 60.0
COLUMNS, ROWS = 120, 36


@EXPERIMENT.point(minutes=2.2)
def watched() -> Figures:
    wiki = PagesWiki(["--size", "10000000", "--article-bytes", "8000"])
    running: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "front.db"
        try:
            train = ["train", "--api-url", wiki.url, "--held-out", "1000", "--session", str(session)]
            trainer = subprocess.Popen([*PROGRAM, *train], stderr=subprocess.DEVNULL)
            running.append(trainer)
            while not session.exists():
                assert trainer.poll() is None, "the trainer ended"
                time.sleep(0.1)
            screen = Screen(session, COLUMNS, ROWS)
            running.append(screen.process)
            screen.drain()
            time.sleep(WARM)
            with SessionReader(session) as reader:
                before, begun, memory = reader.status().articles, time.monotonic(), []
                while time.monotonic() - begun < SECONDS:
                    time.sleep(5.0)
                    memory.append(memory_mb(family(trainer.pid)))
                articles, spent = reader.status().articles - before, time.monotonic() - begun
            assert screen.process.poll() is None, "the screen ended"
        finally:
            for process in reversed(running):
                process.terminate()
                process.wait()
            wiki.stop()
    return {
        "articles_per_second": round(articles / spent, 1),
        "memory_mb": {"first": round(memory[0]), "most": round(max(memory))},
    }
