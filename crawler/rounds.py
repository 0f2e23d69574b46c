"""Rounds: stretches whose jobs are read together, and whose articles are mixed."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar

from wikitopics.crawler.page import Skips
from wikitopics.crawler.source import Job, Piece

BLOCK = 512
"""The number of articles handed out at a time."""
PLACES = 54
"""The number of places where articles are held out, if a source has so many: more than would be
needed if every place had articles."""


def fewest_pieces(size: int, largest: int) -> int:
    """The fewest pieces of at most ``largest`` that make up ``size``."""
    return (size + largest - 1) // largest


def spread(n: int, places: int) -> list[int]:
    """``places`` of the numbers below ``n``, evenly spread (all, if there are fewer): those in the
    middles of as many equal parts."""
    if n <= places:
        return list(range(n))
    return [(2 * place + 1) * n // (2 * places) for place in range(places)]


def random_key(*values: int) -> bytes:
    """Sort keys of a pseudo-random permutation, the same on every machine."""
    return blake2b(repr(values).encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class Round:
    """Jobs that are read together: a stretch."""

    jobs: Sequence[Callable[[], Awaitable[Job]]]
    here: Mapping[str, Any]
    """The position of its first article, without the number of articles handed out."""
    after: Mapping[str, Any]
    """The same for what follows it."""
    lap: tuple[float, float]
    """The share of the whole source read before and after it."""
    done: int
    """The number of articles handed out before a stop."""
    seed: int | None
    """How its articles are mixed; None: one of each job in turn."""
    skips: ClassVar[Skips] = {}
    rereadable: ClassVar = True

    def order(self, page_ids: Sequence[Sequence[int]]) -> Sequence[int]:
        """See `Stretch`."""
        keys: list[Any] = []
        for ids in page_ids:
            if self.seed is None:
                keys += range(len(ids))
            else:
                keys += [random_key(self.seed, page_id) for page_id in ids]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def pieces(self, articles: int) -> Iterator[Piece]:
        """See `Stretch`."""
        lap_before, lap_after = self.lap
        start = min(self.done, articles)
        while True:
            stop = min(start + BLOCK, articles)
            is_last = stop == articles
            if is_last:
                yield Piece(start, stop, {**self.after, "done": 0}, lap_after)
                return
            share = stop / articles
            lap = lap_before + (lap_after - lap_before) * share
            yield Piece(start, stop, {**self.here, "done": stop}, lap)
            start = stop
