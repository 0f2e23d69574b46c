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


class Dump(PageKind):
    """All articles of dump files, named by their absolute paths."""

    name = "dump"
    label = "A Wikipedia dump file: the fastest way, no network"
    options = (DUMP,)

    def identity(self, asked: Asked) -> Identity:
        return {DUMP.name: [name if name == "-" else str(Path(name).absolute()) for name in asked[DUMP]]}

    def fault(self, identity: Identity) -> str:
        files = identity.get(DUMP.name)
        fits = isinstance(files, list) and all(isinstance(name, str) for name in files)
        return "" if fits else f"{DUMP.name} is no list of files"

    def open(self, identity: Identity, asked: Asked) -> Source:
        from crawler.sources.dump import DumpSource

        return DumpSource(identity[DUMP.name], held_out=asked.held_out, resuming=asked.resuming)
