"""The kinds of models: those of this package, and those that other packages provide.

Another package registers one in the group `wikitopics.models`: name → subclass of `OnlineModel`. It is
imported only when it is asked for by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from wikitopics.model.options import TAKEN
from wikitopics.option import Registry, check_subclass, fault_in

if TYPE_CHECKING:
    from wikitopics.model.online import OnlineModel


class KindError(ValueError):
    """A kind of model that does not exist or cannot be used; one line."""


def _checked_kind(name: str, candidate: object) -> type[OnlineModel]:
    from wikitopics.model.online import OnlineModel

    check_subclass(candidate, OnlineModel, "wikitopics.OnlineModel", name, "kind")
    kind = cast("type[OnlineModel]", candidate)
    if fault := fault_in(kind.options, TAKEN):
        raise ValueError(fault)
    return kind


kinds: Registry[type[OnlineModel]] = Registry(
    "kind of model",
    "wikitopics.models",
    {
        "lda": "wikitopics.model.lda:OnlineLDA",
        "scvb0": "wikitopics.model.scvb0:SCVB0",
        "hdp": "wikitopics.model.hdp:OnlineHDP",
    },
    _checked_kind,
    KindError,
)
