"""The words that templates stand for, as declared in `crawler/data/templates.txt`.

Wikipedia has hundreds of thousands of templates. Most are furniture (boxes, notes, flags); a few
produce text that is read as prose.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from wikitopics.crawler.markup.prose import APART, read_data

# By the names of templates, the signs that they stand for.
_LITERAL = {
    **dict.fromkeys(("'", "-'", "apostrophe"), f"{APART}'{APART}"),
    **dict.fromkeys(("snd", "spnd", "spaced ndash", "spaced en dash", "dash"), " – "),
    **dict.fromkeys(("ndash", "endash", "en dash"), "–"),
    **dict.fromkeys(("mdash", "emdash", "em dash"), "—"),
    **dict.fromkeys(
        ("nbsp", "nnbsp", "space", "spaces", "thinsp", "hairsp", "·", "•", "dot", "bull"), " "
    ),
    **dict.fromkeys(("break", "br", "clear", "-"), "\n"),
    **{sign.lower(): sign for sign in ("AD", "BC", "BCE", "CE")},
    "'s": f"{APART}'s",
    **dict.fromkeys(("hyphen", "nbhyph"), "-"),
    "okina": "ʻ",
    "=": "=",
    # Braces, which open and close nothing.
    **dict.fromkeys(("(", ")", "((", "))", "(((", ")))"), " "),
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "spaced mdash": " — ",
}
_UNIT_NAMES = """
kilometres: km; metres: m; centimetres: cm; millimetres: mm; miles: mi mile miles
feet: ft foot feet
inches: in inch; yards: yd; nautical miles: nmi; acres: acre acres; hectares: ha; square miles: sqmi
square kilometres: km2; square feet: sqft; square metres: m2; kilograms: kg; pounds: lb lbs
ounces: oz
tonnes: t; grams: g; miles per hour: mph; kilometres per hour: km/h; knots: kn; horsepower: hp
kilowatts: kW; megawatts: MW; litres: L l; gallons: usgal gal
"""


def _units() -> dict[str, str]:
    units = {}
    for unit in _UNIT_NAMES.strip().replace("\n", ";").split(";"):
        name, signs = unit.split(":")
        for sign in signs.split():
            units[sign] = name.strip()
    return units


_UNITS = _units()
"""The names of units, by their signs in ``{{convert}}``."""

_ARROW = " → "
_PLACE = re.compile(r"\{([^{}]*)\}")
_FAMILY = re.compile(r"[^-/]*[-/]")
_STARTS_A_LINE = re.compile(r"[*#:;]|\{\|")
_KINDS = {
    "roman": re.compile("[IVXLCDM]+"),
    "number": re.compile(r"[-+−]?\d[\d\s.,'’]*"),
    "title": re.compile(r"(?![a-z]{2,3}(?:-[a-z]{2,10}){0,2}$).+", re.DOTALL),
}
"""What an argument must be; a title is anything but the code of a language."""
_NAMESPACE = "template:"
_POWER = re.compile(r"^e\d+(?=.)")
"""The beginning of a unit such as e6km, a million kilometres."""
_LONGEST_NAME = 200
_LONGEST_ARGUMENT_NAME = 30
"""What is longer, before a sign of equality, is words: in MediaWiki they would vanish, so a page
has none."""
_MOST_MISSING = 20
"""The most arguments that may be missing before one that is given by its number."""

_Field = tuple[int | str, re.Pattern[str] | None]
"""An argument, by its place or name, and of which kind it must be, if any."""
_Place = Sequence[_Field]
"""The arguments of which the first that is given is shown."""
_Text = tuple[Sequence[str], Sequence[_Place]]
"""What a template shows: words, and the places between them."""


def _declared() -> dict[str, list[tuple[str, _Text]]]:
    """The texts by the names of the templates that show them, each with the code of the language
    whose wikis have this template; "" for all."""
    texts: dict[str, list[tuple[str, _Text]]] = {
        name: [("", ([sign], []))] for name, sign in _LITERAL.items()
    }
    text: _Text | None = None
    for line in read_data("templates.txt").split("\n"):
        shown, arrow, names = line.rpartition(_ARROW)
        if arrow:
            pieces = _PLACE.split(shown.replace(r"\n", "\n"))
            words = pieces[::2]
            places = [_place(fields) for fields in pieces[1::2]]
            text = (words, places)
        for entry in names.split(";"):
            name, _, language = entry.partition("@")
            if text is not None and name.strip():
                texts.setdefault(_key(name), []).append((language.strip(), text))
    return texts


def _place(fields: str) -> _Place:
    place: list[_Field] = []
    for field in fields.split("|"):
        name, _, kind = field.partition(":")
        is_number = name.isdecimal() and name != "0"
        argument: int | str = int(name) if is_number else name
        place.append((argument, _KINDS.get(kind)))
    return place


def _key(name: str) -> str:
    """The name as it is declared; its first letter is the same in both cases."""
    name = " ".join(name.replace("_", " ").split())
    return name[:1].lower() + name[1:]


_TEXTS = _declared()


@lru_cache(maxsize=8192)
def _texts_of(name: str, language: str) -> Sequence[_Text]:
    """The texts that a template of this name may show on a wiki in ``language`` ("" if unknown: in
    any).

    The name of a parser function ends in a colon.
    """
    exact = _key(name)
    key = exact.lower()
    if key.startswith(_NAMESPACE):
        exact = _key(exact[len(_NAMESPACE) :])
        key = exact.lower()
    texts = _TEXTS.get(exact) or _TEXTS.get(key)
    if texts is None:
        family = _FAMILY.match(key)
        if family is not None:
            texts = _TEXTS.get(family[0] + "*")
    if texts is None:
        return []
    of_any_wiki = ("", language)
    return [text for code, text in texts if language == "" or code in of_any_wiki]


def render_template(content: str, language: str = "") -> str:
    """The words that ``{{content}}`` stands for, or nothing; ``content`` has no other markup.

    ``language``: the code of the wiki's language, "" if it is not known.
    """
    name, bar, rest = content.partition("|")
    texts: Sequence[_Text] = ()
    arguments: Sequence[str] = ()
    if len(name) <= _LONGEST_NAME:
        texts = _texts_of(name, language)
    if texts and bar:
        arguments = rest.split("|")
    elif not texts and ":" in name:  # a parser function, such as {{lc:WORD}}
        name, _, first = name.partition(":")
        if len(name) < _LONGEST_NAME:
            texts = _texts_of(f"{name}:", language)
        arguments = [first, *rest.split("|")]
    if not texts:
        return ""
    named, positional = _split(arguments)
    for text in texts:
        shown = _filled(text, name, named, positional)
        if shown is not None:
            return shown
    return ""


def _split(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Named and positional arguments; a number as a name is a position, as in ``{{quote|1=…}}``."""
    named: dict[str, str] = {}
    numbered: dict[int, str] = {}
    positional: list[str] = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        name = name.strip()
        is_name = len(name) <= _LONGEST_ARGUMENT_NAME and " " not in name and "\n" not in name
        if not equals or not is_name:
            positional.append(argument)
        elif name.isdecimal():
            numbered[int(name)] = value
        else:
            named[name.lower()] = value
    for number in sorted(numbered):
        missing = number - len(positional)
        if 0 < missing <= _MOST_MISSING:
            positional += [""] * missing
        if 0 < number <= len(positional):
            positional[number - 1] = numbered[number]
    return named, positional


def _filled(
    text: _Text,
    name: str,
    named: Mapping[str, str],
    positional: Sequence[str],
) -> str | None:
    """The text with its arguments; None if one is missing."""
    words, places = text
    shown = words[0]
    for place, after in zip(places, words[1:], strict=True):
        value = _given(place, name, named, positional)
        if value is None:
            return None
        shown += value + after
    if len(places) > 1:
        shown = " ".join(shown.split())  # some of the places may be empty
    elif places and words[0] == "\n":
        # As in MediaWiki, where a list or table at the beginning of an expanded template gets a new
        # line.
        is_block = _STARTS_A_LINE.match(shown, 1) is not None
        shown = shown if is_block else shown[1:]
    return shown


def _given(
    place: _Place,
    name: str,
    named: Mapping[str, str],
    positional: Sequence[str],
) -> str | None:
    """The first of the arguments that is given; `crawler/data/templates.txt` says what they are
    called."""
    for field, kind in place:
        if isinstance(field, int):
            value = positional[field - 1] if field <= len(positional) else ""
        elif field in named:
            value = named[field]
        elif field == "*":
            value = " ".join(argument.strip() for argument in positional)
        elif field == "last":
            value = positional[-1] if positional else ""
        elif field == "convert":
            value = _convert(named, positional)
        elif field == "0":
            value = name.strip()
        elif field == "":
            return ""
        else:
            continue
        stripped = value.strip()
        if stripped and (kind is None or kind.fullmatch(stripped)):
            return value
    return None


def _convert(named: Mapping[str, str], positional: Sequence[str]) -> str:
    """``{{convert|5|km|mi}}``: the number and its unit, spelled out; the converted figure adds
    nothing."""
    values = [value.strip() for value in positional[:4]]
    is_abbreviated = named.get("abbr", "").strip() not in {"", "off", "none"}
    for place, value in enumerate(values):
        has_letters = any(map(str.isalpha, value))
        if has_letters and value not in {"to", "and", "by", "x", "or"}:
            unit = _POWER.sub("", value)
            if not is_abbreviated:
                unit = _UNITS.get(unit, unit)
            return " ".join((*values[:place], unit))
    return " ".join(values[:1])
