"""The random order in which a dump is read, as stochastic inference requires of its documents.

A dump is ordered by age. Its files are divided into *chunks*, which are shuffled; each chunk is
divided into parts. A round reads the first parts of some new chunks, the second parts of those
begun a round earlier, the third parts of those begun two rounds earlier, and so on; its articles
are mixed. Chunks begun in the last rounds end in the first ones, so all rounds have the same size.
What a round reads depends only on the numbers of a `Schedule`.

Before all rounds come the articles to hold out: a few from the beginning of each of several chunks,
spread evenly over the dump. These beginnings are called *places*.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from wikitopics.crawler.dumps import SCHEDULE
from wikitopics.crawler.dumps.parts import MOST_ARTICLES
from wikitopics.crawler.rounds import PLACES, fewest_pieces, random_key, spread

CHUNK = 16 << 20
"""The most bytes of a chunk. Wikimedia wants a second between two requests, so each brings many
megabytes."""
SMALLEST = 1 << 10
"""The fewest bytes of a chunk."""
PART = 1 << 20
"""The most bytes of a part. Its last page may end in a further block of 900 kB, which is unpacked
only for that."""
LANES = 16
"""The approximate number of parts in a round."""
_MOST_CHUNKS = 1_000_000
Natural = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_Few = Annotated[int, Meta(ge=1, le=1000)]


class Chunk(NamedTuple):
    """Bytes ``start`` to before ``stop`` of a file, which is given by its number."""

    file: int
    start: int
    stop: int


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """What each round of a dump reads; a session stores the fields."""

    seed: Natural
    sizes: list[Natural]
    """The bytes of each file."""
    chunk: Annotated[int, Meta(ge=SMALLEST, lt=1 << 40)]
    """The most bytes of a chunk."""
    parts: _Few
    """The number of parts of a chunk."""
    together: _Few
    """The number of chunks that begin in a round; a few rounds may have one more."""
    n_places: Annotated[int, Meta(ge=0, le=1000)]
    """The number of places where articles are held out."""
    each: Natural
    """The number of articles held out from each place, if it has that many."""
    first: Annotated[int, Meta(ge=0, le=MOST_ARTICLES)]
    """They are drawn from so many articles with which a place begins, since neighbours in a dump
    are alike."""
    articles: Natural
    """The approximate number of articles in the whole dump."""

    def __post_init__(self) -> None:
        most_chunks = sum(self.sizes) // self.chunk + len(self.sizes)
        if most_chunks > _MOST_CHUNKS or self.parts > self.rounds:
            raise ValueError("numbers that do not fit each other")

    @classmethod
    def of_sizes(cls, seed: int, sizes: list[int]) -> "Schedule":
        """The schedule of a dump of which only the sizes of its files are known."""
        size = sum(sizes)
        of_places = max(SMALLEST, fewest_pieces(size, PLACES))
        chunk = max(min(CHUNK, of_places), 2 * size // _MOST_CHUNKS)
        parts = fewest_pieces(chunk, PART)
        return cls(
            seed=seed,
            sizes=sizes,
            chunk=chunk,
            parts=parts,
            together=max(1, round(LANES / parts)),
            n_places=PLACES,
            each=0,
            first=0,
            articles=0,
        )

    @staticmethod
    def fault(stored: object, files: int) -> str:
        """Why JSON values cannot be the schedule of a dump in this many files; "" if they can."""
        try:
            schedule = msgspec.convert(stored, Schedule)
        except msgspec.ValidationError as error:
            return f"{SCHEDULE}: {error}"
        if len(schedule.sizes) != files:
            return f"{SCHEDULE}.sizes is not a list of the files' sizes"
        return ""

    @cached_property
    def chunks(self) -> list[Chunk]:
        """All chunks, in the order of the files; those of one file are of the same size."""
        chunks = []
        for file, size in enumerate(self.sizes):
            count = fewest_pieces(size, self.chunk)
            for number in range(count):
                start = size * number // count
                stop = size * (number + 1) // count
                chunks.append(Chunk(file, start, stop))
        return chunks

    @cached_property
    def _shuffled(self) -> list[Chunk]:
        numbers = range(len(self.chunks))
        order = sorted(numbers, key=lambda number: random_key(self.seed, number))
        return [self.chunks[number] for number in order]

    @cached_property
    def rounds(self) -> int:
        """The number of rounds that follow the articles to hold out."""
        chunks = sum(fewest_pieces(size, self.chunk) for size in self.sizes)
        return max(1, chunks // self.together)

    @cached_property
    def places(self) -> frozenset[Chunk]:
        """The chunks at whose beginning articles are held out."""
        numbers = spread(len(self.chunks), self.n_places)
        return frozenset(self.chunks[number] for number in numbers)

    def held_out(self, place: Chunk) -> frozenset[int]:
        """The numbers of a place's articles that are held out, drawn at random."""
        drawn = sorted(
            range(self.first),
            key=lambda number: random_key(self.seed, place.file, place.start, number),
        )
        return frozenset(drawn[: self.each])

    def begins(self, number: int) -> list[Chunk]:
        """The chunks of which this round reads the first part."""
        chunks = len(self._shuffled)
        start = chunks * number // self.rounds
        stop = chunks * (number + 1) // self.rounds
        return self._shuffled[start:stop]

    def parts_of(self, number: int) -> Iterator[tuple[Chunk, int]]:
        """The chunks of which this round reads a part, and the number of that part."""
        for part in range(self.parts):
            for chunk in self.begins((number - part) % self.rounds):
                yield chunk, part

    def last_part(self, number: int, part: int) -> int:
        """The last part that this and later rounds read of a chunk, of which this one reads
        ``part``: of a chunk that begins in one of the last rounds, the first rounds read the end.
        """
        begins_in = number - part
        if begins_in < 0:
            return self.parts - 1
        return min(self.parts, self.rounds - begins_in) - 1

    def bounds(self, chunk: Chunk, part: int) -> tuple[int, int]:
        """The bytes of this part of a chunk."""
        size = chunk.stop - chunk.start
        start = chunk.start + size * part // self.parts
        stop = chunk.start + size * (part + 1) // self.parts
        return start, stop
