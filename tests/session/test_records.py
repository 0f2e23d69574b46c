"""Records of a session."""

from wikitopics.session.records import TrainerActivity


def test_a_trainer_of_an_earlier_version_tells_no_time_left():
    assert TrainerActivity().time_left == ""
    assert TrainerActivity(seconds_left=43_000.0).time_left == "12 h left"
