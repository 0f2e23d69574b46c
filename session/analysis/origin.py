"""Where a session's texts come from: the address of each article in a browser, and the licence."""

import re
from collections.abc import Callable

from wikitopics.crawler.licences import Licence
from wikitopics.session import sources
from wikitopics.session.records import ArticleRow
from wikitopics.session.settings import Settings

Address = Callable[[ArticleRow], str | None]

_SOUND = re.compile(r"https?://[A-Za-z0-9\[][A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]{0,4000}")
"""Only such addresses reach a terminal or a browser: no control character, quote or space, no other
scheme."""


def nowhere(article: ArticleRow) -> str | None:
    """The address of an article that has none."""
    return None


def addresses(settings: Settings) -> Address:
    """The address of each article, as the kind of source gives it for a session with these settings."""
    kind, identity = sources.described(settings.source), settings.source_options
    if kind.fault(identity):
        return nowhere

    def address(article: ArticleRow) -> str | None:
        found = kind.address(identity, article.title, article.revision_id)
        return found if found is not None and _SOUND.fullmatch(found) else None

    return address


def licence_of(settings: Settings) -> Licence | None:
    """The licence of titles and word counts, as the kind of source names it; None if the documents are the
    user's own."""
    kind, identity = sources.described(settings.source), settings.source_options
    return None if kind.fault(identity) else kind.licence(identity)
