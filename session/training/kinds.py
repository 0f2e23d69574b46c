"""The kind of source `--source counts`: documents given as word counts in a file, in its order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.crawler.source import Asked, Identity, SourceKind
from wikitopics.option import Option
from wikitopics.session.errors import BadUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wikitopics.session.storage.counts import KeptCounts
    from wikitopics.session.training.counts_file import CountsFile

COUNTS = Option(
    str,
    "counts",
    "Word counts: an .npz with the arrays indptr, word_ids, counts and n_words (compressed sparse "
    "rows; see docs/texts.md), or a session that kept them.",
    metavar="FILE",
    path=True,
    scope="run",  # the file may move, so its content is compared
    needed=True,
    label="File",
)


class Counts(SourceKind):
    """The arrays of an .npz file, or the counts that another session kept, identified by their
    content."""

    name = "counts"
    label = "Word counts from a file"
    own = True
    options = (COUNTS,)

    def identity(self, asked: Asked) -> Identity:
        return {COUNTS.name: str(Path(asked[COUNTS]).absolute())}

    def fault(self, identity: Identity) -> str:
        return "" if isinstance(identity.get(COUNTS.name), str) else f"{COUNTS.name} is not text"

    def repeatable(self, identity: Identity) -> bool:
        return True

    def words(self, asked: Asked) -> Sequence[str] | None:
        """The words that the session counted."""
        from wikitopics.session.storage.database import is_sqlite
        from wikitopics.session.storage.reader import SessionReader

        path = Path(asked[COUNTS])
        if not is_sqlite(path):
            return None
        with SessionReader(path) as reader:
            return reader.counter().lines

    def open(
        self,
        identity: Identity,
        asked: Asked,
        words: Sequence[str],
    ) -> CountsFile | KeptCounts:
        """The documents, over the vocabulary with these lines.

        Raises `BadUsage`, also if the session was made with other counts.
        """
        from wikitopics.session.storage.counts import KeptCounts
        from wikitopics.session.storage.database import is_sqlite
        from wikitopics.session.training.counts_file import CountsFile
        from wikitopics.vocab import Vocabulary

        path = Path(asked.get(COUNTS) or identity[COUNTS.name])
        file: CountsFile | KeptCounts
        if is_sqlite(path):
            file = KeptCounts(path, words)
        else:
            n_words = len(Vocabulary.from_lines(words, strict=False))
            file = CountsFile(path, n_words, identity)
        if file.identity["checksum"] != identity.get("checksum", file.identity["checksum"]):
            file.close()
            raise BadUsage(f"--counts {path}: not the word counts that the session was made with")
        return file
