"""Texts that a Python program has in memory: in a private file beside the session while a trainer reads them.

The words to count lie beside it. Whoever starts the trainer removes both when it has ended, and so does the
trainer itself, since the program may be gone by then. If both were killed, `left_behind` finds the files.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from wikitopics.crawler.texts.folders import GIVEN
from wikitopics.session.paths import beside
from wikitopics.session.storage.files import make_folder, replacing
from wikitopics.session.storage.lock import owner

WORDS = ".given.txt"


class Given(NamedTuple):
    """The two files of a session."""

    texts: Path
    words: Path

    @classmethod
    def of(cls, session: Path) -> "Given":
        """Those of the session at this path, whether they exist or not."""
        return cls(beside(session, GIVEN), beside(session, WORDS))

    def write_texts(self, documents: Iterable[dict[str, str | None]]) -> int:
        """Write the texts, one JSON object a line; returns their number.

        Raises SessionError, and what ``documents`` raises.
        """
        make_folder(self.texts.parent)
        with replacing(self.texts, mode=0o600) as file:
            lines = (file.write(json.dumps(document).encode() + b"\n") for document in documents)
            return sum(size > 0 for size in lines)

    def write_words(self, lines: Iterable[str]) -> None:
        """Write the lines of the vocabulary. Raises SessionError."""
        make_folder(self.words.parent)
        with replacing(self.words, mode=0o600) as file:
            file.write("\n".join(lines).encode() + b"\n")

    def remove(self) -> None:
        """Delete both, if that is possible: otherwise `left_behind` finds them."""
        for file in self:
            with suppress(OSError):
                file.unlink()


def left_behind(folder: Path) -> Iterator[Path]:
    """The files in a folder whose trainers were killed with the programs that had started them."""
    for ending in (GIVEN, WORDS):
        for file in sorted(folder.glob(f"*{ending}")):
            if owner(file.with_name(file.name.removesuffix(ending))) is None:
                yield file
