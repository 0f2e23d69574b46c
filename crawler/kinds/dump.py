"""Dump files of a wiki."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.kind import Asked, Identity, PageKind
from crawler.options import Option

if TYPE_CHECKING:
    from crawler.licences import Licence
    from crawler.source import PartedSource, Source

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
        from crawler.dump_order import ORDER, Order

        files, order = identity.get(DUMP.name), identity.get(ORDER)
        if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
            return f"{DUMP.name} is no list of files"
        if not isinstance(identity.get(BASE, ""), str):
            return f"{BASE} is no text"
        return "" if order is None else Order.fault(order, len(files))

    def wiki(self, identity: Identity) -> str:
        """Its base does not say where the wiki's api.php is: it may be any."""
        return ""

    def address(self, identity: Identity, title: str, revision_id: int) -> str | None:
        """On the wiki that was dumped."""
        from crawler.addresses import by_path, wiki_address
        from crawler.errors import BadSource

        try:
            return by_path(wiki_address(identity.get(BASE, "")), title, revision_id)
        except BadSource:
            return None

    def licence(self, identity: Identity) -> Licence | None:
        """Of the wiki that was dumped, where the dump names it."""
        from crawler.addresses import wiki_address
        from crawler.errors import BadSource
        from crawler.licences import of_wiki

        try:
            return of_wiki(wiki_address(identity.get(BASE, "")))
        except BadSource:
            return None

    def open(self, identity: Identity, asked: Asked) -> Source | PartedSource:
        from crawler.dump_files import DumpFiles
        from crawler.dump_order import ORDER
        from crawler.dump_parts import can_be_parted
        from crawler.ranges import LocalFile
        from crawler.sources.dump import DumpSource
        from crawler.sources.shuffled import ShuffledDump

        paths, order = identity[DUMP.name], identity.get(ORDER)
        # A session that began in the order of the files goes on in it.
        is_new = not asked.resuming and DumpFiles(paths, print).is_repeatable
        if order is not None or (is_new and all(can_be_parted(LocalFile(path)) for path in paths)):
            return ShuffledDump(
                paths, order, seed=asked.seed, held_out=asked.held_out, elsewhere=asked.elsewhere
            )
        return DumpSource(paths, held_out=asked.held_out, resuming=asked.resuming)
