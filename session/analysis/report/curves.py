"""A chart of one metric over the articles read, with a curve for each model."""

from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from wikitopics.model import Metric
from wikitopics.session.analysis.report.contents import Curves
from wikitopics.session.analysis.report.svg import SERIES, figure, plain, series
from wikitopics.session.records import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 420, 250
LEFT, BELOW, RIGHT, ABOVE = 52, 36, 10, 10
POINTS = 300
"""The most points of a curve; the chart has no room for more."""
DASHES = ("solid", "dashed", "dotted")
STEEP = 4
"""A curve whose ends differ by more than this factor is drawn on a logarithmic scale."""


def chart(metric: Metric, curves: Curves, names: dict[int, str], noun: str) -> Markup:
    """The chart. ``names``: those of the models, by place; ``noun``: what was read, such as "articles"."""
    with figure(WIDTH, HEIGHT) as drawn:
        inside = 1 - (LEFT + RIGHT) / WIDTH, 1 - (BELOW + ABOVE) / HEIGHT
        axes = drawn.add_axes((LEFT / WIDTH, BELOW / HEIGHT, *inside))
        ends = []
        for place, curve in curves.items():
            articles, values = thinned(curve)
            axes.plot(
                articles,
                values,
                color=series(place),
                linewidth=2,
                linestyle=DASHES[place // SERIES % len(DASHES)],
                marker="o" if len(values) == 1 else "",
                solid_capstyle="round",
                clip_on=False,
            )
            ends.append(
                f"{names[place]} from {formatted(values[0])} at {articles[0]:,.0f} {noun}"
                f" to {formatted(values[-1])} at {articles[-1]:,.0f}"
            )
        _scales(axes, metric, noun, np.concatenate([curve.values for curve in curves.values()]))
        return plain(drawn, f"{metric.title}: {'; '.join(ends)}")


def thinned(curve: Curve) -> tuple[list[float], list[float]]:
    """The curve's articles and values, thinned to as many as can be seen, evenly over a logarithmic scale."""
    articles, values = curve.articles.astype(float), curve.values
    if len(values) > POINTS:
        wanted = np.geomspace(articles[0], articles[-1], POINTS)
        chosen = np.unique(np.searchsorted(articles, wanted).clip(0, len(values) - 1))
        articles, values = articles[chosen], values[chosen]
    return articles.tolist(), values.tolist()


def formatted(value: float) -> str:
    """The value with its significant digits: "1,187", "0.213"."""
    size = abs(value)
    text = f"{size:,.0f}" if value == int(value) or size >= 100 else f"{size:.{1 if size >= 10 else 3}f}"
    return f"−{text}" if value < 0 else text


def _scales(axes: "Axes", metric: Metric, noun: str, values: np.ndarray) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if high / low < 200 else (1,), numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(noun if noun == "readings" else f"{noun} trained", labelpad=5)
    if not metric.whole and values.min() >= 1 and values.max() > STEEP * values.min():
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 1.5, 2, 3, 5, 7), numticks=12))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=metric.whole))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.grid(visible=True, axis="y", linewidth=1)


def short(value: float) -> str:
    """The value as an axis label: "500", "20k", "0.15"."""
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= least:
            return f"{value / unit:.4g}{letter}"
    return (f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}").replace("-", "−")
