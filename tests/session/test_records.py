"""Records of a session in words."""

import pytest

from wikitopics.session.records import TrainerActivity, left_in_words


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


def test_a_trainer_of_an_earlier_version_tells_no_time_left():
    assert TrainerActivity().time_left == ""
    assert TrainerActivity(seconds_left=43_000.0).time_left == "12 h left"
