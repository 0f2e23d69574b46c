"""From wiki to saved minibatch, screen attached: articles a second, and the memory that it takes.

    python benchmarks/front_door.py                         about two minutes

The embedded wiki serves articles of 8 kB of wikitext on loopback; a trainer crawls them through the client
that crawls Wikipedia; `wikitopics watch` draws on a terminal of 120x36. The first minute is left out. Counted
are articles in committed minibatches, and of the trainer and its worker processes the memory in use (of
shared pages each its part). Bars for two cores: 120 articles a second, 500 MB, flat. Linux only.
Writes results/front_door.json.
"""

import argparse
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from crawler.embedded.launch import EmbeddedWiki
from session.storage.reader import SessionReader

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "front_door.json"
ROWS, COLUMNS = 36, 120
TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def memory_mb(pids: list[int]) -> float:
    """Proportional set size of these processes together."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def cpu_seconds(pids: list[int]) -> float:
    """User and system time of these processes so far."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / TICKS


def open_screen(command: list[str]) -> subprocess.Popen[bytes]:
    """`wikitopics watch` on a terminal of its own, whose output is read and thrown away."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color"}
    screen = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)

    def swallow() -> None:
        try:
            while os.read(ours, 65536):
                pass
        except OSError:
            pass  # the screen has closed its end

    threading.Thread(target=swallow, daemon=True).start()
    return screen


def measure(warm: float, seconds: float, article_bytes: int, folder: Path) -> dict[str, object]:
    """One run: ``warm`` seconds left out, then ``seconds`` counted."""
    session = folder / "front.db"
    program = [sys.executable, "-m", "wikitopics"]
    wiki = EmbeddedWiki(["--size", "10000000", "--article-bytes", str(article_bytes)])
    running: list[subprocess.Popen[bytes]] = []
    try:
        train = ["train", "--api-url", wiki.url, "--held-out", "1000", "--session", str(session)]
        trainer = subprocess.Popen([*program, *train], stderr=subprocess.DEVNULL)
        running.append(trainer)
        while not session.exists():
            if trainer.poll() is not None:
                sys.exit("the trainer ended")
            time.sleep(0.1)
        screen = open_screen([*program, "watch", "--session", str(session)])
        running.append(screen)
        time.sleep(warm)
        parts = {"trainer": family(trainer.pid), "screen": [screen.pid], "wiki": family(wiki.pid)}
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
                print(f"{reader.status().articles:,} articles  {memory[-1]:.0f} MB", file=sys.stderr)
            articles, spent = reader.status().articles - before, time.monotonic() - begun
            alive = screen.poll() is None and trainer.poll() is None
        cpu = {name: round((cpu_seconds(pids) - cpu_before[name]) / spent, 2) for name, pids in parts.items()}
        return {
            "articles_per_second": round(articles / spent, 1),
            "memory_mb": {"first": round(memory[0]), "last": round(memory[-1]), "most": round(max(memory))},
            "cores_used": cpu,
            "alive_at_the_end": alive,
            "seconds": round(spent),
            "cores": os.cpu_count(),
            "load_average": round(os.getloadavg()[0], 1),
        }
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait()
        wiki.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--warm", type=float, default=60.0, help="seconds left out at the start")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds counted")
    parser.add_argument("--article-bytes", type=int, default=8000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(options.warm, options.seconds, options.article_bytes, Path(folder))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
