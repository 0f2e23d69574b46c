"""The axes of a line chart: ranges, round values on them, and their labels. Pure."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.text import LARGEST_IN_FULL, measured, short

Floats = NDArray[np.float64]


def _times(minute: Sequence[int], hours: Sequence[int], days: Sequence[int]) -> list[float]:
    """These lengths of time in seconds; ``minute``: numbers both of seconds and of minutes."""
    return [
        *minute,
        *(60 * n for n in minute),
        *(3_600 * n for n in hours),
        *(86_400 * n for n in days),
    ]


ROUND_TIMES = _times((1, 2, 5, 10, 15, 30), (1, 2, 3, 6, 12), (1, 2, 5, 10, 20, 50, 100))
"""Lengths of time that people count in, in seconds."""
EVEN_TIMES = (
    _times((1, 2, 5, 10, 20, 30), (1, 2, 5, 10), (1, 2, 5, 10, 20, 50, 100)),
    _times((1, 3, 10, 30), (1, 3, 10), (1, 3, 10, 30, 100)),
    _times((1, 10), (1, 10), (1, 10, 100)),
)
"""Choices of lengths of time about equally far apart on a logarithmic axis, from many to few."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A range in the axis's own space: log10 of the values if ``log``, otherwise the values."""

    low: float
    high: float
    log: bool = False

    def position(self, values: Floats) -> Floats:
        """0 at the low end, 1 at the high end; NaN if a value has no place (log of 0)."""
        return (own_space(values, self.log) - self.low) / (self.high - self.low)

    def value(self, position: float) -> float:
        """The value at a position: the inverse of `position`."""
        own = self.own(position)
        return 10.0**own if self.log else own

    def own(self, position: float) -> float:
        """The same in the axis's own space."""
        return self.low + position * (self.high - self.low)


DECADES = 250
"""An axis holds values up to ten to this power: ranges, margins and labels beyond would be no
floats."""


def own_space(values: Floats, log: bool) -> Floats:
    """Values in the axis's own space; values that the axis cannot hold become NaN."""
    values = np.asarray(values, dtype=np.float64)
    if not log:
        return np.where(np.abs(values) < 10.0**DECADES, values, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log10(values)
    return np.where(np.abs(out) < DECADES, out, np.nan)


def fitted(own: Floats, log: bool, margin: float = 0.0) -> Axis:
    """An axis around all finite numbers of ``own`` (in own space), widened by ``margin`` of its
    range.

    It reaches below 0 only if one of them does.
    """
    finite = own[np.isfinite(own)]
    if not finite.size:
        return Axis(0.0, 1.0, log)
    low, high = float(finite.min()), float(finite.max())
    pad = margin * (high - low)
    if high - low < 1e-12 * max(1.0, abs(high)):
        pad = 0.15 if log else 0.5 * max(abs(high), 1.0)
    return Axis(low - pad if log or low < 0 else max(low - pad, 0.0), high + pad, log)


def ticks(
    axis: Axis,
    most: int,
    label: Callable[[float], str],
    *,
    time: bool = False,
) -> list[tuple[float, str]]:
    """At most ``most`` round values as (position, label), low to high. With ``time``, the values
    are in seconds and round in minutes, hours or days."""
    if most < 1:
        return []
    if time:
        values = _time_ticks(axis, most)
    else:
        values = _log_ticks(axis, most) if axis.log else _linear_ticks(axis, most)
    positions = axis.position(np.array(values, np.float64)).tolist()
    placed = zip(positions, values, strict=True)
    return [(at, label(value)) for at, value in placed if -1e-9 <= at <= 1 + 1e-9]


def _time_ticks(axis: Axis, most: int) -> list[float]:
    if axis.log:
        for times in EVEN_TIMES:
            inside = [t for t in times if axis.low - 1e-9 <= math.log10(t) <= axis.high + 1e-9]
            if len(inside) <= most:
                break
        if len(inside) > 2:
            return inside[-most:]
        # A short stretch looks linear.
        return [t for t in _time_ticks(Axis(10.0**axis.low, 10.0**axis.high), most) if t > 0]
    raw = (axis.high - axis.low) / most
    step = next((t for t in ROUND_TIMES if t >= raw), 86_400 * _round_up(raw / 86_400))
    return _linear_ticks(axis, most, step if raw >= 1 else None)


def _linear_ticks(axis: Axis, most: int, step: float | None = None) -> list[float]:
    step = step or _round_up((axis.high - axis.low) / most)
    first = math.ceil(axis.low / step - 1e-9)
    last = math.floor(axis.high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(axis: Axis, most: int) -> list[float]:
    if axis.high - axis.low < 0.5:
        # Less than half a decade looks linear, so round numbers suit it better than powers of ten.
        low, high = 10.0**axis.low, 10.0**axis.high
        return [value for value in _linear_ticks(Axis(low, high), most) if value > 0]
    low, high = math.floor(axis.low), math.ceil(axis.high)
    for mantissas in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        values = [m * 10.0**e for e in range(low, high + 1) for m in mantissas]
        inside = [v for v in values if axis.low - 1e-9 <= math.log10(v) <= axis.high + 1e-9]
        if len(inside) <= most:
            return inside
    stride = -(-len(inside) // most)
    return inside[::-1][::stride][::-1]


def _round_up(raw: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 times a power of ten."""
    power: float = 10.0 ** math.floor(math.log10(raw))
    for mantissa in (1.0, 2.0, 2.5, 5.0):
        if raw <= mantissa * power * (1 + 1e-9):
            return mantissa * power
    return 10.0 * power


def ago(seconds: float) -> str:
    """Axis labels of time before now: -90 -> "1m30", 0 -> "now"."""
    return duration(-seconds) if seconds < -0.5 else "now"


def duration(seconds: float) -> str:
    """Axis labels of time: 40 -> "40s", 5400 -> "1h30", 129600 -> "1d12h"."""
    if not abs(seconds) < LARGEST_IN_FULL:
        return short(seconds) + "s"
    for limit, unit, part, of_part in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, ""),
        (60, "m", 1, ""),
    ):
        if seconds >= limit:
            whole, rest = divmod(round(seconds / part), limit // part)
            return f"{whole}{unit}" + (f"{rest:02d}{of_part}" if rest else "")
    return f"{seconds:.1f}".removesuffix(".0") + "s"


def plain(value: float) -> str:
    """Axis labels of values: whole numbers up to 9,999 in full, otherwise shortened."""
    if value == 0:
        return "0"
    if not abs(value) < 10_000:
        return short(value)
    return f"{value:,.0f}" if value == round(value) else measured(value).rstrip("0").rstrip(".")
