"""A session that builds its vocabulary: what is counted until the words are chosen."""

from dataclasses import replace

import numpy as np
import pytest

from session.storage import writer as stores
from session.storage.documents import Block
from session.storage.writer import SessionWriter
from session.training.beginning import Beginning
from tests.session.rows import documents, settings


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.db"
    wanted = {**settings().values, "vocab_articles": 6}
    stores.create(path, replace(settings(), values=wanted, fingerprint=""), (), ())
    writer = SessionWriter(path)
    yield writer
    writer.close()


def block(*page_ids, skips=None):
    found = replace(documents(*page_ids), lexicon=("aa",))
    return Block(found, skips or {}, {"page": page_ids[-1]}, 0.5)


def test_what_is_collected_and_what_is_skipped_is_counted(store):
    beginning = Beginning(store)
    assert not beginning.dirty
    beginning.feed(block(1, 2, 3, skips={"redirect": 2, "too large": 1}))
    beginning.feed(block(4, 5, skips={"redirect": 4}))
    progress = beginning.progress
    assert (progress.crawled, progress.pending, progress.skipped) == (12, 5, 7)
    assert progress.skips == {"redirect": 6, "too large": 1}
    assert progress.position == {"page": 5}
    assert beginning.dirty
    assert (beginning.missing, beginning.done()) == (1, False)
    assert beginning.waits_for == "the vocabulary: 5 of 6 articles counted"
    beginning.feed(block(6, 7))
    assert (beginning.missing, beginning.done()) == (0, True)
    assert beginning.waits_for == "the vocabulary: 6 of 6 articles counted"


def test_a_source_that_ends_early_has_to_do(store):
    beginning = Beginning(store)
    beginning.feed(block(1))
    beginning.end_of_source()
    assert beginning.done()


def test_blocks_that_are_not_committed_are_fed_again(store):
    beginning = Beginning(store)
    beginning.feed(block(1, 2, skips={"redirect": 1}))
    beginning.commit(1.5, 1_000)
    assert not beginning.dirty
    beginning.feed(block(3, skips={"redirect": 2}))
    again = beginning.as_committed()
    assert again.progress == replace(beginning.progress, elapsed_seconds=1.5, bytes_read=1_000)
    assert (again.progress.crawled, again.progress.skips) == (6, {"redirect": 3})
    assert [np.diff(found.documents.indptr).sum() for found in store.first_articles()] == [2]
