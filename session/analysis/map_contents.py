"""The map of articles with what is told of each: what its page, table, frame and picture show."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.areas import OTHER
from wikitopics.model.lands import COAST, REACH, SEA, cells_of, islands, land_of, named_islands
from wikitopics.session.analysis.areas import Area, atlas
from wikitopics.session.analysis.article_map import ArticleMap, article_map
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.origin import addresses, licence_of
from wikitopics.session.analysis.report import map_page
from wikitopics.session.analysis.report.growth import growth_svg
from wikitopics.session.analysis.report.parts import LARGEST
from wikitopics.session.errors import Damaged
from wikitopics.session.records import SHOWN_WORDS, ArticleRow, TopicRow
from wikitopics.session.settings import Settings
from wikitopics.session.sources import noun
from wikitopics.session.storage.articles import typicality
from wikitopics.session.storage.places import WHOLE
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import called

SECOND = 0.1
"""The least proportion of an article's second topic that is told."""
DIGITS = 5
"""The number of digits after the point of a coordinate: more than are stored."""
_LAND = (72, 96)
"""The rows and columns of the grid on which the lands of areas are found."""
LAND = 0.7
"""How many articles an area needs in a square to be land, as a part of the mean over all squares:
its name is to be where its articles are dense."""
_AT_ONCE = 500
"""The number of rows of the table that are made together."""

Columns = tuple[list[int], list[str], list[float], list[float], list[int], list[int | None]]
"""page_id, title, x and y from 0 to 1, topic, and area: None for a topic that is not in use."""


@dataclass(frozen=True, eq=False)
class MapContents:
    """The articles of one model on the map, in the order of reading."""

    session: str
    """The session's name."""
    several: bool
    """Whether the session has other models, too."""
    settings: Settings
    map: ArticleMap
    page_ids: NDArray[np.int64]
    """(n,)"""
    titles: Sequence[str]
    revisions: Sequence[int]
    ids: Sequence[str | None]
    """Their ids in their own collection."""
    snippets: Sequence[str | None] | None
    """The beginnings of their texts; None: these are not shown."""
    typical: NDArray[np.float32]
    """(n,) see `typicality`"""
    second: NDArray[np.int64]
    """(n,) each article's second topic; -1 for one that is only about its largest."""
    topics: Sequence[TopicRow]
    """All topics, by number."""
    areas: Sequence[Area]
    """The largest first, and "other" last."""

    def __len__(self) -> int:
        return len(self.titles)

    @property
    def noun(self) -> str:
        """What the articles are called."""
        return noun(self.settings.source)

    @cached_property
    def addresses(self) -> Sequence[str | None]:
        """The address of each article; None where none is known."""
        address_of = addresses(self.settings)
        found = []
        articles = zip(self.page_ids.tolist(), self.titles, self.revisions, strict=True)
        for page_id, title, revision in articles:
            found.append(address_of(ArticleRow(1, page_id, title, revision, 0, "trained")))
        return found

    def columns(self, start: int = 0, stop: int | None = None) -> Columns:
        """Some rows of the table, by column."""
        rows = slice(start, stop)
        coordinates = np.round(self.map.places[rows] / WHOLE, DIGITS)
        numbers = self.map.topics[rows].tolist()
        return (
            self.page_ids[rows].tolist(),
            list(self.titles[rows]),
            coordinates[:, 0].tolist(),
            coordinates[:, 1].tolist(),
            numbers,
            [self.area_of.get(number) for number in numbers],
        )

    def batches(self, *, with_ids: bool) -> Iterator[Sequence[Sequence[object]]]:
        """All rows of the table, some at a time; ``with_ids``: with a column of ids. Snippets, if
        they are shown, are the last column."""
        for start in range(0, len(self), _AT_ONCE):
            stop = start + _AT_ONCE
            columns: list[Sequence[object]] = [*self.columns(start, stop)]
            if with_ids:
                columns.append(self.ids[start:stop])
            if self.snippets is not None:
                columns.append(self.snippets[start:stop])
            yield columns

    def page(
        self,
        largest: int = LARGEST,
        labels: Sequence[str] | None = None,
        scale: Sequence[str] = (),
    ) -> str:
        """The map as a page of at most so many bytes; ``labels`` and ``scale``: see
        `map_page.Articles`."""
        # -1 chooses the last index, which no topic has.
        indices = np.full(len(self.topics) + 1, -1)
        indices[self._drawn] = np.arange(len(self._drawn))
        snippets = self.snippets or [None] * len(self)
        articles = map_page.Articles(
            self.map.places,
            indices[np.column_stack([self.map.topics, self.second])],
            list(map(called, self.titles, snippets)),
            self.addresses if any(self.addresses) else None,
            self.snippets,
            typical=self.typical,
            labels=labels,
            scale=scale,
        )
        return map_page.map_page(
            self._heading,
            articles,
            [self._topic(number) for number in self._drawn],
            self._named_areas,
            noun=self.noun,
            credit=self._credit,
            largest=largest,
        )

    def growth(self) -> str:
        """The growth of the map as an animated SVG."""
        index_of = np.full(len(self.topics), -1)
        named = (area for area in self.areas if not area.is_other)
        for index, area in enumerate(named):
            index_of[list(area.topics)] = index
        return growth_svg(
            self._heading,
            self.map.places,
            index_of[self.map.topics],
            self._named_areas,
            noun=self.noun,
            credit=self._credit,
        )

    @property
    def _heading(self) -> str:
        return f"{self.session}: {self.map.model}" if self.several else self.session

    @property
    def _credit(self) -> str:
        licence = licence_of(self.settings)
        return "" if licence is None else f"{licence.text[0].upper()}{licence.text[1:]}."

    def colours(self) -> NDArray[np.str_]:
        """(n,) the colour of each article."""
        of_topic = [_colour(self.area_of.get(topic.topic)) for topic in self.topics]
        return np.array(of_topic)[self.map.topics]

    @cached_property
    def area_of(self) -> Mapping[int, int]:
        """The number of the area of each topic in use, by the topic's number."""
        return {topic: area.number for area in self.areas for topic in area.topics}

    @cached_property
    def _drawn(self) -> list[int]:
        """The topics that are named on the map."""
        return [
            topic.topic for topic in self.topics if topic.topic in self.area_of and not topic.hidden
        ]

    @cached_property
    def _centres(self) -> NDArray[np.float64]:
        """(K, 2) where the articles of each topic are; the middle, if there are none."""
        return np.nan_to_num(self.map.centres(len(self.topics)), nan=0.5)

    def _topic(self, number: int) -> map_page.Topic:
        topic = self.topics[number]
        named = [area.number for area in self.areas if not area.is_other]
        area = self.area_of.get(number)
        index = named.index(area) if area in named else -1
        words = [word for word, _ in topic.shown[:SHOWN_WORDS]]
        x, y = self._centres[number].tolist()
        return map_page.Topic(topic.name, words, index, (x, y), _colour(area))

    @cached_property
    def named_topics(self) -> Sequence[map_page.Topic]:
        """The topics with a name on the map, those of most articles first."""
        counts = np.bincount(self.map.topics, minlength=len(self.topics))
        numbers = sorted(self._drawn, key=lambda number: -counts[number])
        return [self._topic(number) for number in numbers if counts[number]]

    @cached_property
    def _named_areas(self) -> Sequence[map_page.Area]:
        """The areas, with their names on their islands: the first on the largest."""
        places_of = self._places_of_names()
        middle = [(0.5, 0.5)]
        named = []
        for area in self.areas:
            if not area.is_other:
                places = places_of.get(area.number, middle)
                named.append(map_page.Area(area.name, places[0], _colour(area.number), places[1:]))
        return named

    @property
    def named_areas(self) -> Sequence[map_page.Area]:
        """The areas that have articles, the largest first."""
        used = set(self.map.topics.tolist())
        pairs = zip(
            (area for area in self.areas if not area.is_other), self._named_areas, strict=True
        )
        return [named for area, named in pairs if not used.isdisjoint(area.topics)]

    def _places_of_names(self) -> dict[int, list[tuple[float, float]]]:
        """By area, the middle of its largest island, and of each other one of several topics."""
        area_of = np.full(len(self.topics), SEA)
        for area in self.areas:
            if not area.is_other:
                area_of[list(area.topics)] = area.number
        areas_of_articles = area_of[self.map.topics]
        in_areas = areas_of_articles != SEA
        places = self.map.places[in_areas] / WHOLE
        mean = len(places) / math.prod(_LAND)
        coast = max(COAST, LAND * mean * math.tau * REACH**2)
        land = land_of(places, areas_of_articles[in_areas], _LAND, coast=coast)
        topics = np.flatnonzero(area_of != SEA)
        cells = cells_of(self._centres[topics], _LAND)
        found: dict[int, list[tuple[float, float]]] = {}
        for island in named_islands(islands(land, cells, area_of[topics])):
            middle = ((island.column + 0.5) / _LAND[1], 1 - (island.row + 0.5) / _LAND[0])
            found.setdefault(island.area, []).append(middle)
        return found


def map_contents(reader: SessionReader, model: str, *, snippets: bool = False) -> MapContents:
    """The map of a model; ``snippets``: with the beginnings of texts, if the session keeps any.

    Raises `SessionError` if the session has no map of articles.
    """
    with reader.one_moment():
        placed = article_map(reader, model)
        settings = reader.settings()
        topic_map = atlas(reader, model)
        page_ids, titles, revisions, ids, typical = _articles(reader, placed)
        return MapContents(
            session=reader.path.stem,
            several=len(reader.models()) > 1,
            settings=settings,
            map=placed,
            page_ids=page_ids,
            titles=titles,
            revisions=revisions,
            ids=ids,
            snippets=_snippets(reader, placed) if snippets else None,
            typical=typical,
            second=_second_topics(reader, placed),
            topics=reader.topics(model, SHOWN_WORDS),
            areas=topic_map.areas if topic_map else (),
        )


def _colour(area: int | None) -> str:
    """The colour of an area; grey for none."""
    return COLOURS[OTHER if area is None else area]


def _articles(
    reader: SessionReader, placed: ArticleMap
) -> tuple[NDArray[np.int64], list[str], list[int], list[str | None], NDArray[np.float32]]:
    """(page ids, titles, revisions, ids, how typical they are) of the articles on the map."""
    page_ids: list[int] = []
    titles: list[str] = []
    revisions: list[int] = []
    ids: list[str | None] = []
    typical: list[float] = []
    place = reader.models().index(placed.model)
    for columns in reader.all_articles(trained_only=False):
        seqs = np.array(columns[0], np.int64)
        first, last = np.searchsorted(placed.seqs, (seqs[0], seqs[-1] + 1))
        wanted = placed.seqs[first:last]
        rows = np.searchsorted(seqs, wanted)
        if not np.array_equal(seqs[rows], wanted):
            raise Damaged("places and articles do not match")
        for row in rows.tolist():
            _, page_id, title, revision, words, _, _, shares, id = (
                column[row] for column in columns
            )
            page_ids.append(page_id)
            titles.append(title)
            revisions.append(revision)
            ids.append(id)
            typical.append(typicality(shares[place], words) if shares else 0.0)
    if len(titles) != len(placed.seqs):
        raise Damaged("places and articles do not match")
    return np.array(page_ids, np.int64), titles, revisions, ids, np.array(typical, np.float32)


def _snippets(reader: SessionReader, placed: ArticleMap) -> list[str | None] | None:
    """The beginnings of the texts of the articles on the map; None if the session keeps none."""
    if not reader.has_snippets():
        return None
    found: list[str | None] = [None] * len(placed.seqs)
    row_of = {seq: row for row, seq in enumerate(placed.seqs.tolist())}
    for seq, snippet in reader.each_snippet():
        row = row_of.get(seq)
        if row is not None:
            found[row] = snippet
    return found


def _second_topics(reader: SessionReader, placed: ArticleMap) -> NDArray[np.int64]:
    """(n,) the largest topic of each article besides that of the map; -1 for none."""
    recorded = reader.recorded_articles(held_out=True)
    proportions = reader.proportions(placed.model, held_out=True)
    seqs = recorded.seqs(np.arange(len(proportions)))
    rows = np.minimum(np.searchsorted(seqs, placed.seqs), len(seqs) - 1)
    if not np.array_equal(seqs[rows], placed.seqs):
        raise Damaged("places and blocks do not match")
    lengths = np.diff(proportions.indptr())
    owners = np.repeat(np.arange(len(proportions)), lengths)
    values = proportions.values()
    largest = np.full(len(proportions), -1)
    largest[rows] = placed.topics
    others = np.flatnonzero((values >= SECOND) & (proportions.topics != largest[owners]))
    # Of several numbers for one article, the last one stays: the largest.
    others = others[np.argsort(values[others], kind="stable")]
    second = np.full(len(proportions), -1)
    second[owners[others]] = proportions.topics[others]
    return second[rows]
