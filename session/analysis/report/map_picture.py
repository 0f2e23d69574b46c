"""The map of articles as a picture: dots, shaded lands, and names that do not overlap.

It needs the extra `report`.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from wikitopics.session.analysis.cartography import OTHER_COLOUR
from wikitopics.session.analysis.map_contents import MapContents
from wikitopics.session.analysis.report.fonts import AS_IT_IS, lettered, one_warning, told
from wikitopics.session.analysis.report.map_page import Colouring
from wikitopics.session.storage.places import WHOLE, Places

SIZE = (14.0, 9.8)
"""The width and height in inches."""
DOTS = 200
"""The pixels of an inch."""
PAPER = "#fbfaf7"
INK = "#23282e"
MOST_DOTS = 500_000
"""The most articles drawn as dots, evenly chosen in the order of reading: so many cover the map."""
MOST_TOPICS = 40
"""The most topics that are named."""
EDGE = 0.02
"""The width of the empty edge, as a part of the map's."""
_GRID = 256
"""The rows and columns of the grid on which the lands are shaded."""
_BLUR = 3.0
"""The deviation, in cells, by which each article is spread."""
_DENSEST = 0.32
"""How strongly the densest land is shaded."""


def picture(of_model: MapContents, colouring: Colouring | None) -> bytes:
    """The map as a PNG; ``colouring``: of all articles, by what to colour instead of areas."""
    file = io.BytesIO()
    drawn(of_model, colouring).savefig(file, format="png", facecolor=PAPER)
    return file.getvalue()


@one_warning()
def drawn(of_model: MapContents, colouring: Colouring | None) -> Figure:
    """The map as a figure of matplotlib."""
    figure = Figure(figsize=SIZE, dpi=DOTS, facecolor=PAPER)
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.94))
    axes.set_axis_off()
    how: dict[str, Any] = {"va": "top", "color": INK, **AS_IT_IS}
    session = told(of_model.session, 80)
    figure.text(0.015, 0.985, session, fontsize=15, weight="bold", **how)
    figure.text(0.985, 0.985, f"{len(of_model):,} {of_model.noun}", ha="right", **how)
    places = of_model.map.places
    colours, of_article = of_model.colours()
    if colouring is not None:
        of_article = colouring.of_article
        colours = [key["colour"] for key in colouring.keys]
        _explain(axes, colouring.keys)
    axes.imshow(
        _shading(places, colours, of_article),
        extent=(-EDGE, 1 + EDGE, -EDGE, 1 + EDGE),
        origin="lower",
        aspect="auto",
        interpolation="bilinear",
        zorder=0,
    )
    size = np.clip(60_000 / max(len(places), 1), 0.8, 24)
    some = slice(None, None, max(1, -(-len(places) // MOST_DOTS)))
    x, y = (places[some] / WHOLE).T
    rgb = np.array([to_rgb(colour) for colour in colours]).reshape(-1, 3)[of_article[some]]
    axes.scatter(x, y, s=size, c=rgb, alpha=0.75, linewidths=0, zorder=1)
    axes.set(xlim=(-EDGE, 1 + EDGE), ylim=(-EDGE, 1 + EDGE))
    _name(axes, canvas.get_renderer(), of_model, plain=colouring is not None)
    return figure


def _explain(axes: Any, keys: Sequence[Mapping[str, str]]) -> None:
    """The legend."""
    handles = []
    for key in keys:
        handles.append(Line2D([], [], marker="o", linestyle="", color=key["colour"], label="key"))
    legend = axes.legend(handles=handles, loc="lower left", frameon=False, fontsize=9)
    for text, key in zip(legend.get_texts(), keys, strict=True):
        text.set(**lettered(key["name"]), color=INK)


def _shading(
    places: Places, colours: Sequence[str], of_article: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """(_GRID, _GRID, 4) the colours of the land, more opaque where there are more articles."""
    from scipy.ndimage import gaussian_filter

    x, y = (((places / WHOLE + EDGE) / (1 + 2 * EDGE)) * _GRID).astype(np.int32).T
    cells = _GRID * y + x
    total = np.zeros((_GRID, _GRID))
    mixed = np.zeros((_GRID, _GRID, 3))
    for number, colour in enumerate(colours):
        counts = np.bincount(cells[of_article == number], minlength=_GRID**2)
        around = gaussian_filter(counts.reshape(_GRID, _GRID).astype(float), _BLUR, mode="constant")
        total += around
        mixed += around[:, :, None] * np.array(to_rgb(colour))
    mixed /= np.maximum(total, 1e-12)[:, :, None]
    usual = total.ravel()[cells].mean() if len(cells) else 1.0
    opacity = _DENSEST * (1 - np.exp(-1.5 * total / usual))
    return np.concatenate([mixed, opacity[:, :, None]], axis=2)


def _name(axes: Any, renderer: Any, of_model: MapContents, *, plain: bool) -> None:
    """Write the names of areas, then those of topics, wherever there is room."""
    names = []
    for area in of_model.named_areas:
        for place in (area.place, *area.others):
            names.append((area.name.upper(), place, area.colour, 15.0))
    for topic in of_model.named_topics[:MOST_TOPICS]:
        names.append((topic.name, topic.place, topic.colour, 9.0))
    taken = np.empty((0, 4))
    legend = axes.get_legend()
    if legend is not None:
        taken = np.array([legend.get_window_extent(renderer).extents])
    for name, place, colour, size in names:
        ink = INK if plain or colour == OTHER_COLOUR else _darker(colour)
        written = lettered(told(name, 60))
        text = axes.text(
            *place,
            written.pop("text"),
            ha="center",
            va="center",
            fontsize=size,
            weight="bold",
            color=ink,
            path_effects=[patheffects.withStroke(linewidth=3, foreground=PAPER, alpha=0.85)],
            zorder=3,
            **written,
        )
        box = _moved_inwards(text, axes, renderer)
        left, bottom, right, top = box.tolist()
        across = (taken[:, 0] < right) & (left < taken[:, 2])
        down = (taken[:, 1] < top) & (bottom < taken[:, 3])
        if (across & down).any():
            text.remove()
            continue
        taken = np.vstack([taken, box])


def _moved_inwards(text: Any, axes: Any, renderer: Any) -> NDArray[np.float64]:
    """The box around a name, in pixels, after the name was moved into the picture."""
    box = text.get_window_extent(renderer).padded(4)
    room = axes.get_window_extent(renderer)
    across = max(room.x0 - box.x0, 0) + min(room.x1 - box.x1, 0)
    up = max(room.y0 - box.y0, 0) + min(room.y1 - box.y1, 0)
    x, y = axes.transData.transform(text.get_position())
    text.set_position(axes.transData.inverted().transform((x + across, y + up)))
    moved: NDArray[np.float64] = box.translated(across, up).extents
    return moved


def _darker(colour: str) -> tuple[float, ...]:
    """The colour, halfway to that of the ink."""
    return tuple((np.array(to_rgb(colour)) + np.array(to_rgb(INK))) / 2)
