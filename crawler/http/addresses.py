"""Addresses: from the user's input to that of a wiki's Action API, of a dump or of a page."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from wikitopics.crawler.errors import BadSource

if TYPE_CHECKING:
    from yarl import URL

_WIKIMEDIA = re.compile(
    r"(?:.*\.)?(?:mediawiki|toolforge|wiki(?:books|data|functions|media|mediafoundation|news|pedia"
    r"|quote|source|versity|voyage)|wiktionary|wmcloud)\.org\.*",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"[a-z][a-z0-9-]{0,30}[a-z0-9]")
_PAGES = "wiki"
"""The usual folder of pages, beside that of the scripts."""
_MOST_ABOVE = 2
"""Of the folders above a page, those this deep may be the wiki's; deeper ones are parts of its
title."""


def is_wikimedia(host: str) -> bool:
    """Whether Wikimedia's rules apply to ``host``."""
    return _WIKIMEDIA.fullmatch(host) is not None


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine."""
    if host.lower().rstrip(".") in ("localhost", "localhost.localdomain"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


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
        is_valid_port = url.explicit_port is None or 0 < url.explicit_port < 65536
    except ValueError:
        raise BadSource(f"{text[:100]!r} is not an address of {what}") from None
    if url.scheme not in ("http", "https") or not host or not is_valid_port:
        raise BadSource(
            f"{text[:100]!r} is not an address of {what}: it must begin with http:// or https://"
        )
    if url.user is not None or url.password is not None:
        raise BadSource(f"the address of {what} must not contain a user name or password")
    return url


def is_address(name: str) -> bool:
    """Whether this is a network address, not a file on this machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", name) is not None


def dump_address(text: str) -> URL:
    """The address of a dump, or of a folder of dumps. Raises `BadSource`."""
    return wiki_address(text, "a dump").with_fragment(None)


def texts_address(text: str) -> URL:
    """The address of a file of texts. Raises `BadSource`."""
    return wiki_address(text, "a file").with_fragment(None)


def api_candidates(text: str) -> list[URL]:
    """Possible addresses of the api.php, likeliest first; only one if ``text`` names it.

    A wiki's base address, one of its pages or its index.php is accepted too: the api.php may be
    beside it, or in a folder above. Raises `BadSource`.
    """
    url = wiki_address(text)
    if url.path.endswith("/api.php"):
        return [url.with_path(url.path)]
    folders = _folders(url.path)
    if is_wikimedia(url.host or ""):
        folders.insert(0, "")
    places = [place for folder in folders for place in _places(folder)]
    return [url.with_path(place) for place in dict.fromkeys(places)]


def _folders(path: str) -> list[str]:
    """The folders where a wiki with a page at ``path`` may have its scripts, likeliest first; the
    last is the host's root, ""."""
    names = [name for name in path.split("/") if name not in ("", ".", "..")]
    scripts = [name for name in names if name.endswith(".php")]
    if scripts:
        depth = names.index(scripts[0])
    elif _PAGES in names:
        depth = names.index(_PAGES)
    else:
        depth = len(names)
    depths = [depth]
    if _PAGES in names and not scripts:
        # /wiki/Title or /de/wiki/Title, but scripts may be in /wiki/
        depths.append(depth + 1)
    depths += range(min(depth - 1, _MOST_ABOVE), 0, -1)
    depths.append(0)
    different_depths = dict.fromkeys(depths)
    return ["".join(f"/{name}" for name in names[:depth]) for depth in different_depths]


def folder_of_wiki(path: str) -> str:
    """The folder of the wiki with a page or script at ``path``, as far as can be told; "" for the
    root."""
    return _folders(path)[0].removesuffix("/w")


def _places(folder: str) -> list[str]:
    """The possible paths of the api.php of a wiki in this folder."""
    here = f"{folder}/api.php"
    inside = f"{folder}/w/api.php"
    if not folder:
        return [inside, here]
    return [here] if folder.endswith("/w") else [here, inside]


def by_script(index: URL, title: str, revision_id: int) -> str:
    """The address at which index.php shows a page as of a revision; the current one if that is not
    known (0)."""
    script = index.with_query(None).with_fragment(None)
    quoted = quote(_in_address(title), safe="")
    return f"{script}?title={quoted}{_oldid('&', revision_id)}"


def by_path(page: URL, title: str, revision_id: int) -> str:
    """The same, next to another page of the wiki."""
    if "title" in page.query:
        return by_script(page, title, revision_id)
    folder, _, _ = str(page.with_query(None).with_fragment(None)).rpartition("/")
    quoted = quote(_in_address(title), safe="/:")
    return f"{folder}/{quoted}{_oldid('?', revision_id)}"


def _in_address(title: str) -> bytes:
    return title.replace(" ", "_").encode("utf-8", "replace")


def _oldid(sign: str, revision_id: int) -> str:
    return f"{sign}oldid={revision_id}" if revision_id > 0 else ""
