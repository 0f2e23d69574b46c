"""The kinds of models: those of this package, and those that other packages provide.

Another package registers an entry point in the group `wikitopics.models`: name → subclass of `OnlineModel`.
It is imported only when its kind is asked for by name, and it cannot take the name of a built-in kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from wikitopics.model.options import fault_in
from wikitopics.model.registry import Registry, check_subclass

if TYPE_CHECKING:
    from wikitopics.model.online import OnlineModel

BUILT_IN = {
    "lda": "wikitopics.model.lda:OnlineLDA",
    "scvb0": "wikitopics.model.scvb0:SCVB0",
    "hdp": "wikitopics.model.hdp:OnlineHDP",
}


class KindError(ValueError):
    """A kind of model that does not exist or cannot be used; one line."""


def names() -> tuple[str, ...]:
    """Every kind's name, the built-in ones first, without loading any."""
    return _kinds.names()


def known(name: str) -> bool:
    """Whether there is a kind of this name; quicker than `names` for a built-in one."""
    return name in _kinds


def load(name: str) -> type[OnlineModel]:
    """The class of a kind. Raises `KindError` if there is none, or none that works."""
    return _kinds.load(name)


def _checked(name: str, found: object) -> type[OnlineModel]:
    from wikitopics.model.online import OnlineModel

    check_subclass(found, OnlineModel, "wikitopics.OnlineModel", name, "kind")
    kind = cast("type[OnlineModel]", found)
    if fault := fault_in(kind.options):
        raise ValueError(fault)
    return kind


_kinds: Registry[type[OnlineModel]] = Registry(
    "kind of model", "wikitopics.models", BUILT_IN, _checked, KindError
)
