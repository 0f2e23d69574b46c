"""What both extractors share: which sections are no prose, and how the text that is left is tidied."""

import html
import re
from collections.abc import Iterable, Iterator

_SKIPPED_HEADINGS = """
see also; references; notes; further reading; external links; bibliography; footnotes; sources; citations
notes and references; references and notes; notes and citations; citations and notes; notes and sources
references and sources; sources and references; references and further reading; works cited; cited works
general references; cited sources; cited references; general sources; specific references; endnotes
references and external links; bibliography and references; references and bibliography; explanatory notes
external links and references; selected bibliography; sources and further reading; external link; reference
further reading and references; further reading and external links; external links and sources
footnotes and references; related pages; other websites; inline citations; literature cited; literature
additional reading; suggested reading; cited texts; notes and bibliography; primary sources
einzelnachweise; weblinks; literatur; siehe auch; quellen; fußnoten; anmerkungen; belege
références; notes et références; voir aussi; liens externes; bibliographie; articles connexes; annexes
referencias; véase también; enlaces externos; bibliografía; notas; fuentes; notas y referencias
note; voci correlate; collegamenti esterni; bibliografia; altri progetti; note esplicative
referências; ver também; ligações externas; leitura adicional; notas e referências
referenties; zie ook; externe links; literatuur; bronnen; noten; voetnoten
przypisy; zobacz też; linki zewnętrzne; uwagi
referenser; se även; externa länkar; källor; noter; vidare läsning; litteratur
примечания; см. также; ссылки; литература; источники
脚注; 注釈; 出典; 関連項目; 外部リンク; 参考文献
参考资料; 参见; 外部链接; 外部連結; 註釋; 参看; 相关条目
"""
_SKIPPED_SECTIONS = frozenset(
    heading.strip() for heading in _SKIPPED_HEADINGS.strip().replace("\n", ";").split(";")
)

_URL = re.compile(r"(?:\b(?:https?|ftp)://|\bwww\.)[^\s\[\]{}<>\"|]*+", re.IGNORECASE)
_RULES = re.compile("={2,}+|_{2,}+")
_BLANKS = re.compile(r"[^\S\n]{2,}+|[^\S\n ]")
_CONTROLS = "".join(map(chr, (*range(9), *range(11, 32), 127)))
_LEFTOVERS = str.maketrans(dict.fromkeys("{}[]|<>" + _CONTROLS, " "))


def is_skipped_section(heading: str) -> bool:
    """Whether a section with this heading holds no prose: links, references, literature."""
    return heading.strip(" \t\xa0:.").lower() in _SKIPPED_SECTIONS


def in_kept_sections(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """The texts of ``(level, text)`` pairs (level 0: no heading), without the sections that hold no prose.

    The heading of a section without text goes too: its table, gallery or literature has been left out.
    """
    skipped_level = 0
    pending: list[tuple[int, str]] = []
    for level, text in lines:
        if level and (not skipped_level or level <= skipped_level):
            skipped_level = level if is_skipped_section(text) else 0
            while pending and pending[-1][0] >= level:
                pending.pop()
        if skipped_level or not text:
            continue
        if level:
            pending.append((level, text))
        else:
            yield from (heading for _, heading in pending)
            pending.clear()
            yield text


def tidy(text: str) -> str:
    """Without addresses, character references, control and markup characters; one blank between words."""
    if "&" in text:
        text = html.unescape(text)
    if "://" in text or "www." in text:
        text = _URL.sub(" ", text)
    if "==" in text or "__" in text:
        text = _RULES.sub(" ", text)
    return _BLANKS.sub(" ", text.translate(_LEFTOVERS))
