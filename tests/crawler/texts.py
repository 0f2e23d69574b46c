"""Files of texts, and what a first reading makes of them."""

from collections import Counter
from pathlib import Path

from wikitopics.crawler.file_source import FileSource
from wikitopics.crawler.source import Page
from wikitopics.crawler.texts.files import TextFiles


def write(path: Path, data: bytes | str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def texts_source(paths: list[str], *, held_out: int | None = None, resuming: bool = False) -> FileSource:
    """The documents of the files, as a trainer gets them."""
    return FileSource("texts", TextFiles(paths), held_out=held_out, resuming=resuming)


def read(*paths: str, column: str | None = None) -> tuple[list[Page], Counter[str], list[str]]:
    """(documents, skips by reason, what was told) of a first reading."""
    told: list[str] = []
    pages: list[Page] = []
    skips: Counter[str] = Counter()
    for page, _ in TextFiles(paths, column, told.append).first_reading(told.append):
        if isinstance(page, Page):
            pages.append(page)
        else:
            skips[page] += 1
    return pages, skips, told
