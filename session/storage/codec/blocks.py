"""Blocks of the crawl, kept until the session has a vocabulary: the rows of `first_articles`."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.codec.settings import MOST_WORD_BYTES
from wikitopics.session.storage.decoding import json_object, number, optional, text, whole

MOST_ROW_BYTES = 16 * 2**20
"""The size of a row's words and counts before its last article: far below what may be read of one."""
_ENTRY = 9
"""Bytes per word of an article besides its letters: its number, its count, and the end of its line."""


def encode_block(block: Block) -> Iterator[dict[str, object]]:
    """The columns of its row; `decode_block` is the inverse.

    Long articles may give several rows, each with the position after all of them. The rows are committed
    together.
    """
    skips = block.skips
    for whole_articles in _cut(block.with_own_words()):
        part = whole_articles.with_own_words()
        yield {
            "documents": part.to_bytes(),
            "words": "\n".join(part.lexicon or ()),
            "skips": json.dumps(skips),
            "unread": part.n_unread,
            "position": json.dumps(block.position),
            "lap": block.lap,
        }
        skips = {}


def _cut(block: Block) -> Iterator[Block]:
    """Whole articles, together up to the size of a row plus one article."""
    sizes = np.array([len(word.encode()) + _ENTRY for word in block.lexicon or ()], np.int64)
    before = np.concatenate(([0], np.cumsum(sizes[block.word_ids])))[block.indptr[:-1]]
    cuts = np.flatnonzero(np.diff(before // MOST_ROW_BYTES)) + 1
    for start, stop in pairwise([0, *cuts.tolist(), len(block)]):
        yield block[start:stop]


def decode_block(row: tuple[Any, ...]) -> Block:
    """`first_articles`: (documents, words, skips, unread, position, lap). Raises `Damaged`."""
    documents, joined, skips, unread, position, lap = row
    words = text(joined, "first_articles.words", MOST_WORD_BYTES)
    lexicon = tuple(words.split("\n")) if words else ()
    if len(set(lexicon)) < len(lexicon):
        raise Damaged("first_articles.words has a word twice")
    counted: dict[str, int] = {}
    for reason, n in json_object(skips, "first_articles.skips").items():
        counted[text(reason, "first_articles.skips")] = whole(n, "first_articles.skips")
    found = Block.from_bytes(documents, "first_articles.documents", len(lexicon), lexicon)
    missed = whole(unread, "first_articles.unread", 0, len(found))
    return replace(
        found,
        # Which of the articles without words they are makes no difference.
        unread=frozenset(found.page_ids[~found.has_words][:missed].tolist()),
        skips=counted,
        position=dict(json_object(position, "first_articles.position")),
        lap=optional(lap, "first_articles.lap", number),
    )
