"""A session's documents by group and over time, and its pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wikitopics.extra import NOTEBOOK, REPORT
from wikitopics.session.analysis import comparison
from wikitopics.session.analysis.areas import areas, topic_tree
from wikitopics.session.sources import noun
from wikitopics.stored.arguments import check_collection, whole, wrong_type
from wikitopics.stored.opening import SessionFile

if TYPE_CHECKING:
    from pandas import DataFrame

    from wikitopics.session.analysis.groups import Level
    from wikitopics.session.analysis.report.plots import Axes, DrawnTopic


class PictureMethods(SessionFile):
    """What `StoredSession` says about groups of documents, and what it draws.

    Every `plot_…` draws on the matplotlib `Axes` that it is given, and returns it; None makes a new
    figure. They need the extra `report`.
    """

    def by(self, groups: object, *, level: Level = "areas", model: str | None = None) -> DataFrame:
        """What documents are about, by group: a pandas table with a row for each group and area.

        The columns are `group`; `area`, its number; `name`; `share`, the mean proportion of the
        area in the group's documents, each of which counts the same; `standard_error` of this mean,
        NaN for one document; and `documents`, the number of documents of the group that have
        proportions. Groups are sorted, areas are in the order of `areas()`. The shares of a group
        add up to 1 minus what `proportions` does not record. `frame.pivot(index="group",
        columns="name", values="share")` makes a column of each area.

        groups: a column such as ``frame["label"]``, whose index has the documents' ids (of other
            articles, their `page_id`), or a value for each document, in order. Documents without a
            value are left out, with a warning
        level: "topics" for topics instead of areas: those in use and not hidden, the largest first,
            in a column `topic`

        Raises ValueError if there are too few values, or too many.
        """
        if NOTEBOOK.missing():
            raise ValueError(NOTEBOOK.needed("by()"))
        from wikitopics.session.analysis.groups import by_group

        with self._reading(model) as (reader, name):
            return by_group(reader, name, groups, level)

    def over_time(
        self,
        dates: object,
        freq: str | None = None,
        *,
        level: Level = "areas",
        model: str | None = None,
    ) -> DataFrame:
        """What documents are about, over time: the table of `by` with a column `period` instead of
        `group`. Every period from the first to the last has rows, also one without documents.

        dates: for each document, as the groups of `by`: dates, text that `pandas.to_datetime`
            reads, periods, or years as numbers. The period is that of the clock in the date's own
            time zone
        freq: the length of a period, such as "D", "W", "M", "Q" or "Y"; None: the shortest that
            makes at most 40 periods, or that of the periods given

        Raises ValueError for what is no date.
        """
        if NOTEBOOK.missing():
            raise ValueError(NOTEBOOK.needed("over_time()"))
        from wikitopics.session.analysis.groups import over_time

        with self._reading(model) as (reader, name):
            return over_time(reader, name, dates, freq, level)

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
        _check_installed("plot_topics()")
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
        _check_installed("plot_tree()")
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
        _check_installed("plot_heat()")
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
        _check_installed("plot_over_time()")
        from wikitopics.session.analysis.groups import over_time
        from wikitopics.session.analysis.report import plots

        with self._reading(model) as (reader, name):
            frame = over_time(reader, name, dates, freq, level)
            colours = plots.colours_of(reader, name, level)
        return plots.draw_over_time(ax, frame, colours, _most(n, plots.LINES), level)

    def plot_curve(self, ax: Axes | None = None) -> Axes:
        """The perplexity of all models over the articles trained."""
        _check_installed("plot_curve()")
        from wikitopics.session.analysis.report import plots

        with self._open() as reader, reader.one_moment():
            curves = plots.sound_curves(reader)
            called = noun(reader.settings().source)
        return plots.draw_curves(ax, curves, called)

    def plot_compare(self, ax: Axes | None = None) -> Axes:
        """The table of `compare`, such as that of `vary_topics`: how each score goes with the
        number of topics."""
        _check_installed("plot_compare()")
        from wikitopics.session.analysis.report import plots

        with self._open() as reader:
            models = comparison.compare([reader]).by_topics()
        return plots.draw_compared(ax, models)


def _check_installed(method: str) -> None:
    for extra in (REPORT, NOTEBOOK):
        if extra.missing():
            raise ValueError(extra.needed(method))


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
