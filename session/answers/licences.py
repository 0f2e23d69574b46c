"""Under which licence the titles and the word counts of a session are."""

from crawler.licences import Licence
from session import sources
from session.settings import Settings


def licence_of(settings: Settings) -> Licence | None:
    """As the kind of source says; None where the documents are somebody's own."""
    kind, identity = sources.described(settings.source), settings.source_options
    return None if kind.fault(identity) else kind.licence(identity)
