"""A self-contained page about the topics of a session, for readers who have nothing else.

`contents` reads the session, and `page` writes the page with its charts. The latter needs packages
that only the extra `report` installs; importing this package loads none of them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.extra import REPORT
from wikitopics.session.advance import Advance, unseen
from wikitopics.session.errors import BadUsage
from wikitopics.session.storage.files import check_target

if TYPE_CHECKING:
    from wikitopics.session.storage.reader import SessionReader


def check_page(target: Path) -> None:
    """Raise now the errors of writing a page to ``target``; `BadUsage` if the name is not that of a
    page."""
    check_target(target)
    if target.suffix.lower() not in ("", ".html", ".htm"):
        raise BadUsage(f"{target.name}: the report is a page for a browser: end the name in .html")


def render(
    reader: "SessionReader",
    advance: Advance = unseen,
    *,
    snippets: bool = True,
) -> str:
    """The page of a session; ``snippets``: with the beginnings of the user's own documents.
    ``advance``: is told how many topics and articles have been read.

    Raises `SessionError` if there are no topics yet, `BadUsage` if the extra is not installed.
    """
    if REPORT.missing():
        raise BadUsage(REPORT.needed("the report"))
    from wikitopics.session.analysis.report.contents import contents
    from wikitopics.session.analysis.report.page import page

    return page(contents(reader, advance, snippets=snippets))
