"""Where a session's texts come from: the address of each article in a browser, and the licence."""

import re
from collections.abc import Callable

from wikitopics.crawler.licence import Licence
from wikitopics.session import sources
from wikitopics.session.records import ArticleRow
from wikitopics.session.settings import Settings

Address = Callable[[ArticleRow], str | None]

_SAFE = re.compile(r"https?://[A-Za-z0-9\[][A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]{0,4000}")
"""Only such addresses reach a terminal or a browser: http or https, without control characters,
quotes or spaces."""


def addresses(settings: Settings) -> Address:
    """The address of each article, as the kind of source gives it for a session with these
    settings."""
    kind = sources.kind_named(settings.source)
    identity = settings.source_options
    is_valid = not kind.fault(identity)

    def address(article: ArticleRow) -> str | None:
        if not is_valid:
            return None
        link = kind.address(identity, article.title, article.revision_id)
        if link is None or not _SAFE.fullmatch(link):
            return None
        return link

    return address


def licence_of(settings: Settings) -> Licence | None:
    """The licence of titles and word counts, as the kind of source states it; None if there is
    none, as for the user's own documents."""
    kind = sources.kind_named(settings.source)
    identity = settings.source_options
    return None if kind.fault(identity) else kind.licence(identity)
