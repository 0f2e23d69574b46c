"""The prose of files, dumps or a wiki, from which a vocabulary is built."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import chain
from pathlib import Path

from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.http.addresses import is_address
from wikitopics.crawler.markup.texts import UNKNOWN, prose
from wikitopics.crawler.markup.undeclared import noticing
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.crawler.source import Source, Stretch
from wikitopics.crawler.texts.contents import Contents
from wikitopics.crawler.texts.documents import TextFiles
from wikitopics.crawler.texts.files import are_parquet, check_paths, ending, is_packed_parquet
from wikitopics.crawler.texts.kinds import COLUMNS_HAVE_NAMES, ROWS_ARE_DOCUMENTS
from wikitopics.crawler.texts.parquet import ParquetRows, local_rows
from wikitopics.crawler.texts.parquet_columns import ColumnNames
from wikitopics.crawler.texts.records import Document, plain_texts
from wikitopics.session.errors import BadUsage, Say, os_error_as
from wikitopics.session.storage.files import open_input
from wikitopics.session.training.jobs import skipped


def file_documents(
    paths: Sequence[str],
    say: Say,
    column: str | None = None,
    markup: Markup = "text",
    lines: bool = False,
    header: bool = True,
) -> tuple[Iterator[str], int]:
    """The prose of dumps (``.xml`` in the name), of whatever ``--source texts`` reads, and of plain
    text in files with other names; and the number of rows that this is, 0 unless all files are
    Parquet, since others do not say.

    What ``--source texts`` reads comes first, also documents that repeat an id. ``column``,
    ``markup``, ``lines`` and ``header`` are as for `TextFiles`.
    """
    for path in paths:
        if is_address(path):
            raise BadUsage(f"{path}: download it first: a vocabulary is built from files")
    texts = [path for path in paths if Path(path).is_dir() or ending(path) is not None]
    check_paths([path for path in paths if is_packed_parquet(path)])
    with_rows = [path for path in texts if are_parquet([path])]
    if with_rows and not header:
        raise BadUsage(COLUMNS_HAVE_NAMES)
    has_only_rows = bool(with_rows) and len(with_rows) == len(paths)
    if lines and has_only_rows:
        raise BadUsage(ROWS_ARE_DOCUMENTS)
    n_rows = 0
    documents: list[Iterator[str]] = []
    if with_rows:
        rows = local_rows(with_rows, ColumnNames(column, reads_ids=False), say)
        documents.append(_row_documents(rows, say, markup))
        if has_only_rows:
            n_rows = rows.rows
    others = [path for path in texts if path not in with_rows]
    if others:
        files = TextFiles(others, column, say, markup, lines, header=header, by_id=False)
        documents.append(_text_documents(files, say))
    for path in paths:
        if path in texts:
            continue
        if ".xml" in Path(path).name:
            documents.append(_dump_documents(path, say))
        else:
            documents.append(_plain_documents(path, say, markup, lines))
    return chain.from_iterable(documents), n_rows


def _row_documents(rows: ParquetRows, say: Say, markup: Markup) -> Iterator[str]:
    """The prose of the rows of Parquet files."""
    pages = rows.pages(say, markup)
    if markup == "text":
        pages = noticing(pages, lambda page: page.text, say)
    for page in pages:
        yield _prose(page, say)


def _text_documents(files: TextFiles, say: Say) -> Iterator[str]:
    """The prose of other files of documents."""
    for page, _ in files.first_reading(say):
        if isinstance(page, Page):
            yield _prose(page, say)


def _dump_documents(path: str, say: Say) -> Iterator[str]:
    """The prose of a dump."""
    dump = DumpFiles([path], say)
    for page, _ in dump.read():
        if isinstance(page, Page):
            yield _prose(page, say, dump.info)


def _plain_documents(path: str, say: Say, markup: Markup, lines: bool) -> Iterator[str]:
    """The prose of a plain-text file of any name, or of a pipe."""
    with os_error_as(path, BadUsage):
        file = open_input(path, pipes=True)
    with file:
        contents = Contents(file, path, say=say)

        def pages() -> Iterator[Page]:
            for number, (record, line) in enumerate(plain_texts(contents, lines), 1):
                if isinstance(record, Document):
                    contents.without_document = 0  # bytes since the last document
                    yield Page(number, path, 0, record.text, markup)
                else:
                    say(f"{path}, line {line:,}: {record.why}; skipped")

        def plain_text(page: Page) -> str:
            return page.text if markup == "text" else ""

        for page in noticing(pages(), plain_text, say):
            yield _prose(page, say)


def _prose(page: Page, say: Say, info: SourceInfo = UNKNOWN) -> str:
    """The prose of a page; none if it cannot be read, which is told."""
    try:
        return prose(page, info)
    except Exception as error:  # noqa: BLE001 (whatever a hostile page makes the parsers do)
        say(skipped(page, repr(error)[:200]))
        return ""


def crawled_documents(source: Source, articles: int, say: Say) -> Iterator[str]:
    """The prose of (at most) the next ``articles`` articles of a source."""
    with asyncio.Runner() as runner, contextlib.ExitStack() as opened:
        opened.callback(lambda: runner.run(source.close()))
        info = runner.run(source.open())
        batches = source.batches(None)
        opened.callback(lambda: runner.run(batches.aclose()))
        done = 0
        while done < articles:
            pages = runner.run(_next(batches, info))
            if pages is None:
                break
            for page in pages[: articles - done]:
                yield _prose(page, say, info)
            done += len(pages)


async def _next(stretches: AsyncIterator[Stretch], info: SourceInfo) -> Sequence[Page] | None:
    """The pages of the next stretch; None at the end of the source."""
    stretch = await anext(stretches, None)
    if stretch is None:
        return None
    pages: list[Page] = []
    for make in stretch.jobs:
        job = await make()
        pages += [page for page in job.pages(info) if isinstance(page, Page)]
    return pages
