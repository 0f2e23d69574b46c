"""The topic proportions of every trained article, as one sparse matrix."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wikitopics.session.storage.reader import SessionReader


def as_csr(reader: SessionReader, model: str) -> tuple[csr_array, NDArray[np.int64]]:
    """((D, K) float32, page ids of its rows) of the articles whose proportions are recorded.

    Raises `SessionError` if none are.
    """
    with reader.one_moment():
        reader.check_proportions()
        articles, kept = reader.trained_articles(), reader.proportions(model)
    indptr = kept.indptr()
    small = np.int32 if indptr[-1] < 2**31 else np.int64
    matrix = csr_array(
        (kept.values(), kept.topics.astype(small), indptr.astype(small)),
        shape=(len(kept), reader.spec(model).topics),
    )
    return matrix, articles.page_ids
