"""The user's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.crawler.mediawiki.kinds import LANG, language_of_texts
from wikitopics.crawler.source import Asked, Identity, PageKind
from wikitopics.crawler.texts.files import GIVEN, JSON_LINES, PLAIN, TABLES, ending
from wikitopics.option import Option

if TYPE_CHECKING:
    from wikitopics.crawler.source import Source

TEXTS: Option[tuple[str, ...]] = Option(
    tuple,
    "texts",
    'Your own documents: a .jsonl of {"text", "title"?, "id"?}, a .csv or .tsv, a .txt in which '
    "blank lines "
    "separate them, or a folder of .txt files, one document each; plain or .gz, .bz2, .xz, .zst.",
    metavar="PATH",
    path=True,
    needed=True,
    label="File or folder",
)
COLUMN = Option(
    str,
    "text_column",
    "The column of a .csv or .tsv, or the key of a .jsonl, that holds the text (default: text).",
    metavar="NAME",
    label="Text column",
)
ID_COLUMN = Option(
    str,
    "id_column",
    "The column or key that holds each document's id (default: id, if it is there).",
    metavar="NAME",
)
TITLE_COLUMN = Option(
    str,
    "title_column",
    "The column or key that holds each document's title (default: title, if it is there).",
    metavar="NAME",
)
NO_HEADER = Option(
    bool,
    "no_header",
    "The first row of a .csv or .tsv is a document, too; columns are named by number, from 1.",
)
LINES = Option(bool, "lines", "Each line of a .txt file is a document, also in folders.")
MARKUP = Option(
    str,
    "markup",
    "Remove this markup from the texts before their words are counted.",
    choices=("wikitext", "html"),
)
BEFORE, EARLIER = "documents_before", "texts_before"
"""In the identity of texts added to a session: the largest document number that it had before, and
the identities of all texts that it had read."""


class Texts(PageKind):
    """The documents of files and folders, identified by their absolute paths."""

    name = "texts"
    label = "Your own documents: JSON lines, tables, or plain texts"
    own = True
    options = (TEXTS, COLUMN, ID_COLUMN, TITLE_COLUMN, LANG, LINES, MARKUP, NO_HEADER)

    def identity(self, asked: Asked) -> Identity:
        paths = [name if name == "-" else str(Path(name).absolute()) for name in asked[TEXTS]]
        values = {**asked.values, TEXTS.name: paths}
        if LANG in asked:
            values[LANG.name] = self.language(asked)
        kinds = {ending(path) for path in paths}
        # Up to 1.1.0 such files were read differently, as they still are in sessions without this
        # key.
        is_kept = LINES in asked or PLAIN in kinds or (COLUMN in asked and JSON_LINES in kinds)
        if is_kept or any(path.endswith(GIVEN) for path in paths):
            values[LINES.name] = bool(asked.get(LINES))
        return values

    def fault(self, identity: Identity) -> str:
        paths, *names, lines, markup, no_header = (
            identity.get(option.name) for option in self.options
        )
        if (
            not isinstance(paths, list)
            or not paths
            or not all(isinstance(name, str) for name in paths)
        ):
            return f"{TEXTS.name} is not a list of paths"
        if not all(name is None or isinstance(name, str) for name in names):
            return "the name of a column, or the code of the language, is not text"
        if lines not in (None, True, False):
            return f"{LINES.name} is neither true nor false"
        if no_header not in (None, True, False):
            return f"{NO_HEADER.name} is neither true nor false"
        before, earlier = identity.get(BEFORE, 0), identity.get(EARLIER, [])
        if type(before) is not int or not 0 <= before < 2**62:
            return f"{BEFORE} is not a number of a document"
        if not isinstance(earlier, list) or not all(
            isinstance(one, dict) and EARLIER not in one and not self.fault(one) for one in earlier
        ):
            return f"{EARLIER} is not a list of identities"
        return "" if markup in (None, *MARKUP.choices) else f"{MARKUP.name} is not a kind of markup"

    def language(self, asked: Asked) -> str | None:
        return language_of_texts(asked.get(LANG))

    def builds_words(self, asked: Asked) -> bool:
        return True

    def repeatable(self, identity: Identity) -> bool:
        return True

    def division(self, identity: Identity) -> str:
        paths: list[str] = identity[TEXTS.name]
        folders = [path for path in paths if Path(path).is_dir()]
        files = [path for path in paths if path not in folders and not path.endswith(GIVEN)]
        kinds = {
            ending(path) or PLAIN for path in files
        }  # `vocab build`: other names are plain text
        by_line = identity.get(LINES.name)
        ways = {
            "each line of a plain text is a document": by_line and (PLAIN in kinds or folders),
            "blank lines separate the documents of a plain text": PLAIN in kinds and not by_line,
            f"with {LINES.flag} each line is one": (PLAIN in kinds or folders) and not by_line,
            "each .txt of a folder is a document": folders and not by_line,
            "each line of a .jsonl is a document": JSON_LINES in kinds,
            "each row of a table is a document": not kinds.isdisjoint(TABLES),
        }
        text = "; ".join(way for way, is_there in ways.items() if is_there)
        return text[:1].upper() + text[1:]

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.file_source import FileSource
        from wikitopics.crawler.texts.files import TextFiles

        files = TextFiles(
            identity[TEXTS.name],
            identity.get(COLUMN.name),
            markup=identity.get(MARKUP.name, "text"),
            lines=identity.get(LINES.name),
            title=identity.get(TITLE_COLUMN.name),
            id=identity.get(ID_COLUMN.name),
            before=identity.get(BEFORE, 0),
            header=not identity.get(NO_HEADER.name),
        )
        held_out = (
            0 if BEFORE in identity else asked.held_out
        )  # the session keeps those of the first texts
        return FileSource("texts", files, held_out=held_out, resuming=asked.resuming)
