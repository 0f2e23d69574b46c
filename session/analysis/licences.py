"""The licence of a session's titles and word counts."""

from wikitopics.crawler.licences import Licence
from wikitopics.session import sources
from wikitopics.session.settings import Settings


def licence_of(settings: Settings) -> Licence | None:
    """The licence that the kind of source names; None if the documents are the user's own."""
    kind, identity = sources.described(settings.source), settings.source_options
    return None if kind.fault(identity) else kind.licence(identity)
