"""`--source counts`: documents that are word counts already, from an .npz file, in file order."""

import hashlib
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crawler.page import Activity, Position
from session.documents import Block, Documents
from session.errors import BadUsage
from session.feed import Rate, Wait


class CountsFile:
    """A checked .npz file: ``indptr`` (D + 1,), ``word_ids`` and ``counts`` (nnz,), ``n_words``.

    Raises :class:`BadUsage` for a file that is anything else.
    """

    def __init__(self, path: Path, n_words: int) -> None:
        arrays = _load(path)
        sizes = _whole(path, "n_words", arrays["n_words"].reshape(-1), np.int64)
        if sizes.tolist() != [n_words]:
            found = " or ".join(map(str, sizes[:3].tolist())) or "no"
            raise BadUsage(
                f"{path} counts {found} words, but the vocabulary has {n_words}: name its own with --vocab"
            )
        self.indptr = _whole(path, "indptr", arrays["indptr"], np.int64).astype(np.int64)
        self.word_ids = _whole(path, "word_ids", arrays["word_ids"], np.int32)
        self.counts = _whole(path, "counts", arrays["counts"], np.int32)
        _check(path, self.indptr, self.word_ids, self.counts, n_words)
        self.path = path

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def checksum(self) -> str:
        """Names the content, wherever the file lies and however wide its numbers are."""
        digest = hashlib.blake2b(digest_size=16)
        for array, dtype in ((self.indptr, np.int64), (self.word_ids, np.int32), (self.counts, np.int32)):
            for start in range(0, len(array), 1 << 20):
                digest.update(array[start : start + (1 << 20)].astype(dtype).data)
        return digest.hexdigest()

    def documents(self, start: int, stop: int) -> Documents:
        """Documents ``start`` to ``stop`` (fewer at the end); page ids are their places in the file."""
        stop = min(stop, len(self))
        low, high = int(self.indptr[start]), int(self.indptr[stop])
        return Documents(
            np.arange(start, stop, dtype=np.int64),
            np.zeros(stop - start, np.int64),
            ("",) * (stop - start),
            self.indptr[start : stop + 1] - low,
            self.word_ids[low:high].astype(np.int32),
            self.counts[low:high].astype(np.int32),
        )


class CountedDocuments(Protocol):
    """Documents that are word counts already."""

    def __len__(self) -> int: ...
    def documents(self, start: int, stop: int) -> Documents:
        """Documents ``start`` to ``stop`` (fewer at the end)."""


class CountsFeed:
    """Hands out just as many documents as the trainer asks for, so that none are ever pending."""

    def __init__(self, file: CountedDocuments, wanted: Callable[[], int]) -> None:
        self.activity = Activity()
        self.waits_for: Wait | None = None
        self.queued = 0
        self.arrivals = Rate()
        self._file = file
        self._wanted = wanted
        self._next = 0

    def start(self, position: Position | None) -> None:
        self._next = int(position["document"]) if position else 0

    async def next(self) -> Block | None:
        if self._next >= len(self._file):
            return None
        documents = self._file.documents(self._next, self._next + max(1, self._wanted()))
        self._next += len(documents)
        self.arrivals.add(len(documents))
        return Block(documents, 0, {"document": self._next}, self._next / len(self._file))

    async def drain(self) -> list[Block]:
        return []

    async def close(self) -> None:
        pass


def _load(path: Path) -> dict[str, NDArray[Any]]:
    names = ("indptr", "word_ids", "counts", "n_words")
    try:
        with path.open("rb") as file:
            data: Any = np.load(file, allow_pickle=False)
            stored = getattr(data, "files", None)  # one bare array has none
            if stored is None:
                raise ValueError
            missing = [name for name in names if name not in stored]
            if missing:
                raise BadUsage(f"{path} lacks the array {missing[0]!r}: a counts file has {', '.join(names)}")
            arrays = {name: data[name] for name in names}
    except OSError as error:
        raise BadUsage(f"{path}: {error.strerror or 'cannot be read'}") from None
    except (ValueError, EOFError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        raise BadUsage(f"{path} is no .npz file of word counts") from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise BadUsage(f"{path} is no .npz file of word counts")
    return arrays


def _whole(path: Path, name: str, array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise BadUsage(f"{path}: {name} must be one row of whole numbers")
    limits = np.iinfo(dtype)
    if array.size and not (
        np.isfinite(array).all() and array.min() >= limits.min and array.max() <= limits.max
    ):
        raise BadUsage(f"{path}: {name} holds numbers that are out of range")
    if array.dtype.kind != "f":
        return array  # as narrow as the file has it: a stream may hold hundreds of millions of counts
    whole = array.astype(dtype)
    if not np.array_equal(whole, array):
        raise BadUsage(f"{path}: {name} must be whole numbers")
    return np.asarray(whole)


def _check(
    path: Path, indptr: NDArray[Any], word_ids: NDArray[Any], counts: NDArray[Any], n_words: int
) -> None:
    if len(word_ids) != len(counts):
        raise BadUsage(f"{path}: word_ids and counts differ in length")
    if len(indptr) < 1 or indptr[0] != 0 or indptr[-1] != len(word_ids) or (np.diff(indptr) < 0).any():
        raise BadUsage(f"{path}: indptr must rise from 0 to the number of word_ids")
    if word_ids.size and not 0 <= int(word_ids.min()) <= int(word_ids.max()) < n_words:
        raise BadUsage(f"{path}: word_ids must be from 0 to {n_words - 1}")
    if counts.size and int(counts.min()) < 1:
        raise BadUsage(f"{path}: counts must be 1 or more")
