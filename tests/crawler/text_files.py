"""Files of people's own documents, and what is read of them."""

import bz2
import gzip
import json
import lzma
from collections import Counter

import zstandard

from wikitopics.crawler.page import Page
from wikitopics.crawler.texts.documents import TextFiles


def read(*paths, column=None, **options):
    """(documents, number of skips by reason, messages) of a first reading of these files.

    ``column``: the column, or the key of JSON lines, that has the text.
    """
    messages = []
    # Some messages come when the paths are looked through, others when the files are read.
    files = TextFiles(paths, column, messages.append, **options)
    pages = []
    skips = Counter()
    for page_or_reason, _ in files.first_reading(messages.append):
        if isinstance(page_or_reason, Page):
            pages.append(page_or_reason)
        else:
            skips[page_or_reason] += 1
    return pages, skips, messages


def read_pages(*paths, **options):
    """The documents alone of a first reading."""
    pages, _, _ = read(*paths, **options)
    return pages


def texts_of(pages):
    return [page.text for page in pages]


PACKERS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
}
"""By the end of a file's name; "" leaves the bytes as they are."""


def jsonl(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
