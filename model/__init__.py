"""The mathematics of the papers, on arrays.

[H10] Hoffman, Blei, Bach 2010 · [SVI13] Hoffman, Blei, Wang, Paisley 2013 · [F13] Foulds et al. 2013 ·
[W11] Wang, Paisley, Blei 2011. Importing this package loads neither numpy nor numba, only using a name does.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "BatchHDP": "batch_hdp",
    "BatchLDA": "batch_lda",
    "CompletionSet": "completion",
    "Minibatch": "minibatch",
    "OnlineHDP": "hdp",
    "OnlineLDA": "lda",
    "SCVB0": "scvb0",
    "document_completion": "completion",
    "drift": "drift",
    "npmi": "coherence",
}

if TYPE_CHECKING:
    from model.batch_hdp import BatchHDP
    from model.batch_lda import BatchLDA
    from model.coherence import npmi
    from model.completion import CompletionSet, document_completion
    from model.drift import drift
    from model.hdp import OnlineHDP
    from model.lda import OnlineLDA
    from model.minibatch import Minibatch
    from model.scvb0 import SCVB0


class _Kinds(Mapping[str, Any]):
    """Kind of model -> class, each class imported when first asked for."""

    _names = {"lda": "OnlineLDA", "scvb0": "SCVB0", "hdp": "OnlineHDP"}  # noqa: RUF012

    def __getitem__(self, kind: str) -> Any:
        return __getattr__(self._names[kind])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


KINDS: Mapping[str, Any] = _Kinds()

__all__ = [
    "KINDS",
    "SCVB0",
    "BatchHDP",
    "BatchLDA",
    "CompletionSet",
    "Minibatch",
    "OnlineHDP",
    "OnlineLDA",
    "document_completion",
    "drift",
    "npmi",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'model' has no attribute {name!r}")
    value = getattr(import_module(f"model.{_HOME[name]}"), name)
    globals()[name] = value
    return value
