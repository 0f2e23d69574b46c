"""The states of models as data: their keys, the attributes that hold them, and their valid values.

A model lists its `Entry`s once; saving, reading and checking follow from the list. A state is flat
and made of numpy arrays, plain numbers and flags, so that `np.savez(path, **state)` can keep it. It
may come from a damaged or hostile file, and kernels check no bounds: anything invalid is refused
before a kernel sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.options import LARGEST
from wikitopics.option import Option

Plain = NDArray[Any] | bool | int | float | str
State = dict[str, Plain]

FLOATS = "float32 float64"  # an array of either
MOST = 2**53  # the largest counter
MOST_ITERATIONS = 10_000  # the most iterations of a loop over a document
TINY = 1e-300  # the smallest positive number used
_TYPES: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "bool": (bool,)}


class StateError(ValueError):
    """A state from which no model can continue; one line."""


@dataclass(frozen=True)
class Entry:
    """One key of a state.

    key: its name in the state; public and permanent, since files contain it
    attribute: the model's attribute, by default of the same name; "part.name" is in a part of the
    model
    type: "float", "int" or "bool", or the dtypes that an array may have, such as "float32 float64"
    shape: the sizes of an array as letters, such as "W K" or "K-1"; a letter not known yet takes
    the size found
    size: the letter whose size this number is
    least, most: bounds on every number; below: the letter whose size bounds all ids
    optional: whether the key may be missing; its attribute, or the part that it belongs to, is then
    None
    missing: the value for states from before the entry existed; None: such states are refused
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
    missing: Plain | None = None

    @property
    def part(self) -> str:
        """The model's attribute that is the part with this value; "" if the model itself has it."""
        part, _, _ = self._path
        return part

    @property
    def name(self) -> str:
        """The attribute with this value, of the model or the part."""
        _, _, name = self._path
        return name

    @property
    def _path(self) -> tuple[str, str, str]:
        return (self.attribute or self.key).rpartition(".")

    @classmethod
    def of_option(cls, option: Option[float], *, optional: bool = False) -> Entry:
        """The entry for an option whose value is an attribute of its name; older states get its
        default."""
        # What is learnt may become smaller than any number that may be given.
        learnt = bool(option.choices)
        least = TINY if learnt or option.above == 0 else option.least
        default = None if isinstance(option.default, str) else option.default
        return cls(
            option.name,
            type=option.of.__name__,
            least=least,
            most=option.most,
            optional=optional,
            missing=default,
        )

    @classmethod
    def of_part(cls, part: Any, attribute: str, optional: bool = False) -> tuple[Entry, ...]:
        """Entries for a dataclass that a model has as `attribute`.

        Its fields are numbers of iterations, and positive numbers, unless they are `bounded`; a
        `Vector` has a number of at least 0 for each topic.
        """
        prefix = attribute.removeprefix("_")
        of_types = {
            "int": cls("", type="int", least=1, most=MOST_ITERATIONS),
            "float": cls("", least=TINY),
            "Vector": cls("", type="float64", shape="K", least=0),
        }
        entries = []
        for number in fields(part):
            entry = replace(
                of_types[str(number.type)],
                key=f"{prefix}_{number.name}",
                attribute=f"{attribute}.{number.name}",
                optional=optional,
                **number.metadata,
            )
            entries.append(entry)
        return tuple(entries)


def bounded(least: float, most: float, default: Any = MISSING) -> Any:
    """A field of a part of a model, for `Entry.of_part`."""
    return field(default=default, metadata={"least": least, "most": most})


def checked(
    state: Mapping[str, object], entries: Sequence[Entry], whose: str = "the state's "
) -> State:
    """The entries' values out of a state, arrays as contiguous copies; keys that no entry names are
    ignored.

    Raises `StateError` for a value that is missing or contradicts its entry.
    """
    sizes: dict[str, int] = {}
    values: State = {}
    given = [entry for entry in entries if state.get(entry.key) is not None]
    # An optional part is there completely or not at all.
    given_parts = {entry.part for entry in given if entry.optional and entry.part}
    for entry in entries:
        value = plain(state.get(entry.key))
        if value is None:
            value = entry.missing
        if value is None:
            if entry.optional and entry.part not in given_parts:
                continue
            raise StateError(f"{whose}{entry.key} is missing")
        fault = _fault(entry, value, sizes)
        if fault:
            raise StateError(f"{whose}{entry.key} {fault}")
        if entry.shape:
            values[entry.key] = np.array(value, order="C")
        else:
            of_type, *_ = _TYPES[entry.type]
            values[entry.key] = of_type(value)
    return values


def plain(value: object) -> object:
    """Turn the zero-dimensional arrays of an .npz back into numbers, flags and strings."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def _fault(entry: Entry, value: object, sizes: dict[str, int]) -> str:
    """What is wrong with a value, or ""; records in `sizes` those that the value determines."""
    if entry.shape:
        fault = _fault_of_array(entry, value, sizes)
        if fault:
            return fault
    elif type(value) not in _TYPES[entry.type]:
        return f"must be of type {entry.type}, not {type(value).__name__}"
    elif entry.size:
        sizes[entry.size] = int(value)  # type: ignore[call-overload]
    numbers = np.asarray(value)
    most = sizes[entry.below] - 1 if entry.below else entry.most
    # Written so that NaN fails too: all its comparisons are false.
    fits = not numbers.size or (entry.least <= numbers.min() and numbers.max() <= most)
    return "" if fits else f"must be from {entry.least:g} to {most:g}"


def _fault_of_array(entry: Entry, value: object, sizes: dict[str, int]) -> str:
    """What is wrong with the dtype or the shape of a value that must be an array, or ""."""
    dtypes = entry.type.split()
    wanted = f"must be an array of {' or '.join(dtypes)}"
    if not isinstance(value, np.ndarray):
        return f"{wanted}, not {type(value).__name__}"
    if str(value.dtype) not in dtypes:
        return f"{wanted}, not {value.dtype}"
    letters = entry.shape.split()
    if len(letters) != value.ndim:
        return f"must have {len(letters)} dimensions, not the shape {value.shape}"
    lengths = []
    for letter, length in zip(letters, value.shape, strict=True):
        name, _, difference = letter.partition("-")  # "K-1" is one less than K
        less = int(difference or 0)
        sizes.setdefault(name, length + less)
        lengths.append(sizes[name] - less)
    shape = tuple(lengths)
    if value.shape != shape:
        return f"must have the shape {shape}, not {value.shape}"
    return ""


def random_state(random: np.random.Generator) -> NDArray[np.uint64]:
    """(6,) PCG64's state and increment, each as its upper and lower 64 bits, then has_uint32 and
    uinteger."""
    generator: Any = random.bit_generator.state
    upper_state, lower_state = divmod(generator["state"]["state"], 2**64)
    upper_increment, lower_increment = divmod(generator["state"]["inc"], 2**64)
    numbers = [
        upper_state,
        lower_state,
        upper_increment,
        lower_increment,
        generator["has_uint32"],
        generator["uinteger"],
    ]
    return np.array(numbers, np.uint64)


def random_from(state: object) -> np.random.Generator:
    """The inverse of `random_state`."""
    refusal = "the state's random must be a PCG64 generator's, with an odd increment"
    if not isinstance(state, np.ndarray) or state.dtype != np.uint64 or state.shape != (6,):
        raise StateError(refusal)
    numbers = [int(number) for number in state]
    upper_state, lower_state, upper_increment, lower_increment, has_uint32, uinteger = numbers
    # With an even increment, a generator may repeat the same number for ever.
    odd = lower_increment & 1
    if not odd or has_uint32 >= 2 or uinteger >= 2**32:
        raise StateError(refusal)
    random = np.random.Generator(np.random.PCG64())
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {
            "state": upper_state << 64 | lower_state,
            "inc": upper_increment << 64 | lower_increment,
        },
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return random
