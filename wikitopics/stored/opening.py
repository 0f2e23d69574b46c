"""A session file that is opened for each question, and closed again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wikitopics.session.errors import BadUsage, NoSession
from wikitopics.session.paths import DEFAULT_SESSION
from wikitopics.session.storage.reader import SessionReader
from wikitopics.stored.arguments import path_of


class SessionFile:
    """The file of a session. Every question opens it, reads it as of one moment, and closes it
    again."""

    def __init__(self, session: str | os.PathLike[str] = DEFAULT_SESSION) -> None:
        self.path = path_of(session)
        with reader_of(self.path) as reader:
            reader.settings()  # a damaged file is refused at once
            self._file = reader.file

    @contextmanager
    def _open(self) -> Iterator[SessionReader]:
        with reader_of(self.path) as reader:
            if not os.path.samestat(reader.file, self._file):
                raise NoSession(f"{self.path} was replaced: open it again with wikitopics.open")
            try:
                yield reader
            except BadUsage as error:
                message = str(error).replace("--format ", "format ")  # as the parameter is called
                raise ValueError(message) from None

    @contextmanager
    def _reading(self, model: str | None) -> Iterator[tuple[SessionReader, str]]:
        """Read everything in the block as of one moment, with the model's name; keep it short: the
        file must not be held for long."""
        with self._open() as reader, reader.one_moment():
            yield reader, reader.model_named(model)


def reader_of(path: Path) -> SessionReader:
    with without_advice():
        return SessionReader(path)


@contextmanager
def without_advice() -> Iterator[None]:
    """Shorten the error for a missing session: its advice is for the command line."""
    try:
        yield
    except NoSession as error:
        raise NoSession(error.what) from None
