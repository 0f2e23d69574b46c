"""A session that builds its vocabulary: what is counted until the words are chosen."""

import errno
import os
from dataclasses import replace

import numpy as np
import pytest

from tests.session.rows import WORDS, documents, settings
from wikitopics.session.request import load_vocabulary
from wikitopics.session.storage import writer as stores
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.new_session import (
    feed_first_articles,
    save_user_copy,
    store_vocabulary,
)
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.vocabulary import VocabularyBuild
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.vocabulary import UnknownVocabulary


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.db"
    wanted = {**settings().values, "vocab_articles": 6}
    stores.create(path, replace(settings(), values=wanted, fingerprint=""))
    writer = SessionWriter(path)
    yield writer
    writer.close()


def block(*page_ids, skips=None):
    position = {"page": page_ids[-1]}
    return replace(
        documents(*page_ids),
        lexicon=("bb",),
        skips=skips or {},
        position=position,
        lap=0.5,
    )


def test_what_is_collected_and_what_is_skipped_is_counted(store):
    beginning = VocabularyBuild(store)
    assert not beginning.dirty
    beginning.feed(block(1, 2, 3, skips={"redirect": 2, "too large": 1}))
    beginning.feed(block(4, 5, skips={"redirect": 4}))
    progress = beginning.progress
    assert (progress.crawled, progress.pending, progress.skipped) == (12, 5, 7)
    assert (progress.skips, progress.position) == ({"redirect": 6, "too large": 1}, {"page": 5})
    assert beginning.dirty
    assert (beginning.missing, beginning.done()) == (1, False)
    early = beginning.as_committed()
    early.end_of_source()
    assert early.done()
    assert beginning.waits_for == "the vocabulary: 5 of 6 articles counted"
    beginning.feed(block(6, 7))
    assert (beginning.missing, beginning.done()) == (0, True)
    assert beginning.waits_for == "the vocabulary: 6 of 6 articles counted"


def test_blocks_that_are_not_committed_are_fed_again(store):
    beginning = VocabularyBuild(store)
    beginning.feed(block(1, 2, skips={"redirect": 1}))
    beginning.commit(1.5, 1_000)
    assert not beginning.dirty
    beginning.feed(block(3, skips={"redirect": 2}))
    again = beginning.as_committed()
    assert again.progress == replace(beginning.progress, elapsed_seconds=1.5, bytes_read=1_000)
    assert (again.progress.crawled, again.progress.skips) == (6, {"redirect": 3})
    assert [np.diff(found.indptr).sum() for found in store.first_articles()] == [2]


def test_words_are_chosen_even_if_a_stop_has_closed_the_session_meanwhile(store, monkeypatch):
    beginning = VocabularyBuild(store)
    beginning.feed(block(1, 2, 3))
    beginning.commit(1.5, 1_000)

    def chosen(blocks, *_):
        store.close()
        return [len(found) for found in blocks()]

    monkeypatch.setattr("wikitopics.session.training.vocabulary.choose_words", chosen)
    beginning.finish(2.0)
    assert beginning.built == [3]


def test_no_more_of_it_becomes_pending_than_a_session_can_hold(store, monkeypatch):
    beginning = VocabularyBuild(store)
    for page in range(0, 60, 3):
        beginning.feed(block(page + 1, page + 2, page + 3))
    beginning.commit(1.5, 1_000)
    store_vocabulary(store, Vocabulary.from_words(WORDS))
    room = 13 * len(documents(1, 2, 3).to_bytes())  # half of it: six blocks and some
    for module in ("training.new_session", "storage.counts"):
        monkeypatch.setattr(f"wikitopics.session.{module}.documents_room", lambda _: room)
    stream = Stream(store, article_limit=None, threads=1)
    feed_first_articles(store, stream)
    assert stream.progress.position == {"page": 18}
    assert (stream.progress.held_out, stream.progress.pending) == (2, 16)
    assert list(store.first_articles()) == []
    again = Stream(store, article_limit=None, threads=1)
    assert (again.progress.position, again.progress.pending) == ({"page": 18}, 16)


def test_rows_of_one_batch_become_pending_together(store, monkeypatch):
    beginning = VocabularyBuild(store)
    for page in (1, 2, 3):
        beginning.feed(replace(block(page), position={"page": 3}))
    beginning.feed(block(4))
    beginning.commit(1.5, 1_000)
    store_vocabulary(store, Vocabulary.from_words(WORDS))
    monkeypatch.setattr("wikitopics.session.training.new_session.documents_room", lambda _: 1)
    stream = Stream(store, article_limit=None, threads=1)
    feed_first_articles(store, stream)
    assert (stream.progress.position, stream.progress.crawled) == ({"page": 3}, 3)
    ((_, pending),) = store.pending()
    assert pending.word_ids.tolist() == [WORDS.index("bb")]


def test_a_vocabulary_that_cannot_be_kept_for_others_is_no_end(monkeypatch):
    def fsync(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    words = Vocabulary.from_words(WORDS)
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fsync)
        told = save_user_copy("mine", words)
    assert told.startswith("it could not be saved for other sessions: cannot write ")
    assert told.endswith(": No space left on device")
    assert (
        save_user_copy("mine", words)
        == "it is saved for other sessions: `wikitopics vocab show mine`"
    )
    assert load_vocabulary("mine").words == WORDS
    with pytest.raises(UnknownVocabulary, match=r"'yours'\. Available: .*english.*, mine "):
        load_vocabulary("yours")
