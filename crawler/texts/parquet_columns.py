"""The columns of a Parquet file that hold the parts of documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.texts.records import lacks, misfit

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData


class NoColumn(BadSource):
    """A column that is wanted is not there."""


class Column(NamedTuple):
    """A column that holds a part of each document."""

    path: str
    """Its name, with those of the columns around it: `a.b`."""
    number: int
    """Its number among the file's leaf columns."""


class Columns(NamedTuple):
    """The columns of a file that hold the parts of documents."""

    text: Column
    title: Column | None
    id: Column | None

    def paths(self) -> list[str]:
        """The names of all, each once."""
        return list(dict.fromkeys(column.path for column in self if column is not None))


_TEXTS = ("STRING", "NONE", "ENUM", "JSON", "UUID")
"""What a column of bytes may mean whose values are texts; old programs do not say."""


def _is_text(column: Any) -> bool:
    return column.physical_type == "BYTE_ARRAY" and column.logical_type.type in _TEXTS


def _is_number(column: Any) -> bool:
    is_stored_so = column.physical_type in ("INT32", "INT64", "FLOAT", "DOUBLE")
    return is_stored_so and column.logical_type.type in ("INT", "NONE")


@dataclass(frozen=True)
class ColumnNames:
    """The columns that a user named; None: those usually called so."""

    text: str | None = None
    title: str | None = None
    id: str | None = None
    reads_ids: bool = True
    """Whether the column of ids is looked for, and read."""


def document_columns(metadata: FileMetaData, names: ColumnNames, name: str) -> Columns:
    """The columns of a file called ``name`` that hold the parts of documents. Raises BadSource:
    `NoColumn` names those that are there."""
    schema = metadata.schema
    leaves = [schema.column(number) for number in range(len(schema.names))]
    texts: dict[str, int] = {}
    labels: dict[str, int] = {}
    for number, leaf in enumerate(leaves):
        if leaf.max_repetition_level:
            continue  # a value for each element of a list
        if _is_text(leaf):
            texts.setdefault(leaf.path, number)
        if _is_text(leaf) or _is_number(leaf):
            labels.setdefault(leaf.path, number)

    def label(named: str | None, usual: Sequence[str], flag: str) -> Column | None:
        column = _named(labels, named, usual)
        if column is None and named is not None:
            why = lacks("column", named, labels, flag)
            found = _leaves_of(leaves, named)
            if found:
                why = misfit(named, f"texts or numbers ({_held_by(found[0])})", labels)
            raise NoColumn(f"{name}: {why}")
        return column

    text = _named(texts, names.text, ("text",))
    if text is None:
        raise NoColumn(f"{name}: {_without_text(leaves, names.text, texts)}")
    title = label(names.title, ("title",), "--title-column")
    id = label(names.id, ("id", "url"), "--id-column") if names.reads_ids else None
    columns = Columns(text, title, id)
    for path in columns.paths():
        called = [leaf for leaf in _leaves_of(leaves, path) if not _is_dotted(leaf, path)]
        if len(called) > 1:  # columns are read by their names
            raise BadSource(f"{name}: several columns are called {path!r}; rename all but one")
    return columns


def _without_text(leaves: Sequence[Any], named: str | None, texts: Collection[str]) -> str:
    """What is wrong with a file without a column for the text; ``texts``: those that hold texts."""
    wanted = named or "text"
    found = _leaves_of(leaves, wanted)
    if not found:
        return lacks("column", named, texts)
    is_list = any(leaf.max_repetition_level and leaf.path != wanted for leaf in found)
    needed = f"texts; {LISTS}" if is_list else "texts"
    return misfit(wanted, needed, texts)


LISTS = "lists of tokens are for `wikitopics.train`"
"""What is said of a column of lists."""


def _held_by(leaf: Any) -> str:
    """What a leaf column holds, for people."""
    if leaf.max_repetition_level:
        return "lists"
    meaning: str = leaf.logical_type.type
    held: str = leaf.physical_type if meaning == "NONE" else meaning
    return held.lower()


def _leaves_of(leaves: Sequence[Any], named: str) -> list[Any]:
    """The leaf columns that are, or are inside, the column of this name."""
    inner = f"{named}."
    return [leaf for leaf in leaves if leaf.path == named or leaf.path.startswith(inner)]


def _is_dotted(leaf: Any, path: str) -> bool:
    """Whether this leaf column is not inside the one of this path, but has a dot in its name."""
    has_own_name: bool = leaf.name == leaf.path
    return leaf.path != path and has_own_name


def _named(columns: dict[str, int], named: str | None, usual: Sequence[str]) -> Column | None:
    """The column called ``named``; None: the first called as ``usual``, in upper or lower case."""
    path = called_so(columns, usual) if named is None else named
    return Column(path, columns[path]) if path in columns else None


def called_so(names: Iterable[str], usual: Sequence[str]) -> str | None:
    """The first of the names that is one of the ``usual`` ones, in upper or lower case."""
    by_folded = {name.casefold(): name for name in reversed(list(names))}
    return next((by_folded[name] for name in usual if name in by_folded), None)


def values_of(batch: Any, column: Column) -> Any:
    """The values of a column in a record batch, where it may be inside others."""
    found = next(_called(batch.to_struct_array(), column.path.split(".")), None)
    if found is None:
        raise ValueError(f"no column {column.path!r}")
    return found


def _called(values: Any, names: Sequence[str]) -> Iterator[Any]:
    """The columns inside these values whose paths have these names. A dot may also be a part of a
    name, so several of them may be one name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_leaf = not pa.types.is_struct(values.type)
    if is_leaf and not names:
        yield values
    if is_leaf:
        return
    for length in range(1, len(names) + 1):
        for place in values.type.get_all_field_indices(".".join(names[:length])):
            yield from _called(pc.struct_field(values, [place]), names[length:])
