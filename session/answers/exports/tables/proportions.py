"""What every trained article is about: a row for each of its topics, or one sparse matrix."""

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

from session.answers.exports.subject import ExportRequest, Row, Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGITS = 6


def _rows(asked: ExportRequest) -> Iterator[Row]:
    asked.reader.check_proportions()
    return _each(asked)


def _each(asked: ExportRequest) -> Iterator[Row]:
    reader = asked.reader
    for block in reader.each_block():
        with reader.one_moment():
            articles = reader.articles_of(*block)
            by_model = [(model, reader.proportions_of(model, *block)) for model in asked.models]
        of_models = [
            (
                model,
                kept.indptr().tolist(),
                kept.topics.tolist(),
                kept.values().astype(float).round(_DIGITS).tolist(),
            )
            for model, kept in by_model
        ]
        for place, article in enumerate(articles):
            for model, starts, topics, values in of_models:
                kept = slice(starts[place], starts[place + 1])
                yield from zip(
                    repeat(article.page_id), repeat(article.title), repeat(model), topics[kept], values[kept]
                )


def _arrays(asked: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    """As `scipy.sparse.load_npz` reads it, with page_ids (D,) beside it."""
    import numpy as np

    from session.answers.proportions import as_csr

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
    label="Proportions: what every trained article is about (npz: one model's, as CSR)",
    columns=("page_id", "title", "model", "topic", "proportion"),
    rows=_rows,
    of_texts=True,
    arrays=_arrays,
)
