from importlib import resources

import numpy as np
import pytest

from wikitopics.crawler.embedded.corpus import load_sample
from wikitopics.vocab import Vocabulary


@pytest.fixture(scope="module")
def sample():
    return load_sample()


def test_it_is_small_enough_to_ship():
    assert len((resources.files("wikitopics.crawler") / "data" / "sample.xz").read_bytes()) < 3_000_000


def test_twenty_thousand_articles_with_titles_of_their_own(sample):
    assert len(sample.titles) == len(set(sample.titles)) == 20_000
    assert all(title.strip() and title.isprintable() for title in sample.titles)
    assert "may refer to" not in " ".join(sample.titles)


def test_the_rows_are_well_formed_over_the_shipped_words_and_stubs_are_everywhere(sample):
    assert sample.indptr[0] == 0
    assert sample.indptr[-1] == len(sample.word_ids) == len(sample.counts)
    lengths = np.diff(sample.indptr)
    assert lengths.min() >= 3
    assert sample.counts.min() == 1
    assert sample.counts.max() <= 255
    assert sample.word_ids.min() == 0
    assert sample.word_ids.max() == len(sample.words) - 1
    inside = np.ones(len(sample.word_ids), dtype=bool)
    inside[sample.indptr[:-1]] = False
    assert (np.diff(sample.word_ids, prepend=0)[inside] > 0).all()
    assert set(sample.words) <= set(Vocabulary.load("english").words)
    assert len(sample.words) > 7_900
    totals = np.add.reduceat(sample.counts, sample.indptr[:-1])
    for tenth in np.split(totals, 10):
        assert 300 < (tenth < 30).sum() < 500


def test_an_article_is_about_its_title(sample):
    at = sample.titles.index("Science and technology in Brussels")
    row = slice(sample.indptr[at], sample.indptr[at + 1])
    words = [sample.words[i] for i in sample.word_ids[row]]
    counts = dict(zip(words, sample.counts[row].tolist(), strict=True))
    assert (counts["brussels"], counts["universities"]) == (3, 4)
