import numpy as np
import pytest
from scipy.special import gammaln

from wikitopics.model.lda_e_step import alpha_step, descend, eta_step
from wikitopics.model.options import LARGEST_PRIOR


def bound(alpha, mean_Elog):
    """Mean over documents of E[log p(theta | alpha)]."""
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ mean_Elog


def test_the_step_solves_the_newton_equation():
    alpha, mean_Elog, h = np.array([0.3, 0.8, 1.5]), np.array([-2.0, -1.5, -0.9]), 1e-4
    eye = h * np.eye(3)
    gradient = np.array([(bound(alpha + e, mean_Elog) - bound(alpha - e, mean_Elog)) / (2 * h) for e in eye])
    hessian = np.array(
        [
            [
                bound(alpha + e + f, mean_Elog)
                - bound(alpha + e - f, mean_Elog)
                - bound(alpha - e + f, mean_Elog)
                + bound(alpha - e - f, mean_Elog)
                for e in eye
            ]
            for f in eye
        ]
    ) / (4 * h * h)
    expected = np.linalg.solve(hessian, gradient)
    np.testing.assert_allclose(alpha_step(alpha, 7, 7 * mean_Elog), expected, rtol=1e-4)


def test_symmetric_step_is_that_of_the_vector():
    vector = alpha_step(np.full(6, 0.3), 4, 4 * np.full(6, -2.5))
    assert eta_step(0.3, 4, 6, 4 * 6 * -2.5) == pytest.approx(vector[0])


def test_one_topic_has_nothing_to_learn_about_proportions():
    assert alpha_step(np.array([0.3]), 7, np.array([0.0])) == 0


def test_parameters_stay_positive():
    np.testing.assert_array_equal(descend(np.array([0.1, 0.2]), 1.0, np.array([5.0, -1.0])), [0.05, 1.2])


def test_parameters_stay_where_a_step_can_be_computed():
    assert descend(1.0, 1.0, -1e300) == LARGEST_PRIOR
    assert np.isfinite(eta_step(LARGEST_PRIOR, 3, 40, -1e12))
