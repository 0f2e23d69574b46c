"""What `wikitopics export model` writes: a model's topics as arrays, for inference, not for further
training.

| array | shape and type | meaning |
|---|---|---|
| topic_word | (K, W) floats | the topics, rows sum to 1 |
| alpha | (K,) floats | prior of a document's proportions, as `document_prior` |
| vocabulary | (W,) str | the words |
| topic_share | (K,) floats | each topic's share of the corpus, sums to 1 |
| topic_weight | (K,) floats | as `topic_weights` |
| kind | a str | the model's kind |
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import kinds
from wikitopics.model.online import OnlineModel
from wikitopics.model.states import TINY, Entry, checked

PLENTY = 2**27
"""The number of bytes to which any file may unpack: 4,000 topics of 8,000 words."""
MOST_PACKED = 16
"""A larger file may unpack to this many times its size."""
_LARGEST_DIRECTORY = 2**14
"""The most bytes of a zip's directory; a larger directory would list over a hundred arrays."""
_TYPES = "float16 float32 float64"
_ONE = 1 + 1e-5  # over 1 by rounding
NUMBERS = (
    Entry("topic_word", type=_TYPES, shape="K W", least=0, most=_ONE),
    Entry("topic_share", type=_TYPES, shape="K", least=0, most=_ONE),
    Entry("topic_weight", type=_TYPES, shape="K", least=TINY),
    Entry("alpha", type=_TYPES, shape="K", least=TINY),
)


class ExportError(ValueError):
    """A file that `export model` did not write; one line."""


@dataclass(frozen=True)
class Exported:
    """The checked arrays of a file, as listed at the top of this module."""

    kind: str
    topics: NDArray[np.floating[Any]]
    weights: NDArray[np.float64]
    prior: NDArray[np.float64]
    vocabulary: NDArray[np.str_]

    def model(self) -> OnlineModel:
        """A model that infers like the exported one. Raises `ExportError` if its kind cannot do
        that."""
        try:
            return kinds.load(self.kind).with_topics(self.topics, self.weights, self.prior)
        except (NotImplementedError, ValueError) as error:
            raise ExportError(
                f"{error}: open the session with wikitopics.open(SESSION) instead"
            ) from None


def arrays_of(model: OnlineModel, words: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The arrays written for a model with these words."""
    return {
        "topic_word": model.topics(),
        "alpha": model.document_prior(),
        "vocabulary": np.array(words, dtype=np.str_),
        "topic_share": model.topic_shares(),
        "topic_weight": model.topic_weights(),
        "kind": np.array(model.kind),
    }


def read(path: str | Path) -> Exported:
    """Read the file at `path` without unpickling anything. Raises `ExportError`, or OSError if
    there is none."""
    if os.path.exists(path) and not os.path.isfile(path):
        # Such as a device, which zipfile would read to its end.
        raise ExportError(f"{path} is not a regular file")
    with open(path, "rb") as file:
        try:
            return _checked(file)
        except Exception as error:  # noqa: BLE001 (zipfile and numpy raise anything on hostile bytes)
            first_line, _, _ = str(error).partition("\n")
            reason = first_line or type(error).__name__
            raise ExportError(
                f"{path} is not what `wikitopics export model -o FILE.npz` writes: {reason[:200]}"
            ) from None


def _check_size(file: BinaryIO) -> None:
    """Raise ValueError, before unpacking, for a file that would take far more memory than its
    size."""
    size = file.seek(0, os.SEEK_END)
    # A zip as `np.savez` writes it ends with a record of 22 bytes. The record of 20 bytes that may
    # precede it, for sizes beyond 4 GB, is refused.
    file.seek(max(0, size - 22 - 20))
    end = file.read()
    last_record = end[-22:]
    is_whole = len(last_record) == 22 and last_record.startswith(b"PK\5\6")
    has_large_sizes = end.startswith(b"PK\6\7")
    if not is_whole or has_large_sizes:
        raise ValueError("it does not end as an .npz does")
    size_of_directory = int.from_bytes(last_record[12:16], "little")
    if size_of_directory > _LARGEST_DIRECTORY:
        raise ValueError("it holds too many arrays")
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(PLENTY, MOST_PACKED * size):
        raise ValueError(
            f"it unpacks to {unpacked / 1e6:,.0f} MB, over {MOST_PACKED} times its size; use "
            "wikitopics.open(SESSION).model()"
        )


def _checked(file: BinaryIO) -> Exported:
    """Unpack and check the arrays. Raises ValueError for the first one that is not valid."""
    _check_size(file)
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        numbers: dict[str, Any] = checked(arrays, NUMBERS, "")
        for name in ("vocabulary", "kind"):
            if name not in arrays:
                raise ValueError(f"{name} is missing")
        words = arrays["vocabulary"]
        kind = arrays["kind"]
    topics = numbers["topic_word"]
    shares = numbers["topic_share"]
    if not topics.size:
        raise ValueError(f"topic_word must be topics by words, not of shape {topics.shape}")
    _, W = topics.shape
    _check_sums("topic_word", topics)
    _check_sums("topic_share", shares)
    _check_text("vocabulary", words, (W,))
    _check_text("kind", kind, ())
    if len(np.unique(words)) < len(words) or "" in words:
        raise ValueError("vocabulary must not have a word twice, or an empty one")
    weights = numbers["topic_weight"].astype(np.float64)
    prior = numbers["alpha"].astype(np.float64)
    return Exported(str(kind), topics, weights, prior, words)


def _check_sums(name: str, rows: NDArray[np.floating[Any]]) -> None:
    sums = rows.sum(axis=-1, dtype=np.float64)
    if not np.allclose(sums, 1, rtol=0, atol=1e-3):
        raise ValueError(f"{name} must sum to 1")


def _check_text(name: str, text: NDArray[Any], shape: tuple[int, ...]) -> None:
    if text.dtype.kind != "U" or text.shape != shape:
        raise ValueError(
            f"{name} must be str of shape {shape}, not {text.dtype} of shape {text.shape}"
        )
