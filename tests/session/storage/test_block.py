"""Blocks of articles as word counts."""

from dataclasses import replace

import numpy as np
import pytest

from tests.session.storage.pages import INFO, RULE, pages, same
from wikitopics.session.errors import Damaged
from wikitopics.session.storage.block import Block
from wikitopics.session.training.jobs import count_pages
from wikitopics.vocab import Vocabulary


def documents(lengths, titles=None):
    """A block with so many distinct words each."""
    total = sum(lengths)
    return Block(
        np.arange(len(lengths), dtype=np.int64),
        np.arange(len(lengths), dtype=np.int64) + 7,
        titles or tuple(f"t{i}" for i in range(len(lengths))),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.arange(total, dtype=np.int32),
        np.arange(1, total + 1, dtype=np.int32),
    )


def test_slices_and_chosen_articles_keep_their_words_and_put_together_are_the_whole():
    part = documents([2, 0, 3, 1])[1:3]
    assert (part.titles, part.indptr.tolist()) == (("t1", "t2"), [0, 0, 3])
    assert (part.counts.tolist(), part.words.tolist()) == ([3, 4, 5], [0, 12])
    whole = documents([2, 0, 3, 1, 5])
    assert same(Block.concatenate([whole[:2], whole[2:2], whole[2:]]), whole)
    assert len(Block.concatenate([])) == 0
    whole = documents([2, 0, 3, 1])
    assert whole.has_words.tolist() == [True, False, True, True]
    some, others = whole.split(np.array([False, True, True, False]))
    assert (some.titles, others.titles) == (("t1", "t2"), ("t0", "t3"))
    assert (some.indptr.tolist(), others.indptr.tolist()) == ([0, 0, 3], [0, 2, 3])
    assert (some.counts.tolist(), others.counts.tolist()) == ([3, 4, 5], [1, 2, 6])


def test_bytes_and_back_without_pickle():
    titles = (
        "a",
        "",
        "\x1b[2J\x07",
        "line\nbreak\ttab\0nul",
        "[/x][bold]",
        "\u202eRTL",
        "雪☃😀",
        "'; DROP",
    )
    whole = documents([2, 0, 3, 1, 1, 0, 0, 0], titles=titles)
    data = whole.to_bytes()
    assert same(Block.from_bytes(data, "here", 7), whole)
    assert b"pickle" not in data


def test_snippets_of_several_lines_are_damage():
    with_snippets = replace(documents([2, 1]), snippets=("one line", "two\nlines"))
    with pytest.raises(Damaged, match="here has a snippet of several lines"):
        Block.from_bytes(with_snippets.to_bytes(), "here", 3)


def test_ids_of_their_own_stay_with_the_articles_and_of_another_number_are_damage():
    whole = replace(documents([2, 0, 3, 1]), ids=("a", "", "c", "d"))
    assert Block.from_bytes(whole.to_bytes(), "here", 100).ids == whole.ids
    assert whole[1:3].ids == ("", "c")
    assert [part.ids for part in whole.split(whole.has_words)] == [("a", "c", "d"), ("",)]
    nothing = Block.concatenate([])
    assert Block.concatenate([nothing, whole[:2], whole[2:]]).ids == whole.ids
    assert Block.concatenate([nothing, documents([1])]).ids is None
    assert Block.from_bytes(documents([1]).to_bytes(), "here", 100).ids is None
    wrong = replace(documents([2, 1]), ids=("a",))
    with pytest.raises(Damaged, match="ids"):
        Block.from_bytes(wrong.to_bytes(), "here", 100)


def test_over_a_vocabulary_they_are_what_it_would_have_counted():
    texts = ("річка п’ять річка", "", "п'ять море", "небо")
    vocabulary = Vocabulary.from_words(["море", "п'ять", "річка"], RULE)
    numbers = {word: number for number, word in enumerate(vocabulary.words)}
    parts = [count_pages([page], RULE, INFO) for page in pages(*texts)]
    joined = Block.concatenate([*parts, Block.uncounted(pages("x")[0])])
    there = joined.over(numbers)
    here = count_pages([*pages(*texts), pages("x")[0]], vocabulary, INFO)
    assert there.lexicon is None
    for name in ("page_ids", "indptr", "word_ids", "counts"):
        assert np.array_equal(getattr(there, name), getattr(here, name)), name
