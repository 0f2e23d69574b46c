"""Articles in: sources, request rates, markup to prose. Imports no model and no SQLite."""

from crawler.errors import BadSource
from crawler.extract_html import extract_html
from crawler.extract_wikitext import extract_wikitext
from crawler.kind import Asked, PageKind
from crawler.licences import Licence
from crawler.options import Option
from crawler.source import Activity, Page, PageBatch, Source, SourceInfo

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
