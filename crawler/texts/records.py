"""Lines as the user's own documents: JSON lines and plain texts.

A record that is no document is yielded as a `BadRecord`, which says why; nothing is raised for it.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice

from wikitopics.crawler.errors import CutOff
from wikitopics.crawler.page import Skip, sound_text
from wikitopics.crawler.texts.contents import LARGEST_DOCUMENT, Contents

LONGEST_ID = 4096
"""The most bytes of an id. An id is never cut, since it must remain unique: a document with a
longer one is skipped."""
TOO_LARGE = f"over {LARGEST_DOCUMENT >> 20} MB"
_SHORT = 100
"""The bytes below which a line is searched for blanks other than ASCII's."""
_MOST_KEYS = 100
"""The most keys of JSON lines remembered for messages: a hostile file may have any number."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as stored in its file."""

    text: str
    title: str = ""
    id: str = ""


class BadRecord(Exception):
    """Why a record is skipped.

    skip: the reason by which such records are counted
    why: the message
    """

    def __init__(self, skip: Skip, why: str) -> None:
        self.skip: Skip = skip
        self.why = why


Record = tuple[Document | BadRecord, int]
"""One entry of a file, and the number of the line in which it begins, from 1."""


NOT_UTF8: tuple[Skip, str] = ("not UTF-8", "not UTF-8: save the file as UTF-8")


@dataclass
class Names:
    """The columns of tables, or keys of JSON lines, that hold the parts of a document, and the
    others."""

    text: str
    other_text: str | None = None
    """Another key for the text, for JSON lines without the first."""
    title: str | None = None
    """None if the user did not name it, as for ``id``: the one called so is used if it exists."""
    id: str | None = None
    reads_ids: bool = True
    """Whether documents have ids."""
    has_text: bool | None = None
    """Whether any JSON line has had the text's key; None before the first line."""
    others: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {"--title-column": self.title, "--id-column": self.id}
        self.missing = {flag: name for flag, name in named.items() if name is not None}
        """The named title and id that no record has had so far, by option."""

    def text_of(self, record: Mapping[str, object]) -> object:
        """The text of a JSON line; None if it has none. Remembers its keys."""
        key = self.text if self.text in record else self.other_text
        self.has_text = bool(self.has_text) or key in record
        self.note(record, has_text=self.has_text)
        return None if key is None else record.get(key)

    def note(self, existing: Collection[str], *, has_text: bool = True) -> None:
        """Take note of the names that a table or a JSON line has; messages tell them as long as one
        that is wanted is missing.

        ``has_text``: whether the text's one has occurred.
        """
        self.missing = {flag: name for flag, name in self.missing.items() if name not in existing}
        is_complete = has_text and not self.missing
        if not is_complete and len(self.others) < _MOST_KEYS:
            self.others |= dict.fromkeys(islice(existing, _MOST_KEYS))


def lacks(
    noun: str,
    named: str | None,
    existing: Iterable[str],
    flag: str = "--text-column",
    otherwise: str = "",
) -> str:
    """A message for a file in which no column or key (``noun``) is called ``named``; None: `text`.

    ``existing``: the names that there are. ``otherwise``: what else the user may do.
    """
    names = list(existing)
    missing = f"which {noun} holds the text?"
    if named:
        missing = f"there is no {noun} {named!r}."
        by_folded = {name.casefold(): name for name in names}
        near = get_close_matches(named.casefold(), by_folded, n=1)
        if near:
            missing += f" Did you mean {by_folded[near[0]]!r}?"
    return f"{missing} Name one with {flag}{otherwise}: {listed(names)}"


def misfit(named: str, needed: str, fit: Iterable[str]) -> str:
    """A message for a column that does not hold what is ``needed``; ``fit``: those that do."""
    return f"the column {named!r} does not hold {needed}. Those that do: {listed(fit)}"


def listed(names: Iterable[str]) -> str:
    """The names of columns or keys, for people."""
    return ", ".join(map(repr, names))[:200] or "there are none"


_ONE_A_LINE = ": write one object a line, as `jq -c '.[]'` does with an array"


def json_lines(contents: Contents, names: Names, *, may_be_empty: bool = False) -> Iterator[Record]:
    """One JSON object per line, with a text and optionally a title and an id. Blank lines are not
    records, nor are those that only begin or end an array.

    ``may_be_empty``: whether an object without a text is a document too.
    """
    for line in contents.lines:
        if line is not None and _is_nothing(line):
            continue
        try:
            yield _from_json(line, names, may_be_empty), contents.number
        except BadRecord as bad:
            yield bad, contents.number


_BESIDE_JSON = " \t\r\n\N{RECORD SEPARATOR}\N{BYTE ORDER MARK}\N{NO-BREAK SPACE}"
"""What may stand around the object of a line: programs mark where records or joined files begin."""


def _is_nothing(line: bytes) -> bool:
    """Whether there is nothing in a line, or only what begins or ends an array."""
    if len(line) >= _SHORT:
        return not line.strip()
    return line.decode("utf-8", "replace").strip(_BESIDE_JSON) in ("", "[", "]", ",")


def _integer(digits: str) -> int | str:
    """A whole number; its digits if they are more than Python makes a number of."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _parsed(text: str) -> object:
    """What JSON says; strings may hold control characters. Raises ValueError and RecursionError."""
    return json.loads(text, strict=False, parse_int=_integer)


def _from_json(line: bytes | None, names: Names, may_be_empty: bool) -> Document:
    """The document of a line of JSON. Raises BadRecord."""
    text_of_line = _utf8(line).strip(_BESIDE_JSON)
    try:
        try:
            record = _parsed(text_of_line)
        except ValueError:
            # One element of an array whose elements have a line each.
            inner = text_of_line.removeprefix("[").removeprefix(",").removesuffix("]")
            record = _parsed(inner.rstrip().removesuffix(","))
    except (ValueError, RecursionError):
        is_first_of_several = text_of_line in ("{", "[{")
        hint = _ONE_A_LINE if is_first_of_several else ""
        raise BadRecord("not JSON", f"not JSON{hint}") from None
    if not isinstance(record, dict):
        hint = _ONE_A_LINE if isinstance(record, list) else ""
        raise BadRecord("no text", f'not an object with a "{names.text}"{hint}')
    text = names.text_of(record)
    if may_be_empty and not (isinstance(text, str) and text.strip()):
        text = ""
    title = record.get(names.title or "title")
    external_id = record.get(names.id or "id") if names.reads_ids else None
    return document_of(text, title, external_id, may_be_empty)


def plain_texts(contents: Contents, each_line: bool) -> Iterator[Record]:
    """The documents of a plain text: what is between blank lines, or with ``each_line`` every line
    that is not blank."""
    pieces: list[bytes] = []  # of the document; none if it is too large
    size = 0
    first: int | None = None  # the number of its first line
    for line in contents.lines:
        is_blank = line is not None and _is_blank(line)
        if not is_blank:
            if first is None:
                first = contents.number
            size += LARGEST_DOCUMENT + 1 if line is None else len(line)
            if line is None or size > LARGEST_DOCUMENT:
                pieces.clear()
            else:
                pieces.append(line)
        if first is not None and (is_blank or each_line):
            yield _plain(pieces), first
            pieces = []
            size = 0
            first = None
    if first is not None:
        yield _plain(pieces), first


def _is_blank(line: bytes) -> bool:
    """Whether a line shows nothing. It need not be empty: word processors write no-break spaces."""
    if not line.strip():
        return True
    return len(line) < _SHORT and not line.decode("utf-8", "replace").strip()


def _plain(lines: Sequence[bytes]) -> Document | BadRecord:
    try:
        text = _utf8(b"".join(lines) or None)
        if "\0" in text:
            raise BadRecord("not UTF-8", "a binary file, or not UTF-8 text")
        return document_of(text, None, None)
    except BadRecord as bad:
        return bad


def whole_file(contents: Contents) -> Document | BadRecord:
    """A file that is one document."""
    try:
        return document_of(_utf8(contents.whole()), None, None)
    except CutOff as error:
        return BadRecord("damaged", str(error))
    except BadRecord as bad:
        return bad


def _utf8(data: bytes | None) -> str:
    """The text of a line or a file; None: it is too large."""
    if data is None:
        raise BadRecord("too large", TOO_LARGE)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadRecord(*NOT_UTF8) from None


def document_of(
    text: object,
    title: object,
    external_id: object,
    may_be_empty: bool = False,
) -> Document:
    """A document of these fields, whatever their types."""
    if not isinstance(text, str):
        if _is_missing(text):
            raise BadRecord("no text", "no text")
        raise BadRecord("no text", f"no text: not a string, but {_label(text):.40}")
    if not (may_be_empty or text.strip()):
        raise BadRecord("no text", "no text")
    name = _label(external_id)
    if not (may_be_empty or name.strip()):
        name = ""
    if len(name.encode()) > LONGEST_ID:
        raise BadRecord("too large", f"an id of over {LONGEST_ID} bytes")
    return Document(sound_text(text), " ".join(_label(title).split()), name)


def _label(value: object) -> str:
    """A title or an id as text; anything that is not text is written as JSON."""
    if _is_missing(value):
        return ""
    if isinstance(value, str):
        return sound_text(value)
    return sound_text(json.dumps(value, ensure_ascii=False))


def _is_missing(value: object) -> bool:
    """Whether a value stands for none: null, or NaN, the only one that differs from itself."""
    return value is None or value != value
