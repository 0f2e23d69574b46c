"""Errors in getting articles; each message is one line for people."""

from dataclasses import dataclass

from wikitopics.visible import visible


class CrawlerError(Exception):
    """The base class of this room's errors. ``exit_code`` is the code with which `wikitopics`
    exits. Names in the message cannot act on a terminal."""

    exit_code = 1

    def __str__(self) -> str:
        return visible(super().__str__())


class ContactMissing(CrawlerError):
    """A Wikimedia host was named without a contact for the User-Agent."""

    exit_code = 2


class BadSource(CrawlerError):
    """The source is not what it should be: no such file, not a dump, a URL without a scheme."""

    exit_code = 2


class Unconfirmed(CrawlerError):
    """Something to which the user has yet to agree. The message says what."""

    exit_code = 2


class BadPosition(CrawlerError):
    """A position to continue from that this kind of source cannot have produced."""

    exit_code = 5

    def __init__(self) -> None:
        super().__init__(
            "the saved crawl position is damaged: restore a backup, or start another session"
        )


class WikiUnreachable(CrawlerError):
    """There has been no valid reply for too long."""

    exit_code = 3


class WikiRefused(CrawlerError):
    """The wiki replied 403: its operators do not want this client. Restarting would make it
    worse."""

    exit_code = 6


@dataclass(eq=False, repr=False)
class TransientError(Exception):
    """A temporary error: the request is worth repeating."""

    text: str
    throttled: bool = False
    """The wiki asks for patience (429, 503, maxlag)."""
    retry_after: float | None = None
    """The seconds for which it asks."""
    answered: bool = False
    """The error came from a working wiki, which therefore counts as reached."""
    slow: bool = False
    """The reply did not come in time."""
    too_large: bool = False
    """The reply is too large; asking for less may help."""
    lasting: bool = False
    """Unlikely to clear by waiting; final at the start of a run."""


class CutOff(Exception):
    """The data ends or breaks in the middle, as the message says. What can be read was handed
    out."""


REST_LEFT_OUT = "everything after the last complete page is left out"


class Damaged(CutOff):
    """A compressed stream cannot be unpacked any further; another one may follow."""

    def __init__(self, start: int, unpacked: int) -> None:
        super().__init__("damaged")
        self.start = start
        """The byte of the file at which the stream begins."""
        self.unpacked = unpacked
        """How many bytes of it were handed out."""


class Lacking(Exception):
    """More bytes of a file are needed than were given. Everything before that was handed out."""
