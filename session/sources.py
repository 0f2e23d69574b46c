"""The kinds of sources: ours, and those that other packages provide.

Another package registers an entry point in the group `wikitopics.sources`: name → subclass of
`wikitopics.crawler.PageKind`. The class is imported only when its kind is named, and it cannot take
the name of a built-in kind.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from wikitopics.crawler.source import Asked, Identity, SourceKind
from wikitopics.option import Option, fault_in
from wikitopics.registry import Registry, check_subclass
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import OWN, RUN

BUILT_IN = {
    "api": "wikitopics.crawler.mediawiki.kinds:Api",
    "html": "wikitopics.crawler.mediawiki.kinds:Html",
    "dump": "wikitopics.crawler.dumps.kinds:Dump",
    "recent": "wikitopics.crawler.mediawiki.kinds:Recent",
    "texts": "wikitopics.crawler.texts.kinds:Texts",
    "counts": "wikitopics.session.training.kinds:Counts",
    "demo": "wikitopics.crawler.embedded:Demo",
}
RESERVED = ("session", "log", "json", "help")
"""Options of the commands themselves."""


def names() -> tuple[str, ...]:
    """Every kind's name, the built-in ones first, without loading any."""
    return _kinds.names()


def load(name: str) -> SourceKind:
    """The kind of this name. Raises `BadUsage` if there is none, or none that works."""
    kind = _kinds.load(name)()
    if name in BUILT_IN:
        return kind
    if fault := fault_in(kind.options):
        raise BadUsage(f"the kind of source {kind.name!r} {fault}")
    ours = {option.name: option for option in OWN}
    ours |= {option.name: option for option, _ in our_options().values()}
    for option in kind.options:  # it may have a built-in option, if unchanged
        if option.name in RESERVED or ours.get(option.name, option) != option:
            raise BadUsage(
                f"the kind of source {kind.name!r} has an option {option.flag}, which wikitopics "
                "already has"
            )
    return kind


@cache
def our_options() -> Mapping[str, tuple[Option[Any], Sequence[str]]]:
    """The options of our kinds, by name, and the kinds that have them."""
    options: dict[str, tuple[Option[Any], list[str]]] = {}
    for kind in BUILT_IN:
        for option in load(kind).options:
            _, kinds = options.setdefault(option.name, (option, []))
            kinds.append(kind)
    return options


def run_options(kind: SourceKind) -> list[Option[Any]]:
    """The options that apply to one run only: ours, and those of this kind."""
    return [option for option in (*RUN, *kind.options) if option.scope == "run" and not option.path]


@cache
def kind_named(name: str) -> SourceKind:
    """The kind of this name, which a stored session has; a stand-in if it is not installed, which
    is enough for reading."""
    try:
        return load(name)
    except BadUsage:
        return _Missing()


def noun(source: str) -> str:
    """What people call the texts of this kind of source: "documents" where they are the user's
    own."""
    return "documents" if kind_named(source).own else "articles"


def singular(nouns: str) -> str:
    """The noun for one of them: "articles" -> "article"."""
    return nouns.removesuffix("s")


READS = "document reads"
"""What is counted where documents are read several times."""


def unit_noun(source: str, passes: int) -> str:
    """What a session's number of articles counts: every read, where documents are read several
    times."""
    return noun(source) if passes == 1 else READS


def check_identity(kind: SourceKind, identity: Identity) -> None:
    """Raise `Damaged` for an identity that a session's kind cannot have produced."""
    if fault := kind.fault(identity):
        raise Damaged(f"settings.source_options: {fault}")


class _Missing(SourceKind):
    """Stands for the source of a session whose package is not installed."""

    label = "A kind of source that is not installed here"

    def identity(self, asked: Asked) -> Identity:
        raise NotImplementedError


def _checked(name: str, candidate: object) -> type[SourceKind]:
    from wikitopics.crawler.source import PageKind

    check_subclass(candidate, PageKind, "wikitopics.crawler.PageKind", name, "name")
    return cast("type[SourceKind]", candidate)


_kinds: Registry[type[SourceKind]] = Registry(
    "kind of source",
    "wikitopics.sources",
    BUILT_IN,
    _checked,
    BadUsage,
    unnamed=("demo",),
)
