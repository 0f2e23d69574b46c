"""The beginnings of the user's own documents: the table `snippets`."""

import zlib
from collections.abc import Collection, Sequence
from typing import Any

from wikitopics.crawler.markup.prose import without_invisible
from wikitopics.model.threads import Threads
from wikitopics.session.errors import Damaged
from wikitopics.session.records import PositiveCount
from wikitopics.session.storage.block import Block, check_snippets
from wikitopics.session.storage.database import SMALL, WITH_SNIPPETS
from wikitopics.session.storage.opened import OpenedSession
from wikitopics.session.wording import LONGEST_SNIPPET

_BYTES = 4 * LONGEST_SNIPPET + 1
"""The most bytes of a snippet and the end of its line."""
_ROW = {"first_seq": PositiveCount, "articles": PositiveCount, "data": Any}
_AT_ONCE = 64
"""The articles of a row. A list of documents from all over a session unpacks a row for each: those
of 1,024 articles took six times as long, and saved a sixteenth of the space."""
_MOST = 2048
"""The most articles of a row that is read."""
_GAPS = _AT_ONCE
"""Rows are read one after another if at least one in so many of their articles is asked for: one of
each row."""
_QUICK = 1
"""The level of compression: higher ones take several times as long, and save a tenth."""


def snippet_of(text: str) -> str:
    """What is kept of a text: its first characters, without invisible ones, each white space as one
    space."""
    text = text.lstrip()
    # Most texts have few white spaces together: less of these has to be split.
    for most in (LONGEST_SNIPPET + LONGEST_SNIPPET // 4, 4 * LONGEST_SNIPPET):
        beginning = " ".join(without_invisible(text[:most]).split())
        if len(beginning) >= LONGEST_SNIPPET:
            break
    return beginning[:LONGEST_SNIPPET].rstrip()


def snippet_rows(block: Block, first_seq: int, threads: Threads) -> list[dict[str, object]]:
    """The rows with those of articles with the numbers from ``first_seq`` on; none if none are
    kept."""
    snippets = block.snippets
    if snippets is None:
        return []

    def row(start: int, stop: int) -> dict[str, object]:
        lines = "\n".join(snippets[start:stop]).encode("utf-8", "replace")
        packed = zlib.compress(lines, _QUICK)
        return {"first_seq": first_seq + start, "articles": stop - start, "data": packed}

    return threads.map(row, len(block), _AT_ONCE)


class SnippetReader(OpenedSession):
    """Questions about snippets."""

    def has_snippets(self) -> bool:
        """Whether the session has the snippets of any documents."""
        if self._format() < WITH_SNIPPETS:
            return False
        return bool(self._rows("SELECT 1 FROM snippets LIMIT 1"))

    def snippets(self, seqs: Collection[int]) -> dict[int, str]:
        """The snippets of the articles with these numbers, as far as they are kept."""
        if self._format() < WITH_SNIPPETS:
            return {}
        found: dict[int, str] = {}
        # The row that was read last has the articles from ``first`` on.
        first = 0
        row: Sequence[str] = ()
        for seq in sorted(seqs):
            if not first <= seq < first + len(row):
                rows = self._snippet_rows(
                    "WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1", [seq]
                )
                if not rows:
                    continue
                first, row = rows[0]
            if seq < first + len(row) and row[seq - first]:
                found[seq] = row[seq - first]
        return found

    def snippets_of(self, seqs: Sequence[int]) -> list[str]:
        """The snippet of each of these articles, whose numbers ascend; empty where none is kept."""
        if self._format() < WITH_SNIPPETS or not seqs:
            return [""] * len(seqs)
        first_of_all = seqs[0]
        last = seqs[-1]
        if last - first_of_all > _GAPS * len(seqs):
            found = self.snippets(seqs)
            return [found.get(seq, "") for seq in seqs]
        between = (
            "WHERE first_seq <= ? AND first_seq >= ifnull((SELECT max(first_seq) FROM snippets "
            "WHERE first_seq <= ?), 0) ORDER BY first_seq"
        )
        of_each: list[str] = [""] * (last - first_of_all + 1)
        for first, row in self._snippet_rows(between, [last, first_of_all]):
            begin = max(first, first_of_all)
            end = min(first + len(row), last + 1)
            if begin < end:
                of_each[begin - first_of_all : end - first_of_all] = row[
                    begin - first : end - first
                ]
        return [of_each[seq - first_of_all] for seq in seqs]

    def _snippet_rows(
        self, clause: str, parameters: Sequence[object]
    ) -> list[tuple[int, Sequence[str]]]:
        """(first number, snippets) of the rows that an SQL clause chooses."""
        largest = SMALL + _BYTES * _MOST
        rows = self.select("snippets", _ROW, clause, parameters, largest=largest)
        return [(first, _unpacked(data, articles)) for first, articles, data in rows]


def _unpacked(data: object, articles: int) -> Sequence[str]:
    """The snippets in a row's data, one for each of its articles. Raises `Damaged`."""
    if not isinstance(data, bytes) or articles > _MOST:
        raise Damaged("snippets.data is missing")
    most = _BYTES * articles
    unpacker = zlib.decompressobj()
    try:
        lines = unpacker.decompress(data, most)
        text = lines.decode()
    except (zlib.error, UnicodeDecodeError):
        raise Damaged("snippets.data is not text") from None
    if not unpacker.eof:
        raise Damaged("snippets.data is too long")
    snippets = text.split("\n")
    check_snippets(snippets, articles, "snippets.data")
    return snippets
