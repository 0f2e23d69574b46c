"""When a run commits: no minibatch waits long for it, however long the next one takes."""

import numpy as np
import pytest

from wikitopics.session.training.learner import Saving


@pytest.fixture
def clock():
    """Reads what its `now` says."""

    def read():
        return read.now

    read.now = 100.0
    return read


def test_the_first_step_of_a_run_is_saved_at_once(clock):
    saving = Saving(clock)
    assert not saving.due(False)
    saving.stepped(0.1, measured=False)
    assert saving.due(False)
    assert saving.due()
    saving.saved()
    saving.stepped(0.1, measured=True)
    assert not saving.due(False)


def test_quick_steps_share_a_commit(clock):
    saving = Saving(clock)
    saving.stepped(0.1, measured=False)
    saving.saved()
    dues = []
    for _ in range(10):
        clock.now += 0.1001
        dues.append(saving.due(False))
    assert dues == [False] * 9 + [True]
    saving.saved()
    assert not saving.due(False)


def test_a_long_step_is_not_waited_for(clock):
    saving = Saving(clock)
    saving.stepped(0.1, measured=False)
    saving.stepped(4.0, measured=True)
    saving.saved()
    clock.now += 0.1
    assert saving.due(True)
    assert not saving.due(False)
    assert not saving.due()  # nothing is ready to be trained: there will be another moment soon


@pytest.mark.parametrize("seed", range(5))
def test_every_minibatch_is_saved_within_two_seconds(clock, seed):
    random = np.random.default_rng(seed)
    saving = Saving(clock)
    typical = {False: 2.0 ** random.uniform(-6, 2), True: 2.0 ** random.uniform(-3, 3)}
    for kind, seconds in typical.items():
        saving.stepped(seconds, measured=kind)
    ended: list[float] = []
    for number in range(500):
        measures = number % 17 == 0
        if saving.due(measures):
            clock.now += 0.1  # a commit takes a while
            ended.clear()
            saving.saved()
        seconds = typical[measures] * random.uniform(0.9, 1.1)
        clock.now += seconds
        saving.stepped(seconds, measured=measures)
        assert [then for then in ended if clock.now - then > 2] == []
        ended.append(clock.now)
