"""The coherence of each topic of a stored session."""

from collections.abc import Sequence

import numpy as np

from wikitopics.model import Minibatch
from wikitopics.model.topics.coherence import npmi_of_words
from wikitopics.session.records import COHERENT_WORDS, TopicRow
from wikitopics.session.storage.reader import SessionReader


def coherences(reader: SessionReader, topics: Sequence[TopicRow]) -> list[float | None]:
    """NPMI of each topic's leading words over the held-out articles, as the trainer measures its mean.

    None if the session holds out no articles.
    """
    if not topics:
        return []
    numbers = {word: number for number, word in enumerate(reader.vocabulary())}
    leading = [[numbers[word] for word, _ in topic.words[:COHERENT_WORDS]] for topic in topics]
    held_out = reader.held_out()
    reference = Minibatch(held_out.indptr, held_out.word_ids, held_out.counts)
    values = npmi_of_words(np.array(leading), reference).tolist()
    return [value if np.isfinite(value) else None for value in values]
