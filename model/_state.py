"""A model's kept state, checked entry by entry: what does not fit is refused before a kernel sees it.

A state may come from a damaged or hostile file, and kernels check no bounds: a matrix with a topic too few
would have them write beyond its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e30
"""No number of a state is larger: what is computed from them stays within float32."""
MOST = 2**53
"""No counter is larger."""

MOST_ITERATIONS = 10_000
"""No loop over a document runs more often."""

T = TypeVar("T", covariant=True)
_ROWS = [np.dtype(name) for name in ("int32", "int64", "float64")]
Sizes = Mapping[str, int]
"""The sizes that shapes are made of, by letter: W, K …"""


class Entry(Protocol[T]):
    """What an entry of a state has to be: returns it, or raises ValueError with the end of a sentence."""

    def __call__(self, value: Any, sizes: Sizes) -> T: ...


class State:
    """The entries of a kept state. Every method raises ValueError, in one line that names the entry."""

    def __init__(self, entries: Mapping[str, Any], matrix: str) -> None:
        """matrix: the key of the entry (W, K) from which the sizes are taken."""
        self._entries = {key: _plain(value) for key, value in entries.items()}
        topics = self._entries.get(matrix)
        if not isinstance(topics, np.ndarray) or topics.ndim != 2 or not topics.size:
            raise ValueError(
                f"the state's {matrix!r} must be an array of a row for each word and a column for each topic"
            )
        W, K = map(len, (topics, topics[0]))
        self.sizes = {"W": W, "K": K, "K-1": K - 1}

    def __contains__(self, key: str) -> bool:
        return self._entries.get(key) is not None  # older sessions keep None for what is not known

    def take(self, key: str, entry: Entry[T]) -> T:
        """The entry `key`, if it is as `entry` says."""
        if key not in self._entries:
            raise ValueError(f"the state lacks {key!r}")
        try:
            return entry(self._entries[key], self.sizes)
        except ValueError as error:
            raise ValueError(f"the state's {key!r} {error}") from None


def number(low: float = 0.0, high: float = LARGEST, *, above: bool = False) -> Entry[float]:
    """A number within `low` and `high`; `above`: not `low` itself."""

    def check(value: Any, sizes: Sizes) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError(f"must be a number, not {type(value).__name__}")
        if not low <= value <= high or (above and value == low):
            raise ValueError(f"must be {'over' if above else 'at least'} {low:g} and at most {high:g}")
        return float(value)

    return check


def whole(low: int = 0, high: int = MOST) -> Entry[int]:
    """A whole number within `low` and `high`."""

    def check(value: Any, sizes: Sizes) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return value

    return check


def flag(value: Any, sizes: Sizes) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {type(value).__name__}")
    return value


def array(
    *shape: str | int,
    low: float = 0.0,
    high: float = LARGEST,
    above: bool = False,
    dtypes: tuple[str, ...] = ("float64",),
) -> Entry[NDArray[Any]]:
    """A copy of an array of this shape, in C order, its numbers within `low` and `high` as for `number`."""

    def check(value: Any, sizes: Sizes) -> NDArray[Any]:
        found = np.asarray(value) if isinstance(value, list) else value  # older sessions keep lists
        wanted = tuple(sizes[size] if isinstance(size, str) else size for size in shape)
        if not isinstance(found, np.ndarray) or found.shape != wanted:
            raise ValueError(f"must be an array of shape {wanted}")
        if found.dtype not in [np.dtype(dtype) for dtype in dtypes]:
            raise ValueError(f"must be of {' or '.join(dtypes)}, not {found.dtype}")
        # Not for NaN, whose comparisons are all false.
        if found.size and not (
            low <= found.min() and found.max() <= high and not (above and found.min() == low)
        ):
            raise ValueError(f"must hold numbers {'over' if above else 'from'} {low:g} up to {high:g}")
        return np.array(found, order="C")

    return check


def row(value: Any, sizes: Sizes) -> NDArray[Any]:
    """A copy of numbers of any length, whose range somebody else checks."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype not in _ROWS:
        raise ValueError("must be a row of numbers")
    return value.copy()


def random(value: Any, sizes: Sizes) -> np.random.Generator:
    """A generator as `random_state` keeps it; older session files hold the bit generator's own dict."""
    try:
        if isinstance(value, Mapping):
            numbers = value["state"]["state"], value["state"]["inc"], value["has_uint32"], value["uinteger"]
        else:
            high, low, inc_high, inc_low, *rest = array(6, high=2**64, dtypes=("uint64",))(
                value, sizes
            ).tolist()
            numbers = (high << 64 | low, inc_high << 64 | inc_low, *rest)
    except (KeyError, TypeError):
        raise ValueError("must be the state of a PCG64 generator") from None
    for each, limit in zip(numbers, (2**128, 2**128, 2, 2**32), strict=True):
        whole(0, limit - 1)(each, sizes)
    state, increment, has_uint32, uinteger = numbers
    if increment % 2 == 0:
        raise ValueError("must have an odd increment: any other generator may repeat one number for ever")
    generator = np.random.Generator(np.random.PCG64())
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": increment},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return generator


def random_state(generator: np.random.Generator) -> NDArray[np.uint64]:
    """(6,) PCG64's state and increment, each as its upper and lower 64 bits; has_uint32, uinteger."""
    kept: Any = generator.bit_generator.state
    state, increment = kept["state"]["state"], kept["state"]["inc"]
    halves = *divmod(state, 2**64), *divmod(increment, 2**64)
    return np.array([*halves, kept["has_uint32"], kept["uinteger"]], np.uint64)


def _plain(value: Any) -> Any:
    """Numbers, flags and strings out of the arrays without dimensions that an .npz makes of them."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
