"""Whether a user's own texts are long enough to learn topics from."""

from collections.abc import Iterator, Sequence
from statistics import median

from wikitopics.session.options import VOCAB

FIRST_TEXTS = 200
"""The number of the user's own documents by which texts are judged short."""
FEW_WORDS = 3


def short_texts(words: Sequence[int]) -> Iterator[str]:
    """A warning if half of the first texts have few known words; ``words``: how many each text
    has."""
    first = words[:FIRST_TEXTS]
    if first and median(first) < FEW_WORDS:
        yield (
            f"short texts: half of the first {len(first):,} have fewer than {FEW_WORDS} known "
            "words, too few to learn topics from; join texts that belong together, or give "
            f"another {VOCAB.flag}"
        )
