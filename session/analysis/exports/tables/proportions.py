"""The topic proportions of every trained article: one row per topic of it, or one sparse matrix."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

from wikitopics.session.analysis.exports.subject import Batch, ExportRequest, Subject, repeated

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGITS = 6


def _batches(asked: ExportRequest) -> Iterator[Batch]:
    asked.reader.check_proportions()  # before anything is written
    return _each_block(asked)


def _each_block(asked: ExportRequest) -> Iterator[Batch]:
    """An article's topics, one model after another, and then the next article's."""
    import numpy as np

    reader, models = asked.reader, asked.models
    for block in reader.each_block():
        with reader.one_moment():
            articles = reader.articles_of(*block)
            kept = [reader.proportions_of(model, *block) for model in models]
        lengths = np.column_stack([of_model.lengths for of_model in kept])  # (n, models)
        place = np.arange(lengths.size).reshape(lengths.shape)  # in the output
        order = np.argsort(np.repeat(place.T.ravel(), lengths.T.ravel()), kind="stable")
        values = np.concatenate([of_model.values() for of_model in kept])[order]
        times = lengths.sum(axis=1, dtype=np.int64).tolist()
        yield (
            repeated(articles.page_ids, times),
            repeated(articles.titles, times),
            repeated(cycle(models), lengths.ravel().tolist()),
            np.concatenate([of_model.topics for of_model in kept])[order].tolist(),
            values.astype(float).round(_DIGITS).tolist(),
        )


def _arrays(asked: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """The arrays that `scipy.sparse.load_npz` reads, with page_ids (D,) beside them."""
    import numpy as np

    from wikitopics.session.analysis.proportions import as_csr

    matrix, page_ids = as_csr(asked.reader, asked.models[0])
    return {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "page_ids": page_ids,
    }


PROPORTIONS = Subject(
    name="proportions",
    label="Proportions: the topics of every trained article (npz: one model's, as CSR)",
    columns=("page_id", "title", "model", "topic", "proportion"),
    batches=_batches,
    of_texts=True,
    arrays=_arrays,
)
