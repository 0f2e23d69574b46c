"""What both extractors share: which sections are no prose, and how the text that is left is tidied."""

import html
import re
from collections.abc import Iterable, Iterator

ITEM = -1
"""What stands in the place of a heading's level for a line of a list; 0 stands for a paragraph."""

_LINKS = """
see also; external links; external link; related pages; other websites; external links and references
external links and sources; references and external links; further reading and external links
siehe auch; weblinks; voir aussi; liens externes; articles connexes; annexes; véase también; enlaces externos
voci correlate; collegamenti esterni; altri progetti; ver também; ligações externas; zie ook; externe links
zobacz też; linki zewnętrzne; se även; externa länkar; см. также; ссылки
関連項目; 外部リンク; 参见; 外部链接; 外部連結; 参看; 相关条目
"""
"""Sections that lead elsewhere."""
_REFERENCES = """
references; reference; notes; further reading; bibliography; footnotes; citations; endnotes; inline citations
notes and references; references and notes; notes and citations; citations and notes; notes and sources
references and sources; sources and references; references and further reading; works cited; cited works
general references; cited sources; cited references; general sources; specific references; cited texts
bibliography and references; references and bibliography; explanatory notes; selected bibliography
sources and further reading; further reading and references; footnotes and references; literature cited
additional reading; suggested reading; notes and bibliography
einzelnachweise; fußnoten; anmerkungen; belege; références; notes et références; bibliographie
referencias; bibliografía; notas; notas y referencias; note; bibliografia; note esplicative
referências; leitura adicional; notas e referências; referenties; noten; voetnoten; przypisy; uwagi
referenser; noter; vidare läsning; примечания
脚注; 注釈; 出典; 参考文献; 参考资料; 註釋
"""
"""Sections that list what an article rests on; now and then one holds a paragraph of prose beside."""
_SUBJECTS = """
literature; sources; primary sources; literatur; quellen; fuentes; literatuur; bronnen; litteratur; källor
литература; источники
"""
"""Sections that may do so, or else tell of a country's literature, or of where a river rises."""


def _headings(names: str) -> frozenset[str]:
    return frozenset(name.strip() for name in names.strip().replace("\n", ";").split(";"))


_LEAST_WORDS = {
    **dict.fromkeys(_headings(_LINKS), None),
    **dict.fromkeys(_headings(_REFERENCES), 12),
    **dict.fromkeys(_headings(_SUBJECTS), 5),
}
"""How many words a paragraph under such a heading must have to be taken for prose; None: none is."""

_CITATION = re.compile(r"\b(?:ISBN|ISSN|OCLC)\b|\bdoi:|\bpp?\.\s?\d|^\W*[^\W\d_]+, [^\W\d_]\.")
_WORD = re.compile(r"\w+")
_ENDS_OF_SENTENCES = (".", "!", "?", "…")
_CLOSING_MARKS = " \"'”’»)"
_LEAST_LOWER_CASE = 0.45
"""The share of words in lower case that 99 in 100 paragraphs of English articles reach, and most citations do
not."""

_URL = re.compile(r"(?:\b(?:https?|ftp)://|\bwww\.)[^\s\[\]{}<>\"|]*+", re.IGNORECASE)
_ENDLESS_REFERENCE = re.compile("&#[0-9]{100,}+;?")
"""Python refuses to read a number of more than 4300 digits; no character has more than seven."""
_RULES = re.compile("={2,}+|_{2,}+")
_MARKUP = r"{}\[\]|<>\x00-\x08\x0b-\x1f\x7f\ud800-\udfff"
"""With control characters, and lone surrogates, which UTF-8 cannot carry."""
_BLANKS = r"\t\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""What matches ``\\s`` besides, but for the blank and the end of a line; to name them is thrice as fast."""
_NO_TEXT = re.compile(f"[{_MARKUP}{_BLANKS}]")
_SEVERAL_BLANKS = re.compile("  +")


def in_kept_sections(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """The texts of ``(level, text)`` pairs that are prose; level: of a heading, 0 for a paragraph, or ITEM.

    In sections of references and literature only paragraphs that read like prose are, in those of links none.
    The heading of a section without text goes too: its table, gallery or literature has been left out.
    """
    reference_level = 0
    least_words: int | None = None
    pending: list[tuple[int, str]] = []
    for level, text in lines:
        if level > 0:
            if not reference_level or level <= reference_level:
                heading = text.strip(" \t\xa0:.").lower()
                reference_level = level if heading in _LEAST_WORDS else 0
                least_words = _LEAST_WORDS.get(heading)
            while pending and pending[-1][0] >= level:
                pending.pop()
            if text:
                pending.append((level, text))
        elif text and (not reference_level or (level != ITEM and _is_prose(text, least_words))):
            yield from (heading for _, heading in pending)
            pending.clear()
            yield text


def _is_prose(text: str, least_words: int | None) -> bool:
    """Whether this paragraph consists of sentences, not of names, titles and numbers as a citation does."""
    if least_words is None or not text.rstrip(_CLOSING_MARKS).endswith(_ENDS_OF_SENTENCES):
        return False
    words: list[str] = _WORD.findall(text)
    if len(words) < least_words or _CITATION.search(text):
        return False
    return sum(word[0].islower() for word in words) >= _LEAST_LOWER_CASE * len(words)


def tidy(text: str) -> str:
    """Without addresses, character references and what is no text; one blank between words."""
    if "&" in text:
        text = html.unescape(_ENDLESS_REFERENCE.sub(" ", text))
    if "://" in text or "www." in text:
        text = _URL.sub(" ", text)
    if "==" in text or "__" in text:
        text = _RULES.sub(" ", text)
    return _SEVERAL_BLANKS.sub(" ", _NO_TEXT.sub(" ", text))
