"""Recognising disambiguation pages in a dump, by their templates. The API marks them."""

import re
from functools import cache

from wikitopics.crawler.markup.nesting import remove_tags

_NAMES = r"""
disambig(?:uation)?(?:[ _](?:page|cleanup))?|disambi?|disam|[\w ]{1,60}[ _]disambig(?:uation)?
hndis|geodis
begriffsklärung|homonymie|paronymie|patronymie|disambigua|desambigua\w*|desambig|doorverwijspagina
ujednoznacznienie|неоднозначность|förgrening|rozcestník|flertydig|täsmennyssivu|egyért|aimai
\w*曖昧さ回避|消歧[义義][页頁]?
"""
"""Templates that mark a disambiguation page in any language."""

_ABBREVIATIONS = {"en": "dab", "simple": "dab", "es": "des", "nl": "dp", "sv": "gren"}
"""Short names with other meanings on other wikis: English ``{{dp|Ceres}}`` names a dwarf planet."""


def is_disambiguation(text: str, language: str) -> bool:
    """Whether this wikitext is a disambiguation page of a wiki in ``language`` (a code, "" if
    unknown).

    The template must begin a line, or follow only other templates on it: within a sentence or a
    comment, it does not describe the page.
    """
    main_language, _, _ = language.lower().partition("-")
    template, marking = _patterns(_ABBREVIATIONS.get(main_language))
    return template.search(text) is not None and marking.search(remove_tags(text)) is not None


@cache
def _patterns(abbreviation: str | None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of the template anywhere, which is quick to rule out, and of one that marks the
    page."""
    names = "|".join(filter(None, (*_NAMES.split("\n"), abbreviation)))
    template = rf"\{{\{{\s*+(?:{names})\s*+[|}}]"
    blank = r"[^\S\n]*+"
    line = rf"^{blank}(?:\{{\{{[^{{}}\n]*+\}}\}}{blank})*{template}"
    return re.compile(template, re.IGNORECASE), re.compile(line, re.IGNORECASE | re.MULTILINE)
