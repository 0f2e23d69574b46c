"""The nearest documents: exactly those that all pairs give."""

import numpy as np

from wikitopics.model.near import MOST, NOBODY, Index, Rows, nearest


def proportions(n: int = 300, K: int = 12) -> np.ndarray:
    return np.random.default_rng(3).dirichlet(np.full(K, 0.2), n).astype(np.float32)


def dense(rows: Rows, K: int) -> np.ndarray:
    roots = np.zeros((len(rows), K))
    roots[rows.owners, rows.topics] = rows.roots
    return roots


def test_rows_have_the_largest_topics_and_length_one():
    theta = proportions()
    rows = Rows.of(theta)
    roots = dense(rows, 12)
    np.testing.assert_allclose(np.square(roots).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(rows.leading(), theta.argmax(axis=1))
    few = rows.take(np.array([5, 2, 2]))
    np.testing.assert_array_equal(dense(few, 12), roots[[5, 2, 2]])


def test_of_many_topics_the_largest_are_compared():
    theta = proportions(20, 60) + 0.01
    theta /= theta.sum(axis=1, keepdims=True)
    rows = Rows.of(theta)
    assert np.diff(rows.indptr).tolist() == [MOST] * 20
    for document in range(20):
        own = slice(rows.indptr[document], rows.indptr[document + 1])
        largest = np.sort(np.argsort(-theta[document])[:MOST])
        np.testing.assert_array_equal(rows.topics[own], largest)
    equal = Rows.of(np.full((1, 60), 1 / 60))
    np.testing.assert_array_equal(equal.topics, np.arange(MOST))
    tiny = Rows.of(np.full((1, 500), 1 / 500))
    assert len(tiny.topics) == MOST


def test_neighbours_are_those_of_all_pairs():
    rows = Rows.of(proportions())
    roots = dense(rows, 12)
    likeness = roots @ roots.T
    np.fill_diagonal(likeness, -1)
    near = nearest(rows, Index.of(rows, 12), 5, among_themselves=True)
    found = np.take_along_axis(likeness, near.astype(np.int64), axis=1)
    np.testing.assert_allclose(found, -np.sort(-likeness, axis=1)[:, :5], atol=1e-5)


def test_of_equal_ones_those_with_the_smaller_numbers_are_nearest():
    few = proportions(7, 4)
    theta = few[np.arange(700) % 7]
    rows = Rows.of(theta)
    near = nearest(rows, Index.of(rows, 4), 20, among_themselves=True)
    for document in range(700):
        others = np.arange(document % 7, 700, 7)
        expected = others[others != document][:20]
        np.testing.assert_array_equal(near[document], expected)


def test_each_article_is_independent_of_the_others():
    rows = Rows.of(proportions())
    index = Index.of(rows.take(np.arange(100)), 12)
    at_once = nearest(rows, index, 4)
    some = nearest(rows.take(np.arange(200, 250)), index, 4)
    np.testing.assert_array_equal(some, at_once[200:250])


def test_who_shares_no_topic_has_no_neighbours():
    rows = Rows.of(np.eye(4, dtype=np.float32))
    near = nearest(rows, Index.of(rows, 4), 2, among_themselves=True)
    assert (near == NOBODY).all()
