"""A session file open for reading, with what every question needs: the settings, the vocabulary,
and the progress of the stream.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, NotRequired, Self, TypedDict

from msgspec import Meta

from wikitopics.option import Option
from wikitopics.session.errors import NO_TOPICS, BadUsage, Damaged, DiskFull, NotNow, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.options import KEPT
from wikitopics.session.paths import SHM, WAL, beside, command, no_session, session_name
from wikitopics.session.records import JSON, PositiveCount, Progress, Scored, Text
from wikitopics.session.settings import BATCH_SIZE, MOST_TOPICS, NAME, ModelSpec, Settings
from wikitopics.session.storage import database
from wikitopics.session.storage.decoding import (
    MOST_WORD_BYTES,
    Rows,
    columns_of,
    convert,
    from_json,
    whole,
)
from wikitopics.session.system import owner
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import FORM, is_printable

# The settings and the vocabulary with which a session was made.
#
# Settings are checked only by their shapes, and nothing is loaded for that: a session can be read
# even if the package of its model or source is no longer installed.

_Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Word = Annotated[str, Meta(max_length=64)]
"""A word instead of a number, such as "learn"."""
_ModelName = Annotated[str, Meta(pattern=rf"^{NAME.pattern}\Z")]
_BatchSize = Annotated[int, Meta(ge=1, le=int(BATCH_SIZE.most))]


class _Stored(TypedDict):
    """The settings other than those of `KEPT`."""

    source: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")]
    source_name: Text
    source_options: dict[str, Any]
    """Only the kind of source knows which are valid."""
    vocabulary: Text
    fingerprint: Text
    rule: Annotated[str, Meta(pattern=rf"^({FORM})\Z")]
    models: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1)]
    batch_sizes: tuple[_BatchSize, ...]
    measured_every: NotRequired[PositiveCount | None]


class _StoredModel(TypedDict):
    """A model, besides its options."""

    kind: _ModelName
    name: _ModelName
    topics: Annotated[int, Meta(ge=1, le=MOST_TOPICS)]
    batch_size: NotRequired[_BatchSize | None]


def decode_settings(rows: Sequence[tuple[Any, ...]]) -> Settings:
    """The settings from the (key, value) rows of `settings`."""
    values = {key: from_json(value, Any, f"settings.{visible(key):.64}") for key, value in rows}
    stored = convert(values, _Stored, "settings")
    models = tuple([_spec(model) for model in stored["models"]])
    names = {spec.name for spec in models}
    sizes = stored["batch_sizes"]
    if len(names) < len(models) or len(sizes) != len(models):
        raise Damaged("settings.models and settings.batch_sizes do not match")
    largest = max(sizes)
    if any(largest % size for size in sizes):
        raise Damaged("settings.batch_sizes do not divide the largest")
    options = {}
    for option in KEPT:
        value = _kept(option, values)
        if value is not None:
            options[option.name] = value
    return Settings(options, **{**stored, "models": models})


def _spec(stored: Mapping[str, Any]) -> ModelSpec:
    """One of the models; only its kind knows the meaning of its options."""
    own = convert(stored, _StoredModel, "settings.models")
    options = {
        name: value for name, value in stored.items() if name not in _StoredModel.__annotations__
    }
    checked = convert(options, dict[Text, _Whole | float | _Word], "settings.models")
    return ModelSpec(**own, options=checked)


def keep_index(path: Path, index: Mapping[str, object]) -> None:
    """Store the pandas type of the ids that a program gave its texts: the index's `dtype` and
    `name`.

    Raises `SessionError`.
    """
    with closing(database.connect(path)) as db, database.session_errors(path):
        db.execute("INSERT OR REPLACE INTO settings VALUES ('index', ?)", [json.dumps(dict(index))])


class StoredIndex(TypedDict):
    """What `keep_index` stores; a name that is neither text nor a number is ignored."""

    name: NotRequired[Any]
    dtype: Text


def _kept(option: Option[Any], values: Mapping[str, object]) -> object:
    """The value of a setting; its default if the session is older than the setting."""
    if option.name not in values and not option.derived:
        return option.default
    try:
        return option.check(values.get(option.name))
    except ValueError as error:
        raise Damaged(f"settings.{option.name} {error}") from None


def decode_words(fingerprint: object, words: object) -> tuple[str, ...]:
    """The words, by id, from the one row of `vocabulary`."""
    joined = convert(words, Annotated[str, Meta(max_length=MOST_WORD_BYTES)], "vocabulary.words")
    if hashlib.sha256(joined.encode()).hexdigest() != fingerprint:
        raise Damaged("vocabulary.words differ from those the session was made with")
    lines = tuple(joined.split("\n"))
    if len(lines) < 2 or len(set(lines)) < len(lines) or not all(map(is_printable, lines)):
        raise Damaged("vocabulary.words are not a vocabulary")
    return lines


class OpenedSession:
    """An existing session, open for reading, whether or not a trainer is writing to it.

    Raises `NoSession` if there is none and `NotASession` for another file; every later call raises
    `SessionError` if the file cannot be read.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection | None = None) -> None:
        self.path = path
        if not os.path.exists(path):
            raise no_session(path)
        self.file = database.check_file(path)
        """Identifies the file, even if another one replaces it at ``path``."""
        self._connection = connection or _connect_to_read(path)
        self._settings: Settings | None = None
        self._words: tuple[str, ...] = ()

    def _rows(self, sql: str, parameters: Sequence[object] = (), **limits: int) -> Rows:
        """All rows of an answer; ``limits``: ``largest`` and ``most``, as of
        `database.read_rows`."""
        with database.session_errors(self.path):
            return database.read_rows(self._connection, sql, parameters, **limits)

    def select(
        self,
        table: str,
        columns: Mapping[str, Any],
        clause: str = "",
        parameters: Sequence[object] = (),
        **limits: int,
    ) -> Rows:
        """These columns of a table, each value checked by the type of its column, as
        `database.select` reads them."""
        with database.session_errors(self.path):
            return database.select(
                self._connection,
                table,
                columns,
                clause,
                parameters,
                **limits,
            )

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """Read everything in the block from one commit, whatever a trainer saves meanwhile.

        A trainer's write-ahead log grows as long as the block lasts, so keep the block short.
        """
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    def version(self) -> int:
        """A number that changes whenever anything is committed."""
        return int(self._rows("PRAGMA data_version")[0][0])

    def _format(self) -> int:
        """The version of the file's format, read each time: a trainer may upgrade the file
        meanwhile."""
        return int(self._rows("PRAGMA user_version")[0][0])

    def _is_of_1_0(self) -> bool:
        """Whether this is still a file of 1.0.0."""
        return self._format() == database.FIRST_RELEASED

    def settings(self) -> Settings:
        """The settings with which the session was created. The fingerprint comes with the
        vocabulary."""
        if self._settings is None or self._settings.building:
            self._settings = decode_settings(self.select("settings", {"key": Text, "value": Any}))
        return self._settings

    def index(self) -> tuple[str | int | None, str] | None:
        """(the name, the dtype) of the ids that a Python program gave its texts; None if they are
        texts."""
        rows = self._rows("SELECT value FROM settings WHERE key = 'index'")
        if not rows:
            return None
        index = from_json(rows[0][0], StoredIndex, "settings.index")
        name = index.get("name")
        if not isinstance(name, str | int):
            name = None
        return name, index["dtype"]

    def models(self) -> list[str]:
        """The models' names, in order."""
        return [spec.name for spec in self.settings().models]

    def spec(self, name: str) -> ModelSpec:
        """The specification of the model of this name."""
        return self.settings().models[self._number(name)]

    def model_named(self, name: str | None) -> str:
        """The requested model; None: the first one. Raises `BadUsage`."""
        names = self.models()
        if name is None:
            return names[0]
        if name not in names:
            raise BadUsage(f"there is no model {name!r}: this session has {', '.join(names)}")
        return name

    def check_topic(self, model: str, topic: int) -> None:
        """Raise `BadUsage` if the model has no topic of this number."""
        topics = self.spec(model).topics
        if not 0 <= topic < topics:
            raise BadUsage(f"model {model} has topics 0 to {topics - 1:,}, not {topic:,}")

    def check_trained(self) -> None:
        """Raise `SessionError` if no model has been trained on an article yet."""
        if not self.progress().articles:
            raise SessionError(NO_TOPICS)

    def _number(self, name: str) -> int:
        return self.models().index(self.model_named(name))

    def _spec_in(self, table: str, model: object, **topics: int | None) -> ModelSpec:
        """The model of this number, named in a row of this table; ``topics``: the row's topics, by
        column.

        Raises `Damaged` if the session has no such model, or the model no such topic.
        """
        models = self.settings().models
        spec = models[whole(model, f"{table}.model", 0, len(models) - 1)]
        for column, topic in topics.items():
            if topic is not None:
                whole(topic, f"{table}.{column}", high=spec.topics - 1)
        return spec

    def vocabulary(self) -> tuple[str, ...]:
        """The words, by id; none while the session is building its vocabulary."""
        if not self._words:
            rows = self._rows(
                "SELECT fingerprint, words FROM vocabulary", largest=MOST_WORD_BYTES, most=1
            )
            if rows:
                self._words = decode_words(*rows[0])
            elif not self.settings().building:
                raise Damaged("vocabulary has no row")
        return self._words

    def counter(self) -> Vocabulary:
        """The vocabulary, which finds and counts these words in a text."""
        self._check_built()
        return Vocabulary(self.vocabulary(), self.settings().rule, strict=False)

    def _check_built(self) -> None:
        if self.settings().building:
            raise SessionError(
                f"{session_name(self.path)} is still building its vocabulary, and has no topics "
                f"yet; `{command('status', self.path)}` shows its progress"
            )

    def progress(self) -> Progress:
        """The progress at the last commit."""
        columns = {
            **columns_of(Progress),
            "prequential": Annotated[tuple[Scored, ...] | None, JSON],
        }
        if self._is_of_1_0():
            del columns["again"]
        if self._format() < database.WITH_MAP:
            del columns["stale"]
        with database.session_errors(self.path):
            row = database.only_row(self._connection, "progress", columns)
        progress = Progress(**{**row, "prequential": row["prequential"] or ()})
        if progress.again and not 0 < progress.again < progress.articles:
            raise Damaged("progress.again is out of range")
        if sum(progress.skips.values()) != progress.skipped:
            raise Damaged("progress.skips and progress.skipped do not match")
        return progress

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._connection.close()

    def leave(self) -> None:
        """Close, and if no trainer is left, fold in the write-ahead log, so that the session is one
        file."""
        self._connection.close()
        if owner(self.path) is None:
            database.fold_log(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


OPEN_SECONDS = 5.0
"""Seconds that opening waits for another process to release the file."""
QUIET_SECONDS = 15.0
"""A trainer writes to the log far more often than this."""


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that only reads, also where the -shm file cannot be made. Raises
    `SessionError`."""
    # Looked for before the file is opened, since that may make both the log and the -shm file.
    has_shm = beside(path, SHM).exists()
    log_size, log_written = _size_and_time(beside(path, WAL))
    try:
        return database.open_connection(path, "mode=ro", OPEN_SECONDS)
    except SessionError as error:
        has_log = log_written > 0  # without one, nobody can be writing
        is_busy = has_log and isinstance(error, NotNow) and not isinstance(error, DiskFull)
        # What was written just now may come from a trainer on another machine.
        is_recent = time.time() - log_written < QUIET_SECONDS
        if is_busy or (log_size and has_shm and is_recent):
            raise
    # A reader without write permission needs the -shm file that only a writer makes; a full disk
    # has no room for one, and on some file systems nobody can use one. Nobody writes now, so the
    # log can be read without the -shm file, or, if the log is empty, the session file as it is.
    how = database.WITHOUT_LOCKS if log_size else "mode=ro&immutable=1"
    return database.open_connection(path, how, OPEN_SECONDS)


def _size_and_time(path: Path) -> tuple[int, float]:
    """The bytes of a file and when it was written to; zeros if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0.0
    return status.st_size, status.st_mtime
