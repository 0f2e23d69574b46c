"""The polite HTTP client: one turn at a time, patient with temporary errors, and open about its
waits."""

import math
import random
import time
import zlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

import aiohttp
from yarl import URL

from wikitopics.crawler.errors import TransientError, WikiUnreachable
from wikitopics.crawler.http import wire
from wikitopics.crawler.http.contact import check_contact, sendable, user_agent
from wikitopics.crawler.http.pace import Clock, OwnPace, SharedPace, Turn, is_usual_wait
from wikitopics.crawler.http.quoting import Quoting
from wikitopics.crawler.http.rules import RateLimits
from wikitopics.crawler.source import Activity

T = TypeVar("T")

START_SECONDS = 30.0
"""Seconds without a valid reply at the start of a run after which the wiki counts as
unreachable."""
PATIENCE_SECONDS = 24 * 3600.0
"""Seconds without a valid reply that end the run once the wiki has answered."""
_MOST_HOPS = 5
_LONGEST_LINE = 16 << 20
"""Bytes of a line of a stream: above the 4 MiB of Wikimedia's longest messages, since a stream
would stop for ever at a message that is refused."""
_UNKNOWN_PLACE = (400, 404)
"""The statuses of a stream that does not know the place from which it is to continue."""


class Client:
    """Talks to one wiki as ``limits`` allow, and records its actions in ``activity``.

    ``limits_of``: the limits on a request by its address, if some differ. On Wikimedia a budget is
    shared with all clients of the same ``budget_folder``. Raises `ContactMissing` if ``limits`` are
    Wikimedia's and there is no usable contact. The contact goes into the User-Agent and nowhere
    else.
    """

    def __init__(
        self,
        limits: RateLimits,
        activity: Activity,
        *,
        version: str,
        contact: str | None = None,
        limits_of: Callable[[URL], RateLimits] | None = None,
        clock: Clock | None = None,
        budget_folder: Path | None = None,
        bounds: wire.RequestBounds | None = None,
        judge_other_host: wire.JudgeRedirect = wire.not_followed,
    ) -> None:
        if limits.wikimedia:
            contact = check_contact(contact or "")
        elif contact:
            # Other wikis may be given any contact that a header can carry.
            contact = sendable(contact)
        self._limits_of = limits_of or (lambda _: limits)
        self._budget_folder = budget_folder
        self.activity = activity
        self.clock = clock or Clock()
        self.quote = Quoting(contact)
        """Quotes a server's text in messages."""
        self._bounds = bounds or wire.RequestBounds()
        self._user_agent = user_agent(version, contact)
        self._session: aiohttp.ClientSession | None = None
        self._judge_other_host = judge_other_host
        self._paces: dict[RateLimits, OwnPace] = {}
        self._rng = random.Random()  # used only to vary waiting times
        self._under_way = 0
        self._first_request = math.inf
        self._last_answer: float | None = None
        self._answered_under: set[RateLimits] = set()
        self.opening = False
        """Whether the source is still being opened; nobody should have to wait for minutes then."""
        activity.allowed_per_minute = limits.rpm

    # For the sources

    async def fetch(
        self,
        url: URL,
        read: Callable[[wire.Reply], T],
        wanted: wire.Wanted | None = None,
    ) -> T:
        """GET until ``read`` accepts the reply.

        ``read`` raises `TransientError`, or a `CrawlerError` for permanent errors.
        """
        tries = 0
        while True:
            try:
                return await self.once(url, read, wanted)
            except TransientError as error:
                tries += 1
                await self.backoff(error, tries)

    async def once(
        self,
        url: URL,
        read: Callable[[wire.Reply], T],
        wanted: wire.Wanted | None = None,
    ) -> T:
        """GET once, in its turn; each redirect takes its own turn.

        Raises what ``read`` raises, and `TransientError`.
        """
        wanted = wanted or wire.Wanted()
        for _hop in range(_MOST_HOPS):
            limits = self._limits_of(url)
            try:
                async with self._turn(limits) as turn:
                    reply = await self._get(url, turn, limits, wanted)
                    target = wire.redirected(reply, self._judge_other_host)
                    if target is None:
                        value = self._read(reply, turn, limits, read)
                        if wanted.is_answer:
                            self._answered(limits)
                        return value
            except TransientError as error:
                if error.answered:
                    self._answered(limits)
                raise
            url = target
        raise TransientError(f"{url.host} redirects in a loop")

    def _turn(self, limits: RateLimits) -> AbstractAsyncContextManager[Turn]:
        """One request's turn under these limits."""
        if limits not in self._paces:
            if limits.wikimedia and self._budget_folder is not None:
                pace: OwnPace = SharedPace(limits, self.clock, self._budget_folder)
            else:
                pace = OwnPace(limits, self.clock)
            self._paces[limits] = pace

        async def wait_until(moment: float, reason: str) -> None:
            seconds = moment - self.clock.monotonic()
            self._check_start(limits, seconds, f"waiting for {reason}")
            if not is_usual_wait(limits, seconds):
                self.activity.trouble = self.activity.trouble or f"waiting for {reason}"
            await self.wait_until(moment, reason)

        return self._paces[limits].turn(wait_until)

    def _read(
        self,
        reply: wire.Reply,
        turn: Turn,
        limits: RateLimits,
        read: Callable[[wire.Reply], T],
    ) -> T:
        """What ``read`` makes of a reply. A `TransientError` gets the seconds to wait, as does the
        turn."""
        try:
            wire.judge_status(reply)
            return read(reply)
        except TransientError as error:
            error.retry_after = wire.parse_retry_after(
                reply.headers.get("Retry-After"), reply.headers.get("Date"), self.clock.wall()
            )
            if reply.status >= 500 and limits.error_pause:
                error.retry_after = max(error.retry_after or 0.0, limits.error_pause)
            if error.retry_after:
                turn.told_to_wait = error.retry_after
            elif error.throttled:
                turn.told_to_wait = wire.THROTTLED_FIRST
            self._check_start(limits, turn.told_to_wait, error.text)
            raise

    async def _get(
        self,
        url: URL,
        turn: Turn,
        limits: RateLimits,
        wanted: wire.Wanted,
    ) -> wire.Reply:
        """One request; the turn gets its latency."""
        began = self._begin(limits)
        bounds = self._bounds
        seconds = min(bounds.total_seconds, wanted.most_seconds or math.inf)
        if self._last_answer is None:  # what remains of the seconds at the start
            seconds = min(seconds, max(0.1, self._first_request + START_SECONDS - began))
        most = min(bounds.most_bytes, wanted.most_bytes or math.inf)
        self._under_way += 1
        try:
            async with self._response(
                url,
                wanted.headers,
                bounds.stall_seconds,
                seconds,
            ) as response:
                if wanted.check is not None:
                    without_body = wire.Reply(
                        response.status,
                        url,
                        response.headers,
                        b"",
                        self.quote,
                    )
                    wanted.check(without_body)
                reply = await self._whole(response, most)
        finally:
            turn.latency = self.clock.monotonic() - began
            self._under_way -= 1
            if not self._under_way:
                self.activity.waiting_for = None
        self.activity.latency_seconds = turn.latency
        return reply

    async def lines(
        self,
        url: URL,
        headers: Mapping[str, str],
        stall_seconds: float,
        limits: RateLimits,
    ) -> AsyncGenerator[bytes]:
        """The lines of an endless reply, until the server ends it.

        Only its beginning takes a turn. Raises `TransientError`, also for ``stall_seconds`` without
        a byte, and `UnknownPlace`.
        """
        async with AsyncExitStack() as stack:
            async with self._turn(limits) as turn:
                began = self._begin(limits)
                response = await stack.enter_async_context(
                    self._response(url, headers, stall_seconds)
                )
                error: wire.Reply | None = None
                if response.status != 200:
                    error = await self._whole(response, self._bounds.most_bytes)
                turn.latency = self.clock.monotonic() - began
                if error is not None:
                    self._read(error, turn, limits, _no_stream)
            self._answered(limits)
            self.activity.waiting_for = None
            parts = wire.decompressed(response, self.activity)
            async for line in wire.split_lines(parts, _LONGEST_LINE):
                yield line

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def wait_until(self, moment: float, reason: str, *, own: bool = False) -> None:
        """Sleep until ``moment`` (monotonic), recording why and until when in the activity.

        ``own``: end sooner if the activity's ``own_wait`` is set to False meanwhile.
        """
        if moment <= self.clock.monotonic():
            return
        while True:
            left = moment - self.clock.monotonic()
            is_ended = own and not self.activity.own_wait
            if left <= 0 or is_ended:
                break
            # Recorded again each second: if pages are fetched in parallel, another request may have
            # ended its own wait.
            self.activity.waiting_for = reason
            self.activity.waiting_until = self.clock.wall() + left
            await self.clock.sleep(min(left, 1.0))
        self.activity.waiting_for = None
        self.activity.waiting_until = None

    def note(self, text: str) -> None:
        """Add one line to the activity's list of errors."""
        self.activity.note(self.clock.wall(), text)

    # One request

    @asynccontextmanager
    async def _response(
        self,
        url: URL,
        headers: Mapping[str, str],
        stall_seconds: float,
        seconds: float | None = None,
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The beginning of the reply to one request, over connections that are kept open; redirects
        are not followed. ``seconds``: until the block ends; an endless reply has no such limit.

        Raises `TransientError`, also for errors in the block.
        """
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"User-Agent": self._user_agent, "Accept-Encoding": "gzip"},
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                middlewares=(wire.sent_once,),
            )
        host = url.host or "?"
        timeout = aiohttp.ClientTimeout(
            seconds, sock_connect=self._bounds.connect_seconds, sock_read=stall_seconds
        )
        try:
            async with self._session.get(
                url,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
                proxy=wire.proxy_for(url),
            ) as response:
                yield response
        except TimeoutError:
            slow = "does not reply in time" if seconds else "has stopped sending"
            raise TransientError(f"{host} {slow}", slow=True) from None
        except (aiohttp.ClientError, OSError, UnicodeError, zlib.error) as error:
            raise wire.transient_error(error, host) from None

    async def _whole(self, response: aiohttp.ClientResponse, most: float) -> wire.Reply:
        """The reply with its body of at most so many bytes."""
        host = response.url.host
        parts = []
        size = 0
        try:
            announced = response.content_length or 0
            if announced > most:
                raise TransientError(
                    f"{host} announces a reply of {announced} bytes: too large", too_large=True
                )
            async for part in wire.decompressed(response, self.activity):
                parts.append(part)
                size += len(part)
                if size > most:
                    raise TransientError(
                        f"{host} sends too much: cut at {int(most) >> 20} MiB", too_large=True
                    )
        except (aiohttp.ClientError, OSError, zlib.error, TransientError):
            if response.status < 400:
                raise
            parts = []  # an error status is valid without its explanation
        return wire.Reply(
            response.status,
            response.url,
            response.headers,
            b"".join(parts),
            self.quote,
        )

    def _begin(self, limits: RateLimits) -> float:
        """Count a request that begins now; returns the time (monotonic)."""
        now = self.clock.monotonic()
        if self._first_request > now:
            self._first_request = now
            self.activity.trying_until = self.clock.wall() + START_SECONDS
        self.activity.requests += 1
        self.activity.waiting_for = f"{limits.server}'s reply"
        self.activity.waiting_until = None
        return now

    def _answered(self, limits: RateLimits) -> None:
        self._answered_under.add(limits)
        self._last_answer = self.clock.monotonic()
        self.activity.trying_until = None
        self.activity.trouble = None

    # What goes wrong

    def _check_start(self, limits: RateLimits, seconds: float, text: str) -> None:
        """Raise `WikiUnreachable` for a long pause at the start.

        That is a pause before the server has ever answered, or while the source is being opened. It
        matters only for servers that ask for long pauses; after a wiki's 429, the client waits.
        """
        is_starting = self.opening or limits not in self._answered_under
        if is_starting and limits.error_pause and seconds > START_SECONDS:
            raise self._too_long(text, seconds)

    def _too_long(self, text: str, seconds: float) -> WikiUnreachable:
        until = time.strftime("%H:%M:%S", time.localtime(self.clock.wall() + seconds))
        left = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
        return WikiUnreachable(f"{text}; try again after {until}, in {left}")

    async def backoff(self, error: TransientError, tries: int) -> None:
        """Wait as long as the ``tries``-th error in a row requires.

        Raises `WikiUnreachable` when the time limit is reached.
        """
        own = not error.throttled and error.retry_after is None
        self.activity.own_wait = own
        self.activity.retries += 1
        if error.throttled:
            self.activity.throttled += 1
            self.activity.throttled_at = self.clock.wall()
        else:
            self.activity.failed_at = self.clock.wall()
        self.activity.trouble = error.text
        self.note(error.text)
        wait = wire.wait_before_retry(tries, error.throttled, error.retry_after, self._rng)
        now = self.clock.monotonic()
        if self._last_answer is None:
            if error.lasting:
                raise WikiUnreachable(error.text)
            left = min(self._first_request, now) + START_SECONDS - now
            if not own and wait >= left:
                raise self._too_long(error.text, wait)
            if left <= 0.5:
                raise WikiUnreachable(f"no valid reply within {START_SECONDS:.0f} s: {error.text}")
            wait = min(wait, left - 0.25)
        elif now - self._last_answer > PATIENCE_SECONDS:
            raise WikiUnreachable(f"no valid reply for a day: {error.text}")
        await self.wait_until(now + wait, error.text, own=own)


class UnknownPlace(TransientError):
    """The stream cannot continue from the given place."""


def _no_stream(reply: wire.Reply) -> NoReturn:
    if reply.status in _UNKNOWN_PLACE:
        raise UnknownPlace(
            f"{reply.url.host} no longer knows this place in its stream ({reply.status})"
        )
    raise TransientError(
        f"{reply.url.host} answers {reply.status} instead of its stream of changes"
    )
