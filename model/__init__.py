"""The mathematics of the papers, on arrays.

[H10] Hoffman, Blei, Bach 2010 · [SVI13] Hoffman, Blei, Wang, Paisley 2013 · [F13] Foulds et al. 2013 ·
[W11] Wang, Paisley, Blei 2011. numpy and numba are loaded when a name is first used, not when this package is
imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from wikitopics.option import Option

_HOME = {
    "BatchHDP": "hdp.batch",
    "BatchLDA": "lda.batch",
    "CompletionSet": "completion",
    "Entry": "states",
    "KindError": "registry",
    "Metric": "options",
    "Minibatch": "minibatch",
    "OnlineHDP": "hdp",
    "OnlineLDA": "lda",
    "OnlineModel": "online",
    "SCVB0": "scvb0",
    "StateError": "states",
    "check_model": "checking",
    "document_completion": "completion",
    "drift": "topics.leading",
    "kinds": "registry",
    "npmi": "topics.coherence",
}

if TYPE_CHECKING:
    from wikitopics.model.checking import check_model as check_model
    from wikitopics.model.completion import CompletionSet as CompletionSet
    from wikitopics.model.completion import document_completion as document_completion
    from wikitopics.model.hdp import OnlineHDP as OnlineHDP
    from wikitopics.model.hdp.batch import BatchHDP as BatchHDP
    from wikitopics.model.lda import OnlineLDA as OnlineLDA
    from wikitopics.model.lda.batch import BatchLDA as BatchLDA
    from wikitopics.model.minibatch import Minibatch as Minibatch
    from wikitopics.model.online import OnlineModel as OnlineModel
    from wikitopics.model.options import Metric as Metric
    from wikitopics.model.registry import KindError as KindError
    from wikitopics.model.registry import kinds as kinds
    from wikitopics.model.scvb0 import SCVB0 as SCVB0
    from wikitopics.model.states import Entry as Entry
    from wikitopics.model.states import StateError as StateError
    from wikitopics.model.topics.coherence import npmi as npmi
    from wikitopics.model.topics.leading import drift as drift

__all__ = [*_HOME, "Option"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
