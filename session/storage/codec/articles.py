"""The articles of the stream, with what the models made of them."""

import struct
from collections.abc import Sequence
from typing import Any

from session.errors import Damaged
from session.options import HELD_OUT
from session.records import ArticleRow
from session.settings import Settings
from session.specs import ModelSpec
from session.storage.decoding import optional, text, whole
from session.storage.format import ROLES

_LARGEST = struct.Struct("<HH")
"""A topic and ten-thousandths."""


def decode_article(row: tuple[Any, ...], models: Sequence[ModelSpec]) -> ArticleRow:
    """`articles`: (seq, page_id, title, revision_id, words, role, topics, id)."""
    seq, page_id, title, revision_id, words, role, topics, external_id = row
    return ArticleRow(
        whole(seq, "articles.seq", 1),
        whole(page_id, "articles.page_id", -(2**63), 2**63 - 1),
        text(title, "articles.title"),
        whole(revision_id, "articles.revision_id", -(2**63), 2**63 - 1),
        whole(words, "articles.words"),
        ROLES[whole(role, "articles.role", 0, len(ROLES) - 1)],
        () if topics is None else decode_largest(topics, models),
        optional(external_id, "articles.id", text),
    )


def decode_largest(packed: object, models: Sequence[ModelSpec]) -> tuple[tuple[str, int, float], ...]:
    """`articles.topics`: (model, topic, proportion) with each model's largest topic."""
    if not isinstance(packed, bytes) or len(packed) != 4 * len(models):
        raise Damaged("articles.topics is not as long as it has to be")
    found = []
    for model, (topic, share) in zip(models, _LARGEST.iter_unpack(packed), strict=True):
        if topic >= model.topics or share > 10_000:
            raise Damaged("articles.topics is out of range")
        found.append((model.name, topic, share / 10_000))
    return tuple(found)


def documents_room(settings: Settings) -> int:
    """Bytes that one value of word counts, or all of a table that is read at once, may take.

    Far more than any: 64 kB an article of a minibatch and of those held out.
    """
    return 2**26 + 2**16 * (settings.batch_size + settings[HELD_OUT])
