"""The kinds of sources that there are: ours, and those that other packages bring.

Another package joins by an entry point of the group `wikitopics.sources`, name → subclass of
`crawler.PageKind`. It is imported only when it is named, and it cannot take the name of a built-in one.
"""

from functools import cache
from typing import cast

from crawler.kind import Asked, Identity, SourceKind
from model.registry import Registry, check_subclass
from session.errors import BadUsage

BUILT_IN = {
    "api": "crawler.kinds.wiki:Api",
    "html": "crawler.kinds.wiki:Html",
    "dump": "crawler.kinds.dump:Dump",
    "recent": "crawler.kinds.wiki:Recent",
    "counts": "session.training.counts:Counts",
    "texts": "crawler.kinds.texts:Texts",
    "demo": "crawler.kinds.demo:Demo",
}
DEFAULT = "api"


def names() -> tuple[str, ...]:
    """Every kind's name, the built-in ones first; loads none of them."""
    return _kinds.names()


def load(name: str) -> SourceKind:
    """The kind of this name. Raises :class:`BadUsage` where there is none, or none that works."""
    return _kinds.load(name)()


@cache
def described(name: str) -> SourceKind:
    """The kind of a stored session: for whoever only reads it, one that is not installed will do."""
    try:
        return load(name)
    except BadUsage:
        return _Missing()


class _Missing(SourceKind):
    def identity(self, asked: Asked) -> Identity:
        raise NotImplementedError


def _checked(name: str, found: object) -> type[SourceKind]:
    from crawler.kind import PageKind

    check_subclass(found, PageKind, "crawler.PageKind", name, "name")
    return cast("type[SourceKind]", found)


_kinds: Registry[type[SourceKind]] = Registry(
    "kind of source", "wikitopics.sources", BUILT_IN, _checked, BadUsage
)
