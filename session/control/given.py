"""Texts that a Python program has in memory: in a private file beside the session while a trainer reads them.

The words to count lie beside it. Whoever starts the trainer removes both when it has ended, and so does the
trainer itself, since the program may be gone by then. If both were killed, `left_behind` finds the files.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from wikitopics.crawler.texts.folders import GIVEN
from wikitopics.session.errors import SessionError, SessionInUse
from wikitopics.session.paths import beside, is_at
from wikitopics.session.storage.files import make_folder, replacing
from wikitopics.session.storage.lock import owner, try_lock

WORDS = ".given.txt"


class Given(NamedTuple):
    """The two files of a session."""

    texts: Path
    words: Path

    @classmethod
    def of(cls, session: Path) -> "Given":
        """Those of the session at this path, whether they exist or not."""
        return cls(beside(session, GIVEN), beside(session, WORDS))

    @contextmanager
    def held(self) -> Iterator[int]:
        """A descriptor of the file of texts, which is created if missing: nobody else writes to it until
        this is closed, here and in a trainer that keeps it.

        Raises SessionError, and `SessionInUse` if another one holds it.
        """
        make_folder(self.texts.parent)
        try:
            descriptor, _ = try_lock(self.texts)
        except OSError as error:
            raise SessionError(f"cannot write {self.texts}: {error.strerror}") from None
        if descriptor is None:
            raise SessionInUse("another call of `wikitopics.train` is training this session: give another")
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def write_texts(self, held: int, documents: Iterable[dict[str, str | None]]) -> int:
        """Write the texts to the descriptor that holds their file, one JSON object a line; returns their
        number.

        Raises SessionError, and what ``documents`` raises.
        """
        try:
            os.ftruncate(held, 0)
            with open(held, "wb", closefd=False) as file:
                lines = (file.write(json.dumps(document).encode() + b"\n") for document in documents)
                return sum(size > 0 for size in lines)
        except OSError as error:
            raise SessionError(f"cannot write {self.texts}: {error.strerror}") from None

    def write_words(self, lines: Iterable[str]) -> None:
        """Write the lines of the vocabulary. Raises SessionError."""
        make_folder(self.words.parent)
        with replacing(self.words, mode=0o600) as file:
            file.write("\n".join(lines).encode() + b"\n")

    def remove(self, held: int | None = None) -> None:
        """Delete both, if that is possible: otherwise `left_behind` finds them.

        ``held``: the descriptor of `held`. Once the trainer has deleted that file, another call may have made
        files of its own, which stay.
        """
        if held is not None and not is_at(self.texts, os.fstat(held)):
            return
        for file in self:
            with suppress(OSError):
                file.unlink()


def left_behind(folder: Path) -> Iterator[Path]:
    """The files in a folder whose trainers were killed with the programs that had started them."""
    for ending in (GIVEN, WORDS):
        for file in sorted(folder.glob(f"*{ending}")):
            if owner(file.with_name(file.name.removesuffix(ending))) is None:
                yield file
