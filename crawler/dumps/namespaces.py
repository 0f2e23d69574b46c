"""Whether a page of an old dump is in a namespace of articles: before format 0.4, only its title
tells."""

from functools import cache, lru_cache

from wikitopics.crawler.markup.prose import EDGES, TITLE_BLANKS, lowered, names_in, read_data
from wikitopics.crawler.page import SourceInfo

_CORE = ("talk", "user", "project", "file", "image", "mediawiki", "template", "help", "category")
_ENGLISH = frozenset({"media", "special", *_CORE, *(f"{name} talk" for name in _CORE)})
"""The names that every wiki knows, besides its own."""
_WIKI = "$1"
"""Stands for the name of the wiki in names of namespaces."""


def has_namespace(title: str, info: SourceInfo) -> bool:
    """Whether a title begins with the name of a namespace without articles.

    These names are not case-sensitive, even where titles are.
    """
    prefix, colon, _ = title.partition(":")
    return bool(colon) and _plain(prefix) in _namespaces(info.namespaces, info.language)


def project_names(site: str, language: str) -> tuple[str, ...]:
    """The names of the namespaces about the wiki called ``site``, as far as they follow from its
    name."""
    if not site:
        return ()
    patterns = [name for name in _of_language(language) if _WIKI in name]
    return (site, f"{site} talk", *(name.replace(_WIKI, site) for name in patterns))


@lru_cache(maxsize=8)
def _namespaces(names: tuple[str, ...], language: str) -> frozenset[str]:
    own = frozenset(map(_plain, names)) - {""}
    return _ENGLISH | _of_language(language) | own


def _of_language(code: str) -> frozenset[str]:
    """The names in the language with this code, and in the one from which it takes those that it
    lacks."""
    code = code.lower().replace("_", "-")
    known = _languages()
    if code not in known:
        code, _, _ = code.partition("-")
    names: set[str] = set()
    passed: set[str] = set()
    while code in known and code not in passed:
        passed.add(code)
        own_names, code = known[code]
        names.update(own_names)
    return frozenset(names)


@cache
def _languages() -> dict[str, tuple[frozenset[str], str]]:
    """By code of a language, its names, and the code of the one from which it takes others or
    ""."""
    languages = {}
    for line in read_data("namespaces.txt").split("\n"):
        codes, _, names = line.partition(":")  # as in "code < code of another: names"
        code, _, other = codes.partition(" < ")
        languages[code] = (names_in(names), other)
    return languages


def _plain(name: str) -> str:
    """The name of a namespace in the form by which names are compared."""
    return TITLE_BLANKS.sub(" ", lowered(name.strip(EDGES))).strip(" ")
