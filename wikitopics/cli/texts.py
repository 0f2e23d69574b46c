"""What a session says about words and texts: `infer`, `find` and `similar`."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import click

from wikitopics.cli import options
from wikitopics.cli.options import Command
from wikitopics.cli.output import (
    ProgressLine,
    column,
    objects,
    put_document,
    put_json,
    put_json_array,
    put_line,
    put_marked,
    say,
    unless_none,
)
from wikitopics.crawler.texts.kinds import COLUMN, COLUMNS_HAVE_NAMES, ID_COLUMN, MARKUP, NO_HEADER
from wikitopics.session.advance import unseen
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.options import LINKS, PASSES, TOKENS
from wikitopics.session.paths import command
from wikitopics.session.sources import unit_noun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wikitopics.crawler.file_source import PageAndPlace
    from wikitopics.crawler.page import Markup, Page
    from wikitopics.model import OnlineModel
    from wikitopics.session.analysis.find import Found
    from wikitopics.session.records import TopicRow
    from wikitopics.session.storage.reader import SessionReader
    from wikitopics.vocab.counting import Counted

_MOST = 32 * 2**20
"""The largest text, in bytes."""
_UNREADABLE = 0.3
"""The share of characters that are not UTF-8 above which a file is taken to be binary. A text in
Latin-1, of whose letters one in ten may be accented, is far below it."""
_ROWS = 256
"""The most rows whose proportions are inferred together."""
_CHARACTERS = 8 << 20
"""The characters after which they are inferred though there are fewer."""
EXCERPT = 80
"""The most characters of a text that stand below its title."""


class Inferred(NamedTuple):
    """What was inferred of one text."""

    words: int
    known: int
    """How many of the words are in the vocabulary."""
    theta: "NDArray[np.float32]"
    """The topic proportions, (K,)."""
    counted: "Counted"
    """Its words in the vocabulary."""


@click.command(cls=Command)
@click.argument("files", metavar="[FILE]…", nargs=-1, type=click.Path())
@options.take(MARKUP, help=f"{MARKUP.help} Default: as in the session's own texts.")
@options.take(COLUMN)
@options.take(ID_COLUMN)
@options.take(NO_HEADER)
@options.of_model
@options.json_option
def infer(
    files: tuple[str, ...],
    markup: "Markup | None",
    text_column: str | None,
    id_column: str | None,
    no_header: bool | None,
    model: str | None,
    session: str,
    as_json: bool,
) -> None:
    """Infer the topic proportions of any text.

    Each FILE is one text. Each row of a .csv, .tsv or .parquet, or of a folder of .parquet files,
    and each line of a .jsonl is one. Without FILE, the text is read from standard input. A session
    of links (--tokens links) takes wikitext or HTML.

    Examples:
      wikitopics infer essay.txt
      wikitopics infer reviews.csv --text-column review --json
      wikitopics infer --session links page.html
      pbpaste | wikitopics infer --json
    """
    from wikitopics.crawler.http.addresses import is_address
    from wikitopics.crawler.texts.files import is_parquet

    files = files or ("-",)
    for file in files:
        if is_address(file):
            raise BadUsage(f"{file}: download it first: `infer` reads only files on this computer")
    of_rows = [file for file in files if _has_rows(file)]
    if of_rows:
        if len(of_rows) < len(files):
            raise BadUsage(
                "some files have a text in each row, others are one text each: give one kind at a "
                "time"
            )
        if no_header and any(map(is_parquet, files)):
            raise BadUsage(COLUMNS_HAVE_NAMES)
        columns = RowColumns(text_column, id_column, not no_header)
        _put_rows(files, columns, markup, model, session, as_json)
        return
    if text_column or id_column or no_header:
        raise BadUsage(
            f"{COLUMN.flag}, {ID_COLUMN.flag} and {NO_HEADER.flag} are for .csv, .tsv, .jsonl and "
            ".parquet files"
        )
    with options.reading(session) as reader:
        name = reader.model_named(model)
        unit = reader.settings()[TOKENS]
        inferred = infer_files(reader, name, files, markup)
        topics = {row.topic: row for row in reader.topics(name, 8)}
    if as_json:
        rows = (
            (file, text.words, text.known, name, text.theta.tolist())
            for file, text in zip(files, inferred, strict=True)
        )
        put_json(objects("file words known model proportions", rows))
        return
    for file, text in zip(files, inferred, strict=True):
        _put_inferred(_called(file), text, unit, topics)


class RowColumns(NamedTuple):
    """Where the texts of files of rows are, as `Texts` has it."""

    text: str | None = None
    id: str | None = None
    header: bool = True


def _has_rows(file: str) -> bool:
    """Whether each row or line of this file, or of the files in this folder, is a text."""
    from wikitopics.crawler.texts.files import JSON_LINES, TABLES, ending, is_parquet

    return is_parquet(file) or ending(file) in (JSON_LINES, *TABLES)


def _put_rows(
    files: Sequence[str],
    columns: RowColumns,
    markup: "Markup | None",
    model: str | None,
    session: str,
    as_json: bool,
) -> None:
    """Print what is inferred of each row, a few rows at a time."""
    with options.reading(session) as reader:
        name = reader.model_named(model)
        unit = reader.settings()[TOKENS]
        inferred = infer_rows(reader, name, files, columns, markup)
        if as_json:
            put_json_array(
                {
                    "file": file,
                    "row": page.page_id,
                    "id": page.id,
                    "words": text.words,
                    "known": text.known,
                    "model": name,
                    "proportions": text.theta.tolist(),
                }
                for file, page, text in inferred
            )
            return
        topics = {row.topic: row for row in reader.topics(name, 8)}
        for file, page, text in inferred:
            id = f" ({page.id})" if page.id else ""
            _put_inferred(f"{file}, row {page.page_id:,}{id}", text, unit, topics)


def _put_inferred(called: str, text: Inferred, unit: str, topics: "Mapping[int, TopicRow]") -> None:
    """Print how many words of a text are known, and its leading topics."""
    from wikitopics.session.wording import in_line

    put_line(f"{called}: {text.known:,} of {text.words:,} {unit} known")
    if not text.known:
        return
    largest_first = (-text.theta).argsort(kind="stable")
    for topic in largest_first[:8].tolist():
        share = text.theta[topic]
        if share >= 0.01:
            row = topics.get(topic)
            label = f"{row.name}: {in_line(word for word, _ in row.shown)}" if row else ""
            put_line(f"  {share:6.1%}  {topic:4}  {label}")


def infer_files(
    reader: "SessionReader",
    model: str,
    files: Sequence[str],
    markup: "Markup | None" = None,
) -> list[Inferred]:
    """What is inferred of each file, where "-" is standard input.

    Raises `SessionError` for a file that is not text, and if no word of any file is known.
    """
    inferred = _Inference(reader, model, markup).of(map(_read, files))
    if not any(text.known for text in inferred):
        contain = f"{_called(files[0])} contains" if len(files) == 1 else "these texts contain"
        raise _nothing_known(reader, contain)
    return inferred


def infer_rows(
    reader: "SessionReader",
    model: str,
    files: Sequence[str],
    columns: RowColumns,
    markup: "Markup | None",
) -> "Iterator[tuple[str, Page, Inferred]]":
    """(the file or folder, the row, what is inferred of it), in the order of the files. Tells the
    user which rows are left out, since they have no text or are damaged, and, unless the rows go to
    a terminal, how far it is.

    Raises BadSource for a path that is no file of rows, before any is read, and for a file without
    rows with texts; at the end `SessionError` if no word of any row is known.
    """
    from wikitopics.crawler.errors import BadSource
    from wikitopics.crawler.texts.files import TABLES, check_paths, ending, is_parquet
    from wikitopics.vocab.counting import together

    for file in files:
        check_paths([file])
    has_tables = any(ending(file) in TABLES or is_parquet(file) for file in files)
    are_seen = sys.stdout.isatty()
    inference = _Inference(reader, model, markup)
    any_is_known = False
    for file in files:
        rows = _Rows(file, columns, markup, beside_tables=has_tables)
        n_inferred = 0
        with ProgressLine() as progress:
            advance = unseen if are_seen else progress
            # Many are inferred sooner than each alone, and too many would take much memory.
            for some in together(rows.pages, lambda page: len(page.text), _ROWS, _CHARACTERS):
                n_inferred += len(some)
                inferred = inference.of(page.text for page in some)
                for page, text in zip(some, inferred, strict=True):
                    any_is_known = any_is_known or text.known > 0
                    yield file, page, text
                advance("rows inferred", some[-1].page_id, rows.total)
        if not n_inferred:
            raise BadSource(f"there are no documents in {file}")
        n_rows = rows.total or rows.read
        n_left_out = n_rows - n_inferred
        if n_left_out > 0:
            say(f"{file}: {n_left_out:,} of {n_rows:,} rows have no readable text")
    if not any_is_known:
        raise _nothing_known(reader, "these texts contain")


class _Rows:
    """The rows of a file or of a folder of Parquet files."""

    def __init__(
        self,
        file: str,
        columns: RowColumns,
        markup: "Markup | None",
        *,
        beside_tables: bool,
    ) -> None:
        """``beside_tables``: as for `TextFiles`."""
        from wikitopics.crawler.texts.documents import TextFiles
        from wikitopics.crawler.texts.files import is_parquet
        from wikitopics.crawler.texts.parquet import local_rows
        from wikitopics.crawler.texts.parquet_columns import ColumnNames

        self.pages: Iterator[Page]
        """Those that have a text."""
        self.total = 0
        """The number of all rows; 0 if the file does not say."""
        self.read = 0
        """The number of those that have been read, if the file does not say how many there are."""
        if is_parquet(file):
            of_parquet = local_rows([file], ColumnNames(columns.text, id=columns.id), say)
            self.pages = of_parquet.pages(say)
            self.total = of_parquet.rows
            return
        texts = TextFiles(
            [file],
            columns.text,
            say,
            markup,
            id=columns.id,
            header=columns.header,
            once=False,
            beside_tables=beside_tables,
        )
        self.pages = self._counted(texts.first_reading(say))

    def _counted(self, found: "Iterator[PageAndPlace]") -> "Iterator[Page]":
        from wikitopics.crawler.page import Page

        for page, _ in found:
            self.read += 1
            if isinstance(page, Page):
                yield page


class _Inference:
    """Infers topic proportions with a session's model, which is loaded once."""

    def __init__(self, reader: "SessionReader", model: str, markup: "Markup | None") -> None:
        self._reader = reader
        self._name = model
        self._markup = markup
        self._vocabulary = reader.counter()

    @cached_property
    def _model(self) -> "OnlineModel":
        from wikitopics.session.analysis.inference import saved_model

        self._reader.check_trained()
        return saved_model(self._reader, self._name)

    def of(self, texts: Iterable[str]) -> list[Inferred]:
        """What is inferred of each text."""
        from wikitopics.session.analysis.inference import counted_words, proses, theta_of

        plain = proses(self._reader, texts, self._markup)
        counted = counted_words(self._vocabulary, plain)
        known = [int(counts.sum()) for _, counts in counted]
        theta = theta_of(self._model, counted)
        word_counts = map(self._vocabulary.n_words_in, plain)
        each = zip(word_counts, known, theta, counted, strict=True)
        return [Inferred(*of_text) for of_text in each]


def _nothing_known(reader: "SessionReader", contain: str) -> SessionError:
    """The error for texts without any word of the vocabulary."""
    of_links = reader.settings()[TOKENS] == LINKS
    what = "wikitext or HTML link to a title" if of_links else "word"
    show = command("vocab show", reader.path)
    return SessionError(
        f"{contain} no {what} of the session's vocabulary (`{show}` prints it; "
        "`find` looks for words in titles, too)"
    )


def _called(file: str) -> str:
    """What a file is called in messages."""
    return "standard input" if file == "-" else file


def _read(file: str) -> str:
    """The text of a file, where "-" is standard input. Raises `BadUsage` for a Parquet file, and
    `SessionError` for what is missing, cannot be read, is not text, or is over 32 MB."""
    from wikitopics.crawler.texts.contents import encoding_of
    from wikitopics.crawler.texts.files import PARQUET, ending
    from wikitopics.session.storage.files import read_bounded, read_input

    if ending(file) == PARQUET:
        raise BadUsage(f"{file}: a Parquet file of many texts; `infer` gives the topics of each")
    if os.path.isdir(file):
        raise SessionError(f"{file}: a folder, which is no text; give files in it")
    if file == "-" and sys.stdin.isatty():
        say("type or paste a text; Ctrl+D ends it")
    try:
        if file == "-":
            data = read_bounded(sys.stdin.buffer, _MOST)
        else:
            data = read_input(file, _MOST, pipes=True)
    except FileNotFoundError:
        raise SessionError(
            f"{file}: no such file or folder; to infer the words themselves, pipe them to `infer -`"
        ) from None
    except OSError as error:
        raise SessionError(f"{_called(file)}: {error.strerror}") from None
    text = data.decode(encoding_of(data), "replace")
    unreadable = text.count("\N{REPLACEMENT CHARACTER}")
    if "\0" in text or unreadable > len(text) * _UNREADABLE:
        raise SessionError(f"{_called(file)}: a binary file, or not UTF-8 text")
    if unreadable:
        say(
            f"{_called(file)}: not UTF-8 in {unreadable:,} places, where words are cut: save it as "
            "UTF-8"
        )
    return text


@click.command(cls=Command)
@click.argument("words", metavar="WORDS\u2026", nargs=-1, required=True)
@options.found_option
@options.of_model
@options.json_option
def find(
    words: tuple[str, ...], limit: int, model: str | None, session: str, as_json: bool
) -> None:
    """Find topics and documents by words.

    Topics are those in which the words are more probable than on average: `times` says how much. A
    word of a topic's given name counts, too. Documents are found by their word counts, if the
    session has those of all, by the beginnings of your own texts, and by titles, even by a part of
    one; likeness of topics adds to the score. Those with all the words in their title come first.

    Examples:
      wikitopics find csv
      wikitopics find read a csv file with a header
      wikitopics find new york --session night --limit 5 --json
    """
    from wikitopics.session.analysis.find import found_once

    text = " ".join(words)
    if not text.strip():
        raise BadUsage("give the words to find")
    with options.reading(session) as reader, ProgressLine() as progress:
        found = found_once(reader, reader.model_named(model), text, limit, progress)
    if found.lack:
        say(found.lack)
    if not found.topics and not found.documents:
        hint = f"; {found.suggestion}" if found.suggestion else ""
        raise SessionError(f"nothing was found for {found.words!r}{hint}")
    if as_json:
        topics = [asdict(topic) for topic in found.topics]
        documents = [
            unless_none(unless_none(asdict(document), "id"), "snippet")
            for document in found.documents
        ]
        put_json({"words": found.words, "topics": topics, "documents": documents})
        return
    _put_topics(found)
    if found.topics and found.documents:
        put_line("")
    _put_documents(found)


def _put_topics(found: "Found") -> None:
    from wikitopics.session.wording import in_line

    if not found.topics:
        return
    head, *names = column((topic.name for topic in found.topics), "name")
    put_line(f"topic  times  {head}  words")
    for topic, name in zip(found.topics, names, strict=True):
        shown = in_line(topic.shown)
        line = f"{name}  {shown}"
        spans = found.sought.spans(line)
        put_marked(f"{topic.number:5} {topic.times:6.1f}  ", line, spans)


def _put_documents(found: "Found") -> None:
    from wikitopics.session.wording import snippet_shown

    if not found.documents:
        return
    put_line("score     page_id  title")
    for document in found.documents:
        spans = found.sought.spans
        start = f"{document.score:5.2f} {document.page_id:11}  "
        put_marked(start, document.title, spans(document.title))
        if document.snippet:
            excerpt = found.sought.excerpt(snippet_shown(document.snippet), EXCERPT)
            put_marked(" " * len(start), excerpt, spans(excerpt))


@click.command(cls=Command)
@click.argument("words", metavar="TITLE…|ID|FILE", nargs=-1, required=True)
@options.limit_option
@options.of_model
@options.json_option
def similar(
    words: tuple[str, ...], limit: int, model: str | None, session: str, as_json: bool
) -> None:
    """List the articles most like another one, or like any text.

    Give an article by its title, one of your own documents also by its id, or a text by its file
    ('-' for standard input).

    An exact title takes precedence over a file of that name (./NAME is always the file), a file
    over a title that differs only in capitals, and titles over ids.

    Likeness is from 0, no more alike than the average article, to 1, the same. It compares topics
    and, where the session has the words of all its articles, also words: of your own documents, of
    up to 20,000 articles, or with --keep-counts. An article's proportions date from its training;
    those of the newest 20,000 articles are updated each time the session doubles in size. Your own
    documents all get new ones when training ends.

    Examples:
      wikitopics similar Dark energy
      wikitopics similar essay.txt --limit 50 --json
      pbpaste | wikitopics similar -
    """
    from wikitopics.session.analysis.similar import Recorded, not_found

    what = " ".join(words)
    with options.reading(session) as reader:
        name = reader.model_named(model)
        with ProgressLine() as progress:
            recorded = Recorded(reader, name, progress)
        # The proportions of a text, or the row of an article. The first of these that exists is
        # taken: an article with exactly this title, a file, an article whose title differs only in
        # capitals, an article with this id.
        near: NDArray[np.float32] | int | None = None
        counted = None
        if what != "-":
            near = recorded.row_of(reader, what, exact=True)
        if near is None and (what == "-" or os.path.exists(what)):
            [text] = infer_files(reader, name, [what])
            near = text.theta
            counted = text.counted
        if near is None:
            near = recorded.row_of(reader, what)
        if near is None:
            raise not_found(reader, what, or_file=True)
        articles = recorded.nearest(reader, near, limit, counted)
        settings = reader.settings()
    as_of = f"as of {recorded.as_of.articles:,} {unit_noun(settings.source, settings[PASSES])}"
    if recorded.words is None and settings.keeps_counts:
        as_of += "; only topics are compared: the texts have too many words"
    if len(recorded) < recorded.as_of.documents:
        as_of += f"; topic proportions are recorded for {len(recorded):,} of them"
    say(as_of)
    if as_json:
        rows = [{**asdict(article), "distance": article.distance} for article in articles]
        put_json([unless_none(row, "id") for row in rows])
        return
    put_line("likeness     page_id  title")
    for article in articles:
        figures = f"{article.likeness:8.2f} {article.page_id:11}  "
        put_document(figures, article.title, snippet=article.snippet)
