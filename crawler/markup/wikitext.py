"""Turns any wikitext into prose, in time linear in its length."""

import re
from collections.abc import Collection, Iterator

from wikitopics.crawler.markup.nesting import UNCLOSED_LINK, remove_tags, resolve
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
_UNCLOSED_FILE = re.compile(rf"{UNCLOSED_LINK}([^:\n{UNCLOSED_LINK}]{{0,40}}):[^\n]*+")
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
    without_tags = remove_tags(text.replace(UNCLOSED_LINK, " "))
    text = resolve(without_tags, render_link, main_language)
    if UNCLOSED_LINK in text:
        text = _UNCLOSED_FILE.sub(without_file, text)
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
