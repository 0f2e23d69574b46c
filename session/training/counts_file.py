"""Word counts that somebody else made, in an .npz file, as a source of blocks.

Documents whose counts another session kept are handled in the same way.
"""

import contextlib
import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.source import Activity, Position
from wikitopics.session.errors import BadUsage, os_error_as
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.counts import KeptCounts
from wikitopics.session.storage.decoding import Column, TooLarge, open_npz, whole
from wikitopics.session.storage.files import open_input
from wikitopics.session.training.blocks import Blocks

NUMBERS_TOGETHER = 1 << 20
"""The number of array elements read and checked at a time."""
MOST_DOCUMENTS = 20_000_000
"""The most documents: the start of each is kept in memory."""
MOST_ENTRIES = 2**25
"""The most entries of documents that are trained on together, each of which takes 40 bytes."""
COUNTS_ARRAYS = ("indptr", "word_ids", "counts", "n_words")


class CountsFile:
    """An .npz file: ``indptr`` (D + 1,), ``word_ids`` and ``counts`` (nnz,), ``n_words``.

    If the file is not compressed, counts stay on disk. Every block is checked when it is read.
    """

    def __init__(self, path: Path, n_words: int, known: Mapping[str, Any] | None = None) -> None:
        """``known``: the ``identity`` of a file checked before; the same file is not checked again.

        Raises `BadUsage` for any other kind of file, and for another ``n_words``.
        """
        self.path = path
        self.name = path.name
        with os_error_as(str(path), BadUsage):
            self._file = open_input(path)
        self._n_words = n_words
        try:
            arrays, crc = _open_counts(path, self._file)
            self._check_words(arrays["n_words"])
            if len(arrays["indptr"]) > MOST_DOCUMENTS + 1:
                raise BadUsage(f"{path}: over {MOST_DOCUMENTS:,} documents: split it")
            self._indptr = _whole_numbers(path, "indptr", arrays["indptr"], np.int64)
            self._columns = {name: arrays[name] for name in ("word_ids", "counts")}
            self._check_shape()
            known = known or {}
            if known.get("crc") == crc and "checksum" in known:
                checksum = str(known["checksum"])
            else:
                checksum = self._read_through()
        except BadUsage:
            self.close()
            raise
        self.identity = {"checksum": checksum, "crc": crc}
        """``checksum`` identifies the content, wherever the file is and however wide its numbers
        are."""

    def __len__(self) -> int:
        return len(self._indptr) - 1

    def documents(self, start: int, stop: int) -> Block:
        """Documents ``start`` to ``stop`` (fewer at the end); page ids are their positions in the
        file."""
        stop = min(stop, len(self))
        low = int(self._indptr[start])
        high = int(self._indptr[stop])
        entries = high - low
        if entries > MOST_ENTRIES:
            raise BadUsage(
                f"{self.path}: {stop - start:,} documents have {entries:,} entries, more than "
                f"the {MOST_ENTRIES:,} that can be trained on together: start a new --session with "
                "a smaller --batch-size or --held-out"
            )
        return Block(
            np.arange(start, stop, dtype=np.int64),
            np.zeros(stop - start, np.int64),
            ("",) * (stop - start),
            self._indptr[start : stop + 1] - low,
            self._read("word_ids", low, high),
            self._read("counts", low, high),
        )

    def close(self) -> None:
        """Safe to call twice."""
        self._file.close()

    def _check_words(self, n_words: Column) -> None:
        """Raise `BadUsage` unless the file counts as many words as the vocabulary has."""
        sizes = _whole_numbers(self.path, "n_words", n_words[:3], np.int64)
        if len(sizes) != 1:
            raise BadUsage(
                f"{self.path}: n_words must be one number, that of the words in its vocabulary"
            )
        if sizes[0] != self._n_words:
            raise BadUsage(
                f"{self.path} counts {sizes[0]} words, but the vocabulary has {self._n_words}: "
                "name its own with --vocab"
            )

    def _check_shape(self) -> None:
        """Raise `BadUsage` unless indptr, word_ids and counts fit together."""
        path = self.path
        indptr = self._indptr
        n_entries = len(self._columns["word_ids"])
        if len(self._columns["counts"]) != n_entries:
            raise BadUsage(f"{path}: word_ids and counts differ in length")
        has_ends = len(indptr) > 0 and indptr[0] == 0 and indptr[-1] == n_entries
        if not has_ends or (indptr[1:] < indptr[:-1]).any():
            raise BadUsage(f"{path}: indptr must rise from 0 to the number of word_ids")
        lengths = np.diff(indptr)
        if lengths.size and lengths.max() > self._n_words:
            raise BadUsage(
                f"{path}: document {lengths.argmax()} has {lengths.max():,} entries, but there are "
                f"only {self._n_words:,} words: give each word of a document once, with its count"
            )

    def _read_through(self) -> str:
        """Check the whole file; returns its checksum."""
        with _hostile(self.path), zipfile.ZipFile(self._file) as archive:
            if archive.testzip() is not None:
                raise ValueError("it is damaged")
        digest = hashlib.blake2b(self._indptr.data, digest_size=16)
        for name, column in self._columns.items():
            for start in range(0, len(column), NUMBERS_TOGETHER):
                digest.update(self._read(name, start, start + NUMBERS_TOGETHER).data)
        return digest.hexdigest()

    def _read(self, name: str, start: int, stop: int) -> NDArray[np.int32]:
        """Entries ``start`` to ``stop`` (fewer at the end) of word_ids or counts. Raises `BadUsage`
        for numbers that cannot be such."""
        with os_error_as(str(self.path), BadUsage):
            part = self._columns[name][start:stop]
        numbers = _whole_numbers(self.path, name, part, np.int32)
        if name == "counts":
            low = 1
            high = 2**31 - 1
        else:
            low = 0
            high = self._n_words - 1
        if numbers.size and not low <= int(numbers.min()) <= int(numbers.max()) <= high:
            raise BadUsage(f"{self.path}: {name} must be from {low} to {high}")
        return numbers


def _open_counts(path: Path, file: BinaryIO) -> tuple[dict[str, Column], str]:
    with _hostile(path):
        arrays, crc = open_npz(file, COUNTS_ARRAYS)
    for name, column in arrays.items():
        if column.ndim != 1 or column.dtype.kind not in "iuf":
            raise BadUsage(f"{path}: {name} must be one row of whole numbers")
    return arrays, crc


@contextlib.contextmanager
def _hostile(path: Path) -> Iterator[None]:
    """Turn any error of the code that reads untrusted bytes into one line."""
    try:
        yield
    except KeyError as error:
        arrays = ", ".join(COUNTS_ARRAYS)
        raise BadUsage(
            f"{path} lacks the array {error.args[0]!r}: a counts file has {arrays}"
        ) from None
    except TooLarge as error:
        raise BadUsage(f"{path}: {error}") from None
    except Exception as error:  # noqa: BLE001 (of zipfile, zlib, numpy and Python's tokenizer)
        if isinstance(error, OSError) and error.strerror:
            raise BadUsage(f"{path}: {error.strerror}") from None
        raise BadUsage(f"{path} is not an .npz file of word counts, or is damaged") from None


def _whole_numbers(
    path: Path,
    name: str,
    column: Column,
    dtype: type[np.signedinteger[Any]],
) -> NDArray[Any]:
    """All of ``column`` as ``dtype``."""
    numbers = column[:]
    limits = np.iinfo(dtype)
    if numbers.size:
        # Compared as Python integers: a narrow float would round the limits.
        is_finite = np.isfinite(numbers).all()
        if not is_finite or int(numbers.min()) < limits.min or int(numbers.max()) > limits.max:
            raise BadUsage(f"{path}: {name} holds numbers that are out of range")
    whole = numbers.astype(dtype)
    if numbers.dtype.kind == "f" and not np.array_equal(whole, numbers):
        raise BadUsage(f"{path}: {name} must be whole numbers")
    return whole


class CountedBlocks(Blocks):
    """Hands out exactly as many documents as the trainer asks for, so that none are ever
    pending."""

    def __init__(self, file: CountsFile | KeptCounts) -> None:
        super().__init__(Activity())
        self._file = file
        self._next = 0

    def start(self, position: Position | None) -> None:
        number = position.get("document") if position else 0
        self._next = whole(number, "progress.position", 0, len(self._file))

    async def next(self) -> Block | None:
        if self._next >= len(self._file):
            return None
        block = self._file.documents(self._next, self._next + max(1, self.wanted()))
        self._next += len(block)
        self.arrivals.add(len(block))
        return replace(block, position={"document": self._next}, lap=self._next / len(self._file))

    async def close(self) -> None:
        self._file.close()
