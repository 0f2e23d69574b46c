"""Events per second, of the last seconds and of the work in them."""

from wikitopics.session.training.rates import Rate


def test_a_rate_is_of_the_time_since_the_start_or_of_ten_seconds():
    now = 0.0
    rate = Rate(lambda: now)
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


def test_speed_is_of_the_time_that_was_worked_in_the_last_seconds():
    now = 0.0
    rate = Rate(lambda: now)
    assert rate.of_work(busy=True) == 0.0
    rate.add(100, 2.0)
    now = 9.0
    rate.add(300, 2.0)
    assert rate.of_work(busy=False) == 100.0
    now = 11.0
    assert rate.of_work(busy=False) == 150.0, "older work is forgotten"
    now = 20.0
    assert rate.of_work(busy=True) == 150.0, "the last step, while the next is under way"
    assert rate.of_work(busy=False) == 0.0
