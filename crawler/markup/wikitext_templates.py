"""Templates that stand for words of their sentence; all other templates are left out.

Wikipedia has hundreds of thousands of templates. Most are furniture (boxes, notes, flags); these few say
something that a reader reads as prose.
"""

from collections.abc import Sequence

from wikitopics.crawler.markup.prose import words

Arguments = Sequence[str]
"""The texts between the bars, not counting the template's name."""

_FIRST = """
nowrap|nobr|nobreak|nowr|small|smaller|large|larger|big|resize|em|strong|bold|italic|noitalic|normal|kbd|mono
code|abbr|abbrlink|tooltip|sup|sub|quote|cquote|blockquote|quotation|rquote|bquote|poemquote|poem quote|lord
centered pull quote|nihongo foot|flag|flagcountry|flagu|flagdeco|sic|vanchor|visible anchor|ill|math|mvar
interlanguage link|interlanguage link multi|illm|columns-list|col-list|columns list|not a typo|typo|as written
uppercase|lcfirst|ucfirst|title case|avoid wrap|no wrap|center|centre|block center|align|hebrew|nastaliq
sc|smallcaps|small caps|sc2|nihongo2|nihongo3|stl|station link|stn|keypress|tq|block indent|plainlist
plain list|flatlist|flat list|circa|c.|ca.|floruit|fl.|first word|no italic|noitalics|gloss|script|unicode
polytonic|iast|bibleverse-nb|native name
"""
_SECOND = """
lang|langx|wikt-lang|color|font color|fontcolor|colour|text color|highlight|background color|transl
transliteration|bg|indent
"""
_ALL = """
nihongo|ubl|unbulleted list|hlist|ship|bulleted list|ordered list|unordered list|comma separated entries
bibleverse|bibleref|bibleref2|linktext|nihongo krt|ublist|verse translation|blist|olist
"""
_LITERAL = {
    **dict.fromkeys(("'", "-'", "apostrophe"), "'"),
    **dict.fromkeys(("snd", "spnd", "spaced ndash", "spaced en dash", "dash"), " – "),
    **dict.fromkeys(("ndash", "endash", "en dash"), "–"),
    **dict.fromkeys(("mdash", "emdash", "em dash"), "—"),
    **dict.fromkeys(("nbsp", "space", "spaces", "thinsp", "·", "•", "dot", "bull"), " "),
    **dict.fromkeys(("break", "br", "clear", "-"), "\n"),
    **{sign.lower(): sign for sign in ("'s", "AD", "BC", "BCE", "CE")},
    "okina": "ʻ",
    "=": "=",
    **dict.fromkeys(("(", ")", "((", "))", "(((", ")))"), " "),  # braces, which open and close nothing
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "spaced mdash": " — ",
}
_PLACES = {
    name: place
    for names, place in ((_FIRST, 0), (_SECOND, 1), (_ALL, -1))
    for name in names.strip().replace("\n", "|").split("|")
}
_SHIPS = words("hms uss ss mv rms hmas hmcs hmnzs ins uscgc usns usat sms mt gts css hnlms hmsas")
_WITH_WORDS = {*_PLACES, *_SHIPS, "convert", "cvt", "sclass", "sclass2", "as of", "asof", "zh"}
_UNIT_NAMES = """
kilometres: km; metres: m; centimetres: cm; millimetres: mm; miles: mi mile miles; feet: ft foot feet
inches: in inch; yards: yd; nautical miles: nmi; acres: acre acres; hectares: ha; square miles: sqmi
square kilometres: km2; square feet: sqft; square metres: m2; kilograms: kg; pounds: lb lbs; ounces: oz
tonnes: t; grams: g; miles per hour: mph; kilometres per hour: km/h; knots: kn; horsepower: hp
kilowatts: kW; megawatts: MW; litres: L l; gallons: usgal gal
"""
_UNITS = {
    sign: name.strip()
    for name, signs in (unit.split(":") for unit in _UNIT_NAMES.strip().replace("\n", ";").split(";"))
    for sign in signs.split()
}


def render_template(content: str) -> str:
    """The words that ``{{content}}`` stands for, or nothing; it contains no other markup."""
    name, *arguments = content.split("|")
    key = " ".join(name.replace("_", " ").lower().split()).removeprefix("template:")
    if (literal := _LITERAL.get(key)) is not None:
        return literal
    if key not in _WITH_WORDS and not key.startswith(("lang-", "script/")):
        return ""
    named, positional = _split(arguments)
    first = positional[0] if positional else ""
    if key in _PLACES:
        return _choose(_PLACES[key], named, positional)
    if key in {"convert", "cvt"}:
        return _convert(named, positional)
    if key in _SHIPS:
        return f"{key.upper()} {first}"
    if key in {"sclass", "sclass2"}:
        return f"{first}-class {positional[1]}" if len(positional) > 1 else first
    if key in {"as of", "asof"}:
        return "as of " + " ".join(positional)
    if key == "zh":
        return " ".join(named.values())
    return first if key.startswith("lang-") else "".join(positional[-1:])


def _split(arguments: Arguments) -> tuple[dict[str, str], list[str]]:
    """Named and positional arguments; numbers as names are positions, as in ``{{quote|1=…}}``."""
    named: dict[str, str] = {}
    positional: list[str] = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        name = name.strip()
        if not equals or len(name) > 30 or " " in name or "\n" in name:
            positional.append(argument)
        elif name.isdecimal():
            positional.append(value)
        else:
            named[name.lower()] = value
    return named, positional


def _choose(place: int, named: dict[str, str], positional: list[str]) -> str:
    if place < 0:
        return " ".join(value.strip() for value in positional)
    text = named.get("text") or named.get("quote") or named.get("lt") or named.get("content")
    if text is not None:
        return text
    return positional[min(place, len(positional) - 1)] if positional else ""


def _convert(named: dict[str, str], positional: list[str]) -> str:
    """``{{convert|5|km|mi}}``: the number and its unit, spelled out; the converted figure adds nothing."""
    values = [value.strip() for value in positional[:4]]
    short = named.get("abbr", "").strip() not in {"", "off", "none"}
    for place, value in enumerate(values):
        if any(char.isalpha() for char in value) and value not in {"to", "and", "by", "x", "or"}:
            return " ".join((*values[:place], value if short else _UNITS.get(value, value)))
    return " ".join(values[:1])
