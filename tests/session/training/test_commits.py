"""When a run commits: no minibatch waits long for it, however long the next one takes."""

import numpy as np
import pytest

from wikitopics.session.training.run import commit_due


def test_quick_steps_share_a_commit():
    assert [commit_due(0.1001 * steps, 0.1) for steps in range(1, 11)] == [False] * 9 + [True]


def test_a_long_step_is_not_waited_for():
    assert commit_due(0.1, 4.0)
    assert not commit_due(0.1, 0.1)
    assert not commit_due(0.1)  # nothing is ready to be trained: there will be another moment soon


@pytest.mark.parametrize("seed", range(5))
def test_every_minibatch_is_saved_within_two_seconds(seed):
    random = np.random.default_rng(seed)
    typical = {False: 2.0 ** random.uniform(-6, 2), True: 2.0 ** random.uniform(-3, 3)}
    likely, now, saved = dict(typical), 0.0, 0.0
    ended: list[float] = []
    for number in range(500):
        measures = number % 17 == 0
        if commit_due(now - saved, likely[measures]):
            now += 0.1  # a commit takes a while
            ended.clear()
            saved = now
        likely[measures] = typical[measures] * random.uniform(0.9, 1.1)
        now += likely[measures]
        assert [then for then in ended if now - then > 2] == []
        ended.append(now)
