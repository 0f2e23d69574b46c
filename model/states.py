"""The states of models as data: their keys, where a model has them, and their valid values.

A model lists its `Entry`s once; saving, reading and checking follow from the list. A state is flat, made of
numpy arrays and plain numbers and flags, so that `np.savez(path, **state)` keeps it. It may come from a
damaged or hostile file, and kernels check no bounds: whatever does not fit is refused before a kernel sees
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Plain = NDArray[Any] | bool | int | float | str
State = dict[str, Plain]

FLOATS = "float32 float64"  # an array of either
LARGEST = 1e30  # no number of a state is larger: what is computed from them stays within float32
MOST = 2**53  # no counter is larger
MOST_ITERATIONS = 10_000  # no loop over a document runs more often
TINY = 1e-300  # the least positive number
_TYPES: dict[str, type] = {"float": float, "int": int, "bool": bool}


class StateError(ValueError):
    """A state from which no model can continue; one line."""


@dataclass(frozen=True)
class Entry:
    """One key of a state.

    key: its name in the state; public and permanent, since files contain it
    attribute: where the model has it, by default under the same name; "part.name" lies in a part of the model
    type: "float", "int" or "bool", otherwise the dtypes that an array may have, such as "float32 float64"
    shape: of an array, sizes by letter with a space between: "W K", "K-1"; a letter that is not known yet
    takes the size found
    size: the letter of which this number is the size
    least, most: bounds of every number; below: a letter whose size all ids are below
    optional: whether the key may be missing; its attribute, or the part that it belongs to, is then None
    """

    key: str
    attribute: str = ""
    type: str = "float"
    shape: str = ""
    size: str = ""
    least: float = -LARGEST
    most: float = LARGEST
    below: str = ""
    optional: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """The part of the model, "" for the model itself, and the attribute there."""
        part, _, name = (self.attribute or self.key).rpartition(".")
        return part, name


def entries_of(recipe: type[Any]) -> tuple[Entry, ...]:
    """Entries for what a model keeps as `recipe`: counts of loops, and positive numbers, unless its `BOUNDS`
    differ."""

    def entry(name: str, whole: bool) -> Entry:
        least, most = recipe.BOUNDS.get(name, (1, MOST_ITERATIONS) if whole else (TINY, LARGEST))
        return Entry(f"recipe_{name}", f"recipe.{name}", "int" if whole else "float", least=least, most=most)

    return tuple(entry(field.name, field.type == "int") for field in fields(recipe))


def taken(model: object, entries: Sequence[Entry]) -> State:
    """A model's values as a state, with copies of arrays; optional values that are None are left out."""
    state: State = {}
    for entry in entries:
        part, name = entry.place
        owner = getattr(model, part) if part else model
        value = None if owner is None and entry.optional else getattr(owner, name)
        if value is not None:
            state[entry.key] = value.copy() if isinstance(value, np.ndarray) else value
    return state


def put(
    model: object, values: Mapping[str, Plain], entries: Sequence[Entry], parts: Mapping[str, Any]
) -> None:
    """The inverse of `taken`, for values from `checked`; parts: attribute -> what makes it from its values.

    Raises `StateError` where values do not make a part.
    """
    arguments: dict[str, State] = {part: {} for part in parts}
    for entry in entries:
        part, name = entry.place
        if not part:
            setattr(model, name, values.get(entry.key))
        elif entry.key in values:
            arguments[part][name] = values[entry.key]
    for part, make in parts.items():
        try:
            setattr(model, part, make(**arguments[part]) if arguments[part] else None)
        except ValueError as error:
            raise StateError(f"the state is damaged: {error}") from None


def checked(state: Mapping[str, object], entries: Sequence[Entry]) -> State:
    """The entries' values out of a state, arrays as contiguous copies; keys that no entry names are ignored.

    Raises `StateError` for a value that is missing or not as its entry says.
    """
    sizes: dict[str, int] = {}
    values: State = {}
    # Either everything of an optional part is there, or nothing.
    there = {entry.place[0] for entry in entries if entry.optional and state.get(entry.key) is not None}
    for entry in entries:
        value = plain(state.get(entry.key))
        if value is None and entry.optional and not (entry.place[0] and entry.place[0] in there):
            continue
        fault = "is missing" if value is None else _fault(entry, value, sizes)
        if fault:
            raise StateError(f"the state's {entry.key} {fault}")
        if isinstance(value, np.ndarray):
            values[entry.key] = np.array(value, order="C")
        else:
            values[entry.key] = _TYPES[entry.type](value)
    return values


def plain(value: object) -> object:
    """Turn the zero-dimensional arrays of an .npz back into numbers, flags and strings."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def _fault(entry: Entry, value: object, sizes: dict[str, int]) -> str:
    """What is wrong with a value, "" for nothing; notes the sizes that the value determines."""
    if entry.shape:
        if not isinstance(value, np.ndarray) or str(value.dtype) not in entry.type.split():
            found = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
            return f"must be an array of {entry.type.replace(' ', ' or ')}, not {found}"
        letters = entry.shape.split()
        if len(letters) != value.ndim:
            return f"must have {len(letters)} dimensions, not the shape {value.shape}"
        wanted = tuple(
            _size(letter, found, sizes) for letter, found in zip(letters, value.shape, strict=True)
        )
        if value.shape != wanted:
            return f"must have the shape {wanted}, not {value.shape}"
    elif not _is_plain(value, entry.type):
        return f"must be of type {entry.type}, not {type(value).__name__}"
    elif entry.size:
        sizes[entry.size] = int(value)  # type: ignore[call-overload]
    numbers = np.asarray(value)
    most = sizes[entry.below] - 1 if entry.below else entry.most
    # Written so that NaN fails too, since all its comparisons are false.
    fits = not numbers.size or (entry.least <= numbers.min() and numbers.max() <= most)
    return "" if fits else f"must be from {entry.least:g} to {most:g}"


def _is_plain(value: object, type_: str) -> bool:
    if type_ == "bool":
        return isinstance(value, bool)
    return isinstance(value, int if type_ == "int" else int | float) and not isinstance(value, bool)


def _size(letter: str, found: int, sizes: dict[str, int]) -> int:
    """The value of "K" or "K-1"; `found` determines a letter that is not known yet."""
    name, _, less = letter.partition("-")
    return sizes.setdefault(name, found + int(less or 0)) - int(less or 0)
