"""Word counts that another session kept (`train --keep-counts`): crawl once, train again."""

import hashlib
import sqlite3
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

from session.database import as_session_error
from session.documents import Documents
from session.errors import BadUsage
from session.reader import SessionReader


class KeptCounts:
    """The documents of the session at ``path`` in the order of its stream, held-out articles first.

    Read a block at a time, so that memory does not grow with their number. Raises :class:`BadUsage` where
    that session kept none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with SessionReader(path) as reader:
            self.words = reader.vocabulary()
            settings = reader.settings()
        if not settings.get("keep_counts"):
            raise BadUsage(
                f"the session {path} kept no counts: it needs `train --keep-counts` from its start"
            )
        self._fingerprint = str(settings["fingerprint"])
        self._connection = sqlite3.connect(
            path.absolute().as_uri() + "?mode=ro", uri=True, timeout=10.0, check_same_thread=False
        )
        try:
            rows = self._connection.execute("SELECT id, articles FROM kept_counts ORDER BY id").fetchall()
        except sqlite3.Error as error:
            raise as_session_error(error, path) from None
        self._ids = [row[0] for row in rows]
        self._starts = list(accumulate((row[1] for row in rows), initial=0))
        self._block: tuple[int, Documents] | None = None

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def identity(self) -> dict[str, str]:
        """Names the stream; the same however far that session has come since."""
        first = self._read(0).to_bytes() if self._ids else b""
        return {"checksum": hashlib.blake2b(self._fingerprint.encode() + first, digest_size=16).hexdigest()}

    def documents(self, start: int, stop: int) -> Documents:
        """Documents ``start`` to ``stop`` (fewer at the end)."""
        parts = []
        stop = min(stop, len(self))
        while start < stop:
            number = bisect_right(self._starts, start) - 1
            low = self._starts[number]
            part = self._read(number)[start - low : stop - low]
            parts.append(part)
            start += len(part)
        return Documents.concatenate(parts)

    def _read(self, number: int) -> Documents:
        if self._block is None or self._block[0] != number:
            (data,) = self._connection.execute(
                "SELECT documents FROM kept_counts WHERE id = ?", [self._ids[number]]
            ).fetchone()
            self._block = number, Documents.from_bytes(data)
        return self._block[1]

    def close(self) -> None:
        """Safe to call twice."""
        self._connection.close()
