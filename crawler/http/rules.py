"""A server's address, and what the server allows: robots.txt, and limits on the rate of
requests."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from wikitopics.crawler.errors import BadSource

if TYPE_CHECKING:
    from yarl import URL

# From the user's input to the address of a wiki's Action API, of a dump, or of a page.

_LANGUAGE = re.compile(r"[a-z][a-z0-9-]{0,30}[a-z0-9]")
_PAGES = "wiki"
"""The usual folder of pages, beside that of the scripts."""
_MOST_ABOVE = 2
"""Of the folders above a page, those this deep may be the wiki's; deeper ones are parts of its
title."""


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
    url = wiki_address(text, "a dump")
    return url.with_fragment(None)


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


# robots.txt as in RFC 9309: the group for us applies, the longest rule decides, ``*`` and ``$`` are
# supported.
#
# Protego is not used: its version 0.7.0 takes 2.2 GB and three minutes for 127 kB of user agents
# and rules, and it treats a group for "wiki" as one for "wikitopics".

_MOST_BYTES = 500 * 1024
_MOST_RULES = 20_000
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class _Rule:
    pieces: tuple[str, ...]
    """The pieces between the stars."""
    anchored: bool
    """Whether the path must end where the rule does."""
    allow: bool
    length: int

    def decides_over(self, other: _Rule) -> bool:
        """Whether this rule decides for a path that both match."""
        if self.length == other.length:
            return self.allow
        return self.length > other.length


class Robots:
    """The permissions of one robots.txt for a crawler called ``agent``."""

    def __init__(self, text: bytes | str, agent: str) -> None:
        if isinstance(text, bytes):
            text = text[:_MOST_BYTES].decode("utf-8", errors="replace")
        self._rules = _rules_for(text[:_MOST_BYTES].lstrip("\ufeff"), agent.lower())

    def allows(self, path: str) -> bool:
        """Whether ``path`` (with its query, percent-encoded) may be fetched."""
        plain = _same_spelling(path)
        best: _Rule | None = None
        for rule in self._rules:
            if (best is None or rule.decides_over(best)) and _matches(rule, plain):
                best = rule
        return best is None or best.allow


def _rules_for(text: str, agent: str) -> list[_Rule]:
    """The rules of all groups that name ``agent``; if there are none, those for ``*``."""
    groups: dict[str, list[_Rule]] = {}
    targets: list[list[_Rule]] = []
    in_agents = False
    for line in text.splitlines():
        without_comment, _, _ = line.partition("#")
        key, separator, value = without_comment.partition(":")
        if not separator:
            continue
        key = key.strip().lower()
        value = value.strip()
        if key == "user-agent":
            if not in_agents:
                targets = []
            in_agents = True
            token, _, _ = value.lower().partition("/")
            if token in (agent, "*"):
                targets.append(groups.setdefault(token, []))
        elif key in ("allow", "disallow"):
            in_agents = False
            if not value.startswith(("/", "*")):
                continue  # empty: not a rule
            pieces = tuple(_same_spelling(value.removesuffix("$")).split("*"))
            rule = _Rule(pieces, value.endswith("$"), key == "allow", len(value))
            for target in targets:
                if len(target) < _MOST_RULES:
                    target.append(rule)
    return groups.get(agent, groups.get("*", []))


def _same_spelling(path: str) -> str:
    """``path`` with everything beyond the reserved characters unescaped, so that spellings can be
    compared."""
    if "%" not in path:
        return path

    def unescaped(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return match[0].upper() if character in "/*$?#%" else character

    # As one character for each byte: several escapes may make one letter.
    latin = _PERCENT.sub(unescaped, path.encode().decode("latin-1"))
    return latin.encode("latin-1").decode("utf-8", errors="replace")


def _matches(rule: _Rule, path: str) -> bool:
    """Match piece by piece, each as early as possible: linear where a regular expression would
    explode."""
    first, *rest = rule.pieces
    if not path.startswith(first):
        return False
    end = len(first)
    for number, piece in enumerate(rest, 1):
        is_last = rule.anchored and number == len(rest)
        start = len(path) - len(piece) if is_last else path.find(piece, end)
        if start < end or not path.startswith(piece, start):
            return False
        end = start + len(piece)
    return end == len(path) or not rule.anchored


# Request limits for a host: Wikimedia's rules there, gentle defaults elsewhere.

WIKIMEDIA_RPM = 200
PAGES_RPM = 480
"""Pages `/wiki/Title` a minute on Wikimedia: less than half of the 20 a second that its policy
allows."""
OTHER_RPM = 60
_WIKIMEDIA = re.compile(
    r"(?:.*\.)?(?:mediawiki|toolforge|wiki(?:books|data|functions|media|mediafoundation|news|pedia|quote"
    r"|source|versity|voyage)|wiktionary|wmcloud)\.org\.*",
    re.IGNORECASE,
)


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


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The limits that the crawler observes with one host."""

    rpm: int | None
    """Requests a minute; None: no cap."""
    wikimedia: bool = False
    """Whether the budget is shared by all of this user's trainers, and a contact is needed."""
    shortest_gap: float = 0.0
    """The least seconds between the starts of two requests."""
    pause: float = 0.0
    """The least seconds between the end of a reply and the next request."""
    error_pause: float = 0.0
    """The least seconds between a server error (5xx) and the next request."""
    slow_reply: float | None = None
    """A reply slower than this many seconds is followed by a wait of ``slow_wait``."""
    slow_wait: float = 0.0
    at_once: int = 10
    """Requests in parallel. Requests to the Action API are made one at a time anyway."""
    server: str = "the wiki"
    """The server's name in messages."""
    lock: str = "wikimedia.lock"
    """The file with which this user's trainers take turns, if they share a budget."""


def limits_for(host: str, rpm: int | None = None) -> RateLimits:
    """The rules for ``host``; ``rpm`` is the user's rate (None: the default, 0: no cap).

    Raises `BadSource` for a rate that Wikimedia's rules forbid.
    """
    if rpm is not None and rpm < 0:
        raise BadSource(f"--rpm {rpm}: give the number of requests a minute, 0 for no cap")
    if is_wikimedia(host):
        if rpm is not None and not 1 <= rpm <= WIKIMEDIA_RPM:
            raise BadSource(
                f"--rpm {rpm}: Wikimedia allows at most {WIKIMEDIA_RPM} requests a minute"
            )
        return wikimedia_limits(rpm)
    if rpm is None:
        rpm = 0 if is_loopback(host) else OTHER_RPM
    return RateLimits(rpm=rpm or None)


def wikimedia_limits(rpm: int | None = None) -> RateLimits:
    """Wikimedia's rules: 200 requests a minute, under 5 a second, and 5 s of rest after a reply
    slower than 1 s."""
    rpm = rpm or WIKIMEDIA_RPM
    return RateLimits(
        rpm,
        wikimedia=True,
        shortest_gap=0.21,
        slow_reply=1.0,
        slow_wait=5.0,
        at_once=1,
    )


def wikimedia_page_limits(rpm: int | None = None) -> RateLimits:
    """Wikimedia's rules for pages: a limit of their own, bounded by the user's rate too."""
    return replace(
        wikimedia_limits(),
        rpm=min(rpm or PAGES_RPM, PAGES_RPM),
        # 8 a second would be 0.125, but requests do not arrive as evenly as they leave
        shortest_gap=0.135,
        at_once=4,
        lock="wikimedia-pages.lock",
    )


def dump_limits(host: str) -> RateLimits:
    """The rules for a server of dumps: one connection at a time.

    Ranges of many megabytes take seconds, so a slow reply is not followed by a rest.
    """
    if is_wikimedia(host):
        return wikimedia_service_limits(host, "the dump server")
    return RateLimits(
        rpm=None if is_loopback(host) else WIKIMEDIA_RPM, at_once=1, server="the dump server"
    )


def wikimedia_service_limits(host: str, server: str) -> RateLimits:
    """Wikimedia's rules for its servers besides the wikis, such as those of dumps and of streams.

    One request at a time, a second between two, a quarter of an hour after a 5xx, for each server
    separately: https://wikitech.wikimedia.org/wiki/Robot_policy, "Rules for other resources".
    """
    name = re.sub(r"[^a-z0-9.-]", "_", host.lower().rstrip("."))
    return RateLimits(
        rpm=60,
        wikimedia=True,
        pause=1.0,
        error_pause=900.0,
        at_once=1,
        server=server,
        lock=f"{name}.lock",
    )
