"""Checks of the models' arguments; each raises ValueError with one line that names the argument."""

from __future__ import annotations

from typing import Any

import numpy as np


def at_least_one(**sizes: float) -> None:
    for name, size in sizes.items():
        if not 1 <= size < np.inf:
            raise ValueError(f"{name} must be at least 1, not {size}")


def positive(**numbers: Any) -> None:
    for name, number in numbers.items():
        if not _is_positive(number):
            raise ValueError(f"{name} must be a positive number, not {number!r}")


def positive_or_learn(**priors: Any) -> None:
    for name, prior in priors.items():
        if prior != "learn" and not _is_positive(prior):
            raise ValueError(f'{name} must be a positive number or "learn", not {prior!r}')


def step_size(tau0: float, kappa: float, prefix: str = "") -> None:
    """(tau0 + t)^-kappa; `prefix` stands before the names."""
    if not 0 <= tau0 < np.inf:
        raise ValueError(f"{prefix}tau0 must be at least 0, not {tau0}")
    if not 0.5 <= kappa <= 1:
        raise ValueError(f"{prefix}kappa must be within 0.5 and 1, not {kappa}")


def one_of(choices: tuple[str, str], **values: str) -> None:
    for name, value in values.items():
        if value not in choices:
            raise ValueError(f'{name} must be "{choices[0]}" or "{choices[1]}", not {value!r}')


def _is_positive(number: Any) -> bool:
    return isinstance(number, int | float | np.number) and bool(0 < number < np.inf)
