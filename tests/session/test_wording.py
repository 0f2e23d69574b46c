"""What people are told of a time left, and of topics that come back in replicas."""

import pytest

from wikitopics.session.wording import FOUND_SIGNS, found_legend, left_in_words


def test_the_legend_explains_every_sign_whichever_of_them_are_shown():
    legend = found_legend([0.2, None, 0.4])
    assert "models with other seeds" in legend
    for _, sign, how_many in FOUND_SIGNS:
        assert f"{sign} {how_many}" in legend
    assert legend == found_legend(iter([1.0]))


def test_topics_without_replicas_have_no_legend():
    assert found_legend([]) == found_legend([None, None]) == ""


@pytest.mark.parametrize(
    ("seconds", "uncertain", "words"),
    [
        (0.4, 0.0, "<1 s left"),
        (46, 0.0, "46 s left"),
        (46, 0.05, "46 s left"),
        (250, 0.05, "4 min left"),
        (1_000, 0.3, "13–24 min left"),
        (7_000, 0.05, "120 min left"),
        (7_300, 0.05, "2 h left"),
        (9_100, 0.05, "2.6 h left"),
        (43_000, 0.05, "12 h left"),
        (43_000, 0.2, "10–15 h left"),
        (4e5, 0.05, "4.6 d left"),
        (4e10, 0.0, "460,000 d left"),
    ],
)
def test_a_time_left_is_told_as_exactly_as_it_is_known(seconds, uncertain, words):
    low = seconds / (1 + uncertain)
    high = seconds / (1 - uncertain)
    assert left_in_words(seconds, low, high) == words
