"""What can go wrong for good on the way to an article; each message is one line for people."""


class CrawlerError(Exception):
    """Base of this room's errors. ``exit_code`` is the one that `wikitopics` ends with."""

    exit_code = 1


class ContactMissing(CrawlerError):
    """A Wikimedia host was named without a contact for the User-Agent."""

    exit_code = 2


class BadSource(CrawlerError):
    """The source cannot be what was named: no such file, not a dump, a URL without a scheme."""

    exit_code = 2


class SourceChanged(CrawlerError):
    """The source is not what it was when the session began to read it."""


class Unconfirmed(CrawlerError):
    """Something that nobody has agreed to yet: a person is to be asked. The message says what."""

    exit_code = 2


class BadPosition(CrawlerError):
    """The position to go on from is none that this kind of source has ever given."""

    exit_code = 5

    def __init__(self) -> None:
        super().__init__("the saved crawl position is damaged: restore a backup, or start another --session")


class WikiUnreachable(CrawlerError):
    """No valid reply for too long."""

    exit_code = 3


class WikiRefused(CrawlerError):
    """The wiki said 403: its operators do not want this client. Restarting would make it worse."""

    exit_code = 6


class CutOff(Exception):
    """The data ends or breaks in the middle, as the message says; what came before has been handed out."""


class Lacking(Exception):
    """More bytes of a file are needed than were brought along; what came before has been handed out."""
