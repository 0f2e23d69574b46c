"""Turns any wikitext into prose, in time linear in its length."""

import re
from collections.abc import Collection, Iterator

from wikitopics.crawler.markup.prose import EDGES, ITEM, LINK, in_kept_sections, links_in, tidy, words
from wikitopics.crawler.markup.wikitext_scan import remove_tags, resolve

_IGNORED = words("""
file image fichier datei bild archivo imagen immagine ficheiro imagem bestand afbeelding plik grafika fil
файл изображение ファイル 画像 文件 檔案 图像 圖像
category kategorie catégorie categoría categoria categorie kategoria kategori категория カテゴリ 分类 分類
""")
"""Links to files and categories are not words; the names of their namespaces on the larger Wikipedias, in
lower case."""

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
"""Flags of what is not shown: a rule alone, a title, the name of a variant, a rule's end."""


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

    The arguments, and what is prose, as for `extract_wikitext`.
    """
    targets: list[str] = []
    kept = _kept(text.replace(LINK, " "), (*file_names, *category_names), targets)
    return list(links_in(kept, targets))


def _kept(text: str, names: Collection[str], targets: list[str] | None = None) -> Iterator[str]:
    """The lines of prose; ``targets`` takes those of all links, whose numbers are then marked in the
    lines."""
    if text.lstrip()[:9].lower() == "#redirect":
        return iter(())
    ignored = _IGNORED
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
    for _ in range(_NESTED_VARIANTS if "-{" in text else 0):
        text, inner = _VARIANTS.subn(_one_variant, text)
        if not inner:
            break
    if "__" in text:
        text = _MAGIC_WORD.sub(" ", text)
    text = _EXTERNAL_LINK.sub(r"\1", text)
    return in_kept_sections(_lines(text, plain=targets is None))


def _lines(text: str, *, plain: bool) -> Iterator[tuple[int, str]]:
    """Each line with its level as a heading, 0 or ITEM, without the markup of lists; ``plain``: and without
    that of bold and italics, which the search for links does not need."""
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
    return line.replace("'''", "").replace("''", "")  # the same, and five times as fast


def _one_variant(match: re.Match[str]) -> str:
    """What stands for ``-{zh-hans:…;zh-hant:…}-``: the variant whose code comes first, everywhere the
    same."""
    content, flags = match[1], _FLAGS.match(match[1])
    if flags is not None:
        content = content[flags.end() :]
        given = set((flags[1] or "").replace(" ", "").split(";"))
        if given & _UNSEEN:
            return ""
        if "R" in given:
            return content
    rules = list(_VARIANT.finditer(content))
    if not rules or rules[0].start():  # what comes before the first would belong to none
        return content
    ends = [rule.start() for rule in rules[1:]] + [len(content)]
    texts = [
        (rule[1], content[rule.end() : end].strip(" ;\n")) for rule, end in zip(rules, ends, strict=True)
    ]
    return min(texts)[1]
