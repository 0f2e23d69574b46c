"""The Python interface of a live topic model of Wikipedia. The command line is in `wikitopics.cli`.

    import wikitopics as wt

    session = wt.open("night")  # a name or a path; read-only, works beside a running trainer
    session.topics()[0].words
    session.infer(["some text"])

numpy, numba and the screen are loaded when a name is first used, not when this package is imported.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if not os.path.isdir(os.path.join(os.path.dirname(__file__), "session")):
    raise ImportError(
        "this copy of wikitopics lacks its symbolic links (wikitopics/session -> ../session and "
        "four more): use `git clone` on Linux or macOS, or run `pip install .`"
    )

if TYPE_CHECKING:  # `as` marks these names as exported
    from wikitopics.crawler.checking import check_source as check_source
    from wikitopics.in_python.run import train as train
    from wikitopics.in_python.run import vary_topics as vary_topics
    from wikitopics.in_python.words import words as words
    from wikitopics.model import SCVB0 as SCVB0
    from wikitopics.model import BatchLDA as BatchLDA
    from wikitopics.model import Minibatch as Minibatch
    from wikitopics.model import OnlineHDP as OnlineHDP
    from wikitopics.model import OnlineLDA as OnlineLDA
    from wikitopics.model import OnlineModel as OnlineModel
    from wikitopics.model import check_model as check_model
    from wikitopics.model import document_completion as document_completion
    from wikitopics.session import __version__ as __version__
    from wikitopics.session.errors import SessionError as SessionError
    from wikitopics.stored import Area as Area
    from wikitopics.stored import Article as Article
    from wikitopics.stored import Measurement as Measurement
    from wikitopics.stored import StoredSession as StoredSession
    from wikitopics.stored import Topic as Topic
    from wikitopics.stored import TopicThen as TopicThen
    from wikitopics.stored import delete as delete
    from wikitopics.stored import open as open
    from wikitopics.stored import sessions as sessions
    from wikitopics.vocab import ENGLISH_STOP_WORDS as ENGLISH_STOP_WORDS
    from wikitopics.vocab import UnknownVocabulary as UnknownVocabulary
    from wikitopics.vocab import Vocabulary as Vocabulary

_HOME = {
    "Area": "wikitopics.stored",
    "Article": "wikitopics.stored",
    "BatchLDA": "wikitopics.model",
    "ENGLISH_STOP_WORDS": "wikitopics.vocab",
    "Measurement": "wikitopics.stored",
    "Minibatch": "wikitopics.model",
    "OnlineHDP": "wikitopics.model",
    "OnlineLDA": "wikitopics.model",
    "OnlineModel": "wikitopics.model",
    "SCVB0": "wikitopics.model",
    "SessionError": "wikitopics.session.errors",
    "StoredSession": "wikitopics.stored",
    "Topic": "wikitopics.stored",
    "TopicThen": "wikitopics.stored",
    "UnknownVocabulary": "wikitopics.vocab",
    "Vocabulary": "wikitopics.vocab",
    "__version__": "wikitopics.session",
    "check_model": "wikitopics.model",
    "check_source": "wikitopics.crawler.checking",
    "delete": "wikitopics.stored",
    "document_completion": "wikitopics.model",
    "open": "wikitopics.stored",
    "sessions": "wikitopics.stored",
    "train": "wikitopics.in_python.run",
    "vary_topics": "wikitopics.in_python.run",
    "words": "wikitopics.in_python.words",
}
"""The module of each public name."""

__all__ = sorted(_HOME)

if not TYPE_CHECKING:  # to a type checker, a name not imported above is an error

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'wikitopics' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
