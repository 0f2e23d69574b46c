"""The user's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.crawler.source import Asked, Identity, PageKind
from wikitopics.option import Option

if TYPE_CHECKING:
    from wikitopics.crawler.source import Source

TEXTS: Option[tuple[str, ...]] = Option(
    tuple,
    "texts",
    'Your own documents: a .jsonl of {"text", "title"?, "id"?}, a .csv or .tsv, or a folder of .txt; '
    "plain or .gz, .bz2, .xz, .zst.",
    metavar="PATH",
    path=True,
    needed=True,
    label="File or folder",
)
COLUMN = Option(
    str,
    "text_column",
    "The column of a .csv or .tsv that holds the text (default: text).",
    metavar="NAME",
    label="Text column",
)


class Texts(PageKind):
    """The documents of files and folders, identified by their absolute paths."""

    name = "texts"
    label = "Your own documents: JSON lines, tables, or plain texts"
    own = True
    options = (TEXTS, COLUMN)

    def identity(self, asked: Asked) -> Identity:
        column = asked.get(COLUMN)
        named = {TEXTS.name: [name if name == "-" else str(Path(name).absolute()) for name in asked[TEXTS]]}
        return named if column is None else {**named, COLUMN.name: column}

    def fault(self, identity: Identity) -> str:
        paths, column = identity.get(TEXTS.name), identity.get(COLUMN.name)
        if not isinstance(paths, list) or not paths or not all(isinstance(name, str) for name in paths):
            return f"{TEXTS.name} is not a list of paths"
        return "" if column is None or isinstance(column, str) else f"{COLUMN.name} is not a name of a column"

    def repeatable(self, identity: Identity) -> bool:
        return True

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.file_source import FileSource
        from wikitopics.crawler.texts.files import TextFiles

        files = TextFiles(identity[TEXTS.name], identity.get(COLUMN.name))
        return FileSource("texts", files, held_out=asked.held_out, resuming=asked.resuming)
