"""What can be exported, as data: each subject declares itself in a file of its own."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model import OnlineModel
    from session.storage.reader import SessionReader

Row = Sequence[object]
"""One value per column."""
Batch = Sequence[Sequence[object]]
"""Some rows, as one sequence per column: handled row by row, millions of them would take minutes."""
_BATCH_ROWS = 500


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What an export is asked for."""

    reader: "SessionReader"
    models: Sequence[str]
    """In the order of the session."""
    everything: bool = False
    """As with --all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Rows, arrays, a model; which formats it has follows from that."""

    name: str
    label: str
    """For people, e.g. "Topics: top words, probabilities, shares"."""
    columns: tuple[str, ...] = ()
    """New ones go behind the old."""
    batches: Callable[[ExportRequest], Iterator[Batch]] | None = None
    """Its rows in a fixed order, some at a time."""
    arrays: "Callable[[ExportRequest], Mapping[str, NDArray[Any]]] | None" = None
    model: "Callable[[ExportRequest], OnlineModel] | None" = None
    """The trained model that it is, for the formats of programs that know models."""
    one_model: bool = False
    """Whether it is of one model: the session's first, where none is named."""
    everything: str = ""
    """What --all does here; "" where it means nothing."""
    columns_of_everything: tuple[str, ...] = ()
    """Behind the others with --all."""
    columns_of_some: Callable[[ExportRequest], tuple[str, ...]] | None = None
    """Behind all others, those that only some sessions have."""
    of_texts: bool = False
    """Whether it holds titles or word counts, which come under the licence of the texts."""
    count: Callable[[ExportRequest], int | None] | None = None
    """How many rows there will be, where that is worth a progress line and can be known before."""

    def header(self, asked: ExportRequest) -> tuple[str, ...]:
        """The columns of its rows."""
        always = self.columns + (self.columns_of_everything if asked.everything else ())
        return always + (self.columns_of_some(asked) if self.columns_of_some else ())


def batched(rows: Callable[[ExportRequest], Iterable[Row]]) -> Callable[[ExportRequest], Iterator[Batch]]:
    """Turn a function that yields rows into one that yields batches of them."""

    def batches(left: Iterator[Row]) -> Iterator[Batch]:
        while some := list(islice(left, _BATCH_ROWS)):
            yield list(zip(*some, strict=True))

    # Not a generator itself: what is not recorded is said before anything is written.
    return lambda asked: batches(iter(rows(asked)))


def repeated(values: Iterable[object], times: Iterable[int]) -> list[object]:
    """Repeat each value as often as ``times`` says."""
    return list(chain.from_iterable(map(repeat, values, times)))
