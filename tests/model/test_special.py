import numpy as np
import pytest
import scipy.special

from wikitopics.model.kernels import digamma, exp_digamma_first, log_first

X = np.concatenate([np.logspace(-3, 6, 300), np.linspace(0.01, 30, 300)])


def test_digamma():
    np.testing.assert_allclose([digamma(x) for x in X], scipy.special.psi(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_exp_digamma(dtype, rtol):
    x = X.astype(dtype)
    out = np.empty_like(x)
    exp_digamma_first(len(x), x, out)
    expected = np.exp(scipy.special.psi(x.astype(np.float64)))
    np.testing.assert_allclose(out, expected, rtol=rtol, atol=1e-30)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_log(dtype, atol):
    x = X.astype(dtype)
    out = np.empty_like(x)
    log_first(len(x), x, out)
    np.testing.assert_allclose(out, np.log(x.astype(np.float64)), rtol=2e-7, atol=atol)
