"""What the docs claim about the screen's speed, measured again.

    python benchmarks/screen.py [draw|keys|idle|cost|start]...

`draw`   CPU milliseconds of the screen's thread for a redraw at 200x60: four models of 1,000 topics and
         100,000 rows a metric, each with a new measurement and a new snapshot
`keys`   key to paint, in a screen of its own beside a trainer that runs flat out (counts source): percentiles
`idle`   CPU share of a screen that watches a session in which nothing happens
`cost`   what an attached screen costs the trainer: articles a CPU second without and with it
`start`  command to first frame, warm, of a small session and of one of 1 GB

Times of `keys` and `start` are wall clock, so they are worth something on an idle machine only; `draw`,
`idle` and `cost` count CPU seconds. Needs Linux (/proc) and the tests' canned sessions.
"""

import asyncio
import gc
import os
import pty
import select
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "tui")]

import canned  # noqa: E402
import numpy as np  # noqa: E402
from rich.console import RenderableType  # noqa: E402
from textual._compositor import CompositorUpdate  # noqa: E402
from textual.screen import Screen as AppScreen  # noqa: E402

from session.records import Curve, TopicEvent  # noqa: E402
from session.storage.reader import SessionReader  # noqa: E402
from tui.app import Wikitopics  # noqa: E402
from tui.chart.chart import Chart  # noqa: E402
from tui.controls import Controls  # noqa: E402
from tui.look import Look  # noqa: E402


def ignore(_: Path) -> None:
    """No trainer is told anything."""


class Screen:
    """`wikitopics watch` in a terminal of its own."""

    def __init__(self, path: Path, columns: int = 120, rows: int = 40) -> None:
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(
                TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows), PYTHONPATH=str(ROOT)
            )
            os.execv(sys.executable, [sys.executable, "-m", "wikitopics", "watch", "--session", str(path)])
        self.written = b""

    def read(self, seconds: float) -> bytes:
        """What it writes within so many seconds, at least until it falls silent."""
        got = b""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                try:
                    got += os.read(self.fd, 65536)
                except OSError:  # how Linux says that the other side has closed
                    break
        self.written += got
        return got

    def wait_for(self, words: bytes, patience: float = 30.0) -> float:
        """Seconds from the start until it has written ``words``."""
        end = time.perf_counter() + patience
        while words not in self.written:
            if time.perf_counter() > end:
                raise TimeoutError(words)
            if select.select([self.fd], [], [], 0.05)[0]:
                self.written += os.read(self.fd, 65536)
        return time.perf_counter() - self.began

    def answer_time(self, key: bytes, shows: bytes) -> float:
        """Seconds from a key to the arrival of what it makes appear."""
        got = b""
        began = time.perf_counter()
        os.write(self.fd, key)
        while shows not in got:
            if time.perf_counter() - began > 10:
                raise TimeoutError(shows)
            if select.select([self.fd], [], [], 0.5)[0]:
                got += os.read(self.fd, 65536)
        return time.perf_counter() - began

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def close(self) -> None:
        os.write(self.fd, b"q")
        self.read(1.0)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, by its CPU clock (Linux: clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


class Measured(Wikitopics):
    """The app without a terminal; what it would write there is made all the same."""

    CSS_PATH = ROOT / "tui" / "room.tcss"

    def _display(self, screen: AppScreen[object], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate):
            renderable.render_segments(self.console)


def grown(look: Look, by: int) -> Look:
    """The session after one more measurement and one more snapshot of every model."""
    rng = np.random.default_rng(by)
    curves = dict(look.curves)
    for key, curve in look.curves.items():
        if not curve.values.size:
            continue
        last = [int(curve.articles[-1]) + 64, int(curve.tokens[-1]) + 8_768, float(curve.seconds[-1]) + 31]
        value = curve.values[-1] * rng.normal(1, 0.002)
        columns = (curve.articles, curve.tokens, curve.seconds, curve.values)
        curves[key] = Curve(*(np.append(old, new) for old, new in zip(columns, [*last, value], strict=True)))
    topics = {
        model: tuple(
            replace(row, share_before=row.share, share=row.share * factor, articles=row.articles + 64)
            for row, factor in zip(rows, rng.lognormal(0, 0.1, len(rows)).tolist(), strict=True)
        )
        for model, rows in look.topics.items()
    }
    born = [TopicEvent(model, look.status.articles + by, "born", 3, None, "film, actor") for model in topics]
    status = replace(look.status, articles=look.status.articles + 64 * by)
    recent = look.recent[1:] + look.recent[:1]
    return replace(
        look, curves=curves, topics=topics, changes=(*look.changes, *born), status=status, recent=recent
    )


def draw(folder: Path) -> None:
    """Everything that a new measurement with a new snapshot makes the screen's thread do, up to the bytes for
    the terminal."""
    models = ("lda", "hdp", "scvb0", "lda2")
    path = canned.build(
        folder / "rows.db", canned.Recipe(models=models, topics=1_000, metric_rows=100_000, state="stopped")
    )

    async def run() -> dict[str, float]:
        app = Measured(SessionReader, path, Controls(ignore, ignore, ignore))
        async with app.run_test(size=(200, 60)) as pilot:
            while app.latest is None or not app.main.query_one(Chart).drawing.series:
                await pilot.pause(0.05)
            await pilot.pause(1.0)
            app.workers.cancel_all()  # no look but ours
            chart, look = app.main.query_one(Chart), app.latest
            assert all(series.x.size == 100_000 for series in chart.drawing.series)
            times: dict[str, list[float]] = {"chart": [], "all": [], "nothing": []}
            for turn, what in enumerate([*times] * 25):
                look = grown(look, turn) if what == "all" else look
                gc.collect()
                began = time.thread_time()
                if what == "all":
                    app.latest = look
                    app.show()
                    app.show_status()
                elif what == "chart":
                    chart.draw(replace(chart.drawing))
                await asyncio.sleep(0.4)  # what other threads answer is drawn as well
                times[what].append(time.thread_time() - began)
            return {what: 1e3 * statistics.median(each) for what, each in times.items()}

    used = asyncio.run(run())
    rest = used["nothing"]
    print(
        f"draw   200x60, 4 models of 1,000 topics and 100,000 rows: chart {used['chart'] - rest:.1f} ms, "
        f"whole dashboard {used['all'] - rest:.1f} ms"
    )


def counts_file(folder: Path) -> tuple[Path, Path]:
    """A stream of word counts that trains for minutes, and its vocabulary."""
    rng = np.random.default_rng(0)
    documents, words, length = 200_000, 8_000, 60
    stretch = words // length
    ids = np.sort(rng.integers(0, stretch, (documents, length)) + np.arange(length) * stretch)
    np.savez(
        folder / "counts.npz",
        indptr=np.arange(documents + 1, dtype=np.int64) * length,
        word_ids=ids.astype(np.int32).ravel(),
        counts=rng.integers(1, 4, documents * length).astype(np.int32),
        n_words=words,
    )
    letters = "abcdefghijklmnopqrst"
    vocabulary = folder / "words.txt"
    digits = [[letters[i // 20**place % 20] for place in range(4)] for i in range(words)]
    vocabulary.write_text("".join(f"w{''.join(word)}\n" for word in digits))
    return folder / "counts.npz", vocabulary


def trainer(folder: Path, name: str, *extra: str) -> tuple["subprocess.Popen[bytes]", Path]:
    """A real trainer that runs flat out, once its session exists."""
    counts, vocabulary = counts_file(folder)
    path = folder / f"{name}.db"
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "wikitopics",
            "train",
            "--session",
            str(path),
            "--source",
            "counts",
            "--counts",
            str(counts),
            "--vocab",
            str(vocabulary),
            "--topics",
            "100",
            "--threads",
            "2",
            *extra,
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    while not path.exists():
        if process.poll() is not None:
            raise RuntimeError(f"the trainer ended with code {process.returncode}")
        time.sleep(0.05)
    return process, path


def articles(path: Path) -> int:
    with SessionReader(path) as reader:
        return reader.status().articles


def keys(folder: Path) -> None:
    """Keys that repaint much: views, axes, crosshair."""
    process, path = trainer(folder, "busy")
    try:
        while articles(path) < 3_000:
            time.sleep(0.2)
        screen = Screen(path)
        screen.wait_for(b"Freeze")
        screen.read(2.0)
        times, used = [], []
        script = (
            (b"5", b"Log \xc2\xb7"),
            (b"3", b"Articles read"),
            (b"2", b"topics after"),
            (b"1", b"Perplexity"),
            (b"x", b"over articles"),
            (b"x", b"[log x"),
            (b"?", b"logarithmic"),
            (b"?", b"Perplexity"),
        )
        for _ in range(25):
            for key, shows in script:
                before = screen.cpu_seconds()
                times.append(screen.answer_time(key, shows))
                used.append(screen.cpu_seconds() - before)
                screen.read(0.15)
        screen.close()
    finally:
        process.terminate()
        process.wait()
    for what, seconds in (("wall clock", times), ("CPU of the screen", used)):
        p50, p99 = 1e3 * np.percentile(seconds, [50, 99])
        print(f"keys   {len(seconds)} beside a busy trainer, {what}: median {p50:.0f} ms, p99 {p99:.0f} ms")


def idle(folder: Path) -> None:
    """The screen's own CPU share over a quarter of a minute."""
    recipe = canned.Recipe(models=("lda", "hdp"))
    path = canned.build(folder / "idle.db", recipe)
    with canned.live(path, recipe):
        screen = Screen(path)
        screen.wait_for(b"Freeze")
        screen.read(2.0)
        before = screen.cpu_seconds()
        screen.read(15.0)
        used = screen.cpu_seconds() - before
        screen.close()
    print(f"idle   watcher of a session in which nothing happens: {100 * used / 15:.1f} % of a core")


def cost(folder: Path) -> None:
    """The same training without and with a screen: CPU seconds of the trainer, kernels compiled before."""
    used = {}
    for what in ("warm-up", "alone", "watched"):
        process, path = trainer(folder, what, "--articles", "2000" if what == "warm-up" else "60000")
        screen = Screen(path) if what == "watched" else None
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            if screen is not None:
                screen.read(0.2)
            else:
                time.sleep(0.2)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        used[what] = ended[2].ru_utime + ended[2].ru_stime
        if screen is not None:
            screen.close()
    more = used["watched"] / used["alone"] - 1
    seconds = f"{used['alone']:.1f} s of the trainer's CPU"
    print(f"cost   60,000 articles: {seconds}, {100 * more:+.1f} % with a screen")


def start(folder: Path) -> None:
    """Command to first frame, best of five."""
    small = canned.build(folder / "small.db", canned.Recipe(state="stopped"))
    big = canned.build(folder / "big.db", canned.Recipe(state="stopped"))
    with sqlite3.connect(big) as db:
        db.execute("CREATE TABLE ballast (x BLOB)")
        for _ in range(64):
            db.execute("INSERT INTO ballast VALUES (randomblob(16000000))")
    db.close()
    for what, path in (("small", small), (f"{big.stat().st_size / 1e9:.1f} GB", big)):
        first, data, used = [], [], []
        for _ in range(5):
            screen = Screen(path)
            first.append(screen.wait_for(b"wikitopics"))
            used.append(screen.cpu_seconds())
            data.append(screen.wait_for(b"12,480"))
            screen.close()
        seconds = f"{min(first):.2f} s (CPU {min(used):.2f} s), with its numbers {min(data):.2f} s"
        print(f"start  {what} session: first frame {seconds}")


def main() -> None:
    known = {"draw": draw, "keys": keys, "idle": idle, "cost": cost, "start": start}
    wanted = sys.argv[1:] or list(known)
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"unknown: {' '.join(unknown)}; there are {' '.join(known)}")
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            known[name](Path(folder))


if __name__ == "__main__":
    main()
