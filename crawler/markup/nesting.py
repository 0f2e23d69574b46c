"""Tags, links, templates and tables of wikitext, in two linear passes: tags first, then everything
that nests.

Both read the text once from left to right, with regular expressions that match one token and never
look further than its end. The nesting pass keeps a stack of bounded depth, so that neither ``{{`` a
hundred thousand times nor an unclosed table takes more than linear time. (General parsers of
wikitext backtrack: 30 kB of ``<b a="`` took mwparserfromhell 16 seconds, and a crawler reads
whatever strangers have written.)
"""

import re
from collections.abc import Callable, Iterator

from wikitopics.crawler.markup.prose import APART, NAMES
from wikitopics.crawler.markup.templates import render_template

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
    """The pieces of `remove_tags`."""
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
                out.append(render_link(target, texts) or _apart(out))
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


UNCLOSED_LINK = "\x00"
"""Stands for the opening of a link that was never closed, which may turn out to be a file's."""
_UNCLOSED = ("", UNCLOSED_LINK, "\n|", "\n|")
"""By kind of construct, what stands for an opening that was never closed."""


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
