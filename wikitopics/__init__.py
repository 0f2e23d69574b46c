"""The Python interface of a live topic model of Wikipedia. The command line is in `wikitopics.cli`.

    import wikitopics as wt

    session = wt.open("night")  # a name or a path; read-only, works beside a running trainer
    session.topics()[0].words
    session.infer(["some text"])

numpy, numba and the screen are loaded when a name is first used, not when this package is imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.checking import check_source
    from model import (
        SCVB0,
        BatchLDA,
        Minibatch,
        OnlineHDP,
        OnlineLDA,
        OnlineModel,
        check_model,
        document_completion,
    )
    from session.errors import SessionError
    from session.version import __version__
    from vocab import Vocabulary
    from wikitopics.stored import Article, Measurement, StoredSession, Topic, TopicThen, open

_HOME = {
    "Article": "wikitopics.stored",
    "BatchLDA": "model",
    "Measurement": "wikitopics.stored",
    "Minibatch": "model",
    "OnlineHDP": "model",
    "OnlineLDA": "model",
    "OnlineModel": "model",
    "SCVB0": "model",
    "SessionError": "session.errors",
    "StoredSession": "wikitopics.stored",
    "Topic": "wikitopics.stored",
    "TopicThen": "wikitopics.stored",
    "Vocabulary": "vocab",
    "__version__": "session.version",
    "check_model": "model",
    "check_source": "crawler.checking",
    "document_completion": "model",
    "open": "wikitopics.stored",
}

__all__ = [
    "SCVB0",
    "Article",
    "BatchLDA",
    "Measurement",
    "Minibatch",
    "OnlineHDP",
    "OnlineLDA",
    "OnlineModel",
    "SessionError",
    "StoredSession",
    "Topic",
    "TopicThen",
    "Vocabulary",
    "__version__",
    "check_model",
    "check_source",
    "document_completion",
    "open",
]


if not TYPE_CHECKING:  # to a type checker, a name not imported above is an error

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'wikitopics' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
