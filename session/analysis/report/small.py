"""Tiny drawings, some for every topic: bare paths, since no library writes them as briefly."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

T = TypeVar("T")
Course = Sequence[tuple[int, float, float]]
"""A topic's share over time: (articles, share, the topic's own part of it)."""
WIDTH, HEIGHT = 240, 40


def growth(course: Course, points: int) -> Markup:
    """A topic's share over the articles, with the part made up by its own words filled."""
    if len(course) < 2:
        return Markup("")
    articles, shares, own = np.array(thin(course, points)).T
    xs = np.log(articles / articles[0]) / np.log(articles[-1] / articles[0]) * WIDTH
    line, filled = (_line(xs, (1 - values / shares.max()) * (HEIGHT - 2) + 1) for values in (shares, own))
    return Markup(
        '<svg viewBox="0 0 {} {}" aria-hidden="true" preserveAspectRatio="none">'
        '<path class="own" d="{}V{}H0z"/><path class="line" d="{}"/></svg>'
    ).format(WIDTH, HEIGHT, filled, HEIGHT, line)


def bars(words: Sequence[tuple[str, float, float]]) -> Markup:
    """One bar per word, one below another: its probability, with the part that is the topic's own in dark."""
    most = max(probability for _, probability, _ in words)
    lengths = [100 * probability / (most or 1) for _, probability, _ in words]
    every = "".join(f"M0 {row}.5h{length:.0f}" for row, length in enumerate(lengths))
    own = "".join(
        f"M0 {row}.5h{length * part:.0f}"
        for row, (length, (_, _, part)) in enumerate(zip(lengths, words, strict=True))
    )
    return Markup(
        '<svg viewBox="0 0 100 {}" aria-hidden="true" preserveAspectRatio="none">'
        '<path class="all" d="{}"/><path class="own" d="{}"/></svg>'
    ).format(len(words), every, own)


def thin(items: Sequence[T], most: int) -> Sequence[T]:
    """At most ``most`` of the items, evenly spaced; the first and the last stay."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def _line(xs: NDArray[np.float64], ys: NDArray[np.float64]) -> str:
    places = zip(xs.round().astype(int).tolist(), ys.round().astype(int).tolist(), strict=True)
    return "M" + " ".join(f"{x} {y}" for x, y in places)
