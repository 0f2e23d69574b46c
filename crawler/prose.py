"""What both extractors share: which sections are no prose, and how the text that is left is tidied."""

import html
import re

_SKIPPED_HEADINGS = """
see also; references; notes; further reading; external links; bibliography; footnotes; sources; citations
notes and references; references and notes; notes and citations; citations and notes; notes and sources
references and sources; sources and references; references and further reading; works cited; cited works
general references; cited sources; cited references; general sources; specific references; endnotes
references and external links; bibliography and references; references and bibliography; explanatory notes
external links and references; selected bibliography; sources and further reading; external link; reference
further reading and references; further reading and external links; external links and sources
footnotes and references; related pages; other websites; inline citations; literature cited; literature
additional reading; suggested reading
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
_LEFTOVERS = str.maketrans(dict.fromkeys("{}[]|<>\x00", " "))


def is_skipped_section(heading: str) -> bool:
    """Whether a section with this heading holds no prose: links, references, literature."""
    return heading.strip(" \t\xa0:.").lower() in _SKIPPED_SECTIONS


def tidy(text: str) -> str:
    """Without addresses, character references and the characters of markup; one blank between words."""
    if "&" in text:
        text = html.unescape(text)
    if "://" in text or "www." in text:
        text = _URL.sub(" ", text)
    if "==" in text or "__" in text:
        text = _RULES.sub(" ", text)
    return _BLANKS.sub(" ", text.translate(_LEFTOVERS))
