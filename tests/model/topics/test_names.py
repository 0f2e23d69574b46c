import numpy as np
import pytest

from wikitopics.model.topics import distinctness, fits, holds, most_relevant, name, ownership, relevance

# Three topics over the words 0 to 5; word 0 leads all of them.
IDS = np.array([[0, 1, 2], [0, 3, 2], [0, 4, 5]], np.int32)
PROBABILITIES = np.array([[0.5, 0.3, 0.1], [0.4, 0.3, 0.2], [0.5, 0.2, 0.2]], np.float32)
SHARES = np.array([0.5, 0.3, 0.2])
LEADING = IDS, PROBABILITIES


def test_a_word_is_owned_by_the_topics_that_lead_with_it():
    owned = ownership(LEADING, SHARES)
    uses = np.array([0.25, 0.12, 0.1])
    np.testing.assert_allclose(owned[:, 0], uses / uses.sum(), rtol=1e-6)
    assert owned[0, 1] == owned[2, 2] == 1.0
    np.testing.assert_allclose([owned[0, 2], owned[1, 2]], [0.05 / 0.11, 0.06 / 0.11], rtol=1e-6)


def test_relevance_goes_from_lift_to_probability():
    np.testing.assert_array_equal(most_relevant(LEADING, SHARES, weight=1.0), IDS)
    by_lift = most_relevant(LEADING, SHARES, weight=0.0)
    assert by_lift.tolist() == [[1, 0, 2], [3, 2, 0], [4, 5, 0]]
    assert most_relevant(LEADING, SHARES, weight=0.5)[:, 0].tolist() == [1, 3, 4]


def test_a_topic_without_words_has_no_number_that_is_none():
    nothing = IDS, np.zeros((3, 3), np.float32)
    assert np.all(relevance(nothing, SHARES) == -np.inf)
    np.testing.assert_array_equal(most_relevant(nothing, SHARES), IDS)


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        (["film", "films", "director", "actor"], ("film", "director", "actor")),
        (["party", "parties", "election", "vote"], ("party", "election", "vote")),
        (["art", "artist", "arts", "museum"], ("art", "artist", "museum")),
        (["sea"], ("sea",)),
        (["one", "once", "on", "won"], ("one", "once", "on")),
    ],
)
def test_a_name_has_three_words_and_no_two_forms_of_one(relevant, expected):
    assert name(relevant) == expected


def test_a_name_holds_while_its_words_lead():
    words = [f"word{letter * 3}" for letter in "abcdefghijkl"]
    assert holds(name(words), words[::-1][:3] + words[:7])
    one_gone = [*words[1:11], words[0]]
    assert fits(name(words), one_gone)
    assert not holds(name(words), one_gone)
    assert not fits(name(words), words[3:])


def test_a_topic_owns_its_words_when_no_other_has_them() -> None:
    ids = np.array([[0, 1], [0, 1], [2, 3]])
    leading = ids, np.array([[0.5, 0.2], [0.5, 0.2], [0.4, 0.1]])
    assert np.allclose(distinctness(leading, np.array([0.3, 0.1, 0.6])), [0.75, 0.25, 1])
