"""Events per second of the work of the last seconds."""

from session.training.rates import Speed


def test_speed_is_of_the_time_that_was_worked():
    now = 0.0
    speed = Speed(lambda: now)
    assert speed(busy=True) == 0.0
    speed.add(100, 2.0)
    speed.add(300, 2.0)
    assert speed(busy=False) == 100.0
    now = 11.0
    assert speed(busy=True) == 150.0, "the last step, while the next is under way"
    assert speed(busy=False) == 0.0


def test_speed_forgets_old_work_while_newer_work_counts():
    now = 0.0
    speed = Speed(lambda: now)
    speed.add(100, 2.0)
    now = 9.0
    speed.add(300, 2.0)
    now = 11.0
    assert speed(busy=False) == 150.0
