"""Whether a session file after a stop is what was promised."""

import contextlib
import io
import sqlite3
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Broken(Exception):
    """A promise was not kept."""


class Locked(Broken):
    """Another process keeps everybody out of the file."""


def works(path: Path, pid: int) -> bool:
    """Whether this trainer has started its work."""
    if not path.exists():
        return False
    with contextlib.suppress(sqlite3.Error), contextlib.closing(read_only(path)) as connection:
        rows = connection.execute("SELECT pid FROM heartbeat LIMIT 1").fetchall()
        return rows == [(pid,)]
    return False


def read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, timeout=10)


def look_in(path: Path) -> None:
    """Open the file to write and close it, as `wikitopics save` does; its log must outlive that."""
    if path.exists():
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(path)) as connection,
        ):
            connection.execute("SELECT pid FROM heartbeat").fetchone()


def is_finished(path: Path) -> bool:
    if not path.exists():  # its trainer was stopped before it began
        return False
    with contextlib.closing(read_only(path)) as connection:
        (finished,) = connection.execute("SELECT finished FROM progress").fetchone()
    return bool(finished)


def stream(connection: sqlite3.Connection) -> list[int]:
    """The articles that were taken in, in their order: held out first, then trained."""
    rows = connection.execute("SELECT page_id FROM articles WHERE role < 2 ORDER BY seq")
    return [page_id for (page_id,) in rows]


def inspect(path: Path) -> list[int]:
    """The session's articles in their order; raises `Broken` unless the file is whole."""
    try:
        with contextlib.closing(read_only(path)) as connection:
            connection.execute("BEGIN")
            (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
            names = ("articles", "held_out", "pending", "skipped", "crawled")
            row = connection.execute(f"SELECT {', '.join(names)} FROM progress").fetchone()
            account = dict(zip(names, row, strict=True))
            articles = stream(connection)
    except sqlite3.Error as error:
        kind = Locked if "locked" in str(error) else Broken
        raise kind(f"the file does not open: {error}") from None
    if verdict != "ok":
        raise Broken(f"integrity check: {verdict}")
    taken = account["articles"] + account["held_out"]
    if account["crawled"] != taken + account["pending"] + account["skipped"]:
        raise Broken(f"the account does not add up: {account}")
    if len(articles) != taken:
        raise Broken(f"{len(articles)} articles in the file, {account} in its account")
    if len(set(articles)) != len(articles):
        raise Broken("an article was taken twice")
    return articles


longest: dict[Path, list[int]] = {}
"""The longest stream seen of each session; of any two, one is a prefix of the other."""


def check(path: Path) -> None:
    """Raises `Broken` unless the file is what it must be after a stop, with all that it had
    before."""
    if not path.exists():
        return  # stopped before there was a session
    articles = inspect(path)
    known = longest.setdefault(path, [])
    shorter = min(len(known), len(articles))
    if known[:shorter] != articles[:shorter]:
        raise Broken("the articles are no prefix of the stream")
    if len(articles) < len(known):
        raise Broken(f"{len(articles)} articles, where {len(known)} had been saved")
    longest[path] = articles


def by_table(path: Path) -> dict[str, int]:
    """Bytes of each table and index."""
    with contextlib.closing(read_only(path)) as connection:
        return dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))


class ModelState(NamedTuple):
    """The whole state of a model."""

    model_id: int
    scalars: str
    arrays: dict[str, tuple[str, bytes]]
    """By name: type and bytes. The file around them is left out, since it has a date."""


def states(path: Path) -> list[ModelState]:
    """Those of all models of a session."""
    found = []
    with contextlib.closing(read_only(path)) as connection:
        rows = connection.execute("SELECT id, scalars, arrays FROM models ORDER BY id")
        for model_id, scalars, file in rows:
            arrays = {}
            with np.load(io.BytesIO(file)) as data:
                for name in data.files:
                    arrays[name] = (str(data[name].dtype), data[name].tobytes())
            found.append(ModelState(model_id, scalars, arrays))
    return found


def expect_same(path: Path, undisturbed: Path) -> None:
    """Raises `Broken` unless a session at its end equals the undisturbed one, its models bit for
    bit."""
    with (
        contextlib.closing(read_only(path)) as connection,
        contextlib.closing(read_only(undisturbed)) as other,
    ):
        if stream(connection) != stream(other):
            raise Broken("the interrupted stream is not the undisturbed one")
    if states(path) != states(undisturbed):
        raise Broken("the interrupted models are not the undisturbed ones")
