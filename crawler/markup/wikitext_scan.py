"""The two linear passes that parse wikitext: tags first, then everything that nests.

Both read the text once from left to right, with regular expressions that match one token and never look
further than its end. The nesting pass keeps a stack of bounded depth, so that neither ``{{`` a hundred
thousand times nor an unclosed table takes more than linear time. (General parsers of wikitext backtrack: 30
kB of ``<b a="`` took mwparserfromhell 16 seconds, and a crawler reads whatever strangers have written.)
"""

import re
from collections.abc import Callable, Iterator

from wikitopics.crawler.markup.prose import words
from wikitopics.crawler.markup.wikitext_templates import render_template

_TAG = re.compile(r"<(?:!--|(/?)([a-zA-Z][a-zA-Z0-9]*)\b([^<>]*+)>)")
_DROPPED = words("""
ref references math chem ce gallery timeline source syntaxhighlight score imagemap hiero graph mapframe
maplink templatedata templatestyles inputbox categorytree charinsert indicator includeonly pre style script
rss quiz languages listing phonos chart
""")
_LINE_BREAKS = words("""
p div br hr li ul ol dl dt dd center blockquote poem h1 h2 h3 h4 h5 h6 tr td th caption noinclude onlyinclude
section article aside
""")
_CLOSINGS = {name: re.compile(rf"</{name}\s*+>", re.IGNORECASE) for name in (*_DROPPED, "nowiki")}
_MARKUP = str.maketrans(dict.fromkeys("{}[]|<>=*#;:'_", " "))


def remove_tags(text: str) -> str:
    """The text without comments and tags; their contents stay, unless they are not prose (references,
    formulas).

    ``<table>`` and ``</table>`` stay for the pass that knows nesting.
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
                # Never search for this one again: many unclosed tags would take quadratic time.
                unclosed.add(name)
            else:
                position = closing.end()
                if name == "nowiki":
                    yield text[end : closing.start()].translate(_MARKUP)
        elif name in _LINE_BREAKS:
            yield "\n"
    yield text[position:]


_LEAF = r"\[\[([^\[\]{}<|]*+)(?:\|([^\[\]{}<|]*+))?\]\]|\{\{([^\[\]{}<]*+)\}\}"
"""A link or a template in which nothing else opens or closes; nine in ten are of this kind."""
_WRITTEN_BAR = "\x04"
"""A bar written as ``{{!}}``: of a link or a table, but not of the template around it."""
_BARS = re.compile(r"\{\{\s*+(!|pipe|!!|!-|!\+|\(!|!\))\s*+\}\}", re.IGNORECASE)


def _tokens(bar: str) -> re.Pattern[str]:
    """What opens or closes a construct, with ``bar`` for the bars of tables."""
    table = rf"\n[ \t]*+{bar}\}}(?!\}})|\n[ \t:*#;]*+\{{{bar}(?!\}})|</?[tT][aA][bB][lL][eE]\b[^<>]*+>"
    return re.compile(rf"({_LEAF}|\{{\{{|\}}\}}|\[\[|\]\]|{table})")


_TOKEN = _tokens(r"\|")
_TOKEN_WRITTEN = _tokens(f"[|{_WRITTEN_BAR}]")
"""Where some bars are written bars."""
_TEMPLATE, _LINK, _TABLE, _HTML_TABLE = range(4)
_OPENS = {"{{": _TEMPLATE, "[[": _LINK}
_CLOSES = {"}}": _TEMPLATE, "]]": _LINK}
_MAX_DEPTH = 60
"""Articles nest up to a dozen deep; MediaWiki itself stops at 40 levels of templates."""
_BAR = "\x01"
"""A bar that separates nothing, while the construct around it may still have bars that do."""

_Frame = tuple[int, int]
"""An open construct: its kind, and where its content begins in the output."""


def resolve(text: str, render_link: Callable[[str, list[str]], str]) -> str:
    """The text without templates, data tables and brackets; links and known templates become their words.

    ``render_link(target, texts)`` gives the words of ``[[target|text|…]]``. Openings without a closing stay
    as text; closings without an opening are removed.
    """
    if "{" not in text and "[[" not in text and "<" not in text:
        return text
    out: list[str] = []
    stack: list[_Frame] = []
    too_deep = 0
    text, bracket = text.replace(_BAR, " ").replace(_WRITTEN_BAR, " "), _TOKEN
    if _BARS.search(text) is not None:
        text, bracket = _BARS.sub(_written, text), _TOKEN_WRITTEN
    pieces = bracket.split("\n" + text)
    in_turn = iter(pieces)
    for before, token, target, shown, template in zip(*[in_turn] * 5, strict=False):
        if before:
            out.append(before)
        if target is not None or template is not None:
            if len(stack) == _MAX_DEPTH:
                out.append(token[2:-2])
            elif target is None:
                out.append(render_template(template))
            elif _WRITTEN_BAR in token:
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
        # A bracket closes only the innermost construct: it must not tear a template or a table apart.
        if not stack or stack[-1][0] != _LINK:
            return
        place = len(stack) - 1
    else:
        place = next((i for i in range(len(stack) - 1, -1, -1) if stack[i][0] == kind), -1)
        if place < 0:
            return
    inner = stack[place + 1 :]
    del stack[place + 1 :]
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
    """The contents of a table without data, only text in columns; nothing for any other table.

    Its attributes come first. In a table without a stated purpose, lists count as text.
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
    """Turn frames that nothing closed into plain text; their bars separate nothing."""
    if not frames:
        return
    pieces: list[str] = []
    ends = [begin for _, begin in frames[1:]] + [len(out)]
    for (kind, begin), end in zip(frames, ends, strict=True):
        pieces.append(_UNCLOSED[kind])
        pieces.extend(out[begin:end])
    out[frames[0][1] :] = ["".join(pieces).replace("|", _BAR)]
