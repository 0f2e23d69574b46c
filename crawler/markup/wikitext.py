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
_END_OF_READING = r"(?=<(?:rb|rt|rp|rtc|ruby)\b|\n\n)|</(?:{}|ruby)\s*+>"
_ENDS = {
    "rt": _END_OF_READING,
    "rp": _END_OF_READING,
    "rtc": r"(?=\n\n)|</(?:{}|ruby)\s*+>",
}
"""What ends the readings of ruby, whose own closing tags may be missing."""
_CLOSINGS = {
    name: re.compile(_ENDS.get(name, r"</{}\s*+>").format(name), re.IGNORECASE)
    for name in (*NAMES["dropped"], "nowiki")
}
_WITHOUT_MARKUP = str.maketrans({**dict.fromkeys("{}[]|<>=*#;:_", " "), "'": f"{APART}'{APART}"})
"""For text that is shown as it is written."""


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
                    yield text[end : closing.start()].replace("''", " ").translate(_WITHOUT_MARKUP)
        elif name in _LINE_BREAKS:
            yield "\n"
        is_between_apostrophes = text[start - 1 : start] == "'" and text.startswith("'", position)
        if is_between_apostrophes:
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
_FIELDS = 5
"""What splitting by such a pattern gives for each token: the text before it, the token, and the
three groups of `_LEAF`: a link's target and text, a template's content."""
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
    has_written_bars = _BARS.search(text) is not None
    if has_written_bars:
        text = _BARS.sub(_written, text)
    pattern = _TOKEN_WRITTEN if has_written_bars else _TOKEN
    pieces = pattern.split("\n" + text)
    # Five of the pieces at a time: the same iterator, taken from in turn.
    in_turn = iter(pieces)
    by_token = zip(*[in_turn] * _FIELDS, strict=False)
    for before, token, target, shown, template in by_token:
        if before:
            out.append(before)
        if target is not None or template is not None:
            if len(stack) == _MAX_DEPTH:
                out.append(token[2:-2])
            elif target is None:
                out.append(render_template(template, language) or _apart(out))
            elif has_written_bars and _WRITTEN_BAR in token:
                target, *texts = _parts(token[2:-2])
                out.append(render_link(target, texts))
            else:
                texts = [] if shown is None else [shown]
                out.append(render_link(target, texts) or _apart(out))
            continue
        opened = _OPENS.get(token)
        closed = _CLOSES.get(token)
        if opened is None and closed is None:
            opened, closed = _table_of(token)
            out.append("\n")
        if opened is not None:
            if len(stack) < _MAX_DEPTH:
                stack.append((opened, len(out)))
            else:
                too_deep += 1
        elif too_deep:
            too_deep -= 1
        elif closed is not None:
            _close(closed, stack, out, render_link, language)
    out.append(pieces[-1])
    _flatten(stack, out)
    return "".join(out).replace(_BAR, "|").replace(_WRITTEN_BAR, "|")


def _table_of(token: str) -> tuple[int | None, int | None]:
    """The kind of table that this token opens, and the one that it closes; one of them is None."""
    kind = _HTML_TABLE if token[0] == "<" else _TABLE
    is_closing = token[1] == "/" if token[0] == "<" else token[-1] == "}"
    return (None, kind) if is_closing else (kind, None)


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
        index = len(stack) - 1
        while index >= 0 and stack[index][0] != kind:
            index -= 1
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
        if more and cell[:1] not in ("-", "+"):
            lines.append(cell)
        lines += more
    marks = ("*", "#", ":", ";")
    if is_layout:
        texts = [line for line in lines if not line.startswith("!")]
    else:
        texts = [line for line in lines if line.startswith(marks)]
    return "\n".join(texts)


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
    _, begin_of_all = frames[0]
    out[begin_of_all:] = ["".join(pieces).replace("|", _BAR)]


_LONGEST_FIRST = sorted(NAMES["redirects"], key=len, reverse=True)
_MAGIC_WORDS = "|".join(map(re.escape, _LONGEST_FIRST))
_REDIRECT = re.compile(rf"(?:{_MAGIC_WORDS})[ \t\n]*:?[ \t\n]*\[\[")
_LONGEST_REDIRECT = 200
"""The characters of a text in which a redirect's magic word and the beginning of its link are
expected."""


def is_redirect(text: str) -> bool:
    """Whether a page with this wikitext redirects, in whatever language its wiki is."""
    begin = lowered(text[:_LONGEST_REDIRECT].lstrip())
    if begin.startswith("#redirect"):
        return True
    return begin[:1] in "#＃" and _REDIRECT.match(begin) is not None


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
    left out too.

    file_names, category_names: this wiki's names for those namespaces, besides the names that are
        always known
    language: the code of its language, "" if it is not known; a few templates mean something else
        in others

    Any string gives a string, in time linear in its length. A redirect gives nothing.
    """
    lines = _kept(text, (*file_names, *category_names), language)
    return tidy("\n".join(lines))


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

    def render_link(target: str, texts: list[str]) -> str:
        shown = _words_of_link(target, texts, ignored)
        if targets is None or not shown:
            return shown
        targets.append(target)
        return f"{shown}{LINK}{len(targets) - 1}{LINK}"

    def without_file(match: re.Match[str]) -> str:
        return "" if match[1].strip().lower() in ignored else match[0]

    main_language, _, _ = language.lower().partition("-")
    without_tags = remove_tags(text.replace("\x00", " "))
    text = resolve(without_tags, render_link, main_language)
    if "\x00" in text:
        text = _UNCLOSED_LINK.sub(without_file, text)
    if "{" in text:
        for _ in range(_NESTED_VARIANTS):
            text, replaced = _VARIANTS.subn(_one_variant, text)
            if not replaced:
                break
    text = _EXTERNAL_LINK.sub(r"\1", _without_switches(text))
    return in_kept_sections(_lines(text, plain=targets is None))


def _words_of_link(target: str, texts: list[str], ignored: Collection[str]) -> str:
    """What ``[[target|text|…]]`` shows; nothing for files, categories and other languages, which
    have the ``ignored`` prefixes or are codes."""
    if ":" in target and "\n\n" not in target:
        prefix, _, _ = target.partition(":")
        prefix = prefix.strip(EDGES).lower().replace("_", " ")
        is_language_link = not texts and _LANGUAGE_LINK.fullmatch(prefix)
        if prefix in ignored or is_language_link:
            return ""
        if target.startswith(":"):
            target = target[1:]
            prefix, _, rest = target.partition(":")
            if prefix.strip(EDGES).lower() in ignored:
                target = rest
    if texts:
        shown = "|".join(texts)
        if "''" in shown:
            shown = _without_quotes(shown)  # a link's text is read by itself
        if shown.strip():
            return shown
        before, _, _ = target.partition("(")
        return before
    return target.replace("''", f"'{APART}'{APART}")  # part of the title, as in Neapolitan


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
        line = raw
        # Before the marks of lists are taken away: an apostrophe may depend on the space behind
        # them.
        if "''" in line and (plain or line.lstrip(EDGES).startswith("=")):
            line = _without_quotes(line)
        line = line.strip(EDGES)
        if not line:
            continue
        level = 0
        first = line[0]
        heading = _HEADING.fullmatch(line) if first == "=" else None
        if heading is not None:
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
    bold = sum(1 for length in lengths if length > 2)
    italic = sum(1 for length in lengths if length == 2 or length > 4)
    is_odd = bold % 2 == 1 and italic % 2 == 1
    if not is_odd and 4 not in lengths and max(lengths) < 6:
        return line.replace("'''", "").replace("''", "")  # the same result, five times as fast
    texts = pieces[::2]  # texts[i] comes before the quotes of lengths[i]
    bolds = []
    for place, length in enumerate(lengths):
        if length == 4:
            texts[place] += "'"
        elif length > 5:
            texts[place] += "'" * (length - 5)
        if length in (3, 4):
            bolds.append(place)
    if is_odd and bolds:
        apostrophe = min(bolds, key=lambda place: _word_before(texts[place]))
        texts[apostrophe] += "'"
    return "".join(texts)


def _word_before(text: str) -> int:
    """What the text ends with: 0 for a word of one letter, 1 for a longer one, 2 for a space."""
    if text.endswith(" "):
        return 2
    # MediaWiki looks at bytes, so a letter that is not ASCII is a longer word.
    is_one_letter = text[-2:-1] == " " and text[-1].isascii()
    return 0 if is_one_letter else 1


def _one_variant(match: re.Match[str]) -> str:
    """The replacement for ``-{zh-hans:…;zh-hant:…}-``: always the variant whose code comes
    first."""
    content = match[1]
    flags = _FLAGS.match(content)
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
    by_code = []
    for rule, end in zip(rules, ends, strict=True):
        text = content[rule.end() : end].strip(" ;\n")
        by_code.append((rule[1], text))
    _, shown = min(by_code)
    return shown
