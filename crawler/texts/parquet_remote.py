"""Parquet files on a server: their footers, and of their row groups only the columns that are read,
requested by ranges a little ahead. Nothing is stored."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import Any

from yarl import URL

from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.file_source import first_and_more
from wikitopics.crawler.http.pace import Clock
from wikitopics.crawler.http.ranges import (
    FIRST,
    RangeServer,
    RemoteFile,
    file_client,
)
from wikitopics.crawler.page import Markup, SourceInfo
from wikitopics.crawler.source import Asked
from wikitopics.crawler.texts.files import PARQUET
from wikitopics.crawler.texts.parquet import ParquetRows
from wikitopics.crawler.texts.parquet_columns import ColumnNames
from wikitopics.crawler.texts.parquet_footer import RowFile
from wikitopics.crawler.texts.parquet_source import ParquetTexts

_TAIL = 512 << 10
"""The bytes at the end of a file that are requested at once: a footer hardly ever has more."""
_WINDOW = 4 << 20
"""The most bytes requested at a time of a column."""
DOWNLOAD_BYTES = "download_bytes"
"""The key, in the identity of texts on a server, of the bytes that are read."""
_STOPPED = "stopped while the texts were requested"


class Windows:
    """The bytes of ``spans`` of a file, requested in windows: the first of a span is small, since
    often only a few rows are wanted; from the second on, the next one is requested ahead.

    A group of at most one window is requested as a whole.
    """

    def __init__(
        self,
        request: Callable[[int, int], "Future[bytes]"],
        spans: Sequence[tuple[int, int]],
    ) -> None:
        self._request = request
        self._windows: list[tuple[int, int]] = []
        self._firsts: set[int] = set()
        """The windows with which spans begin."""
        self._held: dict[int, Future[bytes]] = {}
        begin = min(start for start, _ in spans)
        end = max(stop for _, stop in spans)
        is_small = end - begin <= _WINDOW
        if is_small:
            spans = [(begin, end)]
        for start, stop in spans:
            size = _WINDOW if is_small else FIRST
            self._firsts.add(len(self._windows))
            while start < stop:
                self._windows.append((start, min(start + size, stop)))
                start += size
                size = _WINDOW
        self._starts = [start for start, _ in self._windows]

    def read(self, start: int, stop: int) -> bytes:
        """These bytes. Raises a CrawlerError."""
        pieces = []
        while start < stop:
            number = bisect_right(self._starts, start) - 1
            begin, end = self._windows[number] if number >= 0 else (0, 0)
            if start >= end:  # between the spans
                behind = self._starts[number + 1 : number + 2]
                until = min([stop, *behind])
                piece = result_of(self._request(start, until))
            else:
                piece = result_of(self._held_from(number))[start - begin : stop - begin]
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)

    def _held_from(self, number: int) -> "Future[bytes]":
        ahead = number + 1
        wanted = [number]
        has_next = ahead < len(self._windows) and ahead not in self._firsts
        if has_next and number not in self._firsts:
            wanted.append(ahead)
        for window in wanted:
            if window not in self._held:
                self._held[window] = self._request(*self._windows[window])
        # The header of a page may be read before the end of the page before it, so the window
        # before this one stays.
        if number not in self._firsts and number - 1 not in self._firsts:
            self._held.pop(number - 2, None)
        return self._held[number]


def result_of(request: "Future[bytes]") -> bytes:
    """What was requested. Raises a CrawlerError."""
    try:
        return request.result()
    except CancelledError:
        raise CrawlerError(_STOPPED) from None


class Requests:
    """Requests that another thread makes of the loop that runs now."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._under_way: set[Future[bytes]] = set()
        self._is_over = False

    def make(self, request: Coroutine[Any, Any, bytes]) -> "Future[bytes]":
        """Begin a request. Raises CrawlerError after `end`."""
        if self._is_over:
            request.close()
            raise CrawlerError(_STOPPED)
        made = asyncio.run_coroutine_threadsafe(request, self._loop)
        self._under_way.add(made)
        made.add_done_callback(self._under_way.discard)
        return made

    def end(self) -> None:
        """End all requests, and make no others."""
        self._is_over = True
        for request in list(self._under_way):
            request.cancel()


class RemoteRowFile:
    """A file on a server, read in another thread than that of the requests."""

    def __init__(self, file: RemoteFile, requests: Requests) -> None:
        self.name = file.name
        self.label = file.url.name
        self.size = file.size
        self._file = file
        self._requests = requests

    def read(self, start: int, stop: int) -> bytes:
        """See `RowFile`; small pieces are cached."""
        return result_of(self._requests.make(self._file.bytes_from(start, stop)))

    def reading(self, spans: Sequence[tuple[int, int]]) -> Callable[[int, int], bytes]:
        """See `RowFile`."""

        def requested(start: int, stop: int) -> "Future[bytes]":
            return self._requests.make(self._file.server.read(self._file, start, stop))

        return Windows(requested, spans).read


class RemoteParquet(ParquetTexts):
    """The documents in Parquet files at ``urls``, all on one server.

    ``agreed``: whether the user has agreed to any size, and to sending the contact to any server.
    Raises `ContactMissing` and `Unconfirmed` at once.
    """

    def __init__(
        self,
        urls: Sequence[URL],
        names: ColumnNames,
        asked: Asked,
        *,
        before: int = 0,
        markup: Markup = "text",
        held_out: int | None = None,
        contact: str | None,
        agreed: bool,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(
            self._rows_of_files,
            seed=asked.seed,
            before=before,
            markup=markup,
            held_out=held_out,
            resuming=asked.resuming,
            compares_ids=False,  # the column would be requested twice
        )
        self._urls = urls
        self._names = names
        self._client = file_client(
            urls[0].host or "",
            self.activity,
            asked,
            what="the texts are",
            agreed_to="your contact is sent there, and the texts are read whatever their size",
            contact=contact,
            agreed=agreed,
            clock=clock,
        )
        self._server = RangeServer(self._client, what="file", ending=PARQUET)
        self._row_files: list[RowFile] = []
        self._requests: Requests | None = None

    def _rows_of_files(self, tell: Callable[[str], None]) -> ParquetRows:
        name = first_and_more([url.name for url in self._urls])
        return ParquetRows(self._row_files, self._names, name)

    async def open(self) -> SourceInfo:
        """Request the footers and the first documents."""
        self._client.opening = True
        self._requests = Requests()
        self._row_files = []
        for url in self._urls:
            file, _ = await self._server.new_file(url, 4)
            await file.bytes_from(max(0, file.size - _TAIL), file.size)  # which is cached
            self._row_files.append(RemoteRowFile(file, self._requests))
        info = await super().open()
        self._client.opening = False
        return replace(info, identity={DOWNLOAD_BYTES: self.bytes_to_read()})

    def _tell_bytes(self) -> None:
        """Do nothing: the client records what it receives."""

    async def close(self) -> None:
        """End the reading threads, which may wait for requests, and close the connections."""
        if self._requests is not None:
            self._requests.end()
        await super().close()
        await self._client.close()
