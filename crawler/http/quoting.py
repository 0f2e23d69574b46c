"""Makes text from a server safe to print in a message."""

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from urllib.parse import unquote

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
        # What has neither a letter nor a digit, such as the host of "me@", identifies nobody, and
        # would be found everywhere.
        parts = [part for part in _parts(self._contact) if any(map(str.isalnum, part))]
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
