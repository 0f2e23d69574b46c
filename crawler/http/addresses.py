"""From the user's input to the address of a wiki's Action API."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from wikitopics.crawler.source import BadSource

if TYPE_CHECKING:
    from yarl import URL

_LANGUAGE = re.compile(r"[a-z][a-z0-9-]{0,30}[a-z0-9]")
_API_PLACES = ("/w/api.php", "/api.php")


def language_api(code: str) -> str:
    """Wikipedia's api.php in the language of ``code``. Raises `BadSource`."""
    name = code.strip().lower()
    if not _LANGUAGE.fullmatch(name):
        raise BadSource(f"--lang {code[:40]!r}: give a language code such as en, de or zh-yue")
    return f"https://{name}.wikipedia.org/w/api.php"


def wiki_address(text: str, what: str = "a wiki") -> URL:
    """An address on a wiki, http or https. Raises `BadSource` for anything else."""
    from yarl import URL  # the declarations of sources import this module, and must load quickly

    try:
        url = URL(text.strip())
        host = url.host  # raises if it is not valid IDNA
        port_fits = url.explicit_port is None or 0 < url.explicit_port < 65536
    except ValueError:
        raise BadSource(f"{text[:100]!r} is not an address of {what}") from None
    if url.scheme not in ("http", "https") or not host or not port_fits:
        raise BadSource(f"{text[:100]!r} is not an address of {what}: it must begin with http:// or https://")
    if url.user is not None or url.password is not None:
        raise BadSource(f"the address of {what} must not contain a user name or password")
    return url


def is_address(name: str) -> bool:
    """Whether this is a network address, not a file on this machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", name) is not None


def dump_address(text: str) -> URL:
    """The address of a dump, or of a folder of dumps. Raises `BadSource`."""
    url = wiki_address(text, "a dump")
    return url.with_fragment(None)


def api_candidates(text: str) -> list[URL]:
    """Possible addresses of the api.php, likeliest first; only one if ``text`` names it.

    A wiki's base address, one of its pages or its index.php is accepted too. Raises `BadSource`.
    """
    url = wiki_address(text)
    path = url.path
    if path.endswith("/api.php"):
        return [url.with_path(path)]
    places: list[str] = []
    if path.endswith(("/index.php", "/rest.php")):
        places.append(path[: path.rindex("/")] + "/api.php")
    elif not path.startswith("/wiki/") and path.strip("/"):
        places.append(path.rstrip("/") + "/api.php")
    places += [place for place in _API_PLACES if place not in places]
    return [url.with_path(place) for place in places]


def by_script(index: URL, title: str, revision_id: int) -> str:
    """The address at which index.php shows a page as of a revision; the current one if that is not known
    (0)."""
    named = f"title={quote(_in_address(title), safe='')}"
    return f"{index.with_query(None).with_fragment(None)}?{named}{_oldid('&', revision_id)}"


def by_path(page: URL, title: str, revision_id: int) -> str:
    """The same, next to another page of the wiki."""
    if "title" in page.query:
        return by_script(page, title, revision_id)
    folder = str(page.with_query(None).with_fragment(None)).rpartition("/")[0]
    return f"{folder}/{quote(_in_address(title), safe='/:')}{_oldid('?', revision_id)}"


def _in_address(title: str) -> bytes:
    return title.replace(" ", "_").encode("utf-8", "replace")


def _oldid(sign: str, revision_id: int) -> str:
    return f"{sign}oldid={revision_id}" if revision_id > 0 else ""
