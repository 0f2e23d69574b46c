"""Articles in: sources, request rates, markup to prose. Imports no model and no SQLite."""

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.licence import Licence
from wikitopics.crawler.markup.html import extract_html
from wikitopics.crawler.markup.wikitext import extract_wikitext
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.source import Activity, Asked, PageBatch, PageKind, Source
from wikitopics.option import Option

__all__ = [
    "Activity",
    "Asked",
    "BadSource",
    "Licence",
    "Option",
    "Page",
    "PageBatch",
    "PageKind",
    "Source",
    "SourceInfo",
    "extract_html",
    "extract_wikitext",
]
