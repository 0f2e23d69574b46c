"""Files of texts, and what a first reading makes of them."""

from collections import Counter
from pathlib import Path

from wikitopics.crawler.source import Page
from wikitopics.crawler.texts.files import TextFiles


def write(path: Path, data: bytes | str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def read(*paths: str, column: str | None = None) -> tuple[list[Page], Counter[str], list[str]]:
    """(documents, skips by reason, what was told) of a first reading."""
    told: list[str] = []
    pages: list[Page] = []
    skips: Counter[str] = Counter()
    for found in TextFiles(paths, column, told.append).first_reading(told.append):
        if isinstance(found.page, Page):
            pages.append(found.page)
        else:
            skips[found.page] += 1
    return pages, skips, told
