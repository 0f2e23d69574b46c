"""Dump files of a wiki."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.kind import Asked, Identity, PageKind
from crawler.options import Option

if TYPE_CHECKING:
    from crawler.source import Source

DUMP: Option[tuple[str, ...]] = Option(
    tuple, "dump", "An XML dump; '-': standard input.", metavar="FILE", path=True, needed=True, label="File"
)
BASE = "base"
"""The key under which a session keeps the address of the wiki's main page, as its dump gives it."""


class Dump(PageKind):
    """All articles of dump files, named by their absolute paths."""

    name = "dump"
    label = "A Wikipedia dump file: the fastest way, no network"
    options = (DUMP,)

    def identity(self, asked: Asked) -> Identity:
        return {DUMP.name: [name if name == "-" else str(Path(name).absolute()) for name in asked[DUMP]]}

    def fault(self, identity: Identity) -> str:
        files = identity.get(DUMP.name)
        if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
            return f"{DUMP.name} is no list of files"
        return "" if isinstance(identity.get(BASE, ""), str) else f"{BASE} is no text"

    def address(self, identity: Identity, title: str, revision_id: int) -> str | None:
        """On the wiki that was dumped."""
        from crawler.addresses import by_path, wiki_address
        from crawler.errors import BadSource

        try:
            return by_path(wiki_address(identity.get(BASE, "")), title, revision_id)
        except BadSource:
            return None

    def open(self, identity: Identity, asked: Asked) -> Source:
        from crawler.sources.dump import DumpSource

        return DumpSource(identity[DUMP.name], held_out=asked.held_out, resuming=asked.resuming)
