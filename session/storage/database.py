"""The session's SQLite file: its tables, opening it, and turning its errors into one line for
people.

One SQLite file is one session. A file is a session if its tables, as SQLite itself reports them,
are those of a schema in `sql/` and hold nothing that SQLite would compute: no view, trigger,
virtual table, generated column, default or condition. Only the indexes of `order_by_topic` are
computed, by SQL that is known word by word. Whoever changes a table raises `VERSION`, and adds the
schema and the upgrade from the previous one to `sql/`.
"""

import contextlib
import errno
import os
import re
import sqlite3
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from importlib.abc import MetaPathFinder
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from wikitopics.session.errors import BadUsage, Damaged, DiskFull, NotASession, NotNow, SessionError
from wikitopics.session.file_systems import is_read_only, lack_of, unfit
from wikitopics.session.paths import BESIDE, LOCK
from wikitopics.session.records import Role
from wikitopics.session.storage.decoding import Rows, Types, convert_rows

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x77746F70
"""'wtop' in the SQLite header, which distinguishes a session from any other SQLite file."""

ROLES: tuple[Role, ...] = ("trained", "held_out", "skipped")
"""A role is stored as its index here."""
IS_TRAINED = f"role = {ROLES.index('trained')}"
IS_HELD_OUT = f"role = {ROLES.index('held_out')}"
IS_NOT_SKIPPED = f"role <> {ROLES.index('skipped')}"
"""SQL conditions on an article."""

VERSION = 11
"""The number of this format, in `PRAGMA user_version`, so that other versions can refuse the
file."""
FIRST_RELEASED = 8
"""The format of 1.0.0."""
RELEASED = {FIRST_RELEASED: "1.0.0", 9: "1.1.0", 10: "1.2.0"}
"""Earlier formats, with the version that wrote each. A file is read as it is, and converted to this
format when training continues."""
WITH_AREAS = 10
"""The first format with areas."""
WITH_REFERENCE = 11
"""The first format with reference articles, and with the words that are shown of topics."""
WITH_MAP = 11
"""The first format with places of articles."""
WITH_SNIPPETS = 11
"""The first format with snippets."""

WITH_SECTIONS = 11
"""The first format in which the order of articles by topic has sections."""
SECTION_BITS = 16
"""A section has 65,536 articles."""

_ORDER = "by_topic_of_model_"
"""How the names of the indexes of `order_by_topic` begin."""

_OTHERS = frozenset({"_sqlite_migrations", "sqlite_stat1", "sqlite_stat3", "sqlite_stat4"})
"""Tables that nothing here reads: those of sqlite-utils, which made sessions in 1.0.0, and of
ANALYZE."""


def largest_topic(model: int) -> str:
    """SQL for the largest topic of an article in a model, and its proportion: four bytes of
    `articles.topics`, which holds four bytes for each model."""
    first_byte = 4 * model + 1  # SQL counts bytes from 1
    return f"substr(topics, {first_byte}, 4)"


def section(seq: str) -> str:
    """SQL for the section of the index that an article is in, by its number: so all that a commit
    adds to the index is in a few of its pages, however many articles there are."""
    return f"{seq} >> {SECTION_BITS}"


def order_by_topic(model: int, version: int = VERSION) -> str:
    """SQL to create the index by which the articles most about a topic are found, in a session of
    this format."""
    columns = largest_topic(model)
    if version >= WITH_SECTIONS:
        columns = f"{section('seq')}, {columns}"
    return f"CREATE INDEX {name_of_order(model)} ON articles ({columns})"


def name_of_order(model: int) -> str:
    """The name of that index."""
    return f"{_ORDER}{model}"


@cache
def script(name: str) -> str:
    """One of the files in `sql/`: the schema of a format, the upgrade to the next one, or a query
    about the tables of a file."""
    return Path(__file__).with_name("sql").joinpath(f"{name}.sql").read_text("utf-8")


@cache
def schema(version: int = VERSION) -> frozenset[tuple[Any, ...]]:
    """(table, place, name, type, not null, place in the key) of each column of a session of this
    format."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(script(f"schema-{version}"))
        return frozenset(fresh.execute(script("columns")))


def check_tables(read: Callable[[str], Iterable[tuple[Any, ...]]], version: int) -> None:
    """Check that a file has the tables of a session, and besides at most plain indexes that a user
    added.

    ``read``: returns the rows of a query. Raises `Damaged`.
    """
    columns = schema(version)
    known_tables = {table for table, *_ in columns} | _OTHERS
    computed_indexes = set()
    # The SQL of each table and index is checked before anything is asked about its columns: asked
    # about its columns, a virtual table would run its module's code.
    for kind, name, sql in read("SELECT type, name, sql FROM sqlite_master"):
        if kind == "table":
            is_known = name in known_tables and _is_plain(sql, "CREATE TABLE ")
        elif kind == "index":
            # SQLite's own indexes, such as those of primary keys, have no SQL.
            is_known = sql is None or _is_plain(sql, "CREATE INDEX ", "CREATE UNIQUE ")
        else:
            is_known = False
        if not is_known:
            raise _strange(name)
        # An index that computes its values is accepted only if its name ends in a model's number,
        # and its SQL is the one that `order_by_topic` makes for this model.
        model = str(name).removeprefix(_ORDER)
        is_number = model.isdecimal() and len(model) < 4
        if is_number and sql == order_by_topic(int(model), version):
            computed_indexes.add(name)
    differing = columns.symmetric_difference(read(script("columns")))
    for table, *_ in differing:
        if table not in _OTHERS:
            raise _strange(table)
    for (name,) in read(script("more-than-columns")):
        if name not in computed_indexes:
            raise _strange(name)


def _is_plain(sql: object, *beginnings: str) -> bool:
    """Whether the SQL of a table or an index begins as SQLite itself writes it, and has no CHECK,
    which no pragma reports."""
    return isinstance(sql, str) and sql.startswith(beginnings) and "check" not in sql.lower()


def _strange(name: object) -> Damaged:
    return Damaged(
        f"{name!r:.80} does not belong in a session, which has only its own plain tables"
    )


SQLITE_HEADER = b"SQLite format 3\0"
BUSY_SECONDS = 4.0
"""Seconds that a write waits for another program's, short enough for a trainer to stop within
seconds."""
SMALL = 2**20
"""The most bytes of a value, unless a reader expects more."""
MOST_ROWS = 100_000
"""The most rows of an answer, unless a reader expects more."""

_MOST_BYTES = 2**31 - 1
"""As a limit, SQLite takes this for the maximum with which it was compiled."""
_DAMAGE = re.compile(
    "malformed|no such (table|column|collation)|values were supplied|already exists|constraint "
    "failed|datatype mismatch|integer overflow|too big|UTF-8|cannot hold BLOB"
)
"""Parts of SQLite's messages about a file that was damaged or changed by hand."""


def connect(path: Path) -> Connection:
    """A writing connection to an existing session; refuses files that are not sessions."""
    check_file(path)
    connection = open_connection(path, "mode=rw", BUSY_SECONDS)
    with closed_on_error(connection), session_errors(path):
        # NORMAL with a write-ahead log: after a power cut the newest commits may be missing, but
        # the file is a complete earlier state, from which the same stream is trained again
        # identically.
        connection.execute("PRAGMA synchronous = NORMAL")
        (journal_mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if journal_mode != "wal":  # as in a copy made by a backup
            connection.execute("PRAGMA journal_mode = WAL")
    return connection


class _WithoutPandas(MetaPathFinder):
    """For imports in the thread that makes it: as if pandas were not installed."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, *_: object) -> None:
        """Refuse pandas to this thread; None: other finders are asked next."""
        if fullname == "pandas" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def database(connection: Connection) -> "Database":
    """The connection wrapped by sqlite-utils, for writing rows; only a trainer needs this.

    Without its plugins, which no session uses: looking for them takes a tenth of a second. If
    pandas is installed, sqlite-utils imports it to support one more type of column, which no
    session has. That would add a third of a second to the start of every trainer.
    """
    if "sqlite_utils" in sys.modules:
        from sqlite_utils import Database

        return Database(connection, execute_plugins=False)
    without_pandas = _WithoutPandas()
    # A new list each time: another thread may be going through the present one.
    sys.meta_path = [without_pandas, *sys.meta_path]
    try:
        from sqlite_utils import Database
    finally:
        sys.meta_path = [finder for finder in sys.meta_path if finder is not without_pandas]
    return Database(connection, execute_plugins=False)


WITHOUT_LOCKS = "mode=ro&vfs=unix-none"
"""Parameters by which SQLite reads a write-ahead log without locks and without a -shm file, which
is only for a session that nobody can be writing to."""


def open_connection(path: Path, how: str, timeout: float) -> Connection:
    """A connection to a session after `check_session`; ``how``: parameters of SQLite's URI. Raises
    `SessionError`, for example if the file has just been deleted."""
    with session_errors(path):
        uri = f"{path.absolute().as_uri()}?{how}"
        connection = sqlite3.connect(
            uri,
            uri=True,
            timeout=timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        with closed_on_error(connection):
            if how == WITHOUT_LOCKS:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            check_session(connection, path)
    return connection


@contextlib.contextmanager
def closed_on_error(opened: Any) -> Iterator[None]:
    """Close ``opened`` if the block fails, since nobody else will."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


@contextlib.contextmanager
def writing(connection: Connection, path: Path) -> Iterator[None]:
    """A transaction that may write from its first statement on. Raises `SessionError` about
    ``path``.

    A transaction that begins by reading (as sqlite-utils does, to list the tables) fails at once if
    another program writes in between, whatever its timeout, because what it has read is outdated.
    """
    with session_errors(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise


def as_session_error(error: sqlite3.Error, path: Path) -> SessionError:
    """An SQLite error as one line for people."""
    text = str(error)
    if "not a database" in text:
        return NotASession(f"{path} is damaged or not a session: not an SQLite file")
    if _DAMAGE.search(text):
        is_plain = text.isascii() and text.isprintable()
        return Damaged(text if is_plain else "text that is not UTF-8")
    if "disk is full" in text:
        return DiskFull(f"the disk is full: {path}")
    folder = Path(os.path.realpath(path)).parent
    refused = "unable to open" in text
    is_readonly = "readonly" in text
    is_locked = "locked" in text
    is_io_error = "I/O error" in text
    # SQLite's words do not tell the cause, so the causes are looked for, the surest one first.
    if is_read_only(folder) and (refused or is_readonly or is_io_error):
        return SessionError(f"{path} cannot be written: read-only file system")
    if is_readonly or (refused and not os.access(folder, os.W_OK)):
        return SessionError(f"{path} cannot be written: it or its folder is read-only")
    if refused or is_locked or is_io_error:
        # The file system may be full, or lack something that a session needs.
        try:
            lack = lack_of(folder)
        except OSError as reason:
            if reason.errno in (errno.ENOSPC, errno.EDQUOT):
                return DiskFull(f"the disk is full: {path}")
            lack = ""
        if lack:
            return unfit(path, lack)
    if is_locked:
        return NotNow(f"{path} is locked: another program is writing to it")
    if is_io_error:
        return NotNow(f"the disk of {path} fails: {text}")
    return SessionError(f"{path}: {text}")


@contextlib.contextmanager
def session_errors(path: Path) -> Iterator[None]:
    """Turn SQLite errors in the block into one line for people."""
    try:
        yield
    except sqlite3.Error as error:
        raise as_session_error(error, path) from None
    except UnicodeDecodeError:  # SQLite's message names a damaged table as the file does
        raise Damaged("text that is not UTF-8") from None


def check_session(connection: Connection, path: Path) -> None:
    """Check that this is a session that can be read, with plain tables only, so that nothing in it
    runs.

    Raises `NotASession` for another program's file and another format, `Damaged` for anything in it
    that could run for ever or take all memory.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cache_size = -2000")  # in kB; the file could ask for any size
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise NotASession(f"{path} is not a wikitopics session")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise NotASession(
            f"{path} was written by a newer wikitopics (format {version}; this one knows "
            f"{VERSION}): upgrade"
        )
    if version not in (*RELEASED, VERSION):
        raise NotASession(
            f"{path} was made by a version before 1.0.0, which this one cannot read: `train "
            "--session NAME` starts another session"
        )
    check_tables(partial(read_rows, connection), version)


def read_rows(
    db: Connection,
    sql: str,
    values: Sequence[object] = (),
    *,
    largest: int = SMALL,
    most: int = MOST_ROWS,
) -> Rows:
    """All rows of an answer. Values leave a session file only through this function.

    Raises `Damaged` if there are over ``most``, and sqlite3.DataError if a value takes over
    ``largest`` bytes, before it is loaded.
    """
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(largest, _MOST_BYTES))
    try:
        with closing(db.execute(sql, values)) as cursor:
            rows = cursor.fetchmany(most + 1)
    finally:
        # The limit is set to the usual one, not to what it was before: that may have been the limit
        # of abandoned work that is still reading in another thread.
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    if len(rows) > most:
        raise Damaged(f"it holds over {most:,} rows instead of a few")
    return rows


def select(
    db: Connection,
    table: str,
    columns: Types,
    clause: str = "",
    values: Sequence[object] = (),
    *,
    largest: int = SMALL,
    most: int = MOST_ROWS,
) -> Rows:
    """These columns of a table, each value checked by the type of its column.

    ``table``: its name, or a query in parentheses with a name behind it; ``clause``: what follows
    that in SQL, with placeholders for ``values``. ``largest`` and ``most`` are those of
    `read_rows`, which says what is raised.
    """
    sql = f"SELECT {', '.join(columns)} FROM {table} {clause}"
    rows = read_rows(db, sql, values, largest=largest, most=most)
    name = table.split()[-1]
    return convert_rows(rows, name, columns)


def only_row(db: Connection, table: str, columns: Types) -> dict[str, Any]:
    """These columns of the only row of a table, by name. Raises `Damaged` if there is no row."""
    rows = select(db, table, columns, "WHERE id = 1")
    if not rows:
        raise Damaged(f"{table} has no row")
    return dict(zip(columns, rows[0], strict=True))


def check_file(path: Path) -> os.stat_result:
    """Identify the file. Raises `NotASession` for anything but a regular file, and `SessionError`
    if it is not readable.

    Never opens it: closing a descriptor of a database drops every lock that this process holds on
    it. SQLite in another process would then take the write-ahead log for abandoned and delete it.
    """
    if os.path.isdir(path):  # Path.is_dir raises for a folder that is not readable
        raise NotASession(f"{path} is a folder, not a session")
    try:
        status = path.stat()
    except OSError as error:
        raise SessionError(f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise NotASession(f"{path} is a pipe or a device, not a session")
    if not status.st_size:  # as files in /proc seem to be, which SQLite cannot even open
        raise NotASession(f"{path} is empty, not a wikitopics session")
    if not os.access(path, os.R_OK):
        raise SessionError(f"{path}: Permission denied")
    return status


def fold_log(path: Path) -> None:
    """Checkpoint the write-ahead log, if possible.

    The last reader of a session whose trainer was killed calls this, so that the session is one
    file.
    """
    _pragma(path, "wal_checkpoint(TRUNCATE)", "mode=rw")


def remove_database(path: Path) -> None:
    """Delete an SQLite file that is not open anywhere, and the files that SQLite may have left
    beside it."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
    remove_log(path)


def remove_log(path: Path) -> None:
    """Delete the files that SQLite left beside a file which is gone: it would read what they hold
    into the next file of that name."""
    for ending in BESIDE:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.with_name(path.name + ending).unlink()


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk, so that a power cut cannot undo it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems do not sync folders
            raise
    finally:
        os.close(descriptor)


def is_sqlite(path: Path) -> bool:
    """Whether the file begins like an SQLite file; False if it cannot be read."""
    # A pipe is no file: opening one would wait for its other end.
    if not os.path.isfile(path) or not os.path.getsize(path):
        return False
    # SQLite itself reads the file (see `check_file`), since this process may have it open.
    if _pragma(path, "schema_version", "mode=ro&immutable=1") is not None:
        return True
    # A damaged database is one, too, though SQLite cannot read it.
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    return False


def _pragma(path: Path, name: str, how: str) -> object:
    """The value of a pragma, or the first of several; None if SQLite cannot open the file."""
    uri = f"{path.absolute().as_uri()}?{how}"
    with (
        contextlib.suppress(sqlite3.Error, OSError),  # OSError: a screen in a browser may not write
        closing(sqlite3.connect(uri, timeout=1.0, uri=True)) as connection,
    ):
        row = connection.execute(f"PRAGMA {name}").fetchone()
        return row[0]
    return None


def is_ours(path: Path) -> bool:
    """Whether the file is marked as a session, of any version, even if nothing else can be read."""
    # As in `is_sqlite`, SQLite reads the file and changes nothing. The write-ahead log is read
    # only if the file alone does not tell: with the log, SQLite writes a -shm file, which would
    # stay behind if another process deletes the session.
    if not os.path.isfile(path):
        return False
    without_log = _pragma(path, "application_id", "mode=ro&immutable=1")
    if without_log == APPLICATION_ID:
        return True
    return _pragma(path, "application_id", "mode=ro") == APPLICATION_ID


def released(path: Path) -> str:
    """The version whose earlier format a session has; "" if it has the current format."""
    version = _pragma(path, "user_version", "mode=ro")
    return RELEASED.get(version, "") if isinstance(version, int) else ""


def keep_sessions(target: Path) -> None:
    """Refuse to overwrite ``target`` if it is, or belongs to, a session or another database.

    Raises `BadUsage`.
    """
    if is_sqlite(target):
        raise BadUsage(f"{target} holds a session or another database: name another file")
    for ending in (*BESIDE, LOCK):
        if not target.name.lower().endswith(ending):
            continue
        owner = target.parent / target.name[: -len(ending)]
        if is_sqlite(owner):
            raise BadUsage(f"{target} belongs to the session {owner}: name another file")
