"""How often words have been trained on, as it is kept."""

import numpy as np
import pytest

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.tables.counts import WordCounts


def counts(total, articles):
    return WordCounts(np.array(total, np.int64), np.array(articles, np.int64))


def test_they_come_back_as_they_were():
    found = WordCounts.from_bytes(counts([5, 0, 2], [3, 0, 2]).to_bytes(), 3, 4, 7)
    assert (found.counts.tolist(), found.articles.tolist()) == ([5, 0, 2], [3, 0, 2])


@pytest.mark.parametrize(
    ("total", "articles"),
    [([4, 0, 2], [3, 0, 2]), ([5, 0, 2], [3, 1, 2])],
    ids=["other words than were trained", "a word in articles without it"],
)
def test_counts_that_cannot_be_are_damage(total, articles):
    with pytest.raises(Damaged, match="word_counts"):
        WordCounts.from_bytes(counts(total, articles).to_bytes(), 3, 4, 7)
