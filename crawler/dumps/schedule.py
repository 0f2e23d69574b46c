"""The random order in which a dump is read, as stochastic inference requires of its documents.

A dump is ordered by age. Its files are divided into *chunks*, which are shuffled; each chunk is divided into
parts. A round reads the first parts of some new chunks, the second parts of those begun a round earlier, the
third parts of those begun two rounds earlier, and so on; its articles are mixed. Chunks begun in the last
rounds end in the first ones, so all rounds have the same size. What a round reads depends only on numbers.
Before all rounds come the articles to hold out: a few from the beginning of each of several chunks, spread
evenly over the dump.
"""

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from wikitopics.crawler.dumps import SCHEDULE
from wikitopics.crawler.dumps.parts import MOST_ARTICLES

PLACES = 54
"""The number of places where articles are held out, if the dump has as many chunks: a few may have none."""
CHUNK = 16 << 20
"""The most bytes of a chunk. Wikimedia wants a second between two requests, so each brings many megabytes."""
SMALLEST = 1 << 10
PART = 1 << 20
"""The most bytes of a part. Its last page may end in a further block of 900 kB, which is unpacked only for
that."""
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
    """How many of its first articles these are drawn from: neighbours in a dump are alike."""
    articles: Natural
    """The approximate number of articles in the whole dump."""

    def __post_init__(self) -> None:
        if sum(self.sizes) // self.chunk + len(self.sizes) > _MOST_CHUNKS or self.parts > self.rounds:
            raise ValueError("numbers that do not fit each other")

    @classmethod
    def of_sizes(cls, seed: int, sizes: list[int]) -> "Schedule":
        """The schedule of a dump of which only the sizes of its files are known."""
        size = sum(sizes)
        chunk = max(min(CHUNK, max(SMALLEST, -(-size // PLACES))), 2 * size // _MOST_CHUNKS)
        parts = -(-chunk // PART)
        return cls(seed, sizes, chunk, parts, max(1, round(LANES / parts)), PLACES, 0, 0, 0)

    @staticmethod
    def fault(stored: object, files: int) -> str:
        """Why JSON values cannot be the schedule of a dump in this many files; "" if they can."""
        try:
            schedule = msgspec.convert(stored, Schedule)
        except msgspec.ValidationError as error:
            return f"{SCHEDULE}: {error}"
        return "" if len(schedule.sizes) == files else f"{SCHEDULE}.sizes is not a list of the files' sizes"

    @cached_property
    def chunks(self) -> list[Chunk]:
        """All chunks, in the order of the files; those of one file are of the same size."""
        return [
            Chunk(file, size * i // n, size * (i + 1) // n)
            for file, size in enumerate(self.sizes)
            for n in [-(-size // self.chunk)]
            for i in range(n)
        ]

    @cached_property
    def _shuffled(self) -> list[Chunk]:
        order = sorted(range(len(self.chunks)), key=lambda number: random_key(self.seed, number))
        return [self.chunks[number] for number in order]

    @cached_property
    def rounds(self) -> int:
        """The number of rounds that follow the articles to hold out."""
        chunks = sum(-(-size // self.chunk) for size in self.sizes)
        return max(1, chunks // self.together)

    @cached_property
    def places(self) -> frozenset[Chunk]:
        """The chunks at whose beginning articles are held out."""
        return frozenset(self.chunks[number] for number in spread(len(self.chunks), self.n_places))

    def held_out(self, place: Chunk) -> frozenset[int]:
        """The numbers of a place's articles that are held out, drawn at random."""
        drawn = sorted(
            range(self.first), key=lambda number: random_key(self.seed, place.file, place.start, number)
        )
        return frozenset(drawn[: self.each])

    def begins(self, number: int) -> list[Chunk]:
        """The chunks of which this round reads the first part."""
        chunks, rounds = len(self._shuffled), self.rounds
        return self._shuffled[chunks * number // rounds : chunks * (number + 1) // rounds]

    def parts_of(self, number: int) -> Iterator[tuple[Chunk, int]]:
        """The chunks of which this round reads a part, and the number of that part."""
        for part in range(self.parts):
            for chunk in self.begins((number - part) % self.rounds):
                yield chunk, part

    def last_part(self, number: int, part: int) -> int:
        """The last part of a chunk that is read from this round on, which reads ``part``: chunks that begin
        in the last rounds end in the first ones."""
        begun = number - part
        return self.parts - 1 if begun < 0 else min(self.parts, self.rounds - begun) - 1

    def bounds(self, chunk: Chunk, part: int) -> tuple[int, int]:
        """The bytes of this part of a chunk."""
        size = chunk.stop - chunk.start
        return chunk.start + size * part // self.parts, chunk.start + size * (part + 1) // self.parts


def spread(n: int, places: int) -> list[int]:
    """``places`` of ``n`` numbers, evenly spread (all, if there are fewer)."""
    return [(2 * i + 1) * n // (2 * places) for i in range(places)] if n > places else list(range(n))


def random_key(*values: int) -> bytes:
    """Sort keys of a pseudo-random permutation, the same on every machine."""
    return blake2b(repr(values).encode(), digest_size=8).digest()
