"""The axes of a line chart: ranges, round values on them, and their labels. Pure."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wikitopics.tui.text import LARGEST_IN_FULL, measured, short

Floats = NDArray[np.float64]


MINUTE = 60
HOUR = 3_600
DAY = 86_400


def _times(sixtieths: Sequence[int], hours: Sequence[int], days: Sequence[int]) -> list[float]:
    """These lengths of time in seconds. Each of ``sixtieths`` is used twice: as a number of seconds
    and as a number of minutes."""
    return [
        *sixtieths,
        *(MINUTE * number for number in sixtieths),
        *(HOUR * number for number in hours),
        *(DAY * number for number in days),
    ]


ROUND_TIMES = _times(
    sixtieths=(1, 2, 5, 10, 15, 30),
    hours=(1, 2, 3, 6, 12),
    days=(1, 2, 5, 10, 20, 50, 100),
)
"""Lengths of time that people count in, in seconds."""
EVEN_TIMES = (
    _times(
        sixtieths=(1, 2, 5, 10, 20, 30),
        hours=(1, 2, 5, 10),
        days=(1, 2, 5, 10, 20, 50, 100),
    ),
    _times(sixtieths=(1, 3, 10, 30), hours=(1, 3, 10), days=(1, 3, 10, 30, 100)),
    _times(sixtieths=(1, 10), hours=(1, 10), days=(1, 10, 100)),
)
"""Choices of lengths of time about equally far apart on a logarithmic axis, from many to few."""
NEAR = 1e-9
"""What rounding may add to a position on an axis, which is 0 to 1, or to a number of steps."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of an axis on its scale, on which equal distances look equal: log10 of the values if
    ``log``, otherwise the values."""

    low: float
    high: float
    log: bool = False

    def position(self, values: Floats) -> Floats:
        """0 at the low end, 1 at the high end; NaN if a value has no place (log of 0)."""
        return (scaled(values, self.log) - self.low) / (self.high - self.low)

    def value(self, position: float) -> float:
        """The value at a position: the inverse of `position`."""
        scaled = self.scaled_value(position)
        return 10.0**scaled if self.log else scaled

    def scaled_value(self, position: float) -> float:
        """The value at a position, on the axis's scale."""
        return self.low + position * (self.high - self.low)

    def holds(self, value: float) -> bool:
        """Whether a positive value of a logarithmic axis is in its range."""
        return self.low - NEAR <= math.log10(value) <= self.high + NEAR

    def linear(self) -> "Axis":
        """The linear axis with the same range as this logarithmic one."""
        return Axis(10.0**self.low, 10.0**self.high)


DECADES = 250
"""An axis holds values up to ten to this power: ranges, margins and labels beyond would be no
floats."""


def scaled(values: Floats, log: bool) -> Floats:
    """Values on the scale of an axis; values that the axis cannot hold become NaN."""
    values = np.asarray(values, dtype=np.float64)
    if not log:
        return np.where(np.abs(values) < 10.0**DECADES, values, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log10(values)
    return np.where(np.abs(out) < DECADES, out, np.nan)


def fitted(values: Floats, log: bool, margin: float = 0.0) -> Axis:
    """An axis around all finite ``values``, which are on its scale, widened by ``margin`` of its
    range.

    It reaches below 0 only if one of them does.
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Axis(0.0, 1.0, log)
    low = float(finite.min())
    high = float(finite.max())
    if high - low >= 1e-12 * max(1.0, abs(high)):
        pad = margin * (high - low)
    else:  # it is a single value
        pad = 0.15 if log else 0.5 * max(abs(high), 1.0)
    bottom = low - pad
    if not log and low >= 0:
        bottom = max(bottom, 0.0)
    return Axis(bottom, high + pad, log)


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
    elif axis.log:
        values = _log_ticks(axis, most)
    else:
        values = _linear_ticks(axis, most)
    positions = axis.position(np.array(values, np.float64)).tolist()
    placed = zip(positions, values, strict=True)
    return [(position, label(value)) for position, value in placed if -NEAR <= position <= 1 + NEAR]


def _time_ticks(axis: Axis, most: int) -> list[float]:
    if axis.log:
        for choice in EVEN_TIMES:
            times = [time for time in choice if axis.holds(time)]
            if len(times) <= most:
                break
        if len(times) > 2:
            return times[-most:]
        # A short stretch looks linear.
        return [time for time in _time_ticks(axis.linear(), most) if time > 0]
    raw_step = (axis.high - axis.low) / most
    if raw_step < 1:
        return _linear_ticks(axis, most)
    for step in ROUND_TIMES:
        if step >= raw_step:
            return _multiples(axis, step)
    return _multiples(axis, DAY * _round_up(raw_step / DAY))


def _linear_ticks(axis: Axis, most: int) -> list[float]:
    return _multiples(axis, _round_up((axis.high - axis.low) / most))


def _multiples(axis: Axis, step: float) -> list[float]:
    """The multiples of ``step`` in the range of a linear axis."""
    first = math.ceil(axis.low / step - NEAR)
    last = math.floor(axis.high / step + NEAR)
    return [number * step for number in range(first, last + 1)]


def _log_ticks(axis: Axis, most: int) -> list[float]:
    if axis.high - axis.low < 0.5:
        # Less than half a decade looks linear, so round numbers suit it better than powers of ten.
        return [value for value in _linear_ticks(axis.linear(), most) if value > 0]
    exponents = range(math.floor(axis.low), math.ceil(axis.high) + 1)
    for mantissas in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
        inside: list[float] = []
        for exponent in exponents:
            values = [mantissa * 10.0**exponent for mantissa in mantissas]
            inside += [value for value in values if axis.holds(value)]
        if len(inside) <= most:
            return inside
    # Even the powers of ten alone are too many.
    return every_nth(inside, math.ceil(len(inside) / most))


T = TypeVar("T")


def every_nth(items: Sequence[T], n: int) -> list[T]:
    """One of every ``n`` in a row, the last one always among them."""
    first = (len(items) - 1) % n
    return [*items[first::n]]


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
    if not abs(seconds) < LARGEST_IN_FULL:  # this way round, it holds for NaN, too
        return short(seconds) + "s"
    if seconds >= DAY:
        days, hours = divmod(round(seconds / HOUR), 24)
        return f"{days}d{hours:02d}h" if hours else f"{days}d"
    if seconds >= HOUR:
        hours, minutes = divmod(round(seconds / MINUTE), 60)
        return f"{hours}h{minutes:02d}" if minutes else f"{hours}h"
    if seconds >= MINUTE:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}m{rest:02d}" if rest else f"{minutes}m"
    return f"{seconds:.1f}".removesuffix(".0") + "s"


def plain(value: float) -> str:
    """Axis labels of values: whole numbers up to 9,999 in full, otherwise shortened."""
    if value == 0:
        return "0"
    if not abs(value) < 10_000:  # NaN, too
        return short(value)
    if value == round(value):
        return f"{value:,.0f}"
    return measured(value).rstrip("0").rstrip(".")
