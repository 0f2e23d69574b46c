"""Whether an existing session fits the arguments of `train`, and whether anything is left to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.texts.documents import TextFiles
from wikitopics.crawler.texts.kinds import BEFORE, LINES, TEXTS
from wikitopics.session.errors import BadUsage, NoSession, SessionError
from wikitopics.session.options import SOURCE
from wikitopics.session.paths import session_name
from wikitopics.session.request import TrainRequest, check_resumable
from wikitopics.session.storage.opened import keep_index
from wikitopics.session.storage.reader import SessionReader
from wikitopics.stored.given import Given
from wikitopics.vocab import Vocabulary

if TYPE_CHECKING:
    from wikitopics.crawler.texts.parquet import ParquetRows


def counter_of_tokens(path: Path, given: Given) -> Vocabulary | None:
    """The vocabulary of the session at ``path`` if that counts tokens; None if it does not, or if
    there is no session. Raises `SessionError` for tokens or counts in a session that counts the
    words of texts."""
    try:
        with SessionReader(path) as reader:
            if reader.settings().building:
                return None
            counter = reader.counter()
    except NoSession:
        return None
    if counter.rule.tokens:
        return counter
    if given.kind != "texts":
        raise SessionError(
            f"session {session_name(path)} counts the words of texts, not {given.kind}: give texts "
            "or another session, or replace=True to start over"
        )
    return None


def is_finished(
    path: Path,
    request: TrainRequest,
    vocabulary: Vocabulary | None,
    add: bool,
    rows: ParquetRows | None = None,
) -> bool:
    """Whether nothing is left to do. ``rows``: the texts, if they are in Parquet files.

    Raises `SessionError` for a session with other options, or with other texts unless these can be
    added.
    """
    with SessionReader(path) as reader:
        settings = reader.settings()
        position = reader.progress().position
        has_finished = reader.status().state == "finished"
        counted = None if vocabulary is None else reader.counter()  # the session's vocabulary
        holdings = reader.holdings()
    may_be_added_to = has_finished and settings.source == request[SOURCE]
    adds = add and may_be_added_to
    start_over = ", or replace=True to start over"
    other_texts = (
        f"session {session_name(path)} was made from other texts ({holdings}): pass those again, "
        f"or another session{start_over}"
    )
    if may_be_added_to:
        other_texts += "; add=True adds these"
    paths = list(request[TEXTS])
    is_the_same = settings.source_options.get(TEXTS.name) == paths
    if position is None and BEFORE in settings.source_options:
        # The session has been told of more texts, and has read none. Up to 1.2.0, it does not know
        # yet what they are: a call that adds texts is taken for the one that told it.
        is_the_same = is_the_same and add
    if not is_the_same and not adds:
        raise SessionError(other_texts)
    try:
        check_resumable(request, settings, adds=adds)
    except BadUsage as error:  # the arguments are right, but not those of this session
        raise SessionError(f"{error}{start_over}") from None
    if position and is_the_same and rows is not None:
        is_the_same = position.get("footers") == rows.fingerprint
        if not is_the_same:
            raise SessionError(other_texts)
    elif position and is_the_same:
        try:
            texts = TextFiles(paths, lines=settings.source_options.get(LINES.name))
            texts.mark(position)  # raises if the file holds other texts than the session has read
        except BadSource:
            if not adds:
                raise SessionError(other_texts) from None
            is_the_same = False
    if vocabulary != counted:
        raise SessionError(
            "vocabulary: this session counts other words; to resume it, leave out vocabulary and "
            f"the arguments that choose its words, or give another session{start_over}"
        )
    return has_finished and is_the_same


def are_numbered(path: Path) -> bool:
    """Whether the session calls texts by their numbers although they have ids, as an earlier
    version did: such a session can be resumed only with the same titles."""
    with SessionReader(path) as reader:
        for article in reader.recent_articles():
            has_other_title = article.id and article.id != article.title
            if has_other_title and re.fullmatch(r"text \d+", article.title):
                return True
    return False


def skips_so_far(path: Path) -> Mapping[str, int]:
    """How many texts the session has skipped, by reason."""
    with SessionReader(path) as reader:
        return reader.progress().skips


def store_index(path: Path, index: Mapping[str, object] | None) -> None:
    """Store an index in the session unless it is there already."""
    if index is None:
        return
    with SessionReader(path) as reader:
        is_there = reader.index() == (index["name"], index["dtype"])
    if not is_there:
        keep_index(path, index)
