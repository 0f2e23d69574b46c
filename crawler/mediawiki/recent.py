"""Recent changes of one of Wikimedia's wikis: the changed articles in batches.

Unlike other sources, it is endless and biased towards what many people edit. The server cuts the
stream every 15 minutes; it is continued by Last-Event-ID, which is the position.
"""

import asyncio
import json
import math
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from urllib.parse import quote

from yarl import URL

from wikitopics.crawler.errors import BadPosition, BadSource, TransientError
from wikitopics.crawler.http.addresses import is_wikimedia
from wikitopics.crawler.http.client import UnknownPlace
from wikitopics.crawler.http.rules import wikimedia_service_limits
from wikitopics.crawler.http.wire import value_at
from wikitopics.crawler.mediawiki.batch_size import BatchSizer
from wikitopics.crawler.mediawiki.wiki import MOST_PAGES, Wiki
from wikitopics.crawler.page import LONGEST_TITLE, SourceInfo, utf8_size
from wikitopics.crawler.source import PageBatch, Position

# Recent changes from Wikimedia's EventStreams: server-sent events, one per change.

_LONGEST_ID = 8192
_LONGEST_EVENT = 1 << 20
_TITLE = re.compile(r"[^|\x1f#<>\[\]{}\n\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class PageChange:
    """One event of the stream, from any wiki."""

    event_id: str
    """The Last-Event-ID with which the stream continues after this event."""
    title: str | None
    """The title of the article of our wiki that was edited or created; None for all other
    events."""


async def changes(lines: AsyncGenerator[bytes], domain: str) -> AsyncGenerator[PageChange]:
    """The events in ``lines``; those about articles of ``domain`` have titles."""
    event_id = ""
    kind = b""
    data: list[bytes] = []
    size = 0  # of the data, which is not kept if it is too long
    async for line in lines:
        if not line:  # an event ends
            if size and kind in (b"", b"message"):
                is_kept = size <= _LONGEST_EVENT
                title = _title(b"\n".join(data), domain) if is_kept else None
                yield PageChange(event_id, title)
            kind = b""
            data = []
            size = 0
        elif line.startswith(b"data:"):
            size += len(line)
            if size <= _LONGEST_EVENT:
                data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            kind = line[6:].strip()
        elif line.startswith(b"id:") and len(line) <= _LONGEST_ID:
            text = line[3:].decode("utf-8", errors="replace").strip()
            can_be_sent = text.isascii() and text.isprintable()  # in a header
            event_id = text if can_be_sent else ""


def _title(data: bytes, domain: str) -> str | None:
    """The title of the article that the event is about; None for all other events."""
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if value_at(event, "meta", "domain") != domain:
        return None  # another wiki, or a canary
    if event.get("namespace") != 0 or event.get("type") not in ("edit", "new"):
        return None
    title = event.get("title")
    if not isinstance(title, str) or _TITLE.fullmatch(title) is None:
        return None
    return title if utf8_size(title) <= LONGEST_TITLE else None


STREAM = "https://stream.wikimedia.org/v2/stream/recentchange"
_STALL_SECONDS = 60.0
_RECONNECT_SECONDS = 1.0
_GATHER_SECONDS = 20.0
"""Seconds after which a batch is handed out even if it is not full."""
_MOST_SENT = 5000
"""The most characters of titles in one request: many servers refuse addresses above 8 kB."""
_QUEUED = 5000
"""The most events that wait to be read."""
_REMEMBERED = 20_000
"""The number of titles that are known to have been edited."""
_WAITING = "changes on the wiki"
"""What the source is waiting for while nobody edits."""
_Queue = asyncio.Queue[PageChange | Exception]


class RecentSource:
    """Articles of ``wiki`` as they are edited.

    An article that is among the last 20,000 edited is left out. ``stream_url``: a stream other than
    Wikimedia's. Raises `BadSource` for wikis that have none.
    """

    def __init__(self, wiki: Wiki, stream_url: str | None = None) -> None:
        if stream_url is None and not is_wikimedia(wiki.host):
            raise BadSource("--source recent: only Wikimedia's wikis stream their changes")
        self.wiki = wiki
        self._stream = URL(stream_url or STREAM)
        self._limits = wiki.limits
        if wiki.limits.wikimedia:
            self._limits = wikimedia_service_limits(
                self._stream.host or "", "the stream of changes"
            )
        self._sizer = BatchSizer(wiki.limits, MOST_PAGES)
        self.activity = wiki.activity
        self.activity.batch_pages = MOST_PAGES
        self._known: OrderedDict[str, None] = OrderedDict()

    async def open(self) -> SourceInfo:
        """Find the wiki and ask it for its siteinfo."""
        site = await self.wiki.open()
        return replace(site, name=f"changes of {site.name}", articles=None)

    async def close(self) -> None:
        await self.wiki.close()

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """Changed articles after ``position``, or from now on; never ends by itself."""
        event_id = "" if position is None else position.get("last_event_id")
        if not isinstance(event_id, str):
            raise BadPosition
        await self.open()
        queue: _Queue = asyncio.Queue(_QUEUED)
        listening = asyncio.create_task(self._listen(event_id, queue))
        waiting: list[PageChange] = []
        tries = 0
        try:
            while True:
                if not waiting:
                    waiting = await self._gather(queue)
                batch = waiting[: self._sizer.pages]
                titles = [change.title for change in batch if change.title is not None]
                try:
                    gathering = await self.wiki.by_title(titles)
                except TransientError as error:  # too much in total: try again with fewer
                    tries += 1
                    if len(batch) == 1:
                        await self.wiki.client.backoff(error, tries)
                    self._sizer.timed_out()
                    continue
                waiting = waiting[len(batch) :]
                tries = 0
                self._sizer.seen(len(titles), self.activity.latency_seconds or 0.0)
                self.activity.batch_pages = self._sizer.pages
                skips = gathering.skips_without_text()
                skips["deleted or hidden"] += len(titles) - len(gathering)
                yield PageBatch(gathering.pages(), {"last_event_id": batch[-1].event_id}, +skips)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self, event_id: str, queue: _Queue) -> None:
        """Put the events of the stream into the queue, which holds the stream back when it is full,
        and finally the error that ends the stream."""
        try:
            await self._put_events(event_id, queue)
        except Exception as error:  # noqa: BLE001 (raised by whoever waits for changes)
            await queue.put(error)

    async def _put_events(self, event_id: str, queue: _Queue) -> None:
        """Put the changes of the stream into the queue; raises the error that ends the stream."""
        client = self.wiki.client
        tries = 0  # connections in a row that gave no event
        while True:
            tries += 1
            headers = {"Accept": "text/event-stream"}
            if event_id:
                headers["Last-Event-ID"] = event_id
            try:
                lines = client.lines(self._stream, headers, _STALL_SECONDS, self._limits)
                async with aclosing(lines), aclosing(changes(lines, self.wiki.host)) as events:
                    async for change in events:
                        if client.quote.knows(change.event_id):
                            # The contact would be saved with the position.
                            change = replace(change, event_id="")
                        event_id = change.event_id
                        tries = 0
                        await queue.put(change)
                error = TransientError("the stream of changes ends before its first event")
            except TransientError as caught:
                error = caught
                if isinstance(caught, UnknownPlace):
                    event_id = ""
            if tries:
                await client.backoff(error, tries)
            else:  # every connection is cut after a while
                await client.clock.sleep(_RECONNECT_SECONDS)

    async def _gather(self, queue: _Queue) -> list[PageChange]:
        """Changes of articles for one batch, at least one. Raises the listener's errors."""
        clock = self.wiki.client.clock
        batch: list[PageChange] = []
        began = 0.0
        sent = 0
        while len(batch) < self._sizer.pages and sent < _MOST_SENT:
            left = math.inf
            if batch:
                left = began + _GATHER_SECONDS - clock.monotonic()
            if left <= 0:
                break
            change = await self._next(queue, left)
            if change is None:
                break
            title = change.title
            if title is None or title in self._known:
                if title is not None:
                    self._known.move_to_end(title)
                if batch:
                    # Events of other wikis advance the position too: a quiet wiki would get them
                    # all again.
                    batch[-1] = replace(batch[-1], event_id=change.event_id)
                continue
            if not batch:
                began = clock.monotonic()
            batch.append(change)
            self._known[title] = None
            sent += len(quote(title)) + len("%7C")
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return batch

    async def _next(self, queue: _Queue, seconds: float) -> PageChange | None:
        """The next change; None after ``seconds`` without one."""
        if queue.empty() and self.activity.waiting_for is None:
            self.activity.waiting_for = _WAITING
        timeout = seconds if seconds < math.inf else None
        try:
            change = await asyncio.wait_for(queue.get(), timeout)
        except TimeoutError:
            return None
        finally:
            if self.activity.waiting_for == _WAITING:
                self.activity.waiting_for = None
        if isinstance(change, Exception):
            raise change
        return change
