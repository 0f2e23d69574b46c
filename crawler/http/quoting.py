"""A server's words as words for people: foreign text enters a message only through this module."""

import html
import re
import unicodedata
from functools import cached_property
from urllib.parse import unquote

_MOST_READ = 20_000
"""The most characters of a text that are looked at."""
_TAG = re.compile(
    r"<(?:script|style)\b[^>]*+>[^<]*+(?:<(?!/)[^<]*+)*+</|<[^>]{0,1000}>", re.DOTALL | re.IGNORECASE
)
_HUGE_REFERENCE = re.compile(r"&#x?[0-9a-fA-F]{9,}+")
"""No character has such a number, and int() refuses the longest of them."""
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_MOST_LAYERS = 5
"""The depth of escapes within escapes."""
_ELLIPSIS = re.compile(r"(…|\.\.\.)")
_SHORTEST_PIECE = 3
_REMOVED = "[contact]"


class Quoting:
    """Quotes servers without ever repeating ``contact``, which they know from our User-Agent.

    The contact is removed before the text is shortened, in every spelling: character references, percent and
    backslash escapes, IDNA, with tags or spaces in between, and where the server itself cut it.
    """

    def __init__(self, contact: str | None = None) -> None:
        for _layer in range(_MOST_LAYERS if contact else 0):
            contact = unquote(contact or "")
        self._contact = contact

    def __call__(self, text: str, longest: int = 200) -> str:
        """The gist of ``text``: one line of at most ``longest`` characters."""
        return one_line(self._without_contact(_plain(text[:_MOST_READ])), longest)

    def knows(self, text: str) -> bool:
        """Whether ``text`` contains the contact."""
        line = one_line(_plain(text), len(text) + 1)
        return self._without_contact(line) != line

    def _without_contact(self, text: str) -> str:
        line = " ".join("".join(c for c in text if not _is_hidden(c)).split())
        for pattern in self._patterns:
            line = pattern.sub(_REMOVED, line)
        return "".join(self._without_cut_ends(piece) for piece in _ELLIPSIS.split(line))

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        """Patterns of the User-Agent's parentheses, cut or not, and of the contact and its identifying
        parts."""
        if not self._contact:
            return []
        user_agent = re.compile(r"(?<=wikitopics/)([^\s(]{0,50}) ?\([^)]*\)?", re.IGNORECASE)
        return [user_agent, *map(_in_any_spelling, _parts(self._contact))]

    def _without_cut_ends(self, piece: str) -> str:
        """``piece`` of a text without a partial contact at its beginning or end."""
        if not self._contact:
            return piece
        lower = piece.lower()
        for secret in map(str.lower, _parts(self._contact)):
            for length in range(len(secret) - 1, _SHORTEST_PIECE - 1, -1):
                if re.search(rf"(?<!\w){re.escape(secret[:length])}\s*$", lower):
                    return f"{piece.rstrip()[:-length]}{_REMOVED}"
                if re.match(rf"\s*{re.escape(secret[-length:])}(?!\w)", lower):
                    return f"{_REMOVED}{piece.lstrip()[length:]}"
        return piece


def one_line(text: str, longest: int) -> str:
    """``text`` on one line, without control, format and bidirectional characters, cut at ``longest``."""
    line = " ".join(text[: longest * 10].split())
    line = "".join(c for c in line if not _is_hidden(c))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _is_hidden(character: str) -> bool:
    """Whether it is a control, format, private or unassigned character, and not a space."""
    return not character.isspace() and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")


def _plain(text: str) -> str:
    """``text`` without tags, and with all its escapes resolved."""
    for _layer in range(_MOST_LAYERS):
        before = text
        text = _HUGE_REFERENCE.sub(" ", _TAG.sub(" ", text))
        text = html.unescape(unquote(text))
        text = _UNICODE_ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
        if text == before:
            break
    return text


def _parts(contact: str) -> list[str]:
    """The contact, and the two sides of an e-mail address, or the name of a user or page without what leads
    there."""
    user, at, host = contact.partition("@")
    if at and "/" not in contact:
        return [contact, user + at, host]
    return [contact, contact.rpartition(":")[2].strip("/]") or contact]


def _in_any_spelling(part: str) -> re.Pattern[str]:
    """A pattern that finds ``part``, also with its labels in IDNA, or a space in place of a tag or line
    break; a mere word only where it stands alone."""
    pieces = []
    for piece in re.split(r"([^\W_]+(?:-[^\W_]+)*|[ _])", part):
        spelt = " ?".join(map(re.escape, piece.strip(" _")))
        pieces.append(spelt if piece.isascii() else f"(?:{spelt}|{re.escape(_in_idna(piece))})")
    pattern = "[ _]?".join(filter(None, pieces))
    return re.compile(rf"(?<![^\W_]){pattern}(?![^\W_])" if part.isalnum() else pattern, re.IGNORECASE)


def _in_idna(label: str) -> str:
    try:
        return label.encode("idna").decode("ascii")
    except UnicodeError:
        return label
