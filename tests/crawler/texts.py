"""Files of texts, and what a first reading makes of them."""

from collections import Counter

from wikitopics.crawler.file_source import FileSource
from wikitopics.crawler.source import Page
from wikitopics.crawler.texts.files import TextFiles


def texts_source(paths, *, held_out=None, resuming=False):
    """The documents of the files, as a trainer gets them."""
    return FileSource("texts", TextFiles(paths), held_out=held_out, resuming=resuming)


def read(*paths, column=None, **how):
    """(documents, skips by reason, what was told) of a first reading."""
    told = []
    pages = []
    skips = Counter()
    for page, _ in TextFiles(paths, column, told.append, **how).first_reading(told.append):
        if isinstance(page, Page):
            pages.append(page)
        else:
            skips[page] += 1
    return pages, skips, told
