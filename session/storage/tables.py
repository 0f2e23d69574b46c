"""Reading the tables of a session file: from SQLite rows to records.

Every function raises `Damaged` and sqlite3.Error, and takes no more memory than its result needs.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from wikitopics.session.errors import Damaged
from wikitopics.session.models import ModelSpec
from wikitopics.session.records import ModelStatus
from wikitopics.session.settings import Settings
from wikitopics.session.storage.blobs import unpack_state
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.codec.articles import documents_room
from wikitopics.session.storage.codec.blocks import decode_block
from wikitopics.session.storage.codec.heartbeat import Heartbeat, Wishes, decode_heartbeat, decode_wishes
from wikitopics.session.storage.codec.models import decode_models, not_begun, state_room
from wikitopics.session.storage.codec.progress import Committed, decode_committed
from wikitopics.session.storage.codec.settings import MOST_WORD_BYTES, decode_settings, decode_words
from wikitopics.session.storage.database import SMALL, only_row, read_rows
from wikitopics.session.storage.decoding import whole
from wikitopics.session.storage.word_counts import WordCounts


def read_settings(connection: sqlite3.Connection) -> Settings:
    """The settings with which the session was created."""
    return decode_settings(read_rows(connection, "SELECT key, value FROM settings"))


def read_words(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The vocabulary, by id; none while the session is building it."""
    rows = read_rows(connection, "SELECT fingerprint, words FROM vocabulary", largest=MOST_WORD_BYTES, most=1)
    if not rows:
        if read_settings(connection).building:
            return ()
        raise Damaged("vocabulary has no row")
    return decode_words(*rows[0])


def read_committed(connection: sqlite3.Connection) -> Committed:
    """The progress at the last commit."""
    return decode_committed(_row(connection, "progress"))


def read_wishes(connection: sqlite3.Connection) -> Wishes:
    """The requests to the trainer."""
    return decode_wishes(_row(connection, "control"))


def read_heartbeat(connection: sqlite3.Connection) -> Heartbeat | None:
    """The last heartbeat of a trainer; None if there never was one."""
    row = only_row(connection, "heartbeat")
    return None if row is None else decode_heartbeat(row)


def read_models(connection: sqlite3.Connection, specs: Sequence[ModelSpec]) -> tuple[ModelStatus, ...]:
    """The models at the last commit; ``specs``: those of the settings, in the same order."""
    score = (
        "SELECT value FROM metrics WHERE model = m.id AND metric = 'log_likelihood'"
        " ORDER BY articles DESC LIMIT 1"
    )
    rows = read_rows(
        connection, f"SELECT id, topics_in_use, updates, rho, ({score}) FROM models m ORDER BY id"
    )
    if not rows and read_settings(connection).building:
        return tuple(not_begun(spec) for spec in specs)
    return decode_models(rows, specs)


def read_state(connection: sqlite3.Connection, model: int, topics: int, n_words: int) -> dict[str, Any]:
    """The ``state()`` of a model with this many topics and words, as unpacked and not yet checked."""
    rows = read_rows(
        connection,
        "SELECT scalars, arrays FROM models WHERE id = ?",
        [model],
        largest=state_room(topics, n_words),
    )
    if not rows:
        raise Damaged(f"models has no row {model}")
    return unpack_state(*rows[0])


def read_documents(
    connection: sqlite3.Connection, table: str, settings: Settings, n_words: int
) -> list[tuple[int, Block]]:
    """All rows of `pending` or `held_out`, and their numbers."""
    room = documents_room(settings)
    ((size,),) = read_rows(connection, f"SELECT total(length(documents)) FROM {table}")
    if size > room:
        raise Damaged(f"{table} takes over {room >> 20:,} MB")
    rows = read_rows(connection, f"SELECT id, documents FROM {table} ORDER BY id", largest=room)
    return [
        (whole(number, f"{table}.id"), Block.from_bytes(data, f"{table}.documents", n_words))
        for number, data in rows
    ]


def read_first_articles(connection: sqlite3.Connection, settings: Settings) -> Iterator[Block]:
    """The stretches of the crawl from which the session builds its vocabulary, in order, one at a time."""
    numbers = read_rows(connection, "SELECT id FROM first_articles ORDER BY id")
    for (number,) in numbers:
        (row,) = read_rows(
            connection,
            "SELECT documents, words, skips, unread, position, lap FROM first_articles WHERE id = ?",
            [whole(number, "first_articles.id")],
            largest=documents_room(settings),
        )
        yield decode_block(row)


def read_held_out(connection: sqlite3.Connection, settings: Settings, n_words: int) -> Block:
    """The held-out articles so far."""
    parts = read_documents(connection, "held_out", settings, n_words)
    return Block.concatenate([block for _, block in parts])


def read_word_counts(connection: sqlite3.Connection, n_words: int) -> WordCounts:
    """How often each word was trained on."""
    rows = read_rows(connection, "SELECT arrays FROM word_counts", largest=SMALL + 16 * n_words, most=1)
    if not rows:
        raise Damaged("word_counts has no row")
    progress = read_committed(connection).progress
    return WordCounts.from_bytes(rows[0][0], n_words, progress.articles, progress.tokens)


def _row(connection: sqlite3.Connection, table: str) -> dict[str, Any]:
    row = only_row(connection, table)
    if row is None:
        raise Damaged(f"{table} has no row")
    return row
