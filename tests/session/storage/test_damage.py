"""Damage by hand anywhere in a session file: commands answer cleanly, or in one line with exit code
5."""

import asyncio
import contextlib
import io
import itertools
import json
import os
import random
import shutil
import sqlite3
import zlib
from dataclasses import replace

import numpy as np
import pytest

import wikitopics
from tests.corpora import write_corpus
from tests.session.archives import npz
from tests.session.rows import sql
from wikitopics.extra import REPORT
from wikitopics.session.errors import NotASession
from wikitopics.session.given_names import hide_topics, rename
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.decoding import pack_state
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.system import TrainerLock
from wikitopics.session.training.stream import Stream
from wikitopics.tui.follow import Follower

CASES = int(os.environ.get("WIKITOPICS_DAMAGES", "160"))
"""Ways to damage a file that are tried, out of some thousands; each on a few commands."""
SHARDS = 8
HOSTILE_SIGNS = "\0\x1b\x9b\u202e"
EMPTIED = ("not recorded", "have no places yet", "keeps none", "and a text", "is called 'aaa-1'")
"""What is said of a session that kept too little."""
COMMANDS = """
status | status --json | topics | topics --json --top 40 --model scvb0 | articles --topic 0
articles --topic 1 --model hdp --json | similar TITLE | similar TEXT --model hdp --json | infer TEXT
find TITLE | find TITLE --model hdp --json
infer TEXT --json --model hdp | infer TEXT --json --model scvb0 | topics --tree --json --model hdp
topics --areas | topics --areas 2 --json --model hdp | topics --tree
history | history 1 --json | export topics | export events | export history --format json
export metrics --format json | export articles | export articles --all --format json
export proportions --format json | export proportions --format npz -o OUT | export words --format json
export map --format json | export map --format html -o OUT --model hdp
export model -o OUT | export model -o OUT --model hdp | sessions | sessions --json | backup OUT | LOOK | FACE
"""
READING = [
    command.split() for line in COMMANDS.strip().splitlines() for command in line.split(" | ")
]
TRAINING = [["train", "--articles", "190"], ["train", "--counts", "SESSION", "--articles", "64"]]


VALUES = {
    "null": None,
    "text": "text",
    "empty": "",
    "minus": -1,
    "zero": 0,
    "half": 1.5,
    "huge": 2**62,
    "least": -(2**63),
    "infinite": float("inf"),
    "vast": 1.7e308,
    "minus vast": -1.7e308,
    "tiny": 5e-324,
    "most": 10**15,
    "nul": "a\0\x1b[31m\nb",
    "long": "x" * 2_000_000,
    "blob": b"\x01\x02\x03",
    "no bytes": b"",
    "list": "[]",
    "object": "{}",
    "json null": "null",
    "json nan": '{"a": NaN}',
    "surrogate": '"\\ud800"',
    "nested": "[" * 100_000,
}
EXPRESSIONS = {
    "no utf-8": "CAST(x'ff41fe' AS TEXT)",
    "as text": "CAST({column} AS TEXT)",
    "as blob": "CAST({column} AS BLOB)",
    "cut": "substr({column}, 1, length({column}) / 2)",
    "cut by one": "substr({column}, 1, length({column}) - 1)",
    "longer": "{column} || x'00'",
    "twice": "{column} || {column}",
}
JSON_VALUES = [
    None,
    "text",
    -1,
    1.5,
    1.7e308,
    10**400,
    True,
    [],
    {},
    [[]],
    {"a": 1},
    "\ud800",
    "x" * 100_000,
]
JSON_COLUMNS = {
    "settings": "value",
    "models": "scalars",
    "heartbeat": "activity",
    "progress": "position",
}
JSON_COLUMNS |= {"areas": "names"}
NPZ_COLUMNS = dict.fromkeys(("pending", "held_out", "recent", "kept_counts"), "documents")
NPZ_COLUMNS |= dict.fromkeys(("models", "word_counts"), "arrays")


def all_damages(session):
    """Every way to damage a session file by hand: its name, and what it does to the file."""
    with contextlib.closing(sqlite3.connect(session)) as db:
        names = [
            row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for table in names:
            yield f"{table}: emptied", run(f"DELETE FROM {table}")
            for _, column, *_ in db.execute(f"PRAGMA table_info({table})").fetchall():
                yield from of_column(table, column)
        for table, column in JSON_COLUMNS.items():
            sql = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
            for rowid, text in db.execute(f"SELECT rowid, {column} FROM {table}"):
                for place, changed in () if text is None else changed_json(json.loads(text)):
                    yield f"{table}.{column} {rowid}{place}", run(sql, json.dumps(changed), rowid)
        for table, column in NPZ_COLUMNS.items():
            sql = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
            for rowid, data in db.execute(f"SELECT rowid, {column} FROM {table} LIMIT 3"):
                for place, make in changed_npz(data):
                    yield (
                        f"{table}.{column} {rowid}{place}",
                        lambda db, sql=sql, make=make, rowid=rowid: db.execute(
                            sql, [make(), rowid]
                        ),
                    )
    for pragma, number in itertools.product(("user_version", "application_id"), (0, -1, 1, 99)):
        yield f"{pragma} {number}", run(f"PRAGMA {pragma} = {number}")


def run(sql, *parameters):
    return lambda db: db.execute(sql, parameters)


def of_column(table, column):
    """Every value in every row."""
    yield f"{table}.{column}: gone", run(f"ALTER TABLE {table} DROP COLUMN {column}")
    for name, value in VALUES.items():
        yield f"{table}.{column}: {name}", run(f"UPDATE OR IGNORE {table} SET {column} = ?", value)
    for name, expression in EXPRESSIONS.items():
        sql = f"UPDATE OR IGNORE {table} SET {column} = {expression.format(column=column)}"
        yield f"{table}.{column}: {name}", run(sql)


def changed_json(value):
    """The value with one part of it left out, or another."""
    for wrong in JSON_VALUES:
        yield f": {str(wrong)[:12]!r}", wrong
    if isinstance(value, dict):
        for key in value:
            yield f".{key}: gone", {k: v for k, v in value.items() if k != key}
            for place, changed in changed_json(value[key]):
                yield f".{key}{place}", {**value, key: changed}
    elif isinstance(value, list) and value:
        for place, changed in changed_json(value[0]):
            yield f"[0]{place}", [changed, *value[1:]]


def changed_npz(data):
    """The .npz itself, and with another array in it; each made when it is done: most are not."""
    with np.load(io.BytesIO(data)) as loaded:
        arrays = dict(loaded)
    yield ": compressed", lambda: npz(arrays, np.savez_compressed)
    yield ": bomb", lambda: npz({**arrays, "bomb": np.zeros(2**22)}, np.savez_compressed)
    yield ": nothing", lambda: npz({})
    yield ": more", lambda: npz({**arrays, "more": np.zeros(3)})
    yield ": behind", lambda: data + b"\0"
    yield ": pickled", lambda: npz({**arrays, "more": np.array([{}], object)})
    for key, array in arrays.items():
        others = {name: value for name, value in arrays.items() if name != key}
        yield f".{key}: gone", lambda others=others: npz(others)
        for name, changed in changed_arrays(array):
            yield f".{key}: {name}", lambda key=key, changed=changed: npz({**arrays, key: changed})


def changed_arrays(array):
    """The array in other shapes, of other types, with other numbers."""
    yield "shorter", array[:-1]
    yield "narrower", array[..., :-1]
    yield "longer", np.concatenate([array, array[:1]])
    yield "flat", array.reshape(-1, 1)
    yield "alone", array.sum()
    yield "turned", array.T
    yield "strings", array.astype("S4")
    yield "complex", array.astype(complex)
    yield "other bytes", array.astype(array.dtype.newbyteorder())
    is_float = array.dtype.kind == "f"
    numbers = {"minus": -1, "big": 2**31 - 1}
    if is_float:
        numbers |= {"nan": np.nan, "infinite": np.inf, "vast": 1e38}
    for name, value in numbers.items():
        changed = array.astype(np.float64 if is_float else np.int64)
        if array.size:
            changed.flat[-1] = value
        yield name, changed.astype(array.dtype) if is_float else changed


@pytest.fixture(scope="module")
def whole(made_once):
    """A session of three models with something in every table; nobody may write to it."""
    return made_once("whole", make_whole) / "whole.db"


def make_whole(folder):
    from wikitopics.cli import run

    corpus = write_corpus(folder, 220, words=20)
    models = ["--model", "lda:topics=3", "--model", "scvb0:topics=3", "--model", "hdp:topics=5"]
    more = [
        "--batch-size",
        "64",
        "--held-out",
        "20",
        "--articles",
        "128",
        "--keep-counts",
        "--session",
    ]
    assert run(["train", *corpus.options(), *models, *more, str(folder / "whole.db")]) == 0
    with (
        TrainerLock(folder / "whole.db"),
        contextlib.closing(SessionWriter(folder / "whole.db")) as store,
    ):
        trainer = Stream(store, article_limit=None, threads=1)
        again = store.held_out()[:10]
        skips = {"disambiguation": 2}
        trainer.feed(replace(again, skips=skips, position={"document": 158}, lap=0.7))
        trainer.commit(9.0, 1)
    rename(folder / "whole.db", "hdp", 1, "birds")
    hide_topics(folder / "whole.db", "hdp", [2], True)
    # In so short a session nothing happens.
    sql(
        folder / "whole.db", "INSERT INTO topic_events VALUES (NULL, 0, 64, 'split', 1, 2, 'birds')"
    )


def strict(text):
    """JSON as others read it, who know no NaN."""

    def no_number(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=no_number)


def look(path):
    """What the screen reads."""

    async def read():
        feed = Follower(path)
        try:
            found = await feed.read_session(("log_likelihood", "npmi"))
            for model in found.models:
                await feed.read(path, lambda reader, model=model: reader.topic_history(model, 0))
                await feed.read(path, lambda reader, model=model: reader.articles_about(model, 0))
            await feed.read(path, lambda reader: reader.find_articles("a"))
            await feed.read(path, lambda reader: reader.topic_events())
        finally:
            feed.close()

    with contextlib.suppress(NotASession):
        asyncio.run(read())


def shown(answer):
    """Show it as Python does."""
    assert repr(answer)


def painted(answer):
    """The same, and as a notebook does."""
    shown(answer)
    assert not set(answer._repr_html_() or "") & set(HOSTILE_SIGNS)


def unless_empty(ask):
    """The same, but that it may be told that there is nothing: an empty table is no damage."""

    def asked(session, model):
        with contextlib.suppress(wikitopics.SessionError):
            ask(session, model)

    return asked


ASKED = {
    "topics": lambda session, model: shown(session.topics(model)),
    "metrics": lambda session, model: shown(session.metrics(model)),
    "articles": lambda session, model: shown(session.articles(0, model=model)),
    "areas": lambda session, model: shown([session.areas(model=model), session.areas(2, model)]),
    "history": lambda session, model: session.history(0, model),
    "proportions": unless_empty(lambda session, model: session.proportions(model)),
    "infer": lambda session, model: session.infer(["aaa aab aac", ""], model),
    "frame": unless_empty(lambda session, model: session.topics(model, frame=True)),
    "find": lambda session, model: painted(session.find("aaa", model=model)),
    "explain": lambda session, model: painted(session.explain("aaa aab", model)),
    "status": lambda session, _: shown([session, session.status()]),
    "newest": lambda session, _: shown(session.articles(limit=500)),
}
"""What a notebook asks of a session, or of a model in it."""


def face(path, *names):
    """Ask this, or all, as a notebook does."""
    with contextlib.suppress(NotASession):
        session = wikitopics.open(path)
        for model in (None, "hdp"):
            for name in names or ASKED:
                ASKED[name](session, model)


def check(cli, path, command):
    """Run a command on the session at ``path``: its answer is clean."""
    if command == ["LOOK"]:
        look(path)
        return
    if command[0] == "FACE":
        face(path, *command[1:])
        return
    out = path.with_name("out")
    if out.is_dir():
        shutil.rmtree(out)
    out.unlink(missing_ok=True)
    places = {"TEXT": path.with_name("text"), "OUT": out, "SESSION": path, "TITLE": "document 100"}
    words = [places.get(word, word) for word in command]
    session = path.with_name("other.db") if "SESSION" in command else path
    if command[0] != "sessions":
        words += ["--session", session]
    outcome = cli(*words)
    if outcome.code == 0:
        if "json" in command or "--json" in command:
            strict(outcome.out)
        elif command[0] != "export":
            assert not set(outcome.out) & set(HOSTILE_SIGNS)
        return
    # A damaged setting may name another source or file, which is another matter than damage.
    moved = command[0] == "train" and outcome.code == 2
    emptied = outcome.code == 1 and any(said in outcome.err for said in EMPTIED)
    assert outcome.code == 5 or moved or emptied, outcome.err
    lines = [line for line in outcome.err.splitlines() if line.startswith("wikitopics: ")]
    assert len(lines) == 1, outcome.err
    assert outcome.err.count("\n") == 1 or command[0] == "train"


@pytest.mark.parametrize(
    "shard", [0, *(pytest.param(shard, marks=pytest.mark.long) for shard in range(1, SHARDS))]
)
def test_any_damage_is_answered_cleanly(cli, whole, home, shard):
    home.mkdir()
    (home / "text").write_text("aaa aab aac aad aae")
    path = home / "default.db"
    chance = random.Random(20)
    damages = list(all_damages(whole))
    assert len(damages) > 2000
    chosen = chance.sample(damages, min(CASES, len(damages)))
    unclean = []
    tried = 0
    for number, (name, damage) in enumerate(chosen):
        commands = [*chance.sample(READING, 3), chance.choice(TRAINING)]
        if number % SHARDS != shard:
            continue
        for command in commands:
            for left in home.glob("*.db*"):
                left.unlink(missing_ok=True)  # a reader that leaves may fold its log in meanwhile
            shutil.copy(whole, path)
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
                try:
                    damage(db)
                except sqlite3.Error:
                    continue  # SQLite itself would not have it
            tried += 1
            try:
                check(cli, path, command)
            except Exception as error:  # noqa: BLE001 (they are told all at once)
                unclean.append(f"{name}, by {' '.join(command)}: {error!r}")
    assert unclean == []
    assert tried > CASES / SHARDS, "hardly any damage could be done"


EXTREMES = {
    "vast": ("REAL", "TEXT", "INTEGER"),
    "minus vast": ("REAL", "TEXT"),
    "tiny": ("REAL", "TEXT"),
    "most": ("REAL", "TEXT", "INTEGER"),
    "minus": ("REAL", "TEXT", "INTEGER", "BLOB"),
}
"""Numbers, and the types of the columns that they are put in. A fraction is no whole number, nor a
number bytes, whatever its size: of these, one is enough. A text may be JSON, which has numbers."""
ANSWERING = [
    *(["FACE", name] for name in ASKED),
    ["LOOK"],
    ["status"],
    ["export", "metrics"],
    ["export", "metrics", "--format", "json"],
]


def test_measurements_may_have_any_finite_value(cli, whole, home):
    home.mkdir()
    path = home / "default.db"
    for name in EXTREMES:
        shutil.copy(whole, path)
        first = "SELECT max(articles) FROM metrics"  # the newest is shown, and has to be likely
        sql(path, f"UPDATE metrics SET value = ? WHERE articles < ({first})", VALUES[name])
        sql(
            path,
            "UPDATE metrics SET value = ? WHERE metric = 'npmi' OR metric = 'drift'",
            VALUES[name],
        )
        rows = strict(cli.ok("export", "metrics", "--format", "json").out)
        assert all(abs(row["value"]) < np.inf for row in rows)
        assert len(rows) == len(
            [
                one
                for model in ("lda", "scvb0", "hdp")
                for one in wikitopics.open(path).metrics(model)
            ]
        )
        look(path)
    scored = [[1, 1, [-1e15, 1e15, 0.0]]]
    sql(path, "UPDATE progress SET prequential = ?", json.dumps(scored))
    assert "on new articles" in cli.ok("status").out


def columns_read(cli, path, command):
    """The columns, as (table, column), of which a command reads any row."""
    connect = sqlite3.connect
    found = set()

    def note(action, table, column, *_):
        if action == sqlite3.SQLITE_READ:
            found.add((table, column))
        return sqlite3.SQLITE_OK

    def noting(*where, **options):
        connection = connect(*where, **options)
        connection.set_authorizer(note)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", noting)
        check(cli, path, command)
    return found


@pytest.mark.long
@pytest.mark.parametrize("extreme", EXTREMES)
def test_any_column_may_have_an_extreme_value(cli, whole, home, extreme):
    """Each command answers cleanly about any column that it reads: one that it does not read cannot
    change its answer."""
    home.mkdir()
    path = home / "default.db"
    shutil.copy(whole, path)
    reading = [(command, columns_read(cli, path, command)) for command in ANSWERING]
    unclean = []
    tried = 0
    with contextlib.closing(sqlite3.connect(whole)) as db:
        tables = [
            row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        columns = [
            (table, column, in_key)
            for table in tables
            for _, column, kind, _, _, in_key in db.execute(f"PRAGMA table_info({table})")
            if kind in EXTREMES[extreme]
        ]
    for table, column, in_key in columns:
        shutil.copy(whole, path)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            with contextlib.suppress(sqlite3.Error):  # SQLite itself would not have it
                db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", [VALUES[extreme]])
            is_as_before = db.total_changes == 0
        if is_as_before:
            continue
        tried += 1
        for command, read in reading:
            is_read = (table, column) in read
            if in_key:  # the order in which a table's rows are read is that of their keys
                is_read = table in {one for one, _ in read}
            if not is_read:
                continue
            try:
                check(cli, path, command)
            except Exception as error:  # noqa: BLE001 (they are told all at once)
                unclean.append(f"{table}.{column} by {' '.join(command)}: {error!r}")
    assert unclean == []
    assert tried > 0.7 * len(columns)


def test_a_model_whose_numbers_overflow_and_one_that_is_gone_are_damage(
    cli,
    whole,
    home,
    one_line,
    tmp_path,
):
    home.mkdir()
    (home / "text").write_text("aaa aab aac")
    shutil.copy(whole, home / "default.db")
    with SessionReader(home / "default.db") as reader:
        state = reader.model_state("scvb0")
    scalars, arrays = pack_state(
        {**state, "final_alpha": np.full_like(state["final_alpha"], 1e-320)}
    )
    sql(
        home / "default.db",
        "UPDATE models SET scalars = ?, arrays = ? WHERE id = 1",
        scalars,
        arrays,
    )
    one_line(cli("infer", home / "text", "--model", "scvb0"), 5, "damaged", "scvb0")
    sql(home / "default.db", "UPDATE models SET id = id + 9")
    one_line(cli("export", "model", "-o", tmp_path / "m.npz"), 5, "models has no row 0")


def test_articles_to_infer_anew_before_any_is_trained_are_damage(
    cli,
    corpus,
    new_session,
    home,
    one_line,
):
    path = new_session(
        home / "default.db",
        corpus,
        model=("lda:topics=3,batch_size=64",),
        held_out=20,
    )
    sql(path, "UPDATE progress SET renew_from = 0")
    one_line(cli("train", "--articles", 190), 5, "damaged", "progress.renew_from")


def test_more_reference_articles_than_are_ever_kept_are_damage(cli, whole, home, one_line):
    home.mkdir()
    path = home / "default.db"
    shutil.copy(whole, path)
    with SessionReader(path) as reader:
        articles = reader.reference()
    too_many = Block.concatenate([articles] * (5000 // len(articles) + 1))
    sql(path, "UPDATE reference SET documents = ?", too_many.to_bytes())
    one_line(cli("topics"), 5, "damaged", "reference has over 5,000 articles")


SHOWING_SNIPPETS = """
find aaa | find aaa --json | articles --topic 0 | articles --topic 0 --json | similar aaa-1 --json
export articles --snippets | export articles --snippets --format json --all | export proxann -o OUT
export map --format html --snippets -o OUT | topics | topics name --command true | report -o OUT
export articles --snippets --format xlsx -o OUT | FACE | LOOK
"""


def packed(lines):
    return zlib.compress("\n".join(lines).encode("utf-8", "surrogatepass"))


def rows_of_snippets():
    """What the table of snippets may be replaced with: (what it is, its rows)."""
    good = packed(["a snippet"] * 64)
    one = {
        "too few": (63, good),
        "too many": (65, good),
        "none": (0, packed([""])),
        "more than are read": (2049, packed([""] * 2049)),
        "huge number": (2**62, good),
        "bomb": (64, zlib.compress(b"x" * 10**8)),
        "bomb of lines": (64, zlib.compress(b"\n" * 10**8)),
        "too long": (1, packed(["x" * 301])),
        "cut": (64, good[:-4]),
        "twice": (64, good * 2),
        "no text": (1, packed(["\ud800"])),
        "no stream": (64, b"text"),
        "text": (64, "text"),
        "null": (64, None),
    }
    for name, (number, data) in one.items():
        yield name, [(1, number, data)]
    for first in (2**62, 2**63 - 1, 0, -5):
        yield f"begins at {first}", [(first, 64, good)]
    yield "overlapping", [(first, 64, good) for first in range(1, 100)]
    signs = ("a\0b", "\x1b]0;own\x07", "a\u202eb", "<script>alert(1)</script>", "a\rb\x85\u2028c")
    signs += ("=1+1", "$\\frac{", "[red][/x]", "e" + "\u0301" * 299, "\U0001f600" * 300, "   ")
    for text in signs:
        yield f"{text:.10}", [(1, 200, packed([text] * 200))]


@pytest.fixture(scope="module")
def with_snippets(tmp_path_factory):
    from wikitopics.cli import run

    folder = tmp_path_factory.mktemp("snippets")
    texts = [
        {"text": f"beginning {n} " + f"aaa aab {'aac aad' * (n % 2)} " * 5} for n in range(100)
    ]
    lines = [json.dumps({**text, "title": f"aaa-{n}"}) for n, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    (folder / "words.txt").write_text("aaa\naab\naac\naad\n")
    given = ["--texts", folder / "texts.jsonl", "--vocab", folder / "words.txt", "--passes", 1]
    models = ["--model", "scvb0:topics=2", "--model", "hdp:topics=4"]
    session = folder / "texts.db"
    command = ["train", "--source", "texts", *given, *models, "--session", session]
    assert run([str(word) for word in command]) == 0
    return session


def test_damage_of_snippets_is_answered_cleanly(cli, with_snippets, home):
    home.mkdir()
    path = home / "default.db"
    chance = random.Random(20)
    commands = [
        command.split()
        for line in SHOWING_SNIPPETS.strip().splitlines()
        for command in line.split(" | ")
    ]
    if REPORT.missing():
        commands = [command for command in commands if command[0] != "report"]
    unclean = []
    for name, rows in rows_of_snippets():
        for command in chance.sample(commands, min(len(commands), CASES // 40)):
            shutil.copy(with_snippets, path)
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute("DELETE FROM snippets")
                db.executemany("INSERT INTO snippets VALUES (?, ?, ?)", rows)
            try:
                check(cli, path, command)
            except Exception as error:  # noqa: BLE001 (they are told all at once)
                unclean.append(f"{name!r}, by {' '.join(command)}: {error!r}")
    assert unclean == []


def test_numbers_of_words_that_are_blobs_are_damage(cli, with_snippets, home, one_line):
    home.mkdir()
    shutil.copy(with_snippets, home / "default.db")
    sql(home / "default.db", "UPDATE articles SET words = CAST(words AS BLOB) WHERE seq = 50")
    one_line(cli("find", "aaa"), 5, "damaged")
    one_line(cli("similar", "aaa-1"), 5, "damaged")


def test_damage_of_added_texts_and_of_seeds_is_answered_cleanly(cli, counted_here, home, tmp_path):
    for name, at in (("a", 0), ("b", 50), ("c", 90)):
        rows = (
            {"text": f"aaa aab aac {'aad aae' * (n % 2)}", "id": f"x{n}"}
            for n in range(at, at + 60)
        )
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "words.txt").write_text("aaa\naab\naac\naad\naae\n")
    (tmp_path / "seeds.txt").write_text("birds: aaa aab")
    given = ["--vocab", tmp_path / "words.txt", "--seeds", tmp_path / "seeds.txt", "--passes", 1]
    model = "--model", "scvb0:topics=3"
    cli.ok("train", "--source", "texts", "--texts", tmp_path / "a.jsonl", *given, *model)
    cli.ok("train", "--session", "default", "--texts", tmp_path / "b.jsonl")
    path = home / "default.db"
    whole = path.read_bytes()
    with contextlib.closing(sqlite3.connect(path)) as db:
        stored = {
            key: json.loads(value) for key, value in db.execute("SELECT key, value FROM settings")
        }
    seeds = [
        ("", "text"),
        *((part, json.dumps(one)) for part, one in changed_json(json.loads(stored["seeds"]))),
    ]
    damages = [("page ids", "UPDATE articles SET page_id = page_id + ?", 2**62)]
    for key, changes in (
        ("source_options", changed_json(stored["source_options"])),
        ("seeds", seeds),
    ):
        statement = f"UPDATE settings SET value = ? WHERE key = '{key}'"
        damages += ((f"{key}{at}", statement, json.dumps(changed)) for at, changed in changes)
    unclean = []
    more = ["train", "--session", "default", "--texts", str(tmp_path / "c.jsonl")]
    chosen = random.Random(20).sample(damages, min(CASES // 8, len(damages)))
    for name, statement, value in [damages[0], *chosen]:
        for command in (["status"], ["export", "proportions"], more):
            path.write_bytes(whole)
            sql(path, statement, value)
            try:
                check(cli, path, command)
            except Exception as error:  # noqa: BLE001 (they are told all at once)
                unclean.append(f"{name}, by {' '.join(command)}: {error!r}")
    assert unclean == []
