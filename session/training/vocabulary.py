"""Prose for building a vocabulary: from files, dumps, or a wiki crawled for this purpose."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

from wikitopics.crawler.dumps.xml import DumpFiles
from wikitopics.crawler.markup.texts import UNKNOWN, noticing, prose
from wikitopics.crawler.source import Markup, Page, Source, SourceInfo, Stretch, close_batches
from wikitopics.crawler.texts.files import TextFiles, ending
from wikitopics.crawler.texts.records import Contents, Document, plain_texts
from wikitopics.session.errors import BadUsage, Say, os_error_as
from wikitopics.session.storage.files import open_input
from wikitopics.session.training.blocks import skipped


def file_documents(
    paths: Sequence[str], say: Say, column: str | None = None, markup: Markup = "text", lines: bool = False
) -> Iterator[str]:
    """The prose of dumps (``.xml`` in the name), whatever ``--source texts`` reads, and plain text in files
    of other names.

    What ``--source texts`` reads comes first. ``column``, ``markup`` and ``lines`` are as for `TextFiles`.
    """
    texts = [path for path in paths if Path(path).is_dir() or ending(path) is not None]
    if texts:
        for page, _ in TextFiles(texts, column, say, markup, lines).first_reading(say):
            if isinstance(page, Page):
                yield _prose(page, say)
    for path in paths:
        if path not in texts:
            if ".xml" in Path(path).name:
                yield from _dump_documents(path, say)
            else:
                yield from _plain_documents(path, say, markup, lines)


def _plain_documents(path: str, say: Say, markup: Markup, lines: bool) -> Iterator[str]:
    """The prose of a plain text of any name; a pipe, too."""
    with os_error_as(path, BadUsage):
        file = open_input(path, pipes=True)
    with file:
        contents = Contents(file, path, tell=say)

        def pages() -> Iterator[Page]:
            for number, (record, line) in enumerate(plain_texts(contents, lines), 1):
                if isinstance(record, Document):
                    contents.without = 0
                    yield Page(number, path, 0, record.text, markup)
                else:
                    say(f"{path}, line {line:,}: {record.why}; skipped")

        for page in noticing(pages(), lambda page: page.text if markup == "text" else "", say):
            yield _prose(page, say)


def _dump_documents(path: str, say: Say) -> Iterator[str]:
    files = DumpFiles([path], say)
    for page, _ in files.read():
        if isinstance(page, Page):
            yield _prose(page, say, files.info)


def _prose(page: Page, say: Say, info: SourceInfo = UNKNOWN) -> str:
    try:
        return prose(page, info)
    except Exception as error:  # noqa: BLE001 (whatever a hostile page makes the parsers do)
        say(skipped(page, repr(error)[:200]))
        return ""


def crawled_documents(
    source: Source, articles: int, progress: Callable[[int], None], say: Say
) -> Iterator[str]:
    """The prose of (at most) the next ``articles`` articles of a source."""
    with asyncio.Runner() as runner:
        try:
            info = runner.run(source.open())
            batches = source.batches(None)
            done = 0
            try:
                while done < articles:
                    pages = runner.run(_next(batches, info))
                    if pages is None:
                        return
                    for page in pages[: articles - done]:
                        yield _prose(page, say, info)
                    done += min(len(pages), articles - done)
                    progress(done)
            finally:
                runner.run(close_batches(batches))
        finally:
            runner.run(source.close())


async def _next(stretches: AsyncIterator[Stretch], info: SourceInfo) -> Sequence[Page] | None:
    stretch = await anext(stretches, None)
    if stretch is None:
        return None
    return [page for job in stretch.jobs for page in (await job()).pages(info) if isinstance(page, Page)]
