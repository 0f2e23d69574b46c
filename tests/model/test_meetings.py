"""How often topics meet: what counts as a meeting, and for how long."""

import numpy as np
import pytest

from wikitopics.model.meetings import PRESENT, Meetings


def test_small_parts_of_a_document_are_no_meetings():
    meetings = Meetings.none(2)
    too_small = PRESENT / 2
    meetings.add(np.array([[0.5, 0.5], [1 - too_small, too_small]], np.float32))
    of_topic_0 = 0.5**2 + (1 - too_small) ** 2
    expected = [[pytest.approx(of_topic_0, rel=1e-3), 0.25], [0.25, 0.25]]
    assert meetings.sums[:2].tolist() == expected


def test_old_meetings_fade():
    """After ten thousand documents a meeting counts half."""
    meetings = Meetings.none(2)
    meetings.add(np.array([[0.5, 0.5], [1, 0]], np.float32))
    thousand_of_topic_0 = np.tile(np.array([[1, 0]], np.float32), (1000, 1))
    for _ in range(10):
        meetings.add(thousand_of_topic_0)
    assert meetings.sums[0, 1] == pytest.approx(0.25 / 2)
    thousands = sum(1000 * 0.5 ** (n / 10) for n in range(10))
    assert meetings.documents == pytest.approx(2 / 2 + thousands, rel=1e-5)
