"""A session's pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wikitopics.extra import NOTEBOOK, REPORT
from wikitopics.session.analysis import comparison
from wikitopics.session.analysis.areas import areas, topic_tree
from wikitopics.session.options import PASSES
from wikitopics.session.sources import noun, unit_noun
from wikitopics.stored.arguments import check_collection, whole, wrong_type
from wikitopics.stored.opening import SessionFile

if TYPE_CHECKING:
    from wikitopics.session.analysis.groups import Level
    from wikitopics.session.analysis.report.plots import Axes, DrawnTopic


class PlotMethods(SessionFile):
    """What `StoredSession` draws.

    Every `plot_…` draws on the matplotlib `Axes` that it is given, and returns it; None makes a new
    figure. They need the extra `report`.
    """

    def plot_topics(
        self,
        ax: Axes | None = None,
        *,
        n: int | None = None,
        topics: Iterable[int] | None = None,
        model: str | None = None,
    ) -> Axes:
        """The words of topics as small bar charts.

        n: how many topics, the largest first; None: 20, or all of `topics`
        topics: their numbers, instead of the largest
        """
        _check_drawable("plot_topics()", ax)
        from wikitopics.session.analysis.report import plots

        with self._reading(model) as (reader, name):
            drawn = plots.drawn_topics(reader, name)
        if topics is not None:
            chosen = _chosen(topics, drawn)
            return plots.draw_topics(ax, chosen[: _most(n, len(chosen))], len(chosen))
        return plots.draw_topics(ax, drawn[: _most(n, plots.TOPICS)], len(drawn))

    def plot_tree(
        self, ax: Axes | None = None, *, n: int | None = None, model: str | None = None
    ) -> Axes:
        """The tree of topics, in their areas.

        n: how many topics, the largest first; None: 40
        """
        _check_drawable("plot_tree()", ax)
        from wikitopics.session.analysis.report import plots

        with self._reading(model) as (reader, name):
            drawn = plots.drawn_topics(reader, name)
            tree = topic_tree(reader, name)
            all_areas = areas(reader, name)
        return plots.draw_tree(ax, tree, all_areas, drawn, _most(n, plots.LEAVES))

    def plot_heat(
        self,
        groups: object,
        ax: Axes | None = None,
        *,
        n: int | None = None,
        level: Level = "areas",
        model: str | None = None,
    ) -> Axes:
        """The table of `by` as a heat map: the stronger the colour, the larger the share.

        n: how many areas or topics, the largest first; None: 25
        """
        _check_drawable("plot_heat()", ax)
        from wikitopics.session.analysis.groups import by_group
        from wikitopics.session.analysis.report import plots

        with self._reading(model) as (reader, name):
            frame = by_group(reader, name, groups, level)
            colours = plots.colours_of(reader, name, level)
        return plots.draw_heat(ax, frame, colours, _most(n, plots.ROWS), level)

    def plot_over_time(
        self,
        dates: object,
        ax: Axes | None = None,
        *,
        freq: str | None = None,
        n: int | None = None,
        level: Level = "areas",
        model: str | None = None,
    ) -> Axes:
        """The table of `over_time` as lines, each with a band of two standard errors.

        n: how many areas or topics, the largest first; None: 8
        """
        _check_drawable("plot_over_time()", ax)
        from wikitopics.session.analysis.groups import over_time
        from wikitopics.session.analysis.report import plots

        with self._reading(model) as (reader, name):
            frame = over_time(reader, name, dates, freq, level)
            colours = plots.colours_of(reader, name, level)
        return plots.draw_over_time(ax, frame, colours, _most(n, plots.LINES), level)

    def plot_curve(self, ax: Axes | None = None) -> Axes:
        """The perplexity of all models over the articles trained."""
        _check_drawable("plot_curve()", ax)
        from wikitopics.session.analysis.report import plots

        with self._open() as reader, reader.one_moment():
            curves = plots.sound_curves(reader)
            settings = reader.settings()
        what = noun(settings.source)
        counted = unit_noun(settings.source, settings[PASSES])
        return plots.draw_curves(ax, curves, what, counted)

    def plot_compare(self, ax: Axes | None = None) -> Axes:
        """The table of `compare`, such as that of `vary_topics`: how each score goes with the
        number of topics."""
        _check_drawable("plot_compare()", ax)
        from wikitopics.session.analysis.report import plots

        with self._open() as reader:
            models = comparison.compare([reader]).by_topics()
        return plots.draw_compared(ax, models)


def _check_drawable(method: str, ax: object) -> None:
    """Raise ValueError if what draws is not installed, and TypeError for what is no axes."""
    for extra in (REPORT, NOTEBOOK):
        if extra.missing():
            raise ValueError(extra.needed(method))
    from wikitopics.session.analysis.report.plots import Axes

    if not isinstance(ax, Axes | None):
        raise wrong_type("ax", "the Axes of matplotlib that it is to be drawn on", ax)


def _most(n: int | None, otherwise: int) -> int:
    return otherwise if n is None else whole("n", n, least=1)


def _chosen(topics: Iterable[int], drawn: list[DrawnTopic]) -> list[DrawnTopic]:
    """The topics with these numbers, in this order."""
    check_collection("topics", topics)
    known = {topic.number: topic for topic in drawn}
    numbers = [whole("topics", topic) for topic in topics]
    if not numbers:
        raise wrong_type("topics", "numbers of topics", numbers)
    for number in numbers:
        if number not in known:
            raise ValueError(f"topics: {number} is not in use, or hidden")
    return [known[number] for number in numbers]
