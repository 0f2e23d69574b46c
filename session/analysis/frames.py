"""A session as tables of pandas: the topic proportions of all its articles, also as a matrix of
SciPy, and how its models compare."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.texts.kinds import BEFORE
from wikitopics.extra import NOTEBOOK
from wikitopics.session.analysis.comparison import compare
from wikitopics.session.analysis.described import described_topics
from wikitopics.session.analysis.similar import TOPICS_READ
from wikitopics.session.errors import Advance, BadUsage, Damaged, unseen
from wikitopics.session.records import SHOWN_WORDS
from wikitopics.session.sources import described
from wikitopics.session.storage.block import from_zero
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import APART, in_line

if TYPE_CHECKING:
    from pandas import DataFrame, Index, Series
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


def as_csr(
    reader: SessionReader, model: str, *, held_out: bool = False, advance: Advance = unseen
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


def as_frame(
    reader: SessionReader, model: str, *, held_out: bool = False, advance: Advance = unseen
) -> "DataFrame":
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
        rows, places, index = _rows(reader, page_ids, held_out=held_out)
    dense = np.full((len(rows), matrix.shape[1]), np.nan, np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        known = np.flatnonzero(some >= 0)
        dense[start + known] = matrix[some[known]].toarray()
    topics = pd.RangeIndex(matrix.shape[1], name="topic")
    if index is None:
        index = pd.Index(rows, name="page_id")
    return pd.DataFrame(dense, index=index, columns=topics, copy=False)


def _rows(
    reader: SessionReader, page_ids: NDArray[np.int64], *, held_out: bool
) -> "tuple[NDArray[np.int64], NDArray[np.int64], Index | None]":
    """((rows,) the page id of each row of `as_frame`; (rows,) where it is among ``page_ids``, those
    of the recorded articles, -1 if it is not; its index, if that is another than page ids)."""
    import pandas as pd

    is_own = described(reader.settings().source).own
    places = np.arange(len(page_ids))
    if not is_own and not reader.has_ids():
        return page_ids, places, _restored(reader, [""] * len(page_ids))
    pages: list[int] = []
    ids: list[str | None] = []
    for _, some_pages, *_, some_ids in reader.all_articles(trained_only=not (is_own or held_out)):
        pages += some_pages
        ids += some_ids
    known, last = _last_rows(pages)
    if is_own:
        places = pd.Index(page_ids).get_indexer(known)
        page_ids = known
    rows = np.minimum(np.searchsorted(known, page_ids), max(len(known) - 1, 0))
    labels = [ids[last[row]] or "" for row in rows.tolist()]
    return page_ids, places, _restored(reader, labels)


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
        rows, places, index = _rows(reader, page_ids, held_out=True)
        texts = _texts_of(reader, rows, titles=titles)
        topics = described_topics(reader, model)
    known = np.flatnonzero(places >= 0)
    found = _described(largest[places[known]], shares[places[known]], topics)
    # Rows are found by their places, not by their labels, since labels may repeat.
    found = found.set_axis(known).reindex(range(len(rows))).assign(**texts)
    return found.set_axis(pd.Index(rows, name="page_id") if index is None else index)


def documents_of(reader: SessionReader, *, titles: bool = True) -> "DataFrame | None":
    """`page_id` and, with ``titles``, `title` of the user's own documents, with the rows and the
    index of `as_frame` (a plain one instead of page ids); None for other articles."""
    import pandas as pd

    with reader.one_moment():
        if not described(reader.settings().source).own:
            return None
        pages: list[int] = []
        names: list[str] = []
        ids: list[str | None] = []
        for _, some_pages, some_names, *_, some_ids in reader.all_articles(trained_only=False):
            pages += some_pages
            names += some_names if titles else ()
            ids += some_ids
        page_ids, last = _last_rows(pages)
        index = _restored(reader, [ids[row] or "" for row in last])
    columns: dict[str, object] = {"page_id": page_ids}
    if titles:
        columns["title"] = [names[row] for row in last]
    return pd.DataFrame(columns, index=index)


def _last_rows(pages: Sequence[int] | NDArray[np.int64]) -> tuple[NDArray[np.int64], list[int]]:
    """(the page ids, ascending; where each of them is last)."""
    known = np.array(pages, np.int64)
    order = np.argsort(known, kind="stable")
    page_ids = np.unique(known)
    last = np.searchsorted(known, page_ids, side="right", sorter=order) - 1
    return page_ids, order[last].tolist()


def _texts_of(
    reader: SessionReader, page_ids: NDArray[np.int64], *, titles: bool
) -> "dict[str, Series]":
    """The columns of text of `documents`, for the articles with these page ids."""
    import pandas as pd

    columns: dict[str, list[Series]] = {}
    if titles:
        columns["title"] = []
    if reader.has_snippets():
        columns["snippet"] = []
    if not columns:
        return {}
    pages: list[NDArray[np.int64]] = []
    for seqs, some_pages, names, *_ in reader.all_articles(trained_only=False):
        pages.append(np.array(some_pages, np.int64))
        # As columns at once, which take less memory than Python's texts.
        if "title" in columns:
            columns["title"].append(pd.Series(names, dtype="str"))
        if "snippet" in columns:
            snippets = [text or None for text in reader.snippets_of(seqs)]
            columns["snippet"].append(pd.Series(snippets, dtype="str"))
    known, last = _last_rows(np.concatenate(pages))
    rows = np.searchsorted(known, page_ids)
    places = np.array(last)[np.minimum(rows, len(last) - 1)]
    texts = {}
    while columns:
        name, parts = columns.popitem()
        texts[name] = pd.concat(parts, ignore_index=True).take(places).reset_index(drop=True)
        parts.clear()
    return {name: texts[name] for name in reversed(texts)}


def _restored(reader: SessionReader, labels: Sequence[str]) -> "Index | None":
    """The index that a pandas Series had, otherwise the ids; None unless all have one."""
    import pandas as pd

    kept_index = reader.index()
    # Documents that were added later may have other ids than the first ones.
    has_added = BEFORE in reader.settings().source_options
    all_have_ids = all(labels)
    if kept_index is not None and (all_have_ids or not has_added):
        try:
            return _index(labels, *kept_index)
        except (TypeError, ValueError, OverflowError):
            if not has_added:
                raise Damaged("settings.index does not fit articles.id") from None
    return pd.Index(labels, name="id") if all_have_ids else None


def _described(
    largest: NDArray[np.int64], shares: NDArray[np.float32], topics: Sequence["Topic"]
) -> "DataFrame":
    """The columns that `documents` has of the largest topic of each article, and its proportion.

    ``topics``: all of them, by number.
    """
    import pandas as pd

    names = np.array([topic.name for topic in topics], object)
    areas = np.array([topic.area for topic in topics], object)
    area_names = np.array([topic.area_name for topic in topics], object)
    columns = {
        "topic": pd.array(largest, dtype="Int64"),
        "name": names[largest],
        "share": shares,
        "area": pd.array(areas[largest], dtype="Int64"),
        "area_name": area_names[largest],
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


def _index(labels: Sequence[str], name: str | int | None, dtype: str) -> "Index":
    """The index with these labels. Raises ValueError or TypeError."""
    import pandas as pd

    # A file that somebody else made could ask for any amount of memory.
    if not _DTYPES.fullmatch(dtype):
        raise ValueError(dtype)
    return pd.Index(labels, name=name).astype(dtype)
