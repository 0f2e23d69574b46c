"""The report's drawings: curves, the tree of topics, and tiny pictures of each topic.

Importing this loads no matplotlib.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from wikitopics.model import Metric
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.report.letters import cut
from wikitopics.session.sources import READS
from wikitopics.session.wording import LARGEST_IN_FULL, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wikitopics.session.analysis.areas import Branch
    from wikitopics.session.analysis.report.contents import Curves, ReportModel

# Matplotlib's SVG simplified for a page that has its own colours and fonts, and forbids style
# attributes.
#
# A drawing uses inks: colours that each stand for a meaning. Here each ink becomes a class, to
# which the page's style sheet gives a colour for light and for dark. Of the SVG only paths, texts
# and links remain.

SERIES = 6
"""The number of colours for models; with more models, they are used again."""
_INK_NAMES = (
    "ink",
    "muted",
    "grid",
    "paper",
    *(f"series{place}" for place in range(SERIES)),
    *(f"area{number}" for number in range(len(COLOURS))),
)
INKS = {name: f"#0000{place:02x}" for place, name in enumerate(_INK_NAMES, start=1)}
"""The colour drawn for each ink; no reader ever sees these colours."""

_INK_OF_COLOUR = {colour: name for name, colour in INKS.items()}
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_KEPT = {"path": ("d",), "text": ("x", "y", "transform")}
"""The elements that remain, and the attributes that each keeps, besides `_STYLES`."""
_STYLES = (
    "stroke-width",
    "stroke-dasharray",
    "fill-opacity",
    "stroke-opacity",
    "opacity",
    "text-anchor",
)
"""Parts of an element's style that become its attributes."""
_IS_DEFAULT = re.compile(r"start$|rotate\(-?0 ")
"""Values that an attribute has without being written."""
_NUMBER = re.compile(r"-?\d+\.\d+")


def series(place: int) -> str:
    """The ink of the model at this place."""
    return INKS[f"series{place % SERIES}"]


@contextlib.contextmanager
def figure(width: float, height: float) -> "Iterator[Figure]":
    """An empty drawing, in units in which a letter is about 11 high. The user's own matplotlib
    settings do not affect it."""
    import matplotlib.style
    from matplotlib.figure import Figure

    ours: dict[str, object] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "wikitopics",
        "figure.dpi": 72,
        "font.size": 11,
        "text.color": INKS["ink"],
        "text.parse_math": False,
        "axes.labelcolor": INKS["muted"],
        "axes.edgecolor": INKS["grid"],
        "axes.facecolor": "none",
        "grid.color": INKS["grid"],
        **{f"axes.spines.{side}": False for side in ("left", "right", "top")},
    }
    for axis in ("xtick", "ytick"):
        ours |= {f"{axis}.major.size": 0, f"{axis}.major.pad": 5, f"{axis}.color": INKS["muted"]}
    with matplotlib.style.context(["default", ours]), warnings.catch_warnings():
        # Warnings are about letters that its own font lacks; the page has other fonts.
        warnings.simplefilter("ignore")
        yield Figure(figsize=(width / 72, height / 72), dpi=72, frameon=False)


def plain(drawn: "Figure", name: str) -> Markup:
    """The drawing for the page. ``name``: a description for those who cannot see it."""
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    elements = Markup("".join(_plain(root)))
    svg = Markup('<svg viewBox="{}" role="img" aria-label="{}">{}</svg>')
    return svg.format(root.get("viewBox"), name, elements)


def _plain(parent: ElementTree.Element) -> Iterator[str]:
    for element in parent:
        tag = element.tag.removeprefix(_SVG) if isinstance(element.tag, str) else ""
        if tag == "g":
            yield from _plain(element)
        elif tag == "a":
            yield f'<a href="{escape(element.get(_LINK, ""))}" tabindex="-1">'
            yield from _plain(element)
            yield "</a>"
        elif tag == "text":
            yield f"<text{_attributes(element, tag)}>{escape(element.text or '')}</text>"
        elif tag == "path":
            yield f"<path{_attributes(element, tag)}/>"


def _attributes(element: ElementTree.Element, tag: str) -> str:
    style = {}
    for part in element.get("style", "").split(";"):
        if ":" in part:
            key, value = part.strip().split(": ", 1)
            style[key] = value
    fill = _INK_OF_COLOUR.get(style.get("fill", ""))
    stroke = _INK_OF_COLOUR.get(style.get("stroke", ""))
    classes = []
    if fill:
        classes.append(f"f-{fill}")
    if stroke:
        classes.append(f"s-{stroke}")
    attributes = {}
    if classes:
        attributes["class"] = " ".join(classes)
    if not fill:
        attributes["fill"] = "none"
    kept = {key: style.get(key, "") for key in _STYLES}
    kept |= {key: element.get(key, "") for key in _KEPT[tag]}
    for key, value in kept.items():
        if value and not _IS_DEFAULT.match(value):
            attributes[key] = _short(value)
    return "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())


def _short(value: str) -> str:
    """The value rounded to a tenth of a unit, without unnecessary spaces."""
    rounded = _NUMBER.sub(lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), value)
    return re.sub(r"\s*([MLCzZ])\s*", r"\1", rounded).replace("\n", " ")


# Tiny drawings, some for every topic: bare paths, since no library writes them as briefly.

Course = Sequence[tuple[int, float, float]]
"""A topic's share over time: (articles, share, the topic's own part of it)."""


def growth(course: Course, points: int) -> Markup:
    """A topic's share over the articles, with the topic's own part filled."""
    if len(course) < 2:
        return Markup("")
    width = 240
    height = 40
    articles, shares, own = np.array(thin(course, points)).T
    whole = np.log(articles[-1] / articles[0])
    xs = np.log(articles / articles[0]) / whole * width
    largest = shares.max() or 1
    line = _line(xs, (1 - shares / largest) * (height - 2) + 1)
    line_of_own = _line(xs, (1 - own / largest) * (height - 2) + 1)
    return _tiny(width, height, own=f"{line_of_own}V{height}H0z", line=line)


def bars(words: Sequence[tuple[str, float, float]]) -> Markup:
    """One bar per word, one below another: its probability, with the part that is the topic's own
    in dark."""
    most = max(probability for _, probability, _ in words) or 1
    every = ""
    dark = ""
    for row, (_, probability, own) in enumerate(words):
        length = 100 * probability / most
        every += f"M0 {row}.5h{length:.0f}"
        dark += f"M0 {row}.5h{length * own:.0f}"
    return _tiny(100, len(words), all=every, own=dark)


def _tiny(width: int, height: int, **paths: str) -> Markup:
    """A picture of these paths. The name of a parameter is the path's class."""
    path = Markup('<path class="{}" d="{}"/>')
    inside = Markup("").join(path.format(name, line) for name, line in paths.items())
    picture = Markup(
        '<svg viewBox="0 0 {} {}" aria-hidden="true" preserveAspectRatio="none">{}</svg>'
    )
    return picture.format(width, height, inside)


def thin(items: Sequence[Any], most: int) -> Sequence[Any]:
    """At most ``most`` of the items, evenly spaced; the first and the last stay."""
    if len(items) <= most:
        return items
    last = len(items) - 1
    return [items[round(place * last / (most - 1))] for place in range(most)]


def _line(xs: NDArray[np.float64], ys: NDArray[np.float64]) -> str:
    places = zip(xs.round().astype(int).tolist(), ys.round().astype(int).tolist(), strict=True)
    return "M" + " ".join(f"{x} {y}" for x, y in places)


# A chart of one metric over the articles read, with a curve for each model.

WIDTH = 420
HEIGHT = 250
# The room around the axes.
LEFT = 52
RIGHT = 10
ABOVE = 10
BELOW = 36
DASHES = ("solid", "dashed", "dotted")
STEEP = 4
"""Values of 1 and more that differ by more than this factor are drawn on a logarithmic scale."""


MOMENTS = 50
"""The most moments whose values a chart tells: on a phone, one for each seven pixels."""


class Chart(NamedTuple):
    """A chart, and what can be read from it."""

    picture: Markup
    moments: list[tuple[int, str, list[str]]]
    """(place on the x axis, articles, the value of each curve there), at most `MOMENTS`. A curve
    that begins later has an empty text."""


def chart(metric: Metric, curves: "Curves", names: dict[int, str], noun: str) -> Chart:
    """The chart. ``names``: the models' names, by place; ``noun``: what was read, such as
    "articles"."""
    with figure(WIDTH, HEIGHT) as drawn:
        width = 1 - (LEFT + RIGHT) / WIDTH
        height = 1 - (BELOW + ABOVE) / HEIGHT
        axes = drawn.add_axes((LEFT / WIDTH, BELOW / HEIGHT, width, height))
        ends = []
        for place, curve in curves.items():
            articles = curve.articles.tolist()
            values = curve.values.tolist()
            dashes = DASHES[place // SERIES % len(DASHES)]
            axes.plot(
                articles,
                values,
                color=series(place),
                linewidth=2,
                linestyle=dashes,
                marker="o" if len(values) == 1 else "",
                solid_capstyle="round",
                clip_on=False,
            )
            ends.append(
                f"{names[place]} from {formatted(values[0])} at {articles[0]:,.0f} {noun}"
                f" to {formatted(values[-1])} at {articles[-1]:,.0f}"
            )
        all_values = np.concatenate([curve.values for curve in curves.values()])
        _scales(axes, metric, noun, all_values)
        picture = plain(drawn, f"{metric.title}: {'; '.join(ends)}")
        return Chart(picture, _moments(curves, axes.get_xlim()))


def _moments(curves: "Curves", limits: tuple[float, float]) -> list[tuple[int, str, list[str]]]:
    """`Chart.moments`, on an axis with these limits."""
    articles = np.unique(np.concatenate([curve.articles for curve in curves.values()]))
    low, high = np.log(limits)
    parts = (np.log(articles) - low) / (high - low)
    xs = np.rint(LEFT + parts * (WIDTH - LEFT - RIGHT)).astype(int)
    is_last = np.append(xs[1:] > xs[:-1], True)  # of those at the same place
    apart = list(zip(xs[is_last].tolist(), articles[is_last].tolist(), strict=True))
    moments = []
    for x, n_articles in thin(apart, MOMENTS):
        values = []
        for curve in curves.values():
            known = curve.up_to(n_articles).values
            values.append(formatted(known[-1]) if len(known) else "")
        moments.append((x, f"{n_articles:,.0f}", values))
    return moments


def formatted(value: float) -> str:
    """The value with its significant digits: "1,187", "0.213"."""
    is_whole = abs(value) < LARGEST_IN_FULL and value == int(value)
    text = f"{value:,.0f}" if is_whole else measured(value)
    return text.replace("-", "−")


def _scales(axes: "Axes", metric: Metric, noun: str, values: np.ndarray) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    labelled = (1, 2, 5) if high / low < 200 else (1,)  # of each power of ten
    axes.xaxis.set_major_locator(LogLocator(10, subs=labelled, numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(noun if noun == READS else f"{noun} trained", labelpad=5)
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
    text = f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return text.replace("-", "−")


# The whole tree over the topics of one model, in the order of its groups.

LONGEST_IN_TREE = 36
"""The most letters of a name in the tree."""


def topic_tree(model: "ReportModel") -> Markup:
    """One row per topic; the farther left two branches meet, the less they have in common."""
    topics = [topic for _, members in model.groups for topic in members]
    width = 380
    width_of_tree = 130  # the names have the rest
    above = 10
    below = 36
    height = 17 * len(topics) + above + below
    xs, ys = brackets(model.tree, [topic.row.topic for topic in topics])
    with figure(width, height) as drawn:
        inside = 1 - (above + below) / height
        axes = drawn.add_axes((0.01, below / height, width_of_tree / width, inside))
        highest = max(branch.height for branch in model.tree)
        axes.set(xlim=(highest * 1.02, 0), ylim=(len(topics) - 0.5, -0.5))
        axes.set_xlabel("distance")
        axes.locator_params(axis="x", nbins=3)
        axes.yaxis.set_visible(False)
        axes.plot(
            xs,
            ys,
            color=series(model.place),
            linewidth=1.4,
            clip_on=False,
            solid_joinstyle="round",
        )
        for row, topic in enumerate(topics):
            name = f"{cut(topic.row.name, LONGEST_IN_TREE)}  {topic.row.share:.1%}"
            _label(axes, row, 6, "●", f"area{topic.area}", None)
            _label(axes, row, 18, name, "ink", f"#{topic.anchor}")
        return plain(
            drawn,
            f"The tree of {len(topics)} topics of {model.status.name}; its groups are listed too.",
        )


def _label(
    axes: "Axes",
    row: int,
    right: float,
    text: str,
    ink: str,
    url: str | None,
) -> None:
    """Write a text at this distance right of the tree."""
    axes.annotate(
        text,
        (0, row),
        xytext=(right, 0),
        textcoords="offset points",
        va="center_baseline",
        color=INKS[ink],
        annotation_clip=False,
        url=url,
    )


def brackets(
    tree: "Sequence[Branch]", topics: Sequence[int | None]
) -> tuple[list[float], list[float]]:
    """The lines from each branch to the one that it is part of: their heights and rows.

    A branch is at the mean row of those of its topics that have one. ``topics``: that of each row.
    """
    row_of_topic = {topic: row for row, topic in enumerate(topics)}
    shown = {}
    row_of = {}
    for branch in tree:
        rows = [row_of_topic[topic] for topic in branch.topics if topic in row_of_topic]
        if rows:
            shown[branch.number] = branch
            row_of[branch.number] = sum(rows) / len(rows)
    xs: list[float] = []
    ys: list[float] = []
    for branch in shown.values():
        if branch.parent in shown:
            parent = shown[branch.parent]
            row = row_of[branch.number]
            xs += [branch.height, parent.height, parent.height, float("nan")]
            ys += [row, row, row_of[parent.number], float("nan")]
    return xs, ys
