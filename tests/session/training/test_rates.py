"""Rates of what comes in and of what is learnt."""

from wikitopics.session.training.rates import LastMinute, RateMeter


def test_a_rate_is_of_the_time_since_the_start_or_of_ten_seconds():
    now = 0.0
    rate = RateMeter(lambda: now)
    assert rate() == 0.0
    rate.add(30)
    assert rate() == 30.0, "of a second, before the first is over"
    now = 1.5
    assert rate() == 20.0
    now = 10.0
    rate.add(50)
    assert rate() == 8.0
    now = 15.0
    assert rate() == 5.0, "older events are forgotten"


def test_rare_steps_tell_what_flows_from_one_to_the_next():
    now = 0.0
    rate = RateMeter(lambda: now)
    assert rate.of_steps() == 0.0
    for step in range(1, 7):
        now = 20.0 * step
        rate.add(3000)
        assert rate.of_steps() == 150.0
    now = 139.0
    assert rate.of_steps() == 150.0, "the next step is not due yet"
    now = 150.0
    assert 100.0 < rate.of_steps() < 150.0
    now = 170.0
    assert rate.of_steps() == 0.0, "nothing flows"


def test_frequent_steps_tell_the_last_seconds():
    now = 0.0
    rate = RateMeter(lambda: now)
    for second in range(60):
        now = float(second + 1)
        rate.add(10 if second < 30 else 100)
    assert rate.of_steps() == 100.0


def test_the_last_minute_is_counted_and_ends():
    """Eight a second, at most, as is allowed by 480 a minute; then a pause."""
    now = 100.0
    requests = LastMinute(lambda: now)
    now = 129.0
    requests.note(142)
    assert (requests.number, requests.seconds) == (142, 29.0), "those so far"
    for second in range(130, 300):
        now = float(second)
        requests.note(142 + 8 * (second - 129))
    assert (requests.number, requests.seconds) == (480, 60.0)
    total = 142 + 8 * (299 - 129)
    for now, left in ((329.0, 240), (358.5, 8), (359.5, 0), (377.0, 0)):  # noqa: B007
        requests.note(total)
        assert (requests.number, requests.seconds) == (left, 60.0)
