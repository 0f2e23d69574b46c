"""The articles of the stream, with their topics in each model."""

from collections.abc import Sequence
from struct import pack
from typing import Any

import numpy as np

from wikitopics.session.errors import Damaged
from wikitopics.session.models import ModelSpec
from wikitopics.session.options import HELD_OUT
from wikitopics.session.records import ArticleColumns
from wikitopics.session.settings import Settings
from wikitopics.session.storage.decoding import texts, wholes
from wikitopics.session.storage.schema import ROLES

LARGEST = np.dtype(">u2")
"""`articles.topics`: a topic and ten-thousandths, for one model after another."""


def largest_between(topic: int) -> tuple[bytes, bytes]:
    """The bounds of a model's part of `articles.topics` for articles with this largest topic."""
    return pack(">HH", topic, 0), pack(">HH", topic, 10_000)


def decode_articles(
    rows: Sequence[tuple[Any, ...]], models: Sequence[ModelSpec], largest: np.dtype[Any] = LARGEST
) -> ArticleColumns:
    """`articles`: (seq, page_id, title, revision_id, words, role, topics, id), column by column."""
    columns = list(zip(*rows, strict=True)) or [()] * 8
    seqs, page_ids, titles, revision_ids, words, roles, packed, ids = columns
    topics, shares = _decode_largest(packed, models, largest)
    texts([one for one in ids if one is not None], "articles.id")
    return ArticleColumns(
        models=tuple(model.name for model in models),
        seqs=wholes(seqs, "articles.seq", 1),
        page_ids=wholes(page_ids, "articles.page_id", -(2**63), 2**63 - 1),
        titles=texts(titles, "articles.title"),
        revision_ids=wholes(revision_ids, "articles.revision_id", -(2**63), 2**63 - 1),
        words=wholes(words, "articles.words"),
        roles=[ROLES[role] for role in wholes(roles, "articles.role", 0, len(ROLES) - 1)],
        topics=topics,
        shares=shares,
        ids=ids,
    )


def _decode_largest(
    packed: Sequence[object], models: Sequence[ModelSpec], dtype: np.dtype[Any]
) -> tuple[list[list[int]], list[list[float]]]:
    """`articles.topics`: each model's largest topic and its proportion; nothing for untrained articles."""
    there = [one for one in packed if one is not None]
    size = 2 * dtype.itemsize * len(models)
    if not all(isinstance(one, bytes) and len(one) == size for one in there):
        raise Damaged("articles.topics has the wrong length")
    pairs = np.frombuffer(b"".join(there), dtype).reshape(len(there), len(models), 2)  # type: ignore[arg-type]
    topics, shares = pairs[:, :, 0], pairs[:, :, 1]
    if (topics >= [model.topics for model in models]).any() or (shares > 10_000).any():
        raise Damaged("articles.topics is out of range")
    found = iter(zip(topics.tolist(), (shares / 10_000).tolist(), strict=True))
    each = [([], []) if one is None else next(found) for one in packed]
    return [topic for topic, _ in each], [share for _, share in each]


def documents_room(settings: Settings) -> int:
    """The most bytes of one value of word counts, or of a table that is read at once.

    Far more than any needs: 64 kB per article of a minibatch and per held-out article.
    """
    return 2**26 + 2**16 * (settings.batch_size + settings[HELD_OUT])
