"""The ids of documents so far, by which those that repeat one are found."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice
from typing import Self

MOST_REMEMBERED_IDS = 1 << 25
"""The most ids that are remembered, 33 million, in a few hundred megabytes. Later documents are
still compared with these."""


class SeenIds:
    """The ids so far: 64 bits of each, in 8 to 32 bytes per id.

    Among 33 million ids, the probability of mistaking any two different ids for the same is 3 in
    100,000.
    """

    def __init__(self) -> None:
        self._old = array("Q")
        """Most of them, in ascending order."""
        self._new: set[int] = set()
        """The last ones: each merging into the sorted ones takes time, so many are merged at
        once."""

    @classmethod
    def of(cls, external_ids: Iterable[str]) -> Self:
        """Those of these ids, which takes less time than to add each."""
        import numpy as np

        seen = cls()
        keys = np.fromiter(map(cls._key, islice(external_ids, MOST_REMEMBERED_IDS)), np.uint64)
        keys.sort()
        seen._old = array("Q", keys.tobytes())
        return seen

    def add(self, external_id: str) -> bool:
        """Remember an id, if there are not too many already; returns whether it is new."""
        key = self._key(external_id)
        if self._has(key):
            return False
        if len(self._old) + len(self._new) < MOST_REMEMBERED_IDS:
            self._new.add(key)
        if len(self._new) > max(1000, len(self._old) // 8):
            import numpy as np  # which `--help` must not load

            merged = np.concatenate((np.asarray(self._old), np.fromiter(self._new, np.uint64)))
            merged.sort(kind="stable")
            self._old = array("Q", merged.tobytes())
            self._new.clear()
        return True

    def __contains__(self, external_id: str) -> bool:
        return self._has(self._key(external_id))

    @staticmethod
    def _key(external_id: str) -> int:
        digest = blake2b(external_id.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big")

    def _has(self, key: int) -> bool:
        return key in self._new or is_in(self._old, key)


def is_in(numbers: "array[int]", number: int) -> bool:
    """Whether a number is among these, which are in ascending order."""
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number
