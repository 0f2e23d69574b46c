"""Plain text to build a vocabulary from, read one document at a time."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from wikitopics.vocab.errors import BadDocuments

_OPENERS: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
_MAX_LINE = 64 * 2**20


def read_documents(file: BinaryIO, name: str | Path) -> Iterator[str]:
    """Yield the documents of an open plain-text file; blank lines separate them.

    The file may be compressed, as its name says (``.gz``, ``.bz2``, ``.xz``). Bytes that are not UTF-8 are
    replaced. Raises BadDocuments for files that cannot be read, and for binary ones.
    """
    path = Path(name)
    unpacked: IO[bytes] = _OPENERS[path.suffix](file) if path.suffix in _OPENERS else file
    lines: list[bytes] = []
    held = 0
    try:
        while line := unpacked.readline(_MAX_LINE):
            if b"\0" in line:
                raise BadDocuments(f"{path}: a binary file, or not UTF-8 text")
            if line.strip():
                lines.append(line)
                held += len(line)
            if lines and (held > _MAX_LINE or not line.strip()):
                yield b"".join(lines).decode("utf-8", "replace")
                lines, held = [], 0
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BadDocuments(f"{path}: cannot be read: {reason}") from error
    if lines:
        yield b"".join(lines).decode("utf-8", "replace")
