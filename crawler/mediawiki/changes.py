"""Recent changes from Wikimedia's EventStreams: server-sent events, one per change."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from wikitopics.crawler.source import LONGEST_TITLE

_LONGEST_ID = 8192
_LONGEST_EVENT = 1 << 20


@dataclass(frozen=True, slots=True)
class Change:
    """One event of the stream, from any wiki."""

    event_id: str
    """Sent as Last-Event-ID, it makes the stream continue after this event."""
    title: str | None
    """The title of the article of our wiki that was edited or created; None for all other events."""


async def changes(lines: AsyncGenerator[bytes], domain: str) -> AsyncGenerator[Change]:
    """The events in ``lines``; those about articles of ``domain`` have titles."""
    event_id, kind, size = "", b"", 0
    data: list[bytes] = []
    async for line in lines:
        if not line:
            if size and kind in (b"", b"message"):
                yield Change(event_id, _title(b"\n".join(data), domain) if size <= _LONGEST_EVENT else None)
            data, kind, size = [], b"", 0
        elif line.startswith(b"data:"):
            size += len(line)
            if size <= _LONGEST_EVENT:
                data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            kind = line[6:].strip()
        elif line.startswith(b"id:") and len(line) <= _LONGEST_ID:
            event_id = _header_value(line[3:])


def _header_value(raw: bytes) -> str:
    """The id in a form allowed in a header: printable ASCII, or nothing."""
    text = raw.decode("utf-8", errors="replace").strip()
    return text if text.isascii() and text.isprintable() else ""


def _title(data: bytes, domain: str) -> str | None:
    """The title of the article that the event is about; None for all other events."""
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return None
    meta = event.get("meta") if isinstance(event, dict) else None
    if not isinstance(meta, dict) or meta.get("domain") != domain:
        return None  # another wiki, or a canary
    if event.get("namespace") != 0 or event.get("type") not in ("edit", "new"):
        return None
    title = event.get("title")
    if not isinstance(title, str) or not title or any(c in title for c in "|\x1f#<>[]{}\n"):
        return None
    try:
        return title if len(title.encode()) <= LONGEST_TITLE else None
    except UnicodeEncodeError:
        return None
