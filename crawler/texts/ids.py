"""Documents whose id came before."""

from array import array
from bisect import bisect_left
from hashlib import blake2b

MOST_IDS = 1 << 25
"""The most ids compared, 33 million: their table takes 512 MB."""


class SeenIds:
    """The ids so far: 64 bits of each, in 16 to 32 bytes per id.

    Among 33 million ids, the probability of mistaking any two different ones for the same is 3 in 100,000.
    """

    def __init__(self) -> None:
        self._table = array("Q", bytes(8 * 1024))
        self._count = 0

    def add(self, external_id: str) -> bool:
        """Add an id; returns whether it is new."""
        key = int.from_bytes(blake2b(external_id.encode(), digest_size=8).digest(), "big") or 1
        place = _place(self._table, key)
        if self._table[place]:
            return False
        if self._count < MOST_IDS:
            self._table[place] = key
            self._count += 1
            if 2 * self._count > len(self._table):
                self._grow()
        return True

    def _grow(self) -> None:
        larger = array("Q", bytes(16 * len(self._table)))
        for key in self._table:
            if key:
                larger[_place(larger, key)] = key
        self._table = larger


def _place(table: "array[int]", key: int) -> int:
    """The place of ``key``, present or future: open addressing, 0 is free."""
    mask = len(table) - 1
    place = key & mask
    while table[place] not in (0, key):
        place = place + 1 & mask
    return place


class Repeats:
    """The numbers of the documents whose id came before, in 8 bytes each; added in ascending order."""

    def __init__(self) -> None:
        self._numbers = array("Q")

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, number: int) -> None:
        """Record that document ``number`` has an id that came before."""
        self._numbers.append(number)

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self._numbers, number)
        return place < len(self._numbers) and self._numbers[place] == number
