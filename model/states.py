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

FLOATS = "float32 float64"
"""The type of an array that may have either dtype."""
MOST = 2**53
"""The largest counter."""
MOST_ITERATIONS = 10_000
"""The most iterations of a loop over a document."""
TINY = 1e-300
"""The smallest positive number used."""
_PLAIN_TYPES: dict[str, type] = {"float": float, "int": int, "bool": bool}


class StateError(ValueError):
    """A state from which no model can continue; one line."""


@dataclass(frozen=True)
class Entry:
    """One key of a state, and which values it may have.

    Sizes have letters, such as K for the number of topics. The first entry that has a letter as its
    `size`, or in its `shape`, tells the size that the letter stands for; later entries must agree.

    key: its name in the state; public and permanent, since files contain it
    attribute: the name of the model's attribute that holds the value; "": the same as the key.
    "part.name" is the attribute `name` of the model's attribute `part`
    type: "float", "int" or "bool"; of an array, the dtypes that it may have, such as
    "float32 float64"
    shape: the sizes of an array, as letters, such as "W K" or "K-1"; "": the value is no array
    size: the letter whose size is the value, such as "K"
    least, most: the bounds of the value, or of every number in the array
    below: a letter whose size is above every number of the array, instead of `most`
    optional: whether the key may be missing. Then the attribute is None; if it is in a part, the
    part is None, and the part's other keys must be missing too
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
        """The model's attribute that is the part with the value; "" if the model itself has it."""
        part, _, _ = self._path.rpartition(".")
        return part

    @property
    def name(self) -> str:
        """The attribute with the value, of the model or of the part."""
        _, _, name = self._path.rpartition(".")
        return name

    @property
    def _path(self) -> str:
        return self.attribute or self.key

    @classmethod
    def of_option(cls, option: Option[float], *, optional: bool = False) -> Entry:
        """The entry for an option whose value is a model's attribute of the option's name.

        States from before the option existed get its default.
        """
        # An option that takes numbers has choices beside them only if the value may be learnt. What
        # is learnt may become smaller than any number that may be given.
        may_be_learnt = bool(option.choices)
        is_positive = option.above == 0
        least = TINY if may_be_learnt or is_positive else option.least
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
        """The entries for the fields of a dataclass, `part`, which a model has as `attribute`.

        Unless a field is `bounded`, an int is a number of iterations, a float is positive, and a
        `Vector` has a number of at least 0 for each topic.
        """
        prefix = attribute.removeprefix("_")
        # Annotations are not evaluated, so the type of a field is the text of its annotation.
        entry_of_type = {
            "int": cls("", type="int", least=1, most=MOST_ITERATIONS),
            "float": cls("", least=TINY),
            "Vector": cls("", type="float64", shape="K", least=0),
        }
        entries = []
        for part_field in fields(part):
            bounds = part_field.metadata
            entry = replace(
                entry_of_type[str(part_field.type)],
                key=f"{prefix}_{part_field.name}",
                attribute=f"{attribute}.{part_field.name}",
                optional=optional,
                **bounds,
            )
            entries.append(entry)
        return tuple(entries)


def bounded(
    least: float,
    most: float,
    default: Any = MISSING,
    *,
    missing: Plain | None = None,
) -> Any:
    """A dataclass's field with bounds of its own, for `Entry.of_part`, and the value for states
    from before it existed."""
    return field(default=default, metadata={"least": least, "most": most, "missing": missing})


def checked(
    state: Mapping[str, object], entries: Sequence[Entry], whose: str = "the state's "
) -> State:
    """The entries' values out of a state, arrays as contiguous copies; keys that no entry names are
    ignored.

    Raises `StateError` for a value that is missing or contradicts its entry. `whose` begins the
    error's message.
    """
    # An optional part is there completely or not at all.
    parts_given = set()
    for entry in entries:
        if entry.optional and entry.part and state.get(entry.key) is not None:
            parts_given.add(entry.part)

    sizes: dict[str, int] = {}
    values: State = {}
    for entry in entries:
        value = plain(state.get(entry.key))
        if value is None:
            value = entry.missing
        if value is None:
            if entry.optional and entry.part not in parts_given:
                continue
            raise StateError(f"{whose}{entry.key} is missing")
        fault = _fault(entry, value, sizes)
        if fault:
            raise StateError(f"{whose}{entry.key} {fault}")
        if entry.shape:
            values[entry.key] = np.array(value, order="C")
        else:
            plain_type = _PLAIN_TYPES[entry.type]
            values[entry.key] = plain_type(value)
    return values


def plain(value: object) -> object:
    """Turn the zero-dimensional arrays of an .npz back into numbers, flags and strings."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def _fault(entry: Entry, value: object, sizes: dict[str, int]) -> str:
    """What is wrong with a value, or "" if nothing is.

    sizes: the size of each letter that is known so far; the sizes that the value tells are added
    """
    fault = _fault_of_array(entry, value, sizes) if entry.shape else _fault_of_type(entry, value)
    if fault:
        return fault
    if entry.size:
        sizes[entry.size] = int(value)  # type: ignore[call-overload]
    most = sizes[entry.below] - 1 if entry.below else entry.most
    numbers = np.asarray(value)
    if numbers.size == 0:
        return ""
    # NaN is refused, too: all its comparisons are false.
    if entry.least <= numbers.min() and numbers.max() <= most:
        return ""
    return f"must be from {entry.least:g} to {most:g}"


def _fault_of_type(entry: Entry, value: object) -> str:
    """What is wrong with the type of a value that must be a number or a flag, or ""."""
    whole_for_float = entry.type == "float" and type(value) is int
    if whole_for_float or type(value) is _PLAIN_TYPES[entry.type]:
        return ""
    return f"must be of type {entry.type}, not {type(value).__name__}"


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
    expected = []
    for size, length in zip(letters, value.shape, strict=True):
        letter, _, subtrahend = size.partition("-")  # of "K-1": K and 1
        less = int(subtrahend) if subtrahend else 0
        if letter not in sizes:
            sizes[letter] = length + less
        expected.append(sizes[letter] - less)
    shape = tuple(expected)
    if value.shape != shape:
        return f"must have the shape {shape}, not {value.shape}"
    return ""


def random_state(random: np.random.Generator) -> NDArray[np.uint64]:
    """(6,) a generator as an entry of a state: PCG64's state and increment, each as its upper and
    lower 64 bits, then has_uint32 and uinteger."""
    generator: dict[str, Any] = dict(random.bit_generator.state)
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
    has_even_increment = lower_increment % 2 == 0
    if has_even_increment or has_uint32 >= 2 or uinteger >= 2**32:
        raise StateError(refusal)
    random = np.random.Generator(np.random.PCG64())
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {
            "state": upper_state * 2**64 + lower_state,
            "inc": upper_increment * 2**64 + lower_increment,
        },
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return random
