"""gzip, xz and Zstandard files made of several frames: reading can begin with any frame."""

from collections.abc import Iterator

from wikitopics.crawler.dumps.decompression import ZSTD, data_blocks
from wikitopics.crawler.dumps.ranges import RangedFile, reading
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


def has_frames(file: RangedFile, magic: bytes, most: int | None = None) -> bool:
    """Whether there are several frames, and one begins in each LARGEST bytes of the file.

    Only the first ``most`` times LARGEST bytes are looked at (None: all).
    """
    places = range(1, max(2, file.size - LARGEST), LARGEST)
    try:
        return all(next(_starts(file, magic, place, LARGEST), None) is not None for place in places[:most])
    except CutOff:
        return False


def frames(file: RangedFile, magic: bytes, offset: int, within: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """Yield (byte at which it begins, its data in pieces) for every frame from ``offset`` on.

    There are none if no frame begins ``within`` this many bytes.
    """
    start = next(_starts(file, magic, offset, within), None)
    while start is not None:
        following = next(_starts(file, magic, start + 1), None)
        yield start, (block.data for block in data_blocks(reading(file, start, following), file.name, start))
        start = following


def _starts(file: RangedFile, magic: bytes, offset: int, within: int | None = None) -> Iterator[int]:
    """Where frames begin. The few bytes of a mark may also occur as data, which then does not unpack.

    Raises CutOff if there is hardly anything but such marks.
    """
    false = 0
    last = None if within is None else offset + within
    read, data = reading(file, offset), b""
    while (last is None or offset < last) and (more := read(_READ)):
        data += more
        at = data.find(magic)
        while at >= 0 and (last is None or offset + at < last):
            if _unpacks(file, offset + at):
                yield offset + at
            elif (false := false + 1) > _MOST_FALSE:
                raise CutOff("damaged")
            at = data.find(magic, at + 1)
        searched = max(0, len(data) - len(magic) + 1)
        data, offset = data[searched:], offset + searched


def _unpacks(file: RangedFile, start: int) -> bool:
    try:
        return next(data_blocks(reading(file, start), "", start), None) is not None
    except (CutOff, BadSource):  # data may look like a frame that needs much memory
        return False
