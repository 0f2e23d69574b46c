"""Parquet files for tests, and what a source makes of them."""

import json
from contextlib import aclosing

import pytest

from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.texts.files import text_files
from wikitopics.crawler.texts.parquet import ParquetRows
from wikitopics.crawler.texts.parquet_columns import ColumnNames
from wikitopics.crawler.texts.parquet_footer import LocalRowFile
from wikitopics.crawler.texts.parquet_source import ParquetTexts


def table(numbers, **columns):
    """A table of small documents."""
    pa = pytest.importorskip("pyarrow")
    numbers = list(numbers)
    usual = {
        "id": [f"n{number}" for number in numbers],
        "title": [f"Title {number}" for number in numbers],
        "text": [f"text number {number} of a river" for number in numbers],
    }
    return pa.table({**usual, **columns})


def write(path, made, group=100, **options):
    """Write a table; returns the path."""
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(made, path, row_group_size=group, **options)
    return str(path)


def rows_of(*paths, tell=lambda message: None, **names):
    """The rows of files."""
    files = [LocalRowFile(file) for file in text_files(paths, tell, ".parquet")]
    return ParquetRows(files, ColumnNames(**names), "the files")


def source_of(*paths, seed=3, **options):
    """A source of files."""
    names = {key: options.pop(key) for key in ("text", "title", "id") if key in options}
    return ParquetTexts(lambda tell: rows_of(*paths, tell=tell, **names), seed=seed, **options)


async def read(source, position=None, stop_after=None):
    """(page ids in the order of the stream, skips, the last position, pages by id) of a source,
    which is then closed; ``stop_after``: how many pieces are read."""
    try:
        info = await source.open()
    except BaseException:
        await source.close()
        raise
    ids = []
    skips = []
    pages = {}
    pieces = 0
    last = position if position is not None else info.start
    try:
        async with aclosing(source.batches(last)) as stretches:
            async for stretch in stretches:
                of_jobs = []
                for make in stretch.jobs:
                    job = await make()
                    found = list(job.pages(SourceInfo("", None)))
                    of_jobs.append([page for page in found if isinstance(page, Page)])
                    skips += [page for page in found if not isinstance(page, Page)]
                in_order = [page for of_job in of_jobs for page in of_job]
                order = stretch.order([[page.page_id for page in of_job] for of_job in of_jobs])
                in_order = [in_order[place] for place in order]
                for piece in stretch.pieces(len(in_order)):
                    for page in in_order[piece.start : piece.stop]:
                        ids.append(page.page_id)
                        pages[page.page_id] = page
                    last = json.loads(json.dumps(piece.position))
                    last_lap = piece.lap
                    pieces += 1
                    if pieces == stop_after:
                        return ids, skips, last, pages
        assert last_lap == 1.0
        return ids, skips, last, pages
    finally:
        await source.close()


@pytest.fixture
def in_small_steps(monkeypatch):
    """A small file has many steps and stretches."""
    for module in ("parquet", "parquet_order", "parquet_source", "parquet_steps"):
        monkeypatch.setattr(f"wikitopics.crawler.texts.{module}.BATCH", 7)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_steps._STRETCH_ROWS", 90)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_steps._JOB_ROWS", 20)
    monkeypatch.setattr("wikitopics.crawler.rounds.BLOCK", 16)
