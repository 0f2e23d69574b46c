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
MARKUP = Option(
    str,
    "markup",
    "Remove this markup from the texts before their words are counted.",
    choices=("wikitext", "html"),
)


class Texts(PageKind):
    """The documents of files and folders, identified by their absolute paths."""

    name = "texts"
    label = "Your own documents: JSON lines, tables, or plain texts"
    own = True
    options = (TEXTS, COLUMN, MARKUP)

    def identity(self, asked: Asked) -> Identity:
        paths = [name if name == "-" else str(Path(name).absolute()) for name in asked[TEXTS]]
        named = {TEXTS.name: paths, COLUMN.name: asked.get(COLUMN), MARKUP.name: asked.get(MARKUP)}
        return {name: value for name, value in named.items() if value is not None}

    def fault(self, identity: Identity) -> str:
        paths, column, markup = (identity.get(option.name) for option in self.options)
        if not isinstance(paths, list) or not paths or not all(isinstance(name, str) for name in paths):
            return f"{TEXTS.name} is not a list of paths"
        if column is not None and not isinstance(column, str):
            return f"{COLUMN.name} is not a name of a column"
        return "" if markup in (None, *MARKUP.choices) else f"{MARKUP.name} is not a kind of markup"

    def repeatable(self, identity: Identity) -> bool:
        return True

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.file_source import FileSource
        from wikitopics.crawler.texts.files import TextFiles

        markup = identity.get(MARKUP.name, "text")
        files = TextFiles(identity[TEXTS.name], identity.get(COLUMN.name), markup=markup)
        return FileSource("texts", files, held_out=asked.held_out, resuming=asked.resuming)
