"""The user's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.crawler.dumps.kinds import YES
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.http.addresses import is_address, is_wikimedia, texts_address
from wikitopics.crawler.mediawiki.kinds import CONTACT, LANG, language_of_texts
from wikitopics.crawler.source import Asked, Identity, PageKind, are_names
from wikitopics.crawler.texts.files import (
    GIVEN,
    JSON_LINES,
    PLAIN,
    TABLES,
    are_parquet,
    ending,
    is_parquet,
)
from wikitopics.option import Option

if TYPE_CHECKING:
    from yarl import URL

    from wikitopics.crawler.source import Source

TEXTS: Option[tuple[str, ...]] = Option(
    tuple,
    "texts",
    'Your own documents: a .jsonl of {"text", "title"?, "id"?}, a .csv or .tsv, a .txt in which '
    "blank lines separate them, or a folder of .txt files, one document each; plain or .gz, "
    ".bz2, .xz, .zst. Or a .parquet, a folder of such files, or its address, read without being "
    "stored.",
    metavar="PATH|URL",
    path=True,
    needed=True,
    label="File, folder or URL",
)
COLUMN = Option(
    str,
    "text_column",
    "The column of a .csv, .tsv or .parquet, or the key of a .jsonl, that holds the text (default: "
    "text).",
    metavar="NAME",
    label="Text column",
)
ID_COLUMN = Option(
    str,
    "id_column",
    "The column or key that holds each document's id (default: id, if it is there; in a .parquet "
    "otherwise url).",
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
COLUMNS_HAVE_NAMES = (
    f"{NO_HEADER.flag} is for .csv and .tsv: the columns of a .parquet always have names"
)
"""Why Parquet files are refused with it."""
LINES = Option(bool, "lines", "Each line of a .txt file is a document, also in folders.")
ROWS_ARE_DOCUMENTS = f"{LINES.flag} is for .txt files: each row of a .parquet is a document"
"""Why Parquet files are refused with it."""
MARKUP = Option(
    str,
    "markup",
    "Remove this markup from the texts before their words are counted.",
    choices=("wikitext", "html"),
)
BEFORE = "documents_before"
"""The key, in the identity of texts added to a session, of the largest document number that the
session had before."""
EARLIER = "texts_before"
"""The key, there, of the identities of all texts that the session had read before."""


class Texts(PageKind):
    """The documents of files and folders, identified by their absolute paths."""

    name = "texts"
    label = "Your own documents: JSON lines, tables, Parquet, or plain texts"
    own = True
    has_replicas = True
    options = (
        TEXTS,
        COLUMN,
        ID_COLUMN,
        TITLE_COLUMN,
        LANG,
        LINES,
        MARKUP,
        NO_HEADER,
        CONTACT,
        YES,
    )

    def identity(self, asked: Asked) -> Identity:
        paths = [_absolute(name) for name in asked[TEXTS]]
        _check_addresses(paths)
        values = {**asked.values, TEXTS.name: paths}
        for option in (CONTACT, YES):  # which no session keeps
            values.pop(option.name, None)
        if LANG in asked:
            values[LANG.name] = self.language(asked)
        kinds = {ending(path) for path in paths}
        # Up to 1.1.0 such files were read differently, as they still are in sessions without this
        # key.
        are_read_differently = (
            PLAIN in kinds
            or (JSON_LINES in kinds and COLUMN in asked)
            or any(path.endswith(GIVEN) for path in paths)
        )
        if LINES in asked or are_read_differently:
            values[LINES.name] = bool(asked.get(LINES))
        return values

    def fault(self, identity: Identity) -> str:
        paths = identity.get(TEXTS.name)
        if not are_names(paths):
            return f"{TEXTS.name} is not a list of paths"
        try:
            _check_addresses(paths)
        except BadSource as error:
            return str(error)
        for key in (COLUMN.name, ID_COLUMN.name, TITLE_COLUMN.name, LANG.name):
            value = identity.get(key)
            if value is not None and not isinstance(value, str):
                return "the name of a column, or the code of the language, is not text"
        for key in (LINES.name, NO_HEADER.name):
            if identity.get(key) not in (None, True, False):
                return f"{key} is neither true nor false"
        before = identity.get(BEFORE, 0)
        if type(before) is not int or not 0 <= before < 2**62:
            return f"{BEFORE} is not a number of a document"
        earlier = identity.get(EARLIER, [])
        if not isinstance(earlier, list):
            return f"{EARLIER} is not a list of identities"
        for added in earlier:
            if not isinstance(added, dict) or EARLIER in added or self.fault(added):
                return f"{EARLIER} is not a list of identities"
        if identity.get(MARKUP.name) not in (None, *MARKUP.choices):
            return f"{MARKUP.name} is not a kind of markup"
        return ""

    def language(self, asked: Asked) -> str | None:
        return language_of_texts(asked.get(LANG))

    def builds_words(self, asked: Asked) -> bool:
        return True

    def needs_contact(self, identity: Identity) -> bool:
        """Whether they are on Wikimedia's servers, which ask for a contact."""
        return any(is_wikimedia(url.host or "") for url in _addresses(identity[TEXTS.name]))

    def download(self, identity: Identity) -> str:
        if not _addresses(identity[TEXTS.name]):
            return ""
        from wikitopics.crawler.http.ranges import told_download
        from wikitopics.crawler.texts.parquet_remote import DOWNLOAD_BYTES

        return told_download(identity[DOWNLOAD_BYTES])

    def repeatable(self, identity: Identity) -> bool:
        return True

    def division(self, identity: Identity) -> str:
        paths: list[str] = identity[TEXTS.name]
        named = [path for path in paths if not path.endswith(GIVEN)]
        with_rows = [path for path in named if is_address(path) or is_parquet(path)]
        others = [path for path in named if path not in with_rows]
        folders = [path for path in others if Path(path).is_dir()]
        files = [path for path in others if path not in folders]
        kinds = {ending(path) or PLAIN for path in files}  # `vocab build` takes other names, too
        by_line = identity.get(LINES.name)
        ways = {
            "each line of a plain text is a document": by_line and (PLAIN in kinds or folders),
            "blank lines separate the documents of a plain text": PLAIN in kinds and not by_line,
            f"with {LINES.flag} each line is one": (PLAIN in kinds or folders) and not by_line,
            "each .txt of a folder is a document": folders and not by_line,
            "each line of a .jsonl is a document": JSON_LINES in kinds,
            "each row of a table is a document": with_rows or not kinds.isdisjoint(TABLES),
        }
        text = "; ".join(way for way, is_there in ways.items() if is_there)
        return text[:1].upper() + text[1:]

    def open(self, identity: Identity, asked: Asked) -> Source:
        from wikitopics.crawler.file_source import FileSource
        from wikitopics.crawler.texts.documents import TextFiles

        paths = identity[TEXTS.name]
        held_out = asked.held_out
        if BEFORE in identity:
            held_out = 0  # the session keeps those of the first texts
        if are_parquet(paths):
            return _open_parquet(identity, asked, held_out)
        files = TextFiles(
            paths,
            identity.get(COLUMN.name),
            markup=identity.get(MARKUP.name, "text"),
            lines=identity.get(LINES.name),
            title=identity.get(TITLE_COLUMN.name),
            id=identity.get(ID_COLUMN.name),
            before=identity.get(BEFORE, 0),
            header=not identity.get(NO_HEADER.name),
        )
        return FileSource(
            "texts", files, held_out=held_out, seed=asked.seed, resuming=asked.resuming
        )


def _open_parquet(identity: Identity, asked: Asked, held_out: int | None) -> Source:
    """The source of the documents in Parquet files."""
    from wikitopics.crawler.texts.parquet import local_rows
    from wikitopics.crawler.texts.parquet_columns import ColumnNames
    from wikitopics.crawler.texts.parquet_footer import check_pyarrow
    from wikitopics.crawler.texts.parquet_source import ParquetTexts

    check_pyarrow()
    # A session to which texts are added may have these options for its earlier ones.
    if asked.get(NO_HEADER) and not asked.resuming:
        raise BadSource(COLUMNS_HAVE_NAMES)
    if asked.get(LINES) and not asked.resuming:
        raise BadSource(ROWS_ARE_DOCUMENTS)
    names = ColumnNames(
        identity.get(COLUMN.name),
        identity.get(TITLE_COLUMN.name),
        identity.get(ID_COLUMN.name),
    )
    before = identity.get(BEFORE, 0)
    markup = identity.get(MARKUP.name, "text")
    urls = _addresses(identity[TEXTS.name])
    if urls:
        from wikitopics.crawler.texts.parquet_remote import RemoteParquet  # loads the HTTP client

        return RemoteParquet(
            urls,
            names,
            asked,
            before=before,
            markup=markup,
            held_out=held_out,
            contact=asked.get(CONTACT),
            agreed=bool(asked.get(YES)),
        )
    paths = identity[TEXTS.name]
    return ParquetTexts(
        lambda tell: local_rows(paths, names, tell),
        seed=asked.seed,
        before=before,
        markup=markup,
        held_out=held_out,
        resuming=asked.resuming,
    )


def _absolute(name: str) -> str:
    """An address as it is; the absolute path of a file or folder."""
    return name if name == "-" or is_address(name) else str(Path(name).absolute())


def _addresses(paths: list[str]) -> list[URL]:
    """The addresses of texts on a server; none for files on this machine."""
    return [texts_address(name) for name in paths if is_address(name)]


def _check_addresses(paths: list[str]) -> None:
    """Raise BadSource unless what are addresses among these are http or https, on one server."""
    urls = _addresses(paths)
    if len({url.origin() for url in urls}) > 1:
        raise BadSource(f"{TEXTS.flag}: all files must be on one server")
