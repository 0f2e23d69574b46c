"""gzip, xz and Zstandard files made of several frames: reading can begin with any frame."""

from collections.abc import Iterator
from io import SEEK_END
from itertools import islice

from wikitopics.crawler.dumps.decompression import ZSTD, data_blocks
from wikitopics.crawler.dumps.ranges import Readable
from wikitopics.crawler.errors import BadSource, CutOff

_ZSTD = b"\x28\xb5\x2f\xfd"
MAGIC = (b"\x1f\x8b\x08", b"\xfd7zXZ\x00", _ZSTD)
"""The first bytes of a frame of gzip, xz and Zstandard."""
LARGEST = 16 << 20
"""The most compressed bytes of a frame that one process should unpack at a time."""
_READ = 256 << 10
_MOST_FALSE = 1000
"""False marks to try before giving up. By chance gzip's three bytes occur once in 16 MB, the longer marks
hardly ever. Testing one takes 0.1 ms."""


def magic_of(head: bytes) -> bytes | None:
    """The mark of the frames of the file beginning with ``head``."""
    if ZSTD.match(head):
        return _ZSTD
    return next((magic for magic in MAGIC if head.startswith(magic)), None)


def has_frames(file: Readable, magic: bytes, most: int | None = None) -> bool:
    """Whether there are several frames, and one begins in every stretch of LARGEST bytes, in ``most`` of
    these."""
    size = file.seek(0, SEEK_END)
    stretches = range(1, max(2, size - LARGEST), LARGEST)
    try:
        return all(next(_starts(file, magic, start, LARGEST), None) is not None for start in stretches[:most])
    except CutOff:
        return False


def frames(
    file: Readable, name: str, magic: bytes, offset: int, within: int
) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte at which it begins, its data in pieces) for every frame from ``offset`` on.

    There are none if no frame begins ``within`` this many bytes.
    """
    start = next(_starts(file, magic, offset, within), None)
    while start is not None:
        following = next(_starts(file, magic, start + 1), None)
        yield start, (block.data for block in data_blocks(_Stretch(file, start, following).read, name, start))
        start = following


def _starts(file: Readable, magic: bytes, offset: int, within: int | None = None) -> Iterator[int]:
    """Where frames begin. The few bytes of a mark may also occur as data, which then does not unpack.

    Raises CutOff if there is hardly anything but such marks.
    """
    false = 0
    last = None if within is None else offset + within
    overlap = len(magic) - 1
    while last is None or offset < last:
        file.seek(offset)
        data = file.read(_READ + overlap)
        at = data.find(magic)
        while at >= 0 and (last is None or offset + at < last):
            if _unpacks(file, offset + at):
                yield offset + at
            elif (false := false + 1) > _MOST_FALSE:
                raise CutOff("damaged")
            at = data.find(magic, at + 1)
        if len(data) < _READ + overlap:
            return
        offset += _READ


def _unpacks(file: Readable, start: int) -> bool:
    try:
        return bool(list(islice(data_blocks(_Stretch(file, start, None).read, "", start), 1)))
    except (CutOff, BadSource):  # data may look like a frame that needs much memory
        return False


class _Stretch:
    """The bytes of a file from one place to before another (None: its end)."""

    def __init__(self, file: Readable, start: int, stop: int | None) -> None:
        self._file, self._at, self._stop = file, start, stop

    def read(self, size: int) -> bytes:
        """Read from our own position, since others read the file too."""
        if self._stop is not None:
            size = min(size, self._stop - self._at)
        self._file.seek(self._at)
        data = self._file.read1(size)
        self._at += len(data)
        return data
