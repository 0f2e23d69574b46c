"""Stretches of the crawl as they came, until the session has a vocabulary: the rows of `first_articles`."""

import json
from typing import Any

from crawler.source import Skip
from session.errors import Damaged
from session.storage.codec.settings import MOST_WORD_BYTES
from session.storage.decoding import json_object, number, optional, text, whole
from session.storage.documents import Block, Documents


def encode_block(block: Block) -> dict[str, object]:
    """The columns of a row; `decode_block` is the inverse."""
    documents = block.documents.with_own_words()
    return {
        "documents": documents.to_bytes(),
        "words": "\n".join(documents.lexicon or ()),
        "skips": json.dumps(block.skips),
        "unread": block.unread,
        "position": json.dumps(block.position),
        "lap": block.lap,
    }


def decode_block(row: tuple[Any, ...]) -> Block:
    """`first_articles`: (documents, words, skips, unread, position, lap). Raises :class:`Damaged`."""
    documents, joined, skips, unread, position, lap = row
    words = text(joined, "first_articles.words", MOST_WORD_BYTES)
    lexicon = tuple(words.split("\n")) if words else ()
    if len(set(lexicon)) < len(lexicon):
        raise Damaged("first_articles.words has a word twice")
    counted: dict[Skip, int] = {}
    for reason, n in json_object(skips, "first_articles.skips").items():
        counted[text(reason, "first_articles.skips")] = whole(n, "first_articles.skips")  # type: ignore[index]
    found = Documents.from_bytes(documents, "first_articles.documents", len(lexicon), lexicon)
    return Block(
        found,
        counted,
        dict(json_object(position, "first_articles.position")),
        optional(lap, "first_articles.lap", number),
        unread=whole(unread, "first_articles.unread", 0, len(found)),
    )
