"""Turns any wikitext into prose, in time linear in its length."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from wikitopics.crawler.markup.prose import EDGES, ITEM, LINK, NAMES, in_kept_sections, links_in, tidy, words

# Templates that stand for words in their sentence; all other templates are left out.
#
# Wikipedia has hundreds of thousands of templates. Most are furniture (boxes, notes, flags); these few
# produce text that is read as prose.

Arguments = Sequence[str]
"""The texts between the bars, without the template's name."""

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
_PLACES = {name: place for key, place in (("first", 0), ("second", 1), ("all", -1)) for name in NAMES[key]}
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
    """The words that ``{{content}}`` stands for, or nothing; ``content`` has no other markup."""
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
    """Named and positional arguments; a number as a name is a position, as in ``{{quote|1=…}}``."""
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


# The two linear passes that parse wikitext: tags first, then everything that nests.
#
# Both read the text once from left to right, with regular expressions that match one token and never look
# further than its end. The nesting pass keeps a stack of bounded depth, so that neither ``{{`` a hundred
# thousand times nor an unclosed table takes more than linear time. (General parsers of wikitext backtrack: 30
# kB of ``<b a="`` took mwparserfromhell 16 seconds, and a crawler reads whatever strangers have written.)

_TAG = re.compile(r"<(?:!--|(/?)([a-zA-Z][a-zA-Z0-9]*)\b([^<>]*+)>)")
_LINE_BREAKS = NAMES["breaks"]
_CLOSINGS = {name: re.compile(rf"</{name}\s*+>", re.IGNORECASE) for name in (*NAMES["dropped"], "nowiki")}
_MARKUP = str.maketrans(dict.fromkeys("{}[]|<>=*#;:'_", " "))


def remove_tags(text: str) -> str:
    """The text without comments and tags; the contents of tags are kept if they are prose (references and
    formulas are not).

    ``<table>`` and ``</table>`` are kept for the pass that handles nesting.
    """
    return "".join(_without_tags(text)) if "<" in text else text


def _without_tags(text: str) -> Iterator[str]:
    unclosed: set[str] = set()
    position = 0
    while (match := _TAG.search(text, position)) is not None:
        start, end = match.span()
        yield text[position:start]
        position = end
        if match[2] is None:
            close = text.find("-->", end)
            position = len(text) if close < 0 else close + 3
            continue
        name = match[2].lower()
        opens = not match[1] and not match[3].endswith("/")
        if name == "table":
            yield match[0]
        elif opens and name in _CLOSINGS and name not in unclosed:
            closing = _CLOSINGS[name].search(text, end)
            if closing is None:
                # Never search for this tag again: many unclosed ones would take quadratic time.
                unclosed.add(name)
            else:
                position = closing.end()
                if name == "nowiki":
                    yield text[end : closing.start()].translate(_MARKUP)
        elif name in _LINE_BREAKS:
            yield "\n"
    yield text[position:]


_LEAF = r"\[\[([^\[\]{}<|]*+)(?:\|([^\[\]{}<|]*+))?\]\]|\{\{([^\[\]{}<]*+)\}\}"
"""A link or a template without anything nested; nine in ten are of this kind."""
_WRITTEN_BAR = "\x04"
"""A bar written as ``{{!}}``: it belongs to a link or a table, not to the template around it."""
_BARS = re.compile(r"\{\{\s*+(!|pipe|!!|!-|!\+|\(!|!\))\s*+\}\}", re.IGNORECASE)


def _tokens(bar: str) -> re.Pattern[str]:
    """What opens or closes a construct, with ``bar`` for the bars of tables."""
    table = rf"\n[ \t]*+{bar}\}}(?!\}})|\n[ \t:*#;]*+\{{{bar}(?!\}})|</?[tT][aA][bB][lL][eE]\b[^<>]*+>"
    return re.compile(rf"({_LEAF}|\{{\{{|\}}\}}|\[\[|\]\]|{table})")


_TOKEN = _tokens(r"\|")
_TOKEN_WRITTEN = _tokens(f"[|{_WRITTEN_BAR}]")
"""The same for text with bars written as ``{{!}}``."""
_TEMPLATE, _LINK, _TABLE, _HTML_TABLE = range(4)
_OPENS = {"{{": _TEMPLATE, "[[": _LINK}
_CLOSES = {"}}": _TEMPLATE, "]]": _LINK}
_MAX_DEPTH = 60
"""Articles nest up to a dozen deep; MediaWiki itself stops at 40 levels of templates."""
_BAR = "\x01"
"""A bar that separates nothing, within a construct that may have other bars that do."""

_Frame = tuple[int, int]
"""An open construct: its kind, and where its content begins in the output."""


def resolve(text: str, render_link: Callable[[str, list[str]], str]) -> str:
    """The text without templates, data tables and brackets; links and known templates become their words.

    ``render_link(target, texts)`` gives the words of ``[[target|text|…]]``. Openings without a closing are
    kept as text; closings without an opening are removed.
    """
    if "{" not in text and "[[" not in text and "<" not in text:
        return text
    out: list[str] = []
    stack: list[_Frame] = []
    too_deep = 0
    text = text.replace(_BAR, " ").replace(_WRITTEN_BAR, " ")
    if has_written := _BARS.search(text) is not None:
        text = _BARS.sub(_written, text)
    pieces = (_TOKEN_WRITTEN if has_written else _TOKEN).split("\n" + text)
    in_turn = iter(pieces)
    for before, token, target, shown, template in zip(*[in_turn] * 5, strict=False):
        if before:
            out.append(before)
        if target is not None or template is not None:
            if len(stack) == _MAX_DEPTH:
                out.append(token[2:-2])
            elif target is None:
                out.append(render_template(template))
            elif has_written and _WRITTEN_BAR in token:
                target, *texts = _parts(token[2:-2])
                out.append(render_link(target, texts))
            else:
                out.append(render_link(target, [] if shown is None else [shown]))
            continue
        kind = _OPENS.get(token)
        closed = _CLOSES.get(token)
        if kind is None and closed is None:
            if token[0] == "<":
                kind, closed = (None, _HTML_TABLE) if token[1] == "/" else (_HTML_TABLE, None)
            else:
                kind, closed = (None, _TABLE) if token[-1] == "}" else (_TABLE, None)
            out.append("\n")
        if kind is not None:
            if len(stack) < _MAX_DEPTH:
                stack.append((kind, len(out)))
            else:
                too_deep += 1
        elif too_deep:
            too_deep -= 1
        elif closed is not None:
            _close(closed, stack, out, render_link)
    out.append(pieces[-1])
    _flatten(stack, out)
    return "".join(out).replace(_BAR, "|").replace(_WRITTEN_BAR, "|")


def _written(match: re.Match[str]) -> str:
    """What ``{{!}}`` and the like stand for."""
    name = match[1].lower()
    signs = {"pipe": "!", "(!": "{!", "!)": "!}"}.get(name, name)
    return signs.replace("!", _WRITTEN_BAR)


def _parts(content: str) -> list[str]:
    """A link's target and texts."""
    return content.replace(_WRITTEN_BAR, "|").split("|")


def _close(
    kind: int, stack: list[_Frame], out: list[str], render_link: Callable[[str, list[str]], str]
) -> None:
    """Replace the nearest open ``kind`` by its words; anything open inside it was never closed."""
    if kind == _LINK:
        # A bracket closes only the innermost construct, so that it does not break up a template or a table.
        if not stack or stack[-1][0] != _LINK:
            return
        index = len(stack) - 1
    else:
        index = next((i for i in range(len(stack) - 1, -1, -1) if stack[i][0] == kind), -1)
        if index < 0:
            return
    inner = stack[index + 1 :]
    del stack[index + 1 :]
    _flatten(inner, out)
    _, begin = stack.pop()
    content = "".join(out[begin:])
    del out[begin:]
    if kind == _TEMPLATE:
        out.append(render_template(content))
    elif kind == _LINK:
        target, *texts = _parts(content)
        out.append(render_link(target, texts).replace("|", _BAR))
    elif kind == _TABLE:
        out.append(_text_in_columns(content.replace(_WRITTEN_BAR, "|")))


_LAYOUT = re.compile(r"\brole\s*=\W?presentation\b|\bclass\s*=[^=]*\b(?:multicol|col-begin)\b", re.IGNORECASE)


def _text_in_columns(content: str) -> str:
    """The contents of a table that only arranges text in columns; nothing for a table of data.

    The attributes come first. In a table without a stated purpose, lists count as text.
    """
    first, *others = content.split("|")
    attributes, _, rest = first.partition("\n")
    is_layout = _LAYOUT.search(attributes) is not None
    if not is_layout and "class" in attributes:
        return ""
    lines = rest.split("\n")
    for part in others:
        # Text before a bar on the same line is a cell's attributes; "|-" begins a row, "|+" the caption.
        cell, *more = part.split("\n")
        lines += [cell, *more] if more and cell[:1] not in ("-", "+") else more
    marks = ("*", "#", ":", ";")
    return "\n".join(line for line in lines if line.startswith(marks) or (is_layout and line[:1] != "!"))


_UNCLOSED = ("", "\x00", "\n|", "\n|")
"""Stands for an opening that was never closed: \\x00 for a link, which may turn out to be a file's."""


def _flatten(frames: list[_Frame], out: list[str]) -> None:
    """Turn frames that were never closed into plain text; their bars separate nothing."""
    if not frames:
        return
    pieces: list[str] = []
    ends = [begin for _, begin in frames[1:]] + [len(out)]
    for (kind, begin), end in zip(frames, ends, strict=True):
        pieces.append(_UNCLOSED[kind])
        pieces.extend(out[begin:end])
    out[frames[0][1] :] = ["".join(pieces).replace("|", _BAR)]


_EXTERNAL_LINK = re.compile(
    r"\[(?:(?:https?|ftp|irc)://|//|mailto:|news:)[^\s\[\]]*+([^\[\]\n]*+)\]", re.IGNORECASE
)
_LANGUAGE_LINK = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,10}){0,2}")
_QUOTES = re.compile("'{2,}+")
_MAGIC_WORD = re.compile(r"__[A-Z]{3,30}__")
_UNCLOSED_LINK = re.compile(r"\x00([^:\n\x00]{0,40}):[^\n]*+")
_HEADING = re.compile(r"(={1,6})(.*?)(={1,6})", re.DOTALL)
_APOSTROPHE = re.compile(r"(?<=\b\w)\'\'\'(?=\w)")
_LIST_MARKS = "*#:; \t"
_VARIANTS = re.compile(r"-\{(?!\{)([^{}]*+)\}-")
"""Text in several variants of a language, such as simplified and traditional Chinese."""
_NESTED_VARIANTS = 8
_FLAGS = re.compile(r"\s*+([A-Z-](?:\s*+;\s*+[A-Z-])*+|[a-z-]{2,10}(?:\s*+;\s*+[a-z-]{2,10})*+)?\s*+\|")
_VARIANT = re.compile(r"(?:^|;)\s*+(?:[^;:=|]*+=>)?\s*+([a-z]{2,3}(?:-[a-z]{2,8}){0,2})\s*+:")
_UNSEEN = frozenset("HTN-")
"""Flags of content that is not shown: a mere rule, a title, the name of a variant, a rule's end."""


def extract_wikitext(
    text: str, *, file_names: Collection[str] = (), category_names: Collection[str] = ()
) -> str:
    """The prose of an article: paragraphs, headings and list items as plain text, one per line.

    Left out are references, data tables, templates (except a few that stand for words), files with their
    captions, categories, formulas and code. In sections such as See also, References, Notes, Further reading,
    External links and Bibliography, everything that does not read like prose is left out too. ``file_names``
    and ``category_names``: this wiki's names for those namespaces, besides the names that are always known.

    Any string gives a string, in time linear in its length. A redirect gives nothing.
    """
    return tidy("\n".join(_kept(text, (*file_names, *category_names))))


def wikitext_links(
    text: str, *, file_names: Collection[str] = (), category_names: Collection[str] = ()
) -> list[str]:
    """The targets of the links in the prose of an article, as they are written, in order.

    The arguments and the definition of prose are those of `extract_wikitext`.
    """
    targets: list[str] = []
    lines = _kept(text.replace(LINK, " "), (*file_names, *category_names), targets)
    return list(links_in(lines, targets))


def _kept(text: str, names: Collection[str], targets: list[str] | None = None) -> Iterator[str]:
    """The lines of prose; ``targets`` collects those of all links, whose numbers are then marked in the
    lines."""
    if text.lstrip()[:9].lower() == "#redirect":
        return iter(())
    ignored = NAMES["ignored"]
    if names:
        ignored |= {name.lower().replace("_", " ") for name in names}

    def marked_link(target: str, texts: list[str]) -> str:
        shown = render_link(target, texts)
        if targets is None or not shown:
            return shown
        targets.append(target)
        return f"{shown}{LINK}{len(targets) - 1}{LINK}"

    def render_link(target: str, texts: list[str]) -> str:
        if ":" in target and "\n\n" not in target:
            prefix = target.partition(":")[0].strip(EDGES).lower().replace("_", " ")
            if prefix in ignored or (not texts and _LANGUAGE_LINK.fullmatch(prefix)):
                return ""
            if target.startswith(":"):
                prefix, _, rest = target[1:].partition(":")
                target = rest if prefix.strip(EDGES).lower() in ignored else target[1:]
        if texts:
            shown = "|".join(texts)
            return shown if shown.strip() else target.partition("(")[0]
        return target

    render = render_link if targets is None else marked_link
    text = resolve(remove_tags(text.replace("\x00", " ")), render)
    if "\x00" in text:
        text = _UNCLOSED_LINK.sub(lambda match: "" if match[1].strip().lower() in ignored else match[0], text)
    for _ in range(_NESTED_VARIANTS if "{" in text else 0):
        text, inner = _VARIANTS.subn(_one_variant, text)
        if not inner:
            break
    text = _EXTERNAL_LINK.sub(r"\1", _MAGIC_WORD.sub(" ", text))
    return in_kept_sections(_lines(text, plain=targets is None))


def _lines(text: str, *, plain: bool) -> Iterator[tuple[int, str]]:
    """Each line with its heading level, 0 or ITEM, without list markup; ``plain``: also without the markup of
    bold and italics, which the search for links does not need."""
    for raw in text.split("\n"):
        line = raw.strip(EDGES)
        if not line:
            continue
        level = 0
        first = line[0]
        if first == "=" and (heading := _HEADING.fullmatch(line)) is not None:
            level = min(len(heading[1]), len(heading[3]))
            line = heading[2].strip("= \t")
        elif first in _LIST_MARKS:
            level = ITEM
            line = line.lstrip(_LIST_MARKS)
        elif first == "|" or line.startswith("----"):
            line = line.lstrip("-") if first == "-" else ""
        elif first == "!" and ('="' in line or "!!" in line):
            line = ""  # the header of a table whose beginning is in a template
        yield level, _without_quotes(line) if "''" in line and (plain or level > 0) else line


def _without_quotes(line: str) -> str:
    """The line without the quotes for bold and italics. If both are odd, one of three quotes is an
    apostrophe."""
    if "'''" in line:
        lengths = [len(run) for run in _QUOTES.findall(line)]
        bold = sum(length == 3 or length >= 5 for length in lengths)
        italic = sum(length == 2 or length >= 5 for length in lengths)
        if bold % 2 and italic % 2:
            line = _APOSTROPHE.sub("'", line, count=1)
    if "''''" in line:
        return _QUOTES.sub("", line)
    return line.replace("'''", "").replace("''", "")  # the same result, five times as fast


def _one_variant(match: re.Match[str]) -> str:
    """The replacement for ``-{zh-hans:…;zh-hant:…}-``: always the variant whose code comes first."""
    content, flags = match[1], _FLAGS.match(match[1])
    if flags is not None:
        content = content[flags.end() :]
        letters = set((flags[1] or "").replace(" ", "").split(";"))
        if letters & _UNSEEN:
            return ""
        if "R" in letters:
            return content
    rules = list(_VARIANT.finditer(content))
    if not rules or rules[0].start():  # what comes before the first would belong to none
        return content
    ends = [rule.start() for rule in rules[1:]] + [len(content)]
    texts = [
        (rule[1], content[rule.end() : end].strip(" ;\n")) for rule, end in zip(rules, ends, strict=True)
    ]
    return min(texts)[1]
