"""The articles that a text links to: targets of links to titles, as MediaWiki reads them.

After `MediaWikiTitleCodec::splitTitleString`, for the main namespace. On a wiki where articles have subpages,
``[[/part]]`` names one of them; here it is the article "/part", as on Wikipedia.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from wikitopics.crawler.markup.html import html_links
from wikitopics.crawler.markup.prose import words
from wikitopics.crawler.markup.wikitext import wikitext_links
from wikitopics.crawler.source import LONGEST_TITLE, Page, SourceInfo

_NAMESPACES = words("""
media special talk user user_talk wikipedia wikipedia_talk project project_talk file file_talk image
image_talk mediawiki mediawiki_talk template template_talk help help_talk category category_talk portal
portal_talk draft draft_talk module module_talk timedtext timedtext_talk book book_talk wp wt
""")
"""Names that every Wikipedia knows, in lower case, besides its own."""
_ELSEWHERE = words("""
b c commons d doi foundation m mediawikiwiki meta metawikipedia mw n phab q s species toollabs v voy w
wikibooks wikidata wikimedia wikinews wikiquote wikisource wikispecies wikiversity wikivoyage wikt wiktionary
wmf

aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar
bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo
ce ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo
es et eu ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw
gu guc gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it
iu ja jam jbo jv ka kaa kab kbd kbp kcg kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la
lad lb lbe lez lfn lg li lij lld lmo ln lo lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni
mnw mo mos mr mrj ms mt mus mwl my myv mzn na nah nan nap nds nds-nl ne new ng nia nl nn no nov nqo nr nrm
nso nup nv ny oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro
roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi shn si simple sk skr sl sm smn
sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tok tpi tr
trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea
zgh zh zh-classical zh-min-nan zh-yue zu
""")
"""Prefixes of other wikis: Wikimedia's projects, and Wikipedias by language. A dump does not list them."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9,.()'!$*-]*+(?: [A-Za-z0-9,.()'!$*-]++)*+")
"""Most targets: but for the capital these are titles, unless they have quotes for italics."""
_BLANKS = re.compile(r"[ _\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z0-9]{1,31});")
_DIRECTION = re.compile(r"[\u200e\u200f\u202a-\u202e]+")
_ILLEGAL = re.compile(
    r"[\[\]{}|<>\x00-\x1f\x7f-\x9f\ufffd]|%[0-9A-Fa-f]{2}|&#?\w+;|~~~|^:|(?:^|/)\.{1,2}(?:/|$)|''"
)
_DOTTED = words("tr az kaa")
"""Languages in which MediaWiki makes İ the capital of i."""
_NO_CAPITALS = re.compile("[\u10d0-\u10ff]")
"""Georgian has capitals, but no text uses them at the beginning of a sentence."""


def titles(targets: Iterable[str], info: SourceInfo, own: str = "") -> Iterator[str]:
    """The titles of the articles behind these targets, without the article called ``own``, in which they
    are."""
    foreign, keeps_case = _foreign(info.namespaces), info.keeps_case
    dotted = info.language.partition("-")[0] in _DOTTED
    for target in targets:
        is_plain = _PLAIN.fullmatch(target) and "''" not in target and len(target) <= LONGEST_TITLE
        title = target if is_plain else _title(target, foreign)
        if title and not keeps_case and not title[0].isupper():
            title = _capitalized(title, dotted=dotted)
        if title and title != own:
            yield title


@lru_cache(maxsize=8)
def _foreign(namespaces: tuple[str, ...]) -> frozenset[str]:
    """Prefixes of all that is no article, in lower case with underscores."""
    return _NAMESPACES | _ELSEWHERE | {_BLANKS.sub("_", name).lower() for name in namespaces}


def _title(target: str, foreign: frozenset[str]) -> str:
    """The title of the article that the target names, its first letter as it is; "" if it names none."""
    text = target.lstrip("[")  # a bracket before a link, as in "[[[Paris]]]"
    if "%" in text:
        text = unquote(text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    text = _BLANKS.sub(" ", _DIRECTION.sub("", text)).strip(" ")
    text = text.removeprefix(":").lstrip(" ").partition("#")[0].rstrip(" ")
    prefix, colon, _ = text.partition(":")
    if not text or _ILLEGAL.search(text) or (colon and prefix.strip().replace(" ", "_").lower() in foreign):
        return ""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text if len(text.encode("utf-8", "replace")) <= LONGEST_TITLE else ""


def _capitalized(title: str, *, dotted: bool) -> str:
    first = title[0]
    if first == "i" and dotted:
        return "İ" + title[1:]
    # The capital of ß is two letters.
    return title if len(first.upper()) > 1 or _NO_CAPITALS.match(first) else first.upper() + title[1:]


def page_links(page: Page, info: SourceInfo) -> list[str]:
    """The titles of the articles that the page's prose links to, as often as it does."""
    if page.markup == "wikitext":
        targets = wikitext_links(page.text, file_names=info.file_names, category_names=info.category_names)
    else:
        targets = html_links(page.text, info.article_path) if page.markup == "html" else []
    return list(titles(targets, info, page.title))
