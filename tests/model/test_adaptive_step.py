import numpy as np
import pytest

from model._adaptive_step import BUCKETS, AdaptiveStep, Sketch


def noisy(random, target, noise):
    return target + noise * random.normal(size=target.shape)


def follow(noise, steps=300, target=1.0):
    """Steps from zeros towards noisy views of a target; the step sizes and where it ends."""
    random = np.random.default_rng(0)
    goal = np.full((BUCKETS, 10), target)
    step = AdaptiveStep.of(np.zeros((BUCKETS, 10)))
    sizes = [step.step(noisy(random, goal, noise), 0.3) for _ in range(steps)]
    return sizes, step


def test_without_noise_it_goes_all_the_way():
    sizes, step = follow(noise=0.0)
    assert sizes[:2] == [0.3, 0.3]
    assert sizes[2] > 0.9
    np.testing.assert_allclose(step.N, 1.0, rtol=1e-4)


def test_with_noise_it_averages_and_ends_nearer_than_any_single_view():
    sizes, step = follow(noise=2.0)
    assert np.mean(sizes[-50:]) < 0.05
    assert np.sqrt(np.mean((step.N - 1) ** 2)) < 0.5


def test_it_takes_larger_steps_again_when_the_target_moves():
    random = np.random.default_rng(0)
    goal = np.ones((BUCKETS, 10))
    step = AdaptiveStep.of(np.zeros((BUCKETS, 10)))
    before = [step.step(noisy(random, goal, 1.0), 0.3) for _ in range(100)]
    after = [step.step(noisy(random, -3 * goal, 1.0), 0.3) for _ in range(30)]
    assert max(after) > 3 * before[-1]


def test_sizes_are_within_0_and_1():
    step = AdaptiveStep.of(np.ones((BUCKETS, 3)))
    for _ in range(5):
        assert 0 <= step.step(np.ones((BUCKETS, 3)), 0.5) <= 1


def test_sketches_are_linear_and_keep_lengths():
    random = np.random.default_rng(0)
    sketch = Sketch(5000)
    a, b = random.gamma(0.1, 1.0, (2, 5000, 20))
    np.testing.assert_allclose(sketch.of(2 * a - b), 2 * sketch.of(a) - sketch.of(b), atol=1e-8)
    assert np.sum(sketch.of(a - b) ** 2) == pytest.approx(np.sum((a - b) ** 2), rel=0.1)
    assert set(np.unique(sketch.sign)) == {-1, 1}
    assert np.bincount(sketch.bucket, minlength=BUCKETS).max() < 2 * 5000 / BUCKETS
