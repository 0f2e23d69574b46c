"""Articles in: sources, manners towards the wiki, markup to prose. Knows no model and no SQLite."""

from crawler.extract_html import extract_html
from crawler.extract_wikitext import extract_wikitext

__all__ = ["extract_html", "extract_wikitext"]
