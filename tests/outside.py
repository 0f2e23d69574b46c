"""What a user sees of a checkout, as text files: help, errors, a run, exports, tables, the screen.

    .venv/bin/python tests/outside.py CHECKOUT FOLDER    # with the checkout's own .venv; some four minutes

For two checkouts, `diff -r` of the two folders shows what a change has changed for users. Times and rates
still differ. The screen needs tmux.
"""

import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

WRONG = """
nosuch | train --nosuch | train --topics 0 | train --topics abc | train --topics 20000
train --model nosuch | train --model lda:foo=1 | train --model lda:kappa=2 | train --model lda --model lda
train --alpha -1 | train --eta zero | train --kappa .4 | train --tau0 0 | train --half-life 5
train --half-life 1000 --model hdp | train --seed -1
train --model lda:batch_size=3 --model hdp:batch_size=256 | train --held-out -1 | train --documents 0
train --keep-articles some | train --articles 0 | train --hours 0 | train --threads 0
train --source nosuch | train --source texts | train --source counts | train --texts nosuch
train --texts a --counts b | train --counts no.npz | train --dump no.xml | train --source texts --rpm 3
train --contact nobody | train --contact name@163.com | train --contact User: | train --api-url ftp://x
train --lang ja --contact me@host.org | train --vocab nosuch | train --cluster nowhere
train --cluster tcp://10.0.0.1:8786 | train --session no/such/x.db | train --notify loud | train | status
status --json | topics | topics --top 0 | history | articles 3 | similar Foo | infer nosuch | compare
export | export nosuch | export topics | export topics --format pdf | export topics --format gensim
report | vocab | vocab show nosuch | vocab build | sessions | sessions rm nosuch | stop | pause | resume
save | backup | watch | demo --articles 0 | demo --wiki-size 0 | demo --source api
"""
"""Commands that fail in an empty home."""
KEYS = "1 ? Escape 2 3 Enter Escape 4 5 6 7 1 m v x z z e Escape C-p Escape N Escape / Escape t t space space"
UNSTEADY = ("heartbeat", "flow", "events", "runs", "control", "progress")
"""Tables that tell of times and processes."""


class Checkout:
    """A checkout's program in a home of its own; everything it says goes to a folder."""

    def __init__(self, root: Path, home: Path, out: Path) -> None:
        self.program, self.home, self.out = root / ".venv" / "bin" / "wikitopics", home, out
        own = {"WIKITOPICS_HOME": str(home / "s"), "XDG_CONFIG_HOME": str(home / "config"), "COLUMNS": "100"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WIKITOPICS")}
        self.environment = {**kept, **own, "LANG": "C.UTF-8", "TERM": "xterm-256color"}

    def run(self, *words: object, given: bytes = b"") -> str:
        """The command, its exit code and what it printed."""
        command, how = [self.program, *map(str, words)], {"env": self.environment, "cwd": self.home}
        done = subprocess.run(command, input=given, capture_output=True, timeout=600, **how)
        said = "\n".join(text.decode(errors="replace") for text in (done.stdout, done.stderr))
        return f"$ {' '.join(map(str, words))}\n-> {done.returncode}\n{said}"

    def keep(self, name: str, text: str) -> None:
        text = text.replace(str(self.home), "HOME").replace(str(self.program.parents[2]), "ROOT")
        (self.out / f"{name}.txt").write_text(text, encoding="utf-8")


def help_and_errors(it: Checkout) -> None:
    names = re.findall(r"^  ([a-z]+)  ", it.run("--help").split("Commands:")[1], re.MULTILINE)
    commands = [[], *([name] for name in names), ["vocab", "build"], ["vocab", "show"], ["sessions", "rm"]]
    commands += [["topics", "rename"], ["topics", "name"]]
    it.keep("help", "\n".join(it.run(*command, "--help") for command in commands))
    it.keep("models", it.run("train", "--model", "help"))
    lines = [line for row in WRONG.strip().splitlines() for line in row.split(" | ")]
    it.keep("errors", "\n".join(it.run(*line.split()) for line in lines))


def write_texts(path: Path, words: list[str]) -> None:
    """Fifteen hundred documents about twelve subjects."""
    rng = random.Random(1)
    subjects = [words[place::12] for place in range(12)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(1500):
            one, other = rng.choice(subjects), rng.choice(subjects)
            drawn = (rng.choice(one if rng.random() < 0.8 else other) for _ in range(rng.randrange(20, 120)))
            line = {"text": " ".join(drawn), "title": f"Title {number}", "id": f"id{number}"}
            file.write(json.dumps(line) + "\n")


def sessions(it: Checkout) -> None:
    """Three: own texts, counts kept by it, the demo; and whatever can be asked of them."""
    known = it.run("vocab", "show", "english").splitlines()
    write_texts(it.home / "docs.jsonl", [word for word in known if word.isalpha()][:3000])
    texts = ["--texts", it.home / "docs.jsonl", "--keep-counts", "--batch-size", 128, "--topics", 10]
    models = ["--model", "lda", "--model", "scvb0", "--model", "hdp:topics=20"]
    it.keep("train", it.run("train", "--session", "t", *texts, *models))
    counts = ["--counts", it.home / "s" / "t.db", "--topics", 8, "--half-life", 500, "--batch-size", 64]
    it.keep("train_json", it.run("train", "--session", "c", *counts, "--json"))
    it.keep("demo", it.run("demo", "--headless", "--articles", 6000))
    for option in ("topics 11", "kappa 0.9", "seed 9", "model hdp", "source api", "held-out 9"):
        it.keep(f"other_{option.split()[0]}", it.run("train", "--session", "t", *f"--{option}".split()))
    it.keep("resumed", it.run("train", "--session", "t"))
    for name in ("t", "c", "demo"):
        asked(it, name)
    it.keep("infer", it.run("infer", "--session", "t", given=b"river water lake mountain"))
    it.keep("compare", it.run("compare", "t", "c") + it.run("compare", "t", "c", "--json"))
    it.keep("sessions", it.run("sessions") + it.run("sessions", "--json"))


def asked(it: Checkout, name: str) -> None:
    for words in ("status", "topics", "history", "articles --topic 3", "similar Title_7"):
        command = [word.replace("_", " ") for word in words.split()]
        said = it.run(*command, "--session", name) + it.run(*command, "--json", "--session", name)
        it.keep(f"{name}_{command[0]}", said)
    for what in ("topics", "history", "events", "metrics", "articles", "proportions", "words", "model"):
        for form in ("csv", "json", "npz", "ldavis"):
            target = it.home / f"{name}-{what}.{form}"
            said = it.run("export", what, "--format", form, "-o", target, "--session", name)
            it.keep(f"{name}_export_{what}_{form}", said + contents(target))
    it.run("report", "-o", it.home / f"{name}.html", "--session", name)
    it.keep(f"{name}_report", contents(it.home / f"{name}.html"))
    with contextlib.closing(sqlite3.connect(it.home / "s" / f"{name}.db")) as db:
        made = sorted(str(row) for row in db.execute("SELECT type, name, sql FROM sqlite_master"))
        tables = [table for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        hashed = [f"{table} {digest(db, table)}" for table in sorted(tables) if table not in UNSTEADY]
    it.keep(f"{name}_tables", "\n".join(made + hashed))


def contents(path: Path) -> str:
    if not path.exists():
        return "(no file)"
    if not zipfile.is_zipfile(path):
        return path.read_text(encoding="utf-8")
    with zipfile.ZipFile(path) as file:
        return "\n".join(f"{name} {hashlib.sha256(file.read(name)).hexdigest()}" for name in file.namelist())


def digest(db: sqlite3.Connection, table: str) -> str:
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in ("seconds", "at")]
    rows = sorted(map(repr, db.execute(f"SELECT {', '.join(columns)} FROM {table}")))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def screens(it: Checkout) -> None:
    terminal = {name: value for name, value in it.environment.items() if name != "COLUMNS"}  # it has its own

    def tmux(*words: str) -> str:
        command = ["tmux", "-L", "outside", *words]
        return subprocess.run(command, env=terminal, capture_output=True, text=True).stdout

    for columns, rows in ((80, 24), (120, 40), (200, 60)):
        watch = f"cd {it.home} && {it.program} watch --session t"
        tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), watch)
        time.sleep(8)
        shots = []
        for key in KEYS.split():
            tmux("send-keys", key)
            time.sleep(1.5)
            shots.append(f"##### {key}\n" + tmux("capture-pane", "-p"))
        it.keep(f"screen_{columns}x{rows}", "\n".join(shots))
        tmux("kill-server")
        time.sleep(0.5)


def main(root: str, out: str) -> None:
    shutil.rmtree(out, ignore_errors=True)
    Path(out).mkdir(parents=True)
    with tempfile.TemporaryDirectory() as home:
        it = Checkout(Path(root).resolve(), Path(home), Path(out))
        help_and_errors(it)
        sessions(it)
        if shutil.which("tmux"):
            screens(it)


if __name__ == "__main__":
    main(*sys.argv[1:])
