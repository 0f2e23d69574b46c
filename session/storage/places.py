"""The places of articles on each model's map: the tables `layouts` and `places`."""

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.records import Count, PositiveCount
from wikitopics.session.storage.counts import MOST_BLOCKS
from wikitopics.session.storage.database import WITH_MAP
from wikitopics.session.storage.decoding import numbers
from wikitopics.session.storage.proportions import Proportions, most_bytes
from wikitopics.session.storage.recorded import BLOCK, BLOCK_IS_HELD_OUT, RecordedReader
from wikitopics.session.storage.topics import FURTHEST, LARGEST_SNAPSHOT

if TYPE_CHECKING:
    from wikitopics.model.article_map import Landmarks
    from wikitopics.model.near import Rows

Places = NDArray[np.uint16]
"""(n, 2) x to the right and y upwards, in 65,535ths of the map."""
WHOLE = 65_535
"""The place at the right and at the upper edge."""
LARGEST_LAYOUT = 2**16
"""A layout of more landmarks is not read."""
BYTES_OF_PLACE = 4
"""Two numbers of two bytes."""
BYTES_OF_ID = 4
"""The fewest bytes that the page id of a recorded article takes."""
_PLACE = np.dtype("<u2")


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """The landmarks of a model's map of articles: m articles."""

    articles: int
    """How many had been trained when the landmarks were chosen."""
    landmarks: Proportions
    """Their proportions then."""
    topics: NDArray[np.float32]
    """(K, 2) the places of the model's topics then; NaN for those that are not in use."""
    places: Places | None = None
    """(m, 2) the places of the landmarks; None until they are laid out."""

    def opened(self) -> "Landmarks":
        """The landmarks as other articles are placed among them; only once they have places."""
        from wikitopics.model.article_map import Landmarks

        assert self.places is not None
        return Landmarks(rows_of(self.landmarks), len(self.topics), self.places)


def rows_of(proportions: Proportions) -> "Rows":
    """Stored proportions in the form in which articles are compared."""
    from wikitopics.model.near import Rows

    return Rows.of_stored(proportions.indptr(), proportions.topics, proportions.values())


@dataclass(frozen=True, eq=False, slots=True)
class Stored:
    """What a session has of some blocks of articles."""

    proportions: Proportions
    """Of all their articles, one after another."""
    layouts: NDArray[np.int64]
    """(blocks,) the layout that each block's places belong to, by its `articles`; 0: none."""
    places: Places
    """(n, 2), of any value where there are none."""


def insert_layouts(db: Connection, layouts: Sequence[tuple[int, Layout]]) -> None:
    """Store layouts by the number of the model. One that has its places replaces all others."""
    for model, layout in layouts:
        places = None
        if layout.places is not None:
            places = layout.places.astype(_PLACE).tobytes()
            db.execute("DELETE FROM layouts WHERE model = ?", [model])
        row = [
            model,
            layout.articles,
            len(layout.landmarks),
            layout.landmarks.to_bytes(),
            layout.topics.tobytes(),
            places,
        ]
        db.execute("INSERT INTO layouts VALUES (?, ?, ?, ?, ?, ?)", row)


def drop_map(db: Connection, model: int) -> None:
    """Forget a model's layouts and places."""
    for table in ("layouts", "places"):
        db.execute(f"DELETE FROM {table} WHERE model = ?", [model])


def keep_places(db: Connection, rows: Sequence[tuple[int, int, int, Places]]) -> None:
    """Store (model, first_seq, layout, places) of blocks."""
    db.executemany(
        "INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?)",
        [
            (model, first_seq, layout, places.astype(_PLACE).tobytes())
            for model, first_seq, layout, places in rows
        ],
    )


class PlaceReader(RecordedReader):
    """Questions about maps of articles."""

    def layouts(self, model: str) -> list[Layout]:
        """The model's layouts, the newest first; of these at most the first lacks places."""
        if self._format() < WITH_MAP:
            return []
        K = self.spec(model).topics
        columns = {
            "articles": PositiveCount,
            "landmarks": PositiveCount,
            "proportions": Any,
            "topics": Any,
            "places": Any,
        }
        rows = self.select(
            "layouts",
            columns,
            "WHERE model = ? ORDER BY articles DESC",
            [self._number(model)],
            largest=LARGEST_SNAPSHOT + LARGEST_LAYOUT * most_bytes(K),
        )
        layouts = []
        for articles, m, packed_proportions, packed_topics, packed_places in rows:
            if m > LARGEST_LAYOUT:
                raise Damaged("layouts.landmarks is out of range")
            landmarks = Proportions.from_blocks([(packed_proportions, m)], K)
            places = None
            if packed_places is not None:
                places = _places(packed_places, m, "layouts.places")
            layouts.append(Layout(articles, landmarks, _topics(packed_topics, K), places))
        if any(layout.places is None for layout in layouts[1:]):
            raise Damaged("layouts has several rows without places")
        return layouts

    def layout_in_force(self, model: str) -> int:
        """The `articles` of the newest layout that has places; 0 if there is none."""
        if self._format() < WITH_MAP:
            return 0
        rows = self.select(
            "layouts",
            {"articles": PositiveCount},
            "WHERE model = ? AND places IS NOT NULL ORDER BY articles DESC LIMIT 1",
            [self._number(model)],
        )
        return rows[0][0] if rows else 0

    def blocks(self) -> list[tuple[int, int]]:
        """(the number of its first article, how many it has) of each block of recorded articles, in
        the order of the stream."""
        # What the file really holds bounds how much memory its articles will take.
        size = "ifnull(length(page_ids), 0)"
        rows = self.select("blocks", {**BLOCK, size: Count}, "ORDER BY first_seq", most=MOST_BLOCKS)
        end = 0
        for first, articles, size_of_ids in rows:
            if first < end or articles * BYTES_OF_ID > size_of_ids:
                raise Damaged("blocks.articles is out of range")
            end = first + articles
        return [(first, articles) for first, articles, _ in rows]

    def unplaced(self, model: str, layout: int, most: int) -> list[tuple[int, int]]:
        """Up to this many of those `blocks` of trained articles whose places among the landmarks of
        this layout are not stored, the newest first."""
        return self.select(
            "blocks",
            {"b.first_seq": PositiveCount, "b.articles": PositiveCount},
            "b LEFT JOIN places p ON p.first_seq = b.first_seq AND p.model = ? "
            f"WHERE (p.layout IS NULL OR p.layout <> ?) AND NOT {BLOCK_IS_HELD_OUT} "
            "ORDER BY b.first_seq DESC LIMIT ?",
            [self._number(model), layout, most],
        )

    def stored(self, model: str, blocks: Sequence[tuple[int, int]]) -> Stored:
        """What the session has of consecutive `blocks`; at least one."""
        K = self.spec(model).topics
        first_of_all, _ = blocks[0]
        last, _ = blocks[-1]
        number = self._number(model)
        rows = self.select(
            "blocks",
            {
                "b.first_seq": PositiveCount,
                "b.articles": PositiveCount,
                "p.data": Any,
                "ifnull(l.layout, 0)": int,
                "l.data": Any,
            },
            "b LEFT JOIN proportions p ON p.first_seq = b.first_seq AND p.model = ? "
            "LEFT JOIN places l ON l.first_seq = b.first_seq AND l.model = ? "
            "WHERE b.first_seq BETWEEN ? AND ? ORDER BY b.first_seq",
            [number, number, first_of_all, last],
            largest=self._room(most_bytes(K) + BYTES_OF_PLACE),
            most=MOST_BLOCKS,
        )
        if [(first, articles) for first, articles, *_ in rows] != list(blocks):
            raise Damaged("blocks has other rows than a moment ago")
        proportions = Proportions.from_blocks([(data, n) for _, n, data, _, _ in rows], K)
        places = []
        for _, articles, _, layout, packed in rows:
            if layout:
                places.append(_places(packed, articles, "places.data"))
            else:
                places.append(np.zeros((articles, 2), np.uint16))
        layouts = np.array([layout for *_, layout, _ in rows], np.int64)
        return Stored(proportions, layouts, np.concatenate(places))


def _places(packed: object, n: int, place: str) -> Places:
    return numbers(packed, place, np.uint16, (n, 2), 0, WHOLE)


def _topics(packed: object, K: int) -> NDArray[np.float32]:
    if not isinstance(packed, bytes) or len(packed) != 8 * K:
        raise Damaged("layouts.topics has the wrong length")
    topics = np.frombuffer(packed, np.float32).reshape(K, 2)
    if (np.abs(topics) > FURTHEST).any():
        raise Damaged("layouts.topics holds numbers that are out of range")
    return topics
