"""The large values of a commit, made before its transaction, during which nothing else can write.

The heartbeat, for one, must be written, or the trainer would look as if it hangs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wikitopics.session.options import KEEP_ARTICLES, KEEP_COUNTS
from wikitopics.session.settings import Settings
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.changes import Changes
from wikitopics.session.storage.codec.blocks import encode_block

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows to add, by table, and the bytes of the word counts."""

    recent: Sequence[Row]
    kept_counts: Sequence[Row]
    pending: Sequence[Row]
    first_articles: Sequence[Row]
    held_out: Sequence[Row]
    word_counts: bytes | None


def packed(changes: Changes, settings: Settings, next_seq: int, first_pending: int) -> Packed:
    """The rows of ``changes``, whose articles have the numbers from ``next_seq`` on.

    Rows before number ``first_pending`` are no longer pending and are left out.
    """
    return Packed(
        recent=_recent(changes, next_seq) if settings[KEEP_ARTICLES] != "none" else (),
        kept_counts=[
            {"articles": len(block), "documents": block.to_bytes()}
            for block, role, _ in changes.articles
            if settings[KEEP_COUNTS] and role != "skipped"
        ],
        pending=[
            {"id": number, "documents": block.to_bytes()}
            for number, block in changes.pending
            if number >= first_pending
        ],
        first_articles=[row for block in changes.first_articles for row in encode_block(block)],
        held_out=[
            {"documents": block.to_bytes()} for block, role, _ in changes.articles if role == "held_out"
        ],
        word_counts=None if changes.word_counts is None else changes.word_counts.to_bytes(),
    )


def _recent(changes: Changes, next_seq: int) -> list[Row]:
    """The counts of the trained articles."""
    found: list[Row] = []
    for block, role, _ in changes.articles:
        if role == "trained":
            found.append(recent_row(block, next_seq))
        next_seq += len(block)
    return found


def recent_row(block: Block, first_seq: int) -> Row:
    """A row of `recent`: the counts of the articles with the numbers from ``first_seq`` on."""
    nameless = replace(block, titles=("",) * len(block), ids=None)  # they are in `articles`
    return {"first_seq": first_seq, "articles": len(block), "documents": nameless.to_bytes()}
