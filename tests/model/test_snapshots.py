import numpy as np
import pytest

from model import drift


def test_is_the_share_of_probability_that_moved():
    before = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    after = np.array([[0.5, 0.5, 0.0], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]], dtype=np.float32)
    np.testing.assert_allclose(drift(before, after), [0.0, 0.1, 1.0], atol=1e-7)


def test_refuses_snapshots_of_different_models():
    with pytest.raises(ValueError, match="shapes"):
        drift(np.ones((2, 3)), np.ones((3, 3)))
