"""Trainers stopped at random instants in every way there is, and the file looked at after each.

    python benchmarks/kills.py counts --stops 100         word counts, three kinds of models, 1 and 2 threads
    python benchmarks/kills.py wiki --stops 50            the embedded wiki while it misbehaves
    python benchmarks/kills.py demo --stops 20            `wikitopics demo --headless`

After each stop the file must open, pass SQLite's integrity check, keep its account and hold an exact
prefix of the stream, and nothing that the trainer started may live on. A session interrupted again and
again must end with the same models as an undisturbed one, bit for bit (counts), and with every article
once (wiki, demo). Prints a table and writes results/kills-*.json.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
KINDS = ("SIGKILL", "SIGTERM", "SIGINT twice", "SIGSTOP, SIGCONT")
FAULTS = (
    "429=0.01,500=0.02,503=0.01,maxlag=0.01,json=0.02,html=0.01,gzip=0.01,reset=0.03,truncated=0.1,"
    "duplicate=0.05,out-of-order=0.03,deleted=0.01,disambiguation=0.02"
)
MODELS = ("lda:topics=10,batch_size=256", "scvb0:topics=10,batch_size=128", "hdp:topics=20,batch_size=256")
LONGEST_STOP = 15.0
"""Seconds that a trainer may take to commit and leave, on a machine with other work to do."""


class Broken(Exception):
    """A promise was not kept."""


@dataclass
class Tally:
    """Stops tried by kind, those that the session survived, and what was wrong with the others."""

    tried: Counter[str] = field(default_factory=Counter)
    survived: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    finished: int = 0
    slowest_stop: float = 0.0

    @property
    def stops(self) -> int:
        return sum(self.tried.values())


def write_counts(folder: Path, documents: int, words: int = 2000, seed: int = 0) -> list[str]:
    """A vocabulary and documents from twenty planted topics; returns the options that name them."""
    rng = np.random.default_rng(seed)
    beta = rng.dirichlet(np.full(words, 0.05), 20)
    lengths = rng.poisson(40, documents) + 2
    theta = rng.dirichlet(np.full(20, 0.1), documents)
    rows = [rng.multinomial(length, t @ beta) for length, t in zip(lengths, theta, strict=True)]
    ids = [np.flatnonzero(row) for row in rows]
    np.savez(
        folder / "counts.npz",
        indptr=np.concatenate(([0], np.cumsum([len(i) for i in ids]))),
        word_ids=np.concatenate(ids),
        counts=np.concatenate([row[i] for row, i in zip(rows, ids, strict=True)]),
        n_words=words,
    )
    letters = "abcdefghijklmnop"
    names = ["".join(letters[n // 16**place % 16] for place in range(3)) for n in range(words)]
    (folder / "words.txt").write_text("\n".join(names) + "\n")
    return [
        "--source",
        "counts",
        "--counts",
        str(folder / "counts.npz"),
        "--vocab",
        str(folder / "words.txt"),
    ]


class Trial:
    """One way to train, repeated from the start whenever it has come to its end."""

    def __init__(self, folder: Path, command: list[str], rng: random.Random, *, threads: bool) -> None:
        self.folder, self.command, self.rng, self.threads = folder, command, rng, threads
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), "WIKITOPICS_HOME": str(folder)}
        self.tally = Tally()
        self.trainer: subprocess.Popen[bytes] | None = None

    def start(self, path: Path) -> subprocess.Popen[bytes]:
        more = ["--threads", str(self.rng.choice((1, 2)))] if self.threads else []
        self.trainer = subprocess.Popen(
            [sys.executable, "-m", "session.cli", *self.command, *more, "--session", str(path)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        return self.trainer

    def undisturbed(self, path: Path) -> None:
        """Train to the end without a stop."""
        trainer = self.start(path)
        assert trainer.stderr is not None
        text = trainer.stderr.read().decode()
        if trainer.wait() != 0:
            raise Broken(f"the undisturbed run ended with {trainer.returncode}: {text[-500:]}")
        trainer.stderr.close()

    def interrupted(self, path: Path, most: int) -> bool:
        """Start and stop trainers until one reaches the end; False where ``most`` stops come first."""
        while self.tally.stops < most:
            trainer = self.start(path)
            try:
                running = self.at_a_random_instant(trainer, path)
                if running:
                    running = self.stop(trainer, path)
                if not running and trainer.returncode == 0 and is_finished(path):
                    self.tally.finished += 1
                    return True
            finally:
                trainer.kill()
                trainer.communicate()
        return False

    def at_a_random_instant(self, trainer: subprocess.Popen[bytes], path: Path) -> bool:
        """Wait for one; whether the trainer still runs then."""
        if self.rng.random() < 0.75:
            # Most of a short run is its start: let it get to work first, and stop it there.
            deadline = time.monotonic() + 60
            while not works(path, trainer.pid) and trainer.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            delay = self.rng.uniform(0, 1.2)
        else:
            delay = self.rng.uniform(0, 3)
        for _ in range(2):
            with contextlib.suppress(subprocess.TimeoutExpired):
                trainer.wait(delay / 2)
            if trainer.poll() is None and self.rng.random() < 0.5:
                look_in(path)
        return trainer.poll() is None

    def stop(self, trainer: subprocess.Popen[bytes], path: Path) -> bool:
        """Stop it in one of the ways and look at the file; whether it reached its end all by itself."""
        kind = self.rng.choice(KINDS)
        self.tally.tried[kind] += 1
        family = descendants(trainer.pid)
        try:
            getattr(self, "by_" + kind.lower().replace(", ", "_").replace(" ", "_"))(trainer, path)
            if trainer.poll() is not None:
                wait_until_gone(family)
            check(path)
            self.tally.survived[kind] += 1
        except Broken as error:
            self.tally.broken.append(f"{kind}: {error}")
        return False

    def by_sigkill(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        trainer.kill()
        trainer.wait()

    def by_sigterm(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        settled = works(path, trainer.pid)
        begun = time.monotonic()
        trainer.terminate()
        self.ends(trainer, begun)
        # Before it has come to handling signals, a trainer has nothing to save.
        expect(trainer, {0} if settled else {0, -signal.SIGTERM})

    def by_sigint_twice(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        begun = time.monotonic()
        trainer.send_signal(signal.SIGINT)
        time.sleep(self.rng.uniform(0, 0.05))
        trainer.send_signal(signal.SIGINT)
        self.ends(trainer, begun)
        expect(trainer, {0, 130, -signal.SIGINT})

    def by_sigstop_sigcont(self, trainer: subprocess.Popen[bytes], path: Path) -> None:
        trainer.send_signal(signal.SIGSTOP)
        try:
            time.sleep(self.rng.uniform(0, 0.7))
            check(path)
        finally:
            trainer.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            trainer.wait(self.rng.uniform(0.1, 0.7))
        if trainer.poll() is None:
            trainer.kill()
            trainer.wait()
        else:
            expect(trainer, {0})

    def ends(self, trainer: subprocess.Popen[bytes], begun: float) -> None:
        try:
            trainer.wait(LONGEST_STOP)
        except subprocess.TimeoutExpired:
            raise Broken(f"the trainer lived on for {LONGEST_STOP:.0f} s") from None
        self.tally.slowest_stop = max(self.tally.slowest_stop, time.monotonic() - begun)


def expect(trainer: subprocess.Popen[bytes], codes: set[int]) -> None:
    assert trainer.stderr is not None
    text = trainer.stderr.read().decode(errors="replace")
    # A signal that comes when all is saved and the interpreter is leaving ends it by its default.
    left = trainer.returncode < 0 and text.rstrip().endswith("everything is saved")
    early = trainer.returncode == -signal.SIGINT  # while Python itself was loading: its own words
    late = "Exception ignored" in text  # Python's own words about a signal while it leaves
    if (trainer.returncode not in codes and not left) or ("Traceback" in text and not early and not late):
        raise Broken(f"exit code {trainer.returncode}: {text[-800:]}")


def works(path: Path, pid: int) -> bool:
    """Whether this trainer has come to its work."""
    if not path.exists():
        return False
    with contextlib.suppress(sqlite3.Error), contextlib.closing(read_only(path)) as connection:
        row = connection.execute("SELECT pid FROM heartbeat").fetchone()
        return row is not None and row[0] == pid
    return False


def read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, timeout=10)


def look_in(path: Path) -> None:
    """Open the file to write and close it, as `wikitopics save` does; its log must outlive that."""
    if path.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("SELECT pid FROM heartbeat").fetchone()


def is_finished(path: Path) -> bool:
    with contextlib.closing(read_only(path)) as connection:
        return bool(connection.execute("SELECT finished FROM progress").fetchone()[0])


def stream(connection: sqlite3.Connection) -> list[int]:
    """The articles that were taken in, in their order: held out first, then trained."""
    rows = connection.execute("SELECT page_id FROM articles WHERE role < 2 ORDER BY seq").fetchall()
    return [page for (page,) in rows]


longest: dict[Path, list[int]] = {}
"""The longest stream seen of each session: every other is a prefix of it, or it of them."""


def check(path: Path) -> None:
    """Raises :class:`Broken` unless the file is what it must be after any stop."""
    if not path.exists():
        return  # stopped before there was a session
    try:
        with contextlib.closing(read_only(path)) as connection:
            connection.execute("BEGIN")
            (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
            names = ("articles", "held_out", "pending", "skipped", "crawled")
            account = dict(
                zip(
                    names,
                    connection.execute(f"SELECT {', '.join(names)} FROM progress").fetchone(),
                    strict=True,
                )
            )
            articles = stream(connection)
    except sqlite3.Error as error:
        raise Broken(f"the file does not open: {error}") from None
    if verdict != "ok":
        raise Broken(f"integrity check: {verdict}")
    if (
        account["crawled"]
        != account["articles"] + account["held_out"] + account["pending"] + account["skipped"]
    ):
        raise Broken(f"the account does not add up: {account}")
    if len(articles) != account["articles"] + account["held_out"]:
        raise Broken(f"{len(articles)} articles in the file, {account} in its account")
    if len(set(articles)) != len(articles):
        raise Broken("an article was taken twice")
    known = longest.setdefault(path, [])
    shorter = min(len(known), len(articles))
    if known[:shorter] != articles[:shorter]:
        raise Broken("the articles are no prefix of the stream")
    if len(articles) < len(known):
        raise Broken(f"{len(articles)} articles, where {len(known)} had been saved")
    longest[path] = articles


def models(path: Path) -> list[tuple[object, ...]]:
    """All that the models are."""
    with contextlib.closing(read_only(path)) as connection:
        return connection.execute(
            "SELECT name, scalars, arrays, log_likelihood FROM models ORDER BY id"
        ).fetchall()


def same_states(one: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> bool:
    """Whether two sessions' models are equal bit for bit; the files around the arrays may differ in dates."""
    import io

    def arrays(row: tuple[object, ...]) -> dict[str, tuple[str, bytes]]:
        with np.load(io.BytesIO(row[2])) as data:  # type: ignore[arg-type]
            return {name: (str(data[name].dtype), data[name].tobytes()) for name in data.files}

    return [r[:2] + r[3:] for r in one] == [r[:2] + r[3:] for r in other] and list(map(arrays, one)) == list(
        map(arrays, other)
    )


def descendants(pid: int) -> list[tuple[int, str]]:
    """Processes that ``pid`` has started, and when: pids are used again."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append((int(folder.name), fields[19]))
    found, line = [], [pid]
    while line:
        children = parents.get(line.pop(), [])
        found += children
        line += [child for child, _ in children]
    return found


def wait_until_gone(family: list[tuple[int, str]], seconds: float = 10.0) -> None:
    """Raises :class:`Broken` where processes that a trainer has started outlive it."""
    deadline = time.monotonic() + seconds
    while left := [pid for pid, started in family if is_alive(pid, started)]:
        if time.monotonic() > deadline:
            raise Broken(f"processes {left} outlive their trainer")
        time.sleep(0.05)


def is_alive(pid: int, started: str) -> bool:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == started and fields[0] != "Z"


def counts(folder: Path, stops: int, documents: int, seed: int = 0) -> Tally:
    """Word counts: interrupted sessions against an undisturbed one."""
    source = write_counts(folder, documents)
    command = ["train", *source, "--held-out", "200", "--seed", "1"]
    command += [word for model in MODELS for word in ("--model", model)]
    trial = Trial(folder, command, random.Random(seed), threads=True)
    calm = folder / "calm.db"
    trial.undisturbed(calm)
    number = 0
    while trial.tally.stops < stops:
        number += 1
        path = folder / f"rough{number}.db"
        # The last session is trained to its end, so that there is always one to compare.
        if not trial.interrupted(path, stops):
            trial.undisturbed(path)
        compare(trial.tally, path, calm)
    return trial.tally


def compare(tally: Tally, path: Path, calm: Path) -> None:
    try:
        check(path)
        with contextlib.closing(read_only(path)) as one, contextlib.closing(read_only(calm)) as other:
            if stream(one) != stream(other):
                raise Broken("the interrupted stream is not the undisturbed one")
        if not same_states(models(path), models(calm)):
            raise Broken("the interrupted models are not the undisturbed ones")
    except Broken as error:
        tally.broken.append(f"{path.stem} at its end: {error}")


def wiki(folder: Path, stops: int, articles: int, faults: str, seed: int = 0) -> Tally:
    """The embedded wiki, misbehaving."""
    sys.path.insert(0, str(ROOT))
    os.environ["PYTHONPATH"] = str(ROOT)
    from crawler.embedded.launch import EmbeddedWiki

    served = EmbeddedWiki(["--size", str(articles), "--faults", faults, "--latency", "0.02"])
    try:
        command = ["train", "--api-url", served.url, "--rpm", "0", "--held-out", "100", *MODELS_OF_WIKI]
        return crawls(folder, command, stops, articles, random.Random(seed))
    finally:
        served.stop()


MODELS_OF_WIKI = ("--model", "lda:topics=10,batch_size=256", "--model", "scvb0:topics=10,batch_size=256")


def demo(folder: Path, stops: int, articles: int, seed: int = 0) -> Tally:
    """`wikitopics demo --headless`, whose wiki is its own child."""
    command = ["demo", "--headless", "--wiki-size", str(articles)]
    return crawls(folder, command, stops, articles, random.Random(seed))


def crawls(folder: Path, command: list[str], stops: int, articles: int, rng: random.Random) -> Tally:
    trial = Trial(folder, command, rng, threads=False)
    number = 0
    while trial.tally.stops < stops:
        number += 1
        path = folder / f"crawl{number}.db"
        if not trial.interrupted(path, stops):
            trial.undisturbed(path)
        try:
            check(path)
            with contextlib.closing(read_only(path)) as connection:
                (crawled,) = connection.execute("SELECT crawled FROM progress").fetchone()
            if crawled != articles:
                raise Broken(f"{crawled} pages crawled of a wiki of {articles}")
        except Broken as error:
            trial.tally.broken.append(f"{path.stem} at its end: {error}")
    return trial.tally


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["counts", "wiki", "demo"])
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--articles", type=int, default=20_000)
    parser.add_argument("--faults", default=FAULTS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.what == "counts":
            tally = counts(folder, options.stops, options.articles, options.seed)
        elif options.what == "wiki":
            tally = wiki(folder, options.stops, options.articles, options.faults, options.seed)
        else:
            tally = demo(folder, options.stops, options.articles, options.seed)
    print(f"| {options.what} | tried | survived |\n|---|---|---|")
    for kind in KINDS:
        print(f"| {kind} | {tally.tried[kind]} | {tally.survived[kind]} |")
    print(f"sessions interrupted until their end: {tally.finished}; slowest stop {tally.slowest_stop:.1f} s")
    for line in tally.broken:
        print("BROKEN", line)
    RESULTS.mkdir(exist_ok=True)
    values = {
        "what": options.what,
        "articles": options.articles,
        "tried": dict(tally.tried),
        "survived": dict(tally.survived),
        "sessions": tally.finished,
        "slowest_stop_seconds": round(tally.slowest_stop, 2),
        "broken": tally.broken,
    }
    (RESULTS / f"kills-{options.what}.json").write_text(json.dumps(values, indent=1) + "\n")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
