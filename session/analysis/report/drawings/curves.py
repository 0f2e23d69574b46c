"""A chart of one metric over the articles read, with a curve for each model."""

from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from wikitopics.session.analysis.report.drawings.plain import INKS, SERIES, figure, plain, series
from wikitopics.session.analysis.report.records import ToldMetric
from wikitopics.session.records import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 420, 250
POINTS = 300
"""The most points of a curve; the chart has no room for more."""
DASHES = ("solid", "dashed", "dotted")
STEEP = 4
"""A curve whose ends differ by more than this factor is drawn on a logarithmic scale."""


def curves(told: ToldMetric, names: dict[int, str]) -> Markup:
    """The chart. ``names``: those of the models, by place."""
    with figure(WIDTH, HEIGHT) as drawn:
        left, below, right, above = 52, 36, 10, 10
        axes = drawn.add_axes(
            (left / WIDTH, below / HEIGHT, 1 - (left + right) / WIDTH, 1 - (below + above) / HEIGHT)
        )
        ends = []
        for place, curve in told.curves:
            articles, values = thinned(curve)
            line = DASHES[place // SERIES % len(DASHES)]
            one = len(values) == 1
            axes.plot(
                articles,
                values,
                color=series(place),
                linewidth=2,
                linestyle=line,
                marker="o" if one else "",
                solid_capstyle="round",
                clip_on=False,
            )
            ends.append(
                f"{names[place]} from {said(values[0])} at {articles[0]:,.0f} articles"
                f" to {said(values[-1])} at {articles[-1]:,.0f}"
            )
        _scales(axes, told)
        return plain(drawn, f"{told.title}: {'; '.join(ends)}")


def thinned(curve: Curve) -> tuple[list[float], list[float]]:
    """The curve's articles and values, thinned to as many as can be seen, evenly over a logarithmic scale."""
    articles, values = curve.articles.astype(float), curve.values
    if len(values) > POINTS:
        wanted = np.geomspace(articles[0], articles[-1], POINTS)
        chosen = np.unique(np.searchsorted(articles, wanted).clip(0, len(values) - 1))
        articles, values = articles[chosen], values[chosen]
    return articles.tolist(), values.tolist()


def said(value: float) -> str:
    """The value with its significant digits: "1,187", "0.213"."""
    size = abs(value)
    told = f"{size:,.0f}" if value == int(value) or size >= 100 else f"{size:.{1 if size >= 10 else 3}f}"
    return f"−{told}" if value < 0 else told


def _scales(axes: "Axes", told: ToldMetric) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    few = high / low < 200
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if few else (1,), numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.set_xlabel("articles trained", fontsize=11, labelpad=5)
    values = np.concatenate([curve.values for _, curve in told.curves])
    if not told.metric.whole and values.min() >= 1 and values.max() > STEEP * values.min():
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 1.5, 2, 3, 5, 7), numticks=12))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=told.metric.whole))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.grid(visible=True, axis="y", linewidth=1)
    axes.tick_params(length=0, pad=5, labelsize=11)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(INKS["grid"])


def short(value: float) -> str:
    """The value as an axis label: "500", "20k", "0.15"."""
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= least:
            return f"{value / unit:.4g}{letter}"
    return (f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}").replace("-", "−")
