"""Turns any wikitext into prose, in time linear in its length."""

import re
from collections.abc import Callable, Collection, Iterator

from wikitopics.crawler.markup.prose import (
    APART,
    EDGES,
    ITEM,
    LINK,
    NAMES,
    in_kept_sections,
    links_in,
    lowered,
    names_in,
    read_data,
    tidy,
)
from wikitopics.crawler.markup.templates import render_template

# The two linear passes that parse wikitext: tags first, then everything that nests.
#
# Both read the text once from left to right, with regular expressions that match one token and
# never look further than its end. The nesting pass keeps a stack of bounded depth, so that neither
# ``{{`` a hundred thousand times nor an unclosed table takes more than linear time. (General
# parsers of wikitext backtrack: 30 kB of ``<b a="`` took mwparserfromhell 16 seconds, and a crawler
# reads whatever strangers have written.)

_TAG = re.compile(r"<(?:!--|(/?)([a-zA-Z][a-zA-Z0-9]*)\b([^<>]*+)>)")
_LINE_BREAKS = NAMES["breaks"]
_READINGS = r"(?=<(?:rb|rt|rp|rtc|ruby)\b|\n\n)|</(?:{}|ruby)\s*+>"
"""What ends a reading of ruby, whose own closing tag may be missing."""
_ENDS = dict.fromkeys(("rt", "rp"), _READINGS) | {"rtc": r"(?=\n\n)|</(?:{}|ruby)\s*+>"}
_CLOSINGS = {
    name: re.compile(_ENDS.get(name, r"</{}\s*+>").format(name), re.IGNORECASE)
    for name in (*NAMES["dropped"], "nowiki")
}
_MARKUP = str.maketrans({**dict.fromkeys("{}[]|<>=*#;:_", " "), "'": f"{APART}'{APART}"})


def remove_tags(text: str) -> str:
    """The text without comments and tags; the contents of tags are kept if they are prose
    (references and formulas are not).

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
                    yield text[end : closing.start()].replace("''", " ").translate(_MARKUP)
        elif name in _LINE_BREAKS:
            yield "\n"
        if text[start - 1 : start] == "'" and text.startswith("'", position):
            yield APART
    yield text[position:]


_LEAF = r"\[\[([^\[\]{}<|]*+)(?:\|([^\[\]{}<|]*+))?\]\]|\{\{([^\[\]{}<]*+)\}\}"
"""A link or a template without anything nested; nine in ten are of this kind."""
_WRITTEN_BAR = "\x04"
"""A bar written as ``{{!}}``: it belongs to a link or a table, not to the template around it."""
_BARS = re.compile(r"\{\{\s*+(!|pipe|!!|!-|!\+|\(!|!\))\s*+\}\}", re.IGNORECASE)


def _tokens(bar: str) -> re.Pattern[str]:
    """What opens or closes a construct, with ``bar`` for the bars of tables."""
    table = (
        rf"\n[ \t]*+{bar}\}}(?!\}})|\n[ \t:*#;]*+\{{{bar}(?!\}})|</?[tT][aA][bB][lL][eE]\b[^<>]*+>"
    )
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


def resolve(text: str, render_link: Callable[[str, list[str]], str], language: str = "") -> str:
    """The text without templates, data tables and brackets; links and known templates become their
    words.

    ``render_link(target, texts)`` gives the words of ``[[target|text|…]]``; ``language`` is that of
    `render_template`. Openings without a closing are kept as text; closings without an opening are
    removed.
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
                out.append(render_template(template, language) or _apart(out))
            elif has_written and _WRITTEN_BAR in token:
                target, *texts = _parts(token[2:-2])
                out.append(render_link(target, texts))
            else:
                out.append(render_link(target, [] if shown is None else [shown]) or _apart(out))
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
            _close(closed, stack, out, render_link, language)
    out.append(pieces[-1])
    _flatten(stack, out)
    return "".join(out).replace(_BAR, "|").replace(_WRITTEN_BAR, "|")


def _apart(out: list[str]) -> str:
    """What stands for something that is left out: apostrophes around it are two marks, not one."""
    return APART if out and out[-1].endswith("'") else ""


def _written(match: re.Match[str]) -> str:
    """What ``{{!}}`` and the like stand for."""
    name = match[1].lower()
    # A template whose text begins a table begins a line of its own.
    signs = {"pipe": "!", "(!": "\n{!", "!)": "!}"}.get(name, name)
    return signs.replace("!", _WRITTEN_BAR)


def _parts(content: str) -> list[str]:
    """A link's target and texts."""
    return content.replace(_WRITTEN_BAR, "|").split("|")


def _close(
    kind: int,
    stack: list[_Frame],
    out: list[str],
    render_link: Callable[[str, list[str]], str],
    language: str,
) -> None:
    """Replace the nearest open ``kind`` by its words; anything open inside it was never closed."""
    if kind == _LINK:
        # A bracket closes only the innermost construct, so that it does not break up a template or
        # a table.
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
        out.append(render_template(content, language) or _apart(out))
    elif kind == _LINK:
        target, *texts = _parts(content)
        out.append(render_link(target, texts).replace("|", _BAR) or _apart(out))
    elif kind == _TABLE:
        out.append(_text_in_columns(content.replace(_WRITTEN_BAR, "|")))


_LAYOUT = re.compile(
    r"\brole\s*=\W?presentation\b|\bclass\s*=[^=]*\b(?:multicol|col-begin)\b", re.IGNORECASE
)


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
        # Text before a bar on the same line is a cell's attributes; "|-" begins a row, "|+" the
        # caption.
        cell, *more = part.split("\n")
        lines += [cell, *more] if more and cell[:1] not in ("-", "+") else more
    marks = ("*", "#", ":", ";")
    return "\n".join(
        line for line in lines if line.startswith(marks) or (is_layout and line[:1] != "!")
    )


_UNCLOSED = ("", "\x00", "\n|", "\n|")
"""Stands for an opening that was never closed: \\x00 for a link, which may turn out to be a
file's."""


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


_MAGIC_WORDS = "|".join(map(re.escape, sorted(NAMES["redirects"], key=len, reverse=True)))
_REDIRECT = re.compile(rf"(?:{_MAGIC_WORDS})[ \t\n]*:?[ \t\n]*\[\[")
_LONGEST_REDIRECT = 200
"""The characters of a text in which a redirect's magic word and the beginning of its link are
expected."""


def is_redirect(text: str) -> bool:
    """Whether a page with this wikitext redirects, in whatever language its wiki is."""
    begin = lowered(text[:_LONGEST_REDIRECT].lstrip())
    return begin.startswith("#redirect") or (
        begin[:1] in "#＃" and _REDIRECT.match(begin) is not None
    )


_EXTERNAL_LINK = re.compile(
    r"\[(?:(?:https?|ftp|irc)://|//|mailto:|news:)[^\s\[\]]*+([^\[\]\n]*+)\]", re.IGNORECASE
)
_LANGUAGE_LINK = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,10}){0,2}")
_QUOTES = re.compile("(''+)")
_SWITCH = re.compile(r"(__|＿＿)(?=([^_＿\n](?:[_＿]?[^_＿\n]){1,60}+)\1)")
_SWITCHES = names_in(read_data("switches.txt"))
_UNCLOSED_LINK = re.compile(r"\x00([^:\n\x00]{0,40}):[^\n]*+")
_HEADING = re.compile(r"(={1,6})(.*?)(={1,6})", re.DOTALL)
_LIST_MARKS = "*#:; \t"
_VARIANTS = re.compile(r"-\{(?!\{)([^{}]*+)\}-")
"""Text in several variants of a language, such as simplified and traditional Chinese."""
_NESTED_VARIANTS = 8
_FLAGS = re.compile(
    r"\s*+([A-Z-](?:\s*+;\s*+[A-Z-])*+|[a-z-]{2,10}(?:\s*+;\s*+[a-z-]{2,10})*+)?\s*+\|"
)
_VARIANT = re.compile(r"(?:^|;)\s*+(?:[^;:=|]*+=>)?\s*+([a-z]{2,3}(?:-[a-z]{2,8}){0,2})\s*+:")
_UNSEEN = frozenset("HTN-")
"""Flags of content that is not shown: a mere rule, a title, the name of a variant, a rule's end."""


def extract_wikitext(
    text: str,
    *,
    file_names: Collection[str] = (),
    category_names: Collection[str] = (),
    language: str = "",
) -> str:
    """The prose of an article: paragraphs, headings and list items as plain text, one per line.

    Left out are references, data tables, templates (except those that stand for words), files with
    their captions, categories, formulas and code. In sections such as See also, References, Notes,
    Further reading, External links and Bibliography, everything that does not read like prose is
    left out too. ``file_names``
    and ``category_names``: this wiki's names for those namespaces, besides the names that are
    always known.
    ``language``: the code of its language, "" if it is not known; a few templates mean something
    else in others.

    Any string gives a string, in time linear in its length. A redirect gives nothing.
    """
    return tidy("\n".join(_kept(text, (*file_names, *category_names), language)))


def wikitext_links(
    text: str,
    *,
    file_names: Collection[str] = (),
    category_names: Collection[str] = (),
    language: str = "",
) -> list[str]:
    """The targets of the links in the prose of an article, as they are written, in order.

    The arguments and the definition of prose are those of `extract_wikitext`.
    """
    targets: list[str] = []
    lines = _kept(text.replace(LINK, " "), (*file_names, *category_names), language, targets)
    return list(links_in(lines, targets))


def _kept(
    text: str,
    names: Collection[str],
    language: str,
    targets: list[str] | None = None,
) -> Iterator[str]:
    """The lines of prose; ``targets`` collects those of all links, whose numbers are then marked in
    the lines."""
    if is_redirect(text):
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
            if "''" in shown:
                shown = _without_quotes(shown)  # a link's text is read by itself
            return shown if shown.strip() else target.partition("(")[0]
        return target.replace("''", f"'{APART}'{APART}")  # part of the title, as in Neapolitan

    render = render_link if targets is None else marked_link
    text = resolve(
        remove_tags(text.replace("\x00", " ")), render, language.lower().partition("-")[0]
    )
    if "\x00" in text:
        text = _UNCLOSED_LINK.sub(
            lambda match: "" if match[1].strip().lower() in ignored else match[0], text
        )
    for _ in range(_NESTED_VARIANTS if "{" in text else 0):
        text, inner = _VARIANTS.subn(_one_variant, text)
        if not inner:
            break
    text = _EXTERNAL_LINK.sub(r"\1", _without_switches(text))
    return in_kept_sections(_lines(text, plain=targets is None))


def _without_switches(text: str) -> str:
    """The text without MediaWiki's behaviour switches."""
    # Searching for one character is many times as fast as for two.
    if not ("_" in text and "__" in text) and "＿" not in text:
        return text
    kept: list[str] = []
    position = 0
    for match in _SWITCH.finditer(text):
        if match.start() >= position and _is_switch(match[2].strip()):
            kept.append(text[position : match.start()])
            position = match.end(2) + len(match[1])
    return " ".join((*kept, text[position:]))


def _is_switch(name: str) -> bool:
    """Whether this is a switch, or looks like one: extensions of MediaWiki have more, in
    capitals."""
    folded = name.replace("İ", "i").lower().replace("ı", "i")
    is_in_capitals = name.isupper() and name.replace("_", "").isalpha()
    return is_in_capitals or folded in _SWITCHES or name in _SWITCHES


def _lines(text: str, *, plain: bool) -> Iterator[tuple[int, str]]:
    """Each line with its heading level, 0 or ITEM, without list markup; ``plain``: also without the
    markup of bold and italics, which the search for links does not need."""
    for raw in text.split("\n"):
        # Before the marks of lists are taken away: an apostrophe may depend on the space behind
        # them.
        if "''" in raw and (plain or raw.lstrip(EDGES).startswith("=")):
            raw = _without_quotes(raw)
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
        yield level, line


def _without_quotes(line: str) -> str:
    """The line without the quotes for bold and italics, but with those that MediaWiki shows.

    Of four quotes in a row the first is shown, of more than five all but the last five. If the
    marks of bold and those of italics are both odd in number, one mark of bold is an apostrophe
    before one of italics: the first after a word of one letter, else the first after a longer word,
    else the first after a space.
    """
    if "'''" not in line:
        return line.replace("''", "")
    pieces = _QUOTES.split(line)
    lengths = [len(quotes) for quotes in pieces[1::2]]
    bold = sum(length > 2 for length in lengths)
    italic = sum(length == 2 or length > 4 for length in lengths)
    is_odd = bold % 2 == italic % 2 == 1
    if not is_odd and 4 not in lengths and max(lengths) < 6:
        return line.replace("'''", "").replace("''", "")  # the same result, five times as fast
    for place, length in enumerate(lengths):
        pieces[2 * place] += "'" if length == 4 else "'" * (length - 5)
        pieces[2 * place + 1] = ""
    bolds = [2 * place for place, length in enumerate(lengths) if length in (3, 4)]
    if is_odd and bolds:
        pieces[min(bolds, key=lambda place: _word_before(pieces[place]))] += "'"
    return "".join(pieces)


def _word_before(text: str) -> int:
    """What the text ends with: 0 for a word of one letter, 1 for a longer one, 2 for a space."""
    if text.endswith(" "):
        return 2
    # MediaWiki looks at bytes, so a letter that is not ASCII is a longer word.
    return 0 if text[-2:-1] == " " and text[-1].isascii() else 1


def _one_variant(match: re.Match[str]) -> str:
    """The replacement for ``-{zh-hans:…;zh-hant:…}-``: always the variant whose code comes
    first."""
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
        (rule[1], content[rule.end() : end].strip(" ;\n"))
        for rule, end in zip(rules, ends, strict=True)
    ]
    return min(texts)[1]
