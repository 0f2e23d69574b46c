"""The mathematics of the papers, on arrays.

[H10] Hoffman, Blei, Bach 2010 · [SVI13] Hoffman, Blei, Wang, Paisley 2013 · [F13] Foulds et al.
2013 · [W11] Wang, Paisley, Blei 2011. numpy and numba are loaded when a name is first used, not
when this package is imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from wikitopics.model.options import TAKEN
from wikitopics.option import Option, fault_in
from wikitopics.registry import Registry, check_subclass

_NAMES = {
    "batch": ("BatchHDP", "BatchLDA"),
    "checking": ("check_model",),
    "coherence": ("npmi",),
    "completion": ("CompletionSet", "document_completion"),
    "distances": ("drift",),
    "hdp": ("OnlineHDP",),
    "lda": ("OnlineLDA",),
    "minibatch": ("Minibatch",),
    "online": ("OnlineModel",),
    "options": ("Metric",),
    "scvb0": ("SCVB0",),
    "states": ("Entry", "StateError"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

if TYPE_CHECKING:
    from wikitopics.model.batch import BatchHDP as BatchHDP
    from wikitopics.model.batch import BatchLDA as BatchLDA
    from wikitopics.model.checking import check_model as check_model
    from wikitopics.model.coherence import npmi as npmi
    from wikitopics.model.completion import CompletionSet as CompletionSet
    from wikitopics.model.completion import document_completion as document_completion
    from wikitopics.model.distances import drift as drift
    from wikitopics.model.hdp import OnlineHDP as OnlineHDP
    from wikitopics.model.lda import OnlineLDA as OnlineLDA
    from wikitopics.model.minibatch import Minibatch as Minibatch
    from wikitopics.model.online import OnlineModel as OnlineModel
    from wikitopics.model.options import Metric as Metric
    from wikitopics.model.scvb0 import SCVB0 as SCVB0
    from wikitopics.model.states import Entry as Entry
    from wikitopics.model.states import StateError as StateError

__all__ = [*_HOME, "KindError", "Option", "kinds"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_HOME[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


# The kinds: those of this package, and those that other packages provide.
#
# Another package registers one in the group `wikitopics.models`: name → subclass of `OnlineModel`.
# It is imported only when it is asked for by name.


class KindError(ValueError):
    """A kind of model that does not exist or cannot be used; one line."""


def _checked_kind(name: str, candidate: object) -> "type[OnlineModel]":
    from wikitopics.model.online import OnlineModel

    check_subclass(candidate, OnlineModel, "wikitopics.OnlineModel", name, "kind")
    kind = cast("type[OnlineModel]", candidate)
    fault = fault_in(kind.options, TAKEN)
    if fault:
        raise ValueError(fault)
    return kind


kinds: "Registry[type[OnlineModel]]" = Registry(
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
