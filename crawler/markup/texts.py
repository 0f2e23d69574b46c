"""What is counted of a page: its prose, or the articles to which its prose links."""

from wikitopics.crawler.markup.html import extract_html, html_links
from wikitopics.crawler.markup.prose import SEPARATES_WORDS, without_invisible
from wikitopics.crawler.markup.titles import titles
from wikitopics.crawler.markup.wikitext import extract_wikitext, wikitext_links
from wikitopics.crawler.page import Page, SourceInfo

UNKNOWN = SourceInfo("", None)


def text_to_count(page: Page, info: SourceInfo) -> str:
    """`prose`, but plain text may keep invisible characters: those that the rules of words leave
    out, too."""
    if page.markup == "text" and SEPARATES_WORDS not in page.text:
        return page.text
    return prose(page, info)


def prose(page: Page, info: SourceInfo = UNKNOWN) -> str:
    """The page's text without its markup; ``info`` has the language of its wiki, and its names for
    files and categories."""
    if page.markup == "wikitext":
        return extract_wikitext(
            page.text,
            file_names=info.file_names,
            category_names=info.category_names,
            language=info.language,
        )
    if page.markup == "html":
        return extract_html(page.text)
    return without_invisible(page.text)


def page_links(page: Page, info: SourceInfo) -> list[str]:
    """The titles of the articles to which the page's prose links, each as often as it does."""
    if page.markup == "wikitext":
        targets = wikitext_links(
            page.text,
            file_names=info.file_names,
            category_names=info.category_names,
            language=info.language,
        )
    elif page.markup == "html":
        targets = html_links(page.text, info.article_path)
    else:
        targets = []
    return list(titles(targets, info, page.title))
