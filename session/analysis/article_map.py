"""The map of a session's articles, the same for every screen and file."""

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.advance import Advance, unseen
from wikitopics.session.errors import NO_TOPICS, SessionError
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.paths import command
from wikitopics.session.sources import noun
from wikitopics.session.storage.block import from_zero
from wikitopics.session.storage.places import WHOLE, Places, rows_of
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.system import owner

if TYPE_CHECKING:
    from wikitopics.model.article_map import Landmarks

PLACED_TOGETHER = 4_096
"""About how many articles are placed between two looks at the clock."""
REPLACED = 1 / 20
"""The part of the documents that is read again between two readings of all places."""
SECOND = 0.1
"""The least proportion of an article's second topic that is told."""
GRID = 64
"""The number of squares, in each direction, in which articles are counted to find where most of a
topic's lie."""
REACH = 2.0
"""The standard deviation, in squares, of the filter that smooths these counts."""


@dataclass(frozen=True, eq=False)
class ArticleMap:
    """The places of n articles on one model's map, in the order of reading."""

    model: str
    layout: int
    """After how many articles its landmarks were chosen; with another number, the map has
    drifted."""
    seqs: NDArray[np.int64]
    """(n,) the articles' numbers in the session, ascending."""
    places: Places
    """(n, 2)"""
    topics: NDArray[np.int16]
    """(n,) the largest topic of each."""
    second: NDArray[np.int16]
    """(n,) the second topic of each; -1 for an article that is only about its largest."""

    def __len__(self) -> int:
        return len(self.seqs)

    def centres(self, K: int) -> NDArray[np.float64]:
        """(K, 2) where most articles with each largest topic lie, from 0 to 1; NaN for a topic
        that is the largest of none."""
        from scipy.ndimage import gaussian_filter

        squares = self.places.astype(np.int64) * GRID // (WHOLE + 1)
        centres = np.full((K, 2), np.nan)
        by_topic = np.argsort(self.topics, kind="stable")
        ends = np.cumsum(np.bincount(self.topics, minlength=K))
        for topic, own in enumerate(np.split(by_topic, ends[:-1])):
            if not len(own):
                continue
            counts = np.zeros((GRID, GRID))
            np.add.at(counts, (squares[own, 0], squares[own, 1]), 1.0)
            smooth = gaussian_filter(counts, REACH, mode="constant")
            column, row = divmod(int(smooth.argmax()), GRID)
            centres[topic] = (column + 0.5) / GRID, (row + 0.5) / GRID
        return centres


def article_map(reader: SessionReader, model: str, advance: Advance = unseen) -> ArticleMap:
    """The map of all recorded articles. A million of them take half a minute if their places are
    not stored.

    Raises `SessionError` if there is no map.
    """
    found = MapFollower(model, advance).read(reader, math.inf)
    if found is None:
        raise SessionError(why_no_map(reader, model))
    return found


def why_no_map(reader: SessionReader, model: str) -> str:
    """Why a session has no map of its articles, in one line; "" if it has one."""
    if reader.layout_in_force(model):
        return ""
    settings = reader.settings()
    called = noun(settings.source)
    if settings[KEEP_ARTICLES] != "all":
        return f"no map of {called}: begin a session with `train --keep-articles all`"
    if not reader.progress().articles:
        return NO_TOPICS
    if reader.started_over_at(model):
        return f"topics have started over: {called} get their places again as training goes on"
    if owner(reader.path) is None:
        # A finished session of an earlier version gets them, too.
        return f"{called} have no places yet: `{command('train', reader.path)}` gives them theirs"
    return f"{called} have no places yet: they get them as training goes on"


class MapFollower:
    """The map of a session's articles as it grows, for repeated questions.

    It keeps what it has read, and the map as it was last returned: 24 bytes an article.
    """

    def __init__(self, model: str, advance: Advance = unseen) -> None:
        """``advance``: is told how many articles have their places."""
        self.model = model
        self._advance = advance
        self.is_complete = False
        """Whether all articles as of the last commit have their places on the newest map."""
        self._version: object = None
        """The commit that was read last."""
        self._layout = 0
        """The `articles` of the layout in force."""
        self._landmarks: Landmarks | None = None
        """Its landmarks, once an article had to be placed."""
        self._blocks: list[tuple[int, int]] = []
        self._layouts: list[int] = []
        """Of each block, the layout that its places belong to; 0 if it has none yet."""
        self._starts = np.zeros(1, np.int64)
        """(blocks + 1,) the articles before each block."""
        self._places = np.empty((0, 2), np.uint16)
        self._topics = np.empty(0, np.int16)
        self._second = np.empty(0, np.int16)
        self._next = 0
        """The first block whose places are not those of the layout in force, or are older than the
        proportions stored now."""
        self._again = 0
        """`Progress.again` when places were last read from the first block on."""
        self._map: ArticleMap | None = None

    def read(self, reader: SessionReader, seconds: float = 0.2) -> ArticleMap | None:
        """The map as of the last commit, the same object if nothing has changed; None if there is
        none.

        Articles whose places are not stored are placed for about this long, and the others by later
        calls. Until then those that were on the map keep the places that they had.
        """
        end = time.monotonic() + seconds
        with reader.one_moment():
            version = (reader.path, reader.version())
            if version != self._version:
                self._note(reader)
                self._version = version
            self._place(reader, end)
        return self._map

    def place(self, reader: SessionReader, theta: NDArray[np.floating]) -> Places | None:
        """(n, 2) where texts with these proportions, (n, K), would lie on the map that was read
        last; None if there is none, or no longer."""
        from wikitopics.model.near import Rows

        with reader.one_moment():
            if not self._layout or reader.layout_in_force(self.model) != self._layout:
                return None  # the next call of `read` takes note of the present one
            landmarks = self._opened(reader)
        return landmarks.placed(Rows.of(theta))

    def _note(self, reader: SessionReader) -> None:
        """Take note of new blocks, and of another layout."""
        layout = reader.layout_in_force(self.model)
        blocks = reader.blocks() if layout else []
        known = len(self._blocks)
        if blocks[:known] != self._blocks:  # such as those of held-out articles at the end
            self._layouts = []
            self._map = None
            self._next = 0
        if layout != self._layout:
            self._layout = layout
            self._landmarks = None
            self._next = 0
        # Articles that are read again get other proportions, and so other places. All are read
        # before the first ones are read once more, however long that takes.
        progress = reader.progress()
        read_again = progress.again - self._again
        if self._next == known and read_again >= REPLACED * max(progress.documents, 1):
            self._again = progress.again
            self._next = 0
        self._blocks = blocks
        self._layouts += [0] * (len(blocks) - len(self._layouts))
        lengths = [articles for _, articles in blocks]
        self._starts = from_zero(lengths)
        articles = int(self._starts[-1])
        self._places = _resized(self._places, articles)
        self._topics = _resized(self._topics, articles)
        self._second = _resized(self._second, articles)

    def _place(self, reader: SessionReader, end: float) -> None:
        """Read or compute the places of the next blocks until all have theirs, or the end."""
        begun_at = self._next
        while self._next < len(self._blocks):
            first = self._next
            wanted = self._starts[first] + PLACED_TOGETHER
            last = int(np.searchsorted(self._starts[:-1], wanted))
            self._place_blocks(reader, first, last)
            self._next = last  # only now: if they cannot be read, a later call tries again
            self._advance("places read", int(self._starts[last]), int(self._starts[-1]))
            if time.monotonic() >= end:
                break
        self.is_complete = self._next == len(self._blocks)
        if self._next > begun_at:
            self._map = self._drawn()

    def _place_blocks(self, reader: SessionReader, first: int, last: int) -> None:
        """Note the places and topics of the articles in blocks ``first`` to ``last``; places of
        another layout are computed anew."""
        stored = reader.stored(self.model, self._blocks[first:last])
        proportions = stored.proportions.usual(reader.spec(self.model).topics)
        places = stored.places
        lengths = np.diff(self._starts[first : last + 1])
        lacking = np.flatnonzero(np.repeat(stored.layouts != self._layout, lengths))
        if len(lacking):
            places = places.copy()
            places[lacking] = self._opened(reader).placed(rows_of(proportions.take(lacking)))
        own = slice(int(self._starts[first]), int(self._starts[last]))
        self._places[own] = places
        self._topics[own], self._second[own] = proportions.two_largest(SECOND)
        self._layouts[first:last] = [self._layout] * (last - first)

    def _opened(self, reader: SessionReader) -> "Landmarks":
        if self._landmarks is None:
            in_force = [
                layout for layout in reader.layouts(self.model) if layout.places is not None
            ]
            self._landmarks = in_force[0].opened()
        return self._landmarks

    def _drawn(self) -> ArticleMap:
        """The map of the articles that have places, of this layout or of one before."""
        placed = len(self._layouts)
        if 0 in self._layouts:
            placed = self._layouts.index(0)
        n = int(self._starts[placed])
        firsts = np.array([first for first, _ in self._blocks[:placed]], np.int64)
        lengths = np.diff(self._starts[: placed + 1])
        seqs = np.arange(n) + np.repeat(firsts - self._starts[:placed], lengths)
        return ArticleMap(
            self.model,
            self._layout,
            seqs,
            self._places[:n].copy(),
            self._topics[:n].copy(),
            self._second[:n].copy(),
        )


def _resized(values: NDArray[Any], n: int) -> NDArray[Any]:
    """An array whose first entries are those given, with room for n."""
    if len(values) >= n:
        return values
    room = max(n, math.ceil(1.5 * len(values)))
    larger = np.empty((room, *values.shape[1:]), values.dtype)
    larger[: len(values)] = values
    return larger
