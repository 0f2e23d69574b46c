"""The topic proportions of all articles of a session as a matrix of SciPy, or a table of pandas."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.texts.source import BEFORE
from wikitopics.extra import NOTEBOOK
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.sources import described
from wikitopics.session.storage.reader import SessionReader

if TYPE_CHECKING:
    from pandas import DataFrame, Index
    from scipy.sparse import csr_array

    from wikitopics.session.analysis.described import Topic

_DTYPES = re.compile(
    r"u?int(8|16|32|64)|U?Int64|float(32|64)|str|string|object"
    r"|(datetime64|timedelta64)\[(s|ms|us|ns)(, (?!dateutil)[\w/+:-]{1,40})?\]"
)
"""Types of an index that can be restored from text. For a dateutil time zone, pandas would open any
file."""


def as_csr(
    reader: SessionReader, model: str, *, held_out: bool = False
) -> "tuple[csr_array, NDArray[np.int64]]":
    """((D, K) float32, page ids of its rows) of the trained articles whose proportions are
    recorded;
    ``held_out``: including those held out.

    Raises `SessionError` if none are.
    """
    from scipy.sparse import csr_array  # takes as long to load as all the rest

    with reader.one_moment():
        reader.check_proportions()
        articles = reader.recorded_articles(held_out=held_out)
        recorded = reader.proportions(model, held_out=held_out)
    indptr = recorded.indptr()
    small = np.int32 if indptr[-1] < 2**31 else np.int64
    matrix = csr_array(
        (recorded.values(), recorded.topics.astype(small), indptr.astype(small)),
        shape=(len(recorded), reader.spec(model).topics),
    )
    return matrix, articles.page_ids


def as_frame(reader: SessionReader, model: str, *, held_out: bool = False) -> "DataFrame":
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
        matrix, page_ids = as_csr(reader, model, held_out=held_out)
        own = described(reader.settings().source).own
        named: dict[int, str] = {}
        if own or reader.has_ids():
            for _, pages, *_, ids in reader.all_articles(trained_only=not (own or held_out)):
                named.update(zip(pages, ids, strict=True))
        kept = reader.index()
        is_added = BEFORE in reader.settings().source_options
    frame = pd.DataFrame(
        matrix.toarray(), index=page_ids, columns=pd.RangeIndex(matrix.shape[1], name="topic")
    )
    if own:
        frame = frame.reindex(sorted(named))
    labels = [named.get(page) or "" for page in frame.index.tolist()]
    if (kept is None or is_added) and not all(labels):
        return frame.rename_axis("page_id")
    try:
        frame.index = _index(labels, *kept) if kept is not None else pd.Index(labels, name="id")
    except (TypeError, ValueError, OverflowError):
        if not is_added:  # documents that were added may have other ids
            raise Damaged("settings.index does not fit articles.id") from None
        frame.index = pd.Index(labels, name="id")
    return frame


def largest_topics(frame: "DataFrame", topics: Sequence["Topic"]) -> "DataFrame":
    """The largest topic of each row of such a table; `topics` by number. An empty row stays
    empty."""
    import pandas as pd

    known = frame.notna().any(axis="columns")
    theta = frame[known].to_numpy()
    largest = theta.argmax(axis=1) if len(theta) else np.zeros(0, np.intp)
    chosen = [topics[number] for number in largest.tolist()]
    columns = {
        "topic": pd.array(largest, dtype="Int64"),
        "name": [topic.name for topic in chosen],
        "share": theta.max(axis=1) if len(theta) else [],
        "area": pd.array([topic.area for topic in chosen], dtype="Int64"),
        "area_name": [topic.area_name for topic in chosen],
    }
    # By position: labels may repeat.
    return (
        pd.DataFrame(columns, index=np.flatnonzero(known))
        .reindex(range(len(frame)))
        .set_axis(frame.index)
    )


def as_kept(index: "Index") -> dict[str, object] | None:
    """What a session must store to restore this pandas index from its labels as text; None if that
    is impossible."""
    try:
        again = _index([str(label) for label in index], index.name, str(index.dtype))
        is_the_same = isinstance(index.name, str | int | None) and again.equals(index)
    except (TypeError, ValueError):
        return None
    return {"name": index.name, "dtype": str(index.dtype)} if is_the_same else None


def _index(labels: Sequence[str], name: str | int | None, dtype: str) -> "Index":
    """The index with these labels. Raises ValueError or TypeError."""
    import pandas as pd

    if not _DTYPES.fullmatch(
        dtype
    ):  # a file that somebody else made could ask for any amount of memory
        raise ValueError(dtype)
    return pd.Index(labels, name=name).astype(dtype)
