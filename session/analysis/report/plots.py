"""Pictures of a session for notebooks and papers, each drawn on the `Axes` that it is given.

None has a title; what it leaves out is said below it. Text has the colour of the axes' own labels,
and pale colours are mixed with the axes' own ground: so it is legible in light and in dark styles.

It needs the extra `report`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes as Axes
from matplotlib.colors import to_rgb
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
)
from matplotlib.transforms import Bbox, TransformedBbox
from numpy.typing import NDArray
from pandas import DataFrame

from wikitopics.model.areas import OTHER
from wikitopics.model.online import IN_USE
from wikitopics.model.relevance import ownership
from wikitopics.session.analysis.areas import Area, Branch, areas, in_drawing_order
from wikitopics.session.analysis.cartography import COLOURS, OTHER_COLOUR
from wikitopics.session.analysis.comparison import ComparedModel
from wikitopics.session.analysis.groups import Level
from wikitopics.session.analysis.report.contents import sound
from wikitopics.session.analysis.report.fonts import AS_IT_IS, one_warning, told
from wikitopics.session.analysis.report.letters import BOLDER, breadth
from wikitopics.session.analysis.report.on_axes import (
    LINE,
    LONGEST,
    MUTED,
    SMALL,
    End,
    ink,
    label_ends,
    largest_of,
    leave_grid,
    leave_note,
    luminance,
    name_ticks,
    new_axes,
    note,
    paper_of,
    percent,
    room_of,
    write,
)
from wikitopics.session.analysis.report.pictures import DASHES, brackets, short
from wikitopics.session.errors import SessionError
from wikitopics.session.records import Curve
from wikitopics.session.storage.reader import SessionReader

TOPICS = 20
LEAVES = 40
ROWS = 25
LINES = 8
"""The most topics of bars and of the tree, rows of the heat map, and lines over time, unless the
user asks for another number."""
GROUPS = 40
"""The most columns of the heat map."""
WORDS = 8
"""The words of each topic."""
PANEL = 150.0
"""The least width of a topic's bars, in points."""
ERRORS = 2
"""How many standard errors a band is wide to either side."""
DATES: Any = date2num(np.array(["0001-01-01", "9999-12-31"], "M8[D]"))
"""The first and the last date that an axis may have."""
DOTTED = 40
"""A line has dots if there are at most so many."""
PALER = 0.75
"""The exponent of a share, as a part of the largest one, in a cell of the heat map: small shares
are to be seen, too."""
SMALLEST = 5.0
"""Smaller letters, in points, are not written on the cells of the heat map."""
PALE = 0.4
"""The opacity of the part of a bar that is not the topic's own."""


@dataclass(frozen=True, slots=True)
class DrawnTopic:
    """A topic in use that is not hidden."""

    number: int
    name: str
    share: float
    colour: str
    words: Sequence[tuple[str, float, float]]
    """The words as they are shown: (word, probability, the topic's share of the word's uses in all
    topics that have it among their leading words)."""


def drawn_topics(reader: SessionReader, model: str) -> list[DrawnTopic]:
    """The topics of a model, the largest first. Raises `SessionError` if there are none yet."""
    with reader.one_moment():
        rows = reader.topics(model)
        newest = reader.newest_words(model)
        colour_of = colours_of(reader, model, "topics")
    if newest is None or not colour_of:
        raise SessionError(f"{model} has no topics yet")
    own = ownership(newest.leading, newest.shares, newest.shown).tolist()
    topics = []
    for row in rows:
        if row.share > IN_USE and not row.hidden:
            colour = colour_of.get(row.topic, OTHER_COLOUR)
            words = [
                (word, probability, part)
                for (word, probability), part in zip(row.shown, own[row.topic], strict=False)
            ]
            topics.append(DrawnTopic(row.topic, row.name, row.share, colour, words))
    if not topics:
        raise SessionError(f"no topic of {model} is in use, or all are hidden")
    return sorted(topics, key=lambda topic: -topic.share)


def colours_of(reader: SessionReader, model: str, level: Level) -> Mapping[int, str]:
    """The colour of each area, or of each topic in use, by number."""
    if level == "areas":
        return dict(enumerate(COLOURS))
    return {topic: COLOURS[area.number] for area in areas(reader, model) for topic in area.topics}


# The words of topics.


@one_warning()
def draw_topics(axes: Axes | None, topics: Sequence[DrawnTopic], number: int) -> Axes:
    """A small bar chart of words for each of the topics; ``number``: of all topics."""
    n = len(topics)
    axes = axes or new_axes(*_size_of_bars(n))
    leave_note(axes)
    note(
        axes,
        "bars: probability, each topic on its own scale; in full colour: the topic's own part of "
        "the word's uses",
        largest_of(n, number, "topics"),
    )
    width, height = room_of(axes)
    columns = int(np.clip(width // PANEL, 1, n))
    rows = -(-n // columns)
    lines = height / rows / (SMALL * LINE)
    n_words = int(np.clip(lines - 2.2, 1, WORDS))
    line = 1 / (n_words + 2.2)
    gap = 14 * columns / width  # between columns
    letter = min(SMALL, height / rows * line / LINE * 1.1)
    axes.set(xlim=(0, columns - gap), ylim=(rows, 0))
    for place, topic in enumerate(topics):
        row, column = divmod(place, columns)
        right = column + 1 - gap
        in_points = (right - column) * width / (columns - gap)
        how: dict[str, Any] = {"fontsize": letter, "va": "center"}
        share = percent(topic.share)
        room_of_name = in_points - (len(share) + 1) * 0.7 * letter
        y = row + 0.75 * line
        write(axes, column, y, topic.name, room_of_name, weight="bold", clip_on=True, **how)
        # If the axes become narrower later, the name ends before the share all the same.
        end_of_name = column + (right - column) * room_of_name / in_points
        box = Bbox.from_extents(column, row, end_of_name, row + 1.3 * line)
        axes.texts[-1].set_clip_box(TransformedBbox(box, axes.transData))
        write(axes, right, y, share, ha="right", **how)
        axes.plot([column, right], [row + 1.3 * line] * 2, color=topic.colour, linewidth=1.5)
        words = sorted(topic.words[:n_words], key=lambda word: -word[1])
        most = max((probability for _, probability, _ in words), default=0) or 1
        for order, (word, probability, part) in enumerate(words):
            y = row + (1.95 + order) * line
            length = 0.8 * (right - column) * probability / most
            bar: dict[str, Any] = {"left": column, "color": topic.colour, "height": 0.8 * line}
            axes.barh(y, length, alpha=PALE, linewidth=0, **bar)
            axes.barh(y, length * part, alpha=PALE, linewidth=0, **bar)
            inside = column + 3 * columns / width
            write(axes, inside, y, word, in_points - 5 * letter, **how)
            write(axes, right, y, percent(probability), ha="right", alpha=MUTED, **how)
    return axes


def _size_of_bars(n: int) -> tuple[float, float]:
    columns = min(n, 5)
    rows = -(-n // columns)
    width = max(2.4 * columns, 3.2)
    lines = rows * (WORDS + 2.6) + 10 / width  # those of the note, too
    return width, 0.2 + lines * SMALL * LINE / 72


# The tree.


@one_warning()
def draw_tree(
    axes: Axes | None,
    tree: Sequence[Branch],
    all_areas: Sequence[Area],
    topics: Sequence[DrawnTopic],
    most: int,
) -> Axes:
    """The tree over the largest of the topics, area by area; ``most``: how many are drawn."""
    topic_of = {topic.number: topic for topic in topics[:most]}
    others = {topic.number for topic in topics[most:]}
    rows: list[DrawnTopic | Area] = []
    of_rows: list[int | None] = []
    left_out: dict[int, int] = {}
    for area, numbers in in_drawing_order(tree, all_areas):
        shown = [topic for topic in numbers if topic in topic_of]
        left_out[area.number] = len(others.intersection(numbers))
        if shown:
            rows += [area, *(topic_of[topic] for topic in shown)]
            of_rows += [None, *shown]
    needed = BOLDER * max((breadth(_label(row, left_out)) for row in rows), default=1.0)
    axes = axes or new_axes(2.6 + needed * SMALL / 72, 0.6 + 0.2 * len(rows))
    leave_note(axes)
    note(
        axes,
        "the farther left two branches meet, the less they have in common",
        largest_of(len(topic_of), len(topics), "topics"),
    )
    width, height = room_of(axes)
    letter = min(SMALL, height / max(len(rows), 1) / 1.2)
    xs, ys = brackets(tree, of_rows)
    highest = max((branch.height for branch in tree), default=0.0) or 1.0
    # The part of the width that the tree has: names have what they need.
    across = float(np.clip(1 - (needed + 2) * letter / width, 0.25, 0.6))
    axes.set(xlim=(1.02 * highest, -highest * (1 - across) / across), ylim=(len(rows) - 0.4, -0.6))
    colour_of = _colours_of_lines(tree, all_areas, of_rows, ink(axes))
    for start, colour in enumerate(colour_of):
        part = slice(4 * start, 4 * start + 3)
        axes.plot(xs[part], ys[part], color=colour, linewidth=1.3, solid_joinstyle="round")
    step = highest / across / width  # a point
    room = (1 - across) * width - 2 * letter
    for row, shown_row in enumerate(rows):
        is_area = isinstance(shown_row, Area)
        label = _label(shown_row, left_out)
        weight = "bold" if is_area else "normal"
        x = -5 * step if is_area else -13 * step
        write(axes, x, row, label, room, weight=weight, fontsize=letter, va="center")
        if not isinstance(shown_row, Area):
            axes.plot(-6 * step, row, "o", color=shown_row.colour, markersize=0.5 * letter)
    return axes


def _label(row: DrawnTopic | Area, left_out: Mapping[int, int]) -> str:
    """The name and share of a topic, or of an area with the number of its topics left out."""
    label = f"{told(row.name, LONGEST)}  {percent(row.share)}"
    if isinstance(row, Area) and left_out[row.number]:
        label += f", {left_out[row.number]:,} more"
    return label


def _colours_of_lines(
    tree: Sequence[Branch], all_areas: Sequence[Area], of_rows: Sequence[int | None], between: Any
) -> list[Any]:
    """The colour of each line of `brackets`: that of the area that has all topics of the line's
    upper end, or the one for lines ``between`` areas."""
    area_of = {topic: area.number for area in all_areas for topic in area.topics}
    shown = {topic for topic in of_rows if topic is not None}
    branch_of = {branch.number: branch for branch in tree}
    colours: list[Any] = []
    for branch in tree:
        if shown.isdisjoint(branch.topics) or branch.parent is None:
            continue
        parent = branch_of[branch.parent]
        numbers = {area_of.get(topic) for topic in parent.topics}
        colour = between
        if len(numbers) == 1:
            (number,) = numbers
            if number is not None:
                colour = COLOURS[number]
        colours.append(colour)
    return colours


# Groups, and time.


@one_warning()
def draw_heat(
    axes: Axes | None, frame: DataFrame, colour_of: Mapping[int, str], most: int, what: str
) -> Axes:
    """The result of `by_group` as a heat map. ``colour_of``: of each area or topic, by number;
    ``most``: how many are drawn; ``what``: "areas" or "topics"."""
    number = frame.columns[1]
    numbers = frame[number].drop_duplicates()
    n_all = len(numbers)
    names = dict(zip(frame[number], frame["name"], strict=True))
    documents = frame.drop_duplicates("group")["documents"].to_numpy()
    names_of_groups = [str(group) for group in frame["group"].drop_duplicates()]
    # The table has the same areas or topics for each group.
    all_shares = frame["share"].to_numpy().reshape(len(documents), n_all)
    largest_groups = np.sort(np.argsort(-documents, kind="stable")[:GROUPS])
    shares = all_shares[largest_groups, :most].T
    order = _diagonal(shares)
    shares = shares[order]
    shown = numbers.iloc[order].tolist()
    n_rows, n_columns = shares.shape
    labels = [
        f"{told(names_of_groups[group], LONGEST)}\n{documents[group]:,}"
        for group in largest_groups.tolist()
    ]
    size: Any = axes.xaxis.label.get_fontsize() if axes else rcParams["axes.labelsize"]
    points = FontProperties(size=size).get_size_in_points()
    longest = points * max(breadth(line) for label in labels for line in label.splitlines())
    if axes is None:
        column = float(np.clip(longest / 72 + 0.1, 0.6, max(min(1.2, 9 / n_columns), 0.6)))
        slanted = 0.7 * longest / 72 if longest / 72 > column else 0.0  # the height of such names
        axes = new_axes(2.2 + max(column * n_columns, 2.5), 1.2 + 0.34 * n_rows + slanted)
    paper = paper_of(axes)
    strength = ((shares / (shares.max() or 1)) ** PALER)[:, :, None]
    colours = np.array([to_rgb(colour_of[number]) for number in shown])[:, None, :]
    cells = paper * (1 - strength) + colours * strength
    axes.imshow(cells, aspect="auto", interpolation="nearest")
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    name_ticks(axes.yaxis, range(n_rows), [told(names[number], LONGEST) for number in shown])
    note(
        axes,
        "mean share in the documents of each group; beside its name, their number",
        largest_of(n_rows, n_all, what),
        largest_of(n_columns, len(documents), "groups"),
    )
    width, height = room_of(axes)
    cell_width = width / n_columns
    if longest > cell_width:
        labels = [label.replace("\n", "  ") for label in labels]
    name_ticks(axes.xaxis, range(n_columns), labels)
    if longest > cell_width:
        for tick_label in axes.get_xticklabels():
            tick_label.set(rotation=45, ha="left", va="bottom", rotation_mode="anchor")
        _, height = room_of(axes)
    letter = min(SMALL, cell_width / 3.2, height / n_rows / 1.3)
    if letter >= SMALLEST:
        _write_shares(axes, shares, cells, letter)
    return axes


def _write_shares(
    axes: Axes, shares: NDArray[np.float64], cells: NDArray[np.float64], letter: float
) -> None:
    """Write the shares, (rows, columns), on cells of these colours."""
    for (row, column), share in np.ndenumerate(shares):
        dark = luminance(cells[row, column]) < 0.5
        axes.text(
            column,
            row,
            percent(share),
            ha="center",
            va="center",
            fontsize=letter,
            color="white" if dark else "black",
        )


def _diagonal(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """The order of rows in which the largest shares lie along the diagonal."""
    peaks = shares.argmax(axis=1)
    order: NDArray[np.int64] = np.lexsort((-shares.max(axis=1), peaks))
    return order


@one_warning()
def draw_over_time(
    axes: Axes | None, frame: DataFrame, colour_of: Mapping[int, str], most: int, what: str
) -> Axes:
    """The result of `over_time` as a line for each area or topic, with a band of two standard
    errors; the parameters are those of `draw_heat`."""
    axes = axes or new_axes(9, 4.8)
    number = frame.columns[1]
    n_all = frame[number].nunique()
    frame = frame[frame["documents"] > 0]
    lines = list(frame.groupby(number, sort=False))[:most]
    first_period = frame["period"].iloc[0]
    half = (first_period.end_time - first_period.start_time) / 2
    ends: list[End] = []
    for number_of_line, line in lines:
        colour = colour_of[number_of_line]
        # Topics of the same area have the same colour.
        n_of_colour = sum(end.colour == colour for end in ends)
        dashes = DASHES[n_of_colour % len(DASHES)]
        middle = line["period"].dt.start_time + half
        x: NDArray[np.float64] = date2num(middle.to_numpy())
        shares = line["share"].to_numpy()
        band = ERRORS * line["standard_error"].to_numpy()
        marker = "o" if len(shares) <= DOTTED else ""
        how: dict[str, Any] = {"color": colour, "linestyle": dashes, "marker": marker}
        axes.plot(x, shares, linewidth=1.8, markersize=3.5, **how)
        low = np.maximum(shares - band, 0)
        high = np.minimum(shares + band, 1)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        name = line["name"].iloc[0]
        ends.append(End(name, float(x[-1]), float(shares[-1]), colour, dashes))
    leave_grid(axes)
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    axes.set_xlim(np.clip(axes.get_xlim(), *DATES))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g}%"))
    locator: Any = AutoDateLocator()
    axes.xaxis_date()
    axes.xaxis.set_major_locator(locator)
    as_dates: Any = ConciseDateFormatter(locator)
    axes.xaxis.set_major_formatter(as_dates)
    note(
        axes,
        f"mean share in documents, by {_unit_of(first_period)}; bands: two standard errors",
        largest_of(len(lines), n_all, what),
    )
    label_ends(axes, ends)
    if axes.xaxis.get_offset_text().get_text():  # such as the year, in the same line as the note
        axes.xaxis.labelpad += SMALL * LINE
    return axes


def _unit_of(period: Any) -> str:
    names = {"Y": "year", "Q": "quarter", "M": "month", "W": "week", "D": "day", "h": "hour"}
    return names.get(period.freqstr.partition("-")[0], "period")


# How well models predict.


def sound_curves(reader: SessionReader) -> dict[str, Curve]:
    """The perplexity of each model, as far as it can be drawn.

    Raises `SessionError` if it has not been measured yet.
    """
    with reader.one_moment():
        names = [status.name for status in reader.model_statuses()]
        curves = {name: sound(reader.curve(name, "perplexity")) for name in names}
    known = {name: curve for name, curve in curves.items() if len(curve.values)}
    if not known:
        raise SessionError("perplexity has not been measured: no articles are held out, or not yet")
    return known


@one_warning()
def draw_curves(axes: Axes | None, curves: Mapping[str, Curve], noun: str, counted: str) -> Axes:
    """The perplexity of each model over the articles that it has trained on. ``counted``: what
    their number counts, such as "document reads"."""
    axes = axes or new_axes(7.5, 4.5)
    ends = []
    for place, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[place % OTHER]
        marker = "o" if len(curve.values) == 1 else ""
        axes.plot(curve.articles, curve.values, color=colour, linewidth=1.8, marker=marker)
        ends.append(End(name, float(curve.articles[-1]), float(curve.values[-1]), colour))
    axes.set(xscale="log", yscale="log")
    leave_grid(axes)
    low, high = axes.get_xlim()
    labelled = (1, 2, 5) if high / low < 200 else (1,)  # of each power of ten
    axes.xaxis.set_major_locator(LogLocator(10, subs=labelled, numticks=12))
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 1.5, 2, 3, 5, 7), numticks=12))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.set_ylabel(f"perplexity of held-out {noun}")
    axes.set_xlabel(f"{counted} trained" if counted == noun else counted)
    if len(ends) > 1:
        label_ends(axes, ends)
    return axes


SCORES = (
    ("log_likelihood", "log-likelihood"),
    ("npmi", "coherence (NPMI)"),
    ("distinct", "distinct words"),
    ("found", "found by other seeds"),
)
"""What `draw_compared` draws of each model."""


@one_warning()
def draw_compared(axes: Axes | None, models: Sequence[ComparedModel]) -> Axes:
    """How each score goes with the number of topics: a small picture of each within the axes."""
    axes = axes or new_axes(8.5, 5)
    leave_note(axes)
    note(axes, "by number of topics; bars: two standard errors of the difference from the best")
    kinds = [(kind, list(some)) for kind, some in groupby(models, key=lambda model: model.kind)]
    width, height = room_of(axes)
    left = 48 / width
    below = 24 / height
    above = 22 / height
    inner_width = 0.5 - left
    inner_height = 0.5 - below - above
    for place, (score, title) in enumerate(SCORES):
        row, column = divmod(place, 2)
        x = 0.5 * column + left
        y = 0.5 * (1 - row) + below
        panel = axes.inset_axes((x, y, inner_width * 0.95, inner_height))
        panel.set_title(title, loc="left", x=-left / inner_width, fontsize=SMALL)
        _draw_score(panel, score, kinds)
        if not panel.containers:
            panel.set(xticks=[], yticks=[])
            panel.text(0.5, 0.5, "not measured", ha="center", transform=panel.transAxes)
        elif place == 0 and len(kinds) > 1:
            legend = panel.legend(frameon=False, fontsize=SMALL, labelcolor=ink(axes))
            for text, (kind, _) in zip(legend.get_texts(), kinds, strict=True):
                text.set(**AS_IT_IS, text=told(kind, LONGEST))
        panel.tick_params(labelsize=SMALL)
    return axes


def _draw_score(
    panel: Axes, score: str, kinds: Sequence[tuple[str, Sequence[ComparedModel]]]
) -> None:
    for place, (_, models) in enumerate(kinds):
        known = [model for model in models if getattr(model, score) is not None]
        if not known:
            continue
        x = [model.topics for model in known]
        y = [getattr(model, score) for model in known]
        errors = None
        if score == "log_likelihood":
            errors = [ERRORS * (model.standard_error or 0) for model in known]
        colour = COLOURS[place % OTHER]
        how: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 4, "capsize": 2}
        panel.errorbar(x, y, errors, linewidth=1.8, label="kind", **how)
    numbers = _apart(sorted({model.topics for _, models in kinds for model in models}))
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(FixedLocator(numbers))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    panel.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))
    leave_grid(panel)


def _apart(numbers: Sequence[int]) -> list[int]:
    """Those of the ascending numbers that can be written under a logarithmic axis."""
    least = (numbers[-1] / numbers[0]) ** (1 / 8)
    chosen = [numbers[0]]
    for number in numbers:
        if number >= chosen[-1] * least and number > chosen[-1]:
            chosen.append(number)
    return chosen
