"""The contact that Wikimedia asks for: whether one is known, whether it will do, keeping it.

HTTP is imported late: the screen asks here, and would otherwise load it for nothing.
"""

import os

from session import config

VOLUME = "about 4 kB an article, at most 2,400 MB an hour; --max-mb, --articles and --hours bound it"
"""What a crawl of Wikipedia downloads: 600,000 articles an hour is the most that the rules allow."""


def known() -> bool:
    """Whether a trainer started now would find one without being told."""
    return bool(os.environ.get("WIKITOPICS_CONTACT") or config.contact())


def wrong(text: str) -> str | None:
    """What is wrong with ``text`` as a contact, in one line; None if it will do."""
    from crawler.contact import check_contact
    from crawler.errors import CrawlerError

    try:
        check_contact(text)
    except CrawlerError as error:
        return str(error).removesuffix(" with --contact")  # here is a field for it
    return None


def save(text: str) -> None:
    """Keep it in the config file, in the form in which it is sent."""
    from crawler.contact import check_contact

    config.save_contact(check_contact(text))
