"""Pages to count, and a comparison of blocks."""

import numpy as np

from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.vocab.rules import Rule

INFO = SourceInfo("w", None)
RULE = Rule.of_language("uk")


def pages(*texts):
    return [
        Page(number, f"p{number}", 1, text, "text") for number, text in enumerate(texts, start=1)
    ]


def same(one, other):
    names = "page_ids", "revision_ids", "indptr", "word_ids", "counts"
    alike = (np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
    return one.titles == other.titles and all(alike)
