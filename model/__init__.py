"""The mathematics of the papers, on arrays.

[H10] Hoffman, Blei, Bach 2010 · [SVI13] Hoffman, Blei, Wang, Paisley 2013 · [F13] Foulds et al. 2013 ·
[W11] Wang, Paisley, Blei 2011. numpy and numba are loaded when a name is first used, not when this package is
imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wikitopics.option import Option

_NAMES = {
    "batch": ("BatchHDP", "BatchLDA"),
    "checking": ("check_model",),
    "hdp": ("OnlineHDP",),
    "lda": ("OnlineLDA",),
    "minibatch": ("Minibatch",),
    "online": ("CompletionSet", "Entry", "OnlineModel", "StateError", "document_completion"),
    "options": ("KindError", "Metric", "kinds"),
    "scvb0": ("SCVB0",),
    "topics": ("drift", "npmi"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

if TYPE_CHECKING:
    from wikitopics.model.batch import BatchHDP as BatchHDP
    from wikitopics.model.batch import BatchLDA as BatchLDA
    from wikitopics.model.checking import check_model as check_model
    from wikitopics.model.hdp import OnlineHDP as OnlineHDP
    from wikitopics.model.lda import OnlineLDA as OnlineLDA
    from wikitopics.model.minibatch import Minibatch as Minibatch
    from wikitopics.model.online import CompletionSet as CompletionSet
    from wikitopics.model.online import Entry as Entry
    from wikitopics.model.online import OnlineModel as OnlineModel
    from wikitopics.model.online import StateError as StateError
    from wikitopics.model.online import document_completion as document_completion
    from wikitopics.model.options import KindError as KindError
    from wikitopics.model.options import Metric as Metric
    from wikitopics.model.options import kinds as kinds
    from wikitopics.model.scvb0 import SCVB0 as SCVB0
    from wikitopics.model.topics import drift as drift
    from wikitopics.model.topics import npmi as npmi

__all__ = [*_HOME, "Option"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
