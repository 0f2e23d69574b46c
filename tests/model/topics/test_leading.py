"""Drift: 0 for a topic that stayed, 1 for one that has become another."""

import numpy as np
import pytest

from wikitopics.model import drift


def leading(*topics):
    ids = np.array([[word for word, _ in topic] for topic in topics], np.int32)
    return ids, np.array([[p for _, p in topic] for topic in topics], np.float32)


def test_the_share_that_has_gone_to_other_words():
    before = leading([(3, 0.4), (1, 0.4)], [(3, 0.2), (1, 0.2)], [(0, 0.5), (1, 0.3)])
    after = leading([(1, 0.1), (3, 0.1)], [(5, 0.2), (6, 0.1)], [(0, 0.3), (7, 0.3)])
    assert drift(before, after) == pytest.approx([0.0, 1.0, 0.5])
    assert drift(after, before) == pytest.approx(drift(before, after))


def test_it_is_the_total_variation_distance_where_all_words_lead():
    topics = np.random.default_rng(0).dirichlet(np.ones(9), (2, 4))
    orders = np.argsort(-topics, axis=2)
    before, after = (
        (order.astype(np.int32), np.take_along_axis(each, order, 1).astype(np.float32))
        for each, order in zip(topics, orders, strict=True)
    )
    distance = 0.5 * np.abs(topics[0] - topics[1]).sum(axis=1)
    assert drift(before, after) == pytest.approx(distance, abs=1e-6)


def test_topics_of_another_model_are_refused():
    with pytest.raises(ValueError, match="2 topics before and 1 after"):
        drift(leading([(0, 1.0)], [(1, 1.0)]), leading([(0, 1.0)]))
