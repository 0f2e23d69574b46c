"""Restarting the trainer of an existing session: whether there is anything to do, and what it needs."""

from collections.abc import Mapping
from pathlib import Path

from wikitopics.session import config, sources
from wikitopics.session.options import ARTICLES
from wikitopics.session.paths import command
from wikitopics.session.records import Status
from wikitopics.tui.look import Look


def nothing_left(status: Status) -> str:
    """Why a trainer would end at once; "" if it would not."""
    if status.state != "finished":
        return ""
    limit = status.activity.article_limit
    if limit is not None and status.articles >= limit:
        again = command(f"train {ARTICLES.flag} N", Path(status.session))
        return f"finished: {ARTICLES.flag} {limit:,} is reached; `{again}` continues to a larger N"
    return "finished: every article has been read once"


def lacks_contact(look: Look) -> bool:
    """Whether the server requires a contact, and there is none. Raises SessionError."""
    kind, identity = sources.described(look.status.source), look.settings.get("source_options")
    if not isinstance(identity, Mapping) or kind.fault(identity):
        return False  # the trainer reports what is wrong
    return kind.needs_contact(identity) and config.lacks_contact()
