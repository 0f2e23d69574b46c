"""Long work tells whoever wants to follow it how far it is."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
Advance = Callable[[str, int, int], object]
"""Is told how far long work is: what is counted, such as "titles read"; how many; of how many, 0 if
that is unknown."""


def unseen(what: str, done: int, total: int) -> None:
    """The `Advance` of work that nobody follows."""


def followed(items: Iterable[T], what: str, total: int, advance: Advance) -> Iterator[T]:
    """The items, while ``advance`` is told how many have been taken: of ``total``, 0 if that is
    unknown."""
    for done, item in enumerate(items, start=1):
        yield item
        advance(what, done, total)
