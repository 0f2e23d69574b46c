"""The contact that Wikimedia asks for, and the User-Agent made from it."""

import re
import unicodedata

import aiohttp

from crawler.errors import ContactMissing

_EMAIL = re.compile(r"[^@\s()<>]+@[^@\s()<>.]+(\.[^@\s()<>.]+)+")
_URL = re.compile(r"https?://[^\s()<>/]+\.[^\s()<>]+")
_USER = re.compile(r"(w:|[a-z]{2,12}:)?User:[^\s()<>|\[\]{}#][^()<>|\[\]{}#]*", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"(^|[@/.])example\.(com|org|net|edu)\b", re.IGNORECASE)
_LONGEST = 200
_HOW = "give your e-mail address, your page's URL or User:Name with --contact"


def check_contact(text: str) -> str:
    """The contact in the form in which it is sent.

    Raises :class:`~crawler.errors.ContactMissing` if it names nobody who can be reached; the message never
    repeats the contact.
    """
    contact = sendable(text)
    if placeholder := _PLACEHOLDER.search(contact):
        raise ContactMissing(f"{placeholder[0].lstrip('@/.').lower()} reaches nobody: {_HOW}")
    if not any(form.fullmatch(contact) for form in (_EMAIL, _URL, _USER)):
        raise ContactMissing(f"the contact does not look like an e-mail address, URL or User:Name: {_HOW}")
    return contact


def sendable(text: str) -> str:
    """The contact in a form allowed in a User-Agent. Raises :class:`~crawler.errors.ContactMissing`."""
    contact = text.strip()
    if not contact:
        raise ContactMissing(f"no contact, and Wikimedia asks who runs a crawler: {_HOW}")
    if len(contact) > _LONGEST:
        raise ContactMissing(f"the contact is longer than {_LONGEST} characters: {_HOW}")
    if any(unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in contact):
        raise ContactMissing(f"the contact must be one line without control characters: {_HOW}")
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
