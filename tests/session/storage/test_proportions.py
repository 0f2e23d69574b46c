"""Topic proportions as a session keeps them: small, exact enough, and never what they cannot be."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.tui import canned
from wikitopics.session.errors import Damaged
from wikitopics.session.storage.proportions import LEAST, MOST_KEPT, Proportions
from wikitopics.session.storage.reader import SessionReader


@pytest.mark.parametrize("n_topics", [2, 100, 256, 257, 3000])
def test_the_largest_are_kept_to_within_half_a_hundredth(n_topics):
    theta = np.random.default_rng(1).dirichlet(np.full(n_topics, 0.05), 300).astype(np.float32)
    theta[0] = 1 / n_topics
    kept = Proportions.of(theta)
    data = kept.to_bytes()
    assert len(data) <= 300 * (1 + MOST_KEPT * (2 if n_topics <= 256 else 3))
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
