"""Documents as they are given in Python: texts, lists of tokens, or counts of words: the rows of a
matrix, or the documents of a gensim corpus."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wikitopics.stored.arguments import cell, check_collection, may_be_tokens, wrong_type
from wikitopics.vocab.counting import Counted
from wikitopics.vocab.rules import is_printable

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyarrow.dataset import Dataset
    from scipy.sparse import csr_array, sparray, spmatrix

    Documents = (
        str
        | os.PathLike[str]
        | pd.DataFrame
        | pl.DataFrame
        | pa.Table
        | Dataset
        | Iterable[str | None]
        | Iterable[Iterable[str] | None]
        | Iterable[Sequence[tuple[int, int]]]
        | sparray
        | spmatrix
    )
    """What an argument may be that has documents."""

Kind = Literal["texts", "tokens", "counts"]
_MOST_COUNT = 2**31 - 1
_WHOLE = "whole numbers from 0 on, as CountVectorizer makes them"


class Given:
    """The documents in an argument; iterating yields one after another, once if the argument is a
    generator.

    Its first document that is not empty decides of which kind they are. A text is a str, a list of
    tokens is any other collection of str, and counts are pairs of a word's column and its count, or
    the rows of a matrix. None and NaN are no documents, but keep their places.
    """

    def __init__(self, argument: str, values: object) -> None:
        """``values``: the texts of `parts_of`. Raises ValueError or TypeError for what holds no
        documents, and for a matrix that does not count."""
        self._argument = argument
        self.kind: Kind = "counts"
        self.columns: int | None = None
        """How many columns the matrix has; None without one."""
        self.left_out = 0
        """How many tokens were left out so far, since they cannot be shown in a line."""
        self._matrix = _counted(argument, values)
        if self._matrix is not None:
            self.columns = self._matrix.shape[1]
            return
        check_collection(argument, values)
        assert isinstance(values, Iterable)
        self.kind, self._values = _kind_of(values)

    def texts(self) -> Iterator[str | None]:
        """Documents that are texts, None for NaN. Raises TypeError for anything else."""
        for number, text in enumerate(map(cell, self._values)):
            if not isinstance(text, str | None):
                raise TypeError(
                    f"{self._argument}: number {number} is of type {type(text).__name__}, not a "
                    "string"
                )
            yield text

    def tokens(self) -> Iterator[list[str] | None]:
        """Documents that are lists of tokens, without blanks around tokens, and without those that
        are blank or cannot be shown in a line. Raises TypeError for anything else."""
        for number, document in enumerate(map(cell, self._values)):
            yield None if document is None else self._tokens_of(document, number)

    def _tokens_of(self, document: object, number: int) -> list[str]:
        if not may_be_tokens(document):
            raise TypeError(
                f"{self._argument}: number {number} is of type {type(document).__name__}, not a "
                "list of tokens like the others"
            )
        tokens = []
        for token in map(cell, document):  # type: ignore[call-overload]
            if not isinstance(token, str | None):
                raise TypeError(
                    f"{self._argument}: number {number} has a token of type "
                    f"{type(token).__name__}, not a string"
                )
            stripped = "" if token is None else token.strip()
            if is_printable(stripped):
                if stripped:
                    tokens.append(stripped)
            else:
                self.left_out += 1
        return tokens

    def counts(self, n_words: int) -> Iterator[Counted]:
        """Documents that are counts, over this many words: (ids, counts), as `Vocabulary.count`
        returns them. Raises ValueError or TypeError for anything else."""
        if self._matrix is None:
            for number, document in enumerate(self._values):
                yield self._pairs_in(document, number, n_words)
            return
        if self.columns != n_words:
            raise ValueError(
                f"{self._argument}: the matrix has {self.columns:,} columns, but the vocabulary "
                f"has {n_words:,} words"
            )
        indptr = self._matrix.indptr.tolist()
        for start, stop in pairwise(indptr):
            yield self._matrix.indices[start:stop], self._matrix.data[start:stop]

    def _pairs_in(self, document: object, number: int, n_words: int) -> Counted:
        """The counts of a document of gensim's."""
        of_document = dict[int, int]()
        for pair in document if isinstance(document, Iterable) else [document]:
            column, count = _pair(pair)
            if column is None or count is None:
                raise ValueError(
                    f"{self._argument}: number {number} has {pair!r:.60}, not a word's number and "
                    "its count"
                )
            if column >= n_words:
                raise ValueError(
                    f"{self._argument}: number {number} has word {column}, but the vocabulary has "
                    f"{n_words:,} words, from 0 on"
                )
            if count:
                of_document[column] = min(of_document.get(column, 0) + count, _MOST_COUNT)
        ids = sorted(of_document)
        counts = [of_document[id] for id in ids]
        return np.array(ids, np.int32), np.array(counts, np.int32)


def check_text(argument: str, value: object) -> None:
    """Raise TypeError unless the value is a text, or a list of tokens."""
    if not (isinstance(value, str) or may_be_tokens(value)):
        raise wrong_type(argument, "text, or a list of tokens", value)


def _kind_of(values: Iterable[object]) -> tuple[Kind, Iterable[object]]:
    """(of which kind these documents are, all of them)."""
    kind: Kind = "texts"
    iterator = iter(values)
    seen = []
    for value in iterator:
        seen.append(value)
        document = cell(value)
        if document is None:
            continue
        if not may_be_tokens(document):
            break
        kind = "tokens"
        is_empty = isinstance(document, Sequence) and not len(document)
        if not is_empty:
            if isinstance(document, Sequence) and isinstance(document[0], tuple):
                kind = "counts"
            break
    return kind, chain(seen, iterator)


def _pair(pair: object) -> tuple[int | None, int | None]:
    """A pair of whole numbers from 0 on; None for what is none."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        return None, None
    numbers = []
    for value in pair:
        number = float(value) if isinstance(value, Real) else -1.0
        numbers.append(int(number) if number >= 0 and number.is_integer() else None)
    return numbers[0], numbers[1]


def _counted(argument: str, values: Any) -> csr_array | None:
    """The counts in a matrix of SciPy or NumPy, (D, W) int32; None for anything else. The matrix
    itself is not changed.

    Raises ValueError for numbers that are no counts.
    """
    sparse = sys.modules.get("scipy.sparse")  # whoever has such a matrix has loaded it
    if sparse is not None and sparse.issparse(values):
        if values.ndim != 2:
            raise ValueError(f"{argument}: a matrix has a row for each document")
        # What stands several times in one place is added up: in a narrow type, it might not fit.
        own = values.astype(np.result_type(values.dtype, np.int64))  # a copy
        if hasattr(own, "check_format"):  # SciPy trusts indices, which a damaged file may have
            try:
                own.check_format(full_check=True)
            except ValueError as error:
                raise ValueError(f"{argument}: the matrix is damaged: {error}") from None
        matrix = own.tocsr()
    elif isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biufc":
        from scipy.sparse import csr_array

        matrix = csr_array(np.asarray(values))
    else:
        return None
    from scipy.sparse import csr_array

    if matrix.dtype.kind == "b":
        matrix = matrix.astype(np.int32)
    matrix.sum_duplicates()
    numbers = matrix.data
    if numbers.dtype.kind not in "biuf":
        raise ValueError(f"{argument}: the matrix must hold {_WHOLE}, not {numbers.dtype}")
    with np.errstate(invalid="ignore"):
        are_counts = (numbers >= 0) & (numbers <= _MOST_COUNT) & (numbers == np.floor(numbers))
    if not are_counts.all():
        place = int(np.flatnonzero(~are_counts)[0])
        row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
        raise ValueError(
            f"{argument}: the matrix must hold {_WHOLE}; row {row}, column "
            f"{matrix.indices[place]} has {numbers[place].item()!r:.20}"
        )
    counted = csr_array(matrix, dtype=np.int32)
    counted.eliminate_zeros()
    return counted
