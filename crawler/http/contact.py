"""The contact that Wikimedia asks for, and the User-Agent made from it.

Wikimedia's servers count requests by the contact that they find in the User-Agent, so they must
find all of it there; otherwise several users would share one budget. Their patterns are from
``modules/profile/files/cache/contact_info.lua`` of their operations/puppet repository, as of 2026.
"""

import re
import unicodedata
from urllib.parse import unquote

from yarl import URL

from wikitopics.crawler.errors import BadSource, ContactMissing
from wikitopics.crawler.http.addresses import is_wikimedia, wiki_address

_MOST_SEARCHED = 512
"""Characters of the longest User-Agent in which the servers look for a contact."""
_FOUND_EMAIL = re.compile(r"[\w.+-]+@[\w-]*[a-zA-Z][\w-]*\.[a-zA-Z]{2,}", re.ASCII)
_LONGEST_USER = 64
_LONGEST_HOST = 255
_FOUND_URL = re.compile(r"https?://[\w/.%-]+", re.ASCII)

_USER = re.compile(
    r"(?:[\w-]{1,12}:){0,2}User(?:[ _]talk)?:[\s_]*([^\s_<>|\[\]{}#:@][^<>|\[\]{}#:@]*)", re.I
)
_PLAIN_NAME = re.compile(r"[\w .-]+", re.ASCII)
"""Servers would find parentheses too, but these must not be nested in those of the User-Agent."""
_NOBODYS = re.compile(r"/|/wiki|/wiki/([^:]*|[^:]*:[ _]*|Special:.*)|/w/.*")
"""Paths of wiki pages outside the user namespace."""
_PLACEHOLDER = re.compile(r"(^|[@/.])example\.(com|org|net|edu)\b", re.IGNORECASE)
_LONGEST = 400
HOW = "give your e-mail address, your page's URL or User:Name with --contact"
"""What to do about most errors, which end with it."""


def recognised(agent: str) -> str | None:
    """The e-mail address or else URL that Wikimedia's servers find in this User-Agent; None:
    neither.

    If there is not a user's name either, nobody is found, which means 10 requests a minute.
    """
    if len(agent) > _MOST_SEARCHED:
        return None
    email = _FOUND_EMAIL.search(agent)
    if email:
        user, _, host = email[0].partition("@")
        if len(user) <= _LONGEST_USER and len(host) <= _LONGEST_HOST:
            return email[0]
    url = _FOUND_URL.search(agent)
    return url[0] if url else None


def check_contact(text: str) -> str:
    """The contact as it is sent to Wikimedia's servers, which find all of it.

    The result is accepted again, also by `sendable`. Raises `ContactMissing` if it names nobody who
    can be reached, or would be found only in part; the message never repeats the contact.
    """
    contact = _plain_line(text)
    placeholder = _PLACEHOLDER.search(contact)
    if placeholder:
        host = placeholder[0].lstrip("@/.").lower()
        raise ContactMissing(f"nobody can be reached at {host}: {HOW}")
    user = _USER.fullmatch(unquote(contact).strip("[:]"))
    if user:
        name = " ".join(user[1].replace("_", " ").split())
        sent = f"[[User:{name}]]"
        if not _PLAIN_NAME.fullmatch(name):
            # An account is the same on all of Wikimedia's wikis.
            page = f"/wiki/User:{name.replace(' ', '_')}"
            sent = _coded(URL.build(scheme="https", host="meta.wikimedia.org", path=page))
    elif contact.lower().startswith(("http://", "https://")):
        sent = _web_page(contact)
    elif "@" in contact:
        sent = _email(contact)
    else:
        raise ContactMissing(
            f"the contact does not look like an e-mail address, URL or User:Name: {HOW}"
        )
    return sendable(sent)


def _web_page(text: str) -> str:
    """The same page's address in the characters that the servers read; they stop at any other."""
    try:
        url = wiki_address(text)
        host = url.host or ""
        on_wiki = is_wikimedia(host) and not host.endswith(("toolforge.org", "wmcloud.org"))
        if on_wiki and "title" in url.query:  # .../w/index.php?title=User:Name
            url = url.with_path("/wiki/" + url.query["title"])
    except (BadSource, ValueError):
        raise ContactMissing(f"the contact is not a URL that anybody can open: {HOW}") from None
    sent = _coded(url)
    if "." not in host.strip("."):
        raise ContactMissing(f"the contact is the URL of a host without a domain: {HOW}")
    if on_wiki and _NOBODYS.fullmatch(url.path):
        raise ContactMissing(
            f"the contact is the URL of a wiki page that is not a user's own: {HOW}"
        )
    has_more = url.query_string or url.fragment or not url.is_default_port()
    if has_more or recognised(sent) != sent:
        raise ContactMissing(
            "Wikimedia's servers would read only the beginning of this URL, which others may "
            "share: give one without a port, ? and #, or your e-mail address or User:Name with "
            "--contact"
        )
    return sent


def _coded(url: URL) -> str:
    path = re.sub(r"[^\w/.%-]", lambda match: f"%{ord(match[0]):02X}", url.raw_path, flags=re.ASCII)
    return f"{url.scheme}://{url.raw_host}{path}"


def _email(text: str) -> str:
    user, _, host = text.rpartition("@")
    if not user or "." not in host:
        raise ContactMissing(f"not a complete e-mail address: {HOW}")
    try:
        sent = f"{user}@{URL.build(scheme='https', host=host).raw_host}"
    except ValueError:
        sent = ""
    if recognised(sent) != sent:
        raise ContactMissing(
            "Wikimedia's servers read only NAME@HOST.ENDING, with ASCII letters, digits and . + - "
            "_ in NAME, a letter in HOST and only letters in ENDING; give User:Name or your page's "
            "URL with --contact"
        )
    return sent


def _plain_line(text: str) -> str:
    """The contact without blanks around it. Raises `ContactMissing` if it is not one line."""
    contact = text.strip()
    if not contact:
        raise ContactMissing(f"no contact, and Wikimedia asks who runs a crawler: {HOW}")
    for character in contact:
        is_control = unicodedata.category(character).startswith("C")
        if is_control or character in "\u2028\u2029":
            raise ContactMissing(f"the contact must be one line without control characters: {HOW}")
    return contact


def sendable(text: str) -> str:
    """The contact in a form allowed in a User-Agent. Raises `ContactMissing`."""
    contact = _plain_line(text)
    if len(contact) > _LONGEST:
        raise ContactMissing(f"the contact is longer than {_LONGEST} characters: {HOW}")
    if "(" in contact or ")" in contact:
        raise ContactMissing(f"the contact must not contain parentheses: {HOW}")
    return contact


def _in_ascii(character: str) -> str:
    if character.isascii():
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode())


def user_agent(version: str, contact: str | None) -> str:
    """``wikitopics/VERSION (CONTACT) aiohttp/VERSION``, with a contact already checked.

    Characters beyond ASCII are percent-encoded, since a header cannot carry them.
    """
    import aiohttp  # takes a tenth of a second: nothing is sent where a contact is only checked

    parts = [f"wikitopics/{version}"]
    if contact:
        parts.append("(" + "".join(map(_in_ascii, contact)) + ")")
    parts.append(f"aiohttp/{aiohttp.__version__}")
    return " ".join(parts)
