"""Texts passed from Python, kept in a private file beside the session while a trainer reads them.

So are the words to count and the seeds. Whoever starts the trainer removes all of them when it has
ended, and so does the trainer, in case that program is gone by then. If both die, `left_behind`
finds the files.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from wikitopics.crawler.texts.files import GIVEN
from wikitopics.session.errors import SessionInUse, os_error_as
from wikitopics.session.paths import beside, is_at
from wikitopics.session.storage.files import make_folder, replacing
from wikitopics.session.system import owner, try_lock

# The endings of their names, besides `GIVEN`, which is that of the texts.
WORDS = ".given.txt"
SEEDS = ".seeds.json"


class InMemoryTexts(NamedTuple):
    """The files of a session."""

    texts: Path
    words: Path
    seeds: Path

    @classmethod
    def of(cls, session: Path) -> "InMemoryTexts":
        """The files beside a session; they need not exist."""
        return cls(
            texts=beside(session, GIVEN),
            words=beside(session, WORDS),
            seeds=beside(session, SEEDS),
        )

    @contextmanager
    def held(self) -> Iterator[int]:
        """A descriptor of the file of texts, which is created if missing. Nobody else writes to the
        file until the descriptor is closed, here and in a trainer that keeps it.

        Raises SessionError, and `SessionInUse` if another process holds the file.
        """
        make_folder(self.texts.parent)
        with os_error_as(f"cannot write {self.texts}"):
            descriptor, _ = try_lock(self.texts)
        if descriptor is None:
            raise SessionInUse(
                "another call of `wikitopics.train` is training this session: name another"
            )
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def write_texts(self, held: int, documents: Iterable[dict[str, str | None]]) -> int:
        """Write the texts to the descriptor that holds their file, one JSON object a line; returns
        their number.

        Raises SessionError, and what ``documents`` raises.
        """
        with os_error_as(f"cannot write {self.texts}"):
            os.ftruncate(held, 0)
            n_texts = 0
            with open(held, "wb", closefd=False) as file:
                for document in documents:
                    file.write(json.dumps(document).encode() + b"\n")
                    n_texts += 1
            return n_texts

    def write(self, file: Path, lines: Iterable[str]) -> str:
        """Write lines to one of the files; returns its name. Raises SessionError."""
        make_folder(file.parent)
        with replacing(file, mode=0o600) as stream:
            stream.write("\n".join(lines).encode() + b"\n")
        return str(file)

    def remove(self, held: int | None = None) -> None:
        """Delete the files, if that is possible: otherwise `left_behind` finds them.

        ``held``: the descriptor of `held`. If the trainer has already deleted its file, files of
        these names may belong to another call, and stay.
        """
        if held is not None and not is_at(self.texts, os.fstat(held)):
            return
        for file in self:
            with suppress(OSError):
                file.unlink()


def left_behind(folder: Path) -> Iterator[Path]:
    """The files in a folder whose trainers were killed with the programs that had started them."""
    for ending in (GIVEN, WORDS, SEEDS):
        for file in sorted(folder.glob(f"*{ending}")):
            if owner(file.with_name(file.name.removesuffix(ending))) is None:
                yield file
