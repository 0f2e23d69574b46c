"""People's own documents: short texts of few words, sessions of them, and what these hold."""

import json
import random
import sqlite3
import time
from contextlib import closing, suppress

from tests.session.rows import kept_snippets
from wikitopics.session.storage.reader import SessionReader

WORDS = [
    "river",
    "mountain",
    "church",
    "football",
    "election",
    "theorem",
    "village",
    "painter",
    "engine",
]
MODEL = ("--topics", "3", "--batch-size", "16")


def over_few_words(folder):
    """Options of such a model over the words of these documents alone: to train one over the 8,000
    words of the program's own vocabulary takes several times as long."""
    path = folder / "few-words.txt"
    path.write_text("\n".join(WORDS))
    return (*MODEL, "--vocab", str(path))


def text(number):
    """A document of the words of one of three subjects."""
    pick = random.Random(number)
    return " ".join(pick.choices(WORDS[number % 3 * 3 :][:5], k=20))


def write(path, first, last):
    """JSON lines of these documents, without the last; returns the path."""
    with path.open("w") as file:
        for i in range(first, last):
            file.write(json.dumps({"id": f"doc/{i}", "title": f"T{i}", "text": text(i)}) + "\n")
    return path


def stream_of(session):
    """What was read in which order, what is held out and kept of the texts, and what each model
    made of it."""
    with closing(sqlite3.connect(session)) as db:
        articles = "SELECT seq, page_id, title, id, words, role FROM articles ORDER BY seq"
        metrics = "SELECT articles, metric, value FROM metrics ORDER BY 1, 2"
        stream = [db.execute(query).fetchall() for query in (articles, metrics)]
    with SessionReader(session) as reader:
        return [*stream, kept_snippets(reader)]


def end_after_a_commit(trainer, session, end):
    """Send the trainer this signal once it has committed again, and wait until it has ended."""
    before = committed(session)
    while committed(session) == before:
        assert trainer.poll() is None
        time.sleep(0.02)
    trainer.send_signal(end)
    trainer.communicate()


def committed(session):
    """Articles trained at the last commit."""
    if session.exists():
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(session)) as db:
            return sum(articles for (articles,) in db.execute("SELECT articles FROM progress"))
    return 0
