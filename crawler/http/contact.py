"""The contact that Wikimedia asks for, and the User-Agent made from it.

Wikimedia's servers count requests by the contact that they find in the User-Agent, so they must
find all of it there; otherwise several users would share one budget. Their patterns are from
``modules/profile/files/cache/contact_info.lua`` of their operations/puppet repository, as of 2026.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from urllib.parse import unquote

import aiohttp
from yarl import URL

from wikitopics.crawler.errors import BadSource, ContactMissing
from wikitopics.crawler.http.rules import is_wikimedia, wiki_address

# Makes text from a server safe to print in a message.

_MOST_READ = 20_000
"""The most characters of a text that are examined."""
# The group is not possessive: up to Python 3.11.4, one that holds an assertion may fail to match.
_TAG = re.compile(
    r"<(?:script|style)\b[^>]*+>[^<]*+(?:<(?!/)[^<]*+)*</(?:[a-z]{1,10}>)?|<[^>]{0,1000}>",
    re.DOTALL | re.IGNORECASE,
)
_HUGE_REFERENCE = re.compile(r"&#x?[0-9a-fA-F]{9,}+")
"""No character has such a number, and int() refuses the longest of them."""
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_MOST_LAYERS = 5
"""The depth of escapes within escapes."""
_SHORTEST_PIECE = 3
_REMOVED = "[contact]"


class Quoting:
    """Quotes servers without ever repeating ``contact``, which they know from our User-Agent.

    The contact is removed before the text is shortened, in every spelling: character references,
    percent and backslash escapes, IDNA, with tags or spaces in between, and where the server itself
    cut it.
    """

    def __init__(self, contact: str | None = None) -> None:
        if contact:
            for _layer in range(_MOST_LAYERS):
                contact = unquote(contact)
        self._contact = contact

    def __call__(self, text: str, longest: int = 200) -> str:
        """The gist of ``text``: one line of at most ``longest`` characters."""
        plain = _plain(text[:_MOST_READ])
        return one_line(self._without_contact(plain), longest)

    def knows(self, text: str) -> bool:
        """Whether ``text`` contains the contact."""
        line = one_line(_plain(text), len(text) + 1)
        return self._without_contact(line) != line

    def _without_contact(self, text: str) -> str:
        visible = "".join(character for character in text if not _is_hidden(character))
        line = " ".join(visible.split())
        for pattern in self._patterns:
            line = pattern.sub(_REMOVED, line)
        return line

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        """Patterns of the User-Agent's parentheses, cut or not, of the contact and its identifying
        parts, and of the beginnings and ends of these where a text was cut."""
        if not self._contact:
            return []
        user_agent = re.compile(r"(?<=wikitopics/)([^\s(]{0,50}) ?\([^)]*\)?", re.IGNORECASE)
        parts = _parts(self._contact)
        patterns = [user_agent]
        for part in parts:
            patterns.append(_in_any_spelling(part))
        for part in parts:
            patterns += _cut(part)
        return patterns


def one_line(text: str, longest: int) -> str:
    """``text`` on one line, without control, format and bidirectional characters, cut at
    ``longest``."""
    words = text[: longest * 10].split()
    line = "".join(character for character in " ".join(words) if not _is_hidden(character))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _is_hidden(character: str) -> bool:
    """Whether it is a control, format, private or unassigned character, and not a space."""
    return not character.isspace() and unicodedata.category(character) in (
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Cn",
    )


def _plain(text: str) -> str:
    """``text`` without tags, and with all its escapes resolved."""
    for _layer in range(_MOST_LAYERS):
        before = text
        text = _HUGE_REFERENCE.sub(" ", _TAG.sub(" ", text))
        text = html.unescape(unquote(text))
        text = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        if text == before:
            break
    return text


def _parts(contact: str) -> list[str]:
    """The contact, and both sides of an e-mail address, or the name of a user or page without the
    path to it."""
    user, at, host = contact.partition("@")
    if at and "/" not in contact:
        return [contact, user + at, host]
    _, _, name = contact.rpartition(":")
    return [contact, name.strip("/]") or contact]


def _in_any_spelling(part: str) -> re.Pattern[str]:
    """A pattern that finds ``part``, also with its labels in IDNA, or with a space for a tag or
    line break; a mere word is found only where it stands alone."""
    pieces = []
    for piece in re.split(r"([^\W_]+(?:-[^\W_]+)*|[ _])", part):
        spelt = " ?".join(map(re.escape, piece.strip(" _")))
        if not piece.isascii():
            spelt = f"(?:{spelt}|{re.escape(_in_idna(piece))})"
        pieces.append(spelt)
    pattern = "[ _]?".join(filter(None, pieces))
    if part.isalnum():
        pattern = rf"(?<![^\W_]){pattern}(?![^\W_])"
    return re.compile(pattern, re.IGNORECASE)


def _cut(part: str) -> Iterator[re.Pattern[str]]:
    """Patterns that find a beginning of ``part`` before the end of a text or an ellipsis, and the
    reverse."""
    lengths = range(len(part) - 1, _SHORTEST_PIECE - 1, -1)  # the longest first
    if lengths:
        beginnings = "|".join(re.escape(part[:length]) for length in lengths)
        ends = "|".join(re.escape(part[-length:]) for length in lengths)
        yield re.compile(rf"(?<!\w)(?:{beginnings})(?=\s*(?:…|\.\.\.|$))", re.IGNORECASE)
        yield re.compile(rf"(?:^|(?<=…)|(?<=\.\.\.))\s*(?:{ends})(?!\w)", re.IGNORECASE)


def _in_idna(label: str) -> str:
    try:
        return label.encode("idna").decode("ascii")
    except UnicodeError:
        return label


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
    contact = _one_line(text)
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


def _one_line(text: str) -> str:
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
    contact = _one_line(text)
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
    parts = [f"wikitopics/{version}"]
    if contact:
        parts.append("(" + "".join(map(_in_ascii, contact)) + ")")
    parts.append(f"aiohttp/{aiohttp.__version__}")
    return " ".join(parts)
