"""One-line charts."""

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, nan

BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = "_.-=+*#@"


def spark(
    values: Sequence[float],
    width: int,
    *,
    ascii_only: bool = False,
    zero: bool = False,
    least: float = 0.0,
    full: float = 0.0,
) -> str:
    """The newest of ``values`` (oldest first) as at most ``width`` bars.

    Longer series are averaged into ``width`` equal parts. Bars reach from the smallest to the
    largest value, or from 0 with ``zero``, then to ``full`` if that is larger. A range smaller than the
    share ``least`` of the largest value is not magnified, so noise looks flat. A missing value (NaN) is a
    space.
    """
    data = _averaged(values, width) if len(values) > width else [float(value) for value in values]
    finite = [value for value in data if isfinite(value)]
    if width < 1 or not finite:
        return " " * min(len(data), max(width, 0))
    low, high = 0.0 if zero else min(finite), max(*finite, full) if zero else max(finite)
    if not zero and high - low < least * abs(high):
        middle = (low + high) / 2
        low, high = middle - least * abs(high) / 2, middle + least * abs(high) / 2
    bars = ASCII_BARS if ascii_only else BARS
    if high - low <= 1e-12 * max(1.0, abs(high)):
        flat = bars[0 if high == 0 else 2]
        return "".join(flat if isfinite(value) else " " for value in data)
    steps = 7.999 / (high - low)
    return "".join(
        bars[min(max(int((value - low) * steps), 0), 7)] if isfinite(value) else " " for value in data
    )


def _averaged(values: Sequence[float], width: int) -> list[float]:
    """``width`` means over equal parts of the known values; NaN if none is known."""
    edges = [part * len(values) // width for part in range(width + 1)] if width > 0 else [0]
    means = []
    for start, end in pairwise(edges):
        known = [float(value) for value in values[start:end] if isfinite(value)]
        means.append(sum(known) / len(known) if known else nan)
    return means


def bar(fraction: float, width: int, *, ascii_only: bool = False) -> str:
    """A horizontal bar of at most ``width`` cells, in eighths of a cell."""
    fraction = min(max(fraction, 0.0), 1.0)
    if ascii_only:
        return "#" * round(fraction * width)
    eighths = round(fraction * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
