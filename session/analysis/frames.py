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
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.records import SHOWN_WORDS
from wikitopics.session.sources import described
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import APART, in_line

if TYPE_CHECKING:
    from pandas import DataFrame, Index
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


def as_csr(
    reader: SessionReader, model: str, *, held_out: bool = False
) -> "tuple[csr_array, NDArray[np.int64]]":
    """((D, K) float32, page ids of its rows) of the trained articles whose proportions are
    recorded; ``held_out``: including those held out.

    Raises `SessionError` if none are.
    """
    from scipy.sparse import csr_array  # takes as long to load as everything else

    with reader.one_moment():
        reader.check_proportions()
        articles = reader.recorded_articles(held_out=held_out)
        recorded = reader.proportions(model, held_out=held_out)
    indptr = recorded.indptr()
    index_type = np.int32 if indptr[-1] < 2**31 else np.int64
    parts = (recorded.values(), recorded.topics.astype(index_type), indptr.astype(index_type))
    matrix = csr_array(parts, shape=(len(recorded), reader.spec(model).topics))
    return matrix, articles.page_ids


def as_frame(reader: SessionReader, model: str, *, held_out: bool = False) -> "DataFrame":
    """The result of `as_csr` as a table: a column for each topic, a row for each article.

    Of the user's own documents, every one that was read has a row, in the order of the input; the
    row is empty if the document has no proportions. The index is the one that a pandas Series had,
    otherwise `id` if every article has one, otherwise `page_id`. Raises `BadUsage` without pandas.
    """
    frame, index = _by_page(reader, model, held_out=held_out)
    return frame.rename_axis("page_id") if index is None else frame.set_axis(index)


def _by_page(
    reader: SessionReader, model: str, *, held_out: bool
) -> "tuple[DataFrame, Index | None]":
    """(the table of `as_frame` with page ids as its index, the index of `as_frame` if it is
    another)."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise BadUsage(NOTEBOOK.needed("proportions(frame=True)")) from None
    with reader.one_moment():
        matrix, page_ids = as_csr(reader, model, held_out=held_out)
        is_own = described(reader.settings().source).own
        id_of: dict[int, str] = {}
        if is_own or reader.has_ids():
            id_of = _ids(reader, trained_only=not (is_own or held_out))
        topics = pd.RangeIndex(matrix.shape[1], name="topic")
        frame = pd.DataFrame(matrix.toarray(), index=page_ids, columns=topics)
        if is_own:
            frame = frame.reindex(sorted(id_of))
        index = _restored(reader, [id_of.get(page) or "" for page in frame.index.tolist()])
    return frame, index


def documents(reader: SessionReader, model: str, *, titles: bool) -> "DataFrame":
    """The largest topic of each document, with the rows and the index of `as_frame`, and columns of
    text: `snippet`, if the session keeps any, and ``titles``."""
    with reader.one_moment():
        frame, index = _by_page(reader, model, held_out=True)
        texts = _texts_of(reader, frame.index.tolist(), titles=titles)
        topics = described_topics(reader, model)
    found = largest_topics(frame, topics).assign(**texts)
    return found.rename_axis("page_id") if index is None else found.set_axis(index)


def documents_of(reader: SessionReader) -> "DataFrame | None":
    """`page_id` and `title` of the user's own documents, with the rows and the index of `as_frame`
    (a plain one instead of page ids); None for other articles."""
    import pandas as pd

    with reader.one_moment():
        if not described(reader.settings().source).own:
            return None
        known: dict[int, tuple[str, str]] = {}
        for _, pages, titles, *_, ids in reader.all_articles(trained_only=False):
            known.update(zip(pages, zip(titles, ids, strict=True), strict=True))
        in_order = sorted(known)
        index = _restored(reader, [known[page][1] or "" for page in in_order])
    columns = {"page_id": in_order, "title": [known[page][0] for page in in_order]}
    return pd.DataFrame(columns, index=index)


def _texts_of(
    reader: SessionReader, page_ids: Sequence[int], *, titles: bool
) -> dict[str, list[str | None]]:
    """The columns of text of `documents`, for the articles with these page ids."""
    text_of: dict[str, dict[int, str | None]] = {}
    if titles:
        text_of["title"] = {}
    if reader.has_snippets():
        text_of["snippet"] = {}
    if not text_of:
        return {}
    for seqs, pages, names, *_ in reader.all_articles(trained_only=False):
        if titles:
            text_of["title"].update(zip(pages, names, strict=True))
        if "snippet" in text_of:
            snippets = reader.snippets(seqs)
            text_of["snippet"].update(zip(pages, map(snippets.get, seqs), strict=True))
    return {name: [of_page.get(page) for page in page_ids] for name, of_page in text_of.items()}


def _ids(reader: SessionReader, *, trained_only: bool) -> dict[int, str]:
    """The ids that documents have in their own collection, by page id."""
    id_of: dict[int, str] = {}
    for _, pages, *_, ids in reader.all_articles(trained_only=trained_only):
        id_of.update(zip(pages, ids, strict=True))
    return id_of


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


def largest_topics(frame: "DataFrame", topics: Sequence["Topic"]) -> "DataFrame":
    """The largest topic of each row of a table of `as_frame`; an empty row stays empty.

    ``topics``: all of them, by number.
    """
    import pandas as pd

    has_proportions = frame.notna().any(axis="columns")
    theta = frame[has_proportions].to_numpy()  # it may have no rows, but has a column per topic
    largest = theta.argmax(axis=1)
    chosen = [topics[number] for number in largest.tolist()]
    columns = {
        "topic": pd.array(largest, dtype="Int64"),
        "name": [topic.name for topic in chosen],
        "share": theta.max(axis=1),
        "area": pd.array([topic.area for topic in chosen], dtype="Int64"),
        "area_name": [topic.area_name for topic in chosen],
    }
    # Rows are found by their places, not by their labels, since labels may repeat.
    known = pd.DataFrame(columns, index=np.flatnonzero(has_proportions))
    return known.reindex(range(len(frame))).set_axis(frame.index)


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
