"""One-line charts."""

from collections.abc import Sequence

import numpy as np

BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = "_.-=+*#@"


def spark(
    values: Sequence[float], width: int, *, ascii_only: bool = False, zero: bool = False, least: float = 0.0
) -> str:
    """The newest of ``values`` (oldest first) as at most ``width`` bars.

    Longer series are averaged into ``width`` equal parts. Bars reach from the smallest to the
    largest value, or from 0 with ``zero``. A range smaller than the share ``least`` of the largest value
    is not blown up: noise looks flat. A missing value (NaN) is a space.
    """
    data = np.asarray(values, dtype=np.float64)
    if width < 1 or not data.size:
        return ""
    if data.size > width:
        starts = np.arange(width) * data.size // width
        known = np.isfinite(data)
        sums = np.add.reduceat(np.where(known, data, 0.0), starts)
        counts = np.add.reduceat(known.astype(np.float64), starts)
        data = np.where(counts > 0, sums / np.maximum(counts, 1.0), np.nan)
    finite = np.isfinite(data)
    if not finite.any():
        return " " * data.size
    low = 0.0 if zero else float(data[finite].min())
    high = float(data[finite].max())
    if not zero and high - low < least * abs(high):
        middle = (low + high) / 2
        low, high = middle - least * abs(high) / 2, middle + least * abs(high) / 2
    bars = ASCII_BARS if ascii_only else BARS
    if high - low <= 1e-12 * max(1.0, abs(high)):
        level = np.where(finite, 0 if high == 0 else 2, 0)
    else:
        level = np.clip((np.where(finite, data, low) - low) / (high - low) * 7.999, 0, 7).astype(np.int64)
    return "".join(bars[k] if ok else " " for k, ok in zip(level, finite, strict=True))


def bar(fraction: float, width: int, *, ascii_only: bool = False) -> str:
    """A horizontal bar of at most ``width`` cells, in eighths of a cell."""
    fraction = min(max(fraction, 0.0), 1.0)
    if ascii_only:
        return "#" * round(fraction * width)
    eighths = round(fraction * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
