"""Inference with a session's models: topic proportions of any text, and the words of the topics."""

import re
from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.markup.texts import page_links, prose
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.crawler.texts.kinds import MARKUP
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.coherence import Cooccurrences
from wikitopics.model.relevance import RELEVANCE
from wikitopics.session.errors import BadUsage, Damaged, errors_of
from wikitopics.session.naming import shown_words
from wikitopics.session.options import LINKS
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.settings import load_model
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.counting import Counted
from wikitopics.vocab.vocabulary import VocabularyError

_ANCHOR = re.compile(r"<a\s[^<>]*+>", re.IGNORECASE)
"""A tag that no wikitext has."""


def saved_model(reader: SessionReader, name: str) -> OnlineModel:
    """The model of this name at the last commit."""
    return load_model(reader.model_state(name), reader.model_status(name), len(reader.vocabulary()))


def proses(reader: SessionReader, texts: Iterable[str], markup: Markup | None = None) -> list[str]:
    """The texts without markup; ``markup`` None: they are in the session's own format. For a
    session that counts links, the titles that they link to."""
    settings = reader.settings()
    if settings.rule == LINKS:
        return _linked_titles(reader.vocabulary(), texts, markup)
    markup_of_all: Markup = markup or settings.source_options.get(MARKUP.name, "text")
    return [prose(_page(text, markup_of_all)) for text in texts]


def _linked_titles(
    vocabulary: Sequence[str],
    texts: Iterable[str],
    markup: Markup | None,
) -> list[str]:
    """The titles that each text links to, one a line."""
    # On a wiki whose titles begin with capitals, all of the vocabulary's do.
    keeps_case = any(title[0] in ascii_lowercase for title in vocabulary)
    info = SourceInfo("", None, keeps_case=keeps_case)
    of_texts = []
    for text in texts:
        likely: Markup = "html" if _ANCHOR.search(text) else "wikitext"
        titles = page_links(_page(text, markup or likely), info)
        of_texts.append("\n".join(titles))
    return of_texts


def _page(text: str, markup: Markup) -> Page:
    return Page(page_id=1, title="", revision_id=0, text=text, markup=markup)


def counted_words(vocabulary: Vocabulary, texts: Iterable[str]) -> list[Counted]:
    """The known words of each text. Raises `BadUsage` if nothing here separates the words of its
    language."""
    try:
        return list(vocabulary.count_all(texts))
    except VocabularyError as error:
        raise BadUsage(str(error)) from None


def theta_of(model: OnlineModel, counted: Sequence[Counted]) -> NDArray[np.float32]:
    """(D, K) the proportions by this model of texts whose words are ``counted``. Raises
    `SessionError`."""
    none = np.empty(0, np.int32)  # comes first, in case there are no texts
    indptr = np.cumsum([0, *(len(ids) for ids, _ in counted)])
    all_ids = np.concatenate([none, *(ids for ids, _ in counted)])
    all_counts = np.concatenate([none, *(counts for _, counts in counted)])
    batch = Minibatch(indptr, all_ids, all_counts)
    with errors_of(f"the model of kind {model.kind}", ""):
        theta = model.infer(batch)
    # All numbers of a damaged model may be finite while its results are not.
    if not np.isfinite(theta).all():
        raise Damaged(f"the model of kind {model.kind} has no proportions")
    return theta


WordOrder = Literal["shown", "relevance", "probability"]
"""The orders of a topic's words."""


def top_words(
    reader: SessionReader,
    model: str,
    top: int,
    order: WordOrder,
) -> list[list[tuple[str, float]]]:
    """The first ``top`` words of every topic of this model in this order: (word, probability).

    If snapshots store enough of these words, they come from the newest one. Otherwise they are
    those of the model as of the last commit, which is loaded.
    """
    if order != "relevance" and top <= SNAPSHOT_WORDS:
        rows = reader.topics(model, top)
        return [list(row.shown if order == "shown" else row.words) for row in rows]
    reader.check_trained()
    vocabulary = reader.vocabulary()
    saved = saved_model(reader, model)
    if order == "probability":
        leading = saved.top_words(top)
    elif order == "relevance":
        found = saved.relevant_words(top, RELEVANCE)
        leading = (found.ids, found.probabilities)
    else:
        reference = Cooccurrences(reader.reference().minibatch())
        leading = shown_words(saved, reference, vocabulary, top)
    topics = []
    for ids, probabilities in zip(*leading, strict=True):
        words = [vocabulary[id] for id in ids.tolist()]
        topics.append(list(zip(words, probabilities.tolist(), strict=True)))
    return topics
