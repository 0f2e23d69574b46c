"""The arrays of an .npz file, read where they lie: one of half a gigabyte opens at once."""

import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_LOCAL_HEADER = struct.Struct("<26xHH")  # of a zip member: ends with the lengths of its name and extra field


@dataclass(frozen=True, slots=True)
class OnDisk:
    """One row of numbers that is stored as it is; its slices are read from the file."""

    file: BinaryIO
    dtype: np.dtype[Any]
    offset: int
    """Bytes from the file's start to the first number."""
    length: int

    @property
    def ndim(self) -> int:
        """One, as of an array."""
        return 1

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> NDArray[Any]:
        start, stop, _ = part.indices(self.length)
        size = max(0, stop - start)
        self.file.seek(self.offset + start * self.dtype.itemsize)
        found = np.fromfile(self.file, self.dtype, size)
        if len(found) < size:
            raise OSError(None, "it has become shorter since it was opened")
        return found


Column = OnDisk | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Npz:
    """Some arrays of an .npz file."""

    arrays: dict[str, Column]
    """By name, a single number as a row of one; what is compressed is in memory."""
    crc: str
    """Sizes and CRC-32 of these arrays, as the file's directory has them: changes when one of them does."""


def open_npz(file: BinaryIO, names: Sequence[str]) -> Npz:
    """The arrays ``names`` of an .npz, none of them unpickled; ``file`` has to stay open.

    Raises KeyError with the name that lacks, OSError, and whatever zipfile, zlib and numpy raise on
    hostile bytes.
    """
    with zipfile.ZipFile(file) as archive:
        stored = archive.namelist()
        if not any(name.endswith(".npy") for name in stored):
            raise ValueError("a zip of something else")
        for name in names:
            if f"{name}.npy" not in stored:
                raise KeyError(name)
        members = [archive.getinfo(f"{name}.npy") for name in names]
        arrays = {name: _open(file, archive, member) for name, member in zip(names, members, strict=True)}
    return Npz(arrays, " ".join(f"{member.file_size:x}:{member.CRC:08x}" for member in members))


def is_undamaged(file: BinaryIO) -> bool:
    """Whether all of an .npz is as it was written, by its CRCs."""
    with zipfile.ZipFile(file) as archive:
        return archive.testzip() is None


def _open(file: BinaryIO, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Column:
    with archive.open(member) as content:
        if member.compress_type == zipfile.ZIP_STORED and np.lib.format.read_magic(content) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(content)
            before = content.tell()
            if len(shape) == 1 and not dtype.hasobject:
                if shape[0] * dtype.itemsize != member.file_size - before:
                    raise ValueError("not as many numbers as the header says")
                return OnDisk(file, dtype, _start(file, member) + before, shape[0])
    with archive.open(member) as content:
        return np.atleast_1d(np.lib.format.read_array(content, allow_pickle=False))


def _start(file: BinaryIO, member: zipfile.ZipInfo) -> int:
    """Where in the file the member's content begins."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    name, extra = _LOCAL_HEADER.unpack(header)
    return member.header_offset + len(header) + int(name) + int(extra)
