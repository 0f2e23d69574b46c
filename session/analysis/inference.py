"""Inference with a session's models: topic proportions of any text, and the words of the topics."""

import re
from collections.abc import Iterable, Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.markup.texts import page_links, prose
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.crawler.texts.source import MARKUP
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.relevance import by_relevance
from wikitopics.session.errors import BadUsage, Damaged, errors_of
from wikitopics.session.options import LINKS
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.settings import load_model
from wikitopics.session.storage.counts import Counted
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.vocabulary import VocabularyError

_ANCHOR = re.compile(r"<a\s[^<>]*+>", re.IGNORECASE)
"""A tag that no wikitext has."""
_NONE = np.empty(0, np.int32)


def saved_model(reader: SessionReader, name: str) -> OnlineModel:
    """The model of this name at the last commit."""
    return load_model(reader.model_state(name), reader.model_status(name), len(reader.vocabulary()))


def proses(reader: SessionReader, texts: Iterable[str], markup: Markup | None = None) -> list[str]:
    """The texts without markup; ``markup`` None: in the session's own format. For a session that
    counts links, the titles that they link to."""
    if reader.settings().rule == LINKS:
        # On a wiki whose titles begin with capitals, all of the vocabulary's do.
        info = SourceInfo(
            "", None, keeps_case=any(title[0] in ascii_lowercase for title in reader.vocabulary())
        )
        marked = (
            (text, markup or ("html" if _ANCHOR.search(text) else "wikitext")) for text in texts
        )
        return ["\n".join(page_links(Page(1, "", 0, *one), info)) for one in marked]
    named: Markup = markup or reader.settings().source_options.get(MARKUP.name, "text")
    return [prose(Page(1, "", 0, text, named)) for text in texts]


def words_of(vocabulary: Vocabulary, texts: Iterable[str]) -> list[Counted]:
    """The known words of each text. Raises `BadUsage` if nothing here separates the words of its
    language."""
    try:
        return [*map(vocabulary.count, texts)]
    except VocabularyError as error:
        raise BadUsage(str(error)) from None


def proportions(
    reader: SessionReader,
    model: str,
    vocabulary: Vocabulary,
    texts: Iterable[str],
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The known words of each text, (D,), and its proportions by this model at the last commit, (D,
    K)."""
    counted = words_of(vocabulary, texts)
    reader.check_trained()
    theta = theta_of(saved_model(reader, model), counted)
    return np.array([counts.sum() for _, counts in counted], np.int64), theta


def theta_of(model: OnlineModel, counted: Sequence[Counted]) -> NDArray[np.float32]:
    """(D, K) the proportions by this model of texts whose words are ``counted``. Raises
    `SessionError`."""
    # Empty arrays come first, in case there are no texts.
    ids, counts = (np.concatenate(arrays) for arrays in zip((_NONE, _NONE), *counted, strict=True))
    batch = Minibatch(np.cumsum([0, *(len(one) for one, _ in counted)]), ids, counts)
    with errors_of(f"the model of kind {model.kind}", ""):
        theta = model.infer(batch)
    # All numbers of a damaged model may be finite while its results are not.
    if not np.isfinite(theta).all():
        raise Damaged(f"the model of kind {model.kind} has no proportions")
    return theta


def top_words(
    reader: SessionReader,
    model: str,
    top: int,
    *,
    relevant: bool,
) -> list[list[tuple[str, float]]]:
    """The ``top`` most probable words of every topic of this model at the last commit: (word,
    probability);
    ``relevant``: with the most relevant of these first.

    If snapshots store enough words, the words come from the newest one, and the model is not
    loaded.
    """
    if top <= SNAPSHOT_WORDS:
        return [list(row.words) for row in reader.topics(model, top, relevant=relevant)]
    reader.check_trained()
    words, saved = reader.vocabulary(), saved_model(reader, model)
    leading = saved.top_words(top)
    topics = zip(
        *(by_relevance(leading, saved.topic_shares()) if relevant else leading), strict=True
    )
    return [
        [
            (words[i], probability)
            for i, probability in zip(ids.tolist(), values.tolist(), strict=True)
        ]
        for ids, values in topics
    ]
