"""What can be exported, as data; each subject is declared in a file of its own."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wikitopics.model import OnlineModel
    from wikitopics.session.storage.reader import SessionReader

Row = Sequence[object]
"""One value per column."""
Batch = Sequence[Sequence[object]]
"""Some rows, as one sequence per column: handling millions row by row would take minutes."""
_BATCH_ROWS = 500


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The parameters of an export."""

    reader: "SessionReader"
    models: Sequence[str]
    """The models, in the order of the session."""
    everything: bool = False
    """Whether --all was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Rows, arrays or a model; the formats available follow from that."""

    name: str
    label: str
    """Its name for people, e.g. "Topics: top words, probabilities, shares"."""
    columns: tuple[str, ...] = ()
    """Its columns; new ones are added at the end."""
    batches: Callable[[ExportRequest], Iterator[Batch]] | None = None
    """Its rows in a fixed order, in batches."""
    arrays: "Callable[[ExportRequest], Mapping[str, NDArray[Any]]] | None" = None
    model: "Callable[[ExportRequest], OnlineModel] | None" = None
    """The trained model, for the formats of programs that know models."""
    one_model: bool = False
    """Whether it concerns one model: the session's first, if none is named."""
    everything: str = ""
    """The meaning of --all here; "" if it has none."""
    columns_of_everything: tuple[str, ...] = ()
    """Columns added at the end with --all."""
    columns_of_some: Callable[[ExportRequest], tuple[str, ...]] | None = None
    """Columns at the very end that only some sessions have."""
    of_texts: bool = False
    """Whether it contains titles or word counts, which are under the licence of the texts."""
    count: Callable[[ExportRequest], int | None] | None = None
    """The number of rows, if that is worth a progress line and known beforehand."""

    def header(self, asked: ExportRequest) -> tuple[str, ...]:
        """The names of the columns."""
        always = self.columns + (self.columns_of_everything if asked.everything else ())
        return always + (self.columns_of_some(asked) if self.columns_of_some else ())


def batched(rows: Callable[[ExportRequest], Iterable[Row]]) -> Callable[[ExportRequest], Iterator[Batch]]:
    """Turn a function that yields rows into one that yields batches of them."""

    def batches(left: Iterator[Row]) -> Iterator[Batch]:
        while some := list(islice(left, _BATCH_ROWS)):
            yield list(zip(*some, strict=True))

    # Not a generator itself: an error about missing records comes before anything is written.
    return lambda asked: batches(iter(rows(asked)))


def repeated(values: Iterable[object], times: Iterable[int]) -> list[object]:
    """Repeat each value as often as ``times`` says."""
    return list(chain.from_iterable(map(repeat, values, times)))
