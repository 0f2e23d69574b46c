"""Inference with a session's models: topic proportions of any text, and every word of the topics."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.markup.links import page_links
from wikitopics.crawler.markup.texts import prose
from wikitopics.crawler.source import Markup, Page, SourceInfo
from wikitopics.crawler.texts.source import MARKUP
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.topics.names import by_relevance
from wikitopics.session.errors import Damaged
from wikitopics.session.models import load_model
from wikitopics.session.options import LINKS
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab import Vocabulary

_ANCHOR = re.compile(r"<a\s[^<>]*+>", re.IGNORECASE)
"""No wikitext has this tag."""
_NONE = np.empty(0, np.int32)


def saved_model(reader: SessionReader, name: str) -> OnlineModel:
    """The model of this name at the last commit."""
    return load_model(reader.model_state(name), reader.model_status(name), len(reader.vocabulary()))


@dataclass(frozen=True, slots=True)
class Inferred:
    """The result for one text."""

    words: int
    known: int
    """Its words that are in the vocabulary."""
    theta: NDArray[np.float32]
    """(K,) topic proportions, sum to 1"""


def infer(
    reader: SessionReader, model: str, texts: Iterable[str], markup: Markup | None = None
) -> list[Inferred]:
    """The proportions of texts by this model at the last commit, with their words counted.

    ``markup``: what the texts are written in; None: the same as the session's own texts.
    """
    vocabulary = reader.counter()
    texts = proses(reader, texts, markup)
    known, theta = proportions(reader, model, vocabulary, texts)
    return [
        Inferred(vocabulary.n_words_in(text), *found)
        for text, *found in zip(texts, known.tolist(), theta, strict=True)
    ]


def proses(reader: SessionReader, texts: Iterable[str], markup: Markup | None = None) -> list[str]:
    """The texts without their markup; None: that of the session's own texts. For a session of links, the
    titles that they link to."""
    if reader.settings().rule == LINKS:
        # Where titles begin with capitals, all of the vocabulary do.
        info = SourceInfo(
            "", None, keeps_case=any(title[0] in ascii_lowercase for title in reader.vocabulary())
        )
        return ["\n".join(page_links(Page(1, "", 0, text, markup or _markup(text)), info)) for text in texts]
    named: Markup = markup or reader.settings().source_options.get(MARKUP.name, "text")
    return [prose(Page(1, "", 0, text, named)) for text in texts]


def _markup(text: str) -> Markup:
    """The markup of a text with links."""
    return "html" if _ANCHOR.search(text) else "wikitext"


def proportions(
    reader: SessionReader, model: str, vocabulary: Vocabulary, texts: Iterable[str]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The known words of each text, (D,), and its proportions by this model at the last commit, (D, K)."""
    counted = [(_NONE, _NONE), *map(vocabulary.count, texts)]  # no words first: row 0 begins at 0
    ids, counts = (np.concatenate(arrays) for arrays in zip(*counted, strict=True))
    batch = Minibatch(np.cumsum([len(one) for one, _ in counted]), ids, counts)
    reader.check_trained()
    theta = saved_model(reader, model).infer(batch)
    # Each number of the model may be in range while one divided by its square is not.
    if not np.isfinite(theta).all():
        raise Damaged(f"model {model} has no proportions")
    return batch.lengths().astype(np.int64), theta


def top_words(
    reader: SessionReader, model: str, top: int, *, relevant: bool
) -> list[list[tuple[str, float]]]:
    """The ``top`` most probable words of every topic of this model at the last commit: (word, probability);
    ``relevant``: of these the most relevant first.

    If snapshots store enough words, they answer without loading the model.
    """
    if top <= SNAPSHOT_WORDS:
        return [list(row.words) for row in reader.topics(model, top, relevant=relevant)]
    reader.check_trained()
    words, saved = reader.vocabulary(), saved_model(reader, model)
    leading = saved.top_words(top)
    topics = zip(*(by_relevance(leading, saved.topic_shares()) if relevant else leading), strict=True)
    return [
        [(words[i], probability) for i, probability in zip(ids.tolist(), values.tolist(), strict=True)]
        for ids, values in topics
    ]
