"""The map of articles with what is told of each: what its page, table, frame and picture show."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.lands import COAST, REACH, SEA, cells_of, islands, land_of, named_islands
from wikitopics.session.advance import Advance, unseen
from wikitopics.session.analysis.areas import Area, atlas
from wikitopics.session.analysis.article_map import ArticleMap, article_map
from wikitopics.session.analysis.cartography import COLOURS, OTHER_COLOUR
from wikitopics.session.analysis.origin import addresses, licence_of
from wikitopics.session.analysis.report import map_page
from wikitopics.session.analysis.report.growth import growth_svg
from wikitopics.session.analysis.report.parts import LARGEST
from wikitopics.session.records import SHOWN_WORDS, ArticleRow, TopicRow
from wikitopics.session.settings import Settings
from wikitopics.session.sources import noun
from wikitopics.session.storage.places import WHOLE
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.typical import typicality
from wikitopics.session.wording import called

DIGITS = 5
"""The number of digits after the point of a coordinate: more than are stored."""
_LAND = (72, 96)
"""The rows and columns of the grid on which the lands of areas are found."""
LAND = 0.7
"""How many articles an area needs in a square to be land, as a part of the mean over all squares:
its name is to be where its articles are dense."""

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
    rows: NDArray[np.int64]
    """(m,) those articles of the map about which the following is known"""
    page_ids: NDArray[np.int64]
    """(m,)"""
    titles: Sequence[str]
    revisions: Sequence[int]
    ids: Sequence[str | None]
    """Their ids in their own collection."""
    snippets: Sequence[str | None] | None
    """The beginnings of their texts; None: these are not shown."""
    typical: NDArray[np.float32]
    """(m,) see `typicality`"""
    topics: Sequence[TopicRow]
    """All topics, by number."""
    areas: Sequence[Area]
    """The largest first, and "other" last."""

    def __len__(self) -> int:
        return len(self.map)

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

    def columns(self) -> Columns:
        """The table of the known articles, by column."""
        coordinates = self.coordinates(self.rows)
        numbers = self.map.topics[self.rows].tolist()
        return (
            self.page_ids.tolist(),
            list(self.titles),
            coordinates[:, 0].tolist(),
            coordinates[:, 1].tolist(),
            numbers,
            [self.area_of.get(number) for number in numbers],
        )

    def coordinates(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(rows, 2) x and y of these articles, from 0 to 1."""
        return np.round(self.map.places[rows] / WHOLE, DIGITS)

    def page(self, largest: int = LARGEST, colouring: map_page.Colouring | None = None) -> str:
        """The map as a page of at most so many bytes; ``colouring``: of all articles, by what to
        colour instead of areas."""
        # -1 chooses the last index, which no topic has.
        indices = np.full(len(self.topics) + 1, -1)
        indices[self._drawn] = np.arange(len(self._drawn))
        two_largest = np.column_stack([self.map.topics[self.rows], self.map.second[self.rows]])
        snippets = self.snippets or [None] * len(self.rows)
        known_addresses = self.addresses if any(self.addresses) else None
        if colouring is not None:
            colouring = colouring.of_rows(self.rows)
        articles = map_page.Articles(
            self.map.places[self.rows],
            indices[two_largest],
            list(map(called, self.titles, snippets)),
            known_addresses,
            self.snippets,
            typical=self.typical,
            colouring=colouring,
            of=len(self),
        )
        return map_page.map_page(
            self._heading,
            articles,
            [self._topic(number) for number in self._drawn],
            self._placed_areas,
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
            self._placed_areas,
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

    def colours(self) -> tuple[list[str], NDArray[np.uint8]]:
        """(the colours, (n,) which of them each article has)."""
        area_of_topic = [self.area_of.get(topic.topic) for topic in self.topics]
        colours = sorted(set(map(_colour, area_of_topic)))
        of_topic = [colours.index(_colour(area)) for area in area_of_topic]
        return colours, np.array(of_topic, np.uint8)[self.map.topics]

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
    def _placed_areas(self) -> Sequence[map_page.Area]:
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
            (area for area in self.areas if not area.is_other), self._placed_areas, strict=True
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


def map_contents(
    reader: SessionReader,
    model: str,
    known: Callable[[int], NDArray[np.int64]],
    *,
    snippets: bool = False,
    advance: Advance = unseen,
) -> MapContents:
    """The map of a model; ``snippets``: with the beginnings of texts, if the session keeps any.

    ``known``: of a number of articles, those whose titles are read: `map_page.rows_drawn` for a
    page, `nothing` for a picture. ``advance``: is told how many articles have been read.

    Raises `SessionError` if the session has no map of articles.
    """
    snippets = snippets and reader.has_snippets()
    with reader.one_moment():
        placed = article_map(reader, model, advance)
        rows = known(len(placed))
        topic_map = atlas(reader, model)
        parts = list(_parts(reader, placed, rows, snippets=snippets, advance=advance))
        page_ids = chain.from_iterable(part.page_ids for part in parts)
        typical = chain.from_iterable(part.typical for part in parts)
        beginnings = None
        if snippets:
            beginnings = list(chain.from_iterable(part.snippets for part in parts))
        return MapContents(
            session=reader.path.stem,
            several=len(reader.models()) > 1,
            settings=reader.settings(),
            map=placed,
            rows=rows,
            page_ids=np.fromiter(page_ids, np.int64),
            titles=list(chain.from_iterable(part.titles for part in parts)),
            revisions=list(chain.from_iterable(part.revisions for part in parts)),
            ids=list(chain.from_iterable(part.ids for part in parts)),
            snippets=beginnings,
            typical=np.fromiter(typical, np.float32),
            topics=reader.topics(model, SHOWN_WORDS),
            areas=topic_map.areas if topic_map else (),
        )


def nothing(n: int) -> NDArray[np.int64]:
    """None of n articles."""
    return np.empty(0, np.int64)


def map_batches(
    reader: SessionReader,
    model: str,
    *,
    with_ids: bool,
    snippets: bool,
    advance: Advance = unseen,
) -> Iterator[Sequence[Sequence[object]]]:
    """All rows of the map's table, some at a time; ``with_ids``: with a column of ids. Snippets, if
    they are wanted, are the last column. Raises as `map_contents`, before it returns."""
    whole = map_contents(reader, model, nothing, advance=advance)

    def batches() -> Iterator[Sequence[Sequence[object]]]:
        rows = np.arange(len(whole))
        for part in _parts(reader, whole.map, rows, snippets=snippets, advance=advance):
            page_ids = np.array(part.page_ids, np.int64)
            known = replace(whole, rows=part.rows, page_ids=page_ids, titles=part.titles)
            columns: list[Sequence[object]] = [*known.columns()]
            if with_ids:
                columns.append(part.ids)
            if snippets:
                columns.append(part.snippets)
            yield columns

    return batches()


def _colour(area: int | None) -> str:
    """The colour of an area; grey for none."""
    return OTHER_COLOUR if area is None else COLOURS[area]


class _Part(NamedTuple):
    """What is known of some articles of the map."""

    rows: NDArray[np.int64]
    page_ids: Sequence[int]
    titles: Sequence[str]
    revisions: Sequence[int]
    ids: Sequence[str | None]
    typical: Sequence[float]
    snippets: Sequence[str | None]


def _parts(
    reader: SessionReader,
    placed: ArticleMap,
    rows: NDArray[np.int64],
    *,
    snippets: bool,
    advance: Advance = unseen,
) -> Iterator[_Part]:
    """What is known of these articles of the map, some at a time; ``snippets``: with these."""
    place = reader.models().index(placed.model)
    read = 0
    for columns in reader.articles_at(placed.seqs[rows]):
        seqs, page_ids, titles, revisions, words, _, _, shares, ids = columns
        part = rows[read : read + len(seqs)]
        typical = [
            typicality(of_models[place], n_words) if of_models else 0.0
            for of_models, n_words in zip(shares, words, strict=True)
        ]
        beginnings = [text or None for text in reader.snippets_of(seqs)] if snippets else []
        yield _Part(part, page_ids, titles, revisions, ids, typical, beginnings)
        read += len(seqs)
        advance("titles read", read, len(rows))
