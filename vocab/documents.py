"""Documents to build a vocabulary from, read one at a time out of files."""

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from vocab.errors import BadDocuments

_OPENERS: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
_MAX_LINE = 64 * 2**20


def read_documents(file: BinaryIO, name: str | Path) -> Iterator[str]:
    """The documents of one open file, lazily; its name says what it is.

    ``.jsonl``: the ``text`` of the JSON object in each line. Anything else is plain text, in which blank
    lines part the documents. Either may be compressed (``.gz``, ``.bz2``, ``.xz``). Bytes that are no
    UTF-8 are replaced in plain text. Raises BadDocuments, naming the line, also for tables and binary files.
    """
    path = Path(name)
    inner = Path(path.stem) if path.suffix in _OPENERS else path
    if inner.suffix in {".csv", ".tsv"}:
        raise BadDocuments(f'{path}: a table is no prose; make it .jsonl, with {{"text": "…"}} in each line')
    read = _json_lines if inner.suffix in {".jsonl", ".ndjson"} else _paragraphs
    try:
        yield from read(_OPENERS[path.suffix](file) if path.suffix in _OPENERS else file, path)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BadDocuments(f"{path}: cannot be read: {reason}") from error


def _json_lines(file: IO[bytes], path: Path) -> Iterator[str]:
    number = 0
    while line := file.readline(_MAX_LINE):
        number += 1
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadDocuments(f"{path}, line {number}: not JSON") from error
        text = record.get("text") if isinstance(record, dict) else None
        if not isinstance(text, str):
            raise BadDocuments(f'{path}, line {number}: not an object with a "text"')
        yield text


def _paragraphs(file: IO[bytes], path: Path) -> Iterator[str]:
    lines: list[bytes] = []
    held = 0
    while line := file.readline(_MAX_LINE):
        if b"\0" in line:
            raise BadDocuments(f"{path}: a binary file, or not UTF-8 text")
        if line.strip():
            lines.append(line)
            held += len(line)
        if lines and (held > _MAX_LINE or not line.strip()):
            yield b"".join(lines).decode("utf-8", "replace")
            lines, held = [], 0
    if lines:
        yield b"".join(lines).decode("utf-8", "replace")
