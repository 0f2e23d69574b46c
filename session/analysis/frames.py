"""A session as tables of pandas: the topic proportions of all its articles, also as a matrix of
SciPy, and how its models compare."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.texts.kinds import BEFORE
from wikitopics.extra import NOTEBOOK
from wikitopics.session.advance import Advance, unseen
from wikitopics.session.analysis.comparison import compare
from wikitopics.session.analysis.described import described_topics
from wikitopics.session.analysis.similar import TOPICS_READ
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.records import SHOWN_WORDS
from wikitopics.session.sources import kind_named
from wikitopics.session.storage.block import from_zero
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import APART, in_line

if TYPE_CHECKING:
    from pandas import DataFrame, Index, Series
    from pandas.api.extensions import ExtensionArray
    from scipy.sparse import csr_array

    from wikitopics.session.analysis.described import Topic

_DTYPES = re.compile(
    r"u?int(8|16|32|64)|U?Int64|float(32|64)|str|string|object"
    r"|(datetime64|timedelta64)\[(s|ms|us|ns)(, (?!dateutil)[\w/+:-]{1,40})?\]"
)
"""Types of an index that can be restored from text. Time zones of dateutil are none of them: their
names are paths of files, and pandas would open any."""
_NUMBERS = ("log_likelihood", "standard_error", "npmi", "distinct", "found")
_COLUMNS = ["topics", *_NUMBERS]
"""Of a table of models; it is narrow enough for a terminal."""
_AT_ONCE = 2**15
"""The number of rows that are filled together."""
_SORTED_TOGETHER = 2**18
"""About how many articles are sorted together."""


def as_csr(
    reader: SessionReader, model: str, *, held_out: bool, advance: Advance
) -> "tuple[csr_array, NDArray[np.int64]]":
    """((D, K) float32, page ids of its rows) of the trained articles whose proportions are
    recorded; ``held_out``: including those held out. ``advance``: is told how many have been read.

    Raises `SessionError` if none are.
    """
    from scipy.sparse import csr_array  # takes as long to load as everything else

    with reader.one_moment():
        reader.check_proportions()
        page_ids = reader.recorded_articles(held_out=held_out).page_ids
        n = len(page_ids)
        room = reader.most_proportions(model)
        index_type = np.int32 if room < 2**31 else np.int64
        # Written in place: the parts of millions of articles and all of them together would take
        # twice the memory.
        values = np.empty(room, np.float32)
        topics = np.empty(room, index_type)
        lengths = np.empty(n, np.int64)
        read = 0
        end = 0
        for part in reader.each_part(model, held_out=held_out):
            begin = end
            end += len(part.topics)
            values[begin:end] = part.values()
            topics[begin:end] = part.topics
            lengths[read : read + len(part)] = part.lengths
            read += len(part)
            advance(TOPICS_READ, read, n)
    values.resize(end, refcheck=False)
    topics.resize(end, refcheck=False)
    indptr = from_zero(lengths).astype(index_type)
    return csr_array((values, topics, indptr), shape=(n, reader.spec(model).topics)), page_ids


def as_frame(reader: SessionReader, model: str, *, held_out: bool, advance: Advance) -> "DataFrame":
    """The result of `as_csr` as a table: a column for each topic, a row for each article.

    Of the user's own documents, every one that was read has a row, in the order of the input; the
    row is empty if the document has no proportions. The index is the one that a pandas Series had,
    otherwise `id` if every article has one, otherwise `page_id`. Raises `BadUsage` without pandas.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise BadUsage(NOTEBOOK.needed("proportions(frame=True)")) from None
    with reader.one_moment():
        matrix, page_ids = as_csr(reader, model, held_out=held_out, advance=advance)
        labels = None
        if _have_ids(reader):
            is_own = kind_named(reader.settings().source).own
            trained_only = not (is_own or held_out)
            labels = _labels(reader, ["id"], trained_only=trained_only, advance=advance)
        rows, places, index = _rows(reader, page_ids, labels)
    dense = np.full((len(rows), matrix.shape[1]), np.nan, np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        known = np.flatnonzero(some >= 0)
        dense[start + known] = matrix[some[known]].toarray()
    topics = pd.RangeIndex(matrix.shape[1], name="topic")
    if index is None:
        index = pd.Index(rows, name="page_id")
    return pd.DataFrame(dense, index=index, columns=topics, copy=False)


@dataclass(frozen=True, slots=True)
class _Labels:
    """What articles are called by, each page once: of its newest reading."""

    page_ids: NDArray[np.int64]
    """(n,) ascending"""
    columns: "dict[str, Series]"
    """(n,) each: `id`, empty where there is none, `title`, or `snippet`, missing where none is
    kept."""

    def of_pages(self, name: str, page_ids: NDArray[np.int64]) -> "Series":
        """A column of the articles with these page ids. Raises `Damaged` if some are not known."""
        import pandas as pd

        column = self.columns[name]
        if page_ids is self.page_ids:  # all of them, as of the user's own documents
            return column
        rows = pd.Index(self.page_ids).get_indexer(page_ids)
        if (rows < 0).any():
            raise Damaged("blocks and articles do not match")
        return column.take(rows).reset_index(drop=True)


def _labels(
    reader: SessionReader,
    names: Sequence[str],
    *,
    trained_only: bool = False,
    advance: Advance,
) -> _Labels:
    """Columns of all articles: ``names`` are some of `id`, `title` and `snippet`. ``advance``: is
    told how many articles have been read.

    Pages are sorted in parts, from the first page ids to the last: so the texts of millions are
    never in memory twice, as read and as sorted.
    """
    import pandas as pd

    some_pages = np.sort(reader.recorded_articles(held_out=True).page_ids)
    ends = some_pages[_SORTED_TOGETHER::_SORTED_TOGETHER]
    parts: list[list[tuple[NDArray[np.int64], DataFrame]]] = [[] for _ in range(len(ends) + 1)]
    last = reader.last_seq()
    for seqs, pages, ids, titles in reader.all_labels(
        ids="id" in names, titles="title" in names, trained_only=trained_only
    ):
        texts: dict[str, Sequence[str | None]] = {"id": ids, "title": titles}
        if "snippet" in names:
            texts["snippet"] = [text or None for text in reader.snippets_of(seqs)]
        # As columns at once, which take less memory than Python's texts.
        columns = pd.DataFrame({name: pd.array(texts[name], dtype="str") for name in names})
        page_ids = np.array(pages, np.int64)
        part_of = np.searchsorted(ends, page_ids, side="right")
        for number in np.unique(part_of).tolist():
            own = np.flatnonzero(part_of == number)
            parts[number].append((page_ids[own], columns.take(own)))
        advance("documents read", seqs[-1], last)
    known = [np.empty(0, np.int64)]
    found = [pd.DataFrame({name: pd.array([], dtype="str") for name in names})]
    for part in parts:
        if part:
            page_ids, newest = _newest(np.concatenate([pages for pages, _ in part]))
            known.append(page_ids)
            found.append(pd.concat([columns for _, columns in part]).take(newest))
            part.clear()
    columns = pd.concat(found, ignore_index=True)
    return _Labels(np.concatenate(known), {name: columns[name] for name in names})


def _newest(pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """(the page ids, ascending; where each of them is last)."""
    order = np.argsort(pages, kind="stable")
    page_ids = np.unique(pages)
    last = np.searchsorted(pages, page_ids, side="right", sorter=order) - 1
    return page_ids, order[last]


def _have_ids(reader: SessionReader) -> bool:
    """Whether articles have ids of their own, or are the user's own documents, some of which may
    have ids."""
    return kind_named(reader.settings().source).own or reader.has_ids()


def _rows(
    reader: SessionReader, page_ids: NDArray[np.int64], labels: _Labels | None
) -> "tuple[NDArray[np.int64], NDArray[np.int64], Index | None]":
    """((rows,) the page id of each row of `as_frame`; (rows,) where it is among ``page_ids``, those
    of the recorded articles, -1 if it is not; its index, if that is another than page ids).

    ``labels``: with the ids of articles; None if they have none.
    """
    places = np.arange(len(page_ids))
    if labels is None:
        return page_ids, places, None
    if kind_named(reader.settings().source).own:
        places = places_of_documents(page_ids, labels.page_ids)
        page_ids = labels.page_ids
    return page_ids, places, _restored(reader, labels.of_pages("id", page_ids))


def places_of_documents(
    recorded: NDArray[np.int64], page_ids: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) where each of these documents is among the ``recorded``, by page ids; -1 if it is not.
    Raises `Damaged` if an id is recorded twice, which those of the user's own documents never
    are."""
    import pandas as pd

    index = pd.Index(recorded)
    if not index.is_unique:
        raise Damaged("blocks.page_ids has a document twice")
    places: NDArray[np.int64] = index.get_indexer(page_ids)
    return places


def documents(
    reader: SessionReader, model: str, *, titles: bool, advance: Advance = unseen
) -> "DataFrame":
    """The largest topic of each document, with the rows and the index of `as_frame`, and columns of
    text: `snippet`, if the session keeps any, and ``titles``."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise BadUsage(NOTEBOOK.needed("documents()")) from None
    with reader.one_moment():
        reader.check_proportions()
        page_ids = reader.recorded_articles(held_out=True).page_ids
        largest = np.empty(len(page_ids), np.int64)
        shares = np.empty(len(page_ids), np.float32)
        read = 0
        for part in reader.each_part(model, held_out=True):
            own = slice(read, read + len(part))
            largest[own], _ = part.two_largest(1)
            shares[own] = np.maximum.reduceat(part.values(), part.indptr()[:-1])
            read += len(part)
            advance(TOPICS_READ, read, len(page_ids))
        texts = ["title"] if titles else []
        if reader.has_snippets():
            texts.append("snippet")
        have_ids = _have_ids(reader)
        names = [*texts, "id"] if have_ids else texts
        labels = _labels(reader, names, advance=advance) if names else None
        labels_with_ids = labels if have_ids else None
        rows, places, index = _rows(reader, page_ids, labels_with_ids)
        topics = described_topics(reader, model)
    # The place -1 is that of a document without proportions.
    largest = np.append(largest, -1)[places]
    shares = np.append(shares, np.float32(np.nan))[places]
    found = _described(largest, shares, topics)
    if labels is not None:
        for name in texts:
            found[name] = labels.of_pages(name, rows)
    if index is None:
        index = pd.Index(rows, name="page_id")
    return found.set_axis(index)


def documents_of(
    reader: SessionReader, *, titles: bool = True, advance: Advance
) -> "DataFrame | None":
    """`page_id` and, with ``titles``, `title` of the user's own documents, with the rows and the
    index of `as_frame` (a plain one instead of page ids); None for other articles."""
    import pandas as pd

    with reader.one_moment():
        if not kind_named(reader.settings().source).own:
            return None
        names = ["title", "id"] if titles else ["id"]
        labels = _labels(reader, names, advance=advance)
        index = _restored(reader, labels.columns.pop("id"))
    documents = pd.DataFrame({"page_id": labels.page_ids, **labels.columns})
    return documents if index is None else documents.set_axis(index)


def titles_of(
    reader: SessionReader, seqs: NDArray[np.int64], advance: Advance = unseen
) -> "ExtensionArray":
    """The titles of the articles with these numbers, which ascend. Raises `Damaged` if the session
    does not have all of them."""
    import pandas as pd

    titles = [pd.array([], dtype="str")]
    last = reader.last_seq()
    for some_seqs, _, _, some_titles in reader.all_labels(
        ids=False, titles=True, trained_only=False
    ):
        some = np.array(some_seqs)
        begin, end = np.searchsorted(seqs, [some[0], some[-1] + 1])
        own = np.isin(some, seqs[begin:end])
        titles.append(pd.array(some_titles, dtype="str")[own])
        advance("documents read", some_seqs[-1], last)
    found = pd.concat([pd.Series(part) for part in titles]).array
    if len(found) != len(seqs):
        raise Damaged("places and articles do not match")
    return found


def remark_on_index(reader: SessionReader) -> str:
    """A remark for the user if the ids of the texts added last do not fit the index of a pandas
    Series that the session had; "" if they do, or if it had none."""
    kept_index = reader.index()
    before = reader.settings().source_options.get(BEFORE)
    if kept_index is None or before is None:
        return ""
    of_tables = "the index of documents() and proportions(frame=True)"
    ids = list(reader.ids_after(before))
    if not all(ids):
        return (
            f"ids: not all added texts have one, so {of_tables} no longer has those of the others"
        )
    try:
        _index(ids, *kept_index)
    except (TypeError, ValueError, OverflowError):
        _, dtype = kept_index
        return (
            f"ids: those of the added texts are not {dtype}, as the others are, so {of_tables} "
            "becomes text, and is joined only with text: frame.set_axis(frame.index.map(str))"
        )
    return ""


def _restored(reader: SessionReader, labels: "Series") -> "Index | None":
    """The index that a pandas Series had, otherwise the ids, ``labels``; None unless all have
    one."""
    import pandas as pd

    kept_index = reader.index()
    # Documents that were added later may have other ids than the first ones.
    has_added = BEFORE in reader.settings().source_options
    all_have_ids = bool((labels != "").all())
    if kept_index is not None and (all_have_ids or not has_added):
        try:
            return _index(labels.array, *kept_index)
        except (TypeError, ValueError, OverflowError):
            if not has_added:
                raise Damaged("settings.index does not fit articles.id") from None
    return pd.Index(labels.array, name="id") if all_have_ids else None


def _described(
    largest: NDArray[np.int64], shares: NDArray[np.float32], topics: Sequence["Topic"]
) -> "DataFrame":
    """The columns that `documents` has of the largest topic of each article, and its proportion.

    ``largest``: -1 for an article without topics. ``topics``: all of them, by number.
    """
    import pandas as pd

    def of_largest(values: Sequence[object], dtype: str) -> Any:
        return pd.array(values, dtype=dtype).take(largest, allow_fill=True)

    columns = {
        "topic": of_largest([topic.number for topic in topics], "Int64"),
        "name": of_largest([topic.name for topic in topics], "str"),
        "share": shares,
        "area": of_largest([topic.area for topic in topics], "Int64"),
        "area_name": of_largest([topic.area_name for topic in topics], "str"),
    }
    return pd.DataFrame(columns)


def topics_as_frame(topics: Sequence["Topic"]) -> "DataFrame":
    """A row for each topic, in the order given. Raises `BadUsage` without pandas."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise BadUsage(NOTEBOOK.needed("topics(frame=True)")) from None
    columns = {
        "topic": [topic.number for topic in topics],
        "name": pd.array([topic.name for topic in topics], dtype="str"),
        "share": np.array([topic.share for topic in topics], np.float64),
        "area": pd.array([topic.area for topic in topics], dtype="Int64"),
        "area_name": pd.array([topic.area_name for topic in topics], dtype="str"),
        "npmi": np.array([topic.npmi for topic in topics], np.float64),
        "found": np.array([topic.found for topic in topics], np.float64),
        "in_use": np.array([topic.in_use for topic in topics], np.bool_),
        "hidden": np.array([topic.hidden for topic in topics], np.bool_),
        "parent": pd.array([topic.parent for topic in topics], dtype="Int64"),
        "words": pd.array([in_line(topic.words[:SHOWN_WORDS]) for topic in topics], dtype="str"),
        "shown": pd.array([in_line(topic.shown) for topic in topics], dtype="str"),
        "titles": pd.array([APART.join(topic.titles) for topic in topics], dtype="str"),
    }
    return pd.DataFrame(columns)


def compared(reader: SessionReader) -> "DataFrame":
    """The models of a session on its held-out articles, in the order of `Comparison.by_topics`.

    Raises the errors of `compare`, and `BadUsage` without pandas.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise BadUsage(NOTEBOOK.needed("compare()")) from None
    records = map(asdict, compare([reader]).by_topics())
    frame = pd.DataFrame(records).set_index("model")[_COLUMNS]
    return frame.astype(dict.fromkeys(_NUMBERS, "float64"))  # None makes a column of objects


def as_kept(index: "Index") -> dict[str, object] | None:
    """What a session must store to restore this pandas index from its labels as text; None if that
    is impossible."""
    if not isinstance(index.name, str | int | None):
        return None
    try:
        restored = _index([str(label) for label in index], index.name, str(index.dtype))
        is_the_same = restored.equals(index)
    except (TypeError, ValueError):
        return None
    if not is_the_same:
        return None
    return {"name": index.name, "dtype": str(index.dtype)}


def _index(labels: "Sequence[str] | ExtensionArray", name: str | int | None, dtype: str) -> "Index":
    """The index with these labels. Raises ValueError or TypeError."""
    import pandas as pd

    # A file that somebody else made could ask for any amount of memory.
    if not _DTYPES.fullmatch(dtype):
        raise ValueError(dtype)
    return pd.Index(labels, name=name).astype(dtype)
