"""Topic proportions as a session keeps them: small, exact enough, and never what they cannot be."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.session.rows import recorded_proportions
from tests.tui import canned
from wikitopics.session.errors import Damaged
from wikitopics.session.storage import recorded
from wikitopics.session.storage.proportions import (
    LEAST,
    MOST_KEPT,
    MOST_MISSING,
    Proportions,
)
from wikitopics.session.storage.reader import SessionReader


@pytest.mark.parametrize("n_topics", [2, 100, 256, 257, 3000])
def test_the_largest_are_kept_to_within_half_a_hundredth(n_topics):
    theta = np.random.default_rng(1).dirichlet(np.full(n_topics, 0.05), 300).astype(np.float32)
    theta[0] = 1 / n_topics
    kept = Proportions.of(theta)
    data = kept.to_bytes()
    bytes_each = 2 if n_topics <= 256 else 3
    assert len(data) <= 300 * (1 + MOST_KEPT * bytes_each)
    again = Proportions.from_blocks(
        [(kept[:100].to_bytes(), 100), (kept[100:].to_bytes(), 200)], n_topics
    )
    assert again.to_bytes() == data
    starts = again.indptr()
    values = again.values()
    for row in range(300):
        at = slice(starts[row], starts[row + 1])
        largest = np.sort(theta[row])[::-1][: at.stop - at.start]
        np.testing.assert_array_equal(np.sort(theta[row][again.topics[at]])[::-1], largest)
        np.testing.assert_allclose(values[at], theta[row][again.topics[at]], atol=0.008)
        assert values[at].sum() <= 1 + 1e-6
        left = np.delete(theta[row], again.topics[at])
        assert at.stop - at.start == MOST_KEPT or not left.size or left.max() < LEAST


@pytest.mark.parametrize(
    ("data", "articles"),
    [
        *((data, 1) for data in (None, "text", b"", b"\1\0", b"\1\0\t\t")),
        (bytes([1, 5, 9]), 1),  # no such topic
        (bytes([1, 0, 0]), 1),  # nothing of it
        (bytes([2, 1, 0, 9, 9]), 1),  # not ascending
        (bytes([2, 0, 0, 9, 9]), 1),  # twice
        *((bytes([*sizes, 0, 1, 9, 9]), 2) for sizes in ((0, 2), (1, 2), (3, 1))),
        (bytes([17, *range(17), *[9] * 17]), 1),
        (bytes([1, 0, 9]), 10**15),
    ],
)
def test_what_is_none_of_ours_is_damage(data, articles):
    with pytest.raises(Damaged):
        Proportions.from_blocks([(data, articles)], 5 if articles < 10 else 100)


def test_no_articles_at_all():
    assert len(Proportions.from_blocks([], 3)) == 0


def test_the_leading_topics_of_some_articles(tmp_path):
    with SessionReader(canned.build(tmp_path / "s.db")) as reader:
        recent = {row.seq: row for row in reader.recent_articles()}
        found = reader.leading_topics("lda", [*recent, 1, 10**9], 2)
        assert found.keys() == recent.keys()
        for seq, ((topic, part), (_, second)) in found.items():
            assert (topic, round(part, 1)) == (
                recent[seq].topics[0][1],
                round(recent[seq].topics[0][2], 1),
            )
            assert second <= part


@pytest.mark.parametrize(("second", "damaged"), [(3, False), (2, True)])
def test_blocks_of_articles_that_overlap_are_damage(second, damaged):
    rows = [(1, 2, bytes(8), bytes(4)), (second, 1, bytes(4), bytes(2))]
    reader = SimpleNamespace(select=lambda *_, **__: rows, _room=lambda _: 0)
    if damaged:
        with pytest.raises(Damaged, match="out of range"):
            SessionReader.recorded_articles(reader)
    else:
        assert len(SessionReader.recorded_articles(reader).page_ids) == 3


def short_texts(n_topics):
    """Proportions of 200 texts of 20 words: one or two topics, and a little of every other."""
    random = np.random.default_rng(2)
    counts = np.zeros((200, n_topics))
    for row in counts:
        row[random.choice(n_topics, 2, replace=False)] = random.multinomial(20, [0.7, 0.3])
    return ((counts + 0.01) / (20 + 0.01 * n_topics)).astype(np.float32)


@pytest.mark.parametrize("n_topics", [2, 100, 300])
def test_what_the_usual_form_has_of_the_fine_one(n_topics):
    theta = short_texts(n_topics)
    fine = Proportions.of(theta, fine=True)
    usual = fine.usual(n_topics)
    stored_as_usual = Proportions.of(theta)
    np.testing.assert_array_equal(usual.lengths, stored_as_usual.lengths)
    np.testing.assert_array_equal(usual.topics, stored_as_usual.topics)
    np.testing.assert_allclose(usual.values(), stored_as_usual.values(), atol=0.008)
    assert stored_as_usual.usual(n_topics) is stored_as_usual
    if n_topics > 2:
        assert len(usual.topics) < len(fine.topics) / 5


def test_of_equal_proportions_the_first_are_stored_until_little_is_missing():
    theta = np.full((3, 300), 0.1 / 299, np.float32)
    theta[[0, 1, 2], [0, 299, 100]] = 0.9
    stored = Proportions.of(theta, fine=True)
    n = int(stored.lengths[0])
    assert stored.lengths.tolist() == [n, n, n]
    assert stored[0:1].topics.tolist() == list(range(n))
    assert stored[1:2].topics.tolist() == [*range(n - 1), 299]
    assert stored[2:3].topics.tolist() == list(range(n))
    missing = 1 - theta[0, :n].sum()
    assert MOST_MISSING - theta[0, 1] < missing <= MOST_MISSING


def test_every_article_keeps_a_topic_in_the_usual_form_whatever_a_file_says():
    lengths = np.array([2, 2], np.uint16)
    topics = np.array([0, 1, 0, 1], np.uint8)
    roots = np.array([1, 2, 60_000, 1], np.uint16)
    usual = Proportions(lengths, topics, roots).usual(2)
    assert usual.lengths.tolist() == [1, 1]


@pytest.mark.parametrize("fine", [False, True])
def test_the_two_largest_topics(fine):
    theta = short_texts(30)
    theta[0] = 1 / 15
    theta[0, ::2] = 0
    first, second = Proportions.of(theta, fine=fine).two_largest(0.1)
    order = np.argsort(-theta, axis=1, kind="stable")
    np.testing.assert_array_equal(first, order[:, 0])
    has_second = np.take_along_axis(theta, order, 1)[:, 1] >= 0.1
    np.testing.assert_array_equal(second, np.where(has_second, order[:, 1], -1))
    nothing = Proportions.none(3).two_largest(0.1)
    assert [len(topics) for topics in nothing] == [0, 0]


@pytest.mark.parametrize("held_out", [False, True])
def test_proportions_are_read_in_parts_of_bounded_size(tmp_path, monkeypatch, held_out):
    with SessionReader(canned.build(tmp_path / "s.db")) as reader:
        (model, *_) = reader.models()
        whole = recorded_proportions(reader, model, held_out=held_out)
        monkeypatch.setattr(recorded, "READ_TOGETHER", 1)
        largest = max(articles for _, articles in reader.blocks())
        parts = list(reader.each_part(model, held_out=held_out))
        assert len(parts) > 1
        assert max(map(len, parts)) <= largest
        assert Proportions.concatenate(parts).to_bytes() == whole.to_bytes()
        if held_out:
            assert len(whole) == reader.n_recorded()
            rows = np.arange(0, len(whole), 7)
            some = reader.proportions_at(model, rows)
            assert some.to_bytes() == whole.take(rows).to_bytes()
        assert reader.least_proportions(model) <= len(whole.topics)
        assert reader.most_proportions(model) >= len(whole.topics)
