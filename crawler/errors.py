"""Errors on the way to an article; each message is one line for people."""

from dataclasses import dataclass


class CrawlerError(Exception):
    """Base of this room's errors. ``exit_code`` is the code with which `wikitopics` exits."""

    exit_code = 1


class ContactMissing(CrawlerError):
    """A Wikimedia host was named without a contact for the User-Agent."""

    exit_code = 2


class BadSource(CrawlerError):
    """The source is not what it was named as: no such file, not a dump, a URL without a scheme."""

    exit_code = 2


class Unconfirmed(CrawlerError):
    """Something that the user has not agreed to yet and must be asked about. The message says what."""

    exit_code = 2


class BadPosition(CrawlerError):
    """A position to continue from that this kind of source cannot have produced."""

    exit_code = 5

    def __init__(self) -> None:
        super().__init__("the saved crawl position is damaged: restore a backup, or start another session")


class WikiUnreachable(CrawlerError):
    """No valid reply for too long."""

    exit_code = 3


class WikiRefused(CrawlerError):
    """The wiki replied 403: its operators do not want this client. Restarting would make it worse."""

    exit_code = 6


@dataclass(eq=False, repr=False)
class TransientError(Exception):
    """A temporary error: the request is worth repeating."""

    text: str
    throttled: bool = False
    """The wiki asks for patience (429, 503, maxlag)."""
    retry_after: float | None = None
    """Seconds that it named."""
    answered: bool = False
    """This came from a working wiki, so the wiki counts as reached."""
    slow: bool = False
    """The reply did not come in time."""
    too_large: bool = False
    """The reply is more than can be taken; asking for less may help."""
    lasting: bool = False
    """Unlikely to clear by waiting; final at the start of a run."""


class CutOff(Exception):
    """The data ends or breaks in the middle, as the message says; everything before was handed out."""


class Lacking(Exception):
    """More bytes of a file are needed than were provided; everything before was handed out."""
