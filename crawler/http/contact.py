"""The contact that Wikimedia asks for, and the User-Agent made from it.

Wikimedia's servers count requests by the contact that they find in the User-Agent, so what is sent must be
found whole there, or several users share one budget. Their patterns are from
``modules/profile/files/cache/contact_info.lua`` of their operations/puppet repository, as of 2026.
"""

import re
import unicodedata
from urllib.parse import unquote

import aiohttp
from yarl import URL

from wikitopics.crawler.errors import BadSource, ContactMissing
from wikitopics.crawler.http.addresses import wiki_address
from wikitopics.crawler.http.limits import is_wikimedia

_MOST_SEARCHED = 512
"""Characters of the longest User-Agent in which the servers look for a contact."""
_FOUND_EMAIL = re.compile(r"[\w.+-]+@[\w-]*[a-zA-Z][\w-]*\.[a-zA-Z]{2,}", re.ASCII)
_LONGEST_USER, _LONGEST_HOST = 64, 255
_FOUND_URL = re.compile(r"https?://[\w/.%-]+", re.ASCII)
_FOUND_NAMES = (
    re.compile(r"\([^\W_]+:[a-zA-Z0-9-]+; [Uu]ser:([\w\s.()-]+)\)", re.ASCII),
    re.compile(r"\[\[[Uu]ser:([\w\s.()-]+)\]\]", re.ASCII),
)

_USER = re.compile(r"(?:[\w-]{1,12}:){0,2}User(?:[ _]talk)?:[\s_]*([^\s_<>|\[\]{}#:@][^<>|\[\]{}#:@]*)", re.I)
_PLAIN_NAME = re.compile(r"[\w .-]+", re.ASCII)
"""Parentheses would be found too, but must not be nested in those of the User-Agent."""
_NOBODYS = re.compile(r"/|/wiki|/wiki/([^:]*|[^:]*:[ _]*|Special:.*)|/w/.*")
"""Pages of a wiki that belong to no user: those of users are in a namespace."""
_PLACEHOLDER = re.compile(r"(^|[@/.])example\.(com|org|net|edu)\b", re.IGNORECASE)
_LONGEST = 400
_HOW = "give your e-mail address, your page's URL or User:Name with --contact"


def recognised(agent: str) -> str | None:
    """Whom Wikimedia's servers take for the sender of this User-Agent; None: nobody, so 10 requests a
    minute."""
    if len(agent) > _MOST_SEARCHED:
        return None
    if email := _FOUND_EMAIL.search(agent):
        user, _, host = email[0].partition("@")
        if len(user) <= _LONGEST_USER and len(host) <= _LONGEST_HOST:
            return email[0]
    if url := _FOUND_URL.search(agent):
        return url[0]
    names = (pattern.search(agent) for pattern in _FOUND_NAMES)
    return next((name[1] for name in names if name), None)


def check_contact(text: str) -> str:
    """The contact in the form in which it is sent to Wikimedia's servers, which find the whole of it.

    The result is accepted again, and by `sendable`. Raises `ContactMissing` if it names nobody who can be
    reached, or would be found only in part; the message never repeats the contact.
    """
    contact = _one_line(text)
    if placeholder := _PLACEHOLDER.search(contact):
        raise ContactMissing(f"{placeholder[0].lstrip('@/.').lower()} reaches nobody: {_HOW}")
    if name := _USER.fullmatch(unquote(contact).strip("[:]")):
        sent = _user_page(name[1])
    elif contact.lower().startswith(("http://", "https://")):
        sent = _web_page(contact)
    elif "@" in contact:
        sent = _email(contact)
    else:
        raise ContactMissing(f"the contact does not look like an e-mail address, URL or User:Name: {_HOW}")
    return sendable(sent)


def _user_page(name: str) -> str:
    """A link to the page of a user, whose account is the same on all of Wikimedia's wikis."""
    name = " ".join(name.replace("_", " ").split())
    if _PLAIN_NAME.fullmatch(name):
        return f"[[User:{name}]]"
    page = f"/wiki/User:{name.replace(' ', '_')}"
    return _coded(URL.build(scheme="https", host="meta.wikimedia.org", path=page))


def _web_page(text: str) -> str:
    """The same page's address, in characters that the servers read; they stop at all others."""
    try:
        url = wiki_address(text)
        host = url.host or ""
        on_wiki = is_wikimedia(host) and not host.endswith(("toolforge.org", "wmcloud.org"))
        if on_wiki and "title" in url.query:  # .../w/index.php?title=User:Name
            url = url.with_path("/wiki/" + url.query["title"])
    except (BadSource, ValueError):
        raise ContactMissing(f"the contact is not a URL that anybody can open: {_HOW}") from None
    sent = _coded(url)
    if "." not in host.strip("."):
        raise ContactMissing(f"the contact is the URL of a host without a domain: {_HOW}")
    if on_wiki and _NOBODYS.fullmatch(url.path):
        raise ContactMissing(f"the contact is the URL of a wiki page that is not a user's own: {_HOW}")
    if url.query_string or url.fragment or not url.is_default_port() or recognised(sent) != sent:
        raise ContactMissing(
            "Wikimedia's servers would read only the beginning of this URL, which others may share: give one "
            "without a port, ? and #, or your e-mail address or User:Name with --contact"
        )
    return sent


def _coded(url: URL) -> str:
    path = re.sub(r"[^\w/.%-]", lambda found: f"%{ord(found[0]):02X}", url.raw_path, flags=re.ASCII)
    return f"{url.scheme}://{url.raw_host}{path}"


def _email(text: str) -> str:
    user, _, host = text.rpartition("@")
    try:
        sent = f"{user}@{URL.build(scheme='https', host=host).raw_host}"
    except ValueError:
        sent = ""
    if recognised(sent) != sent:
        raise ContactMissing(
            "Wikimedia's servers would not recognise this e-mail address as yours alone: they read only "
            "NAME@HOST.ENDING, with ASCII letters, digits and . + - _ in NAME, a letter in HOST and only "
            "letters in ENDING; give User:Name or your page's URL with --contact"
        )
    return sent


def _one_line(text: str) -> str:
    contact = text.strip()
    if not contact:
        raise ContactMissing(f"no contact, and Wikimedia asks who runs a crawler: {_HOW}")
    if any(unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in contact):
        raise ContactMissing(f"the contact must be one line without control characters: {_HOW}")
    return contact


def sendable(text: str) -> str:
    """The contact in a form allowed in a User-Agent. Raises `ContactMissing`."""
    contact = _one_line(text)
    if len(contact) > _LONGEST:
        raise ContactMissing(f"the contact is longer than {_LONGEST} characters: {_HOW}")
    if "(" in contact or ")" in contact:
        raise ContactMissing(f"the contact must not contain parentheses: {_HOW}")
    return contact


def user_agent(version: str, contact: str | None) -> str:
    """``wikitopics/VERSION (CONTACT) aiohttp/VERSION``, with a contact already checked.

    Characters beyond ASCII are percent-encoded, since a header cannot carry them.
    """
    parts = [f"wikitopics/{version}"]
    if contact:
        ascii_only = "".join(c if c.isascii() else "".join(f"%{b:02X}" for b in c.encode()) for c in contact)
        parts.append(f"({ascii_only})")
    parts.append(f"aiohttp/{aiohttp.__version__}")
    return " ".join(parts)
