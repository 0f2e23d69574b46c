"""Digamma, logarithm and related functions, for use inside kernels."""

import math

import numpy as np
from numpy.typing import NDArray

from wikitopics.model._jit import kernel

_F = np.float32


@kernel
def digamma(x: float) -> float:
    """psi(x) for x > 0 in float64, to about 1e-13: recurrence up to 8, then the asymptotic series."""
    shift = 0.0
    while x < 8.0:
        shift += 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    tail = r * (
        1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * (691 / 32760 - r / 12)))))
    )
    return math.log(x) - 0.5 / x - tail - shift


@kernel
def exp_digamma_first(n: int, x: NDArray[np.floating], out: NDArray[np.floating]) -> None:
    """out = exp(psi(x)) for the first n of x > 0; float64 to 1e-13, float32 to 2e-5 relative.

    In float32 it is free of branches, so that it runs on whole vector registers:
    psi(x) = psi(x + 4) - (1/x + 1/(x+1) + 1/(x+2) + 1/(x+3)), where with q = x (x + 3) the four reciprocals
    are (2 x + 3) (2 q + 2) / (q (q + 2)), and exp(psi(y + 1/2)) = y + 1/(24 y) - 37/(5760 y^3) + O(y^-5).
    Below the smallest float32 the result is about 1e-37 instead of 0.
    """
    if x.itemsize == 8:
        for i in range(n):
            out[i] = math.exp(digamma(x[i]))
        return
    for i in range(n):
        v = x[i]
        q = v * (v + _F(3.0))
        four = (v + v + _F(3.0)) * (q + q + _F(2.0)) / (q * (q + _F(2.0)))
        # exp(-four) as the 128th power of a polynomial: -four / 128 stays within [-0.67, 0].
        e = max(-four, _F(-85.0)) * _F(1 / 128)
        p = _F(1 / 40320) + e * _F(1 / 362880)
        p = _F(1 / 5040) + e * p
        p = _F(1 / 720) + e * p
        p = _F(1 / 120) + e * p
        p = _F(1 / 24) + e * p
        p = _F(1 / 6) + e * p
        p = _F(0.5) + e * p
        p = _F(1.0) + e * p
        p = _F(1.0) + e * p
        p *= p
        p *= p
        p *= p
        p *= p
        p *= p
        p *= p
        p *= p
        y = v + _F(3.5)
        z = _F(1.0) / y
        out[i] = p * (y + z * (_F(1 / 24) - z * z * _F(37 / 5760)))


@kernel
def log_first(n: int, x: NDArray[np.floating], out: NDArray[np.floating]) -> None:
    """out = log x for the first n of x > 0; in float32 free of branches, to 1e-6 absolute.

    x = m 2^e with m within a factor of sqrt 2 of 1, and log m = 2 artanh((m - 1) / (m + 1)) by its series.
    Below 1e-30, where x underflows, the log is that of 1e-30.
    """
    if x.itemsize == 8:
        for j in range(n):
            out[j] = math.log(x[j] + 1e-30)
        return
    bits = out.view(np.int32)
    for j in range(n):
        out[j] = max(x[j], _F(1e-30))
        e = (bits[j] - np.int32(0x3F3504F3)) >> np.int32(23)  # 0x3F3504F3: the bits of sqrt(1/2)
        bits[j] -= e << np.int32(23)
        s = (out[j] - _F(1)) / (out[j] + _F(1))
        q = s * s
        series = _F(1 / 7) + q * _F(1 / 9)
        series = _F(1 / 5) + q * series
        series = _F(1 / 3) + q * series
        series = _F(1) + q * series
        out[j] = _F(2) * s * series + _F(e) * _F(0.6931471805599453)
