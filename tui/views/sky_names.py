"""The names on the map of articles: which areas, topics and articles are named in a window.

Where there is room for them is said by `wikitopics.tui.sky_texts`.
"""

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.records import ArticleRow
from wikitopics.session.storage.typical import typicality
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.sky import Counts, Written
from wikitopics.tui.sky_index import UNITS, Window
from wikitopics.tui.sky_motion import Sky
from wikitopics.tui.sky_texts import are_titled, carried, named, taken_by, titled, topic_names
from wikitopics.tui.views.sky_canvas import AREAS
from wikitopics.tui.views.view import View

FEW_FOUND = 40
"""If no more have been found, their titles are written, however many articles are in sight."""
CELLS_FOR_TOPICS = 4_000
"""Topics' names appear once the whole map has so many cells at the window's zoom."""
GROWN = 1.2
"""Names may move once there are this many times as many articles."""
TITLES_KEPT = 20_000
"""The most titles that are kept in memory."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What names are written for."""

    session: SessionView
    model: str
    sky: Sky
    area_of: NDArray[np.int64]
    """(K,) the area of each topic."""
    window: Window
    size: tuple[int, int]
    """Columns and rows of the sky."""
    sought: str
    found: Sequence[int]
    """The articles found, by number (`seq`)."""

    @property
    def depends_on(self) -> tuple[object, ...]:
        """What names depend on: they are written anew when this changes."""
        return (
            self.of,
            self.window,
            self.size,
            self.growth,
            self.sky.map.layout,
            self.session.topics_of(self.model),
            self.session.atlases.get(self.model),
            self.sought,
            tuple(self.few_found),
        )

    @property
    def few_found(self) -> Sequence[int]:
        """The articles found, if they are so few that their titles are written."""
        return self.found if len(self.found) <= FEW_FOUND else ()

    @property
    def of(self) -> object:
        """The session and the model of the sky."""
        return self.session.status.session, self.model

    @property
    def growth(self) -> int:
        """A number that changes when there are `GROWN` times as many articles."""
        return round(math.log(max(len(self.sky), 1), GROWN))


class SkyNames:
    """The names and titles that are written on a sky."""

    def __init__(self) -> None:
        self.written: Sequence[Written] = ()
        """These, at their places in ``window``."""
        self.window = Window()
        self.size = (0, 0)
        """Columns and rows of the sky in which they are written."""
        self.written_for: object = None
        """What the names that are written, or being made, depend on; None: they are to be made
        anew."""
        self._titled: dict[int, ArticleRow] = {}
        """Articles whose titles have been written, by number (`seq`)."""
        self._centres: tuple[object, NDArray[np.float64]] | None = None

    def forget(self) -> None:
        """Begin again: the articles are those of another session, or of another model."""
        self.written = ()
        self.written_for = None
        self._titled.clear()

    def note(self, articles: Iterable[ArticleRow]) -> None:
        """Note articles whose titles will be written."""
        self._titled.update({row.seq: row for row in articles})

    def in_window(self, window: Window, size: tuple[int, int]) -> Sequence[Written]:
        """The names where a window shows them; none in a sky of another size."""
        if size != self.size:
            return ()
        if window != self.window:
            return carried(self.written, self.window, window, size)
        return self.written

    async def write(self, scene: Scene, view: View) -> None:
        """Write names and titles for a scene. Raises SessionError as `View.ask` does."""
        sky = scene.sky
        lit = sky.find(scene.few_found)
        written, numbers, counts = await asyncio.to_thread(self._heads, scene, lit)
        articles = await self._articles(view, sky.seqs[numbers].tolist())
        if len(numbers):
            if not len(lit):
                typical = [_typicality(row, scene.model) for row in articles]
                typical_first = np.argsort(np.negative(typical), kind="stable")
                numbers = numbers[typical_first]
                articles = [articles[place] for place in typical_first.tolist()]
            taken = taken_by(written, counts)
            texts = ["" if row is None else row.called for row in articles]
            written += titled(sky.places[numbers], texts, scene.window, scene.size, taken, "")
        self.written = written
        self.window = scene.window
        self.size = scene.size

    def _heads(
        self, scene: Scene, lit: NDArray[np.int64]
    ) -> tuple[list[Written], NDArray[np.int64], Counts]:
        """The names of areas and topics, and the articles that have room for their titles; in a
        thread."""
        sky = scene.sky
        area_of = scene.area_of
        size = scene.size
        width, height = size
        rows = scene.session.topics_of(scene.model)
        names = {
            area.number: area.name.upper()
            for area in scene.session.areas_of(scene.model).values()
            if not area.is_other
        }
        counts = Counts.of(sky.articles, area_of, AREAS, scene.window, size)
        centres = self._centred(scene, max(len(area_of), len(rows)))
        shown = [row.topic for row in rows if not row.hidden]
        placed = [topic for topic in shown if np.isfinite(centres[topic]).all()]
        places = np.rint(centres[placed] * (UNITS - 1)).astype(np.uint16)
        taken = np.zeros((height, width), np.bool_)
        written = named(counts, names, places, area_of[placed], taken)
        if scene.sought:
            written = [one._replace(ink="muted") for one in written]
        elif width * height * scene.window.zoom**2 >= CELLS_FOR_TOPICS:
            rows_placed = [rows[topic] for topic in placed]
            written += topic_names(rows_placed, places, counts, written)
        numbers = lit
        if not len(lit) and are_titled(int(counts.dots.sum()), size):
            numbers = sky.articles.within(scene.window).numbers.astype(np.int64)
        return written, numbers, counts

    def _centred(self, scene: Scene, K: int) -> NDArray[np.float64]:
        """(K, 2) where most articles of each topic are, about."""
        made_for = (scene.of, scene.sky.map.layout, scene.growth, K)
        if self._centres is None or self._centres[0] != made_for:
            self._centres = (made_for, scene.sky.map.centres(K))
        _, centres = self._centres
        return centres

    async def _articles(self, view: View, seqs: Sequence[int]) -> Sequence[ArticleRow | None]:
        """The articles with these numbers, as far as they exist."""
        known = {seq: self._titled[seq] for seq in seqs if seq in self._titled}
        missing = [seq for seq in seqs if seq not in known]
        if missing:
            found = await view.ask(lambda reader: reader.numbered(missing), aside=True)
            if len(self._titled) > TITLES_KEPT:
                self._titled.clear()
            self._titled.update(found)
            known.update(found)
        return [known.get(seq) for seq in seqs]


def _typicality(row: ArticleRow | None, model: str) -> float:
    """How typical an article is of its largest topic; 0 if that is not known."""
    largest = None if row is None else row.largest_of(model)
    if row is None or largest is None:
        return 0.0
    _, proportion = largest
    return typicality(proportion, row.words)
